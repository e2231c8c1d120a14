"""OTLP requests in protobuf -> spans and log records: one parse in C, attributes left raw until asked for."""

from collections.abc import Sequence
from typing import Any

from google.protobuf.message import DecodeError

from collector.receiver.decoded import (
    NO_SPAN,
    NO_TRACE,
    Decoded,
    Malformed,
    log_id_problem,
    span_id_problem,
    span_ids_are_valid,
)
from collector.receiver.schema import LogsRequest, TracesRequest
from collector.receiver.values import LazyAttributes, decode_value
from collector.telemetry import Link, LogRecord, Resource, Scope, Span, SpanEvent


class ReceivedSpan(Span):
    """A span that reads what few ask for from its parsed message, each time it is asked."""

    __slots__ = ("_message",)

    def __init__(
        self, message: Any, trace_id: bytes, span_id: bytes, parent_id: bytes, resource: Resource, scope: Scope
    ) -> None:
        self._message = message
        self.trace_id = trace_id
        self.span_id = span_id
        self.parent_id = parent_id
        self.name = message.name
        self.attributes = LazyAttributes(message.attributes)
        self.resource = resource
        self.scope = scope

    @property
    def start(self) -> int:  # type: ignore[override]
        return int(self._message.start)

    @property
    def end(self) -> int:  # type: ignore[override]
        return int(self._message.end)

    @property
    def kind(self) -> int:  # type: ignore[override]
        return int(self._message.kind)

    @property
    def flags(self) -> int:  # type: ignore[override]
        return int(self._message.flags)

    @property
    def status(self) -> int:  # type: ignore[override]
        return int(self._message.status.code)

    @property
    def status_message(self) -> str:  # type: ignore[override]
        return str(self._message.status.message)

    @property
    def events(self) -> Sequence[SpanEvent]:  # type: ignore[override]
        return [SpanEvent(e.name, e.time, LazyAttributes(e.attributes)) for e in self._message.events]

    @property
    def links(self) -> Sequence[Link]:  # type: ignore[override]
        return [Link(link.trace_id, link.span_id, LazyAttributes(link.attributes)) for link in self._message.links]

    @property
    def dropped_attributes(self) -> int:  # type: ignore[override]
        return int(self._message.dropped_attributes)

    @property
    def dropped_events(self) -> int:  # type: ignore[override]
        return int(self._message.dropped_events)


def decode_traces(body: bytes) -> Decoded:
    """The spans of a serialized `ExportTraceServiceRequest`, in order. Raises `Malformed`."""
    decoded = Decoded()
    append = decoded.batch.spans.append
    position = 0
    for resource_spans in _parse(TracesRequest, "ExportTraceServiceRequest", body).resources:
        resource = Resource(LazyAttributes(resource_spans.resource.attributes))
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
    return decoded


def decode_logs(body: bytes) -> Decoded:
    """The log records of a serialized `ExportLogsServiceRequest`, in order. Raises `Malformed`."""
    decoded = Decoded()
    position = 0
    for resource_logs in _parse(LogsRequest, "ExportLogsServiceRequest", body).resources:
        resource = Resource(LazyAttributes(resource_logs.resource.attributes))
        for scope_logs in resource_logs.scopes:
            scope = _scope(scope_logs.scope)
            for message in scope_logs.records:
                position += 1
                problem = log_id_problem(message.trace_id, message.span_id)
                if problem:
                    decoded.reject(f"log record {position}: {problem}")
                    continue
                decoded.batch.logs.append(_log_record(message, resource, scope))
    return decoded


def _parse(message_class: Any, name: str, body: bytes) -> Any:
    try:
        return message_class.FromString(body)
    except DecodeError as error:
        raise Malformed(f"the body of {len(body)} bytes is not a protobuf {name}: {error}") from None


def _scope(message: Any) -> Scope:
    return Scope(message.name, message.version, LazyAttributes(message.attributes))


def _log_record(message: Any, resource: Resource, scope: Scope) -> LogRecord:
    attributes = LazyAttributes(message.attributes)
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


def event_name(attribute: Any) -> str:
    """The name that an `event.name` attribute gives: how it was sent before OTLP had a field for it."""
    return attribute if isinstance(attribute, str) else ""
