"""Matchers: an `ItemMatcher` of a behavior file -> a predicate over items (SEMANTICS.md, sections 1 and 3).

A predicate is three-valued: True, False, or None where it needs a value that was not recorded. A missing value is
not an unrecorded one: it meets `null` and nothing else.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from evaluator import globs
from evaluator.columns import Value, getter
from evaluator.items import Item, ItemKind, Json, NotRecorded
from evaluator.language.assertion import FieldTest, ItemMatcher
from evaluator.patterns import PatternSet

Outcome = bool | None
Scalar = Callable[[Json], bool]

OPS: Final = "ops"
"""The field that the `ops` of a matcher look at. `where` cannot name it: it is neither a column nor an attribute."""


@dataclass(frozen=True, slots=True)
class Test:
    """One condition of a predicate. What `values` and `patterns` say lets many predicates be tested together."""

    field: str
    holds: Callable[[Item], Outcome]
    values: frozenset[str] | None = None
    """It holds where the field (or an element of it) is one of these texts, and nowhere else."""
    pattern: str | None = None
    """It holds where this RE2 pattern is found in the field (or an element of it), and nowhere else."""
    ends: tuple[str, str] = ("", "")
    """What a text in which the pattern is found starts and ends with; "" where that is not known."""
    cheap: bool = True
    """Testing it alone costs less than looking for a pattern."""


@dataclass(frozen=True, slots=True)
class Predicate:
    """A compiled matcher. None of `kind`, `names` and `tool_kinds` is any; all of `tests` must hold as well."""

    kind: ItemKind | None
    names: frozenset[str] | None
    tool_kinds: frozenset[str] | None
    tests: tuple[Test, ...]

    def __call__(self, item: Item) -> Outcome:
        if self.kind is not None and item.kind is not self.kind:
            return False
        if self.names is not None and item.name not in self.names:
            return False
        if self.tool_kinds is not None and item.tool_kind not in self.tool_kinds:
            return False
        outcome: Outcome = True
        for test in self.tests:
            held = test.holds(item)
            if held is False:
                return False
            if held is None:
                outcome = None
        return outcome

    @property
    def over_tools(self) -> bool:
        """Whether a tool call can match."""
        return self.kind is None or self.kind is ItemKind.TOOL


def compile_matcher(matcher: ItemMatcher) -> Predicate:
    """The predicate of a matcher. Its patterns must have been checked: see `globs.problem`, `patterns.problem`."""
    tests: list[Test] = []
    names: list[frozenset[str]] = [frozenset((matcher.event,))] if matcher.event is not None else []
    kinds: list[frozenset[str]] = [frozenset(matcher.tool_kinds)] if matcher.tool_kinds else []
    if matcher.ops:
        tests.append(_ops(frozenset(matcher.ops)))
    columns = (
        ("mcp_server", matcher.servers),
        ("mcp_tool", matcher.tools),
        ("skill", matcher.skills),
        ("status", matcher.statuses),
    )
    tests.extend(_among(field, frozenset(values)) for field, values in columns if values)
    if matcher.path is not None:
        tests.append(_glob("path", matcher.path))
    tests.extend(
        _regex(field, pattern)
        for field, pattern in (("input", matcher.input), ("output", matcher.output))
        if pattern is not None
    )
    for field, wanted in matcher.where:
        test = field_test(field, wanted)
        if test.values is not None and field == "name":
            names.append(test.values)
        elif test.values is not None and field == "tool_kind":
            kinds.append(test.values)
        else:
            tests.append(test)
    return Predicate(matcher.kind, _common(names), _common(kinds), tuple(tests))


def _common(sets: list[frozenset[str]]) -> frozenset[str] | None:
    return frozenset.intersection(*sets) if sets else None


def _ops(ops: frozenset[str]) -> Test:
    def holds(item: Item) -> Outcome:
        done = item.ops
        return None if isinstance(done, NotRecorded) else not ops.isdisjoint(done)

    return Test(OPS, holds, values=ops)


def _among(field: str, values: frozenset[str]) -> Test:
    return Test(field, _held(field, values.__contains__), values=values)


def _glob(field: str, pattern: str) -> Test:
    matches = globs.compiled(pattern)
    return Test(
        field,
        _held(field, lambda value: isinstance(value, str) and matches(value)),
        pattern=globs.regex(pattern),
        ends=globs.ends(pattern),
        cheap=globs.simple(pattern),
    )


def _regex(field: str, pattern: str) -> Test:
    return Test(field, _held(field, _found(pattern)), pattern=pattern, cheap=False)


def _found(pattern: str) -> Scalar:
    search = PatternSet((pattern,)).search
    return lambda value: isinstance(value, str) and bool(search(value))


def field_test(field: str, wanted: FieldTest) -> Test:
    """The test of one field of `where`."""
    if len(wanted.tests) == 1:
        op, operand = wanted.tests[0]
        values = frozenset(operand if op == "in" else (operand,)) if op in ("equals", "in") else None
        if values and all(isinstance(value, str) for value in values):
            return Test(field, _held(field, values.__contains__), values=values)
        if op == "glob":
            return _glob(field, operand)
        if op == "regex":
            return _regex(field, operand)
    read, holds = getter(field), value_test(wanted)
    return Test(field, lambda item: holds(read(item)), cheap="regex" not in dict(wanted.tests))


def _held(field: str, scalar: Scalar) -> Callable[[Item], Outcome]:
    """Whether a positive test holds of the field, or of any element of it."""
    read = getter(field)

    def holds(item: Item) -> Outcome:
        value = read(item)
        if value is None:
            return False
        if isinstance(value, list | tuple):
            return any(scalar(element) for element in value if _hashable(element))
        return None if isinstance(value, NotRecorded) else _hashable(value) and scalar(value)

    return holds


def _hashable(value: Json) -> bool:
    return not isinstance(value, dict | list)


def value_test(wanted: FieldTest) -> Callable[[Value], Outcome]:
    """The test of a value: None for a missing one."""
    positive = [_scalar(op, operand) for op, operand in wanted.tests if op != "not"]
    negative = [_every(operand) for op, operand in wanted.tests if op == "not"]
    missing = all(
        (op == "equals" and operand is None) or (op == "in" and None in operand) for op, operand in wanted.tests
    )

    def holds(value: Value) -> Outcome:
        if value is None:
            return missing
        if isinstance(value, NotRecorded):
            return None
        elements = value if isinstance(value, list | tuple) else (value,)
        if positive and not any(all(test(element) for test in positive) for element in elements):
            return False
        return not any(test(element) for test in negative for element in elements)

    return holds


def _every(wanted: FieldTest) -> Scalar:
    tests = [_scalar(op, operand) for op, operand in wanted.tests]
    return lambda value: all(test(value) for test in tests)


def _scalar(op: str, operand: Any) -> Scalar:
    match op:
        case "equals":
            return lambda value: equal(value, operand)
        case "in":
            return lambda value: any(equal(value, option) for option in operand)
        case "glob":
            matches = globs.compiled(operand)
            return lambda value: isinstance(value, str) and matches(value)
        case "regex":
            return _found(operand)
        case _:
            return _compared(op, operand)


def _compared(op: str, operand: Json) -> Scalar:
    family: type | tuple[type, ...] = str if isinstance(operand, str) else (int, float)
    compare: Callable[[Any], bool] = {
        "gt": lambda value: value > operand,
        "gte": lambda value: value >= operand,
        "lt": lambda value: value < operand,
        "lte": lambda value: value <= operand,
    }[op]
    return lambda value: isinstance(value, family) and not isinstance(value, bool) and compare(value)


def equal(value: Json, operand: Json) -> bool:
    """Equality as JSON has it: numbers as numbers, booleans only with booleans."""
    if isinstance(value, bool) or isinstance(operand, bool):
        return value is operand
    return bool(value == operand)
