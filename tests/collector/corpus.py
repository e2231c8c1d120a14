"""The corpus of recorded payloads, as batches."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from collector.telemetry import Batch, Link, LogRecord, Resource, Scope, Span, SpanEvent

CORPUS = Path(__file__).parents[2] / ".." / "shared" / "corpus"

IGNORED = {"account_agent", "transfer_to_agent", "transfer_to_account", "final_answer"}
"""Agents as tools, handoffs and final answers: expected.json leaves them out."""


@dataclass(frozen=True)
class Recording:
    """One scenario of one framework."""

    framework: str
    scenario: str
    expected: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.framework}/{self.scenario}"

    @property
    def paths(self) -> list[Path]:
        """Its file of traces, and that of logs where there is one."""
        names = (f"{self.scenario}.otlp", f"{self.scenario}.logs.otlp")
        return [path for name in names if (path := CORPUS / self.framework / name).exists()]

    def batch(self) -> Batch:
        folder = CORPUS / self.framework
        batch = read_traces((folder / f"{self.scenario}.otlp").read_bytes())
        logs = folder / f"{self.scenario}.logs.otlp"
        if logs.exists():
            batch.logs = read_logs(logs.read_bytes()).logs
        return batch


def recordings() -> Iterator[Recording]:
    for path in sorted(CORPUS.glob("*/expected.json")):
        for scenario, expected in json.loads(path.read_text()).items():
            yield Recording(path.parent.name, scenario, expected)


def read_traces(body: bytes) -> Batch:
    request = ExportTraceServiceRequest.FromString(body)
    spans = []
    for resource_spans in request.resource_spans:
        resource = Resource(_attributes(resource_spans.resource.attributes))
        for scope_spans in resource_spans.scope_spans:
            scope = Scope(
                scope_spans.scope.name, scope_spans.scope.version, _attributes(scope_spans.scope.attributes)
            )
            spans += [_span(span, resource, scope) for span in scope_spans.spans]
    return Batch(spans=spans)


def read_logs(body: bytes) -> Batch:
    request = ExportLogsServiceRequest.FromString(body)
    logs = []
    for resource_logs in request.resource_logs:
        resource = Resource(_attributes(resource_logs.resource.attributes))
        for scope_logs in resource_logs.scope_logs:
            scope = Scope(scope_logs.scope.name, scope_logs.scope.version, _attributes(scope_logs.scope.attributes))
            for record in scope_logs.log_records:
                attributes = _attributes(record.attributes)
                logs.append(
                    LogRecord(
                        record.time_unix_nano or record.observed_time_unix_nano,
                        record.event_name or attributes.get("event.name", ""),
                        _value(record.body),
                        attributes,
                        resource,
                        scope,
                        record.trace_id,
                        record.span_id,
                    )
                )
    return Batch(logs=logs)


def _span(span: Any, resource: Resource, scope: Scope) -> Span:
    return Span(
        span.trace_id,
        span.span_id,
        span.parent_span_id,
        span.name,
        span.kind,
        span.start_time_unix_nano,
        span.end_time_unix_nano,
        _attributes(span.attributes),
        resource,
        scope,
        span.flags,
        span.status.code,
        span.status.message,
        [SpanEvent(event.name, event.time_unix_nano, _attributes(event.attributes)) for event in span.events],
        [Link(link.trace_id, link.span_id, _attributes(link.attributes)) for link in span.links],
        span.dropped_attributes_count,
        span.dropped_events_count,
    )


def _attributes(pairs: Any) -> dict[str, Any]:
    return {pair.key: _value(pair.value) for pair in pairs}


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    if kind is None:
        return None
    if kind == "array_value":
        return [_value(element) for element in value.array_value.values]
    if kind == "kvlist_value":
        return _attributes(value.kvlist_value.values)
    return getattr(value, kind)
