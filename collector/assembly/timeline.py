"""Timelines: entries in the order of time, whatever the order in which they came."""

from bisect import bisect_left, bisect_right
from typing import Final, Generic, TypeVar

Moment = tuple[int, bytes, int]
"""Time in ns, then what tells entries of one time apart: span id and position in the span."""

_Entry = TypeVar("_Entry")
LAST: Final = b"\xff" * 64
"""After every id."""


class Timeline(Generic[_Entry]):
    """Entries by their moment, which no two share. Finding one is O(log n); adding at the end too."""

    __slots__ = ("_entries", "_moments")

    def __init__(self) -> None:
        self._moments: list[Moment] = []
        self._entries: list[_Entry] = []

    def __len__(self) -> int:
        return len(self._moments)

    def add(self, moment: Moment, entry: _Entry) -> None:
        position = bisect_left(self._moments, moment)
        self._moments.insert(position, moment)
        self._entries.insert(position, entry)

    def remove(self, moment: Moment) -> None:
        position = bisect_left(self._moments, moment)
        del self._moments[position]
        del self._entries[position]

    def __bool__(self) -> bool:
        return bool(self._moments)

    def all(self) -> list[_Entry]:
        return list(self._entries)

    def until(self, time: int) -> _Entry | None:
        """The last entry at or before a time."""
        position = bisect_right(self._moments, (time, LAST, 0))
        return self._entries[position - 1] if position else None

    def before(self, moment: Moment) -> _Entry | None:
        position = bisect_left(self._moments, moment)
        return self._entries[position - 1] if position else None

    def after(self, moment: Moment) -> _Entry | None:
        position = bisect_right(self._moments, moment)
        return self._entries[position] if position < len(self._entries) else None

    def within(self, start: int, end: int | None, limit: int | None = None) -> list[_Entry]:
        """The entries from `start` to before `end` (None: to the last), at most `limit` of them."""
        first = bisect_left(self._moments, (start, b"", 0))
        last = len(self._moments) if end is None else bisect_left(self._moments, (end, b"", 0))
        if limit is not None:
            last = min(last, first + limit)
        return self._entries[first:last]
