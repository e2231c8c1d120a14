"""Timelines: items by what precedes them and by what they precede, in both orders of SEMANTICS.md, section 2."""

from collections.abc import Callable, Iterator

from evaluator.items import Item
from evaluator.operators.precedence import Group, by_time, group_of
from evaluator.operators.run import Heads, Run, SeqRun, TimeRun


class _Heads(Heads):
    __slots__ = ()

    key = staticmethod(by_time)


class Earliest:
    """The earliest items by time, group by group, for any way of grouping."""

    __slots__ = ("_group", "_heads", "runs")

    def __init__(self, group: Callable[[Item], Group]) -> None:
        self._group = group
        self.runs: dict[Group, Run] = {}
        self._heads = _Heads()

    def add(self, item: Item) -> None:
        group = self._group(item)
        run = self.runs.get(group)
        if run is None:
            run = self.runs[group] = TimeRun()
        if run.add(item):
            if len(run) > 1:
                self._heads.take(run[1])
            self._heads.put(item)

    def remove(self, item: Item) -> None:
        """Raises ValueError when it is not there."""
        group = self._group(item)
        run = self.runs.get(group)
        if run is None:
            raise ValueError(f"the item {item.id!r} was never fed")
        head = run[0]
        run.remove(item)
        if run and run[0] is head:
            return
        self._heads.take(head)
        if run:
            self._heads.put(run[0])
        else:
            del self.runs[group]

    def outside(self, group: Group) -> Item | None:
        """The earliest item of all groups but this one; of all groups when it is None."""
        for head in self._heads:  # at most one of them is of the group
            if group is None or self._group(head) != group:
                return head
        return None


class Timeline:
    """Items that can be asked for what precedes another item, and for what another item precedes."""

    __slots__ = ("_seqs", "_size", "_times")

    def __init__(self) -> None:
        self._seqs: dict[Group, Run] = {}
        self._times = Earliest(group_of)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Item]:
        """Group by group, by time within each."""
        for run in self._times.runs.values():
            yield from run

    @property
    def groups(self) -> "dict[Group, Run]":
        """The items of each session that have a seq, and under None all others, by time."""
        return self._times.runs

    def add(self, item: Item) -> None:
        group = group_of(item)
        if group is not None:
            run = self._seqs.get(group)
            if run is None:
                run = self._seqs[group] = SeqRun()
            run.add(item)
        self._times.add(item)
        self._size += 1

    def remove(self, item: Item) -> None:
        """Raises ValueError when it is not there."""
        self._times.remove(item)
        self._size -= 1
        group = group_of(item)
        if group is not None:
            self._seqs[group].remove(item)
            if not self._seqs[group]:
                del self._seqs[group]

    def after(self, item: Item) -> Iterator[Item]:
        """The items that this one precedes."""
        group = group_of(item)
        if group is not None and group in self._seqs and item.seq is not None:
            yield from self._seqs[group].since((item.seq + 1,))
        for other, run in self._times.runs.items():
            if (other is None or other != group) and run[-1].time > item.time:
                yield from run.since(item.time + 1)

    def by_position(self, item: Item) -> Item | None:
        """The nearest item before this one by seq, in its session."""
        group = group_of(item)
        run = None if group is None else self._seqs.get(group)
        position = 0 if run is None else run.position((item.seq,))
        return run[position - 1] if run is not None and position else None

    def by_clock(self, item: Item) -> Item | None:
        """The earliest item that precedes this one by time, because no seq orders the two."""
        earliest = self._times.outside(group_of(item))
        return earliest if earliest is not None and earliest.time < item.time else None

    def before(self, item: Item) -> Item | None:
        """An item that precedes this one: the nearest by seq where there is one."""
        return self.by_position(item) or self.by_clock(item)

    def last_by_clock(self, item: Item) -> Item | None:
        """The latest item that precedes this one by time, because no seq orders the two."""
        group = group_of(item)
        latest = None
        for other, run in self._times.runs.items():
            if other is not None and other == group:
                continue
            position = run.position(item.time)
            if position and (latest is None or run[position - 1].time > latest.time):
                latest = run[position - 1]
        return latest
