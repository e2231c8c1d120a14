"""Sightings: the neutral view of each span that the harness attributes to tests with."""

from functools import partial
from typing import Any, Final

from collector.assembly.requests import is_pseudo
from collector.assembly.unheard import unheard_request
from collector.conventions.reading import Reading, Role
from collector.conventions.trace_contract import RecordReading
from collector.telemetry import KIND_CONSUMER, KIND_SERVER, Span
from evaluator.harness.sighting import Sighting
from evaluator.items import UNREADABLE_NAME, Call, CallStatus

# Looking a member up in its enum is slow before Python 3.12.
_MODEL: Final = Role.MODEL
_OTHER: Final = Role.OTHER
_CARRIERS: Final = frozenset({Role.MODEL, Role.AGENT})
_REQUESTED: Final = CallStatus.REQUESTED


def of_span(span: Span, reading: Reading | None) -> Sighting:
    """A span as the harness sees it. A span that receives a request and is nothing else is a server."""
    role = _OTHER if reading is None else reading.role
    if role is _OTHER and span.kind in (KIND_SERVER, KIND_CONSUMER):
        role = Role.SERVER
    asks, answers = (
        _asks_and_answers(span, reading) if reading is not None and reading.role in _CARRIERS else ((), ())
    )
    return Sighting(
        span.trace_id,
        span.span_id,
        span.parent_id,
        span.name,
        role,
        tuple(link.trace_id for link in span.links) if span.links else (),
        partial(_context, span),
        span.start,
        span.end,
        None if reading is None else reading.declares,
        None if reading is None else reading.blind,
        asks,
        answers,
        reading is not None and reading.role is not _MODEL,
    )


def _asks_and_answers(span: Span, reading: Reading) -> tuple[tuple[Call, ...], tuple[str, ...]]:
    calls = [
        Call(asked.name, asked.args, started=span.end, call_id=asked.call_id, status=_REQUESTED)
        for asked in reading.asked
        if not asked.held and not is_pseudo(asked.name)
    ]
    unheard = unheard_request(span, reading)
    if unheard is not None:
        calls.append(Call(UNREADABLE_NAME, unheard, started=span.end, status=_REQUESTED))
    return tuple(calls), (*(shown.call_id for shown in reading.shown), *reading.holds)


def _context(span: Span, key: str) -> Any:
    for attributes in (span.attributes, span.scope.attributes, span.resource.attributes):
        value = attributes.get(key)
        if value is not None:
            return value
    return None


def of_record(reading: RecordReading) -> Sighting:
    """A trace-contract record as the harness sees it. It has no ids."""
    return Sighting(
        b"",
        b"",
        b"",
        "" if reading.tool is None else reading.tool.name,
        reading.role,
        (),
        reading.context.get,
        reading.start,
        reading.end,
        reading.declares,
    )
