"""The assembly itself: what happens to each span, log record and trace-contract record."""

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from collector import conventions
from collector.assembly import columns, tree
from collector.assembly.columns import DIFF_KEY, TOOL_KINDS
from collector.assembly.derived import CHECKOUT_KEYS, checkouts
from collector.assembly.executions import Execution
from collector.assembly.joins import Joins
from collector.assembly.known import Known
from collector.assembly.logs import log_id, part_of, raised_in
from collector.assembly.losses import NAMELESS, Loss, Losses, events_dropped
from collector.assembly.owners import (
    NAMED,
    Happening,
    Happenings,
    Owner,
    changes_of,
    happenings_of,
    turn_of,
)
from collector.assembly.plain import PlainCalls
from collector.assembly.repeated import fingerprint_of, is_sent_again, with_derived_id
from collector.assembly.reports import Reported, Sessions
from collector.assembly.requests import Messages
from collector.assembly.sightings import of_record, of_span
from collector.assembly.tree import EMPTY, SIGNIFICANT, Context, Node, OwnContexts, Trace, own_context, shared_context
from collector.assembly.unheard import unheard_request
from collector.assembly.visibility import Sight, Visibility
from collector.conventions import coding_agents, hangar, trace_contract
from collector.conventions.reading import Reading, Role
from collector.telemetry import KIND_SERVER, Batch, LogRecord, Resource, Scope, Span, SpanEvent
from evaluator.harness.sighting import Sighting
from evaluator.items import UNREADABLE_NAME, Change

if TYPE_CHECKING:
    from collector.mapping import Claims

CHECKOUTS: Final = frozenset(CHECKOUT_KEYS)
MARKS: Final = conventions.KEYS | columns.KEYS | tree.KEYS | CHECKOUTS | {DIFF_KEY}
"""The attributes that decide what has to be looked at in a span at all; they are found in one pass over it."""


@dataclass(slots=True)
class Assembled:
    """What a batch did: to items, and which spans were in it (those that came before are not among them)."""

    changes: list[Change] = field(default_factory=list)
    sightings: list[Sighting] = field(default_factory=list)
    losses: list[Loss] = field(default_factory=list)
    """What is known to be missing of sessions and jobs, or is unreadable: none of them is whole."""
    sights: list[Sight] = field(default_factory=list)
    """Of which sessions tool calls cannot be seen or again can, where the assembly is `watched`."""
    touched: tuple[bytes, ...] = ()
    """The traces that something new is of, and parts of what is in none, where the assembly is `watched`."""


