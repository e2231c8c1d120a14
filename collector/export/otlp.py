"""Spans and log records of results as OTLP requests. Ids are raw bytes, times ns since the epoch."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import Final, TypeVar

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, InstrumentationScope, KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord, ResourceLogs, ScopeLogs, SeverityNumber
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span, Status

from collector.export.marker import MARKER, SCOPE_NAME

Value = bool | int | float | str | Sequence[str]
Attributes = Mapping[str, Value | None]
"""Entries whose value is None are left out."""

REQUEST_BYTES: Final = 1 << 20
"""A request is ended at this size: well below the 4 MiB that gRPC servers accept unless told otherwise."""

TEXT_LIMIT: Final = 8192
"""Code points of a text attribute; many backends refuse longer ones."""

M = TypeVar("M", Span, LogRecord)

OK: Final = Status.STATUS_CODE_OK
ERROR: Final = Status.STATUS_CODE_ERROR
UNSET: Final = Status.STATUS_CODE_UNSET


@dataclass(frozen=True, slots=True)
class SpanId:
    """Which span: `trace` is 16 bytes and `span` 8."""

    trace: bytes
    span: bytes


@dataclass(slots=True)
class Telemetry:
    """What is to be exported together."""

    spans: list[Span] = field(default_factory=list)
    logs: list[LogRecord] = field(default_factory=list)

    def extend(self, other: "Telemetry") -> None:
        self.spans.extend(other.spans)
        self.logs.extend(other.logs)


def attributes(values: Attributes) -> list[KeyValue]:
    return [KeyValue(key=key, value=_any(value)) for key, value in values.items() if value is not None]


def _any(value: Value) -> AnyValue:
    match value:
        case bool():
            return AnyValue(bool_value=value)
        case int():
            return AnyValue(int_value=value)
        case float():
            return AnyValue(double_value=value)
        case str():
            return AnyValue(string_value=_text(value))
        case _:
            return AnyValue(array_value=ArrayValue(values=[_any(each) for each in value]))


def _text(text: str) -> str:
    """Clipped, and without the lone surrogates that protobuf cannot carry."""
    clipped = text if len(text) <= TEXT_LIMIT else text[: TEXT_LIMIT - 1] + "…"
    return clipped.encode("utf-8", "replace").decode()


def span(
    id: SpanId,
    name: str,
    times: tuple[int, int],
    values: Attributes,
    *,
    parent: bytes = b"",
    kind: "Span.SpanKind.ValueType" = Span.SPAN_KIND_INTERNAL,
    links: Iterable[tuple[SpanId, Attributes]] = (),
    events: Iterable[Span.Event] = (),
    status: tuple["Status.StatusCode.ValueType", str] = (UNSET, ""),
) -> Span:
    """A span; its end is never before its start."""
    code, message = status
    start, end = times
    return Span(
        trace_id=id.trace,
        span_id=id.span,
        parent_span_id=parent,
        name=_text(name),
        kind=kind,
        start_time_unix_nano=start,
        end_time_unix_nano=max(start, end),
        attributes=attributes(values),
        links=[Span.Link(trace_id=to.trace, span_id=to.span, attributes=attributes(of)) for to, of in links],
        events=events,
        status=Status(code=code, message=_text(message)),
    )


def event(name: str, time: int, values: Attributes) -> Span.Event:
    return Span.Event(name=name, time_unix_nano=time, attributes=attributes(values))


def log(
    name: str, time: int, values: Attributes, *, at: SpanId, severity: "SeverityNumber.ValueType", body: str = ""
) -> LogRecord:
    """An event as a log record, correlated with the span `at`."""
    return LogRecord(
        event_name=name,
        time_unix_nano=time,
        observed_time_unix_nano=time,
        severity_number=severity,
        severity_text=SeverityNumber.Name(severity).removeprefix("SEVERITY_NUMBER_"),
        body=AnyValue(string_value=_text(body)) if body else None,
        attributes=attributes(values),
        trace_id=at.trace,
        span_id=at.span,
    )


def requests(telemetry: Telemetry, extra: Attributes) -> Iterator[tuple[str, bytes]]:
    """(signal, request body) pairs; `extra` are attributes that the resource has besides its own."""
    resource = Resource(
        attributes=attributes(
            {"service.name": "spanbar", "service.version": spanbar_version()} | dict(extra) | {MARKER: True}
        )
    )
    scope = InstrumentationScope(name=SCOPE_NAME, version=spanbar_version(), attributes=attributes({MARKER: True}))
    for spans in _pieces(telemetry.spans):
        scoped = ScopeSpans(scope=scope, spans=spans)
        of_resource = ResourceSpans(resource=resource, scope_spans=[scoped])
        yield "traces", ExportTraceServiceRequest(resource_spans=[of_resource]).SerializeToString()
    for records in _pieces(telemetry.logs):
        logs = ResourceLogs(resource=resource, scope_logs=[ScopeLogs(scope=scope, log_records=records)])
        yield "logs", ExportLogsServiceRequest(resource_logs=[logs]).SerializeToString()


def _pieces(messages: Sequence[M]) -> Iterator[list[M]]:
    piece: list[M] = []
    size = 0
    for message in messages:
        piece.append(message)
        size += message.ByteSize()
        if size >= REQUEST_BYTES:
            yield piece
            piece, size = [], 0
    if piece:
        yield piece


def spanbar_version() -> str:
    """The version that is installed."""
    try:
        return version("spanbar")
    except PackageNotFoundError:
        return "0"
