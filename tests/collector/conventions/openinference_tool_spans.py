"""Tool spans of OpenInference: rows of table A of corpus/CONVENTIONS.md."""

from collector.telemetry import STATUS_ERROR, STATUS_OK
from tests.collector.conventions.tool_spans import ORDER, SCHEMA, TOOL_MESSAGE, Row, openinference, text

ROWS = [
    Row(
        "3 openai-agents, OpenInference",
        openinference({"input.value": text(ORDER), "output.value": "done", "tool.parameters": SCHEMA}),
        args=ORDER,
        result="done",
        convention="openinference",
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
]
