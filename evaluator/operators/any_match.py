"""What `never` and `eventually` have in common: any match decides them for good."""

from collections.abc import Iterator

from evaluator.items import Item
from evaluator.language.assertion import Eventually, Never
from evaluator.operators.monitor import Monitor
from evaluator.operators.occurrences import Occurrences


class AnyMatchMonitor(Monitor):
    __slots__ = ("_matches", "_spec")

    def __init__(self, spec: Never | Eventually) -> None:
        self._spec = spec
        self._matches = Occurrences()

    def feed(self, item: Item, role: int = 0) -> bool:
        return self._matches.add(item)

    def retract(self, item: Item, role: int = 0) -> None:
        self._matches.remove(item)

    def fed(self) -> Iterator[tuple[Item, int]]:
        return ((item, 0) for item in self._matches)

    @property
    def decided(self) -> bool:
        return bool(self._matches)
