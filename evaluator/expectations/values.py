"""JSON values: when two are equal, what text they have, how they are shown (SEMANTICS.md, section 5).

A comparison has three values, because what telemetry does not carry can be compared with nothing.
"""

import json
from collections.abc import Mapping
from enum import IntEnum
from typing import Any, Final

from evaluator.items import Json, NotRecorded

SHOWN: Final = 300
"""How many code points of a value are shown in a reason."""


class Fit(IntEnum):
    """Whether something holds. `min` of several is "all of them", `max` is "any of them" (Kleene's logic)."""

    NO = 0
    UNKNOWN = 1
    """It cannot be told, because a value was not recorded or a regex took too long."""
    YES = 2

    @classmethod
    def of(cls, holds: bool) -> "Fit":
        return cls.YES if holds else cls.NO


def equal(expected: Json, actual: Json | NotRecorded) -> Fit:
    """Whether two values are equal as JSON: true is not 1, 2 is 2.0, integers are exact, text is no number."""
    if isinstance(expected, NotRecorded) or isinstance(actual, NotRecorded):
        return Fit.UNKNOWN
    if isinstance(expected, bool) or isinstance(actual, bool):
        return Fit.of(expected is actual)
    if isinstance(expected, int | float) and isinstance(actual, int | float):
        return Fit.of(expected == actual)
    if isinstance(expected, list) and isinstance(actual, list):
        if len(expected) != len(actual):
            return Fit.NO
        return min(map(equal, expected, actual), default=Fit.YES)
    if isinstance(expected, Mapping) and isinstance(actual, Mapping):
        if expected.keys() != actual.keys():
            return Fit.NO
        return min((equal(value, actual[key]) for key, value in expected.items()), default=Fit.YES)
    return Fit.of(type(expected) is type(actual) and bool(expected == actual))


def text_form(value: Json) -> str | None:
    """The text that text matchers see: a text itself, a number or boolean as JSON writes it; else None.

    A number has the form that Python gives it (`2.0`, `1e+21`), which is also what JSON text of Python has.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return number_text(value)
    return None


def number_text(value: int | float) -> str:
    """The digits of a number, however many: Python itself refuses to write more than 4300."""
    try:
        return str(value)
    except ValueError:
        return _long_integer_text(int(value))


def _long_integer_text(value: int) -> str:
    # Chunks of 4000 digits stay below the limit that protects `str` from its quadratic cost.
    sign, rest, chunks = "-" if value < 0 else "", abs(value), []
    base = 10**4000
    while rest:
        rest, chunk = divmod(rest, base)
        chunks.append(f"{chunk:04000d}" if rest else str(chunk))
    return sign + "".join(reversed(chunks))


def gap(value: Json | NotRecorded) -> NotRecorded | None:
    """The first value in `value`, at any depth, that was not recorded."""
    if isinstance(value, NotRecorded):
        return value
    inner: Any = ()
    if isinstance(value, Mapping):
        inner = value.values()
    elif isinstance(value, list):
        inner = value
    return next((found for found in map(gap, inner) if found is not None), None)


def show(value: Json | NotRecorded) -> str:
    """`value` as JSON text on one line, whole: who shows it masks secrets first and clips then."""
    if isinstance(value, NotRecorded):
        return "(not recorded)"
    try:
        return json.dumps(value, ensure_ascii=False, default=_show_inner)
    except RecursionError:
        return "(nested too deeply to show)"
    except ValueError:
        return number_text(value) if isinstance(value, int) else "(holds a number too long to show)"


def _show_inner(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    return "(not recorded)" if isinstance(value, NotRecorded) else str(value)


def clip(text: str, limit: int = SHOWN) -> str:
    """`text` cut to `limit` code points, saying how many were left out."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]}… ({len(text) - limit} more characters)"
