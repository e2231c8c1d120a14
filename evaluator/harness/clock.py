"""The one place that reads the clock."""

import time


def now() -> int:
    """ns since the epoch: what telemetry is compared with."""
    return time.time_ns()


def ticks() -> float:
    """Seconds of a clock that never goes back: what durations and deadlines are measured with."""
    return time.monotonic()


def stamp() -> str:
    """Local time as the name of a file has it: `20260131-235959`."""
    return time.strftime("%Y%m%d-%H%M%S")
