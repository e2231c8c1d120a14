"""Owners: what makes items of one span, one log record or one trace-contract record.

An owner keeps the facts and computes its items from them whenever it is asked; `emitted` is what it computed the last
time, and the difference is what the index is told.
"""

from collections.abc import Sequence, Set
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from collector.assembly.columns import (
    APPROVAL,
    DIFF_FILES,
    DIFF_KEY,
    TEST_RUN,
    Place,
    diff_item,
    happening_item,
    integer,
)
from collector.assembly.tree import Context, Node
from collector.conventions import coding_agents
from collector.telemetry import Attributes, Span
from evaluator.items import Change, Item

if TYPE_CHECKING:
    from collector.assembly.joins import Joins

NO_ITEMS: tuple[Item, ...] = ()

NAMED: Final = (APPROVAL, TEST_RUN)
"""Names that make a span an event."""
_OUTCOMES: Final = frozenset(
    {"hangar.approval.status", "hangar.test.status", "test.suite.run.status", "hangar.status"}
)


class Owner(Protocol):
    emitted: tuple[Item, ...]

    def register(self) -> None:
        """Take into account what is now known of the ancestors, and mark for it whoever may have changed."""

    def unregister(self) -> None:
        """Withdraw from the joins."""

    def items(self) -> tuple[Item, ...]: ...


def session_of(context: Context, trace_id: bytes) -> str | None:
    """The session that telemetry names; none for an item that only names its job; else the trace (SEMANTICS.md)."""
    said = context.said
    if said is not None:
        return said
    return None if context.job is not None or not trace_id else trace_id.hex()


def changes_of(owner: Owner) -> Sequence[Change]:
    """Bring what `owner` emitted up to date. Returns what changed."""
    old, new = owner.emitted, owner.items()
    if old is new or (not old and not new):
        return ()
    owner.emitted = new
    if not old:
        return [Change(None, new[0])] if len(new) == 1 else [Change(None, item) for item in new]
    before = {item.id: item for item in old}
    changes = []
    for item in new:
        known = before.pop(item.id, None)
        if known is None or known != item:
            changes.append(Change(known, item))
    changes.extend(Change(item, None) for item in before.values())
    return changes


class Happening(NamedTuple):
    """An event as it arrived. `index` completes the id of its items: it tells the events of one span apart."""

    index: Any
    name: str
    """"" for what only carries the list of delivered files."""
    time: int
    attributes: Attributes


def happenings_of(span: Span, marks: Set[str], *, is_more: bool) -> list[Happening]:
    """The events of a span, the span itself where its name makes it one, and what lists the delivered files.

    `is_more`: the span has been read as something else, such as the call of a tool that is named so. It is an event
    beside that only where it says how it went.
    """
    attributes = span.attributes
    found = [
        Happening(index, event.name, event.time, event.attributes)
        for index, event in enumerate(span.events)
        if not event.name.startswith(("gen_ai.", "tool.output")) and not coding_agents.is_event(event)
    ]
    if span.name in NAMED and not is_more:
        found.append(Happening(None, span.name, span.start, attributes))
    elif span.name in NAMED and not _OUTCOMES.isdisjoint(attributes):
        found.append(Happening("named", span.name, span.start, attributes))
    elif DIFF_KEY in marks:
        found.append(Happening(None, "", span.start, attributes))
    return found


class Happenings:
    """The events of one span, or one log record."""

    __slots__ = ("emitted", "events", "joins", "node", "turn")

    def __init__(self, node: Node, turn: int | None, events: Sequence[Happening], joins: "Joins") -> None:
        self.node = node
        self.turn = turn
        """The turn of the span, for the events that have none of their own."""
        self.events = events
        self.joins = joins
        self.emitted = NO_ITEMS

    def register(self) -> None:
        self.joins.mark(self)

    def unregister(self) -> None:
        pass

    def items(self) -> tuple[Item, ...]:
        items = []
        node, turn = self.node, self.turn
        for index, name, time, attributes in self.events:
            context = own_event_context(attributes, node.context)
            session = session_of(context, node.trace_id)
            if session is None and context.job is None:
                continue  # it is in no trace and names neither: there is nobody whose it could be
            item_id = (node.trace_id, node.span_id, index)
            if name:
                items.append(happening_item(Place(item_id, session, context.job, turn), name, time, attributes))
            files = attributes.get(DIFF_KEY)
            if isinstance(files, list | tuple):
                paths = tuple(str(path) for path in files)
                place = Place((*item_id, DIFF_FILES), session, context.job, turn)
                items.append(diff_item(place, paths, time, attributes))
        return tuple(items)


def own_event_context(attributes: Attributes, above: Context) -> Context:
    """An event takes session and job of its span unless it has its own (SEMANTICS.md, section 6)."""
    hangar, session = attributes.get("hangar.session.id"), attributes.get("session.id")
    conversation, job = attributes.get("gen_ai.conversation.id"), attributes.get("hangar.job.id")
    if hangar is None and session is None and conversation is None and job is None:
        return above
    job_said = above.job if job is None else str(job)
    if hangar is None and session is None and conversation is None:
        return above._replace(job=job_said)
    own = [None if value is None else str(value) for value in (hangar, session, conversation)]
    return Context(own[0], own[1], own[2], None, job_said)


def turn_of(attributes: Attributes) -> int | None:
    return integer(attributes.get("hangar.turn"))
