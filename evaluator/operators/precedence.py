"""Precedence: which of two items comes first (SEMANTICS.md, section 2)."""

from evaluator.items import Item

Group = str | None
"""The items that a seq orders are a group, by their session; None is all others, which only time orders."""


def group_of(item: Item) -> Group:
    """The group in which an item is ordered by seq: its session's, if it has a session and a seq."""
    return None if item.seq is None else item.session


def precedes(a: Item, b: Item) -> bool:
    """By seq within a session where both have one, else by time; strictly."""
    group = group_of(a)
    if group is not None and group == group_of(b):
        return a.seq < b.seq  # type: ignore[operator]
    return a.time < b.time


def by_seq(item: Item) -> tuple[int | None, int]:
    return item.seq, item.time


def by_time(item: Item) -> int:
    return item.time


def by_first(item: Item) -> tuple[int, bool, str, bool, int]:
    """The key of the first match among the heads of groups: by time, then session (none is last), then seq."""
    return item.time, item.session is None, item.session or "", item.seq is None, item.seq or 0
