"""Visibility while telemetry arrives: of which sessions tool calls cannot be seen, and again can.

It says of each session what `Assembly.blind` says of all at the end, and looks only at the traces in which something
has changed. What was said of a trace that is forgotten stands.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from collector.assembly.reports import Reported
from collector.assembly.requests import Request
from collector.assembly.tree import SIGNIFICANT, Node, Trace
from collector.assembly.unheard import unheard
from evaluator.items import Item, NotRecorded

_FORGOTTEN: Final = b""
"""Stands for all traces that were forgotten."""


class Sight(NamedTuple):
    """What is new of a session: that it has spans of tools, models or agents, and whether its calls can be seen."""

    session: str
    present: bool
    """False when the spans that seemed to be of it are another's: their parent came and named that."""
    unseen: NotRecorded | None
    """Why its tool calls cannot be seen; None when they can."""


@dataclass(slots=True)
class _Session:
    """What the traces of a session say, by trace."""

    speaking: set[bytes] = field(default_factory=set)
    """Traces that show that tool calls can be seen."""
    mute: dict[bytes, NotRecorded | None] = field(default_factory=dict)
    """The others, with why a span of theirs does not show which tools were called."""
    unheard: dict[bytes, NotRecorded] = field(default_factory=dict)
    """Traces in which a model asked for tools, and it is not known for which or what came of it."""
    reports: bool = False
    """Its agent tells in events what it does: a call that ran would be reported."""
    told: Sight | None = None

    @property
    def present(self) -> bool:
        return bool(self.speaking or self.mute)

    @property
    def unseen(self) -> NotRecorded | None:
        if not self.speaking and self.mute and (why := next(reversed(self.mute.values()))) is not None:
            return why
        return None if self.reports else next(iter(self.unheard.values()), None)

    def put(self, trace: Trace, why: NotRecorded | None) -> None:
        if trace.speaks:
            self.speaking.add(trace.id)
            self.mute.pop(trace.id, None)
        elif trace.id not in self.speaking:  # an earlier part of it, forgotten since, may have been
            self.mute[trace.id] = trace.unseen
        if why is None:
            self.unheard.pop(trace.id, None)
        else:
            self.unheard[trace.id] = why

    def take(self, trace_id: bytes) -> None:
        self.speaking.discard(trace_id)
        self.mute.pop(trace_id, None)
        self.unheard.pop(trace_id, None)

    def forget(self, trace_id: bytes) -> None:
        if trace_id in self.speaking:
            self.speaking.discard(trace_id)
            self.speaking.add(_FORGOTTEN)
        if trace_id in self.mute:
            self.mute[_FORGOTTEN] = self.mute.pop(trace_id)
        if trace_id in self.unheard:
            self.unheard[_FORGOTTEN] = self.unheard.pop(trace_id)


class Visibility:
    """Owned by an assembly, whose `traces` it reads."""

    def __init__(self, traces: Mapping[bytes, Trace]) -> None:
        self._traces = traces
        self._sessions: dict[str, _Session] = {}
        self._numbers: dict[bytes, Counter[str]] = {}
        """How many spans of tools, models and agents a trace has, by their session."""
        self.touched: dict[bytes, None] = {}
        """The traces in which something is new since the last time."""
        self._changed: dict[str, None] = {}

    def placed(self, trace: Trace, node: Node, others: Iterable[Node]) -> None:
        """A span or log record is new in a trace; `others` are the spans whose context changed by that."""
        self.touched[trace.id] = None
        self._place(trace, node)
        for other in others:
            self._place(trace, other)

    def taken(self, trace_id: bytes, item: Item) -> None:
        """A plain call is new in a trace. No other span can change its session: all of them count as one."""
        self.touched[trace_id] = None
        session = item.session or trace_id.hex()
        numbers = self._numbers.setdefault(trace_id, Counter())
        if session not in numbers:
            numbers[session] = 1
            self._session(session)

    def settle(self, owners: Iterable[Any]) -> list[Sight]:
        """What is new since the last time. `owners` are those whose items may have changed meanwhile."""
        touched = self.touched
        for owner in owners:
            if isinstance(owner, Request):
                touched[owner.node.trace_id] = None
        for trace_id in touched:
            numbers = self._numbers.get(trace_id)
            if not numbers:
                continue
            trace = self._traces[trace_id]
            why = unheard(trace)
            for session in numbers:
                self._sessions[session].put(trace, why)
                self._changed[session] = None
        touched.clear()
        sights = [sight for session in self._changed if (sight := self._news(session)) is not None]
        self._changed.clear()
        return sights

    def forget(self, trace_id: bytes) -> None:
        """The trace is forgotten."""
        self.touched.pop(trace_id, None)
        for session in self._numbers.pop(trace_id, ()):
            self._sessions[session].forget(trace_id)

    def drop(self, session: str) -> None:
        """Forget the session: it counts as new should more of it come."""
        known = self._sessions.pop(session, None)
        for trace_id in (*known.speaking, *known.mute) if known is not None else ():
            numbers = self._numbers.get(trace_id)
            if numbers is not None:
                numbers.pop(session, None)

    def last(self, session: str) -> Sight | None:
        """What was said last of a session."""
        known = self._sessions.get(session)
        return None if known is None else known.told

    def _place(self, trace: Trace, node: Node) -> None:
        said = node.context.said
        if said is not None and any(isinstance(owner, Reported) for owner in node.owners):
            self._session(said).reports = True
            self._changed[said] = None
        if node.role not in SIGNIFICANT:
            return
        session, before = said or trace.id.hex(), node.seen_in
        if session == before:
            return
        node.seen_in = session
        numbers = self._numbers.get(trace.id)
        if numbers is None:
            numbers = self._numbers[trace.id] = Counter()
        numbers[session] += 1
        self._session(session)
        if before is not None and before in numbers:
            self._leave(trace.id, before, numbers)

    def _leave(self, trace_id: bytes, session: str, numbers: Counter[str]) -> None:
        numbers[session] -= 1
        if not numbers[session]:
            del numbers[session]
            self._sessions[session].take(trace_id)
            self._changed[session] = None

    def _session(self, session: str) -> _Session:
        known = self._sessions.get(session)
        if known is None:
            known = self._sessions[session] = _Session()
        return known

    def _news(self, session: str) -> Sight | None:
        known = self._sessions[session]
        sight = Sight(session, known.present, known.unseen if known.present else None)
        if known.told == sight or (known.told is None and not sight.present):
            return None
        known.told = sight
        if not sight.present and not known.reports:
            del self._sessions[session]
        return sight
