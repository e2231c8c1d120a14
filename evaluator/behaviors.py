"""Behaviors over units: a `Program` compiles them together, an `Evaluation` holds their results over one unit."""

from collections.abc import Sequence
from dataclasses import dataclass

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


@dataclass(slots=True)
class _Reported:
    """What was last reported of a behavior."""

    result: Result
    final: bool
    earned: bool = False
    """Whether items alone made it final (and not closing)."""
    promised: Result | None = None
    """The result that was last called final."""
    final_at: int | None = None
    """The number of the arriving item at which it was earned."""
    revised: bool = False


class Evaluation:
    """The behaviors of one unit. Every item must be added once; a later version of it comes as a revision.

    Nothing is kept of behaviors that nothing in the unit matches: there may be many units, and many behaviors.
    """

    __slots__ = (
        "_arrivals",
        "_blind",
        "_closed",
        "_cut",
        "_monitors",
        "_reported",
        "_results",
        "_section",
        "_was_closed",
    )

    def __init__(self, section: Section) -> None:
        self._section = section
        self._monitors: dict[int, Monitor] = {}
        self._reported: dict[int, _Reported] = {}
        """By behavior, where it is not what an empty unit has."""
        self._results: dict[int, BehaviorResult] | None = None
        """What was asked for since it last changed."""
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
        if old is not None:
            touched = self._revise(old, new)
            return self._report(touched) if touched else ()
        if new is None:
            return ()
        self._arrivals += 1
        section = self._section
        hits = section.dispatch.match(new)
        if not hits:
            return ()
        touched = set()
        monitors, subscriptions = self._monitors, section.subscriptions
        for predicate, sure in hits:
            for behavior, role in subscriptions[predicate]:
                if not sure:
                    self._doubting(behavior).doubt(new, role)
                    touched.add(behavior)
                elif (monitors.get(behavior) or self._own(behavior)).feed(new, role):
                    touched.add(behavior)
        if self._results is not None:
            self._forget(self._results, hits)
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
        blank = [position for position in range(len(self._section.behaviors)) if position not in self._reported]
        self._closed = closed
        self._was_closed |= closed
        self._results = None
        return sorted((*blank, *self._report(tuple(self._reported))))

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
        if position not in self._monitors and position not in self._reported:
            return self._section.blank_results[self._closed][position]
        if self._results is None:
            self._results = {}
        found = self._results.get(position)
        if found is None:
            found = self._results[position] = self._result(position)
        return found

    def _result(self, position: int) -> BehaviorResult:
        behavior = self._section.behaviors[position]
        result, final, _ = self._state(position)
        reported = self._reported.get(position)
        evidence, reason = self._monitor(position).explain()
        unseen = self._unseen(position)
        if unseen is not None:
            reason = unseen
        return BehaviorResult(
            behavior.name,
            behavior.severity,
            Verdict(result, final, evidence, reason),
            reported.final_at if reported is not None and final else None,
            reported is not None and reported.revised,
        )

    def _monitor(self, position: int) -> Monitor:
        """The monitor of a behavior, for reading."""
        return self._monitors.get(position) or self._section.blank[position]

    def _forget(self, results: dict[int, BehaviorResult], hits: Sequence[Hit]) -> None:
        """Forget the results that rest on what matched: their evidence may have changed, if nothing else."""
        for predicate, _ in hits:
            for subscription in self._section.subscriptions[predicate]:
                results.pop(subscription.behavior, None)

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

    def _state(self, position: int) -> tuple[Result, bool, bool]:
        """The result of a behavior, whether it is final, and whether items alone made it so."""
        found = self._monitor(position)
        if self._unseen(position) is not None:
            return Result.UNKNOWN, self._closed, False
        earned = self._section.earned(found)
        return found.result, self._closed or earned, earned

    def _report(self, positions: Sequence[int] | set[int] | range) -> Sequence[int]:
        """Note the new states; the positions whose state changed, in order."""
        changed = []
        for position in positions:
            if self._results is not None:
                self._results.pop(position, None)
            result, final, earned = self._state(position)
            last = self._reported.get(position) or self._unreported(position)
            breaks = last.promised not in (None, result) and not last.revised
            if not breaks and (last.result, last.final, last.earned) == (result, final, earned):
                continue
            if not earned:
                last.final_at = None
            elif not last.earned or last.result is not result:
                last.final_at = self._arrivals
            if final:
                last.promised = result
            last.result, last.final, last.earned = result, final, earned
            last.revised |= breaks
            self._reported[position] = last
            changed.append(position)
        changed.sort()
        return changed

    def _unreported(self, position: int) -> _Reported:
        """What counts as reported of a behavior that nothing in the unit matched so far."""
        blank = self._section.blank[position].result
        return _Reported(blank, self._closed, promised=blank if self._was_closed else None)


def _same_place(old: Item, new: Item | None) -> bool:
    """Whether two versions of an item are at the same place in the order and say the same of paths."""
    return new is not None and (
        (old.session, old.seq, old.time, old.turn, old.name, old.path, old.paths)
        == (new.session, new.seq, new.time, new.turn, new.name, new.path, new.paths)
    )
