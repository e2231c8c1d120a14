"""Runs: items in order, cheap to add to as long as they come in order."""

from bisect import bisect_left, insort_right
from collections.abc import Callable, Iterator
from typing import Any

from sortedcontainers import SortedKeyList

from evaluator.items import Item
from evaluator.operators.precedence import Group, by_first, by_seq, by_time


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

    def nearest(self, item: Item) -> Item | None:
        """The last one with a lower seq than this item's."""
        items = self._items
        if items.__class__ is list and items and items[-1].seq < item.seq:
            last: Item = items[-1]
            return last
        position = self.position((item.seq,))
        return self[position - 1] if position else None

    def after(self, item: Item) -> Iterator[Item]:
        """Those with a higher seq than this item's."""
        return self.since((item.seq + 1,)) if item.seq is not None else iter(())


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


class LooseRun(Run):
    """Items that only time orders; at the same time the one that counts as the first match comes first."""

    __slots__ = ()

    key = staticmethod(by_first)

    def add(self, item: Item) -> bool:
        items = self._items
        if items.__class__ is list:
            if not items:
                items.append(item)
                return True
            last = items[-1]
            if last.time < item.time or (last.time == item.time and by_first(last) <= by_first(item)):
                items.append(item)
                return False
        return self._insert(item)


def matches_of(group: Group) -> Run:
    """An empty run for the matches of a group, the first match in front."""
    return LooseRun() if group is None else SeqRun()


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
