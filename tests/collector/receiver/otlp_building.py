"""OTLP requests for tests: random ones of the official classes, and what a plain decoder makes of them."""

import base64
from typing import Any

import orjson
from google.protobuf.json_format import MessageToDict
from hypothesis import strategies as st
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, InstrumentationScope, KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord, ResourceLogs, ScopeLogs
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span, Status

from collector.telemetry import Batch

TRACE_ID, SPAN_ID = bytes(range(1, 17)), bytes(range(1, 9))


def traces_request(*spans: Span, resource: dict[str, str] | None = None) -> ExportTraceServiceRequest:
    """A request of one resource and one scope."""
    attributes = [KeyValue(key=key, value=AnyValue(string_value=text)) for key, text in (resource or {}).items()]
    scope = ScopeSpans(scope=InstrumentationScope(name="a scope", version="1"), spans=spans)
    return ExportTraceServiceRequest(
        resource_spans=[ResourceSpans(resource=Resource(attributes=attributes), scope_spans=[scope])]
    )


def logs_request(*records: LogRecord) -> ExportLogsServiceRequest:
    scope = ScopeLogs(scope=InstrumentationScope(name="a scope"), log_records=records)
    return ExportLogsServiceRequest(resource_logs=[ResourceLogs(scope_logs=[scope])])


def span(name: str = "a span", number: int = 1, **fields: Any) -> Span:
    """A valid span; `number` tells it from others."""
    ids = {"trace_id": TRACE_ID, "span_id": number.to_bytes(8, "big")}
    return Span(**{"name": name, "start_time_unix_nano": 1, "end_time_unix_nano": 2, **ids, **fields})


def text(value: str) -> AnyValue:
    return AnyValue(string_value=value)


def to_json(request: Any) -> bytes:
    """The request in OTLP JSON, by protobuf's own encoder but for the ids, which are hex there."""
    document = MessageToDict(request, use_integers_for_enums=True)
    _hex_ids(document)
    return orjson.dumps(document)


def _hex_ids(node: Any) -> None:
    if isinstance(node, list):
        for element in node:
            _hex_ids(element)
    elif isinstance(node, dict):
        for key, value in node.items():
            if key in ("traceId", "spanId", "parentSpanId"):
                node[key] = base64.b64decode(value).hex()
            else:
                _hex_ids(value)


def comparable(value: Any) -> Any:
    """A value that equals another only if it has the same type throughout: true is not 1, and NaN is itself."""
    if isinstance(value, dict):
        return {key: comparable(element) for key, element in value.items()}
    if isinstance(value, list):
        return [comparable(element) for element in value]
    return type(value).__name__, repr(value)


def _attributes(key_values: Any) -> Any:
    return comparable({element.key: plain_value(element.value) for element in key_values})


def plain_value(value: AnyValue) -> Any:
    kind = value.WhichOneof("value")
    if kind is None:
        return None
    if kind == "array_value":
        return [plain_value(element) for element in value.array_value.values]
    if kind == "kvlist_value":
        return {element.key: plain_value(element.value) for element in value.kvlist_value.values}
    return getattr(value, kind)


def plain_spans(request: ExportTraceServiceRequest) -> list[dict[str, Any]]:
    """What a plain decoder, with the official classes, reads: comparable to `batch_spans`."""
    return [
        {
            "ids": (span.trace_id, span.span_id, span.parent_span_id),
            "name": span.name,
            "kind": span.kind,
            "times": (span.start_time_unix_nano, span.end_time_unix_nano),
            "attributes": _attributes(span.attributes),
            "resource": _attributes(resource.resource.attributes),
            "scope": (scope.scope.name, scope.scope.version, _attributes(scope.scope.attributes)),
            "flags": span.flags,
            "status": (span.status.code, span.status.message),
            "events": [(e.name, e.time_unix_nano, _attributes(e.attributes)) for e in span.events],
            "links": [(link.trace_id, link.span_id, _attributes(link.attributes)) for link in span.links],
            "dropped": (span.dropped_attributes_count, span.dropped_events_count),
        }
        for resource in request.resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]


def batch_spans(batch: Batch) -> list[dict[str, Any]]:
    return [
        {
            "ids": (span.trace_id, span.span_id, span.parent_id),
            "name": span.name,
            "kind": span.kind,
            "times": (span.start, span.end),
            "attributes": comparable(dict(span.attributes)),
            "resource": comparable(dict(span.resource.attributes)),
            "scope": (span.scope.name, span.scope.version, comparable(dict(span.scope.attributes))),
            "flags": span.flags,
            "status": (span.status, span.status_message),
            "events": [(e.name, e.time, comparable(dict(e.attributes))) for e in span.events],
            "links": [(link.trace_id, link.span_id, comparable(dict(link.attributes))) for link in span.links],
            "dropped": (span.dropped_attributes, span.dropped_events),
        }
        for span in batch.spans
    ]


