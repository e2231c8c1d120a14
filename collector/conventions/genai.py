"""OpenTelemetry GenAI semantic conventions, old and new names (corpus/CONVENTIONS.md, section 6).

A tool call is a span with `gen_ai.operation.name` = `execute_tool`. What frameworks add of their own is read in their
own modules, which start from the functions here.
"""

from collections.abc import Mapping
from typing import Any, Final

from collector.conventions.exceptions import failure
from collector.conventions.messages import read_messages
from collector.conventions.payload import arguments, decoded, lost
from collector.conventions.reading import Reading, Role, ToolFacts
from collector.telemetry import Span
from evaluator.items import CallStatus, Json, NotRecorded

NAME: Final = "genai"

CONTENT_OFF: Final = NotRecorded(
    "content capture is off", "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_AND_EVENT"
)
UNSPECIFIED: Final = frozenset({"<not specified>", ""})
"""What stands where a call id should be when the framework has none (Google ADK, on failure)."""

ROLES: Final[Mapping[str, Role]] = {
    "chat": Role.MODEL,
    "generate_content": Role.MODEL,
    "text_completion": Role.MODEL,
    "invoke_agent": Role.AGENT,
    "create_agent": Role.OTHER,
    "invoke_workflow": Role.WORKFLOW,
}


def read(span: Span) -> Reading | None:
    operation = span.attributes.get("gen_ai.operation.name")
    if operation == "execute_tool":
        return Reading(NAME, Role.TOOL, read_tool(span))
    return read_operation(span, NAME, operation)


def read_tool(
    span: Span,
    *,
    absent: NotRecorded = CONTENT_OFF,
    args_keys: tuple[str, ...] = ("gen_ai.tool.call.arguments",),
    result_keys: tuple[str, ...] = ("gen_ai.tool.call.result",),
) -> ToolFacts:
    """The call that an `execute_tool` span shows. `absent` says why nothing is recorded where nothing is."""
    attributes = span.attributes
    name, name_from = attributes.get("gen_ai.tool.name"), "gen_ai.tool.name"
    if name is None:
        name, name_from = name_of(span.name), "span name"
    args, args_from = _first(attributes, args_keys)
    result, result_from = _first(attributes, result_keys)
    if args is None or result is None:
        absent = lost(span, absent)
    error, error_from = failure(span)
    call_id = attributes.get("gen_ai.tool.call.id")
    return ToolFacts(
        name=str(name),
        args=arguments(args, absent),
        result=absent if result is None else decoded(result),
        error=error,
        status=CallStatus.OK if error is None else CallStatus.ERROR,
        call_id=None if call_id is None or call_id in UNSPECIFIED else str(call_id),
        name_from=name_from,
        args_from=args_from,
        result_from=result_from,
        error_from=error_from,
    )


def name_of(span_name: str) -> str:
    """The tool's name in the span's: `execute_tool NAME`."""
    return span_name.removeprefix("execute_tool ").strip() or span_name


def read_operation(span: Span, convention: str, operation: Any, absent: NotRecorded = CONTENT_OFF) -> Reading | None:
    """A span of any other operation of these conventions; None when it is none that matters here."""
    role = ROLES.get(operation)
    if role is None:
        return None
    attributes = span.attributes
    reading = Reading(convention, role, agent=attributes.get("gen_ai.agent.name"))
    if role is Role.MODEL:
        read_messages(span, reading, absent)
    return reading


def _first(attributes: Mapping[str, Json], keys: tuple[str, ...]) -> tuple[Json, str]:
    for key in keys:
        value = attributes.get(key)
        if value is not None:
            return value, key
    return None, ""
