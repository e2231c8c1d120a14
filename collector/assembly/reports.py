"""Reports in the assembly: the sessions of agents that tell in events what they do, their turns and their order.

A turn is a prompt: the turns of a session are numbered in the order of their prompts, from 1. The position in the
agent's own log begins again at 0 when its session is resumed (Claude Code does that), so what comes after such a
beginning is counted on from what came before it. Prompts and beginnings that arrive late change what is after them.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from typing import Any

from collector.assembly.columns import Place, happening_item
from collector.assembly.owners import NO_ITEMS, session_of
from collector.assembly.pieces import PiecedCall
from collector.assembly.timeline import Moment, Timeline
from collector.assembly.tree import Node
from collector.conventions.reading import Role
from collector.conventions.reports import CallReport, Report
from evaluator.items import Item

SessionKey = str | bytes
"""The session that telemetry names, else the trace."""


class Reported:
    """One log record, span or span event that reports something. `index` tells the events of one span apart."""

    __slots__ = ("call", "emitted", "folders", "index", "node", "report", "session", "sessions", "source", "span_id")

    def __init__(
        self, node: Node, index: Any, report: Report, source: str, folders: tuple[str, ...], sessions: "Sessions"
    ) -> None:
        self.node = node
        self.index = index
        self.report = report
        self.source = source
        """`log` or `tool-span`."""
        self.folders = folders
        """The checkouts that the record or its resource names."""
        self.sessions = sessions
        self.span_id = node.span_id
        """The span that it is of."""
        self.session: Session | None = None
        """Where it is placed."""
        self.call: PiecedCall | None = None
        self.emitted: tuple[Item, ...] = NO_ITEMS

    @property
    def moment(self) -> Moment:
        position = self.index if isinstance(self.index, int) else 0
        return self.report.time, self.node.unique, position

    @property
    def agent_name(self) -> str | None:
        agent = self.node.context.agent
        return None if agent is None else agent.agent_name

    def register(self) -> None:
        self.sessions.place(self)

    def unregister(self) -> None:
        self.sessions.remove(self)

    def order(self) -> dict[str, int]:
        """Its place in its session as columns have it, as far as it is known."""
        session, columns = self.session, {}
        if session is not None:
            seq, turn = session.seq_of(self), session.turn_of(self.report)
            if seq is not None:
                columns["hangar.seq"] = seq
            if turn is not None:
                columns["hangar.turn"] = turn
        return columns

    def items(self) -> tuple[Item, ...]:
        """The event that it is, where it is one and tells of no call."""
        report = self.report
        call = report.call
        if not report.name or (call is not None and (call.ran or call.decision)):
            return NO_ITEMS
        context = self.node.context
        session = session_of(context, self.node.trace_id)
        if session is None and context.job is None:
            return NO_ITEMS
        place = Place((self.node.trace_id, self.node.span_id, self.index), session, context.job)
        return (happening_item(place, report.name, report.time, {**self.order(), **report.attributes}),)


class Session:
    """What is reported of one session."""

    __slots__ = ("_begins", "_highest", "_mark", "_prompts", "_starts", "calls", "key", "members")

    def __init__(self, key: SessionKey, mark: Callable[[Any], None]) -> None:
        self.key = key
        self._mark = mark
        self.members: Timeline[Reported] = Timeline()
        self.calls: dict[str, PiecedCall] = {}
        self._prompts: dict[Reported, None] = {}
        self._starts: tuple[list[int], dict[str, int]] = ([], {})
        """When each turn started, in order, and the start of the turn of each prompt that has an id."""
        self._begins: list[int] = []
        """When the agent's log began, for each time that it did."""
        self._highest: list[int] = [-1]
        """The highest position before the first beginning, and after each."""

    def add(self, piece: Reported) -> None:
        self.members.add(piece.moment, piece)
        if piece.report.turn_key is not None:
            self._prompts[piece] = None
            self._number_turns()
        if piece.report.sequence is not None:
            self._count(piece.report.sequence, piece.report.time)

    def remove(self, piece: Reported) -> None:
        """What has been said of the order of what is left stands."""
        self.members.remove(piece.moment)
        self._prompts.pop(piece, None)

    def turn_of(self, report: Report) -> int | None:
        """The number of the turn; None before the first prompt."""
        starts, of_prompts = self._starts
        time = report.time if report.prompt is None else of_prompts.get(report.prompt, report.time)
        return bisect_right(starts, time) or None

    def seq_of(self, piece: Reported) -> int | None:
        """The position in the session, over all beginnings of the agent's log."""
        sequence = piece.report.sequence
        if sequence is None:
            return None
        run = bisect_right(self._begins, piece.report.time)
        return sequence + sum(highest + 1 for highest in self._highest[:run])

    def _number_turns(self) -> None:
        by_key: dict[str, int] = {}
        for piece in self._prompts:
            key, time = str(piece.report.turn_key), piece.report.time
            by_key[key] = min(time, by_key.get(key, time))
        before = self._starts[0]
        starts = sorted(by_key.values())
        of_prompts = {
            piece.report.prompt: by_key[str(piece.report.turn_key)]
            for piece in self._prompts
            if piece.report.prompt is not None
        }
        self._starts = (starts, of_prompts)
        same = next((at for at, pair in enumerate(zip(before, starts, strict=False)) if pair[0] != pair[1]), None)
        if same is None:
            same = min(len(before), len(starts))
        changed = [times[same] for times in (before, starts) if same < len(times)]
        if changed:
            self._mark_from(min(changed))

    def _count(self, sequence: int, time: int) -> None:
        if sequence == 0 and self._begin(time):
            return
        run = bisect_right(self._begins, time)
        if sequence > self._highest[run]:
            self._highest[run] = sequence
            if run < len(self._begins):
                self._mark_from(self._begins[run])

    def _begin(self, time: int) -> bool:
        """Count the agent's log from anew at a time. False when it is known to begin there."""
        at = bisect_left(self._begins, time)
        if at < len(self._begins) and self._begins[at] == time:
            return False
        self._begins.insert(at, time)
        self._highest = [-1] * (len(self._begins) + 1)
        for member in self.members.all():
            if member.report.sequence is not None:
                run = bisect_right(self._begins, member.report.time)
                self._highest[run] = max(self._highest[run], member.report.sequence)
        if len(self._begins) > 1 or self._highest[0] >= 0:
            self._mark_from(time)
        return True

    def _mark_from(self, time: int) -> None:
        for member in self.members.within(time, None):
            self._mark(member)
            if member.call is not None:
                self._mark(member.call)