def plain_logs(request: ExportLogsServiceRequest) -> list[dict[str, Any]]:
    return [
        {
            "ids": (record.trace_id, record.span_id),
            "time": record.time_unix_nano or record.observed_time_unix_nano,
            "event": record.event_name,
            "body": comparable(plain_value(record.body)),
            "attributes": _attributes(record.attributes),
            "resource": _attributes(resource.resource.attributes),
            "scope": (scope.scope.name, scope.scope.version, _attributes(scope.scope.attributes)),
            "severity": record.severity_number,
        }
        for resource in request.resource_logs
        for scope in resource.scope_logs
        for record in scope.log_records
    ]


def batch_logs(batch: Batch) -> list[dict[str, Any]]:
    return [
        {
            "ids": (record.trace_id, record.span_id),
            "time": record.time,
            "event": record.event_name,
            "body": comparable(record.body),
            "attributes": comparable(dict(record.attributes)),
            "resource": comparable(dict(record.resource.attributes)),
            "scope": (record.scope.name, record.scope.version, comparable(dict(record.scope.attributes))),
            "severity": record.severity,
        }
        for record in batch.logs
    ]


texts = st.text(max_size=12)
_uint32, _uint64 = st.integers(0, 2**32 - 1), st.integers(0, 2**64 - 1)
_scalars = st.one_of(
    st.just(AnyValue()),
    st.builds(AnyValue, string_value=texts),
    st.builds(AnyValue, bool_value=st.booleans()),
    st.builds(AnyValue, int_value=st.integers(-(2**63), 2**63 - 1)),
    st.builds(AnyValue, double_value=st.floats()),
    st.builds(AnyValue, bytes_value=st.binary(max_size=8)),
)


def _structures(values: st.SearchStrategy[AnyValue]) -> st.SearchStrategy[AnyValue]:
    lists = st.lists(values, max_size=3)
    pairs = st.lists(st.builds(KeyValue, key=texts, value=values), max_size=3)
    return st.one_of(
        lists.map(lambda elements: AnyValue(array_value={"values": elements})),
        pairs.map(lambda elements: AnyValue(kvlist_value={"values": elements})),
    )


any_values = st.recursive(_scalars, _structures, max_leaves=6)
_key_values = st.lists(st.builds(KeyValue, key=texts, value=any_values), max_size=4)
_trace_ids = st.binary(min_size=16, max_size=16).filter(any)
_span_ids = st.binary(min_size=8, max_size=8).filter(any)
_scopes = st.builds(InstrumentationScope, name=texts, version=texts, attributes=_key_values)
_resources = st.builds(Resource, attributes=_key_values)
_spans = st.builds(
    Span,
    trace_id=_trace_ids,
    span_id=_span_ids,
    parent_span_id=st.one_of(st.just(b""), _span_ids),
    name=texts,
    kind=st.integers(0, 5),
    start_time_unix_nano=_uint64,
    end_time_unix_nano=_uint64,
    attributes=_key_values,
    events=st.lists(st.builds(Span.Event, name=texts, time_unix_nano=_uint64, attributes=_key_values), max_size=2),
    links=st.lists(st.builds(Span.Link, trace_id=_trace_ids, span_id=_span_ids, attributes=_key_values), max_size=2),
    status=st.builds(Status, code=st.integers(0, 2), message=texts),
    flags=_uint32,
    trace_state=texts,
    dropped_attributes_count=_uint32,
    dropped_events_count=_uint32,
)
_records = st.builds(
    LogRecord,
    trace_id=st.one_of(st.just(b""), _trace_ids),
    span_id=st.one_of(st.just(b""), _span_ids),
    time_unix_nano=_uint64,
    observed_time_unix_nano=_uint64,
    event_name=texts,
    body=any_values,
    attributes=_key_values,
    severity_number=st.integers(0, 24),
)
trace_requests = st.builds(
    ExportTraceServiceRequest,
    resource_spans=st.lists(
        st.builds(
            ResourceSpans,
            resource=_resources,
            scope_spans=st.lists(
                st.builds(ScopeSpans, scope=_scopes, spans=st.lists(_spans, max_size=3)), max_size=2
            ),
        ),
        max_size=2,
    ),
)
log_requests = st.builds(
    ExportLogsServiceRequest,
    resource_logs=st.lists(
        st.builds(
            ResourceLogs,
            resource=_resources,
            scope_logs=st.lists(
                st.builds(ScopeLogs, scope=_scopes, log_records=st.lists(_records, max_size=3)), max_size=2
            ),
        ),
        max_size=2,
    ),
)
