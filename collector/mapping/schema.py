"""JSON Schema (draft 2020-12) of mapping files, for editors. Keys come from the modules that read them."""

from typing import Any, Final

from collector.mapping.reader import APPROVAL_WORDS, CALL_WORDS, COMMON, PARTS, SOURCE_KEYS, TOP_KEYS, WHERE_KEYS
from collector.mapping.rules import Kind, Signal
from evaluator.language.schema import DIALECT, TEXT, Schema, a, mapping, one_or_more

_SOURCES: Final[Schema] = {"$ref": "#/$defs/sources"}
_SCALAR: Final[Schema] = {"type": ["string", "number", "boolean", "null"]}

_TITLES: Final = {
    "tool": "The name of the tool.",
    "args": "The arguments: JSON text or a map; {prefix: app.arg.} gathers one attribute for each.",
    "result": "What the tool gave back.",
    "error": "The error of a failed call; anything but null, false or an empty text says that it failed.",
    "call_id": "What tells calls apart; records with the same one are one call.",
    "decider": "Who or what decided.",
    "duration_ms": "How long the call took, of a log event that comes when it is over.",
    "kind": "The kind of the tool (shell, edit, ...).",
    "ops": "What a shell command does; without it, the ops are told from the command.",
    "path": "The path of the file, relative to the checkout.",
    "op": "What was done to the file.",
    "server": "The MCP server.",
    "skill": "The skill.",
    "name": "The name of the event; without it, that of the span or log event.",
    "session": "The session.",
    "job": "The job.",
    "seq": "The position in the log of the session.",
    "turn": "The number of the turn.",
}


def mapping_schema() -> Schema:
    """The schema of a mapping file."""
    top = {key: a(_SOURCES, _TITLES[key]) for key in COMMON}
    top["name"] = a(TEXT, "What explain and reports call the instrumentation.", default="mapping")
    top |= {kind.value: {"type": "array", "minItems": 1, "items": _rule(kind)} for kind in Kind}
    inner = mapping(TOP_KEYS, top, anyOf=[{"required": [kind.value]} for kind in Kind])
    return {
        "$schema": DIALECT,
        "title": "Mapping",
        **mapping(("mapping",), {"mapping": inner}, required=["mapping"]),
        "$defs": {"where": _where(), "source": _source(), "sources": one_or_more({"$ref": "#/$defs/source"})},
    }


def _rule(kind: Kind) -> Schema:
    properties: dict[str, Schema] = {"where": {"$ref": "#/$defs/where"}}
    for key in PARTS[kind]:
        properties[key] = _status(kind) if key == "status" else a(_SOURCES, _TITLES[key])
    needed = {Kind.CALL: ["where", "tool"], Kind.APPROVAL: ["where", "status"]}.get(kind, ["where"])
    return mapping(("where", *PARTS[kind]), properties, required=needed)


def _where() -> Schema:
    values = one_or_more(_SCALAR)
    properties: dict[str, Any] = {
        "in": a({"enum": [signal.value for signal in Signal]}, "Only spans, or only log events."),
        "name": a(TEXT, "A glob over the name of the span or log event."),
        "attributes": a(
            {"type": "object", "minProperties": 1, "additionalProperties": values}, "Attributes and their values."
        ),
    }
    return mapping(WHERE_KEYS, properties, anyOf=[{"required": ["name"]}, {"required": ["attributes"]}])


def _source() -> Schema:
    return {"anyOf": [a(TEXT, "The name of an attribute."), _forms({})]}


def _forms(more: dict[str, Schema]) -> Schema:
    properties: dict[str, Schema] = {
        "attribute": TEXT,
        "prefix": TEXT,
        "value": one_or_more(_SCALAR),
        "name": a({**TEXT, "format": "regex"}, "A regex over the name of the span or log event."),
    }
    return mapping(
        (*SOURCE_KEYS, *more), properties | more, oneOf=[{"required": [key]} for key in SOURCE_KEYS]
    )  # fmt: skip


def _status(kind: Kind) -> Schema:
    words = {Kind.CALL: CALL_WORDS, Kind.APPROVAL: APPROVAL_WORDS}.get(kind, ())
    return {"anyOf": [TEXT, {"type": "array", "items": {"$ref": "#/$defs/source"}, "minItems": 1},
                      _forms({word: one_or_more(_SCALAR) for word in words})]}  # fmt: skip
