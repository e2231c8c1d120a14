"""Mastra: `mastra.span.type` (corpus/CONVENTIONS.md, row 26)."""

from collections.abc import Iterator, Mapping
from typing import Final

from collector.conventions import genai
from collector.conventions.messages import mappings, read_attributes, text_or_none
from collector.conventions.payload import arguments, decoded, identifier, tool_name
from collector.conventions.reading import Asked, Reading, Role, unreadable
from collector.conventions.switches import MASTRA
from collector.telemetry import Span
from evaluator.items import Json

NAME: Final = "mastra"
KEY: Final = "mastra.span.type"
STEP_OUTPUT: Final = "mastra.model_step.output"

ROLES: Final[Mapping[str, Role]] = {
    "agent_run": Role.AGENT,
    "workflow_run": Role.WORKFLOW,
    "model_generation": Role.OTHER,  # around the steps, which are the requests to the model
    "model_step": Role.MODEL,
    "model_inference": Role.MODEL,
    "llm_generation": Role.MODEL,
}
_SESSIONS: Final = tuple(
    f"mastra.metadata.{key}" for key in ("sessionId", "session_id", "threadId", "thread_id", "conversationId")
)


def read(span: Span) -> Reading:
    attributes = span.attributes
    kind = attributes.get(KEY)
    if kind in ("tool_call", "mcp_tool_call"):
        facts = genai.read_tool(
            span,
            absent=MASTRA,
            args_keys=("gen_ai.tool.call.arguments", "gen_ai.tool.input", "mastra.tool_call.input"),
            result_keys=("gen_ai.tool.call.result", "gen_ai.tool.output", "mastra.tool_call.output"),
        )
        facts.kind = "mcp" if kind == "mcp_tool_call" else None
        facts.unfinished = False
        reading = Reading(NAME, Role.TOOL, facts)
    elif not isinstance(kind, str):
        reading = unreadable(NAME, KEY)
    else:
        reading = Reading(NAME, ROLES.get(kind, Role.OTHER), agent=text_or_none(attributes.get("gen_ai.agent.name")))
        if reading.role is Role.MODEL or STEP_OUTPUT in attributes:
            reading.role = Role.MODEL
            read_attributes(attributes, reading, "gen_ai.output.messages")
            reading.asked = reading.asked or tuple(_asked(decoded(attributes.get(STEP_OUTPUT))))
    session, reading.session_from = genai.first_of(attributes, _SESSIONS)
    reading.session = text_or_none(session)
    return reading


def _asked(output: Json) -> Iterator[Asked]:
    for call in mappings(output.get("toolCalls") if isinstance(output, Mapping) else None):
        inner = call.get("payload")
        said = inner if isinstance(inner, Mapping) else call
        args = arguments(said.get("args", said.get("input")), MASTRA)
        yield Asked(tool_name(said.get("toolName")), args, identifier(said.get("toolCallId")), STEP_OUTPUT)
