"""Templates: `{{previous.function_calls[0].result.id}}` in triggers, `{{message}}` and the like under `agent`.

A placeholder is a path into a scope, a mapping of what can be named: `{"message": ..., "test": {"id": ...,
"name": ...}, "session": {...}}` under `agent`, `{"previous": previous(calls)}` in a trigger. Steps are written
`.key` or `[0]`; both forms work on mappings and on lists. A key may hold anything but dots, brackets, braces and
outer spaces.
Everything here is pure; what was filled in is not looked through again.
"""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from evaluator.items import Call, Json, NotRecorded

_PLACEHOLDER = re.compile(r"\{\{([^{}]*)\}\}")
_FIRST_STEP = re.compile(r"(?P<key>[^.\[\]]+)")
_STEP = re.compile(r"\.(?P<key>[^.\[\]]+)|\[(?P<index>[0-9]{1,9})\]")
_LISTED: Final = 12
"""How many of the keys that are there an error names."""

_BARE: Final = frozenset({("previous",), ("test",), ("session",)})
"""The roots that need a path behind them."""

AGENT_ROOTS: Final = frozenset({"message", "test", "session"})
"""What the placeholders under `agent` start with."""
TRIGGER_ROOTS: Final = frozenset({"previous"})
"""What the templates in a trigger start with."""


@dataclass(frozen=True, slots=True)
class Placeholder:
    """`{{name}}`. `text` is all of it as written; `path` has the steps, () when `name` is no path at all."""

    text: str
    name: str
    path: tuple[str, ...]


Template = tuple[str | Placeholder, ...]
"""A text in pieces: literal texts and placeholders, in order."""


class Unresolved(ValueError):
    """A placeholder has no value. The message names the placeholder and what is there instead."""


def path_of(text: str) -> tuple[str, ...]:
    """The steps of `a.b[0].c`: ("a", "b", "0", "c"). () when it is no path (`a..b`, `a[x]`, `a[-1]`, "")."""
    steps: list[str] = []
    position = 0
    while position < len(text):
        step = (_STEP if position else _FIRST_STEP).match(text, position)
        if step is None:
            return ()
        key, index = step.group("key"), step.groupdict().get("index")
        if key is not None and key != key.strip():
            return ()
        steps.append(str(int(index)) if index is not None else str(key))
        position = step.end()
    return tuple(steps)


def parse(text: str, roots: Collection[str]) -> Template:
    """The pieces of a text. `{{...}}` is a placeholder when its path starts with one of `roots`, else plain text.

    Of the roots only `message` may stand alone: `{{previous}}` is plain text.
    """
    pieces: list[str | Placeholder] = []
    end = 0
    for found in placeholders(text):
        if not found.path or found.path[0] not in roots or found.path in _BARE:
            continue
        start = text.index(found.text, end)
        if start > end:
            pieces.append(text[end:start])
        pieces.append(found)
        end = start + len(found.text)
    if end < len(text):
        pieces.append(text[end:])
    return tuple(pieces)


def placeholders(text: str) -> list[Placeholder]:
    """Everything in a text that is written like a placeholder, whatever it names."""
    return [
        Placeholder(found.group(), found.group(1).strip(), path_of(found.group(1).strip()))
        for found in _PLACEHOLDER.finditer(text)
    ]


def fill_value(text: str, scope: Mapping[str, Json]) -> Json:
    """Fill in a text. One that is only a placeholder becomes its value, with its JSON type. Raises Unresolved."""
    pieces = parse(text, scope.keys())
    if len(pieces) == 1 and isinstance(pieces[0], Placeholder):
        return lookup(pieces[0], scope)
    return _joined(pieces, scope)


def fill_text(text: str, scope: Mapping[str, Json]) -> str:
    """Fill in a text that stays one: texts go in as they are, anything else as JSON. Raises Unresolved."""
    return _joined(parse(text, scope.keys()), scope)


def fill(value: Json, scope: Mapping[str, Json]) -> Json:
    """Fill in every text of a JSON value but the keys. Raises Unresolved."""
    if isinstance(value, str):
        return fill_value(value, scope)
    if isinstance(value, list):
        return [fill(item, scope) for item in value]
    if isinstance(value, dict):
        return {key: fill(item, scope) for key, item in value.items()}
    return value


def _joined(pieces: Template, scope: Mapping[str, Json]) -> str:
    return "".join(piece if isinstance(piece, str) else _as_text(lookup(piece, scope)) for piece in pieces)


def _as_text(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=_as_json)


def _as_json(value: object) -> Json:
    if isinstance(value, Mapping):
        return dict(value)
    cause = value.cause if isinstance(value, NotRecorded) else f"{type(value).__name__} is no JSON"
    raise Unresolved(f"a part of the value is not recorded ({cause})")


def lookup(placeholder: Placeholder, scope: Mapping[str, Json]) -> Json:
    """The value of a placeholder. Raises Unresolved, naming what is there instead, when there is none."""
    value: Json = scope
    passed = ""
    for step in placeholder.path:
        found, value = _step(value, step)
        if not found:
            where = passed or "here"
            raise Unresolved(f"{placeholder.text} has no value: {where} {_there(value, step)}")
        passed = _extended(passed, step)
        if isinstance(value, NotRecorded):
            fix = f"; {value.fix}" if value.fix else ""
            raise Unresolved(f"{placeholder.text} has no value: {passed} is not recorded ({value.cause}){fix}")
    return value


def _step(value: Json, step: str) -> tuple[bool, Json]:
    """(True, what lies at `step`) or (False, the value itself)."""
    if isinstance(value, Mapping) and step in value:
        return True, value[step]
    if isinstance(value, list | tuple) and step.isdecimal() and len(step) < 10 and int(step) < len(value):
        return True, value[int(step)]
    return False, value


def _extended(path: str, step: str) -> str:
    if step.isdecimal():
        return f"{path}[{step}]"
    return f"{path}.{step}" if path else step


def _there(value: Json, step: str) -> str:
    """What there is where `step` is not."""
    if isinstance(value, Mapping):
        keys = ", ".join(str(key) for key in list(value)[:_LISTED])
        more = ", …" if len(value) > _LISTED else ""
        return f"has no {step}, it has {keys}{more}" if value else f"has no {step}, it is empty"
    if isinstance(value, list | tuple):
        last = f", it has [0] to [{len(value) - 1}]" if value else ", it is empty"
        return f"has no [{step}]{last}"
    kind = "null" if value is None else f"the {'text' if isinstance(value, str) else 'value'} {_clipped(value)}"
    return f"is {kind}, which has no {step}"


def _clipped(value: Json) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:60]}…"


def previous(calls: Sequence[Call]) -> dict[str, Json]:
    """What `{{previous...}}` names: the calls of all earlier turns, in the order given.

    Each call has fn, args, result, error, started_at and ended_at (seconds since the epoch); `name` and `params`,
    which specs call them, are the same as `fn` and `args`.
    """
    return {"function_calls": [_call(call) for call in calls]}


def _call(call: Call) -> dict[str, Json]:
    return {
        "fn": call.name,
        "args": call.args,
        "result": call.result,
        "error": call.error,
        "started_at": call.started / 1e9,
        "ended_at": call.ended / 1e9,
        "name": call.name,
        "params": call.args,
    }
