"""The rows of corpus/CONVENTIONS.md, table A: what each framework's tool span says of the call.

Written from the table where the corpus has no payload; the recorded payloads are read in `test_corpus`.
"""

import json
from dataclasses import dataclass
from typing import Any

import pytest

from collector.telemetry import STATUS_ERROR, STATUS_OK, Span
from evaluator.items import Call, CallStatus, NotRecorded
from tests.collector.telemetry import items_of, span, tools_of

ORDER = {"order_id": "A-1"}
SCHEMA = json.dumps({"type": "object", "properties": {"order_id": {"type": "string"}}})
RAISED = ("exception", {"exception.type": "scripts.ToolFailure", "exception.message": "service down"})
UNKNOWN = object()
"""The span does not carry it."""


@dataclass
class Row:
    name: str
    span: Span
    tool: str = "get_order"
    args: Any = UNKNOWN
    result: Any = UNKNOWN
    error: Any = None
    call_id: str | None = None
    convention: str = "genai"


def genai(attributes: dict[str, Any], **fields: Any) -> Span:
    said = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "get_order"}
    return span("execute_tool get_order", said | attributes, **fields)


def openinference(attributes: dict[str, Any], name: str = "get_order", **fields: Any) -> Span:
    said = {"openinference.span.kind": "TOOL", "tool.name": "get_order"}
    return span(name, said | attributes, **fields)


def traceloop(attributes: dict[str, Any], **fields: Any) -> Span:
    said = {"traceloop.span.kind": "tool", "traceloop.entity.name": "get_order"}
    return span("get_order.tool", said | attributes, **fields)


def text(value: Any) -> str:
    return json.dumps(value)


TOOL_MESSAGE = {"content": text({"status": "shipped"}), "tool_call_id": "call-1", "status": "success"}
CALLBACK = {
    "input_str": "{'order_id': 'A-1'}",
    "inputs": ORDER,
    "tags": [],
    "metadata": {},
    "kwargs": {"tool_call_id": "call-1"},
}

