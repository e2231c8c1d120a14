"""The composer: YAML bytes -> a tree of `evaluator.language.document`. Nothing here recurses over unbounded input."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Final

import yaml
from yaml.constructor import SafeConstructor
from yaml.reader import ReaderError
from yaml.resolver import Resolver

from evaluator.language.document import (
    MAX_COPIES,
    MAX_DEPTH,
    MAX_NODES,
    Entry,
    ListNode,
    MapNode,
    Node,
    ScalarNode,
    child,
    item,
)
from evaluator.language.problem import Problem
from evaluator.language.quick_events import quick_events

_TAG: Final = "tag:yaml.org,2002:"
_MERGE: Final = _TAG + "merge"
_TEXT_TAGS: Final = frozenset({_TAG + "str", _TAG + "value", _MERGE})
_SCALAR_TAGS: Final = frozenset(
    {_TAG + name for name in ("null", "bool", "int", "float", "timestamp", "binary")} | _TEXT_TAGS
)
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Document:
    """What a file holds: its tree (None when it is no YAML), and the problems of its YAML."""

    root: Node | None
    problems: tuple[Problem, ...]


def compose(data: bytes | str, file: str) -> Document:
    """Read one YAML document. `file` is how the problems name it. Raises nothing, whatever `data` is."""
    try:
        text = data if isinstance(data, str) else data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        byte = error.object[error.start]
        message = f"the file is not UTF-8 text: byte 0x{byte:02x} at offset {error.start}; save it as UTF-8"
        return Document(None, (Problem(file, "", line, "unreadable", message),))
    return _quickly(text, file) or _thoroughly(text, file)


def _quickly(text: str, file: str) -> Document | None:
    """None where something is wrong with the text: what, is PyYAML's to say, whatever is installed."""
    composer = _Composer(file)
    try:
        for event in quick_events(text):
            composer.take(event)
    except _Stop:
        return Document(None, tuple(composer.problems)) if composer.is_full else None
    except (yaml.YAMLError, ValueError, OverflowError):
        return None
    return composer.document()


def _thoroughly(text: str, file: str) -> Document:
    composer = _Composer(file)
    try:
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            composer.take(event)
    except _Stop:
        return Document(None, tuple(composer.problems))
    except ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        # PyYAML leaves what it could not read as a number or as a character.
        code = error.character if isinstance(error.character, int) else ord(error.character)
        return composer.broken(line, f"the character U+{code:04X} is not allowed in YAML")
    except yaml.MarkedYAMLError as error:
        return composer.broken(*_said(error))
    except (ValueError, OverflowError) as error:  # an escape such as "\UFFFFFFFF", a version number without end
        return composer.broken(composer.line, f"invalid YAML: {error}")
    return composer.document()


def _said(error: yaml.MarkedYAMLError) -> tuple[int, str]:
    mark = error.problem_mark or error.context_mark
    line = mark.line + 1 if mark else 1
    if error.problem and "'\\t'" in error.problem:
        return line, "invalid YAML: a tab cannot indent; use spaces"
    said = ": ".join(part for part in (error.context, error.problem) if part)
    return line, f"invalid YAML: {said}"


class _Stop(Exception):
    """The document cannot be composed any further; the problem is noted."""


@dataclass(slots=True)
class _Open:
    """A mapping or list that has begun and not ended."""

    mapping: bool
    path: str
    line: int
    anchor: str | None
    items: list[Node] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    keys: dict[tuple[type, Any], ScalarNode] = field(default_factory=dict)
    """The keys that are taken: by type and value (`1` and `0x1` are one key) and by text (so are `1` and `"1"`)."""
    merged: list[Node] = field(default_factory=list)
    key: Node | None = None
    """The key whose value comes next."""
    key_is_merge: bool = False
    height: int = 0
    """How many levels lie below this one."""

    def taken(self, key: ScalarNode) -> ScalarNode | None:
        """The key that is already here and is the same as `key`, if any."""
        return self.keys.get((type(key.value), key.value)) or self.keys.get((str, key.text))

    def take(self, key: ScalarNode) -> None:
        self.keys[type(key.value), key.value] = self.keys[str, key.text] = key


