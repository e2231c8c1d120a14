"""Timelines: items by what precedes them and by what they precede, in both orders of SEMANTICS.md, section 2."""

from collections.abc import Callable, Iterator, Set

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

    Items are put in order when somebody asks. Time orders only items of different groups, and those of no group: a
    unit that is one session with seqs is never put in its order.
    """

    __slots__ = ("_came", "_seqs", "_size", "_times")

    def __init__(self) -> None:
        self._came: list[Item] = []
        """What is not in order yet."""
        self._seqs: dict[Group, Run] = {}
        """By session, the items that have a seq."""
        self._times: Earliest | None = None
        """All items, once time orders any."""
        self._size = 0
        """How many are in order."""

    def __len__(self) -> int:
        return self._size + len(self._came)

    def __iter__(self) -> Iterator[Item]:
        """Group by group, in order within each."""
        self._settle()
        for run in self._seqs.values():
            yield from run
        if self._times is not None:
            yield from self._times.runs.get(None, ())

    @property
    def groups(self) -> Set[Group]:
        """The sessions of the items that have a seq, and None if there are others."""
        self._settle()
        return self._seqs.keys() if self._times is None else self._times.runs.keys()

    def add(self, item: Item) -> None:
        self._came.append(item)

    def remove(self, item: Item) -> None:
        """Raises ValueError when it is not there."""
        self._settle()
        group = group_of(item)
        if group is not None and group in self._seqs:
            self._seqs[group].remove(item)
            if not self._seqs[group]:
                del self._seqs[group]
        elif self._times is None:
            raise ValueError(f"the item {item.id!r} was never fed")
        if self._times is not None:
            self._times.remove(item)
        self._size -= 1

    def after(self, item: Item) -> Iterator[Item]:
        """The items that this one precedes."""
        self._settle()
        group = group_of(item)
        if group is not None and group in self._seqs and item.seq is not None:
            yield from self._seqs[group].since((item.seq + 1,))
        for run in self._elsewhere(group):
            if run[-1].time > item.time:
                yield from run.since(item.time + 1)

    def by_position(self, item: Item) -> Item | None:
        """The nearest item before this one by seq, in its session."""
        self._settle()
        run = self._seqs.get(item.session)
        return None if run is None or item.seq is None else run.last_before((item.seq,))

    def by_clock(self, item: Item) -> Item | None:
        """The earliest item that precedes this one by time, because no seq orders the two."""
        self._settle()
        group = group_of(item)
        if self._only(group):
            return None
        earliest = self._by_time().outside(group)
        return earliest if earliest is not None and earliest.time < item.time else None

    def before(self, item: Item) -> Item | None:
        """An item that precedes this one: the nearest by seq where there is one."""
        return self.by_position(item) or self.by_clock(item)

    def last_by_clock(self, item: Item) -> Item | None:
        """The latest item that precedes this one by time, because no seq orders the two."""
        self._settle()
        found = (run.last_before(item.time) for run in self._elsewhere(group_of(item)))
        return max((last for last in found if last is not None), key=by_time, default=None)

    def _settle(self) -> None:
        """Put in order what came."""
        if not self._came:
            return
        for item in self._came:
            group = group_of(item)
            times = self._by_time() if group is None else self._times
            if group is not None:
                run = self._seqs.get(group)
                if run is None:
                    run = self._seqs[group] = SeqRun()
                run.add(item)
            if times is not None:
                times.add(item)
        self._size += len(self._came)
        self._came.clear()

    def _only(self, group: Group) -> bool:
        """Whether every item is of this group, so that its seq orders all of them."""
        return self._times is None and (not self._seqs or (len(self._seqs) == 1 and group in self._seqs))

    def _elsewhere(self, group: Group) -> Iterator[Run]:
        """By group, the items that only time orders against one of this group."""
        if self._only(group):
            return
        for other, run in self._by_time().runs.items():
            if other is None or other != group:
                yield run

    def _by_time(self) -> Earliest:
        if self._times is None:
            self._times = Earliest(group_of)
            for run in self._seqs.values():
                for item in run:
                    self._times.add(item)
        return self._times
