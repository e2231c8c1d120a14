"""Layers of one call, calls joined with what the model asked for, and approvals across traces."""

import json
from typing import Any

from collector.assembly import Assembly
from collector.telemetry import Batch, Span
from evaluator.items import CallStatus, Item, NotRecorded
from tests.collector.telemetry import agent, approvals_of, chat, log, span, tool, tools_of

OTHER = b"\x02" * 16


def mcp(name: str, **fields: Any) -> Span:
    return span(f"tools/call {name}", {"mcp.method.name": "tools/call", "gen_ai.tool.name": name}, **fields)


def openinference(name: str, **fields: Any) -> Span:
    attributes = {"openinference.span.kind": "TOOL", "tool.name": name}
    return span(name, attributes | fields.pop("more", {}), **fields)


def only(items: list[Item]) -> Any:
    [item] = items
    return item.call


def statuses(*spans: Span) -> list[CallStatus]:
    assembly = Assembly()
    assembly.add(Batch(spans=list(spans)))
    return [each.call.status for each in assembly.calls()]


def test_the_layers_of_one_call_count_once() -> None:
    outer = openinference("lookup", more={"output.value": "done"})
    client = mcp("lookup", parent=outer, kind=3)
    server = mcp("lookup", parent=client, kind=2)
    inner = tool("lookup", {"id": 1}, parent=server, call_id="call-1")
    call = only(tools_of(inner, server, client, outer))
    assert (call.span_id, call.args, call.result, call.call_id) == (outer.span_id, {"id": 1}, "done", "call-1")


def test_a_failure_of_the_last_inner_layer_is_the_calls() -> None:
    client = mcp("lookup", kind=3, took=50)
    server = mcp("lookup", parent=client, kind=2, status=2, status_message="down")
    assert only(tools_of(client, server)).error == "down"


def test_a_client_that_tried_again_did_not_fail() -> None:
    client = tool("lookup", {}, took=90)
    first = mcp("lookup", parent=client, at=1_010, status=2)
    second = mcp("lookup", parent=client, at=1_030)
    assert not only(tools_of(client, first, second)).failed


def test_an_agent_between_makes_two_calls() -> None:
    outer = tool("lookup", {"id": 1})
    between = agent(parent=outer)
    assert len(tools_of(outer, between, mcp("lookup", parent=between))) == 2


def test_a_tool_that_calls_itself_with_other_arguments_is_called_twice() -> None:
    outer = tool("lookup", {"id": 1})
    assert len(tools_of(outer, tool("lookup", {"id": 2}, parent=outer))) == 2


def test_another_tool_inside_a_tool_is_another_call() -> None:
    outer = tool("refund", {})
    assert [item.name for item in tools_of(outer, tool("lookup", {}, parent=outer, at=1_001))] == ["refund", "lookup"]


def test_arguments_that_the_span_lost_come_from_the_model_by_id() -> None:
    asked = chat([("lookup", {"id": 1}, "call-1"), ("lookup", {"id": 2}, "call-2")])
    assert only(tools_of(asked, tool("lookup", call_id="call-2", at=2_000))).args == {"id": 2}


def test_a_bare_value_tells_which_of_two_calls_it_is() -> None:
    asked = chat([("lookup", {"id": "A-1"}, "call-1"), ("lookup", {"id": "A-2"}, "call-2")])
    call = only(
        tools_of(asked, openinference("lookup", more={"input.value": "A-2", "output.value": "done"}, at=2_000))
    )
    assert (call.args, call.call_id) == ({"id": "A-2"}, "call-2")


def test_a_call_without_an_id_belongs_to_the_last_message_that_asked_for_its_tool() -> None:
    first, second = chat([("lookup", {"id": 1}, "call-1")], at=10), chat([("lookup", {"id": 2}, "call-2")], at=30)
    spans = [first, second, openinference("lookup", at=20), openinference("lookup", at=40)]
    assert [item.call.call_id for item in tools_of(*spans) if item.call] == ["call-1", "call-2"]


