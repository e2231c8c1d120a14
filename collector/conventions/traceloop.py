"""Traceloop / OpenLLMetry: `traceloop.span.kind` (corpus/CONVENTIONS.md, rows 4, 9, 17 and 29)."""

from collections.abc import Mapping
from typing import Final

from collector.conventions import genai, langchain
from collector.conventions.definitions import declared
from collector.conventions.exceptions import NO_TEXT, failure, suspension
from collector.conventions.messages import read_attributes, shown, text_or_none
from collector.conventions.payload import (
    NAMELESS,
    arguments,
    as_text,
    decoded,
    identifier,
    literal,
    lost,
    missing_result,
    tool_name,
)
from collector.conventions.reading import Asked, Reading, Role, Shown, ToolFacts, unreadable
from collector.conventions.switches import TRACELOOP
from collector.conventions.wrappings import unwrap_result
from collector.telemetry import Attributes, Span
from evaluator.items import CallStatus, Json, NotRecorded

NAME: Final = "traceloop"
KEY: Final = "traceloop.span.kind"

ROLES: Final[Mapping[str, Role]] = {"workflow": Role.WORKFLOW, "agent": Role.AGENT}
_SESSIONS: Final = tuple(f"traceloop.association.properties.{key}" for key in ("session_id", "thread_id"))


def read(span: Span) -> Reading:
    attributes = span.attributes
    kind = attributes.get(KEY)
    if kind == "tool":
        reading = Reading(NAME, Role.TOOL, _tool(span))
    elif not isinstance(kind, str):
        reading = unreadable(NAME, KEY)
    else:
        reading = Reading(NAME, ROLES.get(kind, Role.OTHER))
        if str(attributes.get("traceloop.entity.name")).startswith(langchain.MIDDLEWARE) and suspension(span):
            reading.holds = langchain.awaiting(attributes.get("traceloop.entity.input"))
        if kind in ROLES:
            name = attributes.get("gen_ai.agent.name") or attributes.get("traceloop.entity.name")
            reading.agent = text_or_none(name)
    session, reading.session_from = genai.first_of(attributes, _SESSIONS)
    reading.session = text_or_none(session)
    return reading


def _tool(span: Span) -> ToolFacts:
    attributes = span.attributes
    name, name_from = genai.first_of(attributes, ("gen_ai.tool.name", "traceloop.entity.name"))
    given, args_from = genai.first_of(attributes, ("gen_ai.tool.call.arguments", "traceloop.entity.input"))
    output, result_from = genai.first_of(attributes, ("gen_ai.tool.call.result", "traceloop.entity.output"))
    absent = lost(span, TRACELOOP) if given is None or output is None else TRACELOOP
    args = arguments(given, absent)
    call_id = identifier(attributes.get("gen_ai.tool.call.id"))
    if isinstance(args, Mapping):
        call_id = call_id or _call_id(args)
        args = _unwrapped(args)
    result, failed, inner_id = (absent, False, None) if output is None else _result(decoded(output))
    error, error_from = failure(span)
    if error is None and failed:
        error, error_from = (NO_TEXT if isinstance(result, NotRecorded) else as_text(result)), result_from
    if output is None:
        result = missing_result(absent, failed=error is not None, has_args=given is not None)
    facts = ToolFacts(
        name=tool_name(span.name.removesuffix(".tool") if name is None else name),
        args=args,
        result=result,
        error=error,
        status=CallStatus.OK if error is None else CallStatus.ERROR,
        call_id=call_id or inner_id,
        name_from=name_from or "span name",
        args_from=args_from,
        result_from=result_from,
        error_from=error_from,
        unfinished=given is not None and output is None and error is None,
    )
    held = suspension(span)
    if held:
        genai.hold(facts, held)
    return facts


def _unwrapped(args: Mapping[str, Json]) -> Mapping[str, Json] | NotRecorded:
    """The arguments in LangChain's callback payload, in an MCP request, or in a decorated Python call."""
    keys = args.keys()
    if "input_str" in keys and ("metadata" in keys or "inputs" in keys or "tags" in keys):
        inputs = args.get("inputs")
        return inputs if isinstance(inputs, Mapping) else _from_repr(args["input_str"])
    if keys == {"tool_name", "arguments"}:
        return arguments(args["arguments"], NAMELESS)
    if keys == {"args", "kwargs"} and isinstance(args["kwargs"], Mapping):
        return args["kwargs"] if not args["args"] else NAMELESS
    return args


def _from_repr(text: Json) -> Mapping[str, Json] | NotRecorded:
    try:
        found = literal(str(text))
    except ValueError:
        return NAMELESS
    return found if isinstance(found, Mapping) else NAMELESS


def _call_id(args: Mapping[str, Json]) -> str | None:
    kwargs = args.get("kwargs")
    return identifier(kwargs.get("tool_call_id")) if isinstance(kwargs, Mapping) and "input_str" in args else None


def _result(output: Json | NotRecorded) -> tuple[Json | NotRecorded, bool, str | None]:
    if isinstance(output, Mapping) and "result" in output and output.keys() <= {"result", "is_error"}:  # an MCP reply
        return decoded(output["result"]), bool(output.get("is_error")), None
    return unwrap_result(output)


def read_model(span: Span) -> Reading:
    """A model span of the older format, or of the newer one where it has no operation name."""
    attributes = span.attributes
    reading = Reading(NAME, Role.MODEL)
    read_attributes(attributes, reading, "gen_ai.output.messages")
    if not reading.asked:
        reading.asked = tuple(_asked(attributes))
        reading.shown = reading.shown or tuple(_shown(attributes))
        if not reading.asked and "gen_ai.completion.0.role" not in attributes:
            reading.blind = lost(span, TRACELOOP)
    names: list[str] = []
    while (name := attributes.get(f"llm.request.functions.{len(names)}.name")) is not None:
        names.append(str(name))
    if names:
        reading.declares = declared(names)
    return reading


def _asked(attributes: Attributes) -> list[Asked]:
    found: list[Asked] = []
    while (name := attributes.get(f"gen_ai.completion.0.tool_calls.{len(found)}.name")) is not None:
        prefix = f"gen_ai.completion.0.tool_calls.{len(found)}"
        args = arguments(attributes.get(f"{prefix}.arguments"), TRACELOOP)
        found.append(Asked(tool_name(name), args, identifier(attributes.get(f"{prefix}.id")), prefix))
    return found


def _shown(attributes: Attributes) -> tuple[Shown, ...]:
    found: list[Shown] = []
    position = 0
    while (role := attributes.get(f"gen_ai.prompt.{position}.role")) is not None:
        prefix = f"gen_ai.prompt.{position}"
        position += 1
        call_id = attributes.get(f"{prefix}.tool_call_id")
        if f"{prefix}.tool_calls.0.name" in attributes:
            found.clear()
        elif role == "tool" and call_id is not None:
            found.append(shown(str(call_id), decoded(attributes.get(f"{prefix}.content")), f"{prefix}.content"))
    return tuple(found)
