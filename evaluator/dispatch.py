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
    """The patterns of one field, looked for together."""

    __slots__ = ("_may_match", "_search", "entries", "read")

    def __init__(self, name: str, found: Sequence[tuple[Test, _Entry]]) -> None:
        self.read = getter(name)
        self.entries = [entry for _, entry in found]
        self._may_match = _guard([test.ends for test, _ in found])
        self._search = PatternSet([test.pattern or "" for test, _ in found]).search

    def search(self, text: str) -> Sequence[int]:
        """The positions of the entries whose pattern is found."""
        return self._search(text) if self._may_match(text) else ()


def _guard(ends: Sequence[tuple[str, str]]) -> Callable[[str], bool]:
    """A quick test that texts in which no pattern is found mostly fail: by how they must start, or else end."""
    heads = [start for start, _ in ends if start]
    tails = [stop for start, stop in ends if stop and not start]
    if len(heads) + len(tails) < len(ends):
        return lambda text: True
    head, tail = min(map(len, heads), default=0), min(map(len, tails), default=0)
    starts, stops = {start[:head] for start in heads}, {stop[-tail:] for stop in tails}
    return lambda text: text[:head] in starts or text[-tail:] in stops


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
        self._groups: dict[tuple[ItemKind, str | None, str | None], Group] = {}

    def match(self, item: Item) -> Sequence[Hit]:
        """The predicates that an item matches or may match, in no order."""
        kind = item[1]
        tool_kind = item[8]
        key = (kind, self._names.get(item[2]), None if tool_kind is None else self._tool_kinds.get(tool_kind))
        group = self._groups.get(key)
        if group is None:
            group = self._groups[key] = self._group(*key)
        return group.match(item)

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

    __slots__ = ("_columns", "_empty", "_ops", "_patterns", "_rest", "_values")

    def __init__(self, members: Iterable[tuple[int, Predicate]]) -> None:
        plan = _plan(members)
        self._ops = dict(plan.values.pop(OPS, {}))
        self._columns: tuple[tuple[int, dict[Any, list[_Entry]]], ...] = tuple(
            (Item._fields.index(name), dict(table)) for name, table in plan.values.items() if name in _TEXT_COLUMNS
        )
        self._values = tuple(
            (getter(name), dict(table)) for name, table in plan.values.items() if name not in _TEXT_COLUMNS
        )
        self._patterns = tuple(_Patterns(name, found) for name, found in plan.patterns.items())
        self._rest = tuple(plan.rest)
        self._empty = not (self._ops or self._columns or self._values or self._patterns or self._rest)

    def match(self, item: Item) -> Sequence[Hit]:
        if self._empty:
            return _NO_HITS
        hits: list[Hit] = []
        if self._rest:
            _admit(self._rest, item, hits)
        if self._ops and item[9]:
            _admit(_of_elements(self._ops, item[9]), item, hits)
        for position, table in self._columns:
            entries = table.get(item[position])
            if entries is not None:
                _admit(entries, item, hits)
        for read, table in self._values:
            value = read(item)
            if value is None:
                continue
            if value.__class__ is str:
                if value in table:
                    _admit(table[value], item, hits)
            elif isinstance(value, list | tuple):
                _admit(_of_elements(table, value), item, hits)
            elif isinstance(value, NotRecorded):
                _admit(_distinct(table.values()), item, hits, certain=False)
        for patterns in self._patterns:
            value = patterns.read(item)
            if value is not None:
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
