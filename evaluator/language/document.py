"""Documents: YAML as a tree in which every key and every value knows its path and its line.

The text is read as PyYAML's SafeLoader reads it (YAML 1.1: `yes` is true, `012` is 10, `2024-05-01` is a date), with
these differences: a key written twice is a problem, also where two keys are equal only in Python (`1` and `true`
are two keys); a key that is a list or a mapping is a problem; `=` is a text; an anchor may be used again. Aliases are
expanded, each at its own path, up to `MAX_COPIES` in all. Whatever the bytes are, the outcome is a tree or problems.
"""

import datetime
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from evaluator.items import Json

MAX_DEPTH: Final = 100
"""How many mappings and lists may lie within one another."""
MAX_NODES: Final = 1_000_000
"""How many values a document may have, keys among them."""
MAX_COPIES: Final = 200_000
"""How many of them may come from aliases and merges."""

_BARE_KEY = re.compile(r"""[^\s.\[\]"'{}]+""")


@dataclass(frozen=True, slots=True)
class ScalarNode:
    """A single value: None, bool, int, float, str, or what JSON has not: a date, a datetime or bytes."""

    value: Any
    text: str
    """As it is written in the file, without quotes."""
    plain: bool
    """Written without quotes and without a tag, so that its type was guessed from its text."""
    path: str
    line: int

    @property
    def kind(self) -> str:
        """What it is, for messages: `text`, `a number`, ..."""
        for types, kind in _KINDS:
            if isinstance(self.value, types):
                return kind
        return type(self.value).__name__


@dataclass(frozen=True, slots=True)
class ListNode:
    items: tuple["Node", ...]
    path: str
    line: int

    kind = "a list"


@dataclass(frozen=True, slots=True)
class Entry:
    """A key and its value. Both have the path of the value."""

    key: ScalarNode
    value: "Node"


@dataclass(frozen=True, slots=True)
class MapNode:
    """A mapping. What comes from a `<<` merge is in `entries` as if it had been written there."""

    entries: tuple[Entry, ...]
    path: str
    line: int

    kind = "a mapping"

    def get(self, key: str) -> "Node | None":
        """The value of a text key, None when it is not there."""
        for entry in self.entries:
            if entry.key.value == key:
                return entry.value
        return None

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)


Node = ScalarNode | ListNode | MapNode

_KINDS: Final[tuple[tuple[type | tuple[type, ...], str], ...]] = (
    (type(None), "null"),
    (bool, "a boolean"),
    ((int, float), "a number"),
    (str, "text"),
    (datetime.date, "a date"),
    (bytes, "binary data"),
)


def child(path: str, key: str) -> str:
    """The path of the value of `key` in the mapping at `path`: `a.b`, or `a["b c"]` when the key is no bare word."""
    if _BARE_KEY.fullmatch(key):
        return f"{path}.{key}" if path else key
    quoted = key.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'{path}["{quoted}"]'


def item(path: str, index: int) -> str:
    """The path of the item at `index` of the list at `path`."""
    return f"{path}[{index}]"


def plain(node: Node) -> Json:
    """The value of a tree as Python has it. Keys are texts, as they are written in the file."""
    match node:
        case ScalarNode():
            return node.value
        case ListNode():
            return [plain(entry) for entry in node.items]
        case MapNode():
            return {entry.key.text: plain(entry.value) for entry in node.entries}


def scalars(node: Node) -> Iterator[ScalarNode]:
    """Every single value of a tree, in the order of the file; keys are left out."""
    match node:
        case ScalarNode():
            yield node
        case ListNode():
            for inner in node.items:
                yield from scalars(inner)
        case MapNode():
            for entry in node:
                yield from scalars(entry.value)
