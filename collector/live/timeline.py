"""Timelines: the items of a unit in order, whole or filtered, in windows."""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from collector.index import UnitKey
from collector.live import views
from collector.live.board import Board, Entry
from evaluator.items import Item

KEPT: Final = 8
"""Orders and selections that are kept until their unit changes."""

SLICE: Final = 1_000
"""Items that are looked at before the event loop has its turn again."""


class Filter(NamedTuple):
    """What of a timeline is wanted; empty texts are no condition."""

    text: str = ""
    """Casefolded; in the item's name, status, path, ops, input or output."""
    kind: str = ""
    behavior: str = ""
    """Only the evidence of this behavior's result."""

    def __bool__(self) -> bool:
        return any(self)


class Selected(NamedTuple):
    """Positions in `items`, or all of them where there was no filter."""

    items: Sequence[Item]
    positions: Sequence[int]


class Timelines:
    """Keeps the order of the timelines that were read last, so that reading on costs only the window."""

    def __init__(self, board: Board) -> None:
        self._board = board
        self._orders: OrderedDict[UnitKey, tuple[int, Entry, list[Item]]] = OrderedDict()
        self._selections: OrderedDict[tuple[UnitKey, Filter], tuple[int, Entry, Selected]] = OrderedDict()

    def items(self, entry: Entry) -> Sequence[Item]:
        """All items of a unit in order."""
        key = entry.unit.key
        kept = self._orders.get(key)
        if kept is None or kept[0] != entry.version or kept[1] is not entry:
            kept = self._orders[key] = (entry.version, entry, self._board.index.items_in_order(entry.unit))
        _touch(self._orders, key)
        return kept[2]

    async def select(self, entry: Entry, wanted: Filter) -> Selected:
        """The items that the filter lets through, as they were when it was asked."""
        items = self.items(entry)
        if not wanted:
            return Selected(items, range(len(items)))
        key = (entry.unit.key, wanted)
        kept = self._selections.get(key)
        if kept is None or kept[0] != entry.version or kept[1] is not entry or wanted.behavior:
            version = entry.version
            kept = (version, entry, Selected(items, await _positions(items, entry, wanted)))
            self._selections[key] = kept
        _touch(self._selections, key)
        return kept[2]


async def _positions(items: Sequence[Item], entry: Entry, wanted: Filter) -> list[int]:
    evidence: frozenset[object] | None = None
    if wanted.behavior:
        evidence = frozenset(
            item.id
            for outcome in entry.unit.results
            if outcome.behavior == wanted.behavior
            for item in outcome.verdict.evidence
        )
    positions: list[int] = []
    for start in range(0, len(items), SLICE):
        for position in range(start, min(start + SLICE, len(items))):
            item = items[position]
            if wanted.kind and item.kind.value != wanted.kind:
                continue
            if evidence is not None and item.id not in evidence:
                continue
            if wanted.text and not views.found(item, wanted.text):
                continue
            positions.append(position)
        await asyncio.sleep(0)
    return positions


def _touch(kept: OrderedDict[Any, Any], key: object) -> None:
    kept.move_to_end(key)
    if len(kept) > KEPT:
        kept.popitem(last=False)
