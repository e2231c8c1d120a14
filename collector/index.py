"""The index: units (sessions and jobs), their items, and what their behaviors say of them.

Owned by one event loop, so without locks. Changes of items go in by `Index.apply`; every change of a unit comes out
to the listeners as an `Update`. A session's unit holds its own items and those of its jobs that name no session; a
job's unit holds the items of all its sessions and its own (SEMANTICS.md, section 1).
"""

import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Final, NamedTuple

from collector.order import in_order
from collector.sizes import weight
from collector.units import Limits, Unit, UnitKey, UnitKind
from evaluator.items import Change, Item, NotRecorded

if TYPE_CHECKING:
    from evaluator.behaviors import Program

__all__ = ["Index", "Limits", "Listener", "Unit", "UnitKey", "UnitKind", "Update"]

END_EVENT: Final = "session.end"
"""The event that says that nothing more comes of its session."""

REMEMBERED_EVICTIONS: Final = 100_000

JOBS_OF_SESSION: Final = 100
"""Each item of a session goes to all its jobs, and each job begins with all of its items."""

_TRACE_NAME: Final = re.compile("[0-9a-f]{32}")


class Update(NamedTuple):
    """One change of one unit: an item that came, changed or went, results (by position) that changed, or its end."""

    unit: Unit
    change: Change | None
    results: Sequence[int]
    evicted: bool = False


Listener = Callable[[Update], None]


