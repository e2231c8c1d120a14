"""`never: M`: fail if any item matches."""

from collections.abc import Iterator

from evaluator.items import Item
from evaluator.language.assertion import Never
from evaluator.operators.monitor import Explanation, Monitor
from evaluator.operators.occurrences import Occurrences
from evaluator.operators.wording import evidence, placed, times
from evaluator.verdict import Contract, Result


class NeverMonitor(Monitor):
    __slots__ = ("_matches", "_spec")

    def __init__(self, spec: Never, contract: Contract) -> None:
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
        return Result.FAIL if self._matches else Result.PASS

    @property
    def decided(self) -> bool:
        return bool(self._matches)

    def explain(self) -> Explanation:
        first = self._matches.first
        if first is None:
            return (), f"no item matches {self._spec.match.text}"
        often = times(len(self._matches))
        return evidence(self._matches), f"{self._spec.match.text} matched {often}, first {placed(first)}"
