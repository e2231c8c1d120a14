"""How a run is watched while it goes on: terminal reports and span exporters are listeners."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from evaluator.harness.outcome import (
    ExecutionOutcome,
    Notice,
    RunOutcome,
    SpecOutcome,
    TestKey,
    TestOutcome,
    TurnOutcome,
)
from evaluator.language.spec import Spec


@dataclass(frozen=True, slots=True)
class TestStarted:
    """A test whose first execution begins now. Under `-j N`, several run at once: `key` tells them apart."""

    key: TestKey
    spec: Path
    suite: str
    name: str
    runs: int
    started: int
    """ns since the epoch."""

    __test__ = False


@dataclass(frozen=True, slots=True)
class TurnSent:
    """A message that is being sent. The agent's spans hang below `span_id` in the trace `trace_id` (both hex)."""

    key: TestKey
    test_id: str
    run: int
    phrasing: str | None
    index: int
    trigger: str
    trace_id: str
    span_id: str
    sent: int


class Listener:
    """Is told what happens, in the event loop, in order; every method does nothing unless overridden.

    A listener must return quickly: the next test waits for it.
    """

    def run_started(self, specs: Sequence[Spec]) -> None: ...

    def spec_started(self, spec: Spec) -> None:
        """Before the spec's agent is started or looked for."""

    def agent_ready(self, spec: Spec, how: str, after_ms: float) -> None:
        """The agent answers. `how` is a clause for people, such as `started, ready at its health URL`."""

    def test_started(self, test: TestStarted) -> None: ...

    def turn_sent(self, turn: TurnSent) -> None: ...

    def turn_decided(self, turn: TurnSent, outcome: TurnOutcome) -> None: ...

    def execution_finished(self, key: TestKey, outcome: ExecutionOutcome) -> None: ...

    def test_finished(self, outcome: TestOutcome) -> None: ...

    def test_revised(self, before: TestOutcome, after: TestOutcome, why: str) -> None:
        """Late telemetry changed a test that was already reported."""

    def warning(self, notice: Notice) -> None: ...

    def spec_finished(self, outcome: SpecOutcome) -> None: ...

    def run_finished(self, outcome: RunOutcome) -> None: ...


class Listeners(Listener):
    """Tells each of several listeners, in order."""

    def __init__(self, listeners: Iterable[Listener]) -> None:
        self._listeners = tuple(listeners)

    def run_started(self, specs: Sequence[Spec]) -> None:
        for listener in self._listeners:
            listener.run_started(specs)

    def spec_started(self, spec: Spec) -> None:
        for listener in self._listeners:
            listener.spec_started(spec)

    def agent_ready(self, spec: Spec, how: str, after_ms: float) -> None:
        for listener in self._listeners:
            listener.agent_ready(spec, how, after_ms)

    def test_started(self, test: TestStarted) -> None:
        for listener in self._listeners:
            listener.test_started(test)

    def turn_sent(self, turn: TurnSent) -> None:
        for listener in self._listeners:
            listener.turn_sent(turn)

    def turn_decided(self, turn: TurnSent, outcome: TurnOutcome) -> None:
        for listener in self._listeners:
            listener.turn_decided(turn, outcome)

    def execution_finished(self, key: TestKey, outcome: ExecutionOutcome) -> None:
        for listener in self._listeners:
            listener.execution_finished(key, outcome)

    def test_finished(self, outcome: TestOutcome) -> None:
        for listener in self._listeners:
            listener.test_finished(outcome)

    def test_revised(self, before: TestOutcome, after: TestOutcome, why: str) -> None:
        for listener in self._listeners:
            listener.test_revised(before, after, why)

    def warning(self, notice: Notice) -> None:
        for listener in self._listeners:
            listener.warning(notice)

    def spec_finished(self, outcome: SpecOutcome) -> None:
        for listener in self._listeners:
            listener.spec_finished(outcome)

    def run_finished(self, outcome: RunOutcome) -> None:
        for listener in self._listeners:
            listener.run_finished(outcome)
