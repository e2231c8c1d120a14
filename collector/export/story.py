"""What every report tells of a test, in words: when it was decided, why, and which calls were made."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from collector.export.printable import printable
from evaluator.expectations.reason import Reason
from evaluator.expectations.values import show
from evaluator.harness.outcome import ClosedBy, Decision, ExecutionOutcome, TestOutcome, TurnOutcome
from evaluator.items import Call, NotRecorded
from evaluator.verdict import Status

VALUE_SHOWN: Final = 120
"""How many code points of the arguments of a call are shown."""

CALLS_SHOWN: Final = 12
"""How many calls of a turn are shown."""

CLOCK: Final = "clock?"
"""Stands where a time would, of a call that ends before it starts or has no times."""


def duration(ms: float) -> str:
    """A length of time as people say it: `0.4 ms`, `41 ms`, `1.2 s`, `2 min 5 s`."""
    if ms < 1:
        return f"{max(ms, 0):.1f} ms"
    if ms < 999.5:
        return f"{ms:.0f} ms"
    if ms < 59_950:
        return f"{ms / 1000:.1f} s"
    return f"{ms // 60_000:.0f} min {ms % 60_000 / 1000:.0f} s"


def decided(decision: Decision) -> str:
    """What made the verdict known and when: `decided 3 ms after the span, reply not awaited`."""
    by = decision.by
    if by is ClosedBy.NOT_SENT:
        return "not sent"
    if by is ClosedBy.INTERRUPTED:
        return "interrupted before it was decided"
    if by is ClosedBy.SETTLE_TIME:
        return "decided after the whole settle_time: no span told that the agent was done"
    told = "decided by the reply"
    if decision.lag_ms is not None:
        told = f"decided {duration(decision.lag_ms)} after the span"
    return told if decision.reply_awaited else f"{told}, reply not awaited"


def deciding_turn(execution: ExecutionOutcome) -> TurnOutcome | None:
    """The turn whose verdict is that of the execution: the last one that was sent."""
    return execution.turns[-1] if execution.turns else None


def score(test: TestOutcome) -> str:
    """`2/3 (min 2, 1 not run)` for a test of several runs or phrasings, else "": passed of those that were run."""
    most, made = test.runs * test.phrasings, len(test.executions)
    if most == 1:
        return ""
    notes = [
        *([] if test.min_pass == test.runs else [f"min {test.min_pass}"]),
        *([f"{most - made} not run"] if made < most else []),
    ]
    return f"{test.passed_runs}/{made}" + (f" ({', '.join(notes)})" if notes else "")


def reason_lines(reason: Reason) -> Iterator[str]:
    """A reason as plain lines: the sentence with its place, then its differences, then the way out."""
    place = "" if reason.place is None or reason.place.line is None else f" (line {reason.place.line})"
    yield f"{reason.code}: {printable(reason.text)}{place}"
    if not reason.certain:
        yield "  as far as it was seen: the turn ended before more calls could come"
    if reason.nearest is not None and len(reason.nearest.differences) > 1:
        for part in reason.nearest.differences:
            yield f"  {printable(part.path)}: {printable(part.found)}, expected {printable(part.expected)}"
    if reason.fix:
        yield f"  fix: {printable(reason.fix)}"


@dataclass(frozen=True, slots=True)
class Row:
    """A call in the timeline of a turn. Times are ms after the message was sent."""

    name: str
    args: str
    outcome: str
    """What it returned or how it failed, or ""."""
    failed: bool
    start: float
    end: float
    when: str
    """`start` for people, or `clock?` where the times of the call cannot be."""


def timeline(turn: TurnOutcome) -> tuple[tuple[Row, ...], int]:
    """The calls of a turn by their start, and how many more there were."""
    calls = sorted(turn.calls, key=lambda call: (call.started, call.ended))
    return tuple(_row(call, turn.sent) for call in calls[:CALLS_SHOWN]), max(0, len(calls) - CALLS_SHOWN)


def span_of(rows: Sequence[Row]) -> tuple[float, float]:
    """From the first start to the last end, never empty."""
    timed = [row for row in rows if row.when != CLOCK]
    start = min((row.start for row in timed), default=0.0)
    end = max((row.end for row in timed), default=0.0)
    return start, max(end, start + 0.001)


def story_lines(test: TestOutcome) -> Iterator[str]:
    """All there is to say of a test as plain lines: reasons, then each execution that did not pass."""
    for reason in test.reasons:
        yield from reason_lines(reason)
    for execution in unhappy(test):
        yield ""
        yield from _execution_lines(test, execution)


def unhappy(test: TestOutcome) -> tuple[ExecutionOutcome, ...]:
    """The executions that did not pass."""
    return tuple(execution for execution in test.executions if execution.status is not Status.PASSED)


def _execution_lines(test: TestOutcome, execution: ExecutionOutcome) -> Iterator[str]:
    if test.runs * test.phrasings > 1:
        yield f"{execution_title(execution)}: {execution.status}"
    for turn in execution.turns:
        yield f"message: {printable(turn.trigger, VALUE_SHOWN)}"
        rows, more = timeline(turn)
        for row in rows:
            yield f"  {row.when:>11}  {row.name} {row.args}{f'  {row.outcome}' if row.outcome else ''}"
        if more:
            yield f"  and {more} more calls"
        if turn.reply is not None:
            yield f"  reply after {duration(turn.reply_ms or 0)}: {printable(turn.reply, VALUE_SHOWN)}"
        yield "  " + "; ".join(filter(None, (decided(turn.decision), trace(turn))))


def execution_title(execution: ExecutionOutcome) -> str:
    phrasing = "" if execution.phrasing is None else f' of "{printable(execution.phrasing, 60)}"'
    return f"run {execution.run}{phrasing}"


def _row(call: Call, sent: int) -> Row:
    args = f"(arguments not recorded: {call.args.cause})" if isinstance(call.args, NotRecorded) else show(call.args)
    start, end = (call.started - sent) / 1e6, (call.ended - sent) / 1e6
    possible = plausible(call)
    return Row(
        name=printable(call.name, 60),
        args=printable(args, VALUE_SHOWN),
        outcome=printable(_outcome(call), VALUE_SHOWN),
        failed=call.failed,
        start=start if possible else 0.0,
        end=end if possible else 0.0,
        when=f"{start:.0f} ms" if possible else CLOCK,
    )


def plausible(call: Call) -> bool:
    """Whether the times of a call can be: it has some, and does not end before it starts."""
    return 0 < call.started <= call.ended


def _outcome(call: Call) -> str:
    if not call.failed:
        return ""
    return f"failed: {call.error}" if isinstance(call.error, str) else "failed"


def no_calls(turn: TurnOutcome) -> str:
    """What to say of a turn without calls, or "": unless it was watched to its end, it may have made some."""
    if turn.decision.by is ClosedBy.NOT_SENT:
        return ""
    watched = turn.decision.by in (ClosedBy.EVIDENCE, ClosedBy.SETTLED, ClosedBy.SETTLE_TIME)
    return "no tool was called" if watched and turn.status is not Status.ERROR else "no tool call had come by then"


def trace(turn: TurnOutcome) -> str:
    """`trace 4bf9...` of a turn that was sent, else ""."""
    return f"trace {turn.trace_id}" if turn.trace_id else ""
