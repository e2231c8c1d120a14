"""Run outcomes as the harness makes them, small and fixed."""

from typing import Any

from evaluator.expectations.reason import Reason
from evaluator.harness.outcome import (
    ExecutionOutcome,
    Notice,
    RunOutcome,
    Stop,
    TestOutcome,
    TurnOutcome,
    UnitBehaviors,
)
from evaluator.items import Call, Item, ItemKind
from evaluator.verdict import BehaviorResult, Result, Severity, Status, Verdict
from tests.collector import outcomes
from tests.collector.outcomes import SENT as T0
from tests.collector.outcomes import SPEC

__all__ = ["SPEC", "T0", "S", "event_item", "execution", "result", "run_outcome", "test_outcome", "turn"]

S = 1_000_000_000

MISSING = Reason("no_such_call", "expected a call of refund, none was made", fix="let the agent refund")


def _reasons(status: Status) -> tuple[Reason, ...]:
    return () if status is Status.PASSED else (MISSING,)


def _worst(statuses: list[Status]) -> Status:
    return next((status for status in statuses if status is not Status.PASSED), Status.PASSED)


def turn(number: int, status: Status = Status.PASSED, index: int = 0) -> TurnOutcome:
    """A message with trace id and span id made of `number`."""
    return outcomes.turn(
        status,
        reasons=_reasons(status),
        index=index,
        trigger="Refund order 7, please",
        trace_id=f"{number:032x}",
        span_id=f"{number:016x}",
        calls=(Call("lookup", {"id": 7}),),
        reply="Done.",
        reply_ms=12.0,
        sent=T0 + number * S,
        ended=T0 + (number + 1) * S,
        decision=outcomes.decision(lag_ms=1.5, span="invoke_agent"),
    )


def execution(run: int, *turns: TurnOutcome) -> ExecutionOutcome:
    status = _worst([turn.status for turn in turns])
    times = {"started": turns[0].sent, "ended": turns[-1].ended}
    return outcomes.execution(
        *turns, test_id=f"test-{run}", run=run, status=status, reasons=_reasons(status), **times
    )


def test_outcome(number: int, name: str, *executions: ExecutionOutcome) -> TestOutcome:
    statuses = [each.status for each in executions]
    status = _worst(statuses)
    counts: dict[str, Any] = {"runs": len(statuses), "min_pass": len(statuses)}
    counts["passed_runs"] = statuses.count(Status.PASSED)
    return outcomes.test_outcome(
        name,
        *executions,
        key=outcomes.key(number),
        suite="refunds",
        status=status,
        duration_ms=1000.0,
        reasons=_reasons(status),
        **counts,
    )


test_outcome.__test__ = False  # type: ignore[attr-defined]


def event_item(name: str, span: int, *, session: str = "s-1", seq: int | None = None, trace: int = 7) -> Item:
    id = (trace.to_bytes(16, "big"), span.to_bytes(8, "big"), None)
    return Item(id, ItemKind.EVENT, name, session, None, seq, T0 + span * S, None)


def result(
    of: Result,
    *evidence: Item,
    name: str = "tests before push",
    severity: Severity = Severity.ERROR,
    final: bool = True,
) -> BehaviorResult:
    return BehaviorResult(name, severity, Verdict(of, final, evidence, f"it is {of}"))


def run_outcome(
    *tests: TestOutcome,
    behaviors: tuple[UnitBehaviors, ...] = (),
    stop: Stop | None = None,
    warnings: tuple[Notice, ...] = (),
) -> RunOutcome:
    return outcomes.run_outcome(*tests, stop=stop, warnings=warnings, behaviors=behaviors, ended=T0 + 100 * S)
