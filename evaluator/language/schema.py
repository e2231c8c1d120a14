"""JSON Schema (draft 2020-12) of the test spec format, for editors.

It knows the structure: keys, types, which keys go together. What `spanbar validate` knows beyond that (regexes,
placeholders, contradictions) no schema can say. Keys come from the modules that read them.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from evaluator.language.agent import AGENT_KEYS, SETTLE_TIME, STARTUP_TIMEOUT, TIMEOUT
from evaluator.language.expect import ASSERTING, CALL_KEYS, EXPECT_KEYS
from evaluator.language.matchers import MATCHERS
from evaluator.language.reader import DEFAULTS_KEYS, SPEC_KEYS
from evaluator.language.request import METHODS, REQUEST_KEYS
from evaluator.language.session import HOOK_KEYS, SESSION_KEYS
from evaluator.language.spec import REPLY_KEYS
from evaluator.language.suites import BEHAVIORS, SUITE_KEYS, TEST_KEYS, TURN_KEYS

Schema = dict[str, Any]

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"

TEXT: Final[Schema] = {"type": "string", "pattern": r"\S"}
"""A text that is not blank."""


def a(schema: Schema, description: str, **more: Any) -> Schema:
    """A schema with what an editor shows for it."""
    return {**schema, "description": description, **more}


def one_or_more(schema: Schema) -> Schema:
    """A value or a list of values."""
    return {"anyOf": [schema, {"type": "array", "items": schema, "minItems": 1}]}


def mapping(keys: Iterable[str], properties: Mapping[str, Schema], **more: Any) -> Schema:
    """A mapping with the keys `keys`, described in `properties`. `x-` keys may hold anything; others are refused."""
    missing = set(keys) ^ set(properties)
    if missing:
        raise ValueError(f"described and read differ: {', '.join(sorted(missing))}")
    return {
        "type": "object",
        "properties": dict(properties),
        "patternProperties": {"^x-": True},
        "additionalProperties": False,
        **more,
    }


def or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def milliseconds(what: str, default: int, least: int = 1) -> Schema:
    return a({"type": "integer", "minimum": least}, f"{what}, in ms.", default=default)


def spec_schema() -> Schema:
    """The schema of a test spec."""
    properties = {
        "agent": {"$ref": "#/$defs/agent"},
        "defaults": mapping(DEFAULTS_KEYS, {"runs": a(RUNS, "How many times each test runs.", default=1)}),
        "suites": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/suite"}},
    }
    return {
        "$schema": DIALECT,
        "title": "Test spec (*.highbar.yaml)",
        **mapping(SPEC_KEYS, properties, required=["agent", "suites"]),
        "$defs": {
            "agent": _agent(),
            "hook": _hook(),
            "suite": _suite(),
            "test": _test(),
            "turn": _turn(),
            "expect": _expect(),
            "call": _call(),
            "matchers": _matchers({}),
            "textMatchers": _matchers(TEXT_OPERAND),
            "value": _value(),
            "behaviors": a(one_or_more(TEXT), "Behavior files that must hold, from where this file lies."),
        },
    }


RUNS: Final[Schema] = {"type": "integer", "minimum": 1}
TEXT_OPERAND: Final[Schema] = {"type": "string"}


def _agent() -> Schema:
    url = {"type": "string", "pattern": r"^([hH][tT][tT][pP][sS]?://|.*\$\{)"}
    defaults = ", ".join(REPLY_KEYS)
    reply = f"Where the reply text is in the JSON body: keys and indexes by dots. Default: the first of {defaults}."
    correlate = {"type": "object", "minProperties": 1, "additionalProperties": {"type": ["string", "number"]}}
    return mapping(
        AGENT_KEYS,
        {
            "endpoint": a(url, "Where each message is sent."),
            "start": a(TEXT, "The command that starts the agent. Without it, the agent runs already."),
            "health": a(or_null(url), "Must answer 200 before tests start."),
            "startup_timeout": milliseconds("How long a started agent has to become ready", STARTUP_TIMEOUT),
            "settle_time": milliseconds("How long late telemetry is waited for", SETTLE_TIME, least=0),
            "timeout": milliseconds("How long each reply and each session hook may take", TIMEOUT),
            "traces": a(TEXT, "How an agent that runs already shows its calls: otlp, or the path of its trace file."),
            "request": or_null(_request()),
            "response": a(TEXT, reply),
            "session": _session(),
            "correlate": a(
                correlate, "The attributes that link telemetry to a test.", default={"test": "{{test.id}}"}
            ),
        },
        required=["endpoint"],
        dependentSchemas={"startup_timeout": {"required": ["start"]}, "traces": {"not": {"required": ["start"]}}},
    )


def _request() -> Schema:
    pattern = "^(" + "|".join("".join(f"[{c}{c.lower()}]" for c in method) for method in METHODS) + ")$"
    return mapping(
        REQUEST_KEYS,
        {
            "method": a({"type": "string", "pattern": pattern}, "POST, PUT or PATCH.", default="POST"),
            "headers": a({"type": "object", "additionalProperties": {"type": "string"}}, "Headers, texts only."),
            "body": a(
                {}, "What is sent; {{message}} must be in one of its values.", default={"message": "{{message}}"}
            ),
        },
    )


def _session() -> Schema:
    hook = {"$ref": "#/$defs/hook"}
    properties = {
        "setup": a(hook, "Runs before each test; prints (or returns) a JSON object, the session."),
        "teardown": a(hook, "Runs after each test."),
    }
    return mapping(SESSION_KEYS, properties, anyOf=[{"required": [key]} for key in SESSION_KEYS])


def _hook() -> Schema:
    function = {"type": "string", "pattern": r"^\s*[\w.]+:\w+\s*$"}
    return {"anyOf": [TEXT, mapping(HOOK_KEYS, {"python": a(function, "module:function")}, required=["python"])]}


def _suite() -> Schema:
    tests = {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/test"}}
    schema = mapping(SUITE_KEYS, {"name": TEXT, "tests": tests}, required=["name", "tests"])
    return _with_behaviors(schema)


def _with_behaviors(schema: Schema) -> Schema:
    schema["properties"][BEHAVIORS] = {"$ref": "#/$defs/behaviors"}
    return schema


def _test() -> Schema:
    fraction = {"type": "number", "exclusiveMinimum": 0, "maximum": 1}
    schema = mapping(
        TEST_KEYS,
        {
            "trigger": a(TEXT, "The message."),
            "expect": {"$ref": "#/$defs/expect"},
            "turns": a({"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/turn"}}, "A conversation."),
            "name": a({"type": ["string", "null"]}, "Shown instead of the trigger."),
            "variations": a(
                or_null({"type": "integer", "minimum": 0}), "How many paraphrases of the trigger to run as well."
            ),
            "runs": a(RUNS, "How many times to run each phrasing."),
            "min_pass": a(
                {"anyOf": [RUNS, fraction]}, "How many runs must pass, or which part of them. Default: all."
            ),
        },
        oneOf=[
            {"required": ["trigger", "expect"], "not": {"required": ["turns"]}},
            {
                "required": ["turns"],
                "properties": {"variations": {"enum": [0, None]}},
                "not": {"anyOf": [{"required": ["trigger"]}, {"required": ["expect"]}]},
            },
        ],
    )
    return _with_behaviors(schema)


def _turn() -> Schema:
    properties: dict[str, Schema] = {
        "trigger": a(TEXT, "The message; it may name earlier calls: {{previous.function_calls[0].result.id}}."),
        "expect": {"$ref": "#/$defs/expect"},
        "name": {"type": ["string", "null"]},
    }
    return mapping(TURN_KEYS, properties, required=["trigger"])


def _expect() -> Schema:
    calls = {"type": "array", "items": {"$ref": "#/$defs/call"}}
    return mapping(
        EXPECT_KEYS,
        {
            "function_calls": a(calls, "Calls that must happen. []: no call at all."),
            "ordered": a({"type": "boolean"}, "The calls happened in the listed order.", default=False),
            "exclusive": a({"type": "boolean"}, "No call beyond the listed ones.", default=False),
            "forbid": a({"type": "array", "minItems": 1, "items": TEXT}, "Tools that must not be called."),
            "response": a({"$ref": "#/$defs/textMatchers"}, "Conditions on the reply text."),
        },
        anyOf=[{"required": [key]} for key in ASSERTING],
        dependentRequired={"ordered": ["function_calls"], "exclusive": ["function_calls"]},
    )


def _call() -> Schema:
    contained = or_null({"type": "object", "additionalProperties": {"$ref": "#/$defs/value"}})
    error = {"anyOf": [{"type": "boolean"}, {"$ref": "#/$defs/matchers"}]}
    return mapping(
        CALL_KEYS,
        {
            "name": a(one_or_more(TEXT), "The tool, or a list of tools of which any will do."),
            "params": a(contained, "Must be contained in the call's arguments."),
            "result": a(contained, "Must be contained in what the tool returned."),
            "error": a(
                error, "false: it must not have failed. true: it must. Or matchers of its error text.", default=False
            ),
        },
        required=["name"],
    )


def _matchers(operand: Schema) -> Schema:
    """A mapping of matchers; `operand` is what all of them take, {} for any value."""
    described = {
        "equals": "Exactly this value.",
        "contains": "Contains the text; for a list, has the item.",
        "not_contains": "Does not contain.",
        "icontains": "Contains, ignoring case.",
        "not_icontains": "Does not contain, ignoring case.",
        "matches": "The regular expression is found (Python re.search).",
        "not_matches": "The regular expression is not found.",
    }
    properties = {
        key: a(operand if key == "equals" else _operand(key, operand), text) for key, text in described.items()
    }
    return mapping(MATCHERS, properties, anyOf=[{"required": [key]} for key in MATCHERS])


def _operand(key: str, operand: Schema) -> Schema:
    if key.endswith("matches"):
        return {"type": "string", "format": "regex", "minLength": 1}
    return {**operand, "not": {"const": ""}}


def _value() -> Schema:
    """A value of params or result: a matcher if it has keys of matchers, else a value whose parts are such values."""
    inner = {"$ref": "#/$defs/value"}
    return {
        "if": {"type": "object", "anyOf": [{"required": [key]} for key in MATCHERS]},
        "then": {"$ref": "#/$defs/matchers"},
        "else": {"items": inner, "additionalProperties": inner},
    }