class Assembly(Known):
    """Puts telemetry together. Owned by one event loop."""

    def __init__(self, mapping: "Claims | None" = None, *, watched: bool = False) -> None:
        """What `mapping` claims, no convention reads.

        `watched` is for what goes on and on: each batch says of which sessions calls are seen, and which traces are
        not to be forgotten yet; and trace-contract records are not kept.
        """
        super().__init__()
        self._mapping = mapping
        self.visibility = Visibility(self._traces) if watched else None
        self._placed: dict[Owner, None] = {}
        """Owners that are new, or whose ancestors are."""
        self._dirty: dict[Owner, None] = {}
        """Owners whose items may have changed."""
        self._joins = Joins(self._dirty.setdefault)
        self._plain = PlainCalls(self._trace, self._context_of, self._joins.holding)
        self._sessions = Sessions(self._dirty.setdefault)
        self._shared: tuple[Scope | None, Context] = (None, EMPTY)
        self._contexts = OwnContexts()
        self._folders: tuple[Resource | None, tuple[str, ...]] = (None, ())
        """The last resource, and the checkouts that it names."""
        self._losses = Losses()
        self._records = 0

    def add(self, batch: Batch, *, sight: bool = True) -> Assembled:
        """Take in a batch, in any order with any other. `sight` is false where nobody looks at the sightings."""
        assembled = Assembled()
        sightings = assembled.sightings if sight else None
        take = self._plain.take if self._mapping is None else _nothing
        for span in batch.spans:
            item = take(span)
            if item is None:
                self._add_span(span, sightings)
                continue
            assembled.changes.append(Change(None, item))
            if self.visibility is not None:
                self.visibility.taken(span.trace_id, item)
            if sightings is not None:
                sightings.append(of_span(span, hangar.read(span)))
        for log in batch.logs:
            self._add_log(log)
        for record in batch.records:
            assembled.sightings.append(self._add_record(record))
        self._register()
        self._joins.settle()
        for owner in self._affected():
            assembled.changes.extend(changes_of(owner))
        if self.visibility is not None:
            assembled.touched = tuple(self.visibility.touched)
            assembled.sights = self.visibility.settle(self._dirty)
        self._dirty.clear()
        assembled.losses = self._losses.told()
        return assembled

    def _register(self) -> None:
        """Register whoever is new or below something new, and the plain calls that may have taken up a held one."""
        while self._placed:
            placed = list(self._placed)
            self._placed.clear()
            for owner in placed:
                owner.register()
            for trace in self._plain.beside_held():
                self._add_plain(trace)

    def _affected(self) -> list[Owner]:
        """The owners that have changed, and those that read their answers."""
        pending = list(self._dirty)
        for owner in pending:
            if isinstance(owner, Execution) and not owner.is_open:
                continue
            for reader in self._joins.affected(owner):
                if reader not in self._dirty:
                    self._dirty[reader] = None
                    pending.append(reader)
        return pending

    def forget(self, trace_id: bytes) -> bool:
        """Drop everything of a trace. What was said of it stands; its spans would count as new if they came again.

        Whether a span in it still waited for its parent, which may have named its session.
        """
        trace = self._traces.pop(trace_id, None)
        self._outside.pop(trace_id, None)
        if trace is not None:
            self._plain.forget(trace)
            for node in trace.nodes.values():
                for owner in node.owners:
                    owner.unregister()
                node.owners = ()  # they hold the node: without these cycles it goes at once
                node.above = None
            self._joins.settle()
            self._dirty.clear()
            if self.visibility is not None:
                self.visibility.forget(trace_id)
        return trace is not None and bool(trace.waiting)

    def _add_span(self, span: Span, sightings: list[Sighting] | None) -> None:
        trace = self._trace(span.trace_id)
        if trace.plain:
            self._add_plain(trace, span.span_id, span.parent_id)
        fingerprint = fingerprint_of(span)
        while (known := trace.nodes.get(span.span_id)) is not None:
            if is_sent_again(known, span, fingerprint):
                return
            span = with_derived_id(span)
        attributes = span.attributes
        marks = MARKS.intersection(attributes)
        reading = None if self._mapping is None else self._mapping.read_span(span)
        if reading is None:
            reading = conventions.read(span, marks)
        node = Node(trace.id, span.span_id)
        node.fingerprint = fingerprint
        context = self._shared_context(span)
        if (reading is not None and reading.session is not None) or not tree.KEYS.isdisjoint(marks):
            context = self._contexts.of(attributes, reading, context)
        node.context = context
        if reading is not None:
            self._declare(reading.declares)
            if reading.claimed:
                node.context = _as_claimed(context, reading)
            node.role, node.agent_name = reading.role, reading.agent
            if reading.role is not Role.MODEL:
                trace.framed = True
            if reading.blind is not None:
                trace.unseen = reading.blind
            elif reading.role in SIGNIFICANT:
                trace.speaks = True
            if reading.role is Role.MODEL and (why := unheard_request(span, reading)) is not None:
                trace.unheard[node] = why
            self._own(node, trace, span, reading, marks)
            if reading.tool is not None:
                node.owners[0].has_columns = not columns.KEYS.isdisjoint(marks)
        if span.events or DIFF_KEY in marks or span.name in NAMED:
            happenings = happenings_of(span, marks, is_more=bool(node.owners))
            if happenings:
                node.owners = (*node.owners, Happenings(node, turn_of(attributes), happenings, self._joins))
            for index, event in enumerate(span.events):
                if coding_agents.is_event(event):
                    node.owners = (*node.owners, *self._reported_event(span, index, event))
        if not trace.unasked and not span.parent_id and span.kind != KIND_SERVER:
            self._unask(trace)
        if span.dropped_events:
            self._losses.add(node, events_dropped(span.dropped_events))
        self._place(trace, node, span.parent_id)
        if sightings is not None:
            sightings.append(of_span(span, reading))

    def _add_plain(self, trace: Trace, *span_ids: bytes) -> None:
        """Add plain calls of a trace as other spans are, as something else speaks of them: these, or all."""
        for plain in self._plain.due(trace, *span_ids):
            self._add_span(plain.span(), None)
            trace.nodes[plain.item.id[1]].owners[0].emitted = (plain.item,)

    def _settle_plain(self) -> None:
        for trace in self._traces.values():
            self._add_plain(trace)
        self._register()
        self._dirty.clear()  # their items are those that were told

    def _unask(self, trace: Trace) -> None:
        trace.unasked = True
        for execution in trace.unanswered:
            execution.unasked = True
            self._placed[execution] = None

    def _own(self, node: Node, trace: Trace, span: Span, reading: Reading, marks: Set[str]) -> None:
        """Give the node what makes its items."""
        times = span.start, span.end
        if reading.tool is not None:
            item_id = (node.trace_id, node.span_id, None)
            facts, attributes = reading.tool, span.attributes
            execution = Execution(node, item_id, facts, reading.convention, *times, attributes, self._joins)
            if facts.name == UNREADABLE_NAME:
                self._losses.add(node, NAMELESS)
            if trace.raised:
                execution.raised = trace.raised.get(node.span_id)
            if facts.answered and facts.unfinished:
                execution.unasked = trace.unasked
                trace.unanswered.append(execution)
            if facts.name in TOOL_KINDS:
                execution.folders = self._folders_of(span, marks)
            node.owners = (execution,)
            if not trace.has_tools:
                trace.has_tools = True
                for messages in trace.messages:
                    self._placed[messages] = None
        elif reading.report is not None:
            node.owners = (self._reported(node, None, reading, "tool-span", span),)
        elif reading.asked or reading.shown or reading.holds:
            self._own_messages(node, trace, reading, times)

    def _reported(
        self, node: Node, index: Any, reading: Reading, source: str, record: Span | LogRecord | SpanEvent
    ) -> Reported:
        if reading.report is None:
            raise ValueError("the reading reports nothing")
        resource = {} if isinstance(record, SpanEvent) else record.resource.attributes
        folders = checkouts(record.attributes, resource)
        tool = None if reading.report.call is None else reading.report.call.tool
        if tool is not None and tool.name == UNREADABLE_NAME:
            self._losses.add(node, tool.nameless or NAMELESS)
        return Reported(node, index, reading.report, source, folders, self._sessions)

    def _reported_event(self, span: Span, index: int, event: SpanEvent) -> Iterator[Reported]:
        """What an event on a span reports. It names its session itself, so it stands beside the tree of its trace."""
        reading = coding_agents.read_event(event, span)
        if reading is not None:
            beside = Node(span.trace_id, span.span_id)
            beside.context = own_context(event.attributes, reading, self._shared_context(span))
            yield self._reported(beside, index, reading, "tool-span", event)

    def _own_messages(self, node: Node, trace: Trace, reading: Reading, times: tuple[int, int]) -> Messages:
        self._add_plain(trace)
        messages = Messages(node, trace, reading, times, self._joins)
        node.owners = (messages,)
        trace.messages.append(messages)
        return messages

    def _place(self, trace: Trace, node: Node, parent_id: bytes) -> None:
        changed = trace.place(node, parent_id)
        for owner in node.owners:
            self._placed[owner] = None
        for other in changed:
            for owner in other.owners:
                self._placed[owner] = None
        if self.visibility is not None:
            self.visibility.placed(trace, node, changed)

    def _add_log(self, log: LogRecord) -> None:
        reading = None if self._mapping is None else self._mapping.read_log(log)
        if reading is None:
            reading = conventions.read_log(log)
        shared = shared_context(log.scope.attributes, log.resource.attributes)
        context = _as_claimed(own_context(log.attributes, reading, shared), reading)
        trace = self._trace(log.trace_id or part_of(context))
        if not log.trace_id:
            self._outside[trace.id] = trace
        if trace.plain:
            self._add_plain(trace, log.span_id)
        node = Node(log.trace_id, log_id(log))
        if node.span_id in trace.nodes:
            return
        node.context = context
        exception = raised_in(log)
        if exception is not None and log.span_id:
            trace.raised[log.span_id] = exception
            self._raise(trace, log.span_id, exception)
        if reading is not None and reading.report is not None:
            reported = self._reported(node, None, reading, "log", log)
            reported.span_id = log.span_id
            node.owners = (reported,)
        elif reading is not None:
            trace.speaks = True
            self._own_messages(node, trace, reading, (log.time, log.time)).span_id = log.span_id
        elif log.event_name:
            happening = Happening("log", log.event_name, log.time, log.attributes)
            node.owners = (Happenings(node, turn_of(log.attributes), (happening,), self._joins),)
        self._place(trace, node, log.span_id)

    def _raise(self, trace: Trace, span_id: bytes, exception: tuple[str, str]) -> None:
        node = trace.nodes.get(span_id)
        for owner in node.owners if node is not None else ():
            if isinstance(owner, Execution):
                owner.raised = exception
                self._placed[owner] = None

    def _add_record(self, record: Mapping[str, Any]) -> Sighting:
        reading = trace_contract.read(record)
        self._declare(reading.declares)
        if reading.tool is not None:
            node = Node(b"", b"")
            node.settled = True
            node.context = shared_context(reading.context, {})
            if node.context.said is None and node.context.job is None:
                node.context = node.context._replace(framework=trace_contract.session_of(reading.context))
            item_id = (b"", b"", self._records)
            self._records += 1
            times = reading.start, reading.end
            convention = trace_contract.NAME
            execution = Execution(node, item_id, reading.tool, convention, *times, reading.context, self._joins)
            if self.visibility is None:
                self._recorded.append(execution)
            if reading.tool.name == UNREADABLE_NAME:
                self._losses.add(node, NAMELESS)
            self._dirty[execution] = None
        return of_record(reading)

    def _trace(self, trace_id: bytes) -> Trace:
        trace = self._traces.get(trace_id)
        if trace is None:
            trace = self._traces[trace_id] = Trace(trace_id)
        return trace

    def _folders_of(self, span: Span, marks: Set[str]) -> tuple[str, ...]:
        """The checkouts that the span names, or its resource."""
        resource = span.resource
        if not CHECKOUTS.isdisjoint(marks):
            return checkouts(span.attributes, resource.attributes)
        if self._folders[0] is not resource:
            self._folders = (resource, checkouts(resource.attributes))
        return self._folders[1]

    def _context_of(self, span: Span) -> Context:
        """What the span says itself, or its scope or resource."""
        return self._contexts.of(span.attributes, None, self._shared_context(span))

    def _shared_context(self, span: Span) -> Context:
        scope = span.scope
        if self._shared[0] is not scope:
            self._shared = (scope, shared_context(scope.attributes, span.resource.attributes))
        return self._shared[1]


def _nothing(span: Span) -> None:
    """No span is plain where a mapping may claim it."""


def _as_claimed(context: Context, reading: Reading | None) -> Context:
    """The context with the session and the job that a mapping says: its word is the user's own."""
    if reading is None or not reading.claimed:
        return context
    return context._replace(hangar=reading.session or context.hangar, job=reading.job or context.job)
