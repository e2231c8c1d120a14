"""Behaviors over what the tests make the agent do: `evaluator.harness.telemetry.Behaviors` over the index."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from collector.cli.behavior_units import behavior_units, blind
from collector.index import Index, Unit, UnitKey, UnitKind, Update
from evaluator.expectations.reason import Reason
from evaluator.harness.listener import Listener, TurnSent
from evaluator.harness.outcome import TestKey, UnitBehaviors
from evaluator.harness.telemetry import Executions
from evaluator.items import NotRecorded
from evaluator.verdict import BehaviorResult, Result, Severity

if TYPE_CHECKING:
    from collector.assembly import Assembly
    from evaluator.language.assertion import Behavior

APART: Final = (
    "it is one of {} messages of a conversation, whose spans name no session, so that each is judged alone; send "
    "gen_ai.conversation.id or session.id with them"
)


class RunBehaviors(Listener):
    """Watches the units of a run. A behavior of a spec's `x-behaviors` counts only for the tests that name it.

    `named` has, for each behavior file of `x-behaviors`, its behaviors; `tests` the files that each test names.
    """

    def __init__(
        self,
        index: Index,
        assembly: "Callable[[], Assembly]",
        everywhere: "Sequence[Behavior]",
        named: "Mapping[Path, Sequence[Behavior]]",
        tests: Mapping[TestKey, Sequence[Path]],
    ) -> None:
        self._index = index
        self._assembly = assembly
        self._everywhere = frozenset(behavior.name for behavior in everywhere)
        self._of_test = {
            key: frozenset(behavior.name for path in paths for behavior in named[path])
            for key, paths in tests.items()
        }
        self._traces: dict[UnitKey, set[bytes]] = {}
        self._turns: dict[str, TurnSent] = {}
        """The messages by their traces."""
        self._messages: Counter[str] = Counter()
        """How many each execution has sent."""
        self._named: dict[str, set[bytes]] = {}
        """The traces of messages by the names that their sessions may have from them."""
        self._executions: Executions | None = None

    def begin(self, executions: Executions) -> None:
        self._executions = executions
        self._index.listen(self._updated)

    def end(self) -> tuple[UnitBehaviors, ...]:
        """Close every unit; an execution that left none has the empty unit of its trace, so that it is judged too."""
        for session, trace_id in self._assembly().sessions():
            self._index.open(session)
            self._traces.setdefault(UnitKey(UnitKind.SESSION, session), set()).add(trace_id)
        seen = set().union(*self._traces.values())
        judged = {turn.test_id for turn in self._turns.values() if bytes.fromhex(turn.trace_id) in seen}
        for turn in self._turns.values():
            if turn.test_id not in judged:
                judged.add(turn.test_id)
                self._index.open(turn.trace_id)
                key = UnitKey(UnitKind.SESSION, turn.trace_id)
                self._traces.setdefault(key, set()).add(bytes.fromhex(turn.trace_id))
        blind(self._index, self._assembly())
        for unit in list(self._index.units.values()):
            self._admit_gaps(unit)
        self._index.close_all()
        units = behavior_units(self._index, self._tests, self._relevant)
        return tuple(unit for unit in units if unit.results)

    def _admit_gaps(self, unit: Unit) -> None:
        """Say what is not known of a unit, so that nothing passes by it."""
        if self._executions is None:
            return
        traces = self._traces_of(unit)
        for trace_id in sorted(traces):
            reason = self._executions.unseen(trace_id)
            if reason is None:
                continue
            cause = f"{reason.text[:1].lower()}{reason.text[1:].rstrip('.')}"
            if reason.code == "tool_not_observable" and unit.key.kind is UnitKind.SESSION:
                self._index.blind(unit.key.id, NotRecorded(cause, reason.fix))
            else:
                self._index.cut(unit.key, cause)
        # A session that has its name from the trace of a message has it from no span.
        turn = self._turns.get(unit.key.id) if unit.key.kind is UnitKind.SESSION else None
        if turn is not None and (messages := self._messages[turn.test_id]) > 1:
            self._index.cut(unit.key, APART.format(messages))

    def turn_sent(self, turn: TurnSent) -> None:
        self._turns[turn.trace_id] = turn
        self._messages[turn.test_id] += 1
        for name in (turn.test_id, turn.trace_id):
            self._named.setdefault(name, set()).add(bytes.fromhex(turn.trace_id))

    def _updated(self, update: Update) -> None:
        unit = update.unit
        if update.change is not None and update.change.new is not None:
            trace_id = update.change.new.id[0]
            if trace_id:
                self._traces.setdefault(unit.key, set()).add(trace_id)
        if self._executions is None:
            return
        for position in update.results:
            result = unit.results[position]
            if _broken(result) and self._relevant(unit, result):
                text = f"behavior {result.behavior!r} failed: {result.verdict.reason}"
                self._executions.fail_by_behavior(self._traces_of(unit), Reason("behavior", text))

    def _traces_of(self, unit: Unit) -> set[bytes]:
        """The traces with items in the unit; of trace-contract records, the message's that has the unit's name."""
        return self._traces.get(unit.key, set()) | self._named.get(unit.key.id, set())

    def _tests(self, unit: Unit) -> tuple[TestKey, ...]:
        if self._executions is None:
            return ()
        found = {self._executions.test_of(trace_id) for trace_id in self._traces_of(unit)}
        return tuple(sorted(key for key in found if key is not None))

    def _relevant(self, unit: Unit, result: BehaviorResult) -> bool:
        if result.behavior in self._everywhere:
            return True
        return any(result.behavior in self._of_test.get(key, ()) for key in self._tests(unit))


def _broken(result: BehaviorResult) -> bool:
    verdict = result.verdict
    return verdict.final and verdict.result is Result.FAIL and result.severity is Severity.ERROR
