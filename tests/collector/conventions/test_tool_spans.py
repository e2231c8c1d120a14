"""The rows of corpus/CONVENTIONS.md, table A: what each framework's tool span says of the call.

Written from the table where the corpus has no payload; the recorded payloads are read in `test_corpus`.
"""

from typing import Any

import pytest

from collector.telemetry import STATUS_ERROR, STATUS_OK, Span
from evaluator.items import Call, CallStatus, NotRecorded
from tests.collector.conventions import genai_tool_spans, openinference_tool_spans, other_tool_spans
from tests.collector.conventions.tool_spans import UNKNOWN, Row, genai, openinference, text, traceloop
from tests.collector.telemetry import items_of, span, tools_of


def as_row(call: Call) -> tuple[Any, ...]:
    values = (call.args, call.result, call.error)
    return call.name, *(UNKNOWN if isinstance(value, NotRecorded) else value for value in values), call.call_id


@pytest.mark.parametrize(
    "row", [*genai_tool_spans.ROWS, *openinference_tool_spans.ROWS, *other_tool_spans.ROWS], ids=lambda row: row.name
)
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
