"""Occurrences: the items that match, and the first of them (SEMANTICS.md, section 2)."""

from collections.abc import Iterator

from evaluator.items import Item
from evaluator.operators.precedence import Group, by_first, group_of
from evaluator.operators.run import Heads, Run, matches_of


class Occurrences:
    """The items that match one matcher, and the first of them.

    The first is the earliest by time among each session's lowest seq and the earliest without one; at the same time
    the one whose session has the lower name, then the one with a seq.

    Most units are one session, and nothing of them is taken back: there, items are only kept as they come. They are
    put in order when one is taken back, when one is of another group, or when somebody asks for them.
    """

    __slots__ = ("_came", "_ordered", "first")

    def __init__(self) -> None:
        self._came: list[Item] = []
        """As they came, all of one group; none once they are in order."""
        self._ordered: _Ordered | None = None
        self.first: Item | None = None

    def __len__(self) -> int:
        return len(self._came) if self._ordered is None else self._ordered.size

    def __iter__(self) -> Iterator[Item]:
        """Session by session, in order within each."""
        return iter(self._in_order())

    def add(self, item: Item) -> bool:
        """Whether this item is now the first, or another one than before is."""
        ordered = self._ordered
        if ordered is None:
            first = self.first
            if first is None:
                self._came.append(item)
                self.first = item
                return True
            later = _comes_later(item, first)
            if later is not None:
                self._came.append(item)
                if not later:
                    self.first = item
                return not later
            ordered = self._in_order()
        return ordered.add(item) and self._again(ordered)

    def remove(self, item: Item) -> None:
        """Raises ValueError when it is not there."""
        ordered = self._in_order()
        if ordered.remove(item):
            self._again(ordered)

    def _in_order(self) -> "_Ordered":
        if self._ordered is None:
            self._ordered = _Ordered(self._came)
            self._came = []
            self._again(self._ordered)
        return self._ordered

    def _again(self, ordered: "_Ordered") -> bool:
        first = ordered.first
        changed = first is not self.first
        self.first = first
        return changed


def _comes_later(item: Item, first: Item) -> bool | None:
    """Whether an item comes after the first one of its group, or at the same place; None if it is of another one."""
    seq, lowest = item.seq, first.seq
    if seq is None or lowest is None or item.session is None or first.session is None:
        if group_of(item) is not None or group_of(first) is not None:
            return None
        return first.time < item.time or by_first(first) <= by_first(item)
    if item.session != first.session:
        return None
    return lowest < seq or (lowest == seq and first.time <= item.time)


class _Heads(Heads):
    __slots__ = ()

    key = staticmethod(by_first)


class _Ordered:
    """Matches in order, group by group."""

    __slots__ = ("_heads", "_runs", "size")

    def __init__(self, items: list[Item]) -> None:
        self._runs: dict[Group, Run] = {}
        self._heads = _Heads()
        self.size = 0
        for item in items:
            self.add(item)

    def __iter__(self) -> Iterator[Item]:
        for run in self._runs.values():
            yield from run

    @property
    def first(self) -> Item | None:
        return self._heads[0] if self._heads else None

    def add(self, item: Item) -> bool:
        """Whether the item is now the head of its group."""
        self.size += 1
        group = group_of(item)
        run = self._runs.get(group)
        if run is None:
            run = self._runs[group] = matches_of(group)
        if not run.add(item):
            return False
        if len(run) > 1:
            self._heads.take(run[1])
        self._heads.put(item)
        return True

    def remove(self, item: Item) -> bool:
        """Whether the item was the head of its group. Raises ValueError when it is not there."""
        group = group_of(item)
        run = self._runs.get(group)
        if run is None:
            raise ValueError(f"the item {item.id!r} was never fed")
        head = run[0]
        run.remove(item)
        self.size -= 1
        if run and run[0] is head:
            return False
        self._heads.take(head)
        if run:
            self._heads.put(run[0])
        else:
            del self._runs[group]
        return True
