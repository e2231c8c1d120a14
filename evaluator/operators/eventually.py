"""`eventually: M`: pass if any item matches."""

from collections.abc import Iterator

from evaluator.items import Item
from evaluator.language.assertion import Eventually
from evaluator.operators.monitor import Explanation, Monitor
from evaluator.operators.occurrences import Occurrences
from evaluator.operators.wording import placed
from evaluator.verdict import Contract, Result


class EventuallyMonitor(Monitor):
    __slots__ = ("_matches", "_spec")

    def __init__(self, spec: Eventually, contract: Contract) -> None:
        super().__init__(contract)
        self._spec = spec
        self._matches = Occurrences()

    def feed(self, item: Item, role: int = 0) -> bool:
        return self._matches.add(item)

    def retract(self, item: Item, role: int = 0) -> None:
        self._matches.remove(item)

    def fed(self) -> Iterator[tuple[Item, int]]:
        return ((item, 0) for item in self._matches)

    @property
    def result(self) -> Result:
        return Result.PASS if self._matches else Result.FAIL

    @property
    def decided(self) -> bool:
        return bool(self._matches)

    def explain(self) -> Explanation:
        first = self._matches.first
        if first is None:
            return (), f"no item matches {self._spec.match.text}"
        return (first,), f"{self._spec.match.text} matched {placed(first)}"
