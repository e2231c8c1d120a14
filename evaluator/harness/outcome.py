"""What a run found: run > spec > suite > test > execution > turn, as frozen values.

Reporters and exporters read these and nothing else of the harness. Texts are already masked: no value of an
environment variable that the spec expanded is in them. Times named `*_ms` are durations in ms, `started`,
`sent` and `ended` are ns since the epoch.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from pathlib import Path
from typing import NamedTuple

from evaluator.expectations.reason import Reason
from evaluator.items import Call
from evaluator.verdict import BehaviorResult, Result, Severity, Status


class ExitStatus(IntEnum):
    """The exit code of a run (SEMANTICS.md, section 7)."""

    VERIFIED = 0
    NOT_VERIFIED = 1
    """Something failed or could not be verified."""
    NOTHING_RAN = 2
    INTERRUPTED = 130


class ClosedBy(StrEnum):
    """What ended the wait for a turn's verdict."""

    FAILURE = "failure"
    """A failure became final; the reply was not awaited if it had not come yet."""
    REPLY = "reply"
    """The reply is all that the turn checks, or the reply itself is an error."""
    EVIDENCE = "evidence"
    """The agent's entry span arrived, and every parent that its spans name."""
    SETTLED = "settled"
    """All that is asked for is there; only something unexpected could still change it."""
    SETTLE_TIME = "settle-time"
    """Nothing told that the agent's spans are complete; `settle_time` after the reply had passed."""
    INTERRUPTED = "interrupted"
    """The run was interrupted while it was waited for."""
    NOT_SENT = "not-sent"
    """The message could not be sent: session setup failed, or a template had no value."""


@dataclass(frozen=True, slots=True)
class Decision:
    """When a turn's verdict was known, and what made it known."""

    by: ClosedBy
    at_ms: float
    """After the message was sent."""
    lag_ms: float | None
    """After the deciding telemetry arrived; None if no telemetry decided."""
    span: str
    """The name of the deciding span, or ""."""
    reply_awaited: bool
    """False if the reply had not come when the verdict was known: the request was cancelled."""


@dataclass(frozen=True, slots=True)
class TurnOutcome:
    """One message of an execution and what became of it."""

    index: int
    """0-based place in the conversation."""
    name: str | None
    trigger: str
    """The message as it was sent, or as it was written if it could not be sent."""
    trace_id: str
    """Hex; what the message's `traceparent` said."""
    span_id: str
    """Hex; the parent of the agent's entry span."""
    status: Status
    reasons: tuple[Reason, ...]
    calls: tuple[Call, ...]
    """The calls of this turn that happened, by end time."""
    reply: str | None
    reply_ms: float | None
    sent: int
    ended: int
    decision: Decision


@dataclass(frozen=True, slots=True)
class ExecutionOutcome:
    """One run of one phrasing of a test. All of its turns share `test_id`."""

    test_id: str
    phrasing: str | None
    """The paraphrase or, in a test with variations, the trigger that was sent; None without variations."""
    run: int
    """1-based number among the runs of this phrasing."""
    status: Status
    reasons: tuple[Reason, ...]
    turns: tuple[TurnOutcome, ...]
    """The turns that were sent: a conversation ends at its first turn that does not pass."""
    started: int
    ended: int
    decided_ms: float
    """From the first message to the verdict."""
    ended_early: bool
    """The verdict was final before the last reply came."""
    revised: bool = False
    """Late telemetry changed the status after the execution was closed."""

    @property
    def trace_ids(self) -> tuple[str, ...]:
        return tuple(turn.trace_id for turn in self.turns)

    @property
    def calls(self) -> tuple[Call, ...]:
        return tuple(call for turn in self.turns for call in turn.calls)


class TestKey(NamedTuple):
    """Which test of a run it is: 0-based places of the spec, of its suite and of the test."""

    spec: int
    suite: int
    test: int


@dataclass(frozen=True, slots=True)
class TestOutcome:
    """A test over all of its phrasings and runs."""

    key: TestKey
    spec: Path
    suite: str
    name: str
    """The test's name, or its trigger, or `multi-turn (N turns)`; with its variations, if it has any."""
    status: Status
    duration_ms: float
    runs: int
    """Runs that each phrasing may have."""
    min_pass: int
    """Runs of each phrasing that must pass."""
    passed_runs: int
    """Of all phrasings together."""
    reasons: tuple[Reason, ...]
    executions: tuple[ExecutionOutcome, ...]
    phrasings: int = 1
    revised: bool = False
    """Late telemetry changed the status after the test was reported."""

    __test__ = False


@dataclass(frozen=True, slots=True)
class SuiteOutcome:
    name: str
    tests: tuple[TestOutcome, ...]


@dataclass(frozen=True, slots=True)
class Notice:
    """Something to be told that decides no test. `code` is a short stable word, `text` a sentence or two."""

    code: str
    text: str


@dataclass(frozen=True, slots=True)
class Stop:
    """Why a spec did not run (or not to its end). `code` is a class of `The run stops`."""

    code: str
    text: str


@dataclass(frozen=True, slots=True)
class NotRun:
    """A test that was to run and was not begun before the run ended."""

    suite: str
    name: str


@dataclass(frozen=True, slots=True)
class SpecOutcome:
    path: Path
    suites: tuple[SuiteOutcome, ...]
    stop: Stop | None = None
    not_run: tuple[NotRun, ...] = ()
    """The selected tests that were not begun."""

    @property
    def tests(self) -> tuple[TestOutcome, ...]:
        return tuple(test for suite in self.suites for test in suite.tests)


@dataclass(frozen=True, slots=True)
class UnitBehaviors:
    """The behaviors of one session or job, as they are at the end of the run."""

    kind: str
    """`session` or `job`."""
    id: str
    results: tuple[BehaviorResult, ...]
    tests: tuple[TestKey, ...] = ()
    """The tests whose executions are in this unit."""


@dataclass(frozen=True, slots=True)
class RunOutcome:
    specs: tuple[SpecOutcome, ...]
    warnings: tuple[Notice, ...]
    behaviors: tuple[UnitBehaviors, ...]
    started: int
    ended: int
    interrupted: bool = False

    @property
    def tests(self) -> tuple[TestOutcome, ...]:
        return tuple(test for spec in self.specs for test in spec.tests)

    @property
    def stops(self) -> tuple[Stop, ...]:
        return tuple(spec.stop for spec in self.specs if spec.stop is not None)

    @property
    def not_run(self) -> tuple[NotRun, ...]:
        return tuple(test for spec in self.specs for test in spec.not_run)

    def count(self, status: Status) -> int:
        """How many tests have this status."""
        return sum(test.status is status for test in self.tests)

    @property
    def exit_status(self) -> ExitStatus:
        """130 if interrupted, 2 if a spec could not run, 1 if anything is not verified, else 0."""
        if self.interrupted:
            return ExitStatus.INTERRUPTED
        if self.stops:
            return ExitStatus.NOTHING_RAN
        if any(test.status is not Status.PASSED for test in self.tests) or unverified(self.behaviors):
            return ExitStatus.NOT_VERIFIED
        return ExitStatus.VERIFIED


def unverified(units: Sequence[UnitBehaviors]) -> bool:
    """Whether some behavior of severity `error` neither passes nor is not applicable."""
    return any(
        result.severity is Severity.ERROR and result.verdict.result not in (Result.PASS, Result.NOT_APPLICABLE)
        for unit in units
        for result in unit.results
    )
