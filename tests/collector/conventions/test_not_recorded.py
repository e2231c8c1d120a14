"""What telemetry does not carry is not recorded, never empty; and the reason is the one that can be mended."""

import json

import pytest

from collector.telemetry import Span
from evaluator.items import Call, NotRecorded
from tests.collector.telemetry import span, tool, tools_of


def call_of(shown: Span) -> Call:
    [item] = tools_of(shown)
    assert item.call is not None
    return item.call


def args_of(shown: Span) -> NotRecorded:
    args = call_of(shown).args
    assert isinstance(args, NotRecorded)
    return args


OI = {"openinference.span.kind": "TOOL", "tool.name": "lookup"}
TRACELOOP = {"traceloop.span.kind": "tool", "traceloop.entity.name": "lookup"}
VERCEL = {"ai.operationId": "ai.toolCall", "ai.toolCall.name": "lookup"}
MCP = {"mcp.method.name": "tools/call", "gen_ai.tool.name": "lookup"}

SWITCHES = {
    "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_AND_EVENT": tool("lookup"),
    "include_content=True": tool("lookup", more={"logfire.msg": "m"}),
    "OPENINFERENCE_HIDE_INPUTS": span("lookup", OI),
    "TRACELOOP_TRACE_CONTENT": span("lookup.tool", TRACELOOP),
    "isEnabled: true": span("ai.toolCall", VERCEL),
    "new OpenTelemetry()": tool("lookup", scope="gen_ai"),
    "ENABLE_SENSITIVE_DATA=true": tool("lookup", scope="agent_framework"),
    "instrument the agent": span("tools/call lookup", MCP),
}


@pytest.mark.parametrize(("switch", "shown"), SWITCHES.items(), ids=SWITCHES)
def test_the_switch_that_makes_arguments_visible_is_the_frameworks_own(switch: str, shown: Span) -> None:
    assert switch in args_of(shown).fix


CAUSES = {
    "content capture is off": tool("lookup", scope="opentelemetry.instrumentation.genai.x"),
    "the span has no gen_ai.tool.call.arguments or .result": tool("lookup"),
    "it is nested too deep to be read": tool(
        "lookup", more={"gen_ai.tool.call.arguments": '{"a":' * 2000 + "1" + "}" * 2000}
    ),
    "it was cut by an attribute length limit": tool("lookup", more={"gen_ai.tool.call.arguments": '{"id": "A-10'}),
    "it was redacted": span("lookup", OI | {"input.value": "__REDACTED__", "output.value": "__REDACTED__"}),
    "an attribute was dropped: the span had more than the limit allows": tool("lookup", dropped_attributes=2),
    "the telemetry carries values without the names of their parameters": span("lookup", OI | {"input.value": "A-1"}),
}


@pytest.mark.parametrize(("cause", "shown"), CAUSES.items(), ids=CAUSES)
def test_the_cause_is_told(cause: str, shown: Span) -> None:
    assert args_of(shown).cause == cause


def test_no_arguments_are_empty_only_where_the_payload_says_so() -> None:
    assert call_of(tool("lookup", {})).args == {}
    assert call_of(span("lookup", OI | {"input.value": "{}"})).args == {}


def test_a_python_repr_that_was_cut_is_not_recorded() -> None:
    assert args_of(tool("lookup", more={"gen_ai.tool.call.arguments": "{'id': 'A-10"})).cause.startswith("it was cut")


def test_text_that_begins_like_json_stays_a_result() -> None:
    assert (
        call_of(tool("lookup", {}, more={"gen_ai.tool.call.result": "[INFO] all good"})).result == "[INFO] all good"
    )


def test_a_failed_call_has_no_result_and_nothing_to_switch_on() -> None:
    call = call_of(tool("lookup", {"id": 1}, status=2, status_message="down"))
    assert (call.result, call.error) == (None, "down")


def test_a_failure_without_a_text_is_one_all_the_same() -> None:
    call = call_of(tool("lookup", {"id": 1}, status=2))
    assert call.failed
    assert isinstance(call.error, NotRecorded)


def test_where_arguments_are_recorded_a_missing_result_is_not_the_capture_that_is_off() -> None:
    result = call_of(tool("lookup", {"id": 1})).result
    assert isinstance(result, NotRecorded)
    assert result.cause == "the span carries no result"


@pytest.mark.parametrize("number", [2**63, -(2**63) - 1, 10**30, 2**64 + 1])
def test_integers_of_any_size_are_exact(number: int) -> None:
    assert call_of(tool("lookup", {"id": number})).args == {"id": number}


def test_a_text_is_decoded_once() -> None:
    assert call_of(tool("lookup", {}, more={"gen_ai.tool.call.result": '"42"'})).result == "42"


REPEATING = [
    '{"id": 1, "id": 2}',
    '{"order": {"id": 1, "id": 1}}',
    '{"orders": [{"id": "a:b", "id": 2}]}',
    "{'id': 1, 'id': 2}",
    json.dumps('{"id": 1, "id": 2}'),
]


@pytest.mark.parametrize("text", REPEATING)
def test_arguments_that_say_a_key_twice_are_not_recorded(text: str) -> None:
    assert args_of(tool("lookup", more={"gen_ai.tool.call.arguments": text})).cause.startswith("a key is there twice")


def test_colons_in_values_repeat_no_key() -> None:
    args = {"at": "12:30:05", "to": [{"at": ":"}, {"at": ":"}], "by": {"at": 1}}
    assert call_of(tool("lookup", args)).args == args
