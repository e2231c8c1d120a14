"""Items and behaviors for tests, from small mappings."""

import json
from collections.abc import Iterable, Mapping
from itertools import count
from typing import Any

from evaluator.behaviors import Evaluation, Program
from evaluator.items import Change, Item, ItemKind
from evaluator.language.assertion import Behavior
from evaluator.language.behaviors import parse_behaviors
from evaluator.verdict import Contract

_numbers = count()


def behaviors(*asserts: Mapping[str, Any], unit: str = "session") -> tuple[Behavior, ...]:
    """Behaviors named `b0`, `b1`, ..., through the reader of behavior files."""
    listed = [{"name": f"b{number}", "unit": unit, "assert": one} for number, one in enumerate(asserts)]
    return parse_behaviors(json.dumps({"behaviors": listed}), "test.yaml")


def item(kind: str = "event", name: str = "a", **parts: Any) -> Item:
    """An item of session s1, with an id of its own. `attrs` are its attributes."""
    parts.setdefault("session", "s1")
    for part in ("ops", "paths"):
        if parts.get(part) is not None:
            parts[part] = tuple(parts[part])
    attributes = parts.pop("attrs", {})
    defaults = {"job": None, "seq": None, "time": 0, "turn": None}
    identity = (b"trace", next(_numbers), None)
    return Item(identity, ItemKind(kind), name, attributes=attributes, **(defaults | parts))


def evaluation(one: Mapping[str, Any], contract: Contract = Contract.ANY) -> Evaluation:
    """An evaluation of one behavior over an empty session."""
    return Program(behaviors(one), contract).unit("session")


def feed(over: Evaluation, items: Iterable[Item]) -> Evaluation:
    for one in items:
        over.apply(Change(None, one))
    return over
