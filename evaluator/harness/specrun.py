"""One spec: its agent, its tests, and the confirmation of what they came to."""

import asyncio
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from evaluator.expectations.reason import Reason, listed, shown
from evaluator.harness import clock
from evaluator.harness.agent import RunningAgent
from evaluator.harness.attribution import Attribution, Correlation
from evaluator.harness.client import AgentClient
from evaluator.harness.execution import Execution
from evaluator.harness.hooks import HookError, Hooks
from evaluator.harness.inventory import Inventory
from evaluator.harness.judgement import Judge
from evaluator.harness.listener import Listener
from evaluator.harness.masking import Masking
from evaluator.harness.means import Means
from evaluator.harness.observation import BLIND_WAIT, Observation
from evaluator.harness.outcome import Notice, NotRun, SpecOutcome, Stop, SuiteOutcome, TestKey, TestOutcome
from evaluator.harness.process import StartError, log_path
from evaluator.harness.regex import search
from evaluator.harness.telemetry import Telemetry
from evaluator.harness.testrun import TestPlan, TestRun, name_of
from evaluator.harness.turn import LiveTurn, Surroundings
from evaluator.harness.variations import Variations
from evaluator.language.spec import Spec
from evaluator.verdict import Status

_ROUNDS: Final = 20
"""Turns of the event loop within which a request that has arrived is read, decoded and handed on."""


@dataclass(frozen=True, slots=True)
class Options:
    """How a run goes.

    `select` is asked with the name of the suite and of the test; None takes all. `asked` is what it looks for.
    """

    jobs: int = 1
    runs: int | None = None
    all_runs: bool = False
    frozen: bool = False
    select: Callable[[str, str], bool] | None = None
    asked: str = ""
    folder: Path = field(default_factory=Path.cwd)
    """Where hooks and agents run, and `.highbar` lies."""
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    """What agents and hooks inherit, and where the model for variations is found."""
    blind_wait: float = BLIND_WAIT
    watched: bool = False
    """Behaviors judge every test, so that each waits for what it makes the agent do."""


