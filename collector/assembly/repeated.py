"""Spans whose ids have come before: sent again, or another span under an id that is taken.

Exporters send a span again when they are not sure that it arrived. An agent whose ids are not random may also give
two spans one id; each of them may be a call, so that the later one is taken in under an id of its own. What is below
them belongs to the one that came first, as nothing tells to which it does; so the sessions of both are not whole.
"""

import hashlib
from collections.abc import Callable, Iterator, Set
from dataclasses import replace
from typing import Any

from collector.assembly.columns import TOOL_KINDS
from collector.assembly.derived import checkouts
from collector.assembly.executions import Execution
from collector.assembly.owners import Happenings, happenings_of, turn_of
from collector.assembly.reports import Reported
from collector.assembly.requests import Messages
from collector.assembly.tree import Context, Node, Trace
from collector.assembly.unheard import unheard_request
from collector.conventions import coding_agents
from collector.conventions.reading import Reading
from collector.telemetry import Attributes, Span

Read = tuple[Set[str], Reading | None, Context]
"""Which attributes of a span decide what is to be looked at, what it shows, and where it says that it belongs."""


def fingerprint_of(span: Span, reading: Reading | None) -> int:
    """A number that is the same for a span that is sent again: cheap, since it is made of every span. It has what
    nothing else that is kept of a span tells."""
    return hash(_rest_of(span, reading))


def told_apart(trace: Trace, span: Span, read: Callable[[Span], Read]) -> Span | None:
    """A span with the id of a known one, under an id of its own; None if it is that one, sent again: nothing that is
    made of it differs."""
    while (known := trace.nodes.get(span.span_id)) is not None:
        marks, reading, own = read(span)
        told = _told_by(span, reading, own, marks)
        if known.fingerprint == fingerprint_of(span, reading) and told == list(_kept_of(known, trace)):
            return None
        span = _with_derived_id(span, told, reading)
    return span


def _told_by(span: Span, reading: Reading | None, own: Context, marks: Set[str]) -> list[str]:
    """What a span says, as far as anything is made of it; `own` is what it says of where it belongs."""
    role, agent = (None, None) if reading is None else (reading.role, reading.agent)
    unheard = reading is not None and unheard_request(span, reading) is not None
    told = [repr((own, role, agent, unheard))]
    if reading is not None:
        if reading.tool is not None:
            attributes = span.attributes
            folders = checkouts(attributes, span.resource.attributes) if reading.tool.name in TOOL_KINDS else ()
            told.append(_call(reading.tool, attributes, folders))
        elif reading.report is not None:
            told.append(_report(reading.report, checkouts(span.attributes, span.resource.attributes)))
        elif reading.asked or reading.shown or reading.holds:
            told.append(_messages(list(reading.asked), list(reading.shown), list(reading.holds)))
    happenings = happenings_of(span, marks, is_more=len(told) > 1)
    if happenings:
        told.append(_events(turn_of(span.attributes), happenings))
    for event in span.events:
        if coding_agents.is_event(event):
            found = coding_agents.read_event(event, span)
            if found is not None:
                told.append(_report(found.report, checkouts(event.attributes)))
    return told


def _with_derived_id(span: Span, told: list[str], reading: Reading | None) -> Span:
    """The span under an id that its id and content tell: the same whenever it comes again."""
    content = repr((span.span_id, _rest_of(span, reading), told)).encode(errors="surrogatepass")
    return replace(span, span_id=hashlib.blake2b(content, digest_size=8).digest())


def _kept_of(node: Node, trace: Trace) -> Iterator[str]:
    """What a known span told (see `_told_by`), by what is kept of it."""
    yield repr((node.own, node.role, node.agent_name, node in trace.unheard))
    for owner in node.owners:
        if isinstance(owner, Execution):
            yield _call(owner.facts, owner.attributes, owner.folders)
        elif isinstance(owner, Reported):
            yield _report(owner.report, owner.folders)
        elif isinstance(owner, Messages):
            asked, shown = [each.asked for each in owner.asked], [each.fact for each in owner.shown]
            yield _messages(asked, shown, list(owner.holds))
        elif isinstance(owner, Happenings):
            yield _events(owner.turn, list(owner.events))


def _rest_of(span: Span, reading: Reading | None) -> tuple[Any, ...]:
    return (
        span.name,
        span.start,
        span.end,
        span.parent_id,
        span.kind,
        len(span.attributes),
        span.dropped_events,
        reading is None or reading.blind is None,
    )


def _call(facts: object, attributes: Attributes, folders: tuple[str, ...]) -> str:
    return repr((facts, sorted(attributes.items()), folders))


def _report(report: object, folders: tuple[str, ...]) -> str:
    return repr((report, folders))


def _messages(*parts: list[Any]) -> str:
    return repr(parts)


def _events(turn: int | None, happenings: list[Any]) -> str:
    return repr((turn, happenings))
