"""Outcomes of runs as the harness hands them to reports, with everything that may vary given by name."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evaluator.expectations import Difference, NearestMiss, Reason
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
from evaluator.items import Call, CallStatus, Item, ItemKind, NotRecorded
from evaluator.language.spec import Place
from evaluator.verdict import BehaviorResult, Result, Severity, Status, Verdict

SPEC = Path("specs/support.highbar.yaml")
SENT = 1_700_000_000_000_000_000
MS = 1_000_000
HOSTILE = "[red]see [1] and [/red]\x1b[31m\u202etxt.exe\x00<script>alert(1)</script> &amp; ]]>\ud800\ufffe"
CAPTURE_OFF = NotRecorded("content capture is off", "set OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true")


def key(number: int) -> TestKey:
    """The key of a test of the first suite."""
    return TestKey(0, 0, number)


def call(name: str, args: Any = None, start: float = 0, end: float = 10, **more: Any) -> Call:
    """`start` and `end` are ms after the message."""
    if more.get("error") is not None:
        more.setdefault("status", CallStatus.ERROR)
    return Call(
        name, {} if args is None else args, started=SENT + int(start * MS), ended=SENT + int(end * MS), **more
    )


def decision(
    by: ClosedBy = ClosedBy.EVIDENCE, lag_ms: float | None = 3.0, *, span: str = "", awaited: bool = True
) -> Decision:
    return Decision(by, 41.0, lag_ms, span, awaited)


def turn(status: Status = Status.PASSED, *, reasons: Sequence[Reason] = (), **more: Any) -> TurnOutcome:
    known: dict[str, Any] = {
        "index": 0,
        "name": None,
        "trigger": "refund my order",
        "trace_id": "4bf92f3577b34da6a3ce929d0e0e4736",
        "span_id": "00f067aa0ba902b7",
        "calls": (),
        "reply": "done",
        "reply_ms": 40.0,
        "sent": SENT,
        "ended": SENT + 41 * MS,
        "decision": decision(),
    }
    return TurnOutcome(status=status, reasons=tuple(reasons), **(known | more))


def execution(*turns: TurnOutcome, **more: Any) -> ExecutionOutcome:
    last = turns[-1] if turns else turn()
    known: dict[str, Any] = {
        "test_id": "0123456789abcdef0123456789abcdef",
        "phrasing": None,
        "run": 1,
        "status": last.status,
        "reasons": last.reasons,
        "started": SENT,
        "ended": SENT + 41 * MS,
        "decided_ms": 41.0,
        "ended_early": not last.decision.reply_awaited,
    }
    return ExecutionOutcome(turns=turns, **(known | more))


def test_outcome(name: str, *executions: ExecutionOutcome, **more: Any) -> TestOutcome:
    first = executions[0] if executions else execution(turn())
    known: dict[str, Any] = {
        "key": TestKey(0, 0, 0),
        "spec": SPEC,
        "suite": "Support",
        "status": first.status,
        "duration_ms": 41.26,
        "runs": 1,
        "min_pass": 1,
        "passed_runs": int(first.status is Status.PASSED),
        "reasons": first.reasons,
    }
    return TestOutcome(name=name, executions=executions or (first,), **(known | more))


test_outcome.__test__ = False  # type: ignore[attr-defined]


def run_outcome(*tests: TestOutcome, stop: Stop | None = None, **more: Any) -> RunOutcome:
    suites: dict[str, list[TestOutcome]] = {}
    for test in tests:
        suites.setdefault(test.suite, []).append(test)
    spec = SpecOutcome(
        SPEC,
        tuple(SuiteOutcome(name, tuple(inside)) for name, inside in suites.items()),
        stop,
    )
    known: dict[str, Any] = {"warnings": (), "behaviors": (), "started": SENT, "ended": SENT + 1234 * MS}
    return RunOutcome(specs=(spec,), **(known | more))


def mismatch(**more: Any) -> Reason:
    """A call with two wrong arguments."""
    made = call("refund", {"id": 8, "reason": "late"})
    differences = (Difference("params.id", "7", "8"), Difference("params.reason", 'contains "broken"', '"late"'))
    text = "refund was called with a difference: params.id is 8, expected 7; and 1 more difference"
    place = Place("suites[0].tests[1].expect.function_calls[0]", 14)
    return Reason("params_mismatch", text, place, NearestMiss(made, differences), calls=(made,), **more)


def forbidden(name: str = "delete_account") -> Reason:
    text = f"{name} was called, and is forbidden"
    return Reason("forbidden_call", text, Place("suites[0].tests[2].expect", 20), calls=(call(name),))


def behaviors(*results: Result, severity: Severity = Severity.ERROR) -> UnitBehaviors:
    item = Item((b"\x01" * 16, b"\x02" * 8, None), ItemKind.TOOL, "Bash", "s1", None, 41, SENT, 3, ops=("git.push",))
    return UnitBehaviors(
        "session",
        "s1",
        tuple(
            BehaviorResult(f"rule {number}", severity, Verdict(result, True, (item,), f"because {number}"), 7)
            for number, result in enumerate(results)
        ),
    )


def example_run() -> RunOutcome:
    """A run with one of everything."""
    passed = test_outcome("refunds a broken order", execution(turn(calls=(call("look_up_order", {"id": 7}, 2, 12),))))
    made = (
        call("look_up_order", {"id": 7}, 1, 12),
        call("refund", {"id": 8, "reason": "late"}, 15, 33),
        call("send_mail", {"to": "a@b.example"}, 20, 38, error="Timeout: 5s"),
    )
    failed = test_outcome(
        "refunds the right order",
        execution(turn(Status.FAILED, reasons=[mismatch()], calls=made)),
        key=TestKey(0, 0, 1),
    )
    ended = test_outcome(
        "keeps the account",
        execution(
            turn(
                Status.FAILED,
                reasons=[forbidden()],
                calls=(call("delete_account", {"user": "u1"}, 5, 5),),
                reply=None,
                reply_ms=None,
                decision=decision(ClosedBy.FAILURE, 0.6, span="execute_tool delete_account", awaited=False),
            )
        ),
        key=TestKey(0, 0, 2),
        suite="Guardrails",
    )
    gap = Reason(
        "not_recorded", "params of refund was not recorded: content capture is off", error=True, fix=CAPTURE_OFF.fix
    )
    unknown = test_outcome(
        "refunds in private",
        execution(turn(Status.ERROR, reasons=[gap], calls=(call("refund", CAPTURE_OFF, 1, 9),))),
        key=TestKey(0, 0, 3),
        suite="Guardrails",
    )
    flaky = test_outcome(
        "answers politely",
        execution(turn()),
        execution(turn(Status.FAILED, reasons=[forbidden("shout")]), run=2),
        execution(turn(), run=3),
        key=TestKey(0, 0, 4),
        suite="Guardrails",
        runs=3,
        min_pass=2,
        passed_runs=2,
        status=Status.PASSED,
        reasons=(),
    )
    return run_outcome(
        passed,
        failed,
        ended,
        unknown,
        flaky,
        warnings=(Notice("no_inventory", "no tool was ever declared: a misspelt name in forbid cannot be told"),),
        behaviors=(behaviors(Result.PASS, Result.FAIL, Result.UNKNOWN, Result.NOT_APPLICABLE),),
    )
