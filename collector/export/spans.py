"""A run as spans: run > suite > test > execution in one trace, and each message at the root of a trace of its own.

Every message has its own trace, since its trace id is how the harness knows which of the agent's spans answer it.
The message span is the parent that the agent was sent (`TurnOutcome.trace_id` and `.span_id`), so the agent's spans
hang below it; it names its test in `test.suite.name` and `test.case.name`. Links lead from it to its test, and from
the execution to it. Behaviors are `session` and `job` spans below the run, with a span for each result.

Source of the names: the OpenTelemetry semantic conventions, "Test attributes".
"""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from collector.export.evaluation import Evaluated, result_log, result_span, unit_span
from collector.export.otlp import ERROR, OK, Attributes, SpanId, Telemetry, event, span
from evaluator.expectations.reason import Reason
from evaluator.harness.outcome import (
    ExecutionOutcome,
    RunOutcome,
    SpecOutcome,
    SuiteOutcome,
    TestOutcome,
    TurnOutcome,
    UnitBehaviors,
)
from evaluator.verdict import Status as Verdict

CASE_STATUS: Final = {Verdict.PASSED: "pass", Verdict.FAILED: "fail", Verdict.ERROR: "error"}
"""`test.case.result.status`. The conventions know `pass` and `fail` and allow others."""

EXIT_STATUS: Final = {0: "success", 1: "failure", 2: "aborted", 130: "aborted"}
"""`test.suite.run.status` of a whole run, by its exit status."""


def run_telemetry(outcome: RunOutcome, random_bytes: Callable[[int], bytes], verb: str = "run") -> Telemetry:
    """All spans and log records of a finished run, or of a check of recorded files (`verb`)."""
    return _Tree(outcome, random_bytes, verb).telemetry


