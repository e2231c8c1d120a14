"""A run: one spec after another, each with its own agent."""

import asyncio
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Final

from evaluator.expectations.reason import Reason
from evaluator.harness import clock
from evaluator.harness.listener import Listener
from evaluator.harness.outcome import Notice, RunOutcome, Stop, TestKey, UnitBehaviors
from evaluator.harness.specrun import Options, SpecRun
from evaluator.harness.telemetry import Behaviors, Telemetry
from evaluator.harness.turn import LiveTurn
from evaluator.harness.variations import Model, Variations
from evaluator.language.spec import Spec

NAMES_SHOWN: Final = 10
"""How many tests are named when none is the one that was asked for."""


class _Run:
    """The run as `Executions`."""

    def __init__(self, specs: Sequence[Spec], listener: Listener, telemetry: Telemetry, options: Options) -> None:
        self.notices: list[Notice] = []
        self._sent: dict[bytes, tuple[SpecRun, TestKey, LiveTurn]] = {}
        self._listener = listener
        self._asked = options.asked
        variations = Variations(options.folder, Model.of(options.environ), frozen=options.frozen)
        self.specs = [
            SpecRun(
                number,
                spec,
                options,
                telemetry=telemetry,
                listener=listener,
                notify=self.notify,
                variations=variations,
            )
            for number, spec in enumerate(specs)
        ]

    async def run(self) -> None:
        for spec in self.specs:
            await spec.load()
        if any(spec.stop is not None for spec in self.specs):
            return
        if not any(spec.selected for spec in self.specs):
            self.specs[0].stop = Stop("no_tests", _nothing_selected(self.specs, self._asked))
            return
        for spec in self.specs:
            await spec.run()

    def fail_by_behavior(self, trace_ids: Collection[bytes], reason: Reason) -> None:
        for spec in self.specs:
            for _, execution in spec.executions():
                execution.fail(trace_ids, reason)

    def test_of(self, trace_id: bytes) -> TestKey | None:
        found = self._sent_with(trace_id)
        return None if found is None else found[1]

    def unseen(self, trace_id: bytes) -> Reason | None:
        found = self._sent_with(trace_id)
        return None if found is None else found[0].unseen(found[2])

    def _sent_with(self, trace_id: bytes) -> tuple[SpecRun, TestKey, LiveTurn] | None:
        """The message that began a trace. Behaviors ask this of every trace: all are looked up at once."""
        if trace_id not in self._sent:
            for spec in self.specs:
                for key, execution in spec.executions():
                    self._sent.update((turn.trace_id, (spec, key, turn)) for turn in execution.turns())
        return self._sent.get(trace_id)

    def notify(self, notice: Notice) -> None:
        if notice not in self.notices:
            self.notices.append(notice)
            self._listener.warning(notice)


def _nothing_selected(specs: Sequence[SpecRun], asked: str) -> str:
    tests = [name for spec in specs for name in spec.names()]
    shown = [f"  {name}" for name in tests[:NAMES_SHOWN]]
    more = [f"  and {len(tests) - NAMES_SHOWN} more"] if len(tests) > NAMES_SHOWN else []
    return "\n".join([f"No test matches {asked!r} in its name or its suite's. There are:", *shown, *more])


async def run_specs(
    specs: Sequence[Spec],
    *,
    listener: Listener,
    telemetry: Telemetry,
    options: Options,
    behaviors: Behaviors | None = None,
    closing: Callable[[], Iterable[Notice]] = tuple,
) -> RunOutcome:
    """Run the specs and say what they came to.

    When the task is cancelled, agents are stopped, and what was known by then is returned as an interrupted run. If
    nothing is selected, or a Python hook cannot be imported, nothing is started. `closing` is asked at the end for
    what else is to be told.
    """
    started = clock.now()
    listener.run_started(specs)
    run = _Run(specs, listener, telemetry, options)
    if behaviors is not None:
        behaviors.begin(run)
    interrupted = False
    try:
        await run.run()
    except asyncio.CancelledError:
        interrupted = True
        task = asyncio.current_task()
        if task is not None:
            task.uncancel()
        for spec in run.specs:
            spec.interrupt()
    units: tuple[UnitBehaviors, ...] = ()
    if behaviors is not None:
        units = behaviors.end()
        for spec in run.specs:
            await spec.judge_again()  # a behavior may have failed with the end of its session
    for notice in closing():
        run.notify(notice)
    outcome = RunOutcome(
        tuple(spec.outcome() for spec in run.specs), tuple(run.notices), units, started, clock.now(), interrupted
    )
    listener.run_finished(outcome)
    return outcome
