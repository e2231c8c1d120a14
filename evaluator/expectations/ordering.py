"""`ordered`: whether entries can have calls of which each starts at or after the end of the one before."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from evaluator.expectations.matching import Matching

NEVER: Final = float("inf")


@dataclass(frozen=True, slots=True)
class Slot:
    """A call as far as the order is concerned: its number, its times in ns, the entries that it fits.

    `ended` is never before `started`.
    """

    call: int
    started: int
    ended: int
    fits: frozenset[int]

    @property
    def instant(self) -> bool:
        return self.started == self.ended


@dataclass(slots=True)
class _Reached:
    """The best way to give the first entries calls in order: it ends earliest.

    `tied`: the last call is an instant, so other instants at that time may be taken already. Of two ways that
    end at the same time the one that is not tied is the better: it leaves more to choose from.
    """

    end: float = NEVER
    tied: bool = False
    back: int = 0
    calls: tuple[int, ...] = ()

    def worse_than(self, end: float, tied: bool) -> bool:
        return (end, tied) < (self.end, self.tied)


def in_order(size: int, slots: Sequence[Slot]) -> tuple[int, ...] | None:
    """The calls of entries 0, 1, ... such that each starts at or after the end of the one before, or None.

    Exact. With calls that take time, to end earliest is always best. Calls without length at one instant may
    follow each other in any order, so a run of entries that is met by such calls is a matching problem of its
    own; it is always seen whole, starting from a way that has not used an instant of that time.
    """
    reached = [_Reached(-NEVER)] + [_Reached() for _ in range(size)]
    instants: dict[int, list[Slot]] = {}
    lasting: list[Slot] = []
    for slot in slots:
        if slot.instant:
            instants.setdefault(slot.started, []).append(slot)
        else:
            lasting.append(slot)
    lasting.sort(key=lambda slot: (slot.ended, slot.started, slot.call))
    times = sorted(instants)
    for entry in range(size):
        here = reached[entry]
        if here.end == NEVER:
            continue
        _take_lasting(entry, here, lasting, reached[entry + 1])
        for time in times[bisect_left(times, here.end) :]:
            if time == here.end and here.tied:
                continue
            _take_instants(entry, time, instants[time], reached)
    return _way(reached) if reached[size].end < NEVER else None


def _take_lasting(entry: int, here: _Reached, lasting: list[Slot], there: _Reached) -> None:
    found = next((slot for slot in lasting if slot.started >= here.end and entry in slot.fits), None)
    if found is not None and there.worse_than(found.ended, False):
        there.end, there.tied, there.back, there.calls = found.ended, False, entry, (found.call,)


def _take_instants(entry: int, time: int, slots: list[Slot], reached: list[_Reached]) -> None:
    """Give the entries from `entry` on, as many as possible, the instants of one time."""
    for count in range(1, min(len(slots), len(reached) - 1 - entry) + 1):
        matching = Matching[int](count)
        for slot in slots:
            matching.add(slot.call, [fit - entry for fit in sorted(slot.fits) if entry <= fit < entry + count])
        if not matching.complete:
            return
        there = reached[entry + count]
        if there.worse_than(time, True):
            there.end, there.tied, there.back = time, True, entry
            there.calls = tuple(call for call in matching.held() if call is not None)


def _way(reached: list[_Reached]) -> tuple[int, ...]:
    calls: tuple[int, ...] = ()
    entry = len(reached) - 1
    while entry:
        calls = reached[entry].calls + calls
        entry = reached[entry].back
    return calls


def can_become_in_order(size: int, slots: Sequence[Slot]) -> bool:
    """Whether all of `slots` can be calls of different entries, in order, with others that may still come between.

    That is what `ordered` with `exclusive` asks of a turn that is not over.
    """
    line = sorted(slots, key=lambda slot: (slot.ended, slot.started))
    entry, end, position = 0, -NEVER, 0
    while position < len(line):
        slot = line[position]
        if slot.started < end:
            return False
        group = [slot]
        if slot.instant:
            group = [other for other in line[position:] if other.instant and other.started == slot.started]
        entry = _first_room(entry, size, group)
        if entry > size:
            return False
        end, position = slot.ended, position + len(group)
    return True


def _first_room(entry: int, size: int, group: list[Slot]) -> int:
    """The least `to` such that the entries from `entry` to before `to` can take all of `group`; else size + 1."""
    for to in range(entry + len(group), size + 1):
        matching = Matching[int](to - entry)
        for slot in group:
            matching.add(slot.call, [fit - entry for fit in sorted(slot.fits) if entry <= fit < to])
        if matching.matched == len(group):
            return to
    return size + 1
