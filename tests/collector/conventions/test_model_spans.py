"""What model spans say of the calls that the model asked for and of the results that it was shown, in each format."""

import json
from dataclasses import dataclass
from typing import Any

import pytest

from collector import conventions
from collector.conventions.reading import Reading, Role
from collector.telemetry import LogRecord, Span
from evaluator.items import NotRecorded
from tests.collector.telemetry import log, span

ARGS = {"order_id": "A-1"}
NO_ARGS = object()


def text(value: Any) -> str:
    return json.dumps(value)


@dataclass
class Format:
    name: str
    source: Span | LogRecord
    asked: tuple[Any, ...] = (("lookup", ARGS, "call-1"),)
    shown: tuple[Any, ...] = (("call-0", "done"),)


def genai(asked: Any, history: Any = (), **more: Any) -> Span:
    messages = {"gen_ai.output.messages": text(asked), "gen_ai.input.messages": text(history)}
    return span("chat m", {"gen_ai.operation.name": "chat"} | messages | more)


CALL = {"type": "tool_call", "id": "call-1", "name": "lookup", "arguments": ARGS}
REPLY = {"type": "tool_call_response", "id": "call-0", "response": "done"}
EARLIER = {"role": "assistant", "parts": [{"type": "tool_call", "id": "call-0", "name": "lookup", "arguments": {}}]}
OLD_CALL = {"id": "call-1", "type": "function", "function": {"name": "lookup", "arguments": text(ARGS)}}
BLOCKS = [{"toolUse": {"toolUseId": "call-1", "name": "lookup", "input": ARGS}}]
ADK_CALL = {"function_call": {"id": "call-1", "name": "lookup", "args": ARGS}}
ADK_REPLY = {"function_response": {"id": "call-0", "name": "lookup", "response": {"result": "done"}}}
OI_CALL = "llm.output_messages.0.message.tool_calls.0.tool_call"
REPR = f"[ResponseFunctionToolCall(arguments='{text(ARGS)}', call_id='call-1', name='lookup', type='function_call')]"
EVENTS = [
    {"event.name": "gen_ai.tool.message", "id": "call-0", "content": "done"},
    {"event.name": "gen_ai.choice", "message": {"role": "assistant", "tool_calls": [OLD_CALL]}},
]

