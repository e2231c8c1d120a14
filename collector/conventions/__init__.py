"""Conventions: one module for each vocabulary in which agents say what they do.

A convention is chosen by an attribute, or by the span's name where there is none, never by the scope: two unrelated
packages share one scope name. The first of `CONVENTIONS` whose key a span has reads it; more special ones come first.
Adding one is adding a module here, and the payloads that show it.
"""

from collections.abc import Callable, Mapping, Set
from importlib import import_module
from typing import Final

from collector.conventions import claude_code, coding_agents, genai, hangar, logs
from collector.conventions.reading import Reading
from collector.telemetry import LogRecord, Span

Reader = Callable[[Span], Reading | None]


class Convention:
    """What reads the spans of a vocabulary: the function of a module, which is loaded with the first of them.

    An agent speaks one or two of them; loading all takes long beside a short test run.
    """

    __slots__ = ("_function", "module", "read")

    def __init__(self, module: str, function: str = "read") -> None:
        self.module = f"{__name__}.{module}"
        self._function = function
        self.read: Reader = self._read_first

    def _read_first(self, span: Span) -> Reading | None:
        self.read = getattr(import_module(self.module), self._function)
        return self.read(span)


_PYDANTIC_AI: Final = Convention("pydantic_ai")

CONVENTIONS: Final[tuple[tuple[str, Convention], ...]] = (
    ("openinference.span.kind", Convention("openinference")),
    ("traceloop.span.kind", Convention("traceloop")),
    ("ai.operationId", Convention("vercel_ai")),
    ("mcp.method.name", Convention("mcp")),
    ("mastra.span.type", Convention("mastra")),
    ("gcp.vertex.agent.event_id", Convention("google_adk")),
    # What pydantic-ai's spans carry and other GenAI spans do not.
    ("logfire.msg", _PYDANTIC_AI),
    ("gen_ai.event.start_time", Convention("strands")),
    # What version 7 of Vercel's SDK writes on agents and steps, next to its settings.
    ("ai.request.headers.user-agent", Convention("vercel_ai", "read_settings")),
    ("gen_ai.operation.name", Convention("genai")),
    # On model spans in the older format, with `gen_ai.prompt.N.*` and `gen_ai.completion.N.*`.
    ("llm.request.type", Convention("traceloop", "read_model")),
)
"""The attribute by which a convention is recognised, and what reads its spans."""

BY_NAME: Final[Mapping[str, Convention]] = {
    hangar.TOOL_CALL: Convention("hangar"),
    "running tool": _PYDANTIC_AI,
    "agent run": _PYDANTIC_AI,
    **dict.fromkeys(claude_code.SPANS, Convention("claude_code", "read_span")),
}
"""Conventions recognised by the whole name of the span; these are asked first."""


KEYS: Final = frozenset(key for key, _ in CONVENTIONS)


def read(span: Span, marks: Set[str]) -> Reading | None:
    """What the span shows, by the convention it follows; None when it follows none (HTTP, databases, queues).

    `marks` are those of its attributes that are in `KEYS`, and may be more: looking each of them up in attributes
    that decode lazily is what would cost most here.
    """
    convention = BY_NAME.get(span.name)
    if convention is not None:
        reading = convention.read(span)
        if reading is not None:
            return reading
    if KEYS.isdisjoint(marks):
        return genai.read_named(span) if span.name.startswith(genai.NAMED_TOOL) else None
    for key, convention in CONVENTIONS:
        if key in marks:
            reading = convention.read(span)
            if reading is not None:
                return reading
    return None


def read_log(log: LogRecord) -> Reading | None:
    """What the log record shows, as a coding agent's event or of messages to and from a model; None when nothing."""
    return coding_agents.read_log(log) or logs.read(log)
