"""Rules: a mapping file, typed. Which spans and log events are claimed, and where each part of them stands."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from evaluator.items import Json


class Kind(StrEnum):
    """What a rule makes of what it claims; the values are the keys of the file."""

    CALL = "calls"
    APPROVAL = "approvals"
    EVENT = "events"
    PROMPT = "prompts"


class Signal(StrEnum):
    SPANS = "spans"
    LOGS = "logs"


@dataclass(frozen=True, slots=True)
class Source:
    """Where a value stands. One of the fields is given."""

    attribute: str | None = None
    prefix: str | None = None
    """Of arguments: every attribute that begins with it is one, named by the rest."""
    value: Json = None
    """The value itself."""
    name: str | None = None
    """A regex over the name of the span or event; its first group, or all that it finds, is the value."""

    def __str__(self) -> str:
        return self.attribute or (
            f"{self.prefix}*" if self.prefix else f"name ~ {self.name}" if self.name else "value"
        )


@dataclass(frozen=True, slots=True)
class Where:
    """What a rule claims: all that is given must hold."""

    signal: Signal | None = None
    """None: spans and log events."""
    name: Callable[[str], bool] | None = None
    attributes: tuple[tuple[str, tuple[Json, ...]], ...] = ()
    """Each attribute has any of the values; None among them is its absence."""


@dataclass(frozen=True, slots=True)
class Rule:
    kind: Kind
    where: Where
    parts: Mapping[str, tuple[Source, ...]]
    """By the key of the file; of several sources the first that has a value counts."""
    words: Mapping[str, str] = field(default_factory=dict)
    """The emitter's words for a status, in lower case, and what they mean."""


@dataclass(frozen=True, slots=True)
class Rules:
    """A mapping file. `common` are the parts that hold for everything it claims."""

    name: str
    common: Mapping[str, tuple[Source, ...]]
    rules: tuple[Rule, ...]
