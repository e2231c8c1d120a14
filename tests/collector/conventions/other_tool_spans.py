"""Tool spans of the other conventions: rows of table A of corpus/CONVENTIONS.md."""

from collector.telemetry import STATUS_ERROR
from tests.collector.conventions.tool_spans import CALLBACK, ORDER, TOOL_MESSAGE, Row, text, traceloop
from tests.collector.telemetry import span

ROWS = [
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
        "hangar",
        span("tool.call", {"gen_ai.tool.name": "get_order", "gen_ai.tool.call.arguments": text(ORDER)}),
        args=ORDER,
        convention="hangar",
    ),
]