class SpecRun:
    """Runs one spec. Telemetry counts for its tests until `end`."""

    def __init__(
        self,
        number: int,
        spec: Spec,
        options: Options,
        *,
        telemetry: Telemetry,
        listener: Listener,
        notify: Callable[[Notice], None],
        variations: Variations,
    ) -> None:
        self.spec = spec
        self.stop: Stop | None = None
        self._number = number
        self._options = options
        self._telemetry = telemetry
        self._listener = listener
        self._masking = Masking(spec.agent.secrets)
        self._tell = notify
        self._variations = variations
        self._inventory = Inventory()
        self._judge = Judge(self._inventory, search)
        self._correlation = Correlation(spec.agent.correlate)
        self._attribution = Attribution(self._correlation, self._inventory)
        self._observation = Observation(
            spec.agent, self._attribution, self._notify, options.blind_wait, lambda: telemetry.misdirected
        )
        log = log_path(options.folder, spec.path.with_name(f"{spec.path.stem}-hooks"))
        self._hooks = Hooks(spec, options.folder, options.environ, log)
        self._plans = list(self._selected())
        self._runs: list[TestRun] = []

    async def load(self) -> None:
        """Import the spec's Python hooks; `stop` says so if that fails."""
        try:
            await self._hooks.load()
        except HookError as error:
            self.stop = Stop("hook_load", self._masking.text(str(error)))

    @property
    def selected(self) -> bool:
        """Whether any test of the spec is to run."""
        return bool(self._plans)

    def names(self) -> Iterator[str]:
        """`suite: test` of every test of the spec, selected or not."""
        text = self._masking.text
        tests = ((suite, test) for suite in self.spec.suites for test in suite.tests)
        return (f"{shown(suite.name, text)}: {shown(name_of(test), text)}" for suite, test in tests)

    async def run(self) -> None:
        """Start the agent, run the tests, confirm them, stop the agent. `outcome` has what is known at any time."""
        if not self._plans:
            return
        self._listener.spec_started(self.spec)
        unwatch = self._telemetry.watch(self._attribution)
        unlisten = self._telemetry.on_unreadable(self._unreadable)
        try:
            await self._with_agent(AgentClient(self.spec.agent))
        finally:
            await self._hooks.stop()
            unlisten()
            unwatch()
        self._warn()
        self._listener.spec_finished(self.outcome())

    def outcome(self) -> SpecOutcome:
        suites: dict[int, list[TestOutcome]] = {}
        for run in self._runs:
            if run.finished:
                suites.setdefault(run.plan.key.suite, []).append(run.outcome())
        text = self._masking.text
        found = tuple(
            SuiteOutcome(text(self.spec.suites[at].name), tuple(tests)) for at, tests in sorted(suites.items())
        )
        begun = {run.plan.key for run in self._runs if run.begun}
        left = tuple(NotRun(text(plan.suite.name), text(plan.name)) for plan in self._plans if plan.key not in begun)
        return SpecOutcome(self.spec.path, found, self.stop, left)

    def interrupt(self) -> None:
        """The run ends now: tests that are running could not be verified."""
        for run in self._runs:
            run.interrupt()

    def executions(self) -> Iterator[tuple[TestKey, Execution]]:
        return ((run.plan.key, execution) for run in self._runs for execution in run.executions())

    async def _with_agent(self, client: AgentClient) -> None:
        agent = RunningAgent(
            self.spec,
            client,
            self._telemetry,
            self._masking,
            self._notify,
            folder=self._options.folder,
            environ=self._options.environ,
            checks_calls=self._options.watched or any(_about_calls(plan) for plan in self._plans),
        )
        began = clock.ticks()
        try:
            how = await agent.begin()
            self._observation.log = agent.log
            self._listener.agent_ready(self.spec, how, (clock.ticks() - began) * 1000)
            means = self._means(client, agent)
            self._runs = [TestRun(plan, means, self._variations, self._revised) for plan in self._plans]
            await self._run_all(self._runs)
            await self._confirm(agent)
        except StartError as error:
            self.stop = Stop(error.stop.code, self._masking.text(error.stop.text))
        finally:
            await agent.stop()
        # What the agent sent while it ended counts as well.
        self._judge.over = True
        await self.judge_again()

    def _means(self, client: AgentClient, agent: RunningAgent) -> Means:
        around = Surroundings(self._attribution, self._observation, self._judge, search, self._masking.text)
        return Means(
            around,
            client,
            self._hooks,
            self._correlation,
            self._masking,
            self._listener,
            self._notify,
            agent.trace_files,
            agent.state,
            self._options.watched,
        )

    async def _run_all(self, runs: Sequence[TestRun]) -> None:
        waiting = iter(runs)

        async def work() -> None:
            for run in waiting:
                await run.run()

        async with asyncio.TaskGroup() as workers:
            for _ in range(max(1, min(self._options.jobs, len(runs)))):
                workers.create_task(work())

    async def _confirm(self, agent: RunningAgent) -> None:
        """Wait until `settle_time` after the last reply: what comes until then counts for the test that made it."""
        while True:
            await asyncio.sleep(max(0.0, self._confirmed_at() - clock.ticks()))
            for file in agent.trace_files:
                await file.drain()
            await self.judge_again()
            undecided = [run for run in self._runs if run.undecided]
            if not undecided:
                self._warn_of_work()
                return
            for run in undecided:
                await run.run_on()

    def _confirmed_at(self) -> float:
        """In ticks; the past if no test is about calls."""
        ends = [turn.accepting_until for turn in self._turns() if turn.needs_calls]
        return max((end for end in ends if end is not None), default=0.0)

    def unseen(self, turn: LiveTurn) -> Reason | None:
        """Why nothing shows that a call of the turn would have been seen, at the end of the run."""
        return turn.unseen() or (None if self._inventory.speaks else self._inventory.blindness(None))

    async def judge_again(self) -> None:
        """Confirm every execution, after what has arrived at the sockets by now has been taken in."""
        for _ in range(_ROUNDS):
            await asyncio.sleep(0)
        for _, execution in self.executions():
            execution.confirm()

    def _turns(self) -> Iterator[LiveTurn]:
        return (turn for _, execution in self.executions() for turn in execution.turns())

    def _selected(self) -> Iterator[TestPlan]:
        options = self._options
        for at, suite in enumerate(self.spec.suites):
            for number, test in enumerate(suite.tests):
                key = TestKey(self._number, at, number)
                plan = TestPlan.of(key, self.spec, suite, test, runs=options.runs, all_runs=options.all_runs)
                if options.select is None or options.select(suite.name, plan.name):
                    yield plan

    def _unreadable(self, what: str) -> None:
        """It counts for the turns that are open, or else for those that may still get telemetry."""
        now = clock.ticks()
        open_turns = [turn for turn in self._turns() if turn.decision is None]
        recent = [turn for turn in self._turns() if (turn.accepting_until or 0.0) > now]
        for turn in open_turns or recent:
            turn.unreadable(self._masking.text(what))

    def _revised(self, before: TestOutcome, after: TestOutcome) -> None:
        better = after.status is Status.PASSED
        # That calls cannot be seen is known when all is over, and by no telemetry: there was none of the kind.
        blind = self._judge.over and all(reason.code == "tool_not_observable" for reason in after.reasons)
        broken = not better and all(reason.code == "behavior" for reason in after.reasons)
        code = "late_now_passes" if better else "never_verified" if blind else "late_now_fails"
        why = "" if code == "never_verified" or broken else " with telemetry that came after it was decided"
        reasons = "" if better else f": {'; '.join(reason.text for reason in after.reasons)}"
        text = f"{after.name}: was {before.status}, is {after.status}{why}{reasons}"
        self._notify(Notice(code, text))
        self._listener.test_revised(before, after, text)

    def _names(self, holds: Callable[[LiveTurn], bool]) -> list[str]:
        """The tests of which it holds for a turn."""
        return [
            repr(run.plan.name)
            for run in self._runs
            if any(holds(turn) for execution in run.executions() for turn in execution.turns())
        ]

    def _warn_of_work(self) -> None:
        """Tell what the end of the run may have cut off: no telemetry says that an agent is done."""
        end = self._confirmed_at()
        tests = self._names(lambda turn: turn.works_on(end))
        if end and tests:
            text = (
                f"Spans of {listed(tests, 'and')} still came when the run ended, "
                f"{self._observation.settle:g} s after the last reply: what the agent does later is not seen, and no "
                "verdict is about it. Wait longer with agent.settle_time, in ms."
            )
            self._notify(Notice("work_goes_on", text))

    def _warn(self) -> None:
        incomplete = self._names(lambda turn: turn.needs_calls and turn.incomplete)
        if incomplete:
            text = (
                f"Spans of {listed(incomplete, 'and')} name a parent that never came: something of what the agent "
                "did was not seen, and no verdict is about it. Let every span come within settle_time "
                f"({self._observation.settle:g} s) of the reply: export all of them here, with "
                "OTEL_BSP_SCHEDULE_DELAY=100, or set a longer agent.settle_time."
            )
            self._notify(Notice("incomplete_trace", text))
        misdirection = self._observation.misdirection()
        if misdirection is not None:
            self._notify(misdirection)
        forbidden = (name for plan in self._plans for name in _forbidden(plan))
        undeclared = self._inventory.undeclared(forbidden) if self._runs else []
        if undeclared:
            names = listed([repr(name) for name in undeclared], "and")
            text = (
                f"The agent does not say which tools it has, so nothing shows that forbidding {names} forbids a tool "
                "and not a typo. Let it send gen_ai.tool.definitions on its agent or model spans."
            )
            self._notify(Notice("undeclared", text))
        ignored = [item.name for item in self._attribution.ignored.values()]
        if ignored:
            names = listed([repr(name) for name in ignored], "and")
            text = f"{len(ignored)} call(s) that name no test did not count for any: {names}."
            self._notify(Notice("untagged_ignored", text))

    def _notify(self, notice: Notice) -> None:
        self._tell(Notice(notice.code, self._masking.text(notice.text)))


def _about_calls(plan: TestPlan) -> bool:
    turns = plan.test.turns
    return bool(plan.test.behaviors) or any(turn.expect is not None and turn.expect.about_calls for turn in turns)


def _forbidden(plan: TestPlan) -> Iterator[str]:
    return (name for turn in plan.test.turns if turn.expect is not None for name in turn.expect.forbid)
