"""Coding agents: whose events a log record, a span or a span event is, told by the name of the event."""

from typing import Final

from collector.conventions import claude_code, codex, gemini_cli
from collector.conventions.reading import Reading, Role
from collector.telemetry import Attributes, LogRecord, Span, SpanEvent

NOT_KEPT: Final = Reading("coding-agent", Role.OTHER)
"""Of a record that is a coding agent's and says nothing that is kept."""

_GEMINI: Final = frozenset({"gemini_cli", "qwen-code", "qwen_code"})


def event_name(event: str, attributes: Attributes, body: object = None) -> str:
    """The full name of an event. Codex writes a place in its source where the name belongs, and Claude Code a short
    name in the attribute and the full one as the body."""
    name = attributes.get("event.name")
    name = event if not isinstance(name, str) else name
    if isinstance(body, str) and "." not in name and body.startswith(claude_code.PREFIX) and body.endswith(name):
        return body
    return name


def read_log(log: LogRecord) -> Reading | None:
    """What the record of a coding agent says; None when it is no such record."""
    attributes = log.attributes
    name = event_name(log.event_name, attributes, log.body)
    prefix = name.partition(".")[0]
    if prefix == claude_code.PREFIX:
        return claude_code.read_log(log, name)
    if prefix == codex.PREFIX:
        return codex.read(attributes, name, log.time, place(log.trace_id, log.span_id)) or NOT_KEPT
    if prefix in _GEMINI:
        return gemini_cli.read(attributes, name, log.time)
    return NOT_KEPT if gemini_cli.repeats(attributes, name) else None


def is_event(event: SpanEvent) -> bool:
    """Whether an event on a span is a coding agent's, which only Codex writes: with a place in its source as name."""
    if not event.name.startswith(("event ", "codex.")):
        return False
    name = event.attributes.get("event.name")
    return isinstance(name, str) and name.startswith("codex.")


def read_event(event: SpanEvent, span: Span) -> Reading | None:
    """What an event for which `is_event` holds says; None when it says nothing that is kept."""
    attributes = event.attributes
    at = place(span.trace_id, span.span_id)
    return codex.read_in_trace(attributes, str(attributes["event.name"]), event.time, at)


def place(trace_id: bytes, span_id: bytes) -> str:
    """A span as a text, "" where there is none: what says that two records are of one moment."""
    return (trace_id + span_id).hex() if span_id else ""