ROWS = [
    Row(
        "1 pydantic-ai: a plain string result is stored unquoted",
        genai(
            {
                "logfire.msg": "running tool: get_order",
                "gen_ai.tool.call.arguments": text(ORDER),
                "gen_ai.tool.call.result": "account deleted",
                "gen_ai.tool.call.id": "call-1",
            }
        ),
        args=ORDER,
        result="account deleted",
        call_id="call-1",
        convention="pydantic-ai",
    ),
    Row(
        "1 pydantic-ai: a failure is in the exception event, the status has no text",
        genai({"logfire.msg": "m", "gen_ai.tool.call.arguments": text(ORDER)}, status=STATUS_ERROR, events=[RAISED]),
        args=ORDER,
        result=None,
        error="service down",
        convention="pydantic-ai",
    ),
    Row(
        "2 pydantic-ai 0.7: no operation name",
        span(
            "running tool", {"gen_ai.tool.name": "get_order", "tool_arguments": text(ORDER), "tool_response": "done"}
        ),
        args=ORDER,
        result="done",
        convention="pydantic-ai",
    ),
    Row(
        "3 openai-agents, OpenInference",
        openinference({"input.value": text(ORDER), "output.value": "done", "tool.parameters": SCHEMA}),
        args=ORDER,
        result="done",
        convention="openinference",
    ),
    Row(
        "4 openai-agents, Traceloop",
        traceloop(
            {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": "get_order",
                "gen_ai.tool.call.arguments": text(ORDER),
                "gen_ai.tool.call.result": "done",
            }
        ),
        args=ORDER,
        result="done",
        convention="traceloop",
    ),
    Row(
        "5 openai-agents, OTel genai: a failure of type _OTHER",
        genai({"error.type": "_OTHER"}, status=STATUS_ERROR, status_message="{'message': 'Error running tool'}"),
        result=None,
        error="{'message': 'Error running tool'}",
    ),
    Row(
        "6 openai-agents, OTel v2: ERROR and nothing else", genai({}, status=STATUS_ERROR), result=None, error=UNKNOWN
    ),
    Row(
        "7 openai-agents JS: an exception event without a type",
        openinference(
            {"input.value": text(ORDER)},
            status=STATUS_ERROR,
            events=[("exception", {"exception.message": "service down"})],
        ),
        args=ORDER,
        result=None,
        error="service down",
        convention="openinference",
    ),
    Row(
        "8 LangChain, OpenInference: kind AGENT because of the tool's name",
        span(
            "account_agent",
            {
                "openinference.span.kind": "AGENT",
                "tool.name": "account_agent",
                "input.value": text(ORDER),
                "output.value": text({"type": "tool", "data": TOOL_MESSAGE}),
                "output.mime_type": "application/json",
            },
        ),
        tool="account_agent",
        args=ORDER,
        result={"status": "shipped"},
        call_id="call-1",
        convention="openinference",
    ),
    Row(
        "8 LangChain, OpenInference: one text argument is a bare value",
        openinference({"input.value": "A-1", "output.value": "done"}),
        result="done",
        convention="openinference",
    ),
    Row(
        "8 LangChain, OpenInference: a bare value is named by a schema of one parameter",
        openinference({"input.value": "A-1", "output.value": "done", "tool.parameters": SCHEMA}),
        args=ORDER,
        result="done",
        convention="openinference",
    ),
    Row(
        "8 LangChain, OpenInference: a handled error is a status in the message",
        openinference(
            {
                "input.value": text(ORDER),
                "output.value": text({"type": "tool", "data": TOOL_MESSAGE | {"content": "no", "status": "error"}}),
            },
            status=STATUS_OK,
        ),
        args=ORDER,
        result="no",
        error="no",
        call_id="call-1",
        convention="openinference",
    ),
    Row(
        "9 LangChain, Traceloop: the callback's payload",
        traceloop(
            {
                "gen_ai.tool.call.arguments": text(CALLBACK),
                "gen_ai.tool.call.result": text({"output": {"lc": 1, "type": "constructor", "kwargs": TOOL_MESSAGE}}),
            }
        ),
        args=ORDER,
        result={"status": "shipped"},
        call_id="call-1",
        convention="traceloop",
    ),
    Row(
        "9 LangChain, Traceloop: only the Python repr of the input",
        traceloop({"traceloop.entity.input": text({"input_str": "{'order_id': 'A-1'}", "tags": []})}),
        args=ORDER,
        convention="traceloop",
    ),
    Row(
        "10 LangChain, OTel genai: a qualified error type and a message",
        genai(
            {"gen_ai.tool.call.id": "call-1", "error.type": "scripts.ToolFailure"},
            status=STATUS_ERROR,
            status_message="service down",
        ),
        result=None,
        error="service down",
        call_id="call-1",
    ),
    Row(
        "11 Google ADK: a result that is no mapping is wrapped",
        genai(
            {
                "gcp.vertex.agent.event_id": "e",
                "gen_ai.tool.call.arguments": text(ORDER),
                "gen_ai.tool.call.result": text({"result": "done"}),
                "gen_ai.tool.call.id": "adk-1",
            }
        ),
        args=ORDER,
        result="done",
        call_id="adk-1",
        convention="google-adk",
    ),
    Row(
        "11 Google ADK: on failure the call id is a placeholder, and the exception is there twice",
        genai(
            {"gen_ai.tool.call.id": "<not specified>", "error.type": "ToolFailure"},
            status=STATUS_ERROR,
            events=[RAISED, RAISED],
        ),
        result=None,
        error="service down",
    ),
    Row(
        "12 Google ADK, first schema",
        genai(
            {
                "gcp.vertex.agent.event_id": "e",
                "gcp.vertex.agent.tool_call_args": text(ORDER),
                "gcp.vertex.agent.tool_response": text({"status": "shipped"}),
                "gen_ai.tool.call.id": "adk-1",
            }
        ),
        args=ORDER,
        result={"status": "shipped"},
        call_id="adk-1",
        convention="google-adk",
    ),
    Row(
        "13 Google ADK, OpenInference: parameters are the arguments, the output is wrapped",
        openinference(
            {
                "gen_ai.operation.name": "execute_tool",
                "input.value": text(ORDER),
                "tool.parameters": text(ORDER),
                "output.value": text({"id": "adk-1", "name": "get_order", "response": {"result": "done"}}),
                "tool.id": "adk-1",
            },
            name="execute_tool get_order",
        ),
        args=ORDER,
        result="done",
        call_id="adk-1",
        convention="openinference",
    ),
    Row(
        "14 strands: content on span events, the result in content blocks",
        genai(
            {"gen_ai.event.start_time": "t", "gen_ai.tool.status": "success", "gen_ai.tool.call.id": "call-1"},
            events=[
                ("gen_ai.tool.message", {"content": text(ORDER)}),
                ("gen_ai.choice", {"message": text([{"text": text({"status": "shipped"})}])}),
            ],
        ),
        args=ORDER,
        result={"status": "shipped"},
        call_id="call-1",
        convention="strands",
    ),
    Row(
        "15 strands, latest: content on attributes, still in blocks",
        genai(
            {
                "gen_ai.event.start_time": "t",
                "gen_ai.tool.status": "error",
                "gen_ai.tool.call.arguments": text(ORDER),
                "gen_ai.tool.call.result": text([{"text": "Error: service down"}]),
            }
        ),
        args=ORDER,
        result="Error: service down",
        error="Error: service down",
        convention="strands",
    ),
    Row(
        "16 pydantic-ai, OpenInference: the native span, rewritten",
        openinference(
            {
                "gen_ai.operation.name": "execute_tool",
                "logfire.msg": "m",
                "input.value": text(ORDER),
                "tool.parameters": text(ORDER),
                "output.value": "done",
                "tool_call.id": "call-1",
            },
            name="execute_tool get_order",
        ),
        args=ORDER,
        result="done",
        call_id="call-1",
        convention="openinference",
    ),
    Row(
        "19 smolagents: positional arguments are named by the schema",
        openinference(
            {
                "input.value": text({"args": ["A-1"], "sanitize_inputs_outputs": True, "kwargs": {}}),
                "tool.parameters": text({"order_id": {"type": "string", "description": "the id"}}),
                "output.value": text({"status": "shipped"}),
                "output.mime_type": "application/json",
            },
            name="SimpleTool",
        ),
        args=ORDER,
        result={"status": "shipped"},
        convention="openinference",
    ),
    Row(
        "19 smolagents: positional arguments without a schema have no names",
        openinference({"input.value": text({"args": ["A-1"], "kwargs": {}}), "output.value": "done"}),
        result="done",
        convention="openinference",
    ),
    Row(
        "20 llama-index: a ToolOutput that says that it is an error",
        openinference(
            {
                "input.value": text({"kwargs": ORDER}),
                "output.value": text({"raw_input": {}, "raw_output": "no", "is_error": True, "blocks": []}),
            },
            name="FunctionTool.acall",
        ),
        args=ORDER,
        result="no",
        error="no",
        convention="openinference",
    ),
    Row(
        "20 llama-index: no arguments",
        openinference({"input.value": "{}", "output.value": "x"}),
        args={},
        result="x",
        convention="openinference",
    ),
    Row(
        "23 agent-framework: the text None is no arguments, the id may be unknown",
        genai(
            {
                "gen_ai.tool.call.arguments": "None",
                "gen_ai.tool.call.result": "done",
                "gen_ai.tool.call.id": "unknown",
            }
        ),
        args={},
        result="done",
    ),
    Row(
        "24 AI SDK 7: text results are quoted",
        genai({"gen_ai.tool.call.arguments": text(ORDER), "gen_ai.tool.call.result": '"account deleted"'}),
        args=ORDER,
        result="account deleted",
    ),
    Row(
        "25 AI SDK 5 and 6",
        span(
            "ai.toolCall",
            {
                "ai.operationId": "ai.toolCall",
                "ai.toolCall.name": "get_order",
                "ai.toolCall.id": "call-1",
                "ai.toolCall.args": text(ORDER),
                "ai.toolCall.result": '"account deleted"',
            },
        ),
        args=ORDER,
        result="account deleted",
        call_id="call-1",
        convention="vercel-ai",
    ),
    Row(
        "26 Mastra: the message of an error is an attribute",
        genai(
            {
                "mastra.span.type": "tool_call",
                "gen_ai.tool.call.arguments": text(ORDER),
                "error.type": "unknown",
                "error.message": "service down",
                "gen_ai.tool.call.id": "call-1",
            },
            status=STATUS_ERROR,
        ),
        args=ORDER,
        result=None,
        error="service down",
        call_id="call-1",
        convention="mastra",
    ),
    Row(
        "27 MCP, client: the name is only in the span's",
        span("MCP send tools/call get_order", {"mcp.method.name": "tools/call", "jsonrpc.request.id": "3"}, kind=3),
        convention="mcp",
    ),
    Row(
        "28 FastMCP, server",
        span(
            "tools/call get_order",
            {"mcp.method.name": "tools/call", "gen_ai.tool.name": "get_order", "error.type": "tool_error"},
            kind=2,
            status=STATUS_ERROR,
        ),
        result=None,
        error="tool_error",
        convention="mcp",
    ),
    Row(
        "29 MCP, Traceloop: arguments and result are wrapped",
        traceloop(
            {
                "traceloop.entity.input": text({"tool_name": "get_order", "arguments": ORDER}),
                "traceloop.entity.output": text({"result": "no", "is_error": True}),
            }
        ),
        args=ORDER,
        result="no",
        error="no",
        convention="traceloop",
    ),
    Row(
        "32 by hand: structured arguments",
        genai({"gen_ai.tool.call.arguments": ORDER, "gen_ai.tool.call.result": {"status": "shipped"}}),
        args=ORDER,
        result={"status": "shipped"},
    ),
    Row(
        "hangar",
        span("tool.call", {"gen_ai.tool.name": "get_order", "gen_ai.tool.call.arguments": text(ORDER)}),
        args=ORDER,
        convention="hangar",
    ),
]


