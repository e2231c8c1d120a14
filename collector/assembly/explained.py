"""Explained calls: every call with where its parts came from, and what looks like a call and is none.

This is what `spanbar explain` and `spanbar doctor` show. Nothing on the way of live spans needs it.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from collector.assembly.executions import Execution
from collector.assembly.owners import session_of
from collector.assembly.pieces import PiecedCall
from collector.assembly.reports import Reported
from collector.assembly.requests import Messages, Request
from collector.assembly.tree import Node
from evaluator.items import Call, NotRecorded


@dataclass(frozen=True, slots=True)
class Layer:
    """One span or log record that shows the call. `span_id` of a log record is that of the span that it is of, or
    empty."""

    convention: str
    trace_id: bytes
    span_id: bytes
    source: str = "tool-span"
    """`log` for a log record."""


@dataclass(frozen=True, slots=True)
class ExplainedCall:
    """A call, whatever became of it. `*_from` say where its parts were read; "" where there is nothing."""

    call: Call
    session: str | None
    layers: tuple[Layer, ...]
    """The outermost first; empty when only messages to and from a model show the call."""
    name_from: str
    args_from: str
    result_from: str
    error_from: str
    held_by: str = ""
    """What says that the call was held for an approval."""
    position: int = 0
    """Its place in the message with which the model asked for it."""


@dataclass(frozen=True, slots=True)
class Ignored:
    """A span or a request that looks like a call and counts as none, and why."""

    name: str
    reason: str
    convention: str
    trace_id: bytes
    span_id: bytes


def explained(node: Node) -> Iterator[ExplainedCall | Ignored]:
    """What a span shows of calls."""
    for owner in node.owners:
        if isinstance(owner, Execution):
            yield explained_execution(owner)
        elif isinstance(owner, Messages):
            for request in owner.asked:
                yield from _explained_request(request)
        elif isinstance(owner, Reported) and owner.call is not None:
            yield from _explained_pieces(owner, owner.call)


def _explained_pieces(piece: Reported, of: PiecedCall) -> Iterator[ExplainedCall]:
    """The call that several records and spans report, once: with the first of them."""
    pieces, call = of.in_order(), of.call()
    if call is None or pieces[0][0] is not piece:
        return
    facts = of.facts()

    def source(field: str) -> str:
        recorded = (each for each in facts if not isinstance(getattr(each, field), NotRecorded))
        return next((getattr(each, f"{field}_from") for each in recorded), "")

    yield ExplainedCall(
        call,
        session_of(piece.node.context, piece.node.trace_id),
        tuple(Layer(each.report.convention, each.node.trace_id, each.span_id, each.source) for each, _ in pieces),
        next((each.name_from for each in facts if each.name_from), ""),
        source("args"),
        source("result"),
        next((each.error_from for each in facts if each.error_from), ""),
    )


def explained_execution(execution: Execution) -> ExplainedCall | Ignored:
    """What one tool span, or one trace-contract record, shows."""
    facts, node = execution.facts, execution.node
    if execution.outer is not None:
        outer = execution.outer
        reason = f"a layer of the call that span {outer.node.span_id.hex()} ({outer.convention}) shows"
        return Ignored(facts.name, reason, execution.convention, node.trace_id, node.span_id)
    if facts.phantom:
        return Ignored(facts.name, facts.phantom, execution.convention, node.trace_id, node.span_id)
    call, request = execution.call(), execution.joins.request_of(execution)
    if not call.status.happened and (run := execution.joins.resumed(execution)) is not None:
        reason = f"it was held, and is the call that span {run.node.span_id.hex()} ({run.convention}) shows"
        return Ignored(facts.name, reason, execution.convention, node.trace_id, node.span_id)
    layers = tuple(Layer(each.convention, each.node.trace_id, each.node.span_id) for each in execution.layers())
    return ExplainedCall(
        call,
        session_of(node.context, node.trace_id),
        layers,
        facts.name_from,
        _source(execution, "args", request),
        _source(execution, "result", request),
        next((each.facts.error_from for each in execution.layers() if each.facts.error_from), ""),
        next((each.facts.held for each in execution.layers() if each.facts.held), ""),
        0 if request is None else request.position,
    )


def _source(execution: Execution, field: str, request: Request | None) -> str:
    """Where a part of the call came from: the attribute, of which layer, or the message."""
    for layer in execution.layers():
        if not isinstance(getattr(layer.facts, field), NotRecorded):
            source: str = getattr(layer.facts, f"{field}_from")
            return source if layer is execution else f"{source} of span {layer.node.span_id.hex()}"
    if request is None or (field == "result" and not execution.call().status.happened):
        return ""
    if field == "args":
        recorded, source, messages = request.asked.args, request.asked.source, request.messages
    else:
        shown = execution.joins.shown_to(request)
        if shown is None:
            return ""
        recorded, source, messages = shown.fact.result, shown.fact.source, shown.messages
    return "" if isinstance(recorded, NotRecorded) else f"{source} of span {messages.span_id.hex()}"


def _explained_request(request: Request) -> Iterator[ExplainedCall | Ignored]:
    joins, messages, asked = request.joins, request.messages, request.asked
    node = request.node
    if joins.executed_by(request) is not None:
        return
    if messages.registered is None or joins.is_repeated(request):
        reason = "another span shows the same request of the model"
        yield Ignored(asked.name, reason, messages.convention, node.trace_id, messages.span_id)
        return
    call, shown = request.call(), joins.shown_to(request)
    yield ExplainedCall(
        call,
        session_of(node.context, node.trace_id),
        (),
        asked.source,
        "" if isinstance(asked.args, NotRecorded) else asked.source,
        "" if shown is None else f"{shown.fact.source} of span {shown.messages.span_id.hex()}",
        "" if shown is None or call.error is None else shown.fact.source,
        "the telemetry says that it waits for an approval" if joins.is_held(request) else "",
        request.position,
    )
