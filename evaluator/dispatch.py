"""Dispatch: many predicates over one item at the cost of few.

An item is shown only to the predicates of its group (its kind, and its name and tool kind where any predicate asks
for them). Within a group a predicate is reached by its most selective test: a text that a field must equal is looked
up, the patterns of one field are looked for in one pass, and only what is left is tested one by one.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from evaluator.columns import COLUMNS, getter
from evaluator.items import Item, ItemKind, NotRecorded
from evaluator.matchers import OPS, Outcome, Predicate, Test
from evaluator.patterns import PatternSet

Hit = tuple[int, bool]
"""The position of a predicate that an item matches, and whether it surely does (False: nobody can say)."""

_NO_HITS: Final[tuple[Hit, ...]] = ()
_SET_FROM: Final = 6
"""From how many cheap patterns of one field on they are looked for in one pass."""
_TEXT_COLUMNS: Final = frozenset({"op", "path", "status", "mcp_server", "mcp_tool", "skill", "name", "tool_kind"})
"""The columns that hold a text or None, nothing else."""


@dataclass(frozen=True, slots=True)
class _Entry:
    """A predicate of a group: the tests that are left once it was reached."""

    predicate: int
    tests: tuple[Callable[[Item], Outcome], ...]


_Table = dict[str, list[_Entry]]


class _Patterns:
    """The patterns of one field, looked for together.

    A text is looked at only if it starts with one of `starts` or ends with one of `stops`, as far as `head` and
    `tail` code points go: in most texts no pattern is found, and most of them differ there.
    """

    __slots__ = ("entries", "head", "read", "search", "starts", "stops", "tail")

    def __init__(self, name: str, found: Sequence[tuple[Test, _Entry]]) -> None:
        self.read = getter(name)
        self.entries = [entry for _, entry in found]
        self.search = PatternSet([test.pattern or "" for test, _ in found]).search
        heads = [test.ends[0] for test, _ in found if test.ends[0]]
        tails = [test.ends[1] for test, _ in found if test.ends[1] and not test.ends[0]]
        if len(heads) + len(tails) < len(found):
            heads, tails = [""], []
        self.head, self.tail = min(map(len, heads), default=0), min(map(len, tails), default=0)
        self.starts = frozenset(start[: self.head] for start in heads)
        self.stops = frozenset(stop[-self.tail :] for stop in tails)


@dataclass(slots=True)
class _Plan:
    """How each predicate of a group is reached."""

    values: dict[str, _Table] = field(default_factory=lambda: defaultdict(lambda: defaultdict(list)))
    patterns: dict[str, list[tuple[Test, _Entry]]] = field(default_factory=lambda: defaultdict(list))
    rest: list[_Entry] = field(default_factory=list)


class Dispatch:
    """The predicates of a program. Groups are made when the first item of theirs is seen."""

    def __init__(self, predicates: Sequence[Predicate]) -> None:
        self._predicates = tuple(predicates)
        self._names = {name: name for predicate in predicates for name in predicate.names or ()}
        self._tool_kinds = {kind: kind for predicate in predicates for kind in predicate.tool_kinds or ()}
        # Names and kinds that no predicate asks for share a group, so that the number of groups is bounded by the
        # predicates and not by what arrives.
        self._groups: dict[tuple[ItemKind, str | None, str | None], Callable[[Item], Sequence[Hit]]] = {}

    def match(self, item: Item) -> Sequence[Hit]:
        """The predicates that an item matches or may match, in no order."""
        kind = item.kind
        tool_kind = item.tool_kind
        key = (kind, self._names.get(item.name), None if tool_kind is None else self._tool_kinds.get(tool_kind))
        match = self._groups.get(key)
        if match is None:
            match = self._groups[key] = self._group(*key).match
        return match(item)

    def _group(self, kind: ItemKind, name: str | None, tool_kind: str | None) -> "Group":
        members = [
            (position, predicate)
            for position, predicate in enumerate(self._predicates)
            if predicate.kind in (None, kind)
            and (predicate.names is None or name in predicate.names)
            and (predicate.tool_kinds is None or tool_kind in predicate.tool_kinds)
        ]
        return Group(members)


class Group:
    """The predicates that items of one key can match."""

    __slots__ = ("_attributes", "_columns", "_empty", "_ops", "_patterns", "_rest", "_texts", "_values")

    def __init__(self, members: Iterable[tuple[int, Predicate]]) -> None:
        plan = _plan(members)
        self._ops = dict(plan.values.pop(OPS, {}))
        values = {name: dict(table) for name, table in plan.values.items()}
        self._columns: tuple[tuple[int, dict[Any, list[_Entry]]], ...] = tuple(
            (Item._fields.index(name), table) for name, table in values.items() if name in _TEXT_COLUMNS
        )
        self._attributes = tuple((name, table) for name, table in values.items() if name not in COLUMNS)
        self._values = tuple(
            (getter(name), table) for name, table in values.items() if name in COLUMNS and name not in _TEXT_COLUMNS
        )
        patterns = {name: _Patterns(name, found) for name, found in plan.patterns.items()}
        self._texts = tuple(
            (Item._fields.index(name), one) for name, one in patterns.items() if name in _TEXT_COLUMNS
        )
        self._patterns = tuple(one for name, one in patterns.items() if name not in _TEXT_COLUMNS)
        self._rest = tuple(plan.rest)
        self._empty = not (plan.values or self._ops or patterns or self._rest)

    def match(self, item: Item) -> Sequence[Hit]:
        if self._empty:
            return _NO_HITS
        hits: list[Hit] = []
        if self._rest:
            _admit(self._rest, item, hits)
        if self._ops and (ops := item.ops):
            if ops.__class__ is tuple:
                _admit(_of_elements(self._ops, ops), item, hits)
            else:
                _admit(_distinct(self._ops.values()), item, hits, certain=False)
        for position, table in self._columns:
            value: Any = item[position]
            if (entries := table.get(value)) is not None:
                _admit(entries, item, hits)
            elif value.__class__ is NotRecorded:
                _admit(_distinct(table.values()), item, hits, certain=False)
        for position, patterns in self._texts:
            text: Any = item[position]
            if text is not None and (
                text.__class__ is NotRecorded
                or text[: patterns.head] in patterns.starts
                or text[-patterns.tail :] in patterns.stops
            ):
                _search(patterns, text, item, hits)
        if self._attributes:
            attributes = item.attributes
            for name, table in self._attributes:
                if (value := attributes.get(name)) is not None:
                    _look_up(table, value, item, hits)
        for read, table in self._values:
            if (value := read(item)) is not None:
                _look_up(table, value, item, hits)
        for patterns in self._patterns:
            if (value := patterns.read(item)) is not None:
                _search(patterns, value, item, hits)
        return hits


def _plan(members: Iterable[tuple[int, Predicate]]) -> _Plan:
    plan = _Plan()
    cheap: dict[str, int] = defaultdict(int)
    members = list(members)
    for _, predicate in members:
        for test in predicate.tests:
            cheap[test.field] += test.pattern is not None and test.cheap
    for position, predicate in members:
        reached = _reached_by(predicate.tests, cheap)
        others = sorted((test for test in predicate.tests if test is not reached), key=lambda test: not test.cheap)
        entry = _Entry(position, tuple(test.holds for test in others))
        if reached is None:
            plan.rest.append(entry)
        elif reached.values is not None:
            for value in reached.values:
                plan.values[reached.field][value].append(entry)
        else:
            plan.patterns[reached.field].append((reached, entry))
    return plan


def _reached_by(tests: Sequence[Test], cheap: dict[str, int]) -> Test | None:
    """The test by which a predicate is reached: the one that is cheapest for a whole group."""
    for test in tests:
        if test.values is not None:
            return test
    for test in tests:
        if test.pattern is not None and (not test.cheap or cheap[test.field] >= _SET_FROM):
            return test
    return None


def _admit(entries: Iterable[_Entry], item: Item, hits: list[Hit], *, certain: bool = True) -> None:
    for entry in entries:
        sure = certain
        for test in entry.tests:
            outcome = test(item)
            if outcome is False:
                break
            if outcome is None:
                sure = False
        else:
            hits.append((entry.predicate, sure))


def _look_up(table: _Table, value: Any, item: Item, hits: list[Hit]) -> None:
    if value.__class__ is str:
        if (entries := table.get(value)) is not None:
            _admit(entries, item, hits)
    elif isinstance(value, list | tuple):
        _admit(_of_elements(table, value), item, hits)
    elif isinstance(value, NotRecorded):
        _admit(_distinct(table.values()), item, hits, certain=False)


def _of_elements(table: _Table, elements: Sequence[Any]) -> Iterable[_Entry]:
    """The entries of any of the elements, each once."""
    if len(elements) == 1:
        element = elements[0]
        return table.get(element, ()) if element.__class__ is str else ()
    return _distinct(table[element] for element in elements if element.__class__ is str and element in table)


def _distinct(lists: Iterable[list[_Entry]]) -> Iterable[_Entry]:
    return {entry.predicate: entry for entries in lists for entry in entries}.values()


def _search(patterns: _Patterns, value: Any, item: Item, hits: list[Hit]) -> None:
    entries = patterns.entries
    if value.__class__ is str:
        found: Iterable[int] = patterns.search(value)
    elif isinstance(value, NotRecorded):
        _admit(entries, item, hits, certain=False)
        return
    elif isinstance(value, list | tuple):
        texts = [element for element in value if element.__class__ is str]
        found = {position for text in texts for position in patterns.search(text)}
    else:
        return
    if found:
        _admit([entries[position] for position in found], item, hits)


def attribute_fields(predicates: Iterable[Predicate]) -> frozenset[str]:
    """The full names of the attributes that predicates read."""
    tested = {test.field for predicate in predicates for test in predicate.tests}
    return frozenset(tested - set(COLUMNS) - {OPS})