@dataclass(slots=True)
class _Composer:
    file: str
    problems: list[Problem] = field(default_factory=list)
    line: int = 1
    root: Node | None = None
    documents: int = 0
    open: list[_Open] = field(default_factory=list)
    anchors: dict[str, tuple[Node, int]] = field(default_factory=dict)
    """The anchored nodes that are complete, with the number of levels below them."""
    nodes: int = 0
    copies: int = 0
    resolver: Resolver = field(default_factory=Resolver)
    constructor: SafeConstructor = field(default_factory=SafeConstructor)

    def document(self) -> Document:
        return Document(self.root or ScalarNode(None, "", True, "", 1), tuple(self.problems))

    @property
    def is_full(self) -> bool:
        return self.nodes > MAX_NODES or self.copies > MAX_COPIES

    def broken(self, line: int, message: str) -> Document:
        self.problem("", line, message)
        return Document(None, tuple(self.problems))

    def problem(self, path: str, line: int, message: str, code: str = "invalid_yaml") -> None:
        self.problems.append(Problem(self.file, path, line, code, message))

    def take(self, event: yaml.Event) -> None:
        if event.start_mark is not None:
            self.line = event.start_mark.line + 1
        match event:
            case yaml.ScalarEvent():
                tag = self.tag(event)
                self.add(self.scalar(event, tag), event.anchor, merge=tag == _MERGE)
            case yaml.DocumentStartEvent():
                self.documents += 1
                if self.documents > 1:
                    self.problem("", self.line, "invalid YAML: a second document starts here; a file holds one")
                    raise _Stop
            case yaml.AliasEvent():
                self.alias(event)
            case yaml.SequenceStartEvent() | yaml.MappingStartEvent():
                self.begin(event)
            case yaml.SequenceEndEvent() | yaml.MappingEndEvent():
                self.end()

    def path(self) -> str:
        """Where the node that comes next will be."""
        if not self.open:
            return ""
        inner = self.open[-1]
        if not inner.mapping:
            return item(inner.path, len(inner.items))
        return inner.path if inner.key is None else inner.key.path

    def begin(self, event: yaml.SequenceStartEvent | yaml.MappingStartEvent) -> None:
        mapping = isinstance(event, yaml.MappingStartEvent)
        path = self.path()
        if len(self.open) >= MAX_DEPTH:
            # The whole path would be a hundred keys long.
            self.problem(self.open[4].path, self.line, f"nested more than {MAX_DEPTH} levels deep")
            raise _Stop
        if event.tag not in {None, "!", _TAG + ("map" if mapping else "seq")}:
            self.problem(path, self.line, f"the tag {_shown(event.tag)} is not known here: write plain YAML")
        self.open.append(_Open(mapping, path, self.line, event.anchor))

    def end(self) -> None:
        ended = self.open.pop()
        node: Node
        if ended.mapping:
            self.merge(ended)
            node = MapNode(tuple(ended.entries), ended.path, ended.line)
        else:
            node = ListNode(tuple(ended.items), ended.path, ended.line)
        self.add(node, ended.anchor, height=ended.height + 1)

    def add(self, node: Node, anchor: str | None, *, height: int = 0, merge: bool = False) -> None:
        """Put a complete node where it belongs."""
        self.count()
        if anchor is not None:
            self.anchors[anchor] = (node, height)
        if not self.open:
            self.root = node
            return
        inner = self.open[-1]
        inner.height = max(inner.height, height)
        if not inner.mapping:
            inner.items.append(node)
        elif inner.key is None:
            self.add_key(inner, node, merge=merge)
        else:
            self.add_value(inner, inner.key, node)
            inner.key = None

    def add_key(self, inner: _Open, node: Node, *, merge: bool) -> None:
        inner.key_is_merge = merge
        if isinstance(node, ScalarNode):
            inner.key = ScalarNode(node.value, node.text, node.plain, child(inner.path, node.text), node.line)
        else:
            inner.key = node

    def add_value(self, inner: _Open, key: Node, value: Node) -> None:
        if not isinstance(key, ScalarNode):
            self.problem(inner.path, key.line, f"{key.kind} cannot be a key: keys are single values")
        elif inner.key_is_merge:
            inner.merged.append(value)
        elif (first := inner.taken(key)) is not None:
            message = f"the key '{key.text}' is already on line {first.line}: remove one of the two"
            self.problem(key.path, key.line, message, "duplicate_key")
        else:
            inner.entries.append(Entry(key, value))
            inner.take(key)

    def merge(self, ended: _Open) -> None:
        """Add what `<<` names: the mapping's own keys win, then those of the mapping that is named first."""
        for value in ended.merged:
            for source in value.items if isinstance(value, ListNode) else (value,):
                if not isinstance(source, MapNode):
                    message = f"'<<' merges a mapping or a list of mappings, not {source.kind}"
                    self.problem(ended.path, source.line, message)
                    continue
                self.count_copies(len(source.entries))
                for entry in source.entries:
                    if ended.taken(entry.key) is None:
                        path = child(ended.path, entry.key.text)
                        ended.entries.append(Entry(replace(entry.key, path=path), self.moved(entry.value, path)))
                        ended.take(entry.key)

    def alias(self, event: yaml.AliasEvent) -> None:
        path = self.path()
        name = event.anchor
        if any(outer.anchor == name for outer in self.open):
            self.problem(path, self.line, f"invalid YAML: '*{name}' is a part of what it names, without end")
            raise _Stop
        if name not in self.anchors:
            self.problem(path, self.line, f"invalid YAML: '*{name}' names nothing: there is no '&{name}' before it")
            raise _Stop
        node, height = self.anchors[name]
        if len(self.open) + height > MAX_DEPTH:
            self.problem(path, self.line, f"nested more than {MAX_DEPTH} levels deep, through '*{name}'")
            raise _Stop
        self.add(self.moved(node, path), None, height=height)

    def moved(self, node: Node, path: str) -> Node:
        """The same tree at another path. Lines stay: they say where the text is."""
        self.count_copies(1)
        match node:
            case ScalarNode():
                return replace(node, path=path)
            case ListNode():
                items = (self.moved(part, item(path, index)) for index, part in enumerate(node.items))
                return ListNode(tuple(items), path, node.line)
            case MapNode():
                return MapNode(tuple(self.moved_entries(node.entries, path)), path, node.line)

    def moved_entries(self, entries: Iterable[Entry], path: str) -> Iterable[Entry]:
        for entry in entries:
            inner = child(path, entry.key.text)
            yield Entry(replace(entry.key, path=inner), self.moved(entry.value, inner))

    def count(self) -> None:
        self.nodes += 1
        if self.nodes > MAX_NODES:
            self.problem("", self.line, f"too large: more than {MAX_NODES} values")
            raise _Stop

    def count_copies(self, nodes: int) -> None:
        self.copies += nodes
        if self.copies > MAX_COPIES:
            self.problem("", self.line, f"too large: more than {MAX_COPIES} values, aliases written out")
            raise _Stop

    def tag(self, event: yaml.ScalarEvent) -> str:
        if event.tag is None or event.tag == "!":
            return str(self.resolver.resolve(yaml.ScalarNode, event.value, event.implicit))  # type: ignore[no-untyped-call]
        return str(event.tag)

    def scalar(self, event: yaml.ScalarEvent, tag: str) -> ScalarNode:
        path = self.path()
        is_plain = not event.style and event.tag is None
        if not event.value.isascii() and _SURROGATE.search(event.value):
            self.problem(path, self.line, "half of a surrogate pair is not text: write the character itself")
            text = event.value.encode("utf-8", "replace").decode()
            return ScalarNode(text, text, is_plain, path, self.line)
        if tag not in _SCALAR_TAGS:
            self.problem(path, self.line, f"the tag {_shown(tag)} is not known here: write plain YAML")
            tag = _TAG + "str"
        return ScalarNode(self.value(event.value, tag, path), event.value, is_plain, path, self.line)

    def value(self, text: str, tag: str, path: str) -> Any:
        if tag in _TEXT_TAGS:
            return text
        construct = SafeConstructor.yaml_constructors[tag]
        try:
            return construct(self.constructor, yaml.ScalarNode(tag, text))
        except (ValueError, OverflowError, LookupError, AttributeError, yaml.YAMLError):
            # `2024-02-30`, `0x_`, `!!bool perhaps`, a number of 5000 digits: each fails in its own way in PyYAML.
            kind = tag.removeprefix(_TAG)
            message = f"'{text[:40]}' looks like YAML's {kind} and cannot be read as one; quote it to have it as text"
            self.problem(path, self.line, message)
            return text


def _shown(tag: str) -> str:
    return f"'!!{tag.removeprefix(_TAG)}'" if tag.startswith(_TAG) else f"'{tag}'"
