"""What the harness is told of each span: its role, and the tools that an agent declares."""

import json
from typing import Any

import pytest

from collector.assembly import Assembly
from collector.telemetry import Batch, Span
from evaluator.harness.sighting import Sighting
from tests.collector.telemetry import agent, chat, span, tool

DEFINITIONS = json.dumps(
    [{"type": "function", "name": "lookup"}, {"type": "function", "function": {"name": "refund"}}]
)


def sighted(shown: Span) -> Sighting:
    [sighting] = Assembly().add(Batch(spans=[shown])).sightings
    return sighting


ROLES = {
    "tool": tool("lookup"),
    "model": chat(),
    "agent": agent(),
    "workflow": span("w", {"gen_ai.operation.name": "invoke_workflow"}),
    "server": span("POST /chat", {"http.request.method": "POST"}, kind=2),
    "other": span("SELECT", {"db.system.name": "x"}, kind=3),
}


@pytest.mark.parametrize(("role", "shown"), ROLES.items(), ids=ROLES)
def test_every_span_has_a_role(role: str, shown: Span) -> None:
    assert sighted(shown).role == role


def test_a_tool_on_a_server_is_a_tool() -> None:
    assert sighted(span("tools/call x", {"mcp.method.name": "tools/call"}, kind=2)).role == "tool"


def test_a_span_that_came_before_is_not_sighted_again() -> None:
    shown = tool("lookup")
    assert len(Assembly().add(Batch(spans=[shown, shown])).sightings) == 1


DECLARING: dict[str, dict[str, Any]] = {
    "GenAI": {"gen_ai.operation.name": "chat", "gen_ai.tool.definitions": DEFINITIONS},
    "Traceloop's create_agent": {"gen_ai.operation.name": "create_agent", "gen_ai.tool.definitions": DEFINITIONS},
    "OpenInference": {
        "openinference.span.kind": "LLM",
        "llm.tools.0.tool.json_schema": '{"type": "function", "function": {"name": "lookup"}}',
        "llm.tools.1.tool.json_schema": '{"name": "refund"}',
    },
    "smolagents": {"openinference.span.kind": "AGENT", "smolagents.tools_names": ["lookup", "refund"]},
    "crewai": {
        "openinference.span.kind": "CHAIN",
        "crew_agents": json.dumps([{"tools_names": ["lookup", "refund"]}]),
    },
    "strands": {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.event.start_time": "t",
        "gen_ai.agent.tools": '["lookup", "refund"]',
    },
    "AI SDK 5": {
        "ai.operationId": "ai.generateText.doGenerate",
        "ai.prompt.tools": ['{"name": "lookup"}', '{"name": "refund"}'],
    },
    "older Traceloop": {
        "llm.request.type": "chat",
        "llm.request.functions.0.name": "lookup",
        "llm.request.functions.1.name": "refund",
    },
}


@pytest.mark.parametrize("attributes", DECLARING.values(), ids=DECLARING)
def test_declared_tools_are_found(attributes: dict[str, Any]) -> None:
    assert sighted(span("s", attributes)).declares == {"lookup", "refund"}


def test_adk_declares_in_its_request() -> None:
    request = json.dumps({"config": {"tools": [{"function_declarations": [{"name": "lookup"}, {"name": "refund"}]}]}})
    attributes = {"gcp.vertex.agent.event_id": "e", "gcp.vertex.agent.llm_request": request}
    assert sighted(span("call_llm", attributes)).declares == {"lookup", "refund"}


def test_trace_contract_records_are_sighted() -> None:
    records = [
        {"type": "hello"},
        {"type": "tools", "names": ["lookup"]},
        {"type": "turn", "context": {"test": "t1"}},
        {"type": "tool", "fn": "lookup"},
    ]
    sightings = Assembly().add(Batch(records=records)).sightings
    assert [each.role for each in sightings] == ["hello", "other", "turn", "tool"]
    assert sightings[1].declares == {"lookup"}
    assert sightings[2].context("test") == "t1"


def test_the_context_of_a_span_is_its_own_its_scopes_and_its_resources() -> None:
    context = sighted(
        tool("lookup", more={"a": 1}, scope_attributes={"a": 2, "b": 2}, resource={"b": 3, "c": 3})
    ).context
    assert [context(key) for key in "abcd"] == [1, 2, 3, None]
