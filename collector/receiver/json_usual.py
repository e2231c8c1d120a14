"""OTLP requests in JSON as nearly all exporters write them: parsed straight into typed objects, in C.

This is the fast way and not the whole of it. What is unusual in any way, right or wrong, is left to
`collector.receiver.otlp_json`, which reads the same requests to the same spans and says what is wrong with one.
"""

import sys
from collections.abc import Sequence
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta, Struct

from collector.receiver.decoded import NO_SPAN, Decoded, span_ids_are_valid
from collector.receiver.json_fields import INT64, Wrong, read_value
from collector.telemetry import Link, Resource, Scope, Span, SpanEvent, Value

_Int32 = Annotated[int, Meta(ge=-(1 << 31), le=(1 << 31) - 1)]
_UInt32 = Annotated[int, Meta(ge=0, le=(1 << 32) - 1)]
_LARGEST_TIME: Final = (1 << 64) - 1
_LONGEST_INTEGER: Final = 20
"""Digits; a longer text is no 64-bit integer."""

# Field names are OTLP's. `gc=False` because nothing in them can form a cycle.


class _AnyValue(Struct, gc=False):
    stringValue: str | None = None
    intValue: int | str | None = None
    boolValue: bool | None = None
    doubleValue: float | None = None
    arrayValue: dict[str, Any] | None = None
    kvlistValue: dict[str, Any] | None = None
    bytesValue: str | None = None


class _KeyValue(Struct, gc=False):
    key: str
    value: _AnyValue | None = None


class _Event(Struct, gc=False):
    name: str = ""
    timeUnixNano: int | str = 0
    attributes: list[_KeyValue] = []


class _Link(Struct, gc=False):
    traceId: str = ""
    spanId: str = ""
    attributes: list[_KeyValue] = []


class _Status(Struct, gc=False):
    code: _Int32 = 0
    message: str = ""


class _Span(Struct, gc=False):
    traceId: str = ""
    spanId: str = ""
    parentSpanId: str = ""
    name: str = ""
    kind: _Int32 = 0
    startTimeUnixNano: int | str = 0
    endTimeUnixNano: int | str = 0
    attributes: list[_KeyValue] = []
    flags: _UInt32 = 0
    status: _Status | None = None
    events: list[_Event] = []
    links: list[_Link] = []
    droppedAttributesCount: _UInt32 = 0
    droppedEventsCount: _UInt32 = 0


class _Scope(Struct, gc=False):
    name: str = ""
    version: str = ""
    attributes: list[_KeyValue] = []


class _ScopeSpans(Struct, gc=False):
    scope: _Scope | None = None
    spans: list[_Span] = []


class _Resource(Struct, gc=False):
    attributes: list[_KeyValue] = []


class _ResourceSpans(Struct, gc=False):
    resource: _Resource | None = None
    scopeSpans: list[_ScopeSpans] = []


class _Request(Struct, gc=False):
    resourceSpans: list[_ResourceSpans]


_parse: Final = msgspec.json.Decoder(_Request).decode


class _Unusual(Exception):
    """Something that may be right or wrong; the other reader knows."""


def usual_traces(body: bytes) -> Decoded | None:
    """The spans of a request in JSON; None when anything in it is unusual."""
    decoded = Decoded()
    try:
        _read(_parse(body), decoded.batch.spans)
    except (msgspec.MsgspecError, _Unusual, Wrong, ValueError, RecursionError):
        return None
    return decoded


def _read(request: _Request, spans: list[Span]) -> None:
    for resource_spans in request.resourceSpans:
        described = resource_spans.resource
        resource = Resource({} if described is None else _attributes(described.attributes))
        for scope_spans in resource_spans.scopeSpans:
            named = scope_spans.scope
            scope = Scope() if named is None else Scope(named.name, named.version, _attributes(named.attributes))
            for span in scope_spans.spans:
                spans.append(_span(span, resource, scope))


def _span(span: _Span, resource: Resource, scope: Scope) -> Span:
    trace_id, span_id, parent_id = _id(span.traceId), _id(span.spanId), _id(span.parentSpanId)
    if not span_ids_are_valid(trace_id, span_id, parent_id):
        raise _Unusual
    status = span.status
    return Span(
        trace_id,
        span_id,
        b"" if parent_id == NO_SPAN else parent_id,
        span.name,
        span.kind,
        _time(span.startTimeUnixNano),
        _time(span.endTimeUnixNano),
        _attributes(span.attributes),
        resource,
        scope,
        span.flags,
        0 if status is None else status.code,
        "" if status is None else status.message,
        [_event(event) for event in span.events] if span.events else (),
        [_link(link) for link in span.links] if span.links else (),
        span.droppedAttributesCount,
        span.droppedEventsCount,
    )


def _event(event: _Event) -> SpanEvent:
    return SpanEvent(event.name, _time(event.timeUnixNano), _attributes(event.attributes))


def _link(link: _Link) -> Link:
    return Link(_id(link.traceId), _id(link.spanId), _attributes(link.attributes))


def _id(text: str) -> bytes:
    identifier = bytes.fromhex(text)
    if 2 * len(identifier) != len(text):  # fromhex skips blanks
        raise _Unusual
    return identifier


def _time(value: int | str) -> int:
    time = _integer(value)
    if not 0 <= time <= _LARGEST_TIME:
        raise _Unusual
    return time


def _integer(value: int | str) -> int:
    if isinstance(value, int):
        return value
    # `int` reads digits of other scripts, blanks and underscores too.
    if value.isascii() and value.lstrip("-").isdigit() and len(value) <= _LONGEST_INTEGER:
        return int(value)
    raise _Unusual


def _attributes(key_values: Sequence[_KeyValue]) -> dict[str, Value]:
    intern = sys.intern  # equal keys are one object: smaller, and quicker to find
    attributes: dict[str, Value] = {}
    for key_value in key_values:
        value = key_value.value
        attributes[intern(key_value.key)] = None if value is None else _value(value)
    return attributes


def _value(value: _AnyValue) -> Value:
    text, integer, truth, real = value.stringValue, value.intValue, value.boolValue, value.doubleValue
    simple = value.arrayValue is None and value.kvlistValue is None and value.bytesValue is None
    if simple and (text is None) + (integer is None) + (truth is None) + (real is None) == 3:
        if text is not None:
            return text
        if integer is None:
            return real if truth is None else truth
        number = _integer(integer)
        if not INT64[0] <= number <= INT64[1]:
            raise _Unusual
        return number
    present = {field: getattr(value, field) for field in value.__struct_fields__}
    return read_value({field: found for field, found in present.items() if found is not None})
