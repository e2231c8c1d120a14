"""Run outcomes as the harness makes them, small and fixed."""

from pathlib import Path

from evaluator.expectations.reason import Reason
from evaluator.harness.outcome import (
    ClosedBy,
    Decision,
    ExecutionOutcome,
    Notice,
    RunOutcome,
    SpecOutcome,
    Stop,
    SuiteOutcome,
    TestKey,
    TestOutcome,
    TurnOutcome,
    UnitBehaviors,
)
from evaluator.items import Call, Item, ItemKind
from evaluator.verdict import BehaviorResult, Result, Severity, Status, Verdict

S = 1_000_000_000
T0 = 1_700_000_000 * S
SPEC = Path("specs/support.highbar.yaml")

MISSING = Reason("no_such_call", "expected a call of refund, none was made", fix="let the agent refund")


def turn(number: int, status: Status = Status.PASSED, index: int = 0) -> TurnOutcome:
    """A message with trace id and span id made of `number`."""
    return TurnOutcome(
        index=index,
        name=None,
        trigger="Refund order 7, please",
        trace_id=f"{number:032x}",
        span_id=f"{number:016x}",
        status=status,
        reasons=() if status is Status.PASSED else (MISSING,),
        calls=(Call("lookup", {"id": 7}),),
        reply="Done.",
        reply_ms=12.0,
        sent=T0 + number * S,
        ended=T0 + (number + 1) * S,
        decision=Decision(ClosedBy.EVIDENCE, 9.5, 1.5, "invoke_agent", True),
    )


def execution(run: int, *turns: TurnOutcome) -> ExecutionOutcome:
    status = next((turn.status for turn in turns if turn.status is not Status.PASSED), Status.PASSED)
    return ExecutionOutcome(
        test_id=f"test-{run}",
        phrasing=None,
        run=run,
        status=status,
        reasons=() if status is Status.PASSED else (MISSING,),
        turns=turns,
        started=turns[0].sent,
        ended=turns[-1].ended,
        decided_ms=9.5,
        ended_early=False,
    )


def test_outcome(number: int, name: str, *executions: ExecutionOutcome) -> TestOutcome:
    status = next((each.status for each in executions if each.status is not Status.PASSED), Status.PASSED)
    return TestOutcome(
        key=TestKey(0, 0, number),
        spec=SPEC,
        suite="refunds",
        name=name,
        status=status,
        duration_ms=1000.0,
        runs=len(executions),
        min_pass=len(executions),
        passed_runs=sum(each.status is Status.PASSED for each in executions),
        reasons=() if status is Status.PASSED else (MISSING,),
        executions=executions,
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
    suites = (SuiteOutcome("refunds", tests),) if tests else ()
    return RunOutcome((SpecOutcome(SPEC, suites, stop),), warnings, behaviors, T0, T0 + 100 * S)
