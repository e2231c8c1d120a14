"""The assembly itself: what happens to each span, log record and trace-contract record."""

from collections.abc import Iterator, Mapping, Set
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from collector import conventions
from collector.assembly import columns, tree
from collector.assembly.assembled import Assembled
from collector.assembly.columns import DIFF_KEY, TOOL_KINDS
from collector.assembly.derived import CHECKOUTS, checkouts
from collector.assembly.executions import Execution
from collector.assembly.joins import Joins
from collector.assembly.known import Known
from collector.assembly.logs import log_id, part_of, raised_in
from collector.assembly.losses import CIRCLE, NAMELESS, SHARED_ID, Losses, events_dropped, surviving
from collector.assembly.origins import Origins, as_claimed, unread_log
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
from collector.assembly.repeated import fingerprint_of, told_apart
from collector.assembly.reports import Reported, Sessions
from collector.assembly.requests import Messages
from collector.assembly.sightings import of_record, of_span
from collector.assembly.tree import SIGNIFICANT, Context, Node, Trace, own_context, shared_context
from collector.assembly.unheard import unheard_request
from collector.assembly.visibility import Visibility
from collector.conventions import coding_agents, hangar, trace_contract
from collector.conventions.reading import Reading, Role
from collector.telemetry import KIND_SERVER, Batch, LogRecord, Span, SpanEvent
from evaluator.harness.sighting import Sighting
from evaluator.items import UNREADABLE_NAME, Change

if TYPE_CHECKING:
    from collector.mapping import Claims

MARKS: Final = conventions.KEYS | columns.KEYS | tree.KEYS | CHECKOUTS | {DIFF_KEY}
"""The attributes that decide what has to be looked at in a span at all; they are found in one pass over it."""


