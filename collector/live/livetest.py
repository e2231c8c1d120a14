"""One test of a run as it goes on, and what readers see of it."""

from dataclasses import dataclass, field
from typing import Any, Final

from collector.live import views
from collector.live.encoding import encode
from evaluator.expectations.reason import Reason
from evaluator.harness.listener import TurnSent
from evaluator.harness.outcome import ExecutionOutcome, TestKey, TestOutcome, TurnOutcome
from evaluator.items import Call, Item, NotRecorded

TEXT_SHOWN: Final = 4_000
"""How many characters of one message, reply, argument or result are shown."""


@dataclass(slots=True, eq=False)
class LiveTurn:
    """A message that was sent. `calls`: those seen in its trace so far, until the outcome says which are its own."""

    sent: TurnSent
    calls: dict[tuple[Any, ...], Item] = field(default_factory=dict)
    outcome: TurnOutcome | None = None


@dataclass(slots=True, eq=False)
class LiveExecution:
    test_id: str
    run: int
    phrasing: str | None
    turns: list[LiveTurn] = field(default_factory=list)
    outcome: ExecutionOutcome | None = None


@dataclass(slots=True, eq=False)
class LiveTest:
    """`status` is `waiting`, `running`, `passed`, `failed`, `error` or, when the run ended without it, `not run`."""

    key: TestKey
    spec: str
    suite: str
    name: str
    status: str = "waiting"
    runs: int = 1
    started: int | None = None
    executions: dict[str, LiveExecution] = field(default_factory=dict)
    outcome: TestOutcome | None = None
    revision: str | None = None
    """Why the reported status was changed, if it was."""


def key_text(key: TestKey) -> str:
    return ".".join(map(str, key))


def line(test: LiveTest) -> views.View:
    """One test, without its conversations."""
    outcome = test.outcome
    current = _current(test)
    return {
        "key": key_text(test.key),
        "spec": test.spec,
        "suite": test.suite,
        "name": test.name[:TEXT_SHOWN],
        "status": test.status,
        "runs": test.runs,
        "min_pass": outcome.min_pass if outcome is not None else None,
        "passed_runs": outcome.passed_runs if outcome is not None else None,
        "executions": len(test.executions),
        "started_ms": views.ms(test.started) if test.started is not None else None,
        "duration_ms": round(outcome.duration_ms, 3) if outcome is not None else None,
        "reason": outcome.reasons[0].text[:TEXT_SHOWN] if outcome is not None and outcome.reasons else None,
        "revision": test.revision,
        "doing": _doing(current) if current is not None and outcome is None else None,
    }


def in_full(test: LiveTest) -> views.View:
    """A test with its executions, their turns and calls."""
    outcome = test.outcome
    return {
        **line(test),
        "reasons": [_reason(reason) for reason in outcome.reasons] if outcome is not None else [],
        "all_executions": [_execution(execution) for execution in test.executions.values()],
    }


def _execution(execution: LiveExecution) -> views.View:
    outcome = execution.outcome
    turns = [_decided(turn) for turn in outcome.turns] if outcome is not None else [_turn(t) for t in execution.turns]
    return {
        "test_id": execution.test_id,
        "run": execution.run,
        "phrasing": execution.phrasing,
        "status": outcome.status.value if outcome is not None else "running",
        "reasons": [_reason(reason) for reason in outcome.reasons] if outcome is not None else [],
        "decided_ms": round(outcome.decided_ms, 3) if outcome is not None else None,
        "ended_early": outcome.ended_early if outcome is not None else False,
        "revised": outcome.revised if outcome is not None else False,
        "turns": turns,
    }


def _turn(turn: LiveTurn) -> views.View:
    if turn.outcome is not None:
        return _decided(turn.outcome)
    items = sorted(turn.calls.values(), key=lambda item: item.call.ended if item.call is not None else 0)
    return {
        "index": turn.sent.index,
        "name": None,
        "trigger": turn.sent.trigger[:TEXT_SHOWN],
        "trace_id": turn.sent.trace_id,
        "status": "running",
        "reasons": [],
        "calls": [_call(item.call) for item in items if item.call is not None],
        "reply": None,
        "reply_ms": None,
        "decided_by": None,
        "decided_ms": None,
    }


def _decided(turn: TurnOutcome) -> views.View:
    return {
        "index": turn.index,
        "name": turn.name,
        "trigger": turn.trigger[:TEXT_SHOWN],
        "trace_id": turn.trace_id,
        "status": turn.status.value,
        "reasons": [_reason(reason) for reason in turn.reasons],
        "calls": [_call(call) for call in turn.calls],
        "reply": turn.reply[:TEXT_SHOWN] if turn.reply is not None else None,
        "reply_ms": turn.reply_ms,
        "decided_by": turn.decision.by.value,
        "decided_ms": round(turn.decision.at_ms, 3),
    }


def _call(call: Call) -> views.View:
    return {
        "name": call.name,
        "args": _text(call.args),
        "result": _text(call.result),
        "error": _text(call.error),
        "status": call.status.value,
        "duration_ms": round((call.ended - call.started) / 1e6, 3),
    }


def _reason(reason: Reason) -> views.View:
    return {
        "code": reason.code,
        "text": reason.text[:TEXT_SHOWN],
        "fix": reason.fix,
        "error": reason.error,
        "line": reason.place.line if reason.place is not None else None,
        "path": reason.place.path if reason.place is not None else None,
    }


def _text(value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, NotRecorded):
        return f"not recorded: {value.cause}"
    shown = value if isinstance(value, str) else encode(value).decode()
    return shown[:TEXT_SHOWN]


def _doing(turn: LiveTurn) -> views.View:
    return {
        "turn": turn.sent.index,
        "run": turn.sent.run,
        "trigger": turn.sent.trigger[:200],
        "calls": len(turn.calls),
    }


def _current(test: LiveTest) -> LiveTurn | None:
    for execution in reversed(test.executions.values()):
        if execution.outcome is None and execution.turns:
            return execution.turns[-1]
    return None