def as_row(call: Call) -> tuple[Any, ...]:
    values = (call.args, call.result, call.error)
    return call.name, *(UNKNOWN if isinstance(value, NotRecorded) else value for value in values), call.call_id


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_tool_span_is_read_as_the_table_says(row: Row) -> None:
    [item] = tools_of(row.span)
    assert item.call is not None
    assert as_row(item.call) == (row.tool, row.args, row.result, row.error, row.call_id)
    assert item.call.convention == row.convention
    assert item.call.status is (CallStatus.OK if row.error is None else CallStatus.ERROR)
    assert item.status == ("ok" if row.error is None else "error")


PHANTOMS = {
    "ADK's merged span": genai({"gcp.vertex.agent.event_id": "e", "gen_ai.tool.name": "(merged tools)"}),
    "ADK's transfer": genai({"gcp.vertex.agent.event_id": "e", "gen_ai.tool.type": "TransferToAgentTool"}),
    "a handoff of openai-agents": span(
        "handoff to account", {"openinference.span.kind": "TOOL", "input.value": "support", "output.value": "account"}
    ),
    "a final answer of smolagents": openinference({"tool.name": "final_answer"}, name="FinalAnswerTool"),
    "a step of MCP's protocol": span("tools/list", {"mcp.method.name": "tools/list"}, kind=2),
}