class Assembly(Known):
    """Puts telemetry together. Owned by one event loop."""

    def __init__(self, mapping: "Claims | None" = None, *, watched: bool = False) -> None:
        """What `mapping` claims, no convention reads.

        `watched` is for what goes on and on: each batch says of which sessions calls are seen, and which traces are
        not to be forgotten yet; and trace-contract records are not kept.
        """
        super().__init__()
        self._mapping = mapping
        self._origins = Origins()
        self.visibility = Visibility(self._traces) if watched else None
        self._placed: dict[Owner, None] = {}
        """Owners that are new, or whose ancestors are."""
        self._dirty: dict[Owner, None] = {}
        """Owners whose items may have changed."""
        self._joins = Joins(self._dirty.setdefault)
        self._plain = PlainCalls(self._trace, self._origins.context_of, self._joins.holding)
        self._sessions = Sessions(self._dirty.setdefault)
        self._losses = Losses()
        self._records = 0

    def add(self, batch: Batch, *, sight: bool = True) -> Assembled:
        """Take in a batch, in any order with any other. `sight` is false where nobody looks at the sightings."""
        assembled = Assembled()
        sightings = assembled.sightings if sight else None
        for span, error in surviving(batch.spans, partial(self._add_spans, assembled.changes, sightings)):
            self._losses.fail(error, self._unread(span))
        for log, error in surviving(batch.logs, self._add_logs):
            self._losses.fail(error, unread_log(log))
        for _, error in surviving(batch.records, partial(self._add_records, assembled.sightings)):
            self._losses.fail(error)
        self._register()
        self._joins.settle()
        for owner, error in surviving(self._affected(), partial(_bring_up_to_date, assembled.changes)):
            self._losses.fail(error, getattr(owner, "node", None))
        if self.visibility is not None:
            assembled.touched = tuple(self.visibility.touched)
            assembled.sights = self.visibility.settle(self._dirty)
        self._dirty.clear()
        assembled.losses, assembled.unread = self._losses.told(), self._losses.failed()
        return assembled

    def _add_spans(self, changes: list[Change], sightings: list[Sighting] | None, spans: Iterator[Span]) -> None:
        take = self._plain.take if self._mapping is None else _nothing
        for span in spans:
            item = take(span)
            if item is None:
                self._add_span(span, sightings)
                continue
            changes.append(Change(None, item))
            if self.visibility is not None:
                self.visibility.taken(span.trace_id, item)
            if sightings is not None:
                sightings.append(of_span(span, hangar.read(span)))

    def _add_logs(self, logs: Iterator[LogRecord]) -> None:
        for log in logs:
            self._add_log(log)

    def _add_records(self, sightings: list[Sighting], records: Iterator[Mapping[str, Any]]) -> None:
        for record in records:
            sightings.append(self._add_record(record))

    def _register(self) -> None:
        """Register whoever is new or below something new, and the plain calls that may have taken up a held one."""
        while self._placed:
            placed = list(self._placed)
            self._placed.clear()
            for owner, error in surviving(placed, _register):
                self._losses.fail(error, getattr(owner, "node", None))
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
        namesake = trace.nodes.get(span.span_id)
        if namesake is not None:
            apart = told_apart(trace, span, self._read)
            if apart is None:
                return
            span = apart
        marks, reading, own = self._read(span)
        node = Node(trace.id, span.span_id)
        node.fingerprint = fingerprint_of(span, reading)
        node.context = own
        if namesake is not None:
            self._losses.add(namesake, SHARED_ID)
            self._losses.add(node, SHARED_ID)
        if reading is not None:
            self._declare(reading.declares)
            if reading.unreadable:
                self._losses.add(node, reading.unreadable, unreadable=True)
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
                node.owners = (*node.owners, Happenings(node, turn_of(span.attributes), happenings, self._joins))
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

    def _read(self, span: Span) -> tuple[Set[str], Reading | None, Context]:
        """Which of `MARKS` the span has, what it shows by the mapping that claims it, or else by its convention, and
        where it says itself that it belongs."""
        marks = MARKS.intersection(span.attributes)
        reading = None if self._mapping is None else self._mapping.read_span(span)
        if reading is None:
            reading = conventions.read(span, marks)
        return marks, reading, self._origins.own_context(span, reading, marks)

    def _unread(self, span: Span) -> Node:
        """A node for a span that could not be read, so that its loss counts for the session that it is of."""
        trace = self._trace(span.trace_id)
        node = trace.nodes.get(span.span_id)
        if node is None:
            node = Node(trace.id, span.span_id)
            node.context = self._origins.context_of(span)
            self._place(trace, node, span.parent_id)
        return node

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
                execution.folders = self._origins.folders_of(span, marks)
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
            beside.context = own_context(event.attributes, reading, self._origins.shared_context(span))
            yield self._reported(beside, index, reading, "tool-span", event)

    def _own_messages(self, node: Node, trace: Trace, reading: Reading, times: tuple[int, int]) -> Messages:
        self._add_plain(trace)
        if any(asked.name == UNREADABLE_NAME for asked in reading.asked):
            self._losses.add(node, NAMELESS)
        messages = Messages(node, trace, reading, times, self._joins)
        node.owners = (messages,)
        trace.messages.append(messages)
        return messages

    def _place(self, trace: Trace, node: Node, parent_id: bytes) -> None:
        changed = trace.place(node, parent_id)
        if trace.circle:
            self._untie(trace, changed)
        for owner in node.owners:
            self._placed[owner] = None
        for other in changed:
            for owner in other.owners:
                self._placed[owner] = None
        if self.visibility is not None:
            self.visibility.placed(trace, node, changed)

    def _untie(self, trace: Trace, below: list[Node]) -> None:
        """Spans are each other's parents: no session that they may be of is whole."""
        ofnone = Node(trace.id, b"")
        ofnone.settled = True
        for node in (*trace.circle, ofnone):
            self._losses.add(node, CIRCLE)
        for node in (trace.circle[0], *below):
            for owner in node.owners:
                if isinstance(owner, Execution):
                    owner.detach()
        trace.circle = []

    def _add_log(self, log: LogRecord) -> None:
        reading = None if self._mapping is None else self._mapping.read_log(log)
        if reading is None:
            reading = conventions.read_log(log)
        shared = shared_context(log.scope.attributes, log.resource.attributes)
        context = as_claimed(own_context(log.attributes, reading, shared), reading)
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
            exception = max(exception, trace.raised.get(log.span_id, exception))
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

    def _raise(self, trace: Trace, span_id: bytes, exception: tuple[int, str, str]) -> None:
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


def _register(owners: Iterator[Owner]) -> None:
    for owner in owners:
        owner.register()


def _bring_up_to_date(changes: list[Change], owners: Iterator[Owner]) -> None:
    for owner in owners:
        changes.extend(changes_of(owner))


def _nothing(span: Span) -> None:
    """No span is plain where a mapping may claim it."""
