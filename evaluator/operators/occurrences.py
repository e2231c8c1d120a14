"""Order (SEMANTICS.md, section 2): which item precedes which, and the first of the items that match."""

from bisect import bisect_left, insort_right
from collections.abc import Callable, Iterator
from typing import Any, Final

from sortedcontainers import SortedKeyList

from evaluator.items import Item

Group = str | None
"""The items that a seq orders are a group, by their session; None is all others, which only time orders."""

_LAST: Final = "\U0010ffff"
"""Sorts after the name of any session that is likely to be met."""


def group_of(item: Item) -> Group:
    """The group in which an item is ordered by seq: its session's, if it has a session and a seq."""
    return None if item.seq is None else item.session


def precedes(a: Item, b: Item) -> bool:
    """By seq within a session where both have one, else by time; strictly."""
    group = group_of(a)
    if group is not None and group == group_of(b):
        return a.seq < b.seq  # type: ignore[operator]
    return a.time < b.time


def by_seq(item: Item) -> tuple[int | None, int]:
    return item.seq, item.time


def by_time(item: Item) -> int:
    return item.time


class Run:
    """Items in the order of a key. A plain list as long as they come in order; sorted blocks once they do not."""

    __slots__ = ("_items",)

    key: Callable[[Item], Any]

    def __init__(self) -> None:
        self._items: Any = []

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[Item]:
        return iter(self._items)

    def __getitem__(self, position: int) -> Item:
        item: Item = self._items[position]
        return item

    def add(self, item: Item) -> bool:
        """Whether the item is now the first one. O(1) at the end, O(log n) elsewhere."""
        raise NotImplementedError

    def remove(self, item: Item) -> None:
        """Take out the item with this id. Raises ValueError when it is not there."""
        position = self.position(self.key(item))
        while position < len(self._items):
            if self._items[position].id == item.id:
                del self._sorted()[position]
                return
            if self.key(self._items[position]) != self.key(item):
                break
            position += 1
        raise ValueError(f"the item {item.id!r} was never fed")

    def position(self, key: Any) -> int:
        """How many items have a smaller key."""
        items = self._items
        if items.__class__ is not list:
            position: int = items.bisect_key_left(key)
            return position
        return len(items) if items and self.key(items[-1]) < key else bisect_left(items, key, key=self.key)

    def since(self, key: Any) -> Iterator[Item]:
        """The items whose key is at least this, in order."""
        if self._items.__class__ is list:
            return iter(self._items[self.position(key) :])
        items: Iterator[Item] = self._items.irange_key(min_key=key)
        return items

    def _insert(self, item: Item) -> bool:
        self._sorted().add(item)
        return self._items[0] is item

    def _sorted(self) -> Any:
        if self._items.__class__ is list:
            self._items = SortedKeyList(self._items, key=self.key)
        return self._items


class SeqRun(Run):
    """Items of one session that have a seq."""

    __slots__ = ()

    key = staticmethod(by_seq)

    def add(self, item: Item) -> bool:
        items = self._items
        if items.__class__ is list:
            if not items:
                items.append(item)
                return True
            last = items[-1]
            if last.seq < item.seq or (last.seq == item.seq and last.time <= item.time):
                items.append(item)
                return False
        return self._insert(item)


class TimeRun(Run):
    """Items that only time orders."""

    __slots__ = ()

    key = staticmethod(by_time)

    def add(self, item: Item) -> bool:
        items = self._items
        if items.__class__ is list:
            if not items:
                items.append(item)
                return True
            if items[-1].time <= item.time:
                items.append(item)
                return False
        return self._insert(item)


class Heads(list[Item]):
    """The first item of each of a few runs, in the order of a key. A list, because there are many of them."""

    __slots__ = ()

    key: Callable[[Item], Any]

    def put(self, item: Item) -> None:
        insort_right(self, item, key=self.key)

    def take(self, item: Item) -> None:
        position = bisect_left(self, self.key(item), key=self.key)
        while self[position].id != item.id:
            position += 1
        del self[position]


def _by_first(head: Item) -> tuple[int, str, bool, int]:
    seq = head.seq
    return head.time, _LAST if head.session is None else head.session, seq is None, seq or 0


class _Firsts(Heads):
    __slots__ = ()

    key = staticmethod(_by_first)


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
            run = self._runs[group] = TimeRun() if group is None else SeqRun()
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
