"""How long the parts of a trace are kept, for what may still arrive of it."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Final

from collector.assembly import Assembly
from collector.index import Index, UnitKey, UnitKind, Update
from collector.suspects import FORGOTTEN, Suspects
from evaluator.harness.sighting import Sighting
from evaluator.items import Change

AT_LEAST: Final = 1_800.0
"""s. Exporters give a request up after minutes; what comes later than this is not the retry of one."""

MOST_TRACES: Final = 200_000
EVICTED_TRACES: Final = 100
"""Of one session that was evicted; what it has more waits for its time."""

LOOK_EVERY: Final = 10.0


class Retention:
    """A `Watcher` that makes an assembly forget the traces to which nothing has come for `after` seconds.

    And the oldest ones, when there are more than `most`. Items that were made of them stay in the index. Traces in
    which a span still waited for its parent are told to `suspects`.
    """

    def __init__(
        self,
        assembly: Assembly,
        after: float,
        suspects: Suspects | None = None,
        *,
        most: int = MOST_TRACES,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._assembly = assembly
        self._suspects = suspects or Suspects()
        self._index: Index | None = None
        self._after = max(after, AT_LEAST)
        self._most = most
        self._clock = clock
        self._last: OrderedDict[bytes, float] = OrderedDict()

    def observe(self, sightings: Sequence[Sighting], changes: Sequence[Change]) -> None:
        now = self._clock()
        traces = {sighting.trace_id for sighting in sightings}
        traces.update(item.id[0] for change in changes if (item := change.new or change.old) and item.id)
        for trace in traces:
            if trace and isinstance(trace, bytes):
                self._last[trace] = now
                self._last.move_to_end(trace)
        while len(self._last) > self._most:
            self._forget(self._last.popitem(last=False)[0])

    def forget_old(self) -> None:
        """Forget what has had its time; a trace of a session that goes on has it once more."""
        now = self._clock()
        while self._last and next(iter(self._last.values())) <= now - self._after:
            trace, _ = self._last.popitem(last=False)
            if self._goes_on(trace):
                self._last[trace] = now
            else:
                self._forget(trace)

    def _goes_on(self, trace: bytes) -> bool:
        if self._index is None:
            return False
        sessions = (UnitKey(UnitKind.SESSION, id) for id in self._assembly.sessions_of(trace) if id is not None)
        units = (self._index.units.get(key) for key in sessions)
        return any(unit is not None and not unit.closed for unit in units)

    def _forget(self, trace: bytes) -> None:
        if self._assembly.forget(trace):
            self._suspects.add(trace, FORGOTTEN)

    def follow(self, index: Index) -> None:
        """Forget the traces of what `index` evicts: the room that it makes is theirs as well."""

        self._index = index

        def evicted(update: Update) -> None:
            unit = update.unit
            if not update.evicted or unit.cut is None:
                return
            traces = {item.id[0] for item in unit.own.values()} - {b""}
            for trace in sorted(traces)[:EVICTED_TRACES]:
                if self._assembly.sessions_of(trace) <= {unit.key.id}:
                    self._forget(trace)
                    # What comes of it without a session's name is the rest of something.
                    index.remember((UnitKey(UnitKind.SESSION, trace.hex()),), "the rest of its trace was evicted")

        index.listen(evicted)

    async def run(self) -> None:
        """Forget old traces until cancelled."""
        while True:
            await asyncio.sleep(LOOK_EVERY)
            self.forget_old()
