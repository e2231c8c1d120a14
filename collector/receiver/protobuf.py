"""OTLP requests in protobuf -> spans and log records: one parse in C, then only what is asked for of each."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from google.protobuf.message import DecodeError

from collector.compiled import compiled
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
from collector.receiver.schema import LogsRequest, MetricsRequest, TracesRequest
from collector.receiver.values import decode_pair, decode_value, read_attributes
from collector.telemetry import Batch, Link, LogRecord, Resource, Scope, Span, SpanEvent

_NOTHING: Final = ()

_compiled: Final = compiled("collector.receiver._spans")
if _compiled is not None:
    _compiled.configure(
        span=Span,
        resource=Resource,
        scope=Scope,
        event=SpanEvent,
        link=Link,
        decode_value=decode_value,
        decode_pair=decode_pair,
    )


class ReceivedSpan(Span):
    """A span that reads what few ask for from its parsed message, each time it is asked.

    It keeps the whole parsed request alive; its attributes and events do not.
    """

    __slots__ = ("_message",)

    def __init__(
        self, message: Any, trace_id: bytes, span_id: bytes, parent_id: bytes, resource: Resource, scope: Scope
    ) -> None:
        self._message = message
        self.trace_id = trace_id
        self.span_id = span_id
        self.parent_id = parent_id
        self.name = message.name
        self.kind = message.kind
        self.start = message.start
        self.end = message.end
        self.attributes = read_attributes(message.attributes)
        events, links = message.events, message.links
        self.events = _events(events) if events else _NOTHING
        self.links = _links(links) if links else _NOTHING
        self.resource = resource
        self.scope = scope

    @property
    def flags(self) -> int:  # type: ignore[override]
        return int(self._message.flags)

    @property
    def status(self) -> int:  # type: ignore[override]
        return int(self._message.status.code)

    @property
    def status_message(self) -> str:
        return str(self._message.status.message)

    @status_message.setter
    def status_message(self, text: str) -> None:
        self._message.status.message = text

    @property
    def dropped_attributes(self) -> int:  # type: ignore[override]
        return int(self._message.dropped_attributes)

    @property
    def dropped_events(self) -> int:  # type: ignore[override]
        return int(self._message.dropped_events)


def _events(messages: Iterable[Any]) -> Sequence[SpanEvent]:
    return [SpanEvent(event.name, event.time, read_attributes(event.attributes)) for event in messages]


def _links(messages: Iterable[Any]) -> Sequence[Link]:
    return [Link(link.trace_id, link.span_id, read_attributes(link.attributes)) for link in messages]


def decode_traces(body: bytes) -> Decoded:
    """The spans of a serialized `ExportTraceServiceRequest`, in order. Raises `Malformed`."""
    if _compiled is not None and (spans := _compiled.spans(body)) is not None:
        return Decoded(Batch(spans))
    decoded = Decoded()
    try:
        _read_spans(TracesRequest.FromString(body), decoded)
    except DecodeError as error:
        raise _malformed("ExportTraceServiceRequest", body, error) from None
    return decoded


def _read_spans(request: Any, decoded: Decoded) -> None:
    append = decoded.batch.spans.append
    position = 0
    for resource_spans in request.resources:
        resource = Resource(read_attributes(resource_spans.resource.attributes))
        for scope_spans in resource_spans.scopes:
            scope = _scope(scope_spans.scope)
            for message in scope_spans.spans:
                position += 1
                trace_id, span_id, parent_id = message.trace_id, message.span_id, message.parent_id
                if not span_ids_are_valid(trace_id, span_id, parent_id):
                    problem = span_id_problem(trace_id, span_id, parent_id)
                    decoded.reject(f"span {position} ({message.name!r}): {problem}")
                    continue
                if parent_id == NO_SPAN:
                    parent_id = b""
                append(ReceivedSpan(message, trace_id, span_id, parent_id, resource, scope))


def check_metrics(body: bytes) -> Decoded:
    """Nothing: metrics are accepted and dropped. Raises Malformed."""
    try:
        MetricsRequest.FromString(body)
    except DecodeError as error:
        raise Malformed(
            f"the body of {len(body)} bytes is not a protobuf ExportMetricsServiceRequest: {error}"
        ) from None
    return Decoded()


def decode_logs(body: bytes) -> Decoded:
    """The log records of a serialized `ExportLogsServiceRequest`, in order. Raises `Malformed`."""
    decoded = Decoded()
    try:
        _read_logs(LogsRequest.FromString(body), decoded)
    except DecodeError as error:
        raise _malformed("ExportLogsServiceRequest", body, error) from None
    return decoded


def _read_logs(request: Any, decoded: Decoded) -> None:
    position = 0
    for resource_logs in request.resources:
        resource = Resource(read_attributes(resource_logs.resource.attributes))
        for scope_logs in resource_logs.scopes:
            scope = _scope(scope_logs.scope)
            for message in scope_logs.records:
                position += 1
                problem = log_id_problem(message.trace_id, message.span_id)
                if problem:
                    decoded.reject(f"log record {position}: {problem}")
                    continue
                decoded.batch.logs.append(_log_record(message, resource, scope))


def _malformed(name: str, body: bytes, error: DecodeError) -> Malformed:
    return Malformed(f"the body of {len(body)} bytes is not a protobuf {name}: {error}")


def _scope(message: Any) -> Scope:
    return Scope(message.name, message.version, read_attributes(message.attributes))


def _log_record(message: Any, resource: Resource, scope: Scope) -> LogRecord:
    attributes = read_attributes(message.attributes)
    return LogRecord(
        time=message.time or message.observed_time,
        event_name=message.event_name or event_name(attributes.get("event.name")),
        body=decode_value(message.body),
        attributes=attributes,
        resource=resource,
        scope=scope,
        trace_id=b"" if message.trace_id == NO_TRACE else message.trace_id,
        span_id=b"" if message.span_id == NO_SPAN else message.span_id,
        severity=message.severity,
    )
