"""Traces that no sound SDK makes: circles of parents, and ids that two spans share. No call hides in them."""

from itertools import permutations

import pytest

from collector.telemetry import Batch, Span
from evaluator.items import ItemKind
from tests.collector.telemetry import agent, assembled, items_of, span, tool, tools_of


def ident(number: int) -> bytes:
    return number.to_bytes(8, "big")


@pytest.mark.parametrize("length", [1, 2, 3, 4])
def test_tools_in_a_circle_of_parents_are_calls_in_any_order(length: int) -> None:
    circle = [
        tool(f"tool-{number}", {}, id=ident(number + 1), parent=ident((number + 1) % length + 1))
        for number in range(length)
    ]
    below = tool("below", {}, id=ident(9), parent=ident(1))
    for order in permutations([*circle, below]):
        found = assembled(*(Batch([each]) for each in order))
        assert sorted(item.name for item in found.values()) == ["below", *(f"tool-{n}" for n in range(length))]


def test_layers_of_one_call_in_a_circle_are_one_call() -> None:
    circle = [tool("refund", id=ident(1), parent=ident(2)), tool("refund", id=ident(2), parent=ident(1))]
    for order in permutations(circle):
        assert [item.name for item in tools_of(*order)] == ["refund"]


CONFLICTING = [
    (tool("lookup", {}, id=ident(1)), tool("delete_account", {}, id=ident(1))),
    (tool("pay", {"n": 1}, id=ident(1)), tool("pay", {"n": 2}, id=ident(1))),
    (tool("pay", {}, id=ident(1), at=5), tool("pay", {}, id=ident(1), at=9)),
    (span("GET /", id=ident(1), kind=2), tool("pay", {}, id=ident(1))),
    (agent(id=ident(1)), tool("pay", {}, id=ident(1))),
]


@pytest.mark.parametrize("spans", CONFLICTING)
def test_two_spans_of_one_id_are_two_spans_in_any_order_and_however_often_they_come(spans: tuple[Span, Span]) -> None:
    names = sorted(each.attributes["gen_ai.tool.name"] for each in spans if "gen_ai.tool.name" in each.attributes)
    for one, other in permutations(spans):
        assert sorted(item.name for item in tools_of(one, other, one, other, other)) == names


@pytest.mark.parametrize("name", ["approval", "test.run"])
@pytest.mark.parametrize("convention", ["genai", "openinference", "mcp"])
def test_a_tool_span_with_the_name_of_an_event_is_a_call_and_no_event(name: str, convention: str) -> None:
    attributes = {
        "genai": {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "drop"},
        "openinference": {"openinference.span.kind": "TOOL", "tool.name": "drop"},
        "mcp": {"mcp.method.name": "tools/call", "gen_ai.tool.name": "drop"},
    }[convention]
    (item,) = items_of(span(name, attributes))
    assert (item.kind, item.name) == (ItemKind.TOOL, "drop")


def test_a_tool_span_that_says_how_a_test_run_went_is_both() -> None:
    attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "pytest",
        "hangar.test.status": "passed",
    }
    items = items_of(span("test.run", attributes))
    assert sorted((item.kind, item.name) for item in items) == [
        (ItemKind.EVENT, "test.run"),
        (ItemKind.TOOL, "pytest"),
    ]
    assert len({item.id for item in items}) == 2
