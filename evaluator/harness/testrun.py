"""One test of a spec: its phrasings and runs, and what they come to together."""

import dataclasses
from collections.abc import Callable, Iterable
from decimal import ROUND_CEILING, Decimal

from evaluator.expectations.reason import Reason, unverifiable
from evaluator.harness import clock
from evaluator.harness.execution import Execution
from evaluator.harness.listener import TestStarted
from evaluator.harness.means import Means
from evaluator.harness.outcome import TestKey, TestOutcome
from evaluator.harness.variations import Variations, VariationsError
from evaluator.language.spec import Spec, Suite, Test
from evaluator.verdict import Status


@dataclasses.dataclass(frozen=True, slots=True)
class TestPlan:
    """A test and how often it runs."""

    key: TestKey
    spec: Spec
    suite: Suite
    test: Test
    runs: int
    min_pass: int
    all_runs: bool

    __test__ = False

    @classmethod
    def of(
        cls, key: TestKey, spec: Spec, suite: Suite, test: Test, *, runs: int | None, all_runs: bool
    ) -> "TestPlan":
        """`runs` is what takes the place of the spec's default, None for nothing."""
        count = test.runs or runs or spec.default_runs or 1
        return cls(key, spec, suite, test, count, needed(test.min_pass, count), all_runs)

    @property
    def name(self) -> str:
        return name_of(self.test)


def name_of(test: Test) -> str:
    """The test's name, or its trigger, or the number of its turns."""
    if test.name is not None:
        return test.name
    return f"multi-turn ({len(test.turns)} turns)" if test.conversation else test.turns[0].trigger


def needed(min_pass: int | float | None, runs: int) -> int:
    """How many of the runs must pass. A fraction is rounded up, as it is written: 0.7 of 10 is 7."""
    if min_pass is None:
        return runs
    if isinstance(min_pass, int):
        return min_pass
    exact = Decimal(str(min_pass)) * runs
    return max(1, int(exact.to_integral_value(ROUND_CEILING)))


