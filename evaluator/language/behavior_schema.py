"""JSON Schema (draft 2020-12) of the behavior format (reference/matchers-and-operators.txt), for editors."""

from itertools import combinations
from typing import Any, Final

from evaluator.language.assertion import PATH_SOURCES, SHELL_OPS, TOOL_KINDS, UnitKind
from evaluator.language.item_matcher import KEYS, SUBJECTS, TESTS
from evaluator.language.schema import DIALECT, TEXT, Schema, a, mapping, one_or_more
from evaluator.verdict import Severity

MATCHER: Final[Schema] = {"$ref": "#/$defs/matcher"}


def behavior_schema() -> Schema:
    """The schema of a behavior file."""
    properties = {"behaviors": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/behavior"}}}
    return {
        "$schema": DIALECT,
        "title": "Behaviors",
        **_object(properties, required=["behaviors"]),
        "$defs": {
            "behavior": _behavior(),
            "assert": {"type": "object", "oneOf": list(_operators())},
            "matcher": _matcher(),
            "fieldTest": {"anyOf": [SCALAR, _field_tests()]},
            "innerTest": {"anyOf": [SCALAR, _field_tests(nested=True)]},
            "paths": _paths(),
        },
    }


SCALAR: Final[Schema] = {"type": ["string", "number", "boolean", "null"]}
WINDOW: Final[Schema] = {"type": "integer", "minimum": 0}


def _object(properties: dict[str, Schema], **more: Any) -> Schema:
    return mapping(properties, properties, **more)


def _behavior() -> Schema:
    unit = {"enum": [str(kind) for kind in UnitKind]}
    severity = {"enum": [str(severity) for severity in Severity]}
    properties: dict[str, Schema] = {
        "name": a(TEXT, "What must hold, in words."),
        "unit": a(unit, "What it is decided over.", default=str(UnitKind.SESSION)),
        "severity": a(severity, "warn: reported, and never in the exit code.", default=str(Severity.ERROR)),
        "assert": {"$ref": "#/$defs/assert"},
    }
    return _object(properties, required=["name", "assert"])


def _operators() -> list[Schema]:
    """One schema for each operator: `assert` holds exactly one."""
    window = _object({"seq": WINDOW, "turns": WINDOW}, minProperties=1, maxProperties=1)
    each = {
        "each": a(MATCHER, "For every item like this,"),
        "requires_prior": a(MATCHER, "one like this lies before it,"),
        "within": a(window, "and at most so many log positions or turns before it."),
    }
    order: Schema = {"type": "array", "minItems": 1, "items": MATCHER}
    return [
        _one("never", MATCHER, "No item matches."),
        _one("eventually", MATCHER, "Some item matches."),
        _one("count", _count(), "The number of matching items is in range."),
        _one("before", _before(), "The first `first` precedes the first `then`."),
        _one("order", order, "All occur, and their first occurrences are in this order."),
        _object(each, required=["each", "requires_prior"]),
        _one("all", {"$ref": "#/$defs/paths"}, "Every path matches."),
        _one("any", {"$ref": "#/$defs/paths"}, "At least one path matches."),
    ]


def _one(operator: str, schema: Schema, description: str) -> Schema:
    return _object({operator: a(schema, description)}, required=[operator])


def _count() -> Schema:
    bound = {"type": "integer", "minimum": 0}
    properties = {"match": MATCHER, "min": bound, "max": bound}
    return _object(properties, required=["match"], anyOf=[{"required": ["min"]}, {"required": ["max"]}])


def _before() -> Schema:
    return _object({"first": MATCHER, "then": MATCHER}, required=["first", "then"])


def _paths() -> Schema:
    sources = {"type": "array", "minItems": 1, "items": {"enum": list(PATH_SOURCES)}}
    paths = _object({"from": a(sources, "The events whose paths count.")}, required=["from"])
    return _object(
        {"paths": paths, "match": a(one_or_more(TEXT), "A glob, or several.")}, required=["paths", "match"]
    )


def _matcher() -> Schema:
    names, ops = one_or_more(TEXT), one_or_more({"enum": list(SHELL_OPS)})
    tool: dict[str, Schema] = {
        "kind": one_or_more({"enum": list(TOOL_KINDS)}),
        "ops": ops,
        "mcp": _object({"server": names, "tool": names}),
        "skill": names,
    }
    where = {"type": "object", "minProperties": 1, "additionalProperties": {"$ref": "#/$defs/fieldTest"}}
    properties: dict[str, Schema] = {
        "tool": a(_object(tool), "A tool call."),
        "approval": a(_object({"ops": ops, "status": names}), "An approval."),
        "event": a(TEXT, "An event of this name."),
        "path": a(TEXT, "A glob of the item's path in the repository."),
        "input": a({**TEXT, "format": "regex"}, "A regex found in the first 500 characters of a tool's input."),
        "output": a({**TEXT, "format": "regex"}, "A regex found in the first 500 characters of a tool's output."),
        "where": a(where, "Tests of columns and attributes."),
    }
    pairs = [{"required": list(pair)} for pair in combinations(SUBJECTS, 2)]
    return mapping(KEYS, properties, minProperties=1, **{"not": {"anyOf": pairs}})


def _field_tests(*, nested: bool = False) -> Schema:
    """The tests of one field; all of them must hold. `nested`: inside `not`, which has no second `not` in it."""
    operands: dict[str, Schema] = {
        "in": {"type": "array", "minItems": 1, "items": SCALAR},
        "regex": {"type": "string", "format": "regex", "minLength": 1},
        "glob": {"type": "string"},
    }
    properties: dict[str, Schema] = {
        test: operands.get(test, {"type": ["number", "string"]}) for test in TESTS if test != "not"
    }
    if not nested:
        properties["not"] = {"$ref": "#/$defs/innerTest"}
    return _object(properties, minProperties=1)
