"""Pieces: the one call that several records and spans of an agent report (`CallReport`).

A call that was denied and never allowed has not happened, whatever is reported as its result; one has happened when a
piece says that it ran. Its approval is an item of its own, one for each decision.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from collector.assembly.columns import TOOL_KINDS, Place, approval_item, tool_item
from collector.assembly.derived import DERIVED_KINDS, derived
from collector.assembly.owners import NO_ITEMS, session_of
from collector.conventions.reading import ToolFacts
from collector.conventions.reports import ALLOWED, DENIED, CallReport
from evaluator.items import UNREADABLE_NAME, Call, CallStatus, Item, Json, NotRecorded

if TYPE_CHECKING:
    from collector.assembly.reports import Reported

Piece = tuple["Reported", CallReport]
Pieces = list[Piece]

_UNTOLD: Final = NotRecorded("no piece of its telemetry carries it")


class PiecedCall:
    """A call, from its pieces. An owner of items like any other."""

    __slots__ = ("call_id", "emitted", "pieces")

    def __init__(self, call_id: str | None) -> None:
        self.call_id = call_id
        self.pieces: dict[Reported, CallReport] = {}
        self.emitted: tuple[Item, ...] = NO_ITEMS

    def register(self) -> None:
        """Its pieces are placed, and place it."""

    def unregister(self) -> None:
        """Its pieces are taken away one by one."""

    def items(self) -> tuple[Item, ...]:
        call = self.call()
        if call is None:
            return NO_ITEMS
        pieces = self.in_order()
        columns = _columns(pieces)
        items = [self._approval(piece, said, call, columns) for piece, said in _decisions(pieces)]
        if call.status.happened:
            items.append(self._tool(_told_best(self._runs(pieces))[0], call, columns))
        return tuple(item for item in items if item.session is not None or item.job is not None)

    def in_order(self) -> Pieces:
        return sorted(self.pieces.items(), key=lambda entry: entry[0].moment)

    def facts(self) -> list[ToolFacts]:
        """What the pieces show of the call, what tells most first: events before spans, how it ran before what was
        asked for."""
        best_first = sorted(self.in_order(), key=lambda entry: (not entry[0].report.name, not entry[1].ran))
        return [said.tool for _, said in best_first if said.tool is not None]

    def call(self) -> Call | None:
        """The call; None as long as no piece names its tool."""
        facts, pieces = self.facts(), self.in_order()
        name = next((each.name for each in facts if each.name), None)
        if name is None:
            return None
        if name == UNREADABLE_NAME:
            name = next((each.name for each in facts if each.name_from and each.name != UNREADABLE_NAME), name)
        decisions, runs = _decisions(pieces), self._runs(pieces)
        allowed = [piece.report.time for piece, said in decisions if said.decision == ALLOWED]
        teller = pieces[0][0]
        started = ended = teller.report.time
        status, error = CallStatus.REQUESTED, None
        if not allowed and any(said.decision == DENIED for _, said in decisions):
            status = CallStatus.DENIED
        elif runs:
            teller, run = _told_best(runs)
            ended = run.ended
            # A duration is rounded: nothing runs before it is allowed to.
            started = max([run.started, *(time + 1 for time in allowed[:1] if time < ended)])
            status, error = _outcome([said.tool for _, said in runs if said.tool is not None])
        return Call(
            name,
            _known(each.args for each in facts),
            _known(each.result for each in facts),
            error,
            started,
            ended,
            self.call_id,
            status,
            teller.report.convention,
            teller.source,
            teller.agent_name,
            teller.node.trace_id,
            teller.span_id,
        )

    def _runs(self, pieces: Pieces) -> Pieces:
        """The pieces that tell how the call ran; none where any says that it never did."""
        if any(said.never_ran for _, said in pieces):
            return []
        return [(piece, said) for piece, said in pieces if said.ran]

    def _tool(self, piece: "Reported", call: Call, columns: Mapping[str, Json]) -> Item:
        known = {key: value for key, value in columns.items() if not isinstance(value, NotRecorded)}
        attributes = {**piece.order(), **known, **piece.report.attributes}
        item = tool_item(_place(piece), call, attributes, None)
        hidden: dict[str, Any] = {
            _FIELDS[key]: value for key, value in columns.items() if isinstance(value, NotRecorded)
        }
        if hidden:
            item = item._replace(**hidden)
        return derived(item, piece.folders) if item.tool_kind in DERIVED_KINDS else item

    def _approval(self, piece: "Reported", said: CallReport, call: Call, columns: Mapping[str, Json]) -> Item:
        decider = {"hangar.approval.source": said.decider} if said.decider else {}
        attributes = {**piece.order(), **decider, "hangar.approval.status": said.decision, **piece.report.attributes}
        place = _place(piece)
        item = approval_item(place._replace(id=(*place.id, "approval")), call, attributes, said.decision)
        kind = columns.get("hangar.tool.kind") or TOOL_KINDS.get(call.name, "other")
        # An event that tells of the whole call comes when it is over; the decision was before it began.
        time = min(piece.report.time, call.started - 1) if said.ran else piece.report.time
        item = item._replace(time=time, tool_kind=str(kind))
        return derived(item, piece.folders) if kind in DERIVED_KINDS else item


_FIELDS: Final[Mapping[str, str]] = {
    "hangar.mcp.server": "mcp_server",
    "hangar.mcp.tool": "mcp_tool",
    "gen_ai.skill.name": "skill",
}
"""The columns that an agent may hide."""


def _place(piece: "Reported") -> Place:
    context = piece.node.context
    return Place(
        (piece.node.trace_id, piece.node.span_id, piece.index), session_of(context, piece.node.trace_id), context.job
    )


def _decisions(pieces: Pieces) -> Pieces:
    """The decisions on the call. Where events tell them, spans only repeat them."""
    found = [(piece, said) for piece, said in pieces if said.decision]
    in_events = [(piece, said) for piece, said in found if piece.report.name]
    return in_events or found


def _told_best(runs: Pieces) -> Piece:
    """The piece that tells most of how the call ran: an event with its place in the agent's log, else a span."""
    return next(((piece, said) for piece, said in runs if piece.report.name), runs[0])


def _known(values: Iterable[Json | NotRecorded]) -> Any:
    """The first value that was recorded, else the first reason that names a way to have it."""
    missing: NotRecorded | None = None
    for value in values:
        if not isinstance(value, NotRecorded):
            return value
        if missing is None or (value.fix and not missing.fix):
            missing = value
    return missing or _UNTOLD


def _outcome(facts: Iterable[ToolFacts]) -> tuple[CallStatus, str | NotRecorded | None]:
    failed = [each for each in facts if each.status is CallStatus.ERROR]
    if not failed:
        return CallStatus.OK, None
    return CallStatus.ERROR, next((each.error for each in failed if isinstance(each.error, str)), failed[0].error)


def _columns(pieces: Pieces) -> dict[str, Json]:
    columns: dict[str, Json] = {}
    for _, said in pieces:
        for key, value in said.columns.items():
            if value is not None and (key not in columns or isinstance(columns[key], NotRecorded)):
                columns[key] = value
    return columns
