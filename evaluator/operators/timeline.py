"""Timelines: items by what precedes them and by what they precede, in both orders of SEMANTICS.md, section 2."""

from collections.abc import Callable, Iterable, Iterator, Set

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
    """Items that can be asked for what precedes another item, and for what another item precedes.

    Time orders only items of different groups, and those of no group. Most units are one session with seqs: as long
    as all items are of one group, and none of another asks, only the order of their seqs is kept.
    """

    __slots__ = ("_both", "_lone", "_session")

    def __init__(self) -> None:
        self._session: Group = None
        self._lone: SeqRun | None = None
        """The items, all of one session and with a seq; none once they are in both orders."""
        self._both: _BothOrders | None = None

    def __len__(self) -> int:
        if self._both is not None:
            return self._both.size
        return 0 if self._lone is None else len(self._lone)

    def __iter__(self) -> Iterator[Item]:
        """Group by group, in order within each."""
        if self._both is not None:
            return iter(self._both)
        return iter(()) if self._lone is None else iter(self._lone)

    @property
    def groups(self) -> Set[Group]:
        """The sessions of the items that have a seq, and None if there are others."""
        if self._both is not None:
            return self._both.times.runs.keys()
        return {self._session} if self._lone else set()

    def add(self, item: Item) -> None:
        if self._both is None and item.seq is not None and item.session is not None:
            if self._lone is None:
                self._session = item.session
                self._lone = SeqRun()
            if item.session == self._session:
                self._lone.add(item)
                return
        self._in_both_orders().add(item)

    def remove(self, item: Item) -> None:
        """Raises ValueError when it is not there."""
        if self._lone is not None and self._is_lone(item):
            self._lone.remove(item)
        else:
            self._in_both_orders().remove(item)

    def after(self, item: Item) -> Iterator[Item]:
        """The items that this one precedes."""
        if self._is_lone(item):
            return iter(()) if self._lone is None else self._lone.after(item)
        return self._in_both_orders().after(item)

    def by_position(self, item: Item) -> Item | None:
        """The nearest item before this one by seq, in its session."""
        if self._is_lone(item):
            return None if self._lone is None else self._lone.nearest(item)
        return self._in_both_orders().by_position(item)

    def by_clock(self, item: Item) -> Item | None:
        """The earliest item that precedes this one by time, because no seq orders the two."""
        return None if self._is_lone(item) else self._in_both_orders().by_clock(item)

    def before(self, item: Item) -> Item | None:
        """An item that precedes this one: the nearest by seq where there is one."""
        return self.by_position(item) or self.by_clock(item)

    def last_by_clock(self, item: Item) -> Item | None:
        """The latest item that precedes this one by time, because no seq orders the two."""
        return None if self._is_lone(item) else self._in_both_orders().last_by_clock(item)

    def _is_lone(self, item: Item) -> bool:
        """Whether seqs alone order an item against all that are here."""
        if self._both is not None:
            return False
        return self._lone is None or (item.seq is not None and item.session == self._session)

    def _in_both_orders(self) -> "_BothOrders":
        if self._both is None:
            self._both = _BothOrders(self._lone or ())
            self._lone = None
        return self._both


class _BothOrders:
    """Items by seq, session by session, and by time, group by group."""

    __slots__ = ("_seqs", "size", "times")

    def __init__(self, items: Iterable[Item]) -> None:
        self._seqs: dict[Group, SeqRun] = {}
        self.times = Earliest(group_of)
        self.size = 0
        for item in items:
            self.add(item)

    def __iter__(self) -> Iterator[Item]:
        for run in self._seqs.values():
            yield from run
        yield from self.times.runs.get(None, ())

    def add(self, item: Item) -> None:
        group = group_of(item)
        if group is not None:
            run = self._seqs.get(group)
            if run is None:
                run = self._seqs[group] = SeqRun()
            run.add(item)
        self.times.add(item)
        self.size += 1

    def remove(self, item: Item) -> None:
        self.times.remove(item)
        self.size -= 1
        group = group_of(item)
        if group is not None:
            self._seqs[group].remove(item)
            if not self._seqs[group]:
                del self._seqs[group]

    def after(self, item: Item) -> Iterator[Item]:
        group = group_of(item)
        if group is not None and group in self._seqs:
            yield from self._seqs[group].after(item)
        for run in self._elsewhere(group):
            if run[-1].time > item.time:
                yield from run.since(item.time + 1)

    def by_position(self, item: Item) -> Item | None:
        run = self._seqs.get(group_of(item))
        return None if run is None else run.nearest(item)

    def by_clock(self, item: Item) -> Item | None:
        earliest = self.times.outside(group_of(item))
        return earliest if earliest is not None and earliest.time < item.time else None

    def last_by_clock(self, item: Item) -> Item | None:
        earlier = ((run, run.position(item.time)) for run in self._elsewhere(group_of(item)))
        return max((run[position - 1] for run, position in earlier if position), key=by_time, default=None)

    def _elsewhere(self, group: Group) -> Iterator[Run]:
        """By group, the items that only time orders against one of this group."""
        for other, run in self.times.runs.items():
            if other is None or other != group:
                yield run
