"""Conventions: one module for each vocabulary in which agents say what they do.

A convention is chosen by an attribute, or by the span's name where there is none, never by the scope: two unrelated
packages share one scope name. The first of `CONVENTIONS` whose key a span has reads it; more special ones come first.
Adding one is adding a module here, and the payloads that show it.
"""

from collections.abc import Callable, Mapping, Set
from typing import Final

from collector.conventions import (
    claude_code,
    coding_agents,
    genai,
    google_adk,
    hangar,
    logs,
    mastra,
    mcp,
    openinference,
    pydantic_ai,
    strands,
    traceloop,
    vercel_ai,
)
from collector.conventions.reading import Reading
from collector.telemetry import LogRecord, Span

Reader = Callable[[Span], Reading | None]

CONVENTIONS: Final[tuple[tuple[str, Reader], ...]] = (
    (openinference.KIND, openinference.read),
    (traceloop.KEY, traceloop.read),
    (vercel_ai.KEY, vercel_ai.read),
    (mcp.KEY, mcp.read),
    (mastra.KEY, mastra.read),
    (google_adk.KEY, google_adk.read),
    (pydantic_ai.KEY, pydantic_ai.read),
    (strands.KEY, strands.read),
    (vercel_ai.SETTINGS_KEY, vercel_ai.read_settings),
    (genai.OPERATION, genai.read),
    (traceloop.MODEL_KEY, traceloop.read_model),
)
"""The attribute by which a convention is recognised, and what reads its spans."""

BY_NAME: Final[Mapping[str, Reader]] = {
    hangar.TOOL_CALL: hangar.read,
    "running tool": pydantic_ai.read,
    "agent run": pydantic_ai.read,
    **dict.fromkeys(claude_code.SPANS, claude_code.read_span),
}
"""Conventions recognised by the whole name of the span; these are asked first."""


KEYS: Final = frozenset(key for key, _ in CONVENTIONS)


def read(span: Span, marks: Set[str]) -> Reading | None:
    """What the span shows, by the convention it follows; None when it follows none (HTTP, databases, queues).

    `marks` are those of its attributes that are in `KEYS`, and may be more: looking each of them up in attributes
    that decode lazily is what would cost most here.
    """
    reader = BY_NAME.get(span.name)
    if reader is not None:
        reading = reader(span)
        if reading is not None:
            return reading
    if KEYS.isdisjoint(marks):
        return genai.read_named(span) if span.name.startswith(genai.NAMED_TOOL) else None
    for key, reader in CONVENTIONS:
        if key in marks:
            reading = reader(span)
            if reading is not None:
                return reading
    return None


def read_log(log: LogRecord) -> Reading | None:
    """What the log record shows, as a coding agent's event or of messages to and from a model; None when nothing."""
    return coding_agents.read_log(log) or logs.read(log)
