"""Extents: where the items of a set lie in the order, as far as precedence can be told from it."""

from dataclasses import dataclass

from evaluator.items import Item
from evaluator.operators.precedence import Group, group_of


@dataclass(slots=True)
class _Extent:
    """Of one group: the lowest and the highest time, and seq (0 where the group has none)."""

    low_time: int
    high_time: int
    low_seq: int
    high_seq: int


class Extents:
    """The extent of a set of items in each group. An item of one group and an item of another are ordered by time."""

    __slots__ = ("_groups",)

    def __init__(self) -> None:
        self._groups: dict[Group, _Extent] = {}

    def __bool__(self) -> bool:
        return bool(self._groups)

    def add(self, item: Item) -> bool:
        """Whether some item may be preceded now by an item of the set, and was not before."""
        group, time, seq = group_of(item), item.time, item.seq or 0
        extent = self._groups.get(group)
        if extent is None:
            self._groups[group] = _Extent(time, time, seq, seq)
            return True
        earlier = time < extent.low_time or (group is not None and seq < extent.low_seq)
        extent.low_time, extent.high_time = min(time, extent.low_time), max(time, extent.high_time)
        extent.low_seq, extent.high_seq = min(seq, extent.low_seq), max(seq, extent.high_seq)
        return earlier

    def any_precedes(self, item: Item) -> bool:
        """Whether an item of the set precedes this one."""
        of_item, time, seq = group_of(item), item.time, item.seq or 0
        return any(
            extent.low_seq < seq if group is not None and group == of_item else extent.low_time < time
            for group, extent in self._groups.items()
        )

    def all_precede(self, others: "Extents") -> bool:
        """Whether every item of the set precedes every item of the other one."""
        return all(
            one.high_seq < other.low_seq
            if group is not None and group == of_other
            else one.high_time < other.low_time
            for group, one in self._groups.items()
            for of_other, other in others._groups.items()
        )
