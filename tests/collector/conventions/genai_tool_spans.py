"""Tool spans of the GenAI conventions: rows of table A of corpus/CONVENTIONS.md."""

from collector.telemetry import STATUS_ERROR
from tests.collector.conventions.tool_spans import ORDER, RAISED, UNKNOWN, Row, genai, text

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
        "5 openai-agents, OTel genai: a failure of type _OTHER",
        genai({"error.type": "_OTHER"}, status=STATUS_ERROR, status_message="{'message': 'Error running tool'}"),
        result=None,
        error="{'message': 'Error running tool'}",
    ),
    Row(
        "6 openai-agents, OTel v2: ERROR and nothing else", genai({}, status=STATUS_ERROR), result=None, error=UNKNOWN
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
        "32 by hand: structured arguments",
        genai({"gen_ai.tool.call.arguments": ORDER, "gen_ai.tool.call.result": {"status": "shipped"}}),
        args=ORDER,
        result={"status": "shipped"},
    ),
]
