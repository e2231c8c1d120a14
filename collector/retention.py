"""How long the parts of a trace are kept, for what may still arrive of it.

And log records outside of any trace, which are kept together by their session, else by their job: "a trace" is both.
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Final

from collector.assembly import Assembly
from collector.assembly.logs import NOBODYS, OUTSIDE, part_named
from collector.index import Index, UnitKey, UnitKind, Update
from collector.suspects import FORGOTTEN, Suspects

AT_LEAST: Final = 1_800.0
"""s. Exporters give a request up after minutes; what comes later than this is not the retry of one."""

MOST_TRACES: Final = 200_000
MOST_RECORDS: Final = 2_000_000
"""Spans and log records, in all traces."""
MOST_NOBODYS: Final = 10_000
"""Log records that no unit is judged by: they are in no trace, and name neither a session nor a job."""
EVICTED_TRACES: Final = 100
"""Of one session that was evicted; what it has more waits for its time."""

LOOK_EVERY: Final = 10.0

REMEMBERED: Final = 100_000
"""Units of which something was forgotten that more of them would need: the newest."""

TOO_MANY: Final = "earlier telemetry of it was forgotten, since more arrived than is kept"


class Retention:
    """Makes an assembly forget the traces to which nothing has come for `after` seconds.

    And the oldest ones, when there are more than `most`, or more than `most_records` spans and log records in them.
    Items that were made of them stay in the index. Traces in which a span still waited for its parent are told to
    `suspects`. What would be judged by a part, because the rest was forgotten to make room, is cut.
    """

    def __init__(
        self,
        assembly: Assembly,
        after: float,
        suspects: Suspects | None = None,
        *,
        most: int = MOST_TRACES,
        most_records: int = MOST_RECORDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._assembly = assembly
        self._suspects = suspects or Suspects()
        self._index: Index | None = None
        self._after = max(after, AT_LEAST)
        self._most = most
        self._most_records = most_records
        self._clock = clock
        self._last: OrderedDict[bytes, float] = OrderedDict()
        self._sizes: dict[bytes, int] = {}
        self.records = 0
        """Spans and log records that are kept."""
        self.forgotten = 0
        """Those that were forgotten to make room."""
        self._parted: OrderedDict[UnitKey, None] = OrderedDict()
        """Units that are cut if more of them comes."""

    def observe(self, traces: Iterable[bytes]) -> None:
        """Something new has come of these traces."""
        now = self._clock()
        for trace in traces:
            self._last[trace] = now
            self._last.move_to_end(trace)
            size = self._assembly.size_of(trace)
            self.records += size - self._sizes.get(trace, 0)
            self._sizes[trace] = size
        if self._sizes.get(NOBODYS, 0) > MOST_NOBODYS:
            self._forget(NOBODYS)
        while self._last and (len(self._last) > self._most or self.records > self._most_records):
            self._make_room(next(iter(self._last)))

    def forget_old(self) -> None:
        """Forget what has had its time; a trace of a unit that goes on has it once more."""
        now = self._clock()
        while self._last and next(iter(self._last.values())) <= now - self._after:
            trace = next(iter(self._last))
            if self._goes_on(trace):
                self._last[trace] = now
                self._last.move_to_end(trace)
            else:
                self._forget(trace)

    def _goes_on(self, trace: bytes) -> bool:
        """Whether more of it may be put together with what there is: an agent's own log is counted on from it."""
        index = self._index
        if index is None:
            return False
        units = [unit for key in self._units_of(trace) if (unit := index.units.get(key)) is not None]
        if any(not unit.closed for unit in units):
            return True
        return bool(units) and self._is_counted_on(trace)

    def _is_counted_on(self, trace: bytes) -> bool:
        return trace.startswith(OUTSIDE) or self._assembly.reports_in(trace)

    def _units_of(self, trace: bytes) -> set[UnitKey]:
        places = self._assembly.places_of(trace)
        sessions = {UnitKey(UnitKind.SESSION, session) for session, _ in places if session is not None}
        return sessions | {
            UnitKey(UnitKind.JOB, job) for session, job in places if session is None and job is not None
        }

    def _make_room(self, trace: bytes) -> None:
        """Forget a trace before its time. What is open of it is not whole, nor is what is counted on from it."""
        self.forgotten += self._sizes.get(trace, 0)
        counted_on, units = self._is_counted_on(trace), self._units_of(trace)
        self._forget(trace)
        for key in units:
            unit = None if self._index is None else self._index.units.get(key)
            if unit is not None and not unit.closed and self._index is not None:
                self._index.cut(key, TOO_MANY)
            elif counted_on:
                self._parted[key] = None
                if len(self._parted) > REMEMBERED:
                    self._parted.popitem(last=False)

    def _forget(self, trace: bytes) -> None:
        self._last.pop(trace, None)
        self.records -= self._sizes.pop(trace, 0)
        if self._assembly.forget(trace) and not trace.startswith(OUTSIDE):
            self._suspects.add(trace, FORGOTTEN)

    def follow(self, index: Index) -> None:
        """Forget the traces of what `index` evicts, for the room that it makes is theirs as well; and see what comes
        again of which something was forgotten."""
        self._index = index
        index.listen(self._updated)

    def _updated(self, update: Update) -> None:
        unit = update.unit
        if update.evicted:
            if unit.cut is not None:
                self._evicted(unit.key, {item.id[0] for item in unit.own.values()} - {b""})
        elif self._parted and unit.key in self._parted and update.change is not None and self._index is not None:
            del self._parted[unit.key]
            self._index.cut(unit.key, TOO_MANY)

    def _evicted(self, key: UnitKey, traces: set[bytes]) -> None:
        self._forget(part_named(key.kind.value, key.id))
        for trace in sorted(traces)[:EVICTED_TRACES]:
            if self._units_of(trace) <= {key}:
                self._forget(trace)
                # What comes of it without a session's name is the rest of something.
                if self._index is not None:
                    rest = UnitKey(UnitKind.SESSION, trace.hex())
                    self._index.remember((rest,), "the rest of its trace was evicted")

    async def run(self) -> None:
        """Forget old traces until cancelled."""
        while True:
            await asyncio.sleep(LOOK_EVERY)
            self.forget_old()
