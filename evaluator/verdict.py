"""Verdicts: the results of behaviors and tests (SEMANTICS.md, sections 4 and 7)."""

from dataclasses import dataclass
from enum import StrEnum

from evaluator.items import Item


class Result(StrEnum):
    """The result of a behavior over one unit."""

    PASS = "pass"
    FAIL = "fail"
    NOT_APPLICABLE = "not_applicable"
    """Nothing in the unit is what the behavior speaks of."""
    UNKNOWN = "unknown"
    """It could not be checked; `Verdict.reason` says what is missing. Never a pass."""
    ERROR = "error"
    """It cannot be checked at all, such as over tool calls that this agent's telemetry does not show."""


class Status(StrEnum):
    """The status of a test, of one execution or of one turn."""

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a monitor says now.

    `final`: no item that may still arrive can change `result`. `evidence`: the items that decided it, in order.
    `reason`: one sentence why, with the shortest counterexample for a failure.
    """

    result: Result
    final: bool
    evidence: tuple[Item, ...] = ()
    reason: str = ""


class Severity(StrEnum):
    ERROR = "error"
    WARN = "warn"
    """Reported, and never in the exit code."""


class Contract(StrEnum):
    """What may still arrive in a unit that is not closed (SEMANTICS.md, section 4)."""

    ANY = "any"
    """Anything, anywhere in the order."""
    ORDERED = "ordered"
    """Nothing that precedes what is already here."""


@dataclass(frozen=True, slots=True)
class BehaviorResult:
    """The result of one behavior over one unit, as it is now."""

    behavior: str
    severity: Severity
    verdict: Verdict
    final_at: int | None = None
    """The 1-based number of the arriving item at which the result became final; None if only closing made it so."""
    revised: bool = False
    """A final result was changed by what arrived later."""
