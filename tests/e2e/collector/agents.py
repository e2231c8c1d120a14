"""Coding agents as their OpenTelemetry SDK shows them: real exporters, driven from another thread."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from opentelemetry._logs import LogRecord, SeverityNumber
from opentelemetry.exporter.otlp.proto.grpc._log_exporter import OTLPLogExporter as GrpcLogExporter
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcSpanExporter
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter as HttpLogExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpSpanExporter
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

Attributes = dict[str, Any]


@dataclass(frozen=True)
class Step:
    """One thing that an agent does in a session: `kind` is `test`, `push`, `delete`, `edit` or `end`."""

    session: str
    seq: int
    kind: str


class Agent:
    """Exports to `url`, `http://...` or `grpc://...`. Not for the event loop's thread: exporters block."""

    def __init__(self, url: str) -> None:
        resource = Resource.create({"service.name": "coding-agent"})
        spans: Any
        logs: Any
        if url.startswith("grpc://"):
            target = url.removeprefix("grpc://")
            spans, logs = GrpcSpanExporter(target, insecure=True), GrpcLogExporter(target, insecure=True)
        else:
            spans, logs = HttpSpanExporter(f"{url}/v1/traces"), HttpLogExporter(f"{url}/v1/logs")
        self._tracers = TracerProvider(resource=resource)
        self._tracers.add_span_processor(
            BatchSpanProcessor(spans, max_queue_size=100_000, schedule_delay_millis=50, max_export_batch_size=64)
        )
        self._loggers = LoggerProvider(resource=resource)
        self._loggers.add_log_record_processor(
            BatchLogRecordProcessor(logs, max_queue_size=100_000, schedule_delay_millis=50)
        )
        self._tracer = self._tracers.get_tracer("coding.agent")
        self._logger = self._loggers.get_logger("coding.agent")

    def take(self, steps: Sequence[Step], **attributes: Any) -> None:
        """Do these steps, in this order; `attributes` are on every span besides its own."""
        for step in steps:
            self._take(step, attributes)

    def _take(self, step: Step, more: Attributes) -> None:
        place: Attributes = {"hangar.session.id": step.session, "hangar.seq": step.seq, **more}
        if step.kind == "end":
            self._logger.emit(
                LogRecord(event_name="session.end", severity_number=SeverityNumber.INFO, attributes=place)
            )
        elif step.kind == "test":
            with self._tracer.start_as_current_span("test.run", attributes={**place, "hangar.test.status": "passed"}):
                pass
        else:
            ops = {"push": ["git.push"], "delete": ["delete"], "edit": []}[step.kind]
            call = {"gen_ai.tool.name": "Bash", "hangar.tool.kind": "shell", "hangar.shell.ops": ops}
            # A turn around each call: the call's own trace has more than one span.
            with (
                self._tracer.start_as_current_span("turn", attributes=place),
                self._tracer.start_as_current_span("tool.call", attributes={**place, **call}),
            ):
                pass

    def close(self) -> None:
        """Deliver everything and end."""
        self._tracers.shutdown()
        self._loggers.shutdown()


def interleaved(sessions: int, seed: int = 1) -> list[Step]:
    """Steps of many sessions, mixed, each session's own in order: some push untested, some delete, most end."""
    chance = random.Random(seed)
    scripts = []
    for number in range(sessions):
        kinds = ["edit", *chance.choice([["test", "push"], ["push"], ["test", "edit", "push"], ["edit"]])]
        if chance.random() < 0.2:
            kinds.insert(1, "delete")
        if chance.random() < 0.9:
            kinds.append("end")
        scripts.append([Step(f"session-{number}", seq, kind) for seq, kind in enumerate(kinds)])
    mixed = []
    while scripts:
        script = chance.choice(scripts)
        mixed.append(script.pop(0))
        if not script:
            scripts.remove(script)
    return mixed
