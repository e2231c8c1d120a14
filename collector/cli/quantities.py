"""Quantities on the command line: durations and sizes as people write them."""

import re
from typing import Any, Final

import click

_DURATIONS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "": 1.0}
_SIZES: Final = {"": 1, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "kb": 10**3, "mb": 10**6, "gb": 10**9}
_NUMBER: Final = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*", re.ASCII | re.IGNORECASE)


class Duration(click.ParamType[float]):
    """`500ms`, `30s`, `5m`, `1h`, or a number of seconds; seconds as a float, above 0."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
        match = _NUMBER.fullmatch(str(value))
        if match is None or match[2].lower() not in _DURATIONS or float(match[1]) <= 0:
            self.fail(f"{value!r} is not a duration such as 500ms, 30s, 5m or 1h", param, ctx)
        return float(match[1]) * _DURATIONS[match[2].lower()]


class Size(click.ParamType[int]):
    """`512MiB`, `64KiB`, `1GB`, or a number of bytes; bytes as an int, `smallest` at least."""

    name = "size"

    def __init__(self, smallest: int = 1) -> None:
        self.smallest = smallest

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        match = _NUMBER.fullmatch(str(value))
        if match is None or match[2].lower() not in _SIZES:
            self.fail(f"{value!r} is not a size such as 64KiB, 512MiB or 1GiB", param, ctx)
        size = int(float(match[1]) * _SIZES[match[2].lower()])
        if size < self.smallest:
            self.fail(f"{value!r} is less than {self.smallest} bytes", param, ctx)
        return size
