"""The typed form of a behavior file (reference/matchers-and-operators.txt). `read_behaviors` makes it from YAML."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from evaluator.items import ItemKind, Json
from evaluator.language.spec import Place
from evaluator.verdict import Severity

TOOL_KINDS: Final = ("shell", "edit", "read", "search", "web", "mcp", "skill", "plan", "other")
SHELL_OPS: Final = ("test", "git.commit", "git.push", "pr.open", "delete")
PATH_SOURCES: Final = ("file.change", "diff.files")


class UnitKind(StrEnum):
    """What a behavior is decided over."""

    SESSION = "session"
    """The items of one session, and those of its job that name no session."""
    JOB = "job"
    """The items of all sessions of one job."""


@dataclass(frozen=True, slots=True)
class FieldTest:
    """The test of one field: all that is given must hold. `op` is a key of the reference page, `equals` for a scalar.

    An operand is a scalar, a tuple of scalars for `in`, a pattern for `regex` and `glob`, a `FieldTest` for `not`.
    """

    tests: tuple[tuple[str, Json], ...]


@dataclass(frozen=True, slots=True)
class ItemMatcher:
    """What an item must be: every part that is given must hold. Names are tuples of alternatives; () is any."""

    text: str
    """The matcher as one line of YAML, for reasons."""
    kind: ItemKind | None = None
    event: str | None = None
    tool_kinds: tuple[str, ...] = ()
    ops: tuple[str, ...] = ()
    servers: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    skills: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    path: str | None = None
    input: str | None = None
    output: str | None = None
    where: tuple[tuple[str, FieldTest], ...] = ()


@dataclass(frozen=True, slots=True)
class Never:
    match: ItemMatcher


@dataclass(frozen=True, slots=True)
class Eventually:
    match: ItemMatcher


@dataclass(frozen=True, slots=True)
class Count:
    match: ItemMatcher
    least: int | None
    most: int | None


@dataclass(frozen=True, slots=True)
class Before:
    first: ItemMatcher
    then: ItemMatcher


@dataclass(frozen=True, slots=True)
class Order:
    """At least two matchers."""

    matches: tuple[ItemMatcher, ...]


@dataclass(frozen=True, slots=True)
class Within:
    """How far before an item the one that it requires may lie: `unit` is `seq` or `turns`, `most` at least 0."""

    unit: str
    most: int


@dataclass(frozen=True, slots=True)
class Each:
    each: ItemMatcher
    prior: ItemMatcher
    within: Within | None


@dataclass(frozen=True, slots=True)
class AllPaths:
    """`sources` are of `PATH_SOURCES`; a path must match one of `globs`."""

    sources: tuple[str, ...]
    globs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AnyPath:
    sources: tuple[str, ...]
    globs: tuple[str, ...]


Assertion = Never | Eventually | Count | Before | Order | Each | AllPaths | AnyPath


@dataclass(frozen=True, slots=True)
class Behavior:
    name: str
    unit: UnitKind
    severity: Severity
    assertion: Assertion
    place: Place
