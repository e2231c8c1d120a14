"""Sections: the behaviors of one kind of unit, compiled together."""

from collections.abc import Sequence
from typing import NamedTuple

from evaluator.columns import getter
from evaluator.dispatch import Dispatch
from evaluator.items import Item, NotRecorded
from evaluator.language.assertion import Behavior
from evaluator.matchers import OPS, Predicate, compile_matcher
from evaluator.operators import matchers, monitor, uncertain
from evaluator.operators.monitor import Monitor
from evaluator.operators.uncertain import UncertainMonitor
from evaluator.operators.wording import placed
from evaluator.verdict import BehaviorResult, Contract, Verdict


class Subscription(NamedTuple):
    """Who is told of an item that matches a predicate: the monitor of a behavior, in a role."""

    behavior: int
    role: int


class Section:
    """The behaviors of one kind of unit, compiled."""

    def __init__(self, behaviors: Sequence[Behavior], contract: Contract) -> None:
        self.behaviors = tuple(behaviors)
        self.ordered = contract is Contract.ORDERED
        numbers: dict[object, int] = {}
        self.predicates: list[Predicate] = []
        self.subscriptions: list[list[Subscription]] = []
        self.roles: list[tuple[int, ...]] = []
        """For each behavior, the predicate of each role."""
        for position, behavior in enumerate(self.behaviors):
            roles = []
            for role, matcher in enumerate(matchers(behavior.assertion)):
                if matcher not in numbers:
                    numbers[matcher] = len(self.predicates)
                    self.predicates.append(compile_matcher(matcher))
                    self.subscriptions.append([])
                self.subscriptions[numbers[matcher]].append(Subscription(position, role))
                roles.append(numbers[matcher])
            self.roles.append(tuple(roles))
        self.dispatch = Dispatch(self.predicates)
        self.blank = tuple(self.monitor(position) for position in range(len(self.behaviors)))
        """A monitor of each behavior to which nothing was fed, for units in which nothing matches it."""
        self.blank_results = {closed: self._blank_results(closed) for closed in (False, True)}
        """What units that are closed, or not, have of behaviors that nothing in them matches."""
        self.over_tools = tuple(
            any(self.predicates[predicate].over_tools for predicate in roles) for roles in self.roles
        )

    def _blank_results(self, closed: bool) -> tuple[BehaviorResult, ...]:
        results = []
        for behavior, blank in zip(self.behaviors, self.blank, strict=True):
            verdict = Verdict(blank.result, closed or self.earned(blank), *blank.explain())
            results.append(BehaviorResult(behavior.name, behavior.severity, verdict))
        return tuple(results)

    def earned(self, monitor: Monitor) -> bool:
        """Whether items alone make the result of a monitor final, also in a unit that is not closed."""
        return monitor.decided or (self.ordered and monitor.passed_by)

    def monitor(self, position: int) -> Monitor:
        return monitor(self.behaviors[position].assertion)

    def uncertain(self, position: int, certain: Monitor) -> UncertainMonitor:
        """The monitor that takes over when a match is in doubt."""
        roles = self.roles[position]
        return uncertain(
            self.behaviors[position].assertion,
            certain,
            lambda item, role: _doubt(self.predicates[roles[role]], item),
        )


def _doubt(predicate: Predicate, item: Item) -> str:
    """Why nobody can say whether an item matches."""
    for test in predicate.tests:
        value = item.ops if test.field == OPS else getter(test.field)(item)
        if test.holds(item) is None and isinstance(value, NotRecorded):
            fix = f"; {value.fix}" if value.fix else ""
            return f"{placed(item)} may match or not: its {test.field} was not recorded: {value.cause}{fix}"
    raise AssertionError(f"the match of {item.id!r} is not in doubt")
