"""What a convention reads off one span, log record or trace-contract record.

A convention says what one piece of telemetry shows by itself. Which spans are layers of one call, which call the
model asked for, and which session it belongs to is put together in `collector.assembly`. Readings are made on the
hot path and never changed afterwards; they are not frozen because that makes them three times as dear.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from evaluator.items import CallStatus, Json, NotRecorded

if TYPE_CHECKING:
    from collector.conventions.reports import Report


class Role(StrEnum):
    """What a span stands for; the values are those of `evaluator.harness.sighting.Sighting.role`."""

    TOOL = "tool"
    MODEL = "model"
    AGENT = "agent"
    WORKFLOW = "workflow"
    SERVER = "server"
    OTHER = "other"


@dataclass(slots=True, eq=False)
class ToolFacts:
    """One tool span: the call as this span alone shows it. `*_from` names the attribute or event it came from."""

    name: str
    args: Mapping[str, Json] | NotRecorded
    result: Json | NotRecorded
    error: str | NotRecorded | None = None
    status: CallStatus = CallStatus.OK
    call_id: str | None = None
    name_from: str = ""
    args_from: str = ""
    result_from: str = ""
    error_from: str = ""
    phantom: str = ""
    """Why this is no call of the agent's although it looks like one; "" when it is one."""
    held: str = ""
    """What says that the call was held for an approval; "" when nothing does."""
    unfinished: bool = False
    """Its convention records the result of every call that ran, and this one shows none: it may have been held."""
    answered: bool = False
    """The model is shown a result of every call that ran, by its id: a call without any result waits to run."""
    bare: Json = None
    """The only value that is known of arguments whose names were lost."""
    kind: str | None = None
    """`mcp` where the convention itself says that the tool is on an MCP server."""
    source: str = "tool-span"
    nameless: str = ""
    """Why the name is `UNREADABLE_NAME` (a clause), where a mapping says more than that it is not there."""


@dataclass(slots=True, eq=False)
class Asked:
    """A tool call that the model asked for, in the order of its message."""

    name: str
    args: Mapping[str, Json] | NotRecorded
    call_id: str | None
    source: str
    held: bool = False
    """The telemetry itself says that this call waits for an approval."""


@dataclass(slots=True, eq=False)
class Shown:
    """What became of an earlier call, as a later request to the model shows it."""

    call_id: str
    result: Json | NotRecorded
    source: str
    failed: bool = False
    denied: bool = False


@dataclass(slots=True, eq=False)
class Reading:
    convention: str
    role: Role
    tool: ToolFacts | None = None
    asked: Sequence[Asked] = ()
    shown: Sequence[Shown] = ()
    holds: Sequence[str] = ()
    """Ids of calls of which this span says that they wait for an approval."""
    declares: frozenset[str] | None = None
    """The tools that the agent says it has."""
    session: str | None = None
    """The session by a key of the convention's own; the general keys are no business of a convention."""
    session_from: str = ""
    agent: str | None = None
    claimed: bool = False
    """A mapping of the user's claims it; what that says of session and job comes before anything else."""
    job: str | None = None
    report: "Report | None" = None
    """What an agent says in an event or span of its own making."""
    blind: NotRecorded | None = None
    """Why a span of a model or an agent that may have called tools does not show which."""
    unreadable: str = ""
    """Why nobody can tell what it stands for (a clause): it may be a call of any tool."""


def unreadable(convention: str, key: str) -> Reading:
    """Of a span whose attribute `key`, which says what it stands for, is no text."""
    return Reading(convention, Role.OTHER, unreadable=f"the attribute {key} of a span is no text")
