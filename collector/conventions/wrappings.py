"""Wrappings: what frameworks put around arguments and results (corpus/CONVENTIONS.md, section 3, points 1 and 3)."""

from collections.abc import Mapping
from typing import Final

from collector.conventions.payload import NAMELESS, decoded
from collector.telemetry import Attributes
from evaluator.items import Json, NotRecorded

_SMOLAGENTS: Final = frozenset({"args", "kwargs", "sanitize_inputs_outputs"})
_LAYERS: Final = 6
"""How many wrappings around one result are taken off at most."""


def unwrap_arguments(
    args: Mapping[str, Json], attributes: Attributes, bare: Json = None
) -> Mapping[str, Json] | NotRecorded:
    """The named arguments in a wrapped mapping; or of one `bare` value, when the tool's schema has one parameter."""
    if bare is not None:
        names = parameter_names(attributes)
        return {names[0]: bare} if len(names) == 1 else NAMELESS
    keys = args.keys()
    if "kwargs" in keys and keys <= _SMOLAGENTS:
        return _call_arguments(args, attributes)
    return args


def _call_arguments(args: Mapping[str, Json], attributes: Attributes) -> Mapping[str, Json] | NotRecorded:
    """`args` and `kwargs` of a Python call; positional ones are named by the tool's schema."""
    named, positional = args.get("kwargs"), args.get("args") or []
    if not isinstance(named, Mapping) or not isinstance(positional, list):
        return args
    if not positional:
        return named
    names = parameter_names(attributes)
    if len(names) < len(positional):
        return NAMELESS
    return {**dict(zip(names, positional, strict=False)), **named}


def parameter_names(attributes: Attributes) -> list[str]:
    """The names of the tool's parameters, in order, from its schema or from smolagents' plain mapping."""
    schema = decoded(attributes.get("tool.parameters"))
    if not isinstance(schema, Mapping):
        return []
    properties = schema.get("properties")
    if isinstance(properties, Mapping):
        return [str(name) for name in properties]
    return [str(name) for name, about in schema.items() if isinstance(about, Mapping) and "type" in about]


def unwrap_result(value: Json | NotRecorded) -> tuple[Json | NotRecorded, bool, str | None]:
    """A result without its wrappings, whether they say that the call failed, and the call's id if they have it."""
    failed, call_id = False, None
    for _ in range(_LAYERS):
        if not isinstance(value, Mapping):
            break
        inner = _inner(value)
        if inner is None:
            break
        value, inner_failed, inner_id = inner
        failed, call_id = failed or inner_failed, call_id or inner_id
    return value, failed, call_id


def _inner(value: Mapping[str, Json]) -> tuple[Json, bool, str | None] | None:
    data = value.get("data")
    if value.get("type") == "tool" and isinstance(data, Mapping):  # LangChain, a ToolMessage
        return _message(data)
    kwargs = value.get("kwargs")
    if value.get("lc") == 1 and isinstance(kwargs, Mapping):  # LangChain, serialized
        return _message(kwargs)
    if "raw_output" in value and "is_error" in value:  # llama-index, a ToolOutput
        return decoded(value["raw_output"]), bool(value["is_error"]), None
    if value.keys() == {"id", "name", "response"}:  # Google ADK through OpenInference
        return value["response"], False, None
    output = value.get("output")
    if value.keys() == {"output"} or (isinstance(output, Mapping) and output.get("lc") == 1):  # LangChain's callbacks
        return value["output"], False, None
    if value.keys() == {"result"}:  # Google ADK, around what is no mapping
        return value["result"], False, None
    return None


def _message(message: Mapping[str, Json]) -> tuple[Json, bool, str | None]:
    call_id = message.get("tool_call_id")
    content = decoded(message.get("content"))
    return content, message.get("status") == "error", None if call_id is None else str(call_id)
