"""Doubt: a monitor over items of which some only may match, because a value was not recorded.

The operator is run once for each assumption about them (`Monitor.corners`). What holds under all of them is the
result; otherwise it is unknown, and the reason names the value that is missing.
"""

from collections.abc import Callable, Iterator

from evaluator.items import Item
from evaluator.operators.monitor import Explanation, Monitor
from evaluator.operators.occurrences import Occurrences
from evaluator.verdict import Contract, Result


class UncertainMonitor(Monitor):
    """Takes the place of a monitor, `certain`, when the first doubtful match arrives."""

    __slots__ = ("_cause", "_certain", "_corners", "_doubts", "_variants")

    def __init__(
        self,
        certain: Monitor,
        roles: int,
        build: Callable[[], Monitor],
        cause: Callable[[Item, int], str],
        contract: Contract,
    ) -> None:
        """`build` makes another empty monitor; `cause` says why nobody can tell whether an item matches in a role."""
        super().__init__(contract)
        self._certain = certain
        self._cause = cause
        self._corners = certain.corners(roles)
        self._variants = tuple(build() if any(corner) else certain for corner in self._corners)
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
        """Take an item that may match in this role."""
        self._doubts[role].add(item)
        for corner, variant in zip(self._corners, self._variants, strict=True):
            if corner[role]:
                variant.feed(item, role)

    def retract_doubt(self, item: Item, role: int) -> None:
        """Take back an item that may match. Raises ValueError when it is not here."""
        self._doubts[role].remove(item)
        for corner, variant in zip(self._corners, self._variants, strict=True):
            if corner[role]:
                variant.retract(item, role)

    def fed(self) -> Iterator[tuple[Item, int]]:
        return self._certain.fed()

    @property
    def _agreed(self) -> Result | None:
        return self._certain.agreed(self._variants)

    @property
    def result(self) -> Result:
        return self._agreed or Result.UNKNOWN

    @property
    def decided(self) -> bool:
        return self._agreed is not None and all(variant.decided for variant in self._variants)

    @property
    def passed_by(self) -> bool:
        return self._agreed is not None and all(variant.decided or variant.passed_by for variant in self._variants)

    def explain(self) -> Explanation:
        if self._agreed is not None:
            return self._certain.explain()
        firsts = [(doubts.first, role) for role, doubts in enumerate(self._doubts)]
        item, role = next((item, role) for item, role in firsts if item is not None)
        return (item,), self._cause(item, role)