class Index:
    """Units by kind and id. `program` is what to evaluate over each; None only keeps items."""

    def __init__(self, program: "Program | None" = None, *, limits: Limits | None = None) -> None:
        self.program = program
        self.limits = limits or Limits()
        self._unlimited = self.limits.session_items is None and self.limits.bytes is None
        self.units: dict[UnitKey, Unit] = {}
        self.items = 0
        self.bytes = 0
        """Of all units, about, if there is a limit on them."""
        self.evicted = 0
        self._share = 0
        self._finished: dict[UnitKey, None] = {}
        self._sessions: dict[str, Unit] = {}
        """The units of sessions, by the session alone: where nearly every item goes."""
        self._gone: OrderedDict[UnitKey, tuple[str, bool]] = OrderedDict()
        """Why units are not whole that may come, and whether their own items are not (see `Unit.lost`)."""
        self._gone_traces: dict[bytes, UnitKey] = {}
        """Those of `_gone` that are named by a trace, whose session is known only when its root comes."""
        self._listeners: list[Listener] = []

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` at every update, in the event loop. Returns what stops that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def sessions(self) -> Iterator[Unit]:
        return iter(self._sessions.values())

    def open(self, session: str) -> Unit:
        """The unit of a session that is known to exist, with items or without."""
        return self._unit(UnitKey(UnitKind.SESSION, session))

    def apply(self, changes: Iterable[Change], *, share: int = 0) -> None:
        """Take what happened to items. `share`: bytes that each of them counts for; 0 weighs each one."""
        self._share = share
        for change in changes:
            if change[0] is None and (new := change[1]) is not None:
                self._add(new, change)  # nearly all are
            else:
                self._apply(change)

    def close(self, key: UnitKey) -> None:
        """Nothing more is expected of the unit; an item that comes all the same opens it again."""
        unit = self.units[key]
        if unit.closed:
            return
        unit.closed = True
        self._finished[key] = None
        changed = unit.evaluation.close() if unit.evaluation is not None else ()
        self._tell(Update(unit, None, changed))

    def close_all(self) -> None:
        for key in list(self.units):
            self.close(key)

    def items_in_order(self, unit: Unit) -> list[Item]:
        """All items that the unit is judged by, in order: by seq where both have one, else by time."""
        return in_order(self._items_of(unit))

    def blind(self, session: str, why: NotRecorded | None) -> None:
        """Tool calls of the session, which may be new, cannot be seen, or (None) can: what needs them is unknown."""
        unit = self.open(session)
        cause = None if why is None else f"{why.cause}; {why.fix}" if why.fix else why.cause
        self._tell(Update(unit, None, () if unit.evaluation is None else unit.evaluation.blind(cause)))

    def withdraw(self, session: str) -> None:
        """What the session was opened for is another's: without items, there is none."""
        unit = self._sessions.get(session)
        if unit is not None:
            self._drop_if_empty(unit)

    def cut_all(self, cause: str) -> None:
        """Some of the telemetry is missing, and nobody knows whose: no unit is whole, and none passes."""
        for unit in self.units.values():
            self._cut(unit, cause)

    def cut_open(self, cause: str) -> None:
        """Some telemetry is lost, and nobody knows whose: no unit that is open now is whole."""
        for unit in self.units.values():
            if not unit.closed:
                self._cut(unit, cause)

    def cut(self, key: UnitKey, cause: str) -> None:
        """The unit is not whole, for this cause (a clause), nor is what shares items with it; now, or if it comes."""
        unit = self.units.get(key)
        if unit is None:
            self.remember((key,), cause)
        else:
            self._cut_with_linked(unit, cause)

    def _cut_job(self, job: str, session: str, cause: str | None) -> None:
        """The job lacks items of a session that it is not linked with; its own are whole."""
        key, cause = UnitKey(UnitKind.JOB, job), f"session {session} is not whole: {cause}"
        unit = self.units.get(key)
        if unit is None:
            self.remember((key,), cause, own=False)
        else:
            self._cut(unit, cause, own=False)

    def remember(self, keys: Iterable[UnitKey], cause: str, *, own: bool = True) -> None:
        """Parts of these units are gone, for this cause: should more of one come, it is not whole."""
        for key in keys:
            self._gone[key] = cause, own
            if (trace := _trace_of(key)) is not None:
                self._gone_traces[trace] = key
            if len(self._gone) > REMEMBERED_EVICTIONS:
                oldest, _ = self._gone.popitem(last=False)
                self._gone_traces.pop(_trace_of(oldest) or b"", None)

    def gone_traces(self) -> Iterable[tuple[bytes, str]]:
        """The traces that parts are gone of, as far as sessions had their names from them, with the cause."""
        return ((trace, self._gone[key][0]) for trace, key in self._gone_traces.items())

    def _items_of(self, unit: Unit) -> Iterator[Item]:
        yield from unit.own.values()
        other = UnitKind.JOB if unit.key.kind is UnitKind.SESSION else UnitKind.SESSION
        for linked in unit.links:
            yield from self.units[UnitKey(other, linked)].own.values()

    def _apply(self, change: Change) -> None:
        old, new = change
        if old is None and new is not None:
            self._add(new, change)
            return
        if old is not None and new is not None and _home(old) == _home(new) and old.job == new.job:
            home = self._unit(_home(new))
            if old.id in home.own:
                _replace(home, old, new)
                self._feed(home, change)
                for unit in self._linked(home):
                    self._feed(unit, change)
            return
        if old is not None:
            self._remove(old)
        if new is not None:
            self._add(new, Change(None, new))

    def _add(self, item: Item, change: Change) -> None:
        session = item.session
        home = None if session is None else self._sessions.get(session)
        if home is None:
            home = self._unit(_home(item))
        if not self._unlimited and not self._admit(home):
            if item.job is not None and session is not None:
                self._cut_job(item.job, session, home.cut)
            return
        if item.id in home.own:  # the assembly has forgotten its trace since
            if item != (known := home.own[item.id]):
                self._apply(Change(known, item))
            return
        if item.job is not None and session is not None:
            self._link(home, item.job)
        home.own[item.id] = item
        self.items += 1
        if self.limits.bytes is not None:
            self._weigh(home, self._share or weight(item))
        if self._gone_traces and (gone := self._gone_traces.get(item.id[0])) is not None:
            self._cut_with_linked(home, self._gone[gone][0])
        self._feed(home, change)
        if home.links:
            for unit in self._linked(home):
                self._feed(unit, change)
        if item.name == END_EVENT and session is not None:
            self.close(home.key)
        if self.limits.items is not None and self.items > self.limits.items:
            self._evict(spare=home)
        if self.limits.bytes is not None and self.bytes > self.limits.bytes:
            self._make_room(self.limits.bytes, home)

    def _weigh(self, unit: Unit, size: int) -> None:
        unit.bytes += size
        self.bytes += size

    def _make_room(self, limit: int, spare: Unit) -> None:
        while self.bytes > limit:
            if not self._evict(spare=spare):
                self._cut_with_linked(spare, f"it is larger than the limit of {limit} bytes")
                return

    def _remove(self, item: Item) -> None:
        home = self.units.get(_home(item))
        if home is None or item.id not in home.own:
            return
        if home.bytes:
            self._weigh(home, -(home.bytes // len(home.own)))
        del home.own[item.id]
        self.items -= 1
        change = Change(item, None)
        self._feed(home, change)
        for unit in self._linked(home):
            self._feed(unit, change)
        if item.session is not None and item.job is not None:
            self._unlink(home, item.job)
        self._drop_if_empty(home)

    def _link(self, session: Unit, job: str) -> None:
        if job not in session.links and len(session.links) >= JOBS_OF_SESSION:
            cause = f"it names more jobs than the limit of {JOBS_OF_SESSION}"
            self._cut_with_linked(session, cause)
            self._cut_job(job, session.key.id, cause)
            return
        session.links[job] += 1
        if session.links[job] > 1:
            return
        unit = self._unit(UnitKey(UnitKind.JOB, job))
        unit.links[session.key.id] += 1
        for item in session.own.values():
            self._feed(unit, Change(None, item))
        for item in unit.own.values():
            self._feed(session, Change(None, item))
        if session.cut is not None:
            self._cut(unit, f"session {session.key.id} is not whole: {session.cut}", own=False)
        if unit.lost is not None:
            self._cut(session, f"job {job} is not whole: {unit.lost}", own=False)

    def _unlink(self, session: Unit, job: str) -> None:
        if job not in session.links:
            return  # it was one too many
        session.links[job] -= 1
        if session.links[job] > 0:
            return
        del session.links[job]
        unit = self.units[UnitKey(UnitKind.JOB, job)]
        del unit.links[session.key.id]
        for item in session.own.values():
            self._feed(unit, Change(item, None))
        for item in unit.own.values():
            self._feed(session, Change(item, None))
        self._drop_if_empty(unit)

    def _linked(self, unit: Unit) -> Iterator[Unit]:
        if unit.links:
            other = UnitKind.JOB if unit.key.kind is UnitKind.SESSION else UnitKind.SESSION
            for linked in unit.links:
                yield self.units[UnitKey(other, linked)]

    def _feed(self, unit: Unit, change: Change) -> None:
        reopened = self._reopen(unit) if unit.closed else ()
        if change.old is None:
            unit.arrivals += 1
        changed = unit.evaluation.apply(change) if unit.evaluation is not None else ()
        if self._listeners:
            self._tell(Update(unit, change, sorted({*reopened, *changed}) if reopened else changed))

    def _reopen(self, unit: Unit) -> Sequence[int]:
        unit.closed = False
        unit.reopened += 1
        del self._finished[unit.key]
        return unit.evaluation.reopen() if unit.evaluation is not None else ()

    def _unit(self, key: UnitKey) -> Unit:
        unit = self.units.get(key)
        if unit is None:
            evaluation = self.program.unit(key.kind.value) if self.program is not None else None
            unit = self.units[key] = Unit(key, evaluation)
            if (gone := self._gone.get(key)) is not None:
                self._cut(unit, gone[0], own=gone[1])
            if key.kind is UnitKind.SESSION:
                self._sessions[key.id] = unit
                if self.limits.sessions is not None and len(self._sessions) > self.limits.sessions:
                    self._evict(spare=unit)
        return unit

    def _admit(self, unit: Unit) -> bool:
        limits = self.limits
        if limits.session_items is not None and len(unit.own) >= limits.session_items:
            self._cut_with_linked(unit, f"it has more items than the limit of {limits.session_items}")
        elif limits.bytes is None or unit.bytes < limits.bytes:
            return True
        else:
            self._cut_with_linked(unit, f"it is larger than the limit of {limits.bytes} bytes")
        unit.dropped += 1
        return False

    def _cut_with_linked(self, unit: Unit, cause: str) -> None:
        self._cut(unit, cause)
        for linked in self._linked(unit):
            self._cut(linked, f"{unit.key.kind} {unit.key.id} is not whole: {cause}", own=False)

    def _cut(self, unit: Unit, cause: str, *, own: bool = True) -> None:
        """`own` is false where only items are missing that it would have shared."""
        if own and unit.lost is None:
            unit.lost = cause
        if unit.cut is not None:
            return
        unit.cut = cause
        changed = unit.evaluation.cut(cause) if unit.evaluation is not None else ()
        self._tell(Update(unit, None, changed))

    def _evict(self, *, spare: Unit) -> bool:
        """Drop the unit that is finished and oldest, else the oldest; never the one that is being filled.

        False if there is none.
        """
        key = next((key for key in chain(self._finished, self.units) if key != spare.key), None)
        if key is None:
            return False
        victim = self.units[key]
        cause = "it was evicted to make room"
        self._cut(victim, cause)
        for unit in list(self._linked(victim)):
            self._cut(unit, f"{victim.key.kind} {victim.key.id} was evicted to make room", own=False)
            del unit.links[victim.key.id]
        self.items -= len(victim.own)
        self.bytes -= victim.bytes
        self.evicted += 1
        self._forget(victim)
        self.remember((victim.key,), "an earlier part of it was evicted to make room")
        self._tell(Update(victim, None, (), evicted=True))
        return True

    def _drop_if_empty(self, unit: Unit) -> None:
        if not unit.own and not unit.links and unit.key in self.units:
            self._forget(unit)
            self._tell(Update(unit, None, (), evicted=True))

    def _forget(self, unit: Unit) -> None:
        del self.units[unit.key]
        self._finished.pop(unit.key, None)
        if unit.key.kind is UnitKind.SESSION:
            del self._sessions[unit.key.id]

    def _tell(self, update: Update) -> None:
        for listener in self._listeners:
            listener(update)


def _trace_of(key: UnitKey) -> bytes | None:
    """The trace that a session has its name from, if it looks like that."""
    if key.kind is not UnitKind.SESSION or not _TRACE_NAME.fullmatch(key.id):
        return None
    return bytes.fromhex(key.id)


def _home(item: Item) -> UnitKey:
    if item.session is not None:
        return UnitKey(UnitKind.SESSION, item.session)
    if item.job is None:
        raise ValueError(f"item {item.id} has neither a session nor a job")
    return UnitKey(UnitKind.JOB, item.job)


def _replace(unit: Unit, old: Item, new: Item) -> None:
    if old.id == new.id:
        unit.own[new.id] = new
        return
    del unit.own[old.id]
    unit.own[new.id] = new