class Sessions:
    """The sessions of agents that report. `mark` says that the items of an owner may have changed."""

    def __init__(self, mark: Callable[[Any], None]) -> None:
        self._mark = mark
        self._sessions: dict[SessionKey, Session] = {}

    def place(self, piece: Reported) -> None:
        """Put a piece where what is known of it now belongs."""
        self._mark(piece)
        key: SessionKey = piece.node.context.said or piece.node.trace_id
        session = self._sessions.get(key)
        if session is None:
            session = self._sessions[key] = Session(key, self._mark)
        if piece.session is not session:
            self.remove(piece)
            piece.session = session
            session.add(piece)
        self._join(piece, session)

    def remove(self, piece: Reported) -> None:
        session, piece.session = piece.session, None
        if session is None:
            return
        self._leave(piece, session)
        session.remove(piece)
        if not session.members:
            del self._sessions[session.key]

    def _join(self, piece: Reported, session: Session) -> None:
        said = piece.report.call
        if said is None:
            return
        call_id = _parents_call(piece) if said.of_parent else said.call_id
        call = piece.call
        if call_id is not None:
            call = session.calls.get(call_id)
            if call is None:
                call = session.calls[call_id] = PiecedCall(call_id)
        elif said.of_parent:
            self._leave(piece, session)
            return
        elif call is None:
            call = PiecedCall(None)
        if piece.call is not call:
            self._leave(piece, session)
            piece.call = call
        if call is not None:
            call.pieces[piece] = said
            self._mark(call)

    def _leave(self, piece: Reported, session: Session) -> None:
        call, piece.call = piece.call, None
        if call is None:
            return
        call.pieces.pop(piece, None)
        self._mark(call)
        if not call.pieces and call.call_id is not None:
            session.calls.pop(call.call_id, None)


def _parents_call(piece: Reported) -> str | None:
    """The id of the call whose span is around this one."""
    near = piece.node.context.near
    if near is None or near.role is not Role.TOOL:
        return None
    for owner in near.owners:
        if isinstance(owner, Reported) and isinstance(owner.report.call, CallReport):
            return owner.report.call.call_id
    return None
