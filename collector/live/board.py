"""The board: what the index holds, as readers see it, and every change of it published on the feed.

A result is published at once whenever it, its finality or its revision changes; what else changes of a unit (its
items, its last arrival, the wording of a reason) is gathered and published a few times a second.
"""

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from collector.index import Index, Unit, UnitKey, UnitKind, Update
from collector.live import views
from collector.live.feed import Feed
from evaluator.verdict import BehaviorResult, Severity

GATHER: Final = 0.25
"""s between two publications of what was gathered, while somebody reads."""

GATHER_UNREAD: Final = 2.0

UNITS_A_FRAME: Final = 100
UNITS_A_ROUND: Final = 2_000

ResultListener = Callable[[Unit, BehaviorResult], None]


@dataclass(slots=True, eq=False)
class Entry:
    """What the board knows of a unit beyond the index. Times are ns since the epoch."""

    unit: Unit
    number: int
    """Counts units by their first arrival; never used twice in one start."""
    first: int
    last: int
    cells: str = ""
    revised: list[int] = field(default_factory=list)
    reopened: int = 0
    version: int = 0
    """Changes whenever the timeline may have changed."""


@dataclass(frozen=True, slots=True)
class Column:
    """A behavior, as the head of a column of the board."""

    name: str
    unit: UnitKind
    severity: Severity


