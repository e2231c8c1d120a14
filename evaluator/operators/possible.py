"""Possible firsts: which items may be the first match of a matcher, whichever doubtful matches hold."""

from collections.abc import Iterator

from evaluator.items import Item
from evaluator.operators.precedence import Group, by_first, group_of
from evaluator.operators.run import Run, matches_of

_Key = tuple[int, bool, str, bool, int]


class PossibleFirsts:
    """The sure and the doubtful matches of one matcher.

    In each group the sure head, or one of the doubtful matches before it, is the head (without a sure one, there may
    be none). An item is the first of all if it is the head of its group, and every other group has none or a later
    one. So it may be the first if it may be a head, and the latest possible head of every other group is later.
    """

    __slots__ = ("_doubts", "_latest", "_sure")

    def __init__(self) -> None:
        self._sure: dict[Group, Run] = {}
        self._doubts: dict[Group, Run] = {}
        self._latest: dict[Group, _Key] = {}
        """By group that has a sure head, the latest head that is possible."""

    @property
    def may_be_missing(self) -> bool:
        """Whether nothing at all may match."""
        return not self._sure

    def feed(self, item: Item) -> bool:
        """Take a sure match. Whether other items than before may be the first."""
        head = _add(self._sure, item)
        if head:
            self._measure(group_of(item))
        return head

    def doubt(self, item: Item) -> bool:
        """Take a doubtful match. Whether other items than this one may be the first that could not be before."""
        _add(self._doubts, item)
        group = group_of(item)
        if group not in self._sure or not self._may_head(item) or by_first(item) <= self._latest[group]:
            return False
        self._latest[group] = by_first(item)
        return True

    def retract(self, item: Item) -> None:
        """Raises ValueError when it is not there, here and in `retract_doubt`."""
        _remove(self._sure, item)
        self._measure(group_of(item))

    def retract_doubt(self, item: Item) -> None:
        _remove(self._doubts, item)
        self._measure(group_of(item))

    def __iter__(self) -> Iterator[Item]:
        """The items that may be the first, group by group."""
        for group in self._sure.keys() | self._doubts.keys():
            limit = self._limit(group)
            for item in self._heads(group):
                if limit is None or by_first(item) < limit:
                    yield item

    def admits(self, item: Item) -> bool:
        """Whether a match that is here may be the first."""
        limit = self._limit(group_of(item))
        return self._may_head(item) and (limit is None or by_first(item) < limit)

    @property
    def doubtful(self) -> Item | None:
        """The first of the doubtful matches that may be heads."""
        heads = (run[0] for run in self._doubts.values())
        return min((head for head in heads if self._may_head(head)), key=by_first, default=None)

    def _may_head(self, item: Item) -> bool:
        sure = self._sure.get(group_of(item))
        return sure is None or sure.key(item) <= sure.key(sure[0])

    def _heads(self, group: Group) -> Iterator[Item]:
        """The possible heads of a group."""
        sure, doubts = self._sure.get(group), self._doubts.get(group)
        for item in doubts or ():
            if not self._may_head(item):
                break
            yield item
        if sure is not None:
            yield sure[0]

    def _measure(self, group: Group) -> None:
        if group in self._sure:
            self._latest[group] = max(map(by_first, self._heads(group)))
        else:
            self._latest.pop(group, None)

    def _limit(self, group: Group) -> _Key | None:
        """What the first must come before, if it is of this group: the other groups' latest heads."""
        return min((key for other, key in self._latest.items() if other != group), default=None)


def _add(runs: dict[Group, Run], item: Item) -> bool:
    """Whether the item is now the head of its group."""
    group = group_of(item)
    run = runs.get(group)
    if run is None:
        run = runs[group] = matches_of(group)
    return run.add(item)


def _remove(runs: dict[Group, Run], item: Item) -> None:
    group = group_of(item)
    run = runs.get(group)
    if run is None:
        raise ValueError(f"the item {item.id!r} was never fed")
    run.remove(item)
    if not run:
        del runs[group]
