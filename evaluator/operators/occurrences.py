"""Occurrences: the items that match, and the first of them (SEMANTICS.md, section 2)."""

from collections.abc import Iterator

from evaluator.items import Item
from evaluator.operators.precedence import Group, by_first, group_of
from evaluator.operators.run import Heads, Run, matches_of


class _Firsts(Heads):
    __slots__ = ()

    key = staticmethod(by_first)


class Occurrences:
    """The items that match one matcher, and the first of them.

    The first is the earliest by time among each session's lowest seq and the earliest without one; at the same time
    the one whose session has the lower name, then the one with a seq.
    """

    __slots__ = ("_heads", "_runs", "_size", "first")

    def __init__(self) -> None:
        self._runs: dict[Group, Run] = {}
        self._heads = _Firsts()
        self._size = 0
        self.first: Item | None = None

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Item]:
        """Session by session, in order within each."""
        for run in self._runs.values():
            yield from run

    def add(self, item: Item) -> bool:
        """Whether this item is now the first, or another one than before is."""
        self._size += 1
        group = None if item.seq is None else item.session
        run = self._runs.get(group)
        if run is None:
            run = self._runs[group] = matches_of(group)
        if not run.add(item):
            return False
        if len(run) > 1:
            self._heads.take(run[1])
        self._heads.put(item)
        return self._again()

    def remove(self, item: Item) -> None:
        """Raises ValueError when it is not there."""
        group = group_of(item)
        run = self._runs.get(group)
        if run is None:
            raise ValueError(f"the item {item.id!r} was never fed")
        head = run[0]
        run.remove(item)
        self._size -= 1
        if run and run[0] is head:
            return
        self._heads.take(head)
        if run:
            self._heads.put(run[0])
        else:
            del self._runs[group]
        self._again()

    def _again(self) -> bool:
        first = self._heads[0] if self._heads else None
        changed = first is not self.first
        self.first = first
        return changed