class Board:
    """Owned by the event loop of its index."""

    def __init__(self, index: Index, feed: Feed, *, clock: Callable[[], int] = time.time_ns) -> None:
        self.index = index
        self.feed = feed
        self.columns: dict[UnitKind, tuple[Column, ...]] = {kind: _columns(index, kind) for kind in UnitKind}
        self.entries: dict[UnitKey, Entry] = {}
        """In the order of their numbers."""
        self.readers = 0
        self._counted = {kind: [c.severity is Severity.ERROR for c in self.columns[kind]] for kind in UnitKind}
        self._clock = clock
        self._numbers = 0
        self._gathered: dict[UnitKey, None] = {}
        self._waiting: dict[UnitKey, list[asyncio.Future[None]]] = {}
        self._listeners: list[ResultListener] = []
        self._blank = {kind: _blank(index, kind) for kind in UnitKind}
        """The cells of a unit in which nothing has happened yet."""
        for unit in index.units.values():
            entry = self._entry(unit)
            self._compare(entry, range(len(entry.cells)))
        index.listen(self._heard)

    def listen(self, listener: ResultListener) -> None:
        """Call `listener` whenever a result, its finality or its revision changes."""
        self._listeners.append(listener)

    def entry(self, key: UnitKey) -> Entry | None:
        return self.entries.get(key)

    def newest_first(self, kind: UnitKind, *, before: int | None = None) -> Iterator[Entry]:
        """Entries of a kind with numbers below `before`, the newest unit first."""
        for entry in reversed(self.entries.values()):
            if entry.unit.key.kind is kind and (before is None or entry.number < before):
                yield entry

    def summary(self, entry: Entry) -> views.View:
        """A unit without its items and reasons."""
        unit = entry.unit
        return {
            **views.unit_ref(unit),
            **views.linked(unit),
            "number": entry.number,
            "state": "closed" if unit.closed else "open",
            "reopened": unit.reopened,
            "items": self.size(unit),
            "dropped": unit.dropped,
            "cut": unit.cut,
            "first_ms": views.ms(entry.first),
            "last_ms": views.ms(entry.last),
            "cells": entry.cells,
            "revised": entry.revised,
            "verdict": self.verdict(entry),
        }

    def verdict(self, entry: Entry, behaviors: frozenset[str] | None = None) -> views.View:
        """The overall result: of the behaviors with severity `error`, or of those that are named."""
        kind = entry.unit.key.kind
        columns = zip(entry.cells, self.columns[kind], self._counted[kind], strict=True)
        cells = [
            cell for cell, column, counted in columns if (counted if behaviors is None else column.name in behaviors)
        ]
        return views.overall("".join(cells), closed=entry.unit.closed)

    def size(self, unit: Unit) -> int:
        """How many items the unit is judged by."""
        other = UnitKind.JOB if unit.key.kind is UnitKind.SESSION else UnitKind.SESSION
        return len(unit.own) + sum(len(self.index.units[UnitKey(other, linked)].own) for linked in unit.links)

    async def changed(self, key: UnitKey, *, within: float) -> None:
        """Wait until a result or the state of a unit changes, or `within` seconds are over."""
        waiter = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(key, []).append(waiter)
        try:
            async with asyncio.timeout(within):
                await waiter
        except TimeoutError:
            return
        finally:
            waiting = self._waiting.get(key, [])
            if waiter in waiting:
                waiting.remove(waiter)
            if not waiting:
                self._waiting.pop(key, None)

    def snapshot(self) -> Iterator[tuple[str, Any]]:
        """Every unit as it is when its turn comes, as `units` events."""
        keys = list(self.entries)
        for start in range(0, len(keys), UNITS_A_FRAME):
            present = (self.entries.get(key) for key in keys[start : start + UNITS_A_FRAME])
            yield "units", {"units": [self.summary(entry) for entry in present if entry is not None]}

    def publish_gathered(self) -> None:
        """Publish the summaries of units that changed since the last time, of at most `UNITS_A_ROUND`."""
        keys = list(self._gathered)[:UNITS_A_ROUND]
        for key in keys:
            del self._gathered[key]
        for start in range(0, len(keys), UNITS_A_FRAME):
            present = (self.entries.get(key) for key in keys[start : start + UNITS_A_FRAME])
            units = [self.summary(entry) for entry in present if entry is not None]
            if units:
                self.feed.publish("units", {"units": units})

    async def run(self) -> None:
        """Publish what was gathered, until cancelled."""
        while True:
            await asyncio.sleep(GATHER if self.readers else GATHER_UNREAD)
            self.publish_gathered()

    def _heard(self, update: Update) -> None:
        unit = update.unit
        if update.evicted:
            self._forget(unit)
            return
        entry = self.entries.get(unit.key)
        if entry is None:
            entry = self._entry(unit)
            self.feed.publish("units", {"units": [self.summary(entry)]})  # results come after their unit
        if update.change is not None:
            entry.version += 1
            entry.last = self._clock()
        positions = update.results
        if unit.reopened != entry.reopened:
            entry.reopened = unit.reopened
            positions = range(len(entry.cells))  # what only closing made final is provisional again
        changed = self._compare(entry, positions) if positions else False
        self._gathered[unit.key] = None
        if (changed or unit.closed) and unit.key in self._waiting:
            self._wake(unit.key)

    def _compare(self, entry: Entry, positions: Sequence[int]) -> bool:
        """Publish the results that are not what they were. Returns whether there are any."""
        evaluation = entry.unit.evaluation
        if evaluation is None:
            return False
        cells = list(entry.cells)
        changed = []
        for position in positions:
            outcome = evaluation.result(position)
            code = views.letter(outcome)
            if code != cells[position] or outcome.revised != (position in entry.revised):
                cells[position] = code
                _mark(entry.revised, position, outcome.revised)
                changed.append((position, outcome))
        entry.cells = "".join(cells)
        for position, outcome in changed:
            self.feed.publish("result", self._result(entry, position, outcome))
            for listener in self._listeners:
                listener(entry.unit, outcome)
        return bool(changed)

    def _result(self, entry: Entry, position: int, outcome: BehaviorResult) -> views.View:
        return {
            "unit": views.unit_ref(entry.unit),
            "position": position,
            **views.result(outcome),
            "cells": entry.cells,
            "verdict": self.verdict(entry),
            "at_ms": views.ms(entry.last),
        }

    def _entry(self, unit: Unit) -> Entry:
        self._numbers += 1
        now = self._clock()
        entry = Entry(unit, self._numbers, first=now, last=now, reopened=unit.reopened)
        entry.cells = self._blank[unit.key.kind]
        self.entries[unit.key] = entry
        return entry

    def _forget(self, unit: Unit) -> None:
        self._gathered.pop(unit.key, None)
        if self.entries.pop(unit.key, None) is not None:
            self.feed.publish("gone", {"unit": views.unit_ref(unit), "why": unit.cut or "it has no items any more"})
        self._wake(unit.key)

    def _wake(self, key: UnitKey) -> None:
        for waiter in self._waiting.pop(key, []):
            if not waiter.done():
                waiter.set_result(None)


def _columns(index: Index, kind: UnitKind) -> tuple[Column, ...]:
    if index.program is None:
        return ()
    return tuple(Column(behavior.name, kind, behavior.severity) for behavior in index.program.of(kind.value))


def _blank(index: Index, kind: UnitKind) -> str:
    return "".join(map(views.letter, index.program.unit(kind.value).results)) if index.program is not None else ""


def _mark(positions: list[int], position: int, present: bool) -> None:
    if present and position not in positions:
        positions.append(position)
        positions.sort()
    elif not present and position in positions:
        positions.remove(position)
