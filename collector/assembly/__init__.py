"""Assembly: decoded telemetry in, in any order; changes of items out.

Conventions say what each span shows by itself; here it is put together: sessions from ancestors, the layers of one
call, what the model asked for, approvals. The items are the same for every order and batching of the same telemetry,
and what is delivered twice counts once.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from collector import conventions
from collector.assembly.columns import APPROVAL, DIFF_KEY, TEST_RUN
from collector.assembly.executions import Execution
from collector.assembly.owners import Happening, Happenings, Owner, changes_of, turn_of
from collector.assembly.tree import EMPTY, SIGNIFICANT, Context, Node, Trace, own_context, shared_context
from collector.conventions import trace_contract
from collector.conventions.reading import Reading, Role
from collector.telemetry import KIND_CONSUMER, KIND_SERVER, Batch, Scope, Span
from evaluator.harness.sighting import Sighting
from evaluator.items import Change


@dataclass(slots=True)
class Assembled:
    """What a batch did: to items, and which spans were in it (those that came before are not among them)."""

    changes: list[Change] = field(default_factory=list)
    sightings: list[Sighting] = field(default_factory=list)


class Assembly:
    """Puts telemetry together. Owned by one event loop."""

    def __init__(self) -> None:
        self._traces: dict[bytes, Trace] = {}
        self._dirty: dict[Owner, None] = {}
        self._shared: tuple[Scope | None, Context] = (None, EMPTY)
        self._records = 0

    def add(self, batch: Batch) -> Assembled:
        """Take in a batch, in any order with any other."""
        assembled = Assembled()
        for span in batch.spans:
            self._add_span(span, assembled.sightings)
        for record in batch.records:
            assembled.sightings.append(self._add_record(record))
        for owner in self._dirty:
            assembled.changes.extend(changes_of(owner))
        self._dirty.clear()
        return assembled

    def sessions(self) -> Iterator[tuple[str, bytes]]:
        """The session and trace of every tool, model, agent and workflow span, with items or without, as known now."""
        for trace_id, trace in self._traces.items():
            for node in trace.nodes.values():
                if node.role in SIGNIFICANT:
                    yield node.context.said or trace_id.hex(), trace_id

    def forget(self, trace_id: bytes) -> None:
        """Drop everything of a trace. What was said of it stands; its spans would count as new if they came again."""
        self._traces.pop(trace_id, None)

    def _add_span(self, span: Span, sightings: list[Sighting]) -> None:
        trace = self._traces.get(span.trace_id)
        if trace is None:
            trace = self._traces[span.trace_id] = Trace()
        elif span.span_id in trace.nodes:
            return
        reading = conventions.read(span)
        node = Node(span.trace_id, span.span_id)
        node.context = own_context(span, reading, self._shared_context(span))
        if reading is not None:
            node.role = reading.role
            node.agent_name = reading.agent
        self._own(node, span, reading)
        for changed in trace.place(node, span.parent_id):
            for owner in changed.owners:
                self._dirty[owner] = None
        for owner in node.owners:
            self._dirty[owner] = None
        sightings.append(_sighting(span, reading))

    def _own(self, node: Node, span: Span, reading: Reading | None) -> None:
        """Give the node what makes its items."""
        attributes = span.attributes
        if reading is not None and reading.tool is not None:
            item_id = (span.trace_id, span.span_id, None)
            execution = Execution(node, item_id, reading.tool, reading.convention, span.start, span.end, attributes)
            node.owners = (execution,)
        happenings = _happenings(span)
        if happenings:
            node.owners = (*node.owners, Happenings(node, turn_of(attributes), happenings))

    def _shared_context(self, span: Span) -> Context:
        scope = span.scope
        if self._shared[0] is not scope:
            self._shared = (scope, shared_context(scope.attributes, span.resource.attributes))
        return self._shared[1]

    def _add_record(self, record: Mapping[str, Any]) -> Sighting:
        reading = trace_contract.read(record)
        self._records += 1
        if reading.tool is not None:
            node = Node(b"", b"")
            node.context = shared_context(reading.context, {})
            item_id = (b"", b"", self._records)
            execution = Execution(
                node, item_id, reading.tool, trace_contract.NAME, reading.start, reading.end, reading.context
            )
            self._dirty[execution] = None
        return Sighting(
            b"", b"", b"", "", reading.role, (), reading.context.get, reading.start, reading.end, reading.declares
        )


def _happenings(span: Span) -> list[Happening]:
    attributes = span.attributes
    found = [
        Happening(index, event.name, event.time, event.attributes)
        for index, event in enumerate(span.events)
        if not event.name.startswith("gen_ai.")
    ]
    if span.name in (APPROVAL, TEST_RUN):
        found.append(Happening(None, span.name, span.start, attributes))
    elif DIFF_KEY in attributes:
        found.append(Happening(None, "", span.start, attributes))
    return found


def _sighting(span: Span, reading: Reading | None) -> Sighting:
    role = reading.role if reading is not None else Role.OTHER
    if role is Role.OTHER and span.kind in (KIND_SERVER, KIND_CONSUMER):
        role = Role.SERVER

    def context(key: str) -> Any:
        for attributes in (span.attributes, span.scope.attributes, span.resource.attributes):
            value = attributes.get(key)
            if value is not None:
                return value
        return None

    return Sighting(
        span.trace_id,
        span.span_id,
        span.parent_id,
        span.name,
        role,
        tuple(link.trace_id for link in span.links),
        context,
        span.start,
        span.end,
        reading.declares if reading is not None else None,
    )
