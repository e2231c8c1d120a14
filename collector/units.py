"""Units: sessions and jobs with their items, and how much of them is kept."""

from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from evaluator.items import Item
from evaluator.verdict import BehaviorResult

if TYPE_CHECKING:
    from evaluator.behaviors import Evaluation


class UnitKind(StrEnum):
    SESSION = "session"
    JOB = "job"


class UnitKey(NamedTuple):
    kind: UnitKind
    id: str


@dataclass(frozen=True, slots=True)
class Limits:
    """What the index keeps at most; None is no limit. What is over makes room for itself or is cut, never passes."""

    sessions: int | None = None
    items: int | None = None
    """Of all units together."""
    session_items: int | None = None
    """Of one unit; what comes after is counted and not judged."""
    bytes: int | None = None
    """Of all units together, as telemetry has them: see `Index.apply`."""


@dataclass(slots=True, eq=False)
class Unit:
    """A session or a job. `own` has its own items by id, in the order of their arrival."""

    key: UnitKey
    evaluation: "Evaluation | None"
    own: dict[tuple[object, ...], Item] = field(default_factory=dict)
    links: Counter[str] = field(default_factory=Counter)
    """Of a session: the jobs that its items name; of a job: its sessions. With how many items say so."""
    arrivals: int = 0
    bytes: int = 0
    """Of `own`, about, if there is a limit on them."""
    closed: bool = False
    reopened: int = 0
    cut: str | None = None
    """Why the unit is not whole, if it is not."""
    lost: str | None = None
    """Why its own items are not whole, if they are not: what shares them with it is not whole either."""
    dropped: int = 0
    """Items that were not kept, for a limit."""

    @property
    def results(self) -> tuple[BehaviorResult, ...]:
        return self.evaluation.results if self.evaluation is not None else ()
