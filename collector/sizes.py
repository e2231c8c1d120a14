"""How large values and items are, about: what limits on bytes go by. Estimated, since exactness would cost more."""

from collections.abc import Mapping
from typing import Any, Final

from evaluator.items import Item

ITEM: Final = 512
"""Bytes of an item without its texts."""

ELEMENT: Final = 16
"""Bytes of a number, and of the place of an element."""


def size_of(value: Any) -> int:
    """Bytes of a value: a code point of a text counts as one."""
    kind = value.__class__
    if kind is str or kind is bytes:
        return len(value)
    if kind is not dict and kind is not list:
        return ELEMENT
    size = 0
    pending = [value]
    while pending:
        each = pending.pop()
        kind = each.__class__
        if kind is str or kind is bytes:
            size += len(each)
        elif kind is dict:
            size += ELEMENT * len(each) + sum(map(len, each))
            pending.extend(each.values())
        elif kind is list:
            size += ELEMENT * len(each)
            pending.extend(each)
    return size


def weight(item: Item) -> int:
    """Bytes that an item keeps. What was parsed counts beside the text that it was parsed from: both are kept."""
    size = ITEM + _sum(item.attributes)
    call = item.call
    if call is not None:
        if isinstance(call.args, Mapping):
            size += _sum(call.args)
        size += size_of(call.result)
    return size


def _sum(values: Mapping[str, Any]) -> int:
    size = 0
    for value in values.values():
        size += len(value) if value.__class__ is str else size_of(value)
    return size
