"""Values of telemetry as plain JSON, whatever they hold."""

import math
from collections.abc import Mapping
from typing import Any, Final

from evaluator.expectations.values import number_text
from evaluator.items import Json, NotRecorded

DEEPEST: Final = 100
"""Containers nested deeper than this are replaced by a text: writing them would overflow the stack."""

LONGEST: Final = 4300
"""Python writes and reads no integer of more digits; it becomes a text."""


def plain(value: Json | NotRecorded, depth: int = 0) -> Json:
    """`value` as JSON that every reader accepts: what was not recorded is null, NaN and endless numbers are texts."""
    if value is None or isinstance(value, str | bool | NotRecorded):
        return None if isinstance(value, NotRecorded) else value
    if isinstance(value, int):
        return value if value.bit_length() < LONGEST * 3 else number_text(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if depth >= DEEPEST and isinstance(value, Mapping | list | tuple):
        return "(nested too deeply to show)"
    if isinstance(value, Mapping):
        return {str(key): plain(inner, depth + 1) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner, depth + 1) for inner in value]
    return value.hex() if isinstance(value, bytes) else str(value)


def gaps(**values: Any) -> dict[str, dict[str, str]]:
    """Of the named values those that were not recorded: cause and fix of each, by name."""
    return {
        name: {"cause": value.cause, "fix": value.fix}
        for name, value in values.items()
        if isinstance(value, NotRecorded)
    }
