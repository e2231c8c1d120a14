"""How reasons call items: `git.push at seq 41`, `test.run (passed) at 2026-01-02 03:04:05.678`."""

from datetime import UTC, datetime, timedelta
from itertools import islice

from evaluator.items import Item, ItemKind
from evaluator.operators.monitor import EVIDENCE
from evaluator.operators.occurrences import Occurrences

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def called(item: Item) -> str:
    """What an item is, in a few words."""
    if item.kind is ItemKind.TOOL:
        return f"{item.name} ({', '.join(item.known_ops)})" if item.known_ops else item.name
    if item.kind is ItemKind.APPROVAL:
        what = f" of {', '.join(item.known_ops)}" if item.known_ops else ""
        return f"approval{what} ({item.status})" if item.status else f"approval{what}"
    if item.known_path is not None:
        return f"{item.name} of {item.known_path}"
    return f"{item.name} ({item.status})" if item.status else item.name


def where(item: Item) -> str:
    """Where in the order an item is."""
    if item.seq is not None:
        return f"seq {item.seq}"
    try:
        moment = _EPOCH + timedelta(microseconds=item.time // 1000)
    except OverflowError:
        return f"{item.time} ns"
    return moment.strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]


def placed(item: Item) -> str:
    return f"{called(item)} at {where(item)}"


def times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def evidence(occurrences: Occurrences) -> tuple[Item, ...]:
    """The first items that match, at most `EVIDENCE`, the first one first."""
    first = occurrences.first
    if first is None:
        return ()
    others = (item for item in occurrences if item is not first)
    return (first, *islice(others, EVIDENCE - 1))
