"""The items that telemetry became, as behaviors see them, for `spanbar explain`."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from collector.cli.behavior_report import describe
from collector.export.json import item_document
from collector.export.printable import printable
from collector.order import in_order
from evaluator.columns import COLUMNS, getter
from evaluator.harness.sighting import Sighting
from evaluator.items import Call, Change, Item, ItemKind, NotRecorded

_TOLD: Final = ("name", "seq", "turn", "status", "path")
"""The columns that `item_document` has already."""

_Key = tuple[Any, ...]


class SeenItems:
    """The items after all changes so far."""

    def __init__(self) -> None:
        self._items: dict[_Key, Item] = {}

    def take(self, changes: Iterable[Change]) -> None:
        for old, new in changes:
            if old is not None:
                self._items.pop(old.id, None)
            if new is not None:
                self._items[new.id] = new

    def observe(self, sightings: Sequence[Sighting], changes: Sequence[Change]) -> None:
        """As a `Watcher`."""
        self.take(changes)

    def in_order(self) -> list[Item]:
        return in_order(self._items.values())

    def others(self) -> list[Item]:
        """The items that are no tool calls."""
        return [item for item in self.in_order() if item.kind is not ItemKind.TOOL]

    def of_calls(self, calls: Iterable[Call]) -> Iterator[Item | None]:
        """The item of each call; None for one that has not happened, or is of no session."""
        found: dict[_Key, list[Item]] = defaultdict(list)
        for item in self._items.values():
            if item.kind is ItemKind.TOOL and item.call is not None:
                found[_key(item.call)].append(item)
        for call in calls:
            items = found.get(_key(call)) if call.status.happened else None
            yield items.pop(0) if items else None


def _key(call: Call) -> _Key:
    return call.trace_id, call.span_id, call.name, call.call_id, call.started, call.ended


def columns_of(item: Item) -> str:
    """What behaviors see of a call beside its name, in one line."""
    parts = [f"kind {item.tool_kind}"] if item.tool_kind not in (None, "other") else []
    parts += [f"{name} {value}" for name, value in (("seq", item.seq), ("turn", item.turn)) if value is not None]
    if isinstance(item.ops, NotRecorded):
        parts.append(f"ops not known: {item.ops.cause}")
    elif item.ops:
        parts.append(f"ops {', '.join(item.ops)}")
    if isinstance(item.path, NotRecorded):
        parts.append(f"path not known: {item.path.cause}")
    elif item.path is not None:
        parts.append(f"path {item.path}")
    others = (
        ("op", item.op),
        ("MCP server", item.mcp_server),
        ("MCP tool", item.mcp_tool),
        ("skill", item.skill),
        ("job", item.job),
    )
    parts += [f"{name} {value}" for name, value in others if isinstance(value, str)]
    return printable("; ".join(parts))


def line_of(item: Item) -> str:
    """An approval or event in one line."""
    return printable(describe(item)) + (f", job {printable(item.job)}" if item.job is not None else "")


def seen_document(item: Item) -> dict[str, Any]:
    """An item with its columns, as `where` reads them; null for one that is not there, or was not recorded."""
    columns = {name: getter(name)(item) for name in COLUMNS if name not in _TOLD}
    hidden = {name: value.cause for name, value in columns.items() if isinstance(value, NotRecorded)}
    hidden |= {
        name: value.cause
        for name, value in (("ops", item.ops), ("path", item.path))
        if isinstance(value, NotRecorded)
    }
    return {
        **item_document(item),
        **{name: None if isinstance(value, NotRecorded) else value for name, value in columns.items()},
        "paths": None if item.paths is None else list(item.paths),
        "not_recorded": hidden,
    }
