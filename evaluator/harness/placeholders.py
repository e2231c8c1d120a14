"""Placeholders filled in: `{{message}}`, `{{test.id}}`, `{{test.name}}`, `{{session...}}`, `{{previous...}}`."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from evaluator.harness.paths import PathError, split, walk
from evaluator.items import Call, Json

_PLACEHOLDER: Final = re.compile(r"\{\{\s*((?:message|test|session)(?:[.\[][^{}]*?)?)\s*\}\}")
_PREVIOUS: Final = re.compile(r"\{\{\s*(previous[.\[][^{}]*?)\s*\}\}")


class PlaceholderError(Exception):
    """A placeholder has no value. The message names it and what there is."""


@dataclass(frozen=True, slots=True)
class Scope:
    """What placeholders stand for in one execution (and, for `message`, in one turn)."""

    test_id: str
    test_name: str
    session: Mapping[str, Json] = field(default_factory=dict)
    message: str | None = None

    def value(self, placeholder: str) -> Json:
        values: dict[str, Json] = {"test": {"id": self.test_id, "name": self.test_name}, "session": self.session}
        if self.message is not None:
            values["message"] = self.message
        try:
            return walk(values, split(placeholder))
        except PathError as problem:
            raise PlaceholderError(f"{{{{{placeholder}}}}} has no value: {problem}") from None


def fill(template: Json, scope: Scope) -> Json:
    """A copy of the template with its texts filled in, at any depth; keys stay.

    A text that is only a placeholder takes the value's JSON type; inside a longer text, what is not text is written
    as JSON. Raises PlaceholderError.
    """
    if isinstance(template, str):
        only = _PLACEHOLDER.fullmatch(template)
        return scope.value(only.group(1)) if only else fill_text(template, scope)
    if isinstance(template, Mapping):
        return {key: fill(item, scope) for key, item in template.items()}
    if isinstance(template, list | tuple):
        return [fill(item, scope) for item in template]
    return template


def fill_text(template: str, scope: Scope) -> str:
    """As `fill`, but always a text, as a header or an argument of a command needs it."""
    return _PLACEHOLDER.sub(lambda found: as_text(scope.value(found.group(1))), template)


def as_text(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def uses_previous(trigger: str) -> bool:
    return _PREVIOUS.search(trigger) is not None


def fill_previous(trigger: str, calls: Sequence[Call], test_id: str) -> str:
    """The trigger with values of the calls of earlier turns, which are numbered by their end time.

    A call has `fn` (or `name`), `args` (or `params`), `result`, `error`, `started_at`, `ended_at` (seconds) and
    `context`. Values that are put in are not looked into again. Raises PlaceholderError.
    """
    records = [_record(call, test_id) for call in calls]

    def value(found: re.Match[str]) -> str:
        placeholder = found.group(1)
        try:
            return as_text(walk({"previous": {"function_calls": records}}, split(placeholder)))
        except PathError as problem:
            message = f"{{{{{placeholder}}}}} has no value: {problem}. {_made(calls)}"
            raise PlaceholderError(message) from None

    return _PREVIOUS.sub(value, trigger)


def _record(call: Call, test_id: str) -> dict[str, Json]:
    return {
        "fn": call.name,
        "name": call.name,
        "args": call.args,
        "params": call.args,
        "result": call.result,
        "error": call.error,
        "started_at": call.started / 1e9,
        "ended_at": call.ended / 1e9,
        "context": {"test": test_id},
    }


def _made(calls: Sequence[Call]) -> str:
    if not calls:
        return "The turns before made no call."
    listed = ", ".join(f"[{number}] {call.name}" for number, call in enumerate(calls[:20]))
    return f"function_calls of the turns before: {listed}."
