"""The cyclic garbage collector of a process that keeps much.

What telemetry becomes is kept by the hundred thousand, and freed by counting references when it goes. The cyclic
collector walks over all of it again and again and finds nothing: a third of the time of `check`, and pauses of
a second in a process that has kept a million spans.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def no_collection() -> Iterator[None]:
    """For work that has an end and makes no garbage to speak of, such as reading files: nothing is looked for."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
