"""`order: [M1, M2, ...]`: every Mi occurs, and their first occurrences are in that order."""

from collections.abc import Iterator, Sequence

from evaluator.items import Item
from evaluator.language.assertion import Order
from evaluator.operators.monitor import Explanation, Monitor
from evaluator.operators.occurrences import Occurrences
from evaluator.operators.precedence import precedes
from evaluator.operators.wording import placed
from evaluator.verdict import Result


class OrderMonitor(Monitor):
    """The role of an item is the position of its matcher in the list. The cost of an item grows with the list."""

    __slots__ = ("_matches", "_spec")

    def __init__(self, spec: Order) -> None:
        self._spec = spec
        self._matches = tuple(Occurrences() for _ in spec.matches)

    def feed(self, item: Item, role: int = 0) -> bool:
        return self._matches[role].add(item)

    def retract(self, item: Item, role: int = 0) -> None:
        self._matches[role].remove(item)

    def fed(self) -> Iterator[tuple[Item, int]]:
        return ((item, role) for role, matches in enumerate(self._matches) for item in matches)

    @property
    def firsts(self) -> list[Item | None]:
        return [matches.first for matches in self._matches]

    @property
    def result(self) -> Result:
        firsts = self.firsts
        if firsts[0] is None:
            return Result.FAIL
        return Result.FAIL if _broken(firsts) is not None or firsts[-1] is None else Result.PASS

    @property
    def passed_by(self) -> bool:
        firsts = self.firsts
        return _broken(firsts) is not None or None not in firsts

    def explain(self) -> Explanation:
        firsts, specs = self.firsts, self._spec.matches
        for position, first in enumerate(firsts):
            if first is None:
                return self._present(
                    firsts
                ), f"no item matches {specs[position].text}, number {position + 1} of the order"
            if position and (before := firsts[position - 1]) is not None and not precedes(before, first):
                said = f"{placed(first)} is the first match of number {position + 1} of the order"
                return (before, first), f"{said}, and {placed(before)}, of number {position}, does not precede it"
        present = self._present(firsts)
        return present, f"in order: {', '.join(placed(item) for item in present)}"

    @staticmethod
    def _present(firsts: Sequence[Item | None]) -> tuple[Item, ...]:
        return tuple(first for first in firsts if first is not None)


def _broken(firsts: Sequence[Item | None]) -> int | None:
    """The position of a first that the one before it in the list does not precede, or is missing."""
    for position in range(1, len(firsts)):
        before, first = firsts[position - 1], firsts[position]
        if first is not None and (before is None or not precedes(before, first)):
            return position
    return None