class _Tree:
    def __init__(self, outcome: RunOutcome, random_bytes: Callable[[int], bytes], verb: str) -> None:
        self.telemetry = Telemetry()
        self._outcome = outcome
        self._random = random_bytes
        self._trace = random_bytes(16)
        run = self._new()
        for spec in outcome.specs:
            self._spec(spec, run)
        for unit in outcome.behaviors:
            self._unit(unit, run)
        self._run(run, verb)

    def _new(self) -> SpanId:
        return SpanId(self._trace, self._random(8))

    def _add(self, each: Span) -> None:
        self.telemetry.spans.append(each)

    def _run(self, run: SpanId, verb: str) -> None:
        outcome = self._outcome
        code = int(outcome.exit_status)
        counts: Attributes = {f"spanbar.tests.{status}": outcome.count(status) for status in Verdict}
        self._add(
            span(
                run,
                f"spanbar {verb}",
                (outcome.started, outcome.ended),
                {
                    "spanbar.span": "run",
                    "test.suite.run.status": EXIT_STATUS[code],
                    "spanbar.exit_status": code,
                    **counts,
                },
                events=[
                    event("spanbar.warning", outcome.ended, {"spanbar.code": each.code, "spanbar.text": each.text})
                    for each in outcome.warnings
                ],
                status=(OK, "") if code == 0 else (ERROR, f"exit status {code}"),
            )
        )

    def _spec(self, spec: SpecOutcome, run: SpanId) -> None:
        for suite in spec.suites:
            self._suite(suite, spec, run)
        if spec.stop is None:
            return
        # What never ran is in the tree too: a suite that is only missing looks like one that was not asked for.
        ended = self._outcome.ended
        stopped: Attributes = {"spanbar.code": spec.stop.code, "spanbar.text": spec.stop.text}
        self._add(
            span(
                self._new(),
                f"spec {spec.path.name}",
                (self._started(spec.tests), ended),
                {"spanbar.span": "spec", "spanbar.spec": str(spec.path), "test.suite.run.status": "aborted"},
                parent=run.span,
                events=[event("spanbar.stop", ended, stopped)],
                status=(ERROR, spec.stop.text),
            )
        )

    def _suite(self, suite: SuiteOutcome, spec: SpecOutcome, run: SpanId) -> None:
        id = self._new()
        for test in suite.tests:
            self._test(test, suite, id)
        failed = [test for test in suite.tests if test.status is not Verdict.PASSED]
        # A suite of which nothing ran is not a success.
        status = "failure" if failed else "success" if suite.tests else "skipped"
        if spec.stop is not None and not failed:
            status = "aborted"
        self._add(
            span(
                id,
                f"suite {suite.name}",
                (self._started(suite.tests), self._ended(suite.tests)),
                {
                    "spanbar.span": "suite",
                    "test.suite.name": suite.name,
                    "test.suite.run.status": status,
                    "spanbar.spec": str(spec.path),
                },
                parent=run.span,
                status=(OK, "")
                if status == "success"
                else (ERROR, f"{len(failed)} of {len(suite.tests)} tests did not pass"),
            )
        )

    def _test(self, test: TestOutcome, suite: SuiteOutcome, parent: SpanId) -> None:
        id = self._new()
        names = _names(suite.name, test.name, test.spec)
        for execution in test.executions:
            self._execution(execution, names, id)
        ended = self._ended([test])
        self._add(
            span(
                id,
                f"test {test.name}",
                (self._started([test]), ended),
                {
                    "spanbar.span": "test",
                    **names,
                    "test.case.result.status": CASE_STATUS[test.status],
                    "spanbar.test.runs": test.runs,
                    "spanbar.test.min_pass": test.min_pass,
                    "spanbar.test.passed_runs": test.passed_runs,
                    "spanbar.result.revised": test.revised,
                },
                parent=parent.span,
                events=_reason_events(test.reasons, ended),
                status=_status(test.status, test.reasons),
            )
        )

    def _execution(self, execution: ExecutionOutcome, names: Attributes, test: SpanId) -> None:
        id = self._new()
        messages = []
        for turn in execution.turns:
            message = self._message_id(turn)
            messages.append(message)
            self._message(turn, message, execution, names, (test, id))
        self._add(
            span(
                id,
                f"execution {execution.run}",
                (execution.started, execution.ended),
                {
                    "spanbar.span": "execution",
                    **names,
                    "test.case.result.status": CASE_STATUS[execution.status],
                    "spanbar.test.id": execution.test_id,
                    "spanbar.test.run": execution.run,
                    "spanbar.test.phrasing": execution.phrasing,
                    "spanbar.decided_ms": execution.decided_ms,
                    "spanbar.ended_early": execution.ended_early,
                    "spanbar.result.revised": execution.revised,
                },
                parent=test.span,
                links=[(message, {"spanbar.link": "message"}) for message in messages],
                events=_reason_events(execution.reasons, execution.ended),
                status=_status(execution.status, execution.reasons),
            )
        )

    def _message_id(self, turn: TurnOutcome) -> SpanId:
        """What the agent was sent; ids of its own for a message that was never sent and has none."""
        if turn.trace_id and turn.span_id:
            return SpanId(bytes.fromhex(turn.trace_id), bytes.fromhex(turn.span_id))
        return SpanId(self._random(16), self._random(8))

    def _message(
        self,
        turn: TurnOutcome,
        id: SpanId,
        execution: ExecutionOutcome,
        names: Attributes,
        above: tuple[SpanId, SpanId],
    ) -> None:
        test, owner = above
        self._add(
            span(
                id,
                f"message {turn.index + 1}" + (f" {turn.name}" if turn.name else ""),
                (turn.sent, turn.ended),
                {
                    "spanbar.span": "message",
                    **names,
                    "test.case.result.status": CASE_STATUS[turn.status],
                    "spanbar.test.id": execution.test_id,
                    "spanbar.test.run": execution.run,
                    "spanbar.message.index": turn.index,
                    "spanbar.message.text": turn.trigger,
                    "spanbar.message.calls": [call.name for call in turn.calls],
                    "spanbar.decided_by": turn.decision.by.value,
                    "spanbar.decided_ms": turn.decision.at_ms,
                },
                kind=Span.SPAN_KIND_CLIENT,
                links=[(test, {"spanbar.link": "test"}), (owner, {"spanbar.link": "execution"})],
                events=_reason_events(turn.reasons, turn.ended),
                status=_status(turn.status, turn.reasons),
            )
        )

    def _unit(self, unit: UnitBehaviors, run: SpanId) -> None:
        id = self._new()
        ended = self._outcome.ended
        evaluated = [Evaluated(unit.kind, unit.id, result, ended) for result in unit.results]
        for each in evaluated:
            own = self._new()
            self._add(result_span(each, own, id.span))
            self.telemetry.logs.append(result_log(each, own))
        self._add(unit_span(unit.kind, unit.id, id, (self._outcome.started, ended), evaluated, parent=run.span))

    def _started(self, tests: Iterable[TestOutcome]) -> int:
        return min((each.started for each in _executions(tests)), default=self._outcome.started)

    def _ended(self, tests: Iterable[TestOutcome]) -> int:
        return max((each.ended for each in _executions(tests)), default=self._outcome.ended)


def _names(suite: str, test: str, spec: Path) -> dict[str, str]:
    return {"test.suite.name": suite, "test.case.name": test, "spanbar.spec": str(spec)}


def _executions(tests: Iterable[TestOutcome]) -> Iterator[ExecutionOutcome]:
    return (execution for test in tests for execution in test.executions)


def _reason_events(reasons: Iterable[Reason], time: int) -> list[Span.Event]:
    return [
        event(
            "spanbar.reason",
            time,
            {"spanbar.code": each.code, "spanbar.text": each.text, "spanbar.fix": each.fix or None},
        )
        for each in reasons
    ]


def _status(status: Verdict, reasons: tuple[Reason, ...]) -> tuple["Status.StatusCode.ValueType", str]:
    if status is Verdict.PASSED:
        return OK, ""
    return ERROR, reasons[0].text if reasons else status.value
