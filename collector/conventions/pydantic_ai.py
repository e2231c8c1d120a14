"""pydantic-ai, all formats of its instrumentation (corpus/CONVENTIONS.md, rows 1 and 2)."""

from typing import Final

from collector.conventions import genai
from collector.conventions.exceptions import suspension
from collector.conventions.reading import Reading, Role
from collector.telemetry import Span
from evaluator.items import CallStatus, NotRecorded

NAME: Final = "pydantic-ai"
CONTENT_OFF: Final = NotRecorded(
    "content capture is off", "use InstrumentationSettings(include_content=True), its default"
)


def read(span: Span) -> Reading | None:
    attributes = span.attributes
    operation = attributes.get("gen_ai.operation.name")
    if operation == "execute_tool" or (operation is None and "tool_arguments" in attributes):
        return _tool(span)
    if operation is None and span.name == "running tool" and "gen_ai.tool.name" in attributes:
        return _tool(span)
    if operation is None and span.name == "agent run":
        operation = "invoke_agent"
    return genai.read_operation(span, NAME, operation, CONTENT_OFF)


def _tool(span: Span) -> Reading:
    facts = genai.read_tool(
        span,
        absent=CONTENT_OFF,
        args_keys=("gen_ai.tool.call.arguments", "tool_arguments"),
        result_keys=("gen_ai.tool.call.result", "tool_response"),
    )
    deferral = span.attributes.get("pydantic_ai.tool.deferral.name")
    facts.held = f"pydantic_ai.tool.deferral.name={deferral}" if deferral else suspension(span)
    if facts.held:
        facts.status, facts.error = CallStatus.SUSPENDED, None
    return Reading(NAME, Role.TOOL, facts)
