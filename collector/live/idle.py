"""Closes units to which nothing has come for a while."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from collector.index import Index, UnitKey, Update

LONGEST_NAP: Final = 1.0
"""s: how late, at most, an idle unit is closed."""


class IdleCloser:
    """Closes each unit of `index` `after` seconds after the last update of it. A late item opens it again."""

    def __init__(self, index: Index, after: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._index = index
        self._after = after
        self._clock = clock
        self._last: OrderedDict[UnitKey, float] = OrderedDict()
        """When something last came to each open unit; the one that is idle longest is first."""
        self._stop = index.listen(self._heard)

    def close_idle(self) -> None:
        """Close every unit whose time is over."""
        limit = self._clock() - self._after
        while self._last:
            key, last = next(iter(self._last.items()))
            if last > limit:
                return
            del self._last[key]
            self._index.close(key)

    async def run(self) -> None:
        """Close idle units until cancelled."""
        try:
            while True:
                await asyncio.sleep(min(LONGEST_NAP, self._after / 4))
                self.close_idle()
        finally:
            self._stop()

    def _heard(self, update: Update) -> None:
        key = update.unit.key
        if update.evicted or update.unit.closed:
            self._last.pop(key, None)
        else:
            self._last[key] = self._clock()
            self._last.move_to_end(key)
