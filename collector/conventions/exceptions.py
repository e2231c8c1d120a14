"""How a span says that what it stands for failed, and with what text (corpus/CONVENTIONS.md, section 3, point 4)."""

from typing import Final

from collector.telemetry import STATUS_ERROR, Span
from evaluator.items import NotRecorded

NO_TEXT: Final = NotRecorded("the span says that the call failed and not how")
SUSPENDING: Final = frozenset({"GraphInterrupt", "NodeInterrupt", "ApprovalRequired", "CallDeferred"})
"""Exceptions that hold a call for a person; nothing failed (CONVENTIONS.md, 5.1, step 5)."""


def failure(span: Span) -> tuple[str | NotRecorded | None, str]:
    """The error text and where it came from; (None, "") when nothing failed. `error.type` alone is a text too."""
    kind = span.attributes.get("error.type")
    if span.status != STATUS_ERROR and kind is None:
        return None, ""
    message, event = "", ""
    for span_event in span.events:
        if span_event.name == "exception":
            message = str(span_event.attributes.get("exception.message") or "")
            event = str(span_event.attributes.get("exception.type") or "")
            break  # ADK writes the same exception twice
    if message:
        return message, "event exception: exception.message"
    if span.status_message:
        return span.status_message, "status description"
    text = span.attributes.get("error.message")
    if text:
        return str(text), "error.message"
    if event:
        return event, "event exception: exception.type"
    if kind:
        return str(kind), "error.type"
    return NO_TEXT, ""


def suspension(span: Span) -> str:
    """What says that the call was held by an exception that is none; "" when nothing does."""
    kind = span.attributes.get("error.type")
    if kind is not None and bare(kind) in SUSPENDING:
        return f"error.type={kind}"
    for event in span.events:
        if event.name == "exception":
            kind = event.attributes.get("exception.type")
            if kind is not None and bare(kind) in SUSPENDING:
                return f"event exception: {kind}"
    return ""


def bare(kind: object) -> str:
    """The name of an exception type without its module."""
    return str(kind).rpartition(".")[2]
