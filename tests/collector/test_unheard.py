"""What a model asked for and no span shows: it may have run, so that nothing passes that would fail then."""

import json
from typing import Any

import pytest

from collector.assembly import Assembly
from collector.telemetry import Batch, LogRecord, Span
from evaluator.items import UNREADABLE_NAME
from tests.collector.telemetry import TRACE, agent, chat, items_of, log, span, tool

ASKED = json.dumps([{"role": "assistant", "parts": [{"type": "tool_call", "name": "drop", "arguments": {}}]}])


def model(**attributes: Any) -> Span:
    return span(
        "chat m", {"gen_ai.operation.name": "chat"} | {k.replace("__", "."): v for k, v in attributes.items()}
    )


def causes(*shown: Span | LogRecord) -> list[str]:
    """Why the calls of the session cannot be seen; in either order of arrival."""
    found = []
    for order in (shown, shown[::-1]):
        assembly = Assembly()
        for each in order:
            assembly.add(Batch([each], []) if isinstance(each, Span) else Batch([], [each]))
        found.append([why.cause for why in assembly.blind().values()])
    assert found[0] == found[1]
    return found[0]


FINISHED: list[dict[str, Any]] = [
    {"gen_ai__response__finish_reasons": ["tool_calls"]},
    {"gen_ai__response__finish_reasons": '["tool_use"]'},
    {"gen_ai__response__finish_reasons": ["stop", "tool_calls"]},
]


@pytest.mark.parametrize("attributes", FINISHED)
def test_a_model_that_asked_for_tools_without_their_names_is_unheard_though_an_agent_speaks(attributes: Any) -> None:
    assert causes(agent(), model(**attributes)) == ["content capture is off"]


def test_a_model_that_stopped_asked_for_nothing() -> None:
    assert causes(agent(), model(gen_ai__response__finish_reasons=["stop"])) == []


def test_a_message_that_was_cut_may_have_asked_for_tools() -> None:
    cut = model(gen_ai__output__messages=ASKED[:-20])
    assert causes(agent(), cut) == ["it was cut by an attribute length limit"]
    assert causes(agent(), cut, tool("lookup", {})) == []


def test_where_tools_have_spans_what_was_asked_for_is_seen() -> None:
    assert causes(agent(), model(**FINISHED[0]), tool("lookup", {})) == []


def test_a_log_record_says_what_the_span_of_the_model_does_not() -> None:
    asking = model(**FINISHED[0])
    details = log("gen_ai.client.inference.operation.details", {"gen_ai.output.messages": ASKED}, of=asking)
    assert causes(asking, details) == ["the model asked for drop, and nothing shows whether it ran"]
    assert causes(agent(), asking, details) == []


def test_a_call_that_nothing_follows_may_have_run_where_a_client_of_models_is_all_that_speaks() -> None:
    asking = chat([("drop", {}, "c1")], at=10)
    assert causes(asking) == ["the model asked for drop, and nothing shows whether it ran"]
    assert causes(asking, chat(shows=[("c1", "done")], at=50)) == []
    assert causes(asking, tool("lookup", {})) == []


def test_a_call_that_nothing_follows_is_held_where_a_framework_speaks() -> None:
    assert causes(agent(), chat([("drop", {}, "c1")], at=10)) == []


def test_a_handoff_and_a_final_answer_are_no_calls() -> None:
    assert causes(agent(), chat([("final_result", {}, "c1")]), chat([("transfer_to_sales", {}, "c2")])) == []


def test_the_harness_is_told_what_models_ask_for_and_are_shown() -> None:
    sightings = (
        Assembly().add(Batch([chat([("drop", {"n": 1}, "c2")], [("c1", "done")]), model(**FINISHED[0])])).sightings
    )
    assert [[(call.name, call.call_id) for call in each.asks] for each in sightings] == [
        [("drop", "c2")],
        [(UNREADABLE_NAME, None)],
    ]
    assert [list(each.answers) for each in sightings] == [["c1"], []]
    assert {each.trace_id for each in sightings} == {TRACE}


def test_a_request_in_a_log_record_that_names_nobody_is_nobodys() -> None:
    event = "gen_ai.client.inference.operation.details"
    asking = log(event, {"gen_ai.output.messages": ASKED.replace('"name"', '"id": "c1", "name"')}, at=10)
    reply = [{"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "done"}]}]
    assert items_of(asking, log(event, {"gen_ai.input.messages": json.dumps(reply)}, at=50)) == []
