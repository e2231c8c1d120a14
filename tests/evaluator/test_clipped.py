"""Texts that are longer than what a regex sees of them are told in the reason, where nothing was found in them."""

from typing import Any

import pytest

from evaluator.clipped import clipped_of
from evaluator.items import Call, Item, ItemKind
from evaluator.language.behaviors import parse_behaviors

LONG = "x" * 501


def call(args: Any, result: Any = None, kind: str = "shell", **more: Any) -> Item:
    return Item(("id",), ItemKind.TOOL, "t", "s", None, None, 0, None, kind, call=Call("t", args, result), **more)


@pytest.mark.parametrize(
    ("assertion", "items", "expected"),
    [
        ("{never: {tool: {kind: shell}, input: rm}}", [call({"c": LONG})] * 2 + [call({"c": "x"})], "2 inputs are"),
        ("{never: {tool: {kind: shell}, input: rm}}", [call({"c": LONG})], "1 input is"),
        ("{never: {tool: {kind: shell}, input: rm}}", [call({}, input=LONG)], "1 input is"),
        ("{never: {tool: {kind: shell}, input: rm}}", [call({}, input=LONG[1:])], ""),
        ("{never: {tool: {kind: shell}, input: rm}}", [call({"c": LONG}, kind="edit")], ""),
        ("{never: {tool: {kind: shell}, input: x}}", [call({"c": LONG})], ""),
        ("{never: {tool: {}, input: rm, output: rm}}", [call({"c": LONG}, LONG)], "1 input and 1 output are"),
        ("{count: {match: {where: {output: {regex: rm}}}, max: 3}}", [call({"c": LONG}, LONG)], "1 output is"),
        ("{never: {tool: {kind: shell}}}", [call({"c": LONG})], None),
        ("{eventually: {tool: {}, input: rm}}", [call({"c": LONG})], None),
    ],
)
def test_how_many_texts_a_regex_could_not_look_through_is_told(
    assertion: str, items: list[Item], expected: str | None
) -> None:
    notes = clipped_of(parse_behaviors(f"behaviors: [{{name: b, assert: {assertion}}}]", "b"))
    said = notes["b"](items) if "b" in notes else None
    whole = f"{expected} longer than the 500 characters that a regex sees" if expected else expected
    assert said == whole
