"""Builds what a monitor is given: expectations from the mappings of the spec format, changes from calls."""

import re
from collections.abc import Mapping
from typing import Any

from evaluator.expectations import TurnMonitor
from evaluator.items import Call, CallStatus, Change, Item, ItemKind
from evaluator.language.spec import CallExpectation, Elements, Expect, Expected, Fields, Literal, Matcher, Place

MATCHERS = {"equals", "contains", "icontains", "matches", "not_contains", "not_icontains", "not_matches"}
PLACE = Place("expect")


def search(pattern: str, text: str) -> bool:
    return re.search(pattern, text) is not None


def expect(**keys: Any) -> Expect:
    """`expect(function_calls=[...], ordered=True, forbid=[...], response={...})`, as the spec has it."""
    entries = keys.get("function_calls")
    response = keys.get("response")
    return Expect(
        calls=None if entries is None else tuple(map(entry, entries)),
        ordered=keys.get("ordered", False),
        exclusive=keys.get("exclusive", False),
        forbid=tuple(keys.get("forbid", ())),
        response=None if response is None else matcher(response),
        place=PLACE,
    )


def entry(keys: Mapping[str, Any] | str) -> CallExpectation:
    if isinstance(keys, str):
        keys = {"name": keys}
    name, error = keys["name"], keys.get("error", False)
    return CallExpectation(
        names=(name,) if isinstance(name, str) else tuple(name),
        params=_fields(keys.get("params")),
        result=_fields(keys.get("result")),
        error=error if isinstance(error, bool) else matcher(error),
        place=PLACE,
    )


def matcher(keys: Mapping[str, Any]) -> Matcher:
    return Matcher(tuple(keys.items()), PLACE)


def expected(value: Any) -> Expected:
    if isinstance(value, dict):
        if value and value.keys() <= MATCHERS:
            return matcher(value)
        return Fields({key: expected(inner) for key, inner in value.items()})
    if isinstance(value, list):
        return Elements(tuple(map(expected, value)))
    return Literal(value)


def _fields(value: Any) -> Fields | None:
    return None if value is None else Fields({key: expected(inner) for key, inner in value.items()})


def call(name: str, args: Any = None, started: int = 0, ended: int | None = None, **more: Any) -> Call:
    """A call that worked, or with `error` one that failed."""
    if more.get("error") is not None:
        more.setdefault("status", CallStatus.ERROR)
    return Call(name, {} if args is None else args, started=started, ended=ended or started + 1, **more)


def instant(name: str, args: Any = None, at: int = 0) -> Call:
    return Call(name, {} if args is None else args, started=at, ended=at)


def item(made: Call, number: int = 0) -> Item:
    return Item((b"trace", number), ItemKind.TOOL, made.name, "session", None, None, made.started, None, call=made)


def arrival(made: Call, number: int = 0) -> Change:
    return Change(None, item(made, number))


def judged(expectation: Expect, *calls: Call, reply: str | None = "ok", close: bool = True) -> TurnMonitor:
    """A monitor that was given all of `calls`, the reply, and closed."""
    monitor = TurnMonitor(expectation, search=search)
    for number, made in enumerate(calls):
        monitor.apply(arrival(made, number))
    if reply is not None:
        monitor.reply(reply)
    if close:
        monitor.close()
    return monitor


def codes(monitor: TurnMonitor) -> list[str]:
    return [reason.code for reason in monitor.verdict.reasons]
