"""Behaviors over units: a `Program` compiles them together, an `Evaluation` holds their results over one unit."""

from collections.abc import Callable, Sequence

from evaluator.dispatch import Hit, attribute_fields
from evaluator.items import Change, Item
from evaluator.language.assertion import Behavior, UnitKind
from evaluator.operators.monitor import Monitor
from evaluator.operators.uncertain import UncertainMonitor
from evaluator.section import Section, Subscription
from evaluator.verdict import BehaviorResult, Contract, Result, Verdict


class Program:
    """Behaviors compiled together. Immutable; `unit` starts an evaluation over one unit."""

    def __init__(self, behaviors: Sequence[Behavior], contract: Contract = Contract.ANY) -> None:
        self.behaviors = tuple(behaviors)
        self.contract = contract
        self._sections = {
            kind: Section([behavior for behavior in self.behaviors if behavior.unit is kind], contract)
            for kind in UnitKind
        }

    @property
    def attributes(self) -> frozenset[str]:
        """The full names of the attributes that the behaviors read, beside the columns of an item."""
        return frozenset().union(*(attribute_fields(section.predicates) for section in self._sections.values()))

    def of(self, kind: str) -> tuple[Behavior, ...]:
        """The behaviors of a kind of unit (`session` or `job`), in the order of their results."""
        return self._sections[UnitKind(kind)].behaviors

    def unit(self, kind: str) -> "Evaluation":
        """An evaluation of the behaviors of this kind of unit (`session` or `job`), with nothing in it."""
        return Evaluation(self._sections[UnitKind(kind)])


Feed = tuple[Callable[[Item, int], bool], int, int]
"""How a monitor is fed, in which role, and the position of its behavior."""

State = tuple[Result, bool, bool]
"""A result, whether it is final, and whether items alone made it so (and not closing)."""


