"""Reports: what coding agents, and agents of a user's own making, say in one log record or span of theirs.

One call may be told in several pieces: that it was asked for, that it was allowed, how it ended. A piece says only
what it shows itself; `collector.assembly.reports` puts together the pieces of a call, the turns and the order of a
session.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from collector.conventions.reading import ToolFacts
from collector.telemetry import Attributes
from evaluator.items import Json

_MS: Final = 1_000_000

ALLOWED: Final = "allowed"
DENIED: Final = "denied"

_ALLOWING: Final = ("accept", "approve", "allow", "auto_accept", "modify", "grant", "yes")
_DENYING: Final = ("reject", "den", "abort", "refuse", "disallow", "timedout", "timed_out", "no")


@dataclass(slots=True, eq=False)
class CallReport:
    """What one piece says of a tool call. A piece without a call id is a call by itself, or of the span around it."""

    call_id: str | None
    tool: ToolFacts | None = None
    """The call as this piece shows it; its status counts only where it `ran`. None where it shows a decision only."""
    ran: bool = False
    """It says that the call has run, and how it ended."""
    never_ran: bool = False
    """It says that the call was refused before it ran, or that there is no such tool."""
    of_parent: bool = False
    """It is about the call of the span around it."""
    started: int = 0
    ended: int = 0
    decision: str = ""
    """`allowed`, `denied`, or the agent's own word where it is neither; "" when nothing was decided."""
    decider: str = ""
    """Who or what decided, in the agent's words."""
    columns: Mapping[str, Json] = field(default_factory=dict)
    """Columns of the call by their `hangar.*` names; a `NotRecorded` where the agent hides one."""


@dataclass(slots=True, eq=False)
class Report:
    """One log record or span of such an agent. Times are ns."""

    convention: str
    name: str
    """The full name of the event (`claude_code.api_request`); "" for what is none: a span."""
    time: int
    attributes: Attributes
    sequence: int | None = None
    """Its position in the agent's own log, which may begin again at 0 when a session is resumed."""
    prompt: str | None = None
    """The id of the prompt that it belongs to, where the agent names it."""
    turn_key: str | None = None
    """It starts a turn; the key tells apart the turns of a session, however many records say that one starts."""
    call: CallReport | None = None


def decision_of(word: Json) -> str:
    """An agent's word for a decision as the status of an approval; other words stand as they are."""
    text = str(word or "").lower()
    if not text or text == "unknown":
        return ""
    if text.startswith(_ALLOWING):
        return ALLOWED
    return DENIED if text.startswith(_DENYING) else text


def began(ended: int, duration: Json) -> int:
    """When what ended then began, by its duration in ms, which may be written as text. All of it in ns; a duration
    that cannot be one is none."""
    try:
        ms = 0.0 if isinstance(duration, bool) else float(duration)
    except (TypeError, ValueError, OverflowError):
        return ended
    return ended - int(ms * _MS) if 0 <= ms * _MS <= ended else ended
