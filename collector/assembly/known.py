"""What is known of the traces by now: what an assembly answers when it is asked, and what it is asked of."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Final

from collector.assembly.executions import Execution
from collector.assembly.explained import ExplainedCall, Ignored, explained, explained_execution
from collector.assembly.owners import session_of
from collector.assembly.reports import Reported
from collector.assembly.tree import SIGNIFICANT, Node, Trace
from collector.assembly.unheard import unheard
from evaluator.items import NotRecorded

DECLARED: Final = 10_000
"""From how many declared tools on no more are kept: agents are not trusted to come to an end with them."""


class Known(ABC):
    """The traces. Asking changes nothing."""

    def __init__(self) -> None:
        self._traces: dict[bytes, Trace] = {}
        self._outside: dict[bytes, Trace] = {}
        """Those of them that are none: log records outside of any trace (see `part_of`)."""
        self._recorded: list[Execution] = []
        """The calls of trace-contract records, which are in no trace, to explain them."""
        self.declared: set[str] | None = None
        """The tools that agents say they have, at most `DECLARED`; None as long as none says it."""

    def _declare(self, names: frozenset[str] | None) -> None:
        if names is None:
            return
        if self.declared is None:
            self.declared = set()
        if len(self.declared) < DECLARED:
            self.declared |= names

    @abstractmethod
    def _settle_plain(self) -> None:
        """Give every span a node."""

    def sessions(self) -> Iterator[tuple[str, bytes]]:
        """The session and trace of every tool, model, agent and workflow span, with items or without, as known."""
        for trace_id, trace in self._traces.items():
            for node in trace.nodes.values():
                if node.role in SIGNIFICANT:
                    yield node.context.said or trace_id.hex(), trace_id
            for said in trace.plain_sessions:
                yield said or trace_id.hex(), trace_id

    def place_of(self, trace_id: bytes, span_id: bytes) -> tuple[str | None, str | None]:
        """The session and the job of a span as known by now; of a log record by its `log_id`. None: it names none."""
        if trace_id in self._traces and (plain := self._traces[trace_id].plain.get(span_id)) is not None:
            return plain.item.session, plain.item.job
        traces = [self._traces[trace_id]] if trace_id in self._traces else [] if trace_id else self._outside.values()
        node = next((trace.nodes[span_id] for trace in traces if span_id in trace.nodes), None)
        return (None, None) if node is None else (session_of(node.context, trace_id), node.context.job)

    def places_of(self, trace_id: bytes) -> set[tuple[str | None, str | None]]:
        """The session and the job of each span and log record of a trace, or of a part of what is in none."""
        trace = self._traces.get(trace_id)
        if trace is None:
            return set()
        plain = {(each.item.session, each.item.job) for each in trace.plain.values()}
        return plain | {(session_of(node.context, trace_id), node.context.job) for node in trace.nodes.values()}

    def reports_in(self, trace_id: bytes) -> bool:
        """Whether an agent tells in a trace what it does: turns and order are counted on from that."""
        trace = self._traces.get(trace_id)
        nodes = trace.nodes.values() if trace is not None else ()
        return any(isinstance(owner, Reported) for node in nodes for owner in node.owners)

    def size_of(self, trace_id: bytes) -> int:
        """How many spans and log records are kept of a trace."""
        trace = self._traces.get(trace_id)
        return 0 if trace is None else len(trace.nodes) + len(trace.plain)

    def blind(self) -> dict[str, NotRecorded]:
        """The sessions whose tool calls cannot be seen, with the reason that their spans give."""
        found: dict[str, NotRecorded | None] = {}
        for session, trace_id in self.sessions():
            trace = self._traces[trace_id]
            found[session] = None if trace.speaks or found.get(session, trace) is None else trace.unseen
        reported = {node.context.said for node in self._nodes() if any(isinstance(o, Reported) for o in node.owners)}
        for session, trace_id in self.sessions():
            if session not in reported and found[session] is None:
                found[session] = unheard(self._traces[trace_id])
        return {session: why for session, why in found.items() if why is not None}

    def _nodes(self) -> Iterator[Node]:
        return (node for trace in self._traces.values() for node in trace.nodes.values())

    def calls(self) -> list[ExplainedCall]:
        """Every call that telemetry shows, also those that have not happened, in order (see `explained`)."""
        found = [each for each in self._explained() if isinstance(each, ExplainedCall)]
        return sorted(found, key=lambda each: (each.call.started, each.position, each.call.ended))

    def ignored(self) -> list[Ignored]:
        """What looks like a call and counts as none, with the reason."""
        return [each for each in self._explained() if isinstance(each, Ignored)]

    def _explained(self) -> Iterator[ExplainedCall | Ignored]:
        self._settle_plain()
        for trace in self._traces.values():
            for node in trace.nodes.values():
                yield from explained(node)
        yield from map(explained_execution, self._recorded)
