"""A run as it goes on, for the page and `spanbar watch`: every test, what it does now and what became of it."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from collector.index import Update
from collector.live import views
from collector.live.feed import Feed
from collector.live.livetest import LiveExecution, LiveTest, LiveTurn, line
from evaluator.harness.listener import Listener, TestStarted, TurnSent
from evaluator.harness.outcome import (
    ExecutionOutcome,
    Notice,
    RunOutcome,
    SpecOutcome,
    TestKey,
    TestOutcome,
    TurnOutcome,
)
from evaluator.items import ItemKind
from evaluator.language.spec import Spec
from evaluator.language.spec import Test as SpecTest

TESTS_A_FRAME: Final = 100
NOTICES_KEPT: Final = 200


class RunBoard(Listener):
    """Follows a run and publishes what changes. `seen` is for `Index.listen`: it shows calls as they arrive."""

    def __init__(self, feed: Feed) -> None:
        self.feed = feed
        self.tests: dict[TestKey, LiveTest] = {}
        self.notices: list[Notice] = []
        self.status = "starting"
        self.started: int | None = None
        self._turns: dict[bytes, tuple[LiveTest, LiveTurn]] = {}
        """The turns whose calls are still looked for, by trace id."""

    def seen(self, update: Update) -> None:
        if update.change is None:
            return
        old, new = update.change
        item = new or old
        if item is None or item.kind is not ItemKind.TOOL or item.call is None:
            return
        place = self._turns.get(item.call.trace_id)
        if place is None:
            return
        test, turn = place
        if old is not None:
            turn.calls.pop(old.id, None)
        if new is not None and new.call is not None and new.call.status.happened:
            turn.calls[new.id] = new
        self._publish(test)

    def summary(self) -> views.View:
        """The run without its tests."""
        counts: dict[str, int] = {}
        for test in self.tests.values():
            counts[test.status] = counts.get(test.status, 0) + 1
        return {
            "status": self.status,
            "started_ms": views.ms(self.started) if self.started is not None else None,
            "tests": len(self.tests),
            "counts": counts,
            "notices": [{"code": notice.code, "text": notice.text} for notice in self.notices],
        }

    def snapshot(self) -> Iterator[tuple[str, Any]]:
        """The run and all of its tests, as events."""
        yield "run", self.summary()
        tests = list(self.tests.values())
        for start in range(0, len(tests), TESTS_A_FRAME):
            yield "tests", {"tests": [line(test) for test in tests[start : start + TESTS_A_FRAME]]}

    def run_started(self, specs: Sequence[Spec]) -> None:
        self.status = "running"
        for number, spec in enumerate(specs):
            for place, suite in enumerate(spec.suites):
                for index, test in enumerate(suite.tests):
                    key = TestKey(number, place, index)
                    self.tests[key] = LiveTest(key, str(spec.path), suite.name, _name(test), runs=test.runs or 1)
        for name, data in self.snapshot():
            self.feed.publish(name, data)

    def agent_ready(self, spec: Spec, how: str, after_ms: float) -> None:
        self._notice(Notice("agent", f"{spec.path}: {how} (after {after_ms:.0f} ms)"))

    def test_started(self, test: TestStarted) -> None:
        if self.started is None:
            self.started = test.started
        live = self._test(test.key, str(test.spec), test.suite, test.name)
        live.name, live.runs, live.started = test.name, test.runs, test.started
        live.status = "running"
        self._publish(live)
        self._publish_run()

    def turn_sent(self, turn: TurnSent) -> None:
        test = self.tests[turn.key]
        execution = test.executions.get(turn.test_id)
        if execution is None:
            execution = test.executions[turn.test_id] = LiveExecution(turn.test_id, turn.run, turn.phrasing)
        live = LiveTurn(turn)
        execution.turns.append(live)
        self._turns[bytes.fromhex(turn.trace_id)] = (test, live)
        self._publish(test)

    def turn_decided(self, turn: TurnSent, outcome: TurnOutcome) -> None:
        place = self._turns.pop(bytes.fromhex(turn.trace_id), None)
        if place is not None:
            test, live = place
            live.outcome = outcome
            live.calls.clear()
            self._publish(test)

    def execution_finished(self, key: TestKey, outcome: ExecutionOutcome) -> None:
        test = self.tests[key]
        self._finish(test, outcome)
        self._publish(test)

    def test_finished(self, outcome: TestOutcome) -> None:
        test = self._test(outcome.key, str(outcome.spec), outcome.suite, outcome.name)
        test.name, test.outcome, test.status, test.runs = outcome.name, outcome, outcome.status.value, outcome.runs
        for execution in outcome.executions:
            self._finish(test, execution)
        self._publish(test)
        self._publish_run()

    def test_revised(self, before: TestOutcome, after: TestOutcome, why: str) -> None:
        self.tests[after.key].revision = f"{before.status.value} became {after.status.value}: {why}"
        self.test_finished(after)

    def warning(self, notice: Notice) -> None:
        self._notice(notice)

    def spec_finished(self, outcome: SpecOutcome) -> None:
        if outcome.stop is not None:
            self._notice(Notice(outcome.stop.code, f"{outcome.path}: {outcome.stop.text}"))

    def run_finished(self, outcome: RunOutcome) -> None:
        self.status = "interrupted" if outcome.interrupted else "finished"
        for finished in outcome.tests:
            self.test_finished(finished)
        for test in self.tests.values():
            if test.outcome is None:
                test.status = "not run"
                self._publish(test)
        self._publish_run()

    def _test(self, key: TestKey, spec: str, suite: str, name: str) -> LiveTest:
        test = self.tests.get(key)
        if test is None:
            test = self.tests[key] = LiveTest(key, spec, suite, name)
        return test

    def _finish(self, test: LiveTest, outcome: ExecutionOutcome) -> None:
        execution = test.executions.get(outcome.test_id)
        if execution is None:
            execution = LiveExecution(outcome.test_id, outcome.run, outcome.phrasing)
            test.executions[outcome.test_id] = execution
        execution.outcome = outcome

    def _notice(self, notice: Notice) -> None:
        self.notices.append(notice)
        del self.notices[:-NOTICES_KEPT]
        self._publish_run()

    def _publish(self, test: LiveTest) -> None:
        self.feed.publish("tests", {"tests": [line(test)]})

    def _publish_run(self) -> None:
        self.feed.publish("run", self.summary())


def _name(test: SpecTest) -> str:
    if test.name:
        return test.name
    return f"multi-turn ({len(test.turns)} turns)" if test.conversation else test.turns[0].trigger
