"""Doubt: monitors over items of which some only may match, because a value was not recorded.

What holds whichever of them match is the result; otherwise it is unknown, and the reason names the value that is
missing.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterator
from itertools import product

from evaluator.items import Item
from evaluator.operators.monitor import Explanation, Monitor
from evaluator.operators.occurrences import Occurrences
from evaluator.verdict import Result

Cause = Callable[[Item, int], str]
"""Why nobody can tell whether an item matches in a role."""


class UncertainMonitor(Monitor):
    """Takes the place of a monitor, `certain`, when the first doubtful match arrives.

    `certain` goes on with the matches that are sure: its result is one of those that the doubtful ones allow.
    """

    __slots__ = ("_cause", "_certain", "_roles")

    def __init__(self, certain: Monitor, roles: int, cause: Cause) -> None:
        self._certain = certain
        self._roles = roles
        self._cause = cause

    @abstractmethod
    def doubt(self, item: Item, role: int) -> None:
        """Take an item that may match in this role."""

    @abstractmethod
    def retract_doubt(self, item: Item, role: int) -> None:
        """Take back an item that may match. Raises ValueError when it is not here."""

    @property
    @abstractmethod
    def agreed(self) -> Result | None:
        """The result whichever doubtful matches hold; None if it depends on them."""

    @abstractmethod
    def doubtful(self, role: int) -> Item | None:
        """The first item of this role whose match is in doubt and can matter."""

    @property
    def result(self) -> Result:
        return self.agreed or Result.UNKNOWN

    def fed(self) -> Iterator[tuple[Item, int]]:
        return self._certain.fed()

    def explain(self) -> Explanation:
        if self.agreed is not None:
            return self._certain.explain()
        found = ((self.doubtful(role), role) for role in range(self._roles))
        item, role = next((item, role) for item, role in found if item is not None)
        return (item,), self._cause(item, role)


class ExtremesMonitor(UncertainMonitor):
    """Runs the operator once for each extreme: in each role none or all of the doubtful matches hold.

    That is exact where a further match of a role moves the result in one direction only, if at all: what holds in
    every extreme then holds between them. `before` and `order` are not so: a further match with a lower seq and a
    later clock makes the first match a later one (`UncertainSequence`).
    """

    __slots__ = ("_doubts", "_extremes", "_variants")

    def __init__(self, certain: Monitor, roles: int, cause: Cause, build: Callable[[], Monitor]) -> None:
        """`build` makes another empty monitor."""
        super().__init__(certain, roles, cause)
        self._extremes = tuple(product((False, True), repeat=roles))
        self._variants = tuple(build() if any(extreme) else certain for extreme in self._extremes)
        self._doubts = tuple(Occurrences() for _ in range(roles))
        for item, role in certain.fed():
            for variant in self._variants:
                if variant is not certain:
                    variant.feed(item, role)

    def feed(self, item: Item, role: int = 0) -> bool:
        changed = [variant.feed(item, role) for variant in self._variants]
        return any(changed)

    def retract(self, item: Item, role: int = 0) -> None:
        for variant in self._variants:
            variant.retract(item, role)

    def doubt(self, item: Item, role: int) -> None:
        self._doubts[role].add(item)
        for extreme, variant in zip(self._extremes, self._variants, strict=True):
            if extreme[role]:
                variant.feed(item, role)

    def retract_doubt(self, item: Item, role: int) -> None:
        self._doubts[role].remove(item)
        for extreme, variant in zip(self._extremes, self._variants, strict=True):
            if extreme[role]:
                variant.retract(item, role)

    def doubtful(self, role: int) -> Item | None:
        return self._doubts[role].first

    @property
    def agreed(self) -> Result | None:
        return self._certain.common(self._variants)

    @property
    def decided(self) -> bool:
        return self.agreed is not None and all(variant.decided for variant in self._variants)

    @property
    def passed_by(self) -> bool:
        return self.agreed is not None and all(variant.decided or variant.passed_by for variant in self._variants)