def test_an_id_that_no_model_knows_is_joined_by_name() -> None:
    asked = chat([("lookup", {"id": 1}, "lookup_0")])
    call = only(tools_of(asked, tool("lookup", call_id="adk-1", at=2_000)))
    assert (call.args, call.call_id) == ({"id": 1}, "adk-1")


def test_a_request_of_another_trace_says_nothing_of_a_call() -> None:
    asked = chat([("lookup", {"id": 1}, None)], trace=OTHER)
    assert isinstance(only(tools_of(asked, tool("lookup", at=2_000))).args, NotRecorded)


def test_where_only_the_model_is_seen_a_shown_result_is_a_call() -> None:
    asked = chat([("lookup", {"id": 1}, "call-1")], at=10)
    answered = chat((), [("call-1", '{"status": "shipped"}')], at=50, trace=OTHER)
    call = only(tools_of(asked, answered))
    assert (call.args, call.result, call.status, call.source) == ({"id": 1}, {"status": "shipped"}, "ok", "llm-span")
    assert (call.started, call.ended) == (20, 50)


def test_where_only_the_model_is_seen_a_shown_error_is_a_failed_call() -> None:
    asked = chat([("lookup", {"id": 1}, "call-1")], at=10)
    assert only(tools_of(asked, chat((), [("call-1", {"error": "down"})], at=50))).error == "down"


def test_a_call_that_was_only_asked_for_has_not_happened() -> None:
    asked = chat([("lookup", {"id": 1}, "call-1")])
    assert tools_of(asked) == []
    assert statuses(asked) == [CallStatus.REQUESTED]


def test_a_call_that_the_framework_refused_to_run_has_not_happened() -> None:
    asked = chat([("lookup", {"wrong": 1}, "call-1"), ("refund", {}, "call-2")], at=10)
    answered = chat((), [("call-1", {"error": "invalid"})], at=50)
    assert [item.name for item in tools_of(asked, tool("refund", {}, call_id="call-2", at=20), answered)] == [
        "refund"
    ]


def test_results_of_earlier_turns_are_not_counted_again() -> None:
    history = json.dumps(
        [
            {
                "role": "assistant",
                "parts": [{"type": "tool_call", "id": "call-1", "name": "lookup", "arguments": {}}],
            },
            {"role": "tool", "parts": [{"type": "tool_call_response", "id": "call-1", "response": "done"}]},
        ]
    )
    later = span("chat m", {"gen_ai.operation.name": "chat", "gen_ai.input.messages": history}, at=90)
    calls = tools_of(tool("lookup", {}, "done", call_id="call-1", trace=OTHER), later)
    assert len(calls) == 1


def test_the_same_request_seen_by_framework_and_client_is_one() -> None:
    outer = chat([("lookup", {}, "call-1")], took=90)
    inner = chat([("lookup", {}, "call-1")], at=1_010, parent=outer)
    assert statuses(outer, inner, tool("lookup", {}, "x", call_id="call-1", at=2_000)) == [CallStatus.OK]


def test_a_request_that_nothing_came_of_is_an_approval_once_the_run_is_over() -> None:
    run = agent(at=1, took=9_000)
    asked = chat([("lookup", {"id": 1}, "call-1")], parent=run)
    assert approvals_of(asked) == []
    assert [item.status for item in approvals_of(asked, run)] == ["requested"]


def test_an_approval_that_was_given_in_a_second_trace_is_one_call() -> None:
    more = {"gen_ai.conversation.id": "c", "logfire.msg": "m"}
    held = tool("lookup", {}, call_id="call-1", more=more | {"pydantic_ai.tool.deferral.name": "ApprovalRequired"})
    resumed = tool("lookup", {}, "done", call_id="call-1", more=more, trace=OTHER, at=5_000)
    assert [item.status for item in approvals_of(held)] == ["suspended"]
    assert [item.status for item in approvals_of(held, resumed)] == ["allowed"]
    assert [item.id[0] for item in tools_of(held, resumed)] == [OTHER]