FORMATS = [
    Format(
        "GenAI, as JSON text",
        genai([{"role": "assistant", "parts": [CALL]}], [EARLIER, {"role": "tool", "parts": [REPLY]}]),
    ),
    Format(
        "GenAI, structured",
        span(
            "chat m",
            {
                "gen_ai.operation.name": "chat",
                "gen_ai.output.messages": [{"role": "assistant", "parts": [CALL]}],
                "gen_ai.input.messages": [{"role": "tool", "parts": [REPLY]}],
            },
        ),
    ),
    Format("agent-framework: JSON inside JSON", genai([{"parts": [CALL | {"arguments": text(ARGS)}]}]), shown=()),
    Format(
        "pydantic-ai names the result `result`",
        genai([], [{"role": "user", "parts": [{"type": "tool_call_response", "id": "call-0", "result": "done"}]}]),
        asked=(),
    ),
    Format(
        "openai-agents-v2: a Python repr in a text",
        genai(
            [
                {
                    "parts": [
                        {
                            "type": "text",
                            "content": REPR,
                        }
                    ]
                }
            ]
        ),
        shown=(),
    ),
    Format(
        "GenAI, operation details",
        log("gen_ai.client.inference.operation.details", {"gen_ai.output.messages": [{"parts": [CALL]}]}),
        shown=(),
    ),
    Format("openai-v2, a choice event", log("gen_ai.choice", body={"message": {"tool_calls": [OLD_CALL]}}), shown=()),
    Format(
        "openai-v2, a choice without content",
        log("gen_ai.choice", body={"message": {"tool_calls": [{"id": "call-1", "function": {"name": "lookup"}}]}}),
        asked=(("lookup", NO_ARGS, "call-1"),),
        shown=(),
    ),
    Format(
        "openai-v2, a tool message", log("gen_ai.tool.message", body={"id": "call-0", "content": "done"}), asked=()
    ),
    Format(
        "pydantic-ai, first format: all events in one attribute",
        span("chat m", {"gen_ai.operation.name": "chat", "logfire.msg": "m", "events": text(EVENTS)}),
    ),
    Format(
        "OpenInference",
        span(
            "response",
            {
                "openinference.span.kind": "LLM",
                "llm.output_messages.0.message.role": "assistant",
                f"{OI_CALL}.id": "call-1",
                f"{OI_CALL}.function.name": "lookup",
                f"{OI_CALL}.function.arguments": text(ARGS),
                "llm.input_messages.0.message.role": "tool",
                "llm.input_messages.0.message.tool_call_id": "call-0",
                "llm.input_messages.0.message.content": "done",
            },
        ),
    ),
    Format(
        "OpenInference leaves empty arguments out",
        span(
            "response",
            {
                "openinference.span.kind": "LLM",
                "llm.output_messages.0.message.role": "assistant",
                f"{OI_CALL}.function.name": "lookup",
            },
        ),
        asked=(("lookup", {}, None),),
        shown=(),
    ),
    Format(
        "Traceloop, older",
        span(
            "openai.chat",
            {
                "llm.request.type": "chat",
                "gen_ai.completion.0.tool_calls.0.id": "call-1",
                "gen_ai.completion.0.tool_calls.0.name": "lookup",
                "gen_ai.completion.0.tool_calls.0.arguments": text(ARGS),
                "gen_ai.prompt.0.role": "assistant",
                "gen_ai.prompt.0.tool_calls.0.name": "lookup",
                "gen_ai.prompt.1.role": "tool",
                "gen_ai.prompt.1.tool_call_id": "call-0",
                "gen_ai.prompt.1.content": "done",
            },
        ),
    ),
    Format(
        "AI SDK 5",
        span(
            "ai.generateText.doGenerate",
            {
                "ai.operationId": "ai.generateText.doGenerate",
                "ai.response.toolCalls": text([{"toolCallId": "call-1", "toolName": "lookup", "input": text(ARGS)}]),
                "ai.prompt.messages": text(
                    [
                        {"role": "assistant", "content": [{"type": "tool-call", "toolCallId": "call-0"}]},
                        {
                            "role": "tool",
                            "content": [
                                {
                                    "type": "tool-result",
                                    "toolCallId": "call-0",
                                    "output": {"type": "text", "value": "done"},
                                }
                            ],
                        },
                    ]
                ),
            },
        ),
    ),
    Format(
        "Google ADK, first schema",
        span(
            "call_llm",
            {
                "gcp.vertex.agent.event_id": "e",
                "gcp.vertex.agent.llm_response": text({"content": {"parts": [ADK_CALL]}}),
                "gcp.vertex.agent.llm_request": text({"contents": [{"role": "user", "parts": [ADK_REPLY]}]}),
            },
        ),
    ),
    Format(
        "strands: events of the span",
        span(
            "chat",
            {"gen_ai.operation.name": "chat", "gen_ai.event.start_time": "t"},
            events=[
                ("gen_ai.assistant.message", {"content": text([{"toolUse": {"toolUseId": "call-0"}}])}),
                (
                    "gen_ai.tool.message",
                    {"content": text([{"toolResult": {"toolUseId": "call-0", "content": [{"text": "done"}]}}])},
                ),
                ("gen_ai.choice", {"message": text(BLOCKS)}),
            ],
        ),
    ),
    Format(
        "Mastra: the output of a step",
        span(
            "step",
            {
                "mastra.span.type": "model_step",
                "mastra.model_step.output": text(
                    {"toolCalls": [{"toolCallId": "call-1", "toolName": "lookup", "args": ARGS}]}
                ),
            },
        ),
        shown=(),
    ),
]


def read(source: Span | LogRecord) -> Reading:
    reading = (
        conventions.read_log(source)
        if isinstance(source, LogRecord)
        else conventions.read(source, source.attributes.keys())
    )
    assert reading is not None
    return reading


@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.name)
def test_a_model_span_says_what_was_asked_for_and_shown(form: Format) -> None:
    reading = read(form.source)
    assert reading.role is Role.MODEL
    asked = tuple(
        (each.name, NO_ARGS if isinstance(each.args, NotRecorded) else each.args, each.call_id)
        for each in reading.asked
    )
    assert asked == form.asked
    assert tuple((each.call_id, each.result) for each in reading.shown) == form.shown


DENIALS = [
    "Tool execution was not approved.",
    "The tool call was denied.",
    "User rejected the tool call for `lookup` with id call-0",
    {"type": "execution-denied", "reason": "no"},
    {"error": "This tool call is rejected."},
]


@pytest.mark.parametrize("said", DENIALS, ids=str)
def test_frameworks_tell_the_model_that_a_call_was_denied(said: Any) -> None:
    [shown] = read(genai([], [{"role": "tool", "parts": [REPLY | {"response": said}]}])).shown
    assert shown.denied


def test_a_model_span_without_messages_is_blind_and_says_why() -> None:
    blind = read(span("chat m", {"gen_ai.operation.name": "chat"})).blind
    assert blind is not None
    assert (blind.cause, blind.fix) == (
        "content capture is off",
        "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_AND_EVENT",
    )


def test_messages_that_were_cut_make_it_blind_too() -> None:
    blind = read(span("chat m", {"gen_ai.operation.name": "chat", "gen_ai.output.messages": '[{"role": "assi'})).blind
    assert blind is not None
    assert "cut" in blind.cause


def test_the_scope_does_not_choose_the_convention() -> None:
    shown = span("lookup.tool", {"traceloop.span.kind": "tool"}, scope="opentelemetry.instrumentation.openai_agents")
    assert read(shown).convention == "traceloop"
    shown = span("execute_tool lookup", {"gen_ai.operation.name": "execute_tool"}, scope=shown.scope.name)
    assert read(shown).convention == "genai"