class Evaluation:
    """The behaviors of one unit. Every item must be added once; a later version of it comes as a revision."""

    __slots__ = (
        "_arrivals",
        "_blind",
        "_closed",
        "_cut",
        "_feeds",
        "_final_at",
        "_match",
        "_monitors",
        "_promised",
        "_results",
        "_revised",
        "_section",
        "_states",
        "_was_closed",
    )

    def __init__(self, section: Section) -> None:
        self._section = section
        self._match = section.dispatch.match
        self._monitors: dict[int, Monitor] = {}
        self._feeds: dict[int, tuple[Feed, ...]] = {}
        self._states: dict[int, State] = {}
        """The state of each behavior as it was last reported, where it is not that of an empty unit."""
        self._promised: dict[int, Result] = {}
        """The result that was last called final, by behavior."""
        self._final_at: dict[int, int] = {}
        self._revised: set[int] = set()
        self._results: dict[int, BehaviorResult] = {}
        self._arrivals = 0
        self._closed = False
        self._was_closed = False
        self._blind: str | None = None
        self._cut: str | None = None

    def apply(self, change: Change) -> Sequence[int]:
        """Take what happened to one item of the unit.

        Returns the positions, in `results`, of the behaviors whose result, finality or revision changed.
        """
        old, new = change
        if old is None:
            if new is None:
                return ()
            self._arrivals += 1
            hits = self._match(new)
            if not hits:
                return ()
            touched = set()
            for predicate, sure in hits:
                for feed, role, behavior in self._feeds.get(predicate) or self._feeds_of(predicate):
                    if not sure:
                        self._doubting(behavior).doubt(new, role)
                        touched.add(behavior)
                    elif feed(new, role):
                        touched.add(behavior)
            if self._results:
                self._forget(hits)
        else:
            touched = self._revise(old, new)
        return self._report(touched) if touched else ()

    def close(self) -> Sequence[int]:
        """The unit is over: every result is final. Items may still be applied; what they change is revised."""
        return self._set_closed(True)

    def reopen(self) -> Sequence[int]:
        """Items may arrive again: what only closing made final is provisional again."""
        return self._set_closed(False)

    def _set_closed(self, closed: bool) -> Sequence[int]:
        if closed is self._closed:
            return ()
        # Nothing is kept of behaviors that nothing in the unit matches: there may be many units and behaviors.
        blank = [position for position in range(len(self._section.behaviors)) if position not in self._states]
        self._closed = closed
        self._was_closed |= closed
        for position in blank:
            self._results.pop(position, None)
        return sorted((*blank, *self._report(tuple(self._states))))

    def blind(self, cause: str | None) -> Sequence[int]:
        """Tool calls of this unit cannot be seen, for this cause (a clause), or again can (None).

        A result that an unseen call could change is unknown; one that no call can change stays.
        """
        self._blind = cause
        return self._report(range(len(self._section.behaviors)))

    def cut(self, cause: str) -> Sequence[int]:
        """Items of this unit were dropped, for this cause (a clause): a result that they could change is unknown."""
        self._cut = cause
        return self._report(range(len(self._section.behaviors)))

    @property
    def arrivals(self) -> int:
        """How many items arrived, retracted ones included."""
        return self._arrivals

    @property
    def results(self) -> tuple[BehaviorResult, ...]:
        """The results as they are now, in the order of `Program.of`."""
        return tuple(self.result(position) for position in range(len(self._section.behaviors)))

    def result(self, position: int) -> BehaviorResult:
        """The result at a position as it is now."""
        cached = self._results.get(position)
        if cached is None:
            cached = self._results[position] = self._result(position)
        return cached

    def _result(self, position: int) -> BehaviorResult:
        behavior = self._section.behaviors[position]
        result, final, _ = self._state(position)
        evidence, reason = self._monitor(position).explain()
        unseen = self._unseen(position)
        if unseen is not None:
            reason = unseen
        return BehaviorResult(
            behavior.name,
            behavior.severity,
            Verdict(result, final, evidence, reason),
            self._final_at.get(position) if final else None,
            position in self._revised,
        )

    def _monitor(self, position: int) -> Monitor:
        """The monitor of a behavior, for reading."""
        return self._monitors.get(position) or self._section.blank[position]

    def _feeds_of(self, predicate: int) -> tuple[Feed, ...]:
        """Who is fed what matches a predicate."""
        found = self._feeds[predicate] = tuple(
            (self._own(one.behavior).feed, one.role, one.behavior) for one in self._section.subscriptions[predicate]
        )
        return found

    def _forget(self, hits: Sequence[Hit]) -> None:
        """Forget the results that rest on what matched: their evidence may have changed, if nothing else."""
        for predicate, _ in hits:
            for subscription in self._section.subscriptions[predicate]:
                self._results.pop(subscription.behavior, None)

    def _own(self, position: int) -> Monitor:
        """The monitor of a behavior, for feeding."""
        found = self._monitors.get(position)
        if found is None:
            found = self._monitors[position] = self._section.monitor(position)
        return found

    def _doubting(self, position: int) -> UncertainMonitor:
        found = self._own(position)
        if not isinstance(found, UncertainMonitor):
            found = self._monitors[position] = self._section.uncertain(position, found)
            self._feeds.clear()
        return found

    def _feed(self, item: Item, subscription: Subscription, sure: bool) -> None:
        if sure:
            self._own(subscription.behavior).feed(item, subscription.role)
        else:
            self._doubting(subscription.behavior).doubt(item, subscription.role)

    def _retract(self, item: Item, subscription: Subscription, sure: bool) -> None:
        if sure:
            self._own(subscription.behavior).retract(item, subscription.role)
        else:
            self._doubting(subscription.behavior).retract_doubt(item, subscription.role)

    def _revise(self, old: Item, new: Item | None) -> set[int]:
        """Exchange an item, or take it back. The behaviors that it matched or matches."""
        section = self._section
        was = dict(section.dispatch.match(old))
        now = {} if new is None else dict(section.dispatch.match(new))
        touched: set[int] = set()
        for predicate in was.keys() | now.keys():
            stays = was.get(predicate) is True and now.get(predicate) is True and _same_place(old, new)
            for subscription in section.subscriptions[predicate]:
                touched.add(subscription.behavior)
                if stays and new is not None:
                    self._own(subscription.behavior).replace(old, new, subscription.role)
                    continue
                if predicate in was:
                    self._retract(old, subscription, was[predicate])
                if predicate in now and new is not None:
                    self._feed(new, subscription, now[predicate])
        return touched

    def _unseen(self, position: int) -> str | None:
        """Why the result of a behavior cannot be known, beside what its monitor says."""
        if self._blind is None and self._cut is None:
            return None
        if self._monitor(position).decided:
            return None
        if self._blind is not None and self._section.over_tools[position]:
            return f"tool calls of this unit cannot be seen: {self._blind}"
        return None if self._cut is None else f"not all of this unit is here: {self._cut}"

    def _state(self, position: int) -> State:
        found = self._monitor(position)
        if self._unseen(position) is not None:
            return Result.UNKNOWN, self._closed, False
        earned = found.decided or (found.ordered and found.passed_by)
        return found.result, self._closed or earned, earned

    def _report(self, positions: Sequence[int] | set[int] | range) -> Sequence[int]:
        """Note the new states; the positions whose state changed, in order."""
        changed = []
        for position in positions:
            self._results.pop(position, None)
            state = self._state(position)
            result, final, earned = state
            before = self._states.get(position)
            promised = self._promised.get(position)
            if before is None:
                blank = self._section.blank[position].result
                before = (blank, self._closed, False)
                promised = blank if self._was_closed else None
            if promised is not None and promised is not result and position not in self._revised:
                self._revised.add(position)
            elif before == state:
                continue
            if earned and not (before[2] and before[0] is result):
                self._final_at[position] = self._arrivals
            elif not earned:
                self._final_at.pop(position, None)
            if final:
                self._promised[position] = result
            elif promised is not None:
                self._promised[position] = promised
            self._states[position] = state
            changed.append(position)
        changed.sort()
        return changed


def _same_place(old: Item, new: Item | None) -> bool:
    """Whether two versions of an item are at the same place in the order and say the same of paths."""
    return new is not None and (
        (old.session, old.seq, old.time, old.turn, old.name, old.path, old.paths)
        == (new.session, new.seq, new.time, new.turn, new.name, new.path, new.paths)
    )