@pytest.mark.parametrize("phantom", PHANTOMS.values(), ids=PHANTOMS)
def test_what_only_looks_like_a_call_is_none(phantom: Span) -> None:
    assert items_of(phantom) == []


GRAPH_INTERRUPT = ("exception", {"exception.type": "langgraph.errors.GraphInterrupt"})
HELD = {
    "pydantic-ai says so": genai({"logfire.msg": "m", "pydantic_ai.tool.deferral.name": "ApprovalRequired"}),
    "pydantic-ai's older format says it as an error": genai(
        {"logfire.msg": "m", "pydantic_ai.tool.deferral.name": "CallDeferred"}, status=STATUS_ERROR
    ),
    "LangGraph's interrupt, status OK": openinference({}, status=STATUS_OK, events=[GRAPH_INTERRUPT]),
    "LangGraph's interrupt as an error of Traceloop": traceloop(
        {"error.type": "GraphInterrupt"}, status=STATUS_ERROR
    ),
    "LangGraph's interrupt as an error of OTel": genai(
        {"error.type": "langgraph.errors.GraphInterrupt"}, status=STATUS_ERROR
    ),
    "strands leaves its status out": genai({"gen_ai.event.start_time": "t"}),
    "ADK says it in the result": genai(
        {
            "gcp.vertex.agent.event_id": "e",
            "gen_ai.tool.call.result": text(
                {"error": "This tool call requires confirmation, please approve or reject."}
            ),
        }
    ),
}


@pytest.mark.parametrize("held", HELD.values(), ids=HELD)
def test_a_held_call_has_not_happened(held: Span) -> None:
    [item] = [item for item in items_of(held) if item.kind != "event"]
    assert (item.kind, item.name, item.status) == ("approval", "approval", "suspended")


def test_a_call_that_adk_was_not_allowed_is_denied() -> None:
    refused = text({"error": "This tool call is rejected."})
    [item] = items_of(genai({"gcp.vertex.agent.event_id": "e", "gen_ai.tool.call.result": refused}))
    assert (item.kind, item.status) == ("approval", "denied")
