"""A small coding agent without a model: it emits what `docs/attributes.md` describes, with the OpenTelemetry SDK.

    python agent.py                      one session that keeps all rules of behaviors.yaml
    python agent.py --sessions 10 --bad 3    three of ten break some
    python agent.py --seconds 60 --pause 50  one session after another for a minute, 50 ms a step

Spans go where OTEL_EXPORTER_OTLP_ENDPOINT says (by default a local receiver), as OTEL_EXPORTER_OTLP_PROTOCOL says
(`grpc`, or `http/protobuf`, the default). The exporter's own variables apply, such as OTEL_BSP_SCHEDULE_DELAY.
"""

import argparse
import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
from opentelemetry.trace import Span, Tracer, set_span_in_context

Attributes = Mapping[str, Any]


class Session:
    """One session of the agent: it numbers what happens (`hangar.seq`) and knows its turn (`hangar.turn`)."""

    def __init__(self, tracer: Tracer, job: str, pause: float) -> None:
        self.id = f"session-{uuid4().hex[:8]}"
        self._tracer = tracer
        self._job = job
        self._pause = pause
        self._seq = 0
        self._turn = 0
        self._turn_span: Span | None = None
        self._files: set[str] = set()

    @contextmanager
    def turn(self) -> Iterator[None]:
        """A turn: the spans in it are children of its span, and events are events of it."""
        self._turn += 1
        attributes = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "coder"}
        self._turn_span = self._tracer.start_span(
            "invoke_agent coder", attributes=self._place(seq=False) | attributes
        )
        try:
            yield
        finally:
            self._turn_span.end()
            self._turn_span = None

    def tool(self, name: str, kind: str, arguments: Attributes, result: str = "", **more: Any) -> None:
        """A tool call: a span named `tool.call`."""
        given = json.dumps(arguments)
        self._span(
            "tool.call",
            {
                "gen_ai.tool.name": name,
                "gen_ai.tool.call.id": uuid4().hex,
                "gen_ai.tool.call.arguments": given,
                "gen_ai.tool.call.result": result,
                "hangar.tool.kind": kind,
                "hangar.tool.input": given[:500],
                "hangar.tool.output": result[:500],
            }
            | more,
        )

    def shell(self, command: str, *ops: str, result: str = "") -> None:
        """A command; `ops` says what it does that rules speak of."""
        self.tool("Bash", "shell", {"command": command}, result, **{"hangar.shell.ops": ops})

    def read(self, path: str) -> None:
        self.tool("Read", "read", {"path": path}, "def refund(order): ...", **{"hangar.file.repo_path": path})

    def edit(self, path: str) -> None:
        """An edit: the call, and the `file.change` event that a watcher of the checkout makes of it."""
        self.tool("Edit", "edit", {"path": path, "new": "..."}, "done", **{"hangar.file.repo_path": path})
        self.event("file.change", {"hangar.file.repo_path": path, "hangar.file.op": "modify"})
        self._files.add(path)

    def test(self, *, passed: bool) -> None:
        """A test run, as the test runner reports it: it knows no seq, so it is ordered by time."""
        self.shell("python -m pytest -q", "test", result="12 passed" if passed else "1 failed, 11 passed")
        status = "passed" if passed else "failed"
        facts = {"hangar.test.status": status, "hangar.test.total": 12}
        self._span("test.run", facts | {"hangar.test.complete": True, "hangar.test.trusted": True}, seq=False)

    def commit(self, message: str) -> None:
        self.shell(f"git commit -qam '{message}'", "git.commit")
        self.event("git.commit", {"hangar.git.message": message})

    def approval(self, op: str, status: str) -> None:
        """What a person said to a call that needs approval: a span named `approval`."""
        self._span("approval", {"hangar.shell.ops": [op], "hangar.approval.status": status})

    def steer(self, what: str, kind: str) -> None:
        """A message of the user while the agent works: `correction`, `redirect`, `new_info` or `unclassified`."""
        self.event("steer", {"hangar.steer.class": kind, "hangar.steer.text": what})

    def event(self, name: str, attributes: Attributes) -> None:
        """An event of the turn's span. It is exported when the turn ends."""
        assert self._turn_span is not None
        self._turn_span.add_event(name, self._place() | attributes)

    def deliver(self) -> None:
        """The end: the list of delivered files, and the event that closes the session."""
        with self.turn():
            self.event("diff.files", {"hangar.diff.files": sorted(self._files)})
            self.event("session.end", {})

    def _span(self, name: str, attributes: Attributes, *, seq: bool = True) -> None:
        context = set_span_in_context(self._turn_span) if self._turn_span else None
        span = self._tracer.start_span(name, context, attributes=self._place(seq=seq) | attributes)
        time.sleep(self._pause)
        span.end()

    def _place(self, *, seq: bool = True) -> dict[str, Any]:
        place = {"hangar.session.id": self.id, "hangar.job.id": self._job, "hangar.turn": self._turn}
        if seq:
            self._seq += 1
            place["hangar.seq"] = self._seq
        return place


def work(session: Session, *, bad: bool) -> None:
    """Fix a bug and open a pull request. A bad session breaks rules on its way."""
    with session.turn():
        session.read("src/orders/refund.py")
        session.edit("src/orders/refund.py")
        session.edit("tests/test_refund.py")
        session.test(passed=True)
        session.commit("Refund once")
    with session.turn():
        if bad:
            session.steer("no, not the production settings!", "correction")
            session.edit("infra/production.tf")
            session.shell("rm -rf build /tmp/orders", "delete")
            session.test(passed=False)
        else:
            session.steer("the ticket is 1042", "new_info")
            session.test(passed=True)
            session.approval("git.push", "allowed")
        session.shell("git push origin fix-refund", "git.push")
        session.shell("gh pr create --fill", "pr.open")
        session.event("pr.open", {"hangar.pr.number": 7})
    session.deliver()


def exporter() -> SpanExporter:
    if os.environ.get("OTEL_EXPORTER_OTLP_PROTOCOL") == "grpc":
        from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcExporter

        return GrpcExporter()
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpExporter

    return HttpExporter()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=1, help="how many sessions (default 1)")
    parser.add_argument("--bad", type=int, default=0, help="how many of them break rules; with --seconds, every Nth")
    parser.add_argument("--seconds", type=float, help="go on for so long, whatever --sessions says")
    parser.add_argument("--pause", type=float, default=0, help="milliseconds that each step takes (default 0)")
    parser.add_argument("--job", default=f"job-{uuid4().hex[:8]}", help="the job of all sessions")
    options = parser.parse_args()

    provider = TracerProvider(resource=Resource.create({"service.name": "coding-agent"}))
    provider.add_span_processor(BatchSpanProcessor(exporter()))
    tracer = provider.get_tracer("coding-agent")
    until = None if options.seconds is None else time.monotonic() + options.seconds
    number = 0
    while time.monotonic() < until if until is not None else number < options.sessions:
        number += 1
        session = Session(tracer, options.job, options.pause / 1000)
        bad = options.bad > 0 and (number <= options.bad if until is None else number % options.bad == 0)
        work(session, bad=bad)
        print(session.id, "bad" if bad else "good", flush=True)
    provider.shutdown()


if __name__ == "__main__":
    main()