def test_an_approval_without_call_ids_is_tied_by_name_and_arguments() -> None:
    held = tool("lookup", {"id": 1})
    resumed = tool("lookup", {"id": 1}, "done", trace=OTHER, at=5_000)
    assert len(tools_of(held)) == 1  # it may as well have run
    assert [item.id[0] for item in tools_of(held, resumed)] == [OTHER]
    assert len(tools_of(held, tool("lookup", {"id": 2}, "done", trace=OTHER, at=5_000))) == 2


def test_two_calls_with_results_stay_two() -> None:
    same = {"call_id": "call-1", "more": {"gen_ai.conversation.id": "c"}}
    assert len(tools_of(tool("lookup", {}, "x", **same), tool("lookup", {}, "x", trace=OTHER, at=5_000, **same))) == 2


def test_a_denied_call_is_said_to_the_model() -> None:
    run = agent(at=1, took=9_000)
    asked = chat([("lookup", {}, "call-1")], at=10, parent=run)
    answered = chat((), [("call-1", "The tool call was denied.")], at=50, parent=run)
    assert tools_of(asked, answered, run) == []
    assert [item.status for item in approvals_of(asked, answered, run)] == ["denied"]


def test_an_exception_that_a_log_record_reports_is_the_spans() -> None:
    failed = tool("lookup", {"id": 1}, status=2)
    raised = log("exception", {"exception.type": "Down", "exception.message": "service down"}, of=failed)
    assert only(tools_of(failed, raised)).error == "service down"
    assert only(tools_of(raised, failed)).error == "service down"


def test_a_call_knows_its_agent() -> None:
    run = agent()
    assert only(tools_of(tool("lookup", parent=run), run)).agent == "support"


def test_trace_contract_records_are_calls() -> None:
    record = {"type": "tool", "ts": 2.0, "fn": "lookup", "args": {"id": 1}, "result": None, "error": "down"}
    [item] = tools_of(record | {"started_at": 1.5})
    assert item.call is not None
    assert (item.call.args, item.call.error, item.call.failed, item.call.source) == (
        {"id": 1},
        "down",
        True,
        "trace-contract",
    )
    assert (item.call.started, item.call.ended) == (1_500_000_000, 2_000_000_000)


def test_two_records_that_say_the_same_are_two_calls() -> None:
    record = {"type": "tool", "ts": 2.0, "fn": "lookup", "args": {}}
    assert len(tools_of(record, dict(record))) == 2


def test_a_forgotten_trace_leaves_nothing_behind() -> None:
    spans = [
        agent(),
        chat([("lookup", {}, "call-1")]),
        tool("lookup", {}, call_id="call-1"),
        mcp("lookup"),
        openinference("refund"),
    ]
    assembly = Assembly()
    first = assembly.add(Batch(spans=spans)).changes
    assembly.forget(spans[0].trace_id)
    assert assembly.calls() == []
    assert assembly.add(Batch(spans=spans)).changes == first


def test_a_call_is_explained() -> None:
    asked = chat([("lookup", {"id": 1}, "call-1")])
    outer = tool("lookup", call_id="call-1", at=2_000)
    layer = mcp("lookup", parent=outer, at=2_001)
    assembly = Assembly()
    assembly.add(Batch(spans=[asked, outer, layer]))
    [call] = assembly.calls()
    assert (call.name_from, call.args_from) == (
        "gen_ai.tool.name",
        f"gen_ai.output.messages of span {asked.span_id.hex()}",
    )
    assert [each.convention for each in call.layers] == ["genai", "mcp"]
    [ignored] = assembly.ignored()
    assert ignored.reason == f"a layer of the call that span {outer.span_id.hex()} (genai) shows"


def test_layers_may_be_nested_deeper_than_python_recurses() -> None:
    layers = [mcp("lookup", at=1)]
    for depth in range(2, 1_500):
        layers.append(mcp("lookup", at=depth, parent=layers[-1]))
    assert len(tools_of(*layers)) == 1
