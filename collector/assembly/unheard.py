"""Unheard requests: calls that a model asked for and of which nothing shows what came of them, or which they were.

Where a tool span is in the trace, a call that ran would have one too: the request waits, or was refused. So it is
where a framework that runs agents has spans there, and no model was shown a result of the call. Where there are spans
of a model's client alone, or the span does not say which call it was, it may have run.
"""

from collections.abc import Iterator
from typing import Final

from collector.assembly.requests import Messages, Request, is_pseudo
from collector.assembly.tree import Node, Trace
from collector.conventions.payload import CUT, decoded
from collector.conventions.reading import Reading, Role
from collector.telemetry import Span
from evaluator.items import NotRecorded

_MODEL: Final = Role.MODEL
_FINISHES: Final = (
    "gen_ai.response.finish_reasons",
    "gen_ai.completion.0.finish_reason",
    "ai.response.finishReason",
    "llm.finish_reason",
)
_FOR_TOOLS: Final = frozenset({"tool_calls", "tool_call", "tool_use", "tooluse", "function_call"})
NAMELESS: Final = NotRecorded("the model asked for tools, and its span does not say which")


def unheard_request(span: Span, reading: Reading) -> NotRecorded | None:
    """Why a model span that asks for tools does not say for which; None where it says it, or asks for none."""
    if reading.role is not _MODEL or reading.asked:
        return None
    if reading.blind is CUT:
        return CUT  # what is left of the message may lack the calls
    for key in _FINISHES:
        value = span.attributes.get(key)
        if value is None:
            continue
        value = decoded(value)
        reasons = value if isinstance(value, list | tuple) else (value,)
        if any(isinstance(each, str) and each.lower().replace("-", "_") in _FOR_TOOLS for each in reasons):
            return reading.blind or NAMELESS
    return None


def unheard(trace: Trace) -> NotRecorded | None:
    """Why it is not known which tools were called in the trace although a model asked for some."""
    if trace.has_tools:
        return None
    for node, why in sorted(trace.unheard.items(), key=lambda entry: entry[0].span_id):
        if not any(messages.asked and _are_of(messages, node) for messages in trace.messages):
            return why
    if trace.framed:
        return None
    for request in _open(trace):
        return NotRecorded(
            f"the model asked for {request.asked.name}, and nothing shows whether it ran",
            "instrument what runs the tools, so that calls have spans of their own",
        )
    return None


def _are_of(messages: Messages, node: Node) -> bool:
    """Whether they are what the model of this span said: in a log record, or a span in it or around it."""
    around = messages.node.context.near
    return messages.span_id == node.span_id or around is node or node.context.near is messages.node


def _open(trace: Trace) -> Iterator[Request]:
    for messages in sorted(trace.messages, key=lambda each: (each.started, each.node.unique)):
        if messages.registered is None:
            continue
        joins = messages.joins
        for request in messages.asked:
            if is_pseudo(request.asked.name) or joins.is_held(request) or joins.is_repeated(request):
                continue
            if joins.executed_by(request) is None and joins.shown_to(request) is None:
                yield request
