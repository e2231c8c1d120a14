"""Paths into JSON values: `choices.0.message` and `choices[0].message` mean the same."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from evaluator.items import Json, NotRecorded

_STEP: Final = re.compile(r"\.?([^.\[\]{}]+)|\[(\d+)\]")


class PathError(Exception):
    """Nothing is there. The message says where the path ends and what is there instead."""


def split(path: str) -> tuple[str, ...]:
    """The steps of a path; raises PathError if it is none."""
    steps: list[str] = []
    at = 0
    while at < len(path):
        step = _STEP.match(path, at)
        if step is None:
            raise PathError(f"{path!r} is not a path; write it like items.0.name or items[0].name")
        steps.append(step.group(1) or step.group(2))
        at = step.end()
    return tuple(steps)


def walk(value: Json, steps: Iterable[str]) -> Json:
    """The value at the end of the steps. Raises PathError with what is there instead."""
    gone: list[str] = []
    for step in steps:
        if isinstance(value, NotRecorded):
            raise PathError(f"{'.'.join(gone)} is not recorded: {value.cause}. {value.fix}".rstrip(". ") + ".")
        if isinstance(value, Mapping) and step in value:
            value = value[step]
        elif isinstance(value, Sequence) and not isinstance(value, str) and _in_range(step, value):
            value = value[int(step)]
        else:
            raise PathError(f"there is no {step!r} {_where(gone)}: {_contents(value)}")
        gone.append(step)
    if isinstance(value, NotRecorded):
        raise PathError(f"{'.'.join(gone)} is not recorded: {value.cause}. {value.fix}".rstrip(". ") + ".")
    return value


def _in_range(step: str, value: Sequence[Json]) -> bool:
    return step.isascii() and step.isdigit() and len(step) < 10 and int(step) < len(value)


def _where(gone: list[str]) -> str:
    return f"in {'.'.join(gone)}" if gone else "at the top"


def _contents(value: Json) -> str:
    if isinstance(value, Mapping):
        return f"the keys are {', '.join(map(str, value)) or 'none'}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"it is a list of {len(value)}"
    return "it is null" if value is None else f"it is a {type(value).__name__}, not an object"
