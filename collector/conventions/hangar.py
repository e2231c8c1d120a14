"""The hangar vocabulary: spans named `tool.call`, `approval` and `test.run` (SEMANTICS.md, section 6)."""

from collections.abc import Mapping
from typing import Final

from collector.conventions.exceptions import failure
from collector.conventions.payload import arguments, decoded, identifier, lost, tool_name
from collector.conventions.reading import Reading, Role, ToolFacts
from collector.telemetry import Span
from evaluator.items import CallStatus, Json, NotRecorded

Arguments = Mapping[str, Json] | NotRecorded

NAME: Final = "hangar"
TOOL_CALL: Final = "tool.call"
INPUT, OUTPUT = "hangar.tool.input", "hangar.tool.output"

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
    given, output = get(INPUT), get(OUTPUT)
    if args is None:
        args_from = INPUT if given is not None else ""
    result, result_from = get("gen_ai.tool.call.result"), "gen_ai.tool.call.result"
    if result is None:
        result_from = OUTPUT if output is not None else ""
    error, error_from = failure(span)
    facts = ToolFacts(
        tool_name(name),
        arguments_of(args, given, lost(span, NO_ARGUMENTS)),
        result_of(result, output, lost(span, NO_RESULT)),
        error,
        _OK if error is None else _ERROR,
        identifier(get("gen_ai.tool.call.id")),
        name_from,
        args_from,
        result_from,
        error_from,
    )
    return Reading(NAME, _TOOL, facts)


def arguments_of(arguments_said: Json, given: Json, absent: NotRecorded = NO_ARGUMENTS) -> Arguments:
    """The arguments by `gen_ai.tool.call.arguments`, else by `hangar.tool.input`: a clipped text for regexes, which
    carries arguments where it is a JSON object."""
    if arguments_said is not None:
        return arguments(arguments_said, absent)
    if given is None:
        return absent
    found = decoded(given)
    return found if isinstance(found, dict) else NO_ARGUMENTS


def result_of(result_said: Json, output: Json, absent: NotRecorded = NO_RESULT) -> Json | NotRecorded:
    """The result by `gen_ai.tool.call.result`, else by `hangar.tool.output`."""
    said = output if result_said is None else result_said
    return absent if said is None else decoded(said)
