"""OTLP requests in JSON -> spans and log records, as "JSON Protobuf Encoding" of the OTLP specification has it.

Keys are lowerCamelCase; keys that are not known are ignored; null is as good as absent. Ids are hex in any case,
64-bit integers are text or numbers, enums are numbers only, bytes are base64. What has a wrong type makes the whole
request `Malformed`, with its place; a wrong id rejects its span only.
"""

import re
from collections.abc import Callable
from typing import Any, Final, TypeVar

import orjson

from collector.receiver.decoded import (
    NO_SPAN,
    NO_TRACE,
    Decoded,
    Malformed,
    event_name,
    log_id_problem,
    span_id_problem,
    span_ids_are_valid,
)
from collector.receiver.json_fields import (
    Wrong,
    read_attributes,
    read_enum,
    read_id,
    read_integer,
    read_message,
    read_text,
    read_value,
)
from collector.telemetry import Link, LogRecord, Resource, Scope, Span, SpanEvent

SMALL: Final = 4_096
"""Bytes of a request of a span or two."""

Json = dict[str, Any]
_T = TypeVar("_T")

_UINT32: Final = (1 << 32) - 1
_UINT64: Final = (1 << 64) - 1
_ESCAPES: Final = re.compile(
    rb"\\(?:(?P<pair>u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|(?P<lone>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)


def decode_traces_json(body: bytes) -> Decoded:
    """The spans of an `ExportTraceServiceRequest` in JSON, in order. Raises `Malformed`."""
    if len(body) <= SMALL:
        return traces_of(parse_object(body))
    # What reads many spans of the usual form faster takes as long to load as to read some hundred.
    from collector.receiver.json_usual import usual_traces

    return usual_traces(body) or traces_of(parse_object(body))


def check_metrics_json(body: bytes) -> Decoded:
    """Nothing: metrics are accepted and dropped. Raises Malformed."""
    parse_object(body)
    return Decoded()


def decode_logs_json(body: bytes) -> Decoded:
    """The log records of an `ExportLogsServiceRequest` in JSON, in order. Raises `Malformed`."""
    return logs_of(parse_object(body))


def traces_of(document: Json) -> Decoded:
    """The same as `decode_traces_json` for a document that is parsed already."""
    _refuse_original_names(document, "resource_spans", "resourceSpans")
    decoded = Decoded()
    _read(document, ("resourceSpans", "scopeSpans", "spans"), _span, decoded.batch.spans.append, decoded)
    return decoded


def logs_of(document: Json) -> Decoded:
    """The same as `decode_logs_json` for a document that is parsed already."""
    _refuse_original_names(document, "resource_logs", "resourceLogs")
    decoded = Decoded()
    _read(document, ("resourceLogs", "scopeLogs", "logRecords"), _log, decoded.batch.logs.append, decoded)
    return decoded


def parse_object(body: bytes) -> Json:
    """A JSON text that must be an object. Raises `Malformed`.

    Halves of surrogate pairs, which a JavaScript exporter sends when it cuts a text inside an emoji, become U+FFFD.
    """
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        repaired = _ESCAPES.sub(lambda escape: rb"\ufffd" if escape["lone"] else escape[0], body)
        if repaired == body:
            raise Malformed(f"the body is not JSON: {error}") from None
        try:
            document = orjson.loads(repaired)
        except orjson.JSONDecodeError:
            raise Malformed(f"the body is not JSON: {error}") from None
    if type(document) is not dict:
        raise Malformed(f"the body is a JSON {type(document).__name__}, expected an object")
    return document


def _refuse_original_names(document: Json, original: str, key: str) -> None:
    if original in document:
        raise Malformed(f"{original}: OTLP JSON has lowerCamelCase keys only; write {key}")


def _read(
    document: Json,
    keys: tuple[str, str, str],
    read_leaf: Callable[[Json, Resource, Scope], _T],
    append: Callable[[_T], None],
    decoded: Decoded,
) -> None:
    """Append every leaf of the document, whose `keys` are those of resources, scopes and leaves."""
    resources, scopes, leaves = keys
    position = 0

    def read_resource(element: Json) -> None:
        resource = Resource(read_attributes(read_message(element, "resource")))
        _read_list(element, scopes, lambda scope: read_scope(scope, resource))

    def read_scope(element: Json, resource: Resource) -> None:
        scope = _scope(read_message(element, "scope"))

        def read(leaf: Json) -> None:
            nonlocal position
            position += 1
            try:
                append(read_leaf(leaf, resource, scope))
            except _Rejected as rejected:
                decoded.reject(f"{leaves}, number {position} of the request: {rejected}")

        _read_list(element, leaves, read)

    try:
        _read_list(document, resources, read_resource)
    except Wrong as wrong:
        raise Malformed(str(wrong)) from None


def _read_list(parent: Json, key: str, read: Callable[[Json], _T]) -> list[_T]:
    elements = parent.get(key)
    if elements is None:
        return []
    if type(elements) is not list:
        raise Wrong(key, "a list", elements)
    done: list[_T] = []
    try:
        for element in elements:
            if type(element) is not dict:
                raise Wrong("", "an object", element)
            done.append(read(element))
    except Wrong as wrong:
        raise wrong.within(f"{key}[{len(done)}]") from None
    return done


class _Rejected(Exception):
    """Why one span or log record is left out while the rest of its request is taken."""


def _id(parent: Json, key: str, length: int) -> bytes:
    text, identifier = read_id(parent, key)
    if identifier is None:
        raise _Rejected(f"its {key} is {text!r}, expected {2 * length} hex digits")
    return identifier


def _scope(message: Json) -> Scope:
    return Scope(read_text(message, "name"), read_text(message, "version"), read_attributes(message))


def _span(message: Json, resource: Resource, scope: Scope) -> Span:
    status = read_message(message, "status")
    trace_id, span_id, parent_id = (
        _id(message, "traceId", 16),
        _id(message, "spanId", 8),
        _id(message, "parentSpanId", 8),
    )
    span = Span(
        trace_id=trace_id,
        span_id=span_id,
        parent_id=b"" if parent_id == NO_SPAN else parent_id,
        name=read_text(message, "name"),
        kind=read_enum(message, "kind"),
        start=read_integer(message, "startTimeUnixNano", 0, _UINT64),
        end=read_integer(message, "endTimeUnixNano", 0, _UINT64),
        attributes=read_attributes(message),
        resource=resource,
        scope=scope,
        flags=read_integer(message, "flags", 0, _UINT32),
        status=read_enum(status, "code"),
        status_message=read_text(status, "message"),
        events=_read_list(message, "events", _event),
        links=_read_list(message, "links", _link),
        dropped_attributes=read_integer(message, "droppedAttributesCount", 0, _UINT32),
        dropped_events=read_integer(message, "droppedEventsCount", 0, _UINT32),
    )
    if not span_ids_are_valid(trace_id, span_id, parent_id):
        raise _Rejected(f"({span.name!r}) {span_id_problem(trace_id, span_id, parent_id)}")
    return span


def _event(message: Json) -> SpanEvent:
    time = read_integer(message, "timeUnixNano", 0, _UINT64)
    return SpanEvent(read_text(message, "name"), time, read_attributes(message))


def _link(message: Json) -> Link:
    return Link(_id(message, "traceId", 16), _id(message, "spanId", 8), read_attributes(message))


def _log(message: Json, resource: Resource, scope: Scope) -> LogRecord:
    attributes = read_attributes(message)
    time = read_integer(message, "timeUnixNano", 0, _UINT64)
    observed = read_integer(message, "observedTimeUnixNano", 0, _UINT64)
    trace_id, span_id = _id(message, "traceId", 16), _id(message, "spanId", 8)
    problem = log_id_problem(trace_id, span_id)
    if problem:
        raise _Rejected(problem)
    body = message.get("body")
    try:
        value = None if body is None else read_value(body)
    except Wrong as wrong:
        raise wrong.within("body") from None
    return LogRecord(
        time=time or observed,
        event_name=read_text(message, "eventName") or event_name(attributes.get("event.name")),
        body=value,
        attributes=attributes,
        resource=resource,
        scope=scope,
        trace_id=b"" if trace_id == NO_TRACE else trace_id,
        span_id=b"" if span_id == NO_SPAN else span_id,
        severity=read_enum(message, "severityNumber"),
    )
