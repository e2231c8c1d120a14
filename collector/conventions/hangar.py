"""The hangar vocabulary: spans named `tool.call`, `approval` and `test.run` (SEMANTICS.md, section 6)."""

from typing import Final

from collector.conventions.exceptions import failure
from collector.conventions.payload import arguments, decoded, lost, tool_name
from collector.conventions.reading import Reading, Role, ToolFacts
from collector.telemetry import Span
from evaluator.items import CallStatus, NotRecorded

NAME: Final = "hangar"
TOOL_CALL: Final = "tool.call"

NO_ARGUMENTS: Final = NotRecorded(
    "the span carries no arguments",
    "set gen_ai.tool.call.arguments, as JSON text or a map, on the tool.call span",
    optional=True,
)
NO_RESULT: Final = NotRecorded(
    "the span carries no result", "set gen_ai.tool.call.result on the tool.call span", optional=True
)

# Looking a member up in its enum is slow before Python 3.12.
_TOOL: Final = Role.TOOL
_OK, _ERROR = CallStatus.OK, CallStatus.ERROR


def read(span: Span) -> Reading:
    """The call of a span named `tool.call`."""
    get = span.attributes.get
    name, name_from = get("gen_ai.tool.name"), "gen_ai.tool.name"
    if name is None:
        name, name_from = TOOL_CALL, "span name"
    args, args_from = get("gen_ai.tool.call.arguments"), "gen_ai.tool.call.arguments"
    if args is None:
        args, args_from = get("hangar.tool.input"), "hangar.tool.input"
    result, result_from = get("gen_ai.tool.call.result"), "gen_ai.tool.call.result"
    if result is None:
        result, result_from = get("hangar.tool.output"), "hangar.tool.output"
    error, error_from = failure(span)
    facts = ToolFacts(
        tool_name(name),
        arguments(args, lost(span, NO_ARGUMENTS)) if args is None or args_from[0] == "g" else _input(args),
        lost(span, NO_RESULT) if result is None else decoded(result),
        error,
        _OK if error is None else _ERROR,
        get("gen_ai.tool.call.id"),
        name_from,
        args_from if args is not None else "",
        result_from if result is not None else "",
        error_from,
    )
    return Reading(NAME, _TOOL, facts)


def _input(text: object) -> "dict[str, object] | NotRecorded":
    """`hangar.tool.input` is a clipped text for regexes; it carries arguments where it is a JSON object."""
    found = decoded(text)
    return found if isinstance(found, dict) else NO_ARGUMENTS