class TestRun:
    """Runs one test. `on_revised` is called with what it was and what it is now when late telemetry changes it."""

    __test__ = False

    def __init__(
        self,
        plan: TestPlan,
        means: Means,
        variations: Variations,
        on_revised: Callable[[TestOutcome, TestOutcome], None],
    ) -> None:
        self.plan = plan
        self._means = means
        self._variations = variations
        self._on_revised = on_revised
        self._phrasings: list[_Phrasing] = []
        self._paraphrases = 0
        self._obstacle: Reason | None = None
        self._began: float | None = None
        self._duration_ms = 0.0
        self._reported: TestOutcome | None = None
        self._first: Status | None = None

    async def run(self) -> None:
        """Returns when the result is known, and tells the listener."""
        began = self._began = clock.ticks()
        plan, listener = self.plan, self._means.listener
        text = self._means.masking.text
        started = TestStarted(
            plan.key, plan.spec.path, text(plan.suite.name), text(plan.name), plan.runs, clock.now()
        )
        listener.test_started(started)
        await self._find_phrasings()
        for phrasing in self._phrasings:
            await self._run(phrasing)
        self._duration_ms = (clock.ticks() - began) * 1000
        self._reported = self.outcome()
        self._first = self._reported.status
        listener.test_finished(self._reported)

    @property
    def finished(self) -> bool:
        """Whether its result was known once."""
        return self._reported is not None

    @property
    def begun(self) -> bool:
        return self._began is not None

    def interrupt(self) -> None:
        """The run ends while this test is running: it could not be verified. Tells the listener."""
        if self._began is None or self.finished:
            return
        self._duration_ms = (clock.ticks() - self._began) * 1000
        text = "The run was interrupted while this test was running."
        self._obstacle = self._obstacle or unverifiable("interrupted", text, self.plan.test.place)
        self._reported = self.outcome()
        self._first = self._reported.status
        self._means.listener.test_finished(self._reported)

    @property
    def undecided(self) -> bool:
        """Whether telemetry that came late took back what made further runs unnecessary."""
        return any(phrasing.undecided(self.plan) for phrasing in self._phrasings)

    async def run_on(self) -> None:
        """Run what `undecided` asks for."""
        for phrasing in self._phrasings:
            await self._run(phrasing)
        self._revised()

    def executions(self) -> Iterable[Execution]:
        return (execution for phrasing in self._phrasings for execution in phrasing.executions)

    def outcome(self) -> TestOutcome:
        plan, text = self.plan, self._means.masking.text
        status = self._status()
        return TestOutcome(
            plan.key,
            plan.spec.path,
            text(plan.suite.name),
            text(plan.name) + self._suffix(),
            status,
            self._duration_ms,
            plan.runs,
            plan.min_pass,
            sum(phrasing.count(Status.PASSED) for phrasing in self._phrasings),
            tuple(self._reasons()),
            tuple(execution.outcome() for execution in self.executions()),
            max(1, len(self._phrasings)),
            revised=self._first is not None and status is not self._first,
        )

    async def _find_phrasings(self) -> None:
        test = self.plan.test
        if test.variations == 0:
            self._phrasings = [_Phrasing(None, "")]
            return
        trigger = test.turns[0].trigger
        try:
            paraphrases = await self._variations.of(trigger, test.variations)
        except VariationsError as error:
            self._obstacle = unverifiable("variations_unavailable", self._means.masking.text(str(error)), test.place)
            return
        self._paraphrases = len(paraphrases)
        others = (_Phrasing(text, f'[variation: "{text}"]') for text in paraphrases)
        self._phrasings = [_Phrasing(trigger, f'[trigger: "{trigger}"]'), *others]

    async def _run(self, phrasing: "_Phrasing") -> None:
        while phrasing.undecided(self.plan) or (self.plan.all_runs and len(phrasing.executions) < self.plan.runs):
            execution = Execution(
                self._means,
                self.plan.key,
                self.plan.test,
                self.plan.name,
                run=len(phrasing.executions) + 1,
                phrasing=phrasing.message,
                on_revised=self._revised,
            )
            phrasing.executions.append(execution)
            await execution.run()

    def _revised(self) -> None:
        if self._reported is None:
            return
        before, now = self._reported, self.outcome()
        self._reported = now
        if now.status is not before.status:
            self._on_revised(before, now)

    def _status(self) -> Status:
        if self._obstacle is not None:
            return Status.ERROR
        found = {phrasing.status(self.plan) for phrasing in self._phrasings}
        worst = (Status.FAILED, Status.ERROR, Status.PASSED)
        return next(status for status in worst if status in found)

    def _reasons(self) -> Iterable[Reason]:
        if self._obstacle is not None:
            yield self._obstacle
        for phrasing in self._phrasings:
            yield from phrasing.reasons(self.plan, self._means.masking.text(phrasing.label))

    def _suffix(self) -> str:
        asked = self.plan.test.variations
        if asked == 0:
            return ""
        return (
            f" ({asked} variations)"
            if self._paraphrases == asked
            else f" ({self._paraphrases} of {asked} variations)"
        )


@dataclasses.dataclass(slots=True)
class _Phrasing:
    """A message that is sent `runs` times. `message` is None for a test without variations."""

    message: str | None
    label: str
    executions: list[Execution] = dataclasses.field(default_factory=list)

    def count(self, status: Status) -> int:
        return sum(execution.over and execution.status is status for execution in self.executions)

    def undecided(self, plan: TestPlan) -> bool:
        """Whether further runs can and must still decide it."""
        left = plan.runs - len(self.executions)
        passed = self.count(Status.PASSED)
        return left > 0 and passed < plan.min_pass <= passed + left

    def status(self, plan: TestPlan) -> Status:
        """Failed only if failures alone decide it: runs that were spared count as neither."""
        if self.count(Status.PASSED) >= plan.min_pass:
            return Status.PASSED
        return Status.FAILED if plan.runs - self.count(Status.FAILED) < plan.min_pass else Status.ERROR

    def reasons(self, plan: TestPlan, label: str) -> Iterable[Reason]:
        """Each reason once, with how many of the runs it holds for."""
        counted: dict[tuple[str, str], list[Reason]] = {}
        for execution in self.executions:
            for key, reason in {(reason.code, reason.text): reason for reason in execution.reasons}.items():
                counted.setdefault(key, []).append(reason)
        for found in counted.values():
            runs = f"({len(found)} of {len(self.executions)} runs)" if plan.runs > 1 else ""
            yield _with(found[0], runs, label)
        if self.message is not None and plan.runs > 1 and self.status(plan) is not Status.PASSED:
            text = f"{self.count(Status.PASSED)}/{plan.runs} runs passed, {plan.min_pass} must"
            yield _with(Reason("below_min_pass", text, plan.test.place), "", label)


def _with(reason: Reason, *additions: str) -> Reason:
    return dataclasses.replace(reason, text=" ".join(filter(None, (reason.text, *additions))))
