"""Traces that no sound SDK makes: circles of parents, and ids that two spans share. No call hides in them."""

import json
from dataclasses import replace
from itertools import permutations

import pytest

from collector.assembly import Assembly
from collector.assembly.losses import CIRCLE, SHARED_ID
from collector.telemetry import Attributes, Batch, Resource, Span, SpanEvent
from evaluator.items import ItemKind
from tests.collector.telemetry import TRACE, agent, assembled, chat, items_of, log, span, tool, tools_of


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


def test_each_span_of_a_circle_is_a_root_in_any_order() -> None:
    said = {"session.id": "s"}
    circle = [
        tool("refund", id=ident(1), parent=ident(3), more=said),
        tool("refund", id=ident(2), parent=ident(1)),
        agent(id=ident(3), parent=ident(2)),
    ]
    below = [tool("below", id=ident(4), parent=ident(1)), tool("deeper", id=ident(5), parent=ident(4))]
    other = tool("other", id=ident(6), parent=ident(2))
    found = []
    for order in permutations([*circle, *below, other]):
        items = assembled(*(Batch([each]) for each in order)).values()
        found.append({(item.name, item.session) for item in items})
    trace = TRACE.hex()
    assert found[0] == {("refund", "s"), ("refund", trace), ("below", "s"), ("deeper", "s"), ("other", trace)}
    assert found.count(found[0]) == len(found)


def test_no_session_passes_that_spans_of_a_circle_may_be_of() -> None:
    names_it = agent(id=ident(1), parent=ident(2), more={"session.id": "s"})
    pushes = tool("push", {}, id=ident(2), parent=ident(1))
    for order in permutations(
        [names_it, pushes, agent(id=ident(3), more={"session.id": "apart"}, trace=b"\x02" * 16)]
    ):
        assert cut([*order]) == {("s", CIRCLE), (TRACE.hex(), CIRCLE)}


def cut(spans: list[Span]) -> set[tuple[str | None, str]]:
    """The sessions that are not whole, with the causes, when the spans come one by one."""
    assembly = Assembly()
    return {(loss.session, loss.cause) for each in spans for loss in assembly.add(Batch([each])).losses}


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


APPROVAL = span("approval", {"session.id": "s", "hangar.approval.status": "allowed"}, id=ident(1))
CALL = span("tool.call", {"session.id": "s", "gen_ai.tool.name": "lookup"}, id=ident(1))
ASKS = chat([("lookup", {}, "c1")], id=ident(1), more={"session.id": "s"})
FILE_CHANGE = SpanEvent("file.change", 5, {"hangar.file.repo_path": "secrets/x"})


@pytest.mark.parametrize(
    ("one", "other", "items"),
    [
        (APPROVAL, replace(APPROVAL, attributes={**APPROVAL.attributes, "hangar.approval.status": "denied"}), 2),
        (CALL, replace(CALL, status=2), 2),
        (CALL, replace(CALL, status=2, events=[FILE_CHANGE]), 3),
        (CALL, replace(CALL, parent_id=b"absent!!"), 2),
        (CALL, replace(CALL, dropped_events=1), 2),
        (ASKS, chat([("refund", {}, "c1")], id=ident(1), more={"session.id": "s"}), 0),
        (agent(id=ident(1), more={"session.id": "s"}), agent(id=ident(1), more={"session.id": "other"}), 0),
        (
            agent(id=ident(1), more={"session.id": "s"}),
            agent(id=ident(1), more={"session.id": "s"}, events=[FILE_CHANGE]),
            1,
        ),
        (
            agent(id=ident(1), resource={"session.id": "s"}),
            agent(id=ident(1), resource={"session.id": "s", "hangar.job.id": "j"}),
            0,
        ),
    ],
)
def test_sessions_of_two_spans_with_one_id_are_not_whole_whichever_came_first(
    one: Span, other: Span, items: int
) -> None:
    sessions = {str(each.attributes.get("session.id", "s")) for each in (one, other)}
    for order in permutations((one, other)):
        assert len(assembled(*(Batch([each]) for each in (*order, *order)))) == items
        assert {(session, SHARED_ID) for session in sessions} <= cut([*order, *order])


def repeated(shown: Span) -> Span:
    """The same span, decoded from another request: equal, and no object of it the same, not even a NaN."""
    events = [SpanEvent(event.name, event.time, fresh(event.attributes)) for event in shown.events]
    return replace(shown, attributes=fresh(shown.attributes), events=events)


def fresh(attributes: Attributes) -> Attributes:
    found: Attributes = json.loads(json.dumps(attributes))
    return found


@pytest.mark.parametrize(
    "shown",
    [
        CALL,
        APPROVAL,
        ASKS,
        agent(),
        span("GET /"),
        span("tool.call", {"gen_ai.tool.name": "lookup", "hangar.seq": float("nan"), "hangar.shell.ops": ["test"]}),
        span("approval", {"hangar.turn": float("nan")}, events=[("steer", {"a": float("nan"), "b": [1, {"c": 2}]})]),
        tool("Bash", {"command": "ls"}, "ok", call_id="c1", status=2, resource={"hangar.checkout": "/w"}),
        span("claude_code.interaction"),
        span("claude_code.tool", {"tool_name": "Bash", "tool_use_id": "c", "full_command": "ls"}),
        span(
            "turn",
            events=[("event at.rs", {"event.name": "codex.tool_result", "tool_name": "Bash", "call_id": "c"})],
        ),
        span("chat", {"gen_ai.operation.name": "chat", "gen_ai.response.finish_reasons": ["tool_calls"]}),
    ],
)
def test_a_span_that_is_sent_again_counts_once_and_nothing_is_lost(shown: Span) -> None:
    other = replace(shown, start=shown.start + 1)
    once = assembled(Batch([shown]))
    assert assembled(Batch([shown]), Batch([repeated(shown)])) == once or any("nan" in repr(each) for each in once)
    assert len(assembled(Batch([shown]), Batch([repeated(shown), repeated(shown)]))) == len(once)
    assert cut([shown, repeated(shown)]) == set()
    twice = assembled(Batch([shown, other]))
    assert len(assembled(*(Batch([each]) for each in (shown, other, repeated(other), repeated(shown))))) == len(twice)


def test_the_last_exception_that_log_records_report_of_a_call_counts_in_any_order() -> None:
    call = tool("pay", {})
    boom = log("exception", {"exception.type": "Boom"}, at=20, of=call)
    held = log("exception", {"exception.type": "GraphInterrupt"}, at=10, of=call)
    for order in permutations([boom, held]):
        items = assembled(Batch([call]), *(Batch([], [each]) for each in order)).values()
        assert [item.status for item in items if item.kind is ItemKind.TOOL] == ["error"]


def test_log_records_of_two_sessions_that_say_the_same_are_two() -> None:
    of = agent()
    one = log("steer", of=of)
    other = replace(one, resource=Resource({"session.id": "s"}))
    for order in permutations([one, other]):
        items = assembled(Batch([of], [*order, *order])).values()
        assert {item.session for item in items} == {"s", TRACE.hex()}
