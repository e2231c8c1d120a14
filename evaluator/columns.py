"""The columns of an item: what `where` calls by a plain name (SEMANTICS.md, section 6)."""

import json
from collections.abc import Callable
from typing import Final

import orjson

from evaluator.items import CLIP, Item, ItemKind, Json, NotRecorded

COLUMNS: Final = (
    "name",
    "tool_kind",
    "seq",
    "turn",
    "path",
    "op",
    "input",
    "output",
    "status",
    "mcp_server",
    "mcp_tool",
    "skill",
    "trusted",
    "total",
    "complete",
)

Value = Json | NotRecorded
"""The value of a column or attribute: None when the item has none, `NotRecorded` when nobody can say."""


def input_of(item: Item) -> str | NotRecorded | None:
    """What a tool was given, at most 500 code points: the recorded input, else the arguments as JSON text."""
    if item.input is not None:
        return item.input[:CLIP]
    call = item.call
    if call is None or item.kind is not ItemKind.TOOL:
        return None
    return _derived(call.args)


def output_of(item: Item) -> str | NotRecorded | None:
    """What a tool gave back, at most 500 code points: the recorded output, else its result.

    A result that is a text stands as it is, any other as JSON text; a result of null is no output.
    """
    if item.output is not None:
        return item.output[:CLIP]
    call = item.call
    if call is None or item.kind is not ItemKind.TOOL or call.result is None:
        return None
    return _derived(call.result)


def getter(field: str) -> Callable[[Item], Value]:
    """How to read a field of `where`: a column by its name, anything else an attribute by its full name."""
    if field == "input":
        return input_of
    if field == "output":
        return output_of
    if field in COLUMNS:
        position = Item._fields.index(field)
        return lambda item: item[position]
    return lambda item: item.attributes.get(field)


def is_clipped(item: Item, field: str) -> bool:
    """Whether the `input` or `output` of an item is longer than what the column has of it."""
    said, read = (item.input, input_of) if field == "input" else (item.output, output_of)
    if said is not None:
        return len(said) > CLIP
    seen, call = read(item), item.call
    if not isinstance(seen, str) or len(seen) < CLIP or call is None:
        return False
    return len(_whole(call.args if field == "input" else call.result)) > CLIP


def _derived(value: Value) -> str | NotRecorded | None:
    if isinstance(value, NotRecorded):
        return None if value.optional else value
    return _whole(value)[:CLIP]


def _whole(value: Json) -> str:
    if isinstance(value, str):
        return value
    try:
        return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS).decode()
    except (TypeError, ValueError):  # a whole number past 64 bits, a lone surrogate
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
