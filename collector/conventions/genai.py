"""OpenTelemetry GenAI semantic conventions, old and new names (corpus/CONVENTIONS.md, section 6).

A tool call is a span with `gen_ai.operation.name` = `execute_tool`. What frameworks add of their own is read in their
own modules, which start from the functions here.
"""

from collections.abc import Mapping
from typing import Any, Final

from collector.conventions.definitions import declared
from collector.conventions.exceptions import failure, suspension
from collector.conventions.messages import read_messages, text_or_none
from collector.conventions.payload import NO_RESULT, arguments, decoded, identifier, lost, missing_result, tool_name
from collector.conventions.reading import Reading, Role, ToolFacts, unreadable
from collector.conventions.switches import GENAI, is_instrumentation, switch_of
from collector.telemetry import Span
from evaluator.items import CallStatus, Json, NotRecorded

NAME: Final = "genai"
OPERATION: Final = "gen_ai.operation.name"
NAMED_TOOL: Final = "execute_tool "
"""How the name of a tool span begins; that of the tool follows."""

# Looking a member up in its enum is slow before Python 3.12.
_TOOL, _MODEL = Role.TOOL, Role.MODEL
_OK, _ERROR = CallStatus.OK, CallStatus.ERROR

UNSPECIFIED: Final = frozenset({"<not specified>", "unknown", ""})
"""What stands where a call id should be when the framework has none (Google ADK on failure, agent-framework)."""
NO_ARGUMENTS: Final = "None"
"""What agent-framework writes for a call without arguments."""
NO_RESULT_YET: Final = NotRecorded("the call was held and has no result yet")
NO_ATTRIBUTE: Final = NotRecorded(
    "the span has no gen_ai.tool.call.arguments or .result",
    f"set both, as JSON text, on the span; if an instrumentation makes it, perhaps {GENAI.fix}",
)
"""Of spans that no known instrumentation makes."""
HANDOFF: Final = "a handoff to another agent, not a tool call"

ROLES: Final[Mapping[str, Role]] = {
    "chat": Role.MODEL,
    "generate_content": Role.MODEL,
    "text_completion": Role.MODEL,
    "invoke_agent": Role.AGENT,
    "create_agent": Role.OTHER,
    "invoke_workflow": Role.WORKFLOW,
    "agent_step": Role.OTHER,
}


def read(span: Span) -> Reading | None:
    operation = span.attributes.get(OPERATION)
    if operation == "execute_tool":
        facts = read_tool(span)
        if facts.error is not None and (held := suspension(span)):
            hold(facts, held)
        return Reading(NAME, _TOOL, facts)
    return read_operation(span, NAME, operation)


def read_named(span: Span) -> Reading:
    """A tool span by its name alone: of a hand-made span, or one that lost its attributes to a limit."""
    return Reading(NAME, _TOOL, read_tool(span))


def read_tool(
    span: Span,
    *,
    absent: NotRecorded | None = None,
    args_keys: tuple[str, ...] = ("gen_ai.tool.call.arguments",),
    result_keys: tuple[str, ...] = ("gen_ai.tool.call.result",),
) -> ToolFacts:
    """The call that an `execute_tool` span shows. `absent` says why nothing is recorded where nothing is."""
    attributes = span.attributes
    name, name_from = attributes.get("gen_ai.tool.name"), "gen_ai.tool.name"
    if name is None or name == "":
        name, name_from = name_of(span.name), "span name"
    args, args_from = first_of(attributes, args_keys)
    result, result_from = first_of(attributes, result_keys)
    missing = absent
    if args is None or result is None:
        missing = lost(span, absent or (switch_of(span) if is_instrumentation(span) else NO_ATTRIBUTE))
    error, error_from = failure(span)
    call_id = identifier(attributes.get("gen_ai.tool.call.id"))
    return ToolFacts(
        name=tool_name(name),
        args={} if args == NO_ARGUMENTS else arguments(args, missing),
        result=missing_result(missing or NO_RESULT, failed=error is not None, has_args=args is not None)
        if result is None
        else decoded(result),
        error=error,
        status=_OK if error is None else _ERROR,
        call_id=None if call_id in UNSPECIFIED else call_id,
        name_from=name_from,
        args_from=args_from,
        result_from=result_from,
        error_from=error_from,
        # Where the arguments are recorded, the result of a call that ran is too.
        unfinished=args is not None and result is None and error is None,
    )


def hold(facts: ToolFacts, said_by: str) -> None:
    """The call waits for a person: nothing failed, and nothing has happened yet."""
    facts.held = said_by
    if not facts.result_from:
        facts.result = NO_RESULT_YET
    facts.status, facts.error, facts.error_from = CallStatus.SUSPENDED, None, ""


def name_of(span_name: str) -> str:
    """The tool's name in the span's: `execute_tool NAME`; "" where it is not of that form."""
    return span_name.removeprefix(NAMED_TOOL).strip() if span_name.startswith(NAMED_TOOL) else ""


def read_operation(span: Span, convention: str, operation: Any, absent: NotRecorded | None = None) -> Reading | None:
    """A span of any other operation of these conventions; None when it is none that matters here."""
    role = ROLES.get(operation) if isinstance(operation, str) else None
    if role is None:
        return None if operation is None or isinstance(operation, str) else unreadable(convention, OPERATION)
    attributes = span.attributes
    reading = Reading(convention, role, agent=text_or_none(attributes.get("gen_ai.agent.name")))
    if role is _MODEL:
        read_messages(span, reading, absent or switch_of(span))
    else:
        definitions = attributes.get("gen_ai.tool.definitions")
        if definitions is not None:
            reading.declares = declared(definitions)
    return reading


def first_of(attributes: Mapping[str, Json], keys: tuple[str, ...]) -> tuple[Json, str]:
    """The value of the first key that is there, and the key."""
    for key in keys:
        value = attributes.get(key)
        if value is not None:
            return value, key
    return None, ""
