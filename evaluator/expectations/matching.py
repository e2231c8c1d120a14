"""Assigns calls to entries: a maximum bipartite matching, kept up to date as calls come and go."""

from collections.abc import Hashable, Iterable
from typing import Generic, TypeVar

CallId = TypeVar("CallId", bound=Hashable)


class Matching(Generic[CallId]):
    """A maximum matching of `size` entries, numbered from 0, to calls.

    Adding a call costs at most one search for an augmenting path, over the calls that entries hold; taking away
    a call that no entry holds costs nothing. (Berge: a matching is maximum when no augmenting path is left, and
    a new vertex can only be the end of one.)
    """

    def __init__(self, size: int) -> None:
        self._fits: dict[CallId, tuple[int, ...]] = {}
        self._holds: list[CallId | None] = [None] * size
        self.matched = 0
        """How many entries have a call of their own."""

    @classmethod
    def canonical(cls, size: int, fits: Iterable[tuple[CallId, tuple[int, ...]]]) -> "Matching[CallId]":
        """The maximum matching in which the entries without a call are the last ones that can be.

        It depends on the order in which `fits` names the calls, and not on how they arrived. (Which entries have
        a call does not even depend on that: it is the greedy basis of a transversal matroid.)
        """
        matching = cls(size)
        matching._fits.update(fits)
        matching.matched = sum(matching._fill(entry, set()) for entry in range(size))
        return matching

    @property
    def complete(self) -> bool:
        """Whether every entry has a call of its own."""
        return self.matched == len(self._holds)

    def held(self) -> tuple[CallId | None, ...]:
        """The call of each entry."""
        return tuple(self._holds)

    def add(self, call: CallId, entries: Iterable[int]) -> None:
        """Add a call that fits `entries`."""
        self._fits[call] = tuple(entries)
        if not self.complete and self._place(call, set()):
            self.matched += 1

    def remove(self, call: CallId) -> None:
        """Take a call away; its entry gets another one if there is any way."""
        del self._fits[call]
        if call not in self._holds:
            return
        freed = self._holds.index(call)
        self._holds[freed] = None
        if not self._fill(freed, set()):
            self.matched -= 1

    def rivals(self, entry: int) -> tuple[set[int], set[CallId]]:
        """For an entry without a call: the entries that compete for the calls that fit it, and those calls.

        The entries are more than the calls (Hall's condition), which is why one of them has none.
        """
        entries, calls, waiting = {entry}, set[CallId](), [entry]
        while waiting:
            wanted = waiting.pop()
            for call, fits in self._fits.items():
                if wanted not in fits or call in calls:
                    continue
                calls.add(call)
                holder = self._holds.index(call)
                if holder not in entries:
                    entries.add(holder)
                    waiting.append(holder)
        return entries, calls

    def _place(self, call: CallId, seen: set[int]) -> bool:
        """Give `call` to an entry, which passes its own call on to another one if need be."""
        free = next((entry for entry in self._fits[call] if self._holds[entry] is None), None)
        if free is not None:
            self._holds[free] = call
            return True
        for entry in self._fits[call]:
            if entry in seen:
                continue
            seen.add(entry)
            displaced = self._holds[entry]
            if displaced is not None and self._place(displaced, seen):
                self._holds[entry] = call
                return True
        return False

    def _fill(self, entry: int, seen: set[CallId]) -> bool:
        """Find `entry` a call, taking one from another entry if that one finds another."""
        for call, fits in self._fits.items():
            if entry not in fits or call in seen:
                continue
            seen.add(call)
            holder = self._holds.index(call) if call in self._holds else None
            if holder is None or self._fill(holder, seen):
                self._holds[entry] = call
                return True
        return False
