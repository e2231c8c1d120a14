"""The cyclic garbage collector of a process that keeps much.

What telemetry becomes is kept by the hundred thousand, and freed by counting references when it goes. The cyclic
collector walks over all of it again and again and finds nothing: a third of the time of `check`, and pauses of
a second in a process that has kept a million spans.
"""

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

YOUNG: Final = 25_000
"""Objects after which the new ones are walked over, once: a few ms of work."""
NEVER: Final = 1_000_000_000

QUIET: Final = 60.0
"""s without a request, after which nobody is kept waiting by a full pass."""
LATEST: Final = 86_400.0
"""s after which there is a full pass even where it is never quiet."""


@contextmanager
def no_collection() -> Iterator[None]:
    """For work that has an end and makes no garbage to speak of, such as reading files: nothing is looked for."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            _age()
            gc.enable()


def _age() -> None:
    """Count all that there is as old. Else the next new object has all that was kept walked over at once."""
    gc.freeze()
    gc.unfreeze()


@contextmanager
def loading() -> Iterator[None]:
    """For loading modules, which stay as long as the process: nothing is looked for in them, then or later."""
    with no_collection():
        yield
    gc.freeze()


@contextmanager
def young_collection() -> Iterator[None]:
    """For work that must never pause: only what is new is looked at, and what was there before not at all."""
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(YOUNG, NEVER, NEVER)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


async def collect_when_quiet(requests: Callable[[], int], clock: Callable[[], float] = time.monotonic) -> None:
    """Look for old garbage whenever nothing has come for `QUIET` s, until cancelled. `requests` counts what came.

    Old garbage is that of connections, mostly: cycles that were still in use when their generation was looked at.
    """
    # Not every command needs it, and loading it takes longer than many commands run.
    import asyncio

    seen = collected = requests()
    last = clock()
    while True:
        await asyncio.sleep(QUIET)
        now = requests()
        if (now == seen and now != collected) or clock() - last > LATEST:
            gc.collect()
            collected, last = now, clock()
        seen = now
