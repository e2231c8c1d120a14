"""Items: what the evaluator sees of an agent (SEMANTICS.md, sections 1 and 6).

An item is a tool call, an approval or an event. Items are immutable and compare by value; what identifies one
is `Item.id`. When later telemetry adds to an item or takes it back, the evaluator is given a `Change`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, NamedTuple

Json = Any
"""A JSON value: None, bool, int, float, str, list or dict of them."""

UNREADABLE_NAME: Final = "(name not recorded)"
"""Stands where the name of a call is that happened and that telemetry does not name: it may be any tool's."""

CLIP: Final = 500
"""How many code points of an input or output a regex sees."""


class ItemKind(StrEnum):
    TOOL = "tool"
    APPROVAL = "approval"
    EVENT = "event"


class CallStatus(StrEnum):
    """What became of a tool call. Only `OK` and `ERROR` have happened."""

    OK = "ok"
    ERROR = "error"
    SUSPENDED = "suspended"
    """Held, for an approval or by an interrupt; it has not run."""
    DENIED = "denied"
    """Refused by a person or a policy; it never ran."""
    REQUESTED = "requested"
    """The model asked for it; nothing shows that it ran."""

    @property
    def happened(self) -> bool:
        return self is CallStatus.OK or self is CallStatus.ERROR


@dataclass(frozen=True, slots=True)
class NotRecorded:
    """Stands where a value is that the telemetry does not carry. It equals nothing, `{}` and None included.

    `cause` is a clause ("content capture is off"); `fix` is the one line that makes the value visible, or "".
    """

    cause: str
    fix: str = ""
    optional: bool = False
    """The vocabulary lets its emitter leave the value out where there is none: behaviors take it as missing."""


class Call(NamedTuple):
    """One logical tool call, however many spans show it. Times are ns since the epoch.

    A tuple for the reasons that `Item` is one.
    """

    name: str
    args: Mapping[str, Json] | NotRecorded
    result: Json | NotRecorded = None
    error: str | NotRecorded | None = None
    """The error text of a failed call; `NotRecorded` when it failed and no text says how; else None."""
    started: int = 0
    ended: int = 0
    call_id: str | None = None
    status: CallStatus = CallStatus.OK
    convention: str = ""
    """The module of `collector.conventions` that read it."""
    source: str = "tool-span"
    """`tool-span`, `llm-span`, `log` or `trace-contract`."""
    agent: str | None = None
    trace_id: bytes = b""
    span_id: bytes = b""

    @property
    def failed(self) -> bool:
        return self.status is CallStatus.ERROR


class Item(NamedTuple):
    """A tool call, an approval or an event, with the columns of the reference page.

    A tuple because a million of them are kept: cheap to make, small, and soon ignored by the cyclic garbage
    collector. `time` is ns. `input` and `output` are what `hangar.tool.input`/`.output` say and None otherwise;
    `evaluator.columns` derives them from the call then.
    """

    id: tuple[Any, ...]
    """(trace id, span id, event index or None, ...): an item with an id seen before is the same item."""
    kind: ItemKind
    name: str
    session: str | None
    job: str | None
    seq: int | None
    time: int
    turn: int | None
    tool_kind: str | None = None
    ops: tuple[str, ...] | NotRecorded = ()
    path: str | NotRecorded | None = None
    op: str | None = None
    input: str | None = None
    output: str | None = None
    status: str | None = None
    mcp_server: str | NotRecorded | None = None
    mcp_tool: str | NotRecorded | None = None
    skill: str | NotRecorded | None = None
    trusted: Json = None
    total: Json = None
    complete: Json = None
    paths: tuple[str, ...] | None = None
    """The delivered files of a `diff.files` item."""
    attributes: Mapping[str, Json] = {}
    call: Call | None = None

    @property
    def known_ops(self) -> tuple[str, ...]:
        """The shell ops, none where nobody can tell them."""
        return () if isinstance(self.ops, NotRecorded) else self.ops

    @property
    def known_path(self) -> str | None:
        """The path, None where there is none or nobody can tell it."""
        return None if isinstance(self.path, NotRecorded) else self.path


class Change(NamedTuple):
    """What telemetry did to one item: added (`old` is None), revised, or taken back (`new` is None)."""

    old: Item | None
    new: Item | None
