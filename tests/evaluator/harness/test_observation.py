"""Whether the agent is observed at all, and how late."""

import os
from typing import Any

import pytest

from evaluator.harness.sighting import Sighting
from evaluator.verdict import Status
from tests.evaluator.harness.agents import (
    ANSWERS,
    CALLS,
    FORBIDS,
    NEVER,
    E,
    F,
    P,
    codes,
    only_enters,
    silent,
    statuses,
)
from tests.evaluator.harness.world import Message, World


@pytest.mark.parametrize("test", [CALLS, FORBIDS, NEVER])
async def test_no_telemetry_at_all_is_an_error_with_the_way_out(test: dict[str, Any]) -> None:
    async with World(silent) as world:
        outcome = await world.run([test], settle_time=20)
    assert statuses(outcome) == [E]
    assert codes(outcome) == ["not_observed"]
    assert "No telemetry came at all" in outcome.tests[0].reasons[0].text
    assert "OTEL_EXPORTER_OTLP_ENDPOINT" in outcome.tests[0].reasons[0].fix


async def test_spans_of_another_trace_say_that_the_context_is_not_carried_on() -> None:
    async def agent(message: Message) -> str:
        message.call("pay", trace_id=b"x" * 16)
        return "ok"

    async with World(agent) as world:
        outcome = await world.run([FORBIDS], settle_time=20)
    assert codes(outcome) == ["not_observed"]
    assert "none of this message's trace" in outcome.tests[0].reasons[0].text
    assert "agent.correlate" in outcome.tests[0].reasons[0].fix


async def test_spans_of_other_traces_are_counted_for_the_message_they_came_after_whatever_they_say() -> None:
    async def agent(message: Message) -> str:
        message.world.deliver([_stray("look"), _stray("serve", declares=frozenset({"pay"}))], [])
        return "ok"

    async with World(agent) as world:
        outcome = await world.run([FORBIDS, FORBIDS, FORBIDS], settle_time=20)
    assert [test.reasons[0].text.partition(",")[0] for test in outcome.tests] == [
        "2 spans came (the last: 'serve')"
    ] * 3


def _stray(name: str, declares: frozenset[str] | None = None) -> Sighting:
    return Sighting(os.urandom(16), os.urandom(8), b"", name, "other", declares=declares)


async def test_telemetry_at_a_wrong_path_is_the_cause_with_the_path_to_use() -> None:
    async def agent(message: Message) -> str:
        message.misdirect("/traces")
        return "ok"

    async with World(agent) as world:
        outcome = await world.run([FORBIDS], settle_time=20)
    (reason,) = outcome.tests[0].reasons
    assert reason.code == "not_observed"
    assert "a request came to POST /traces: OTLP/HTTP is at /v1/traces" in reason.text
    assert "Append /v1/traces" in reason.fix
    assert "misdirected" not in [notice.code for notice in outcome.warnings]


async def test_a_part_of_the_telemetry_at_a_wrong_path_may_hold_calls() -> None:
    async def agent(message: Message) -> str:
        message.misdirect("/")
        return await only_enters(message)

    async with World(agent) as world:
        outcome = await world.run([FORBIDS, FORBIDS], settle_time=20)
    warnings = [notice.text for notice in outcome.warnings if notice.code == "misdirected"]
    assert len(warnings) == 1
    assert statuses(outcome) == [E, E]
    assert outcome.tests[0].reasons[0].code == "trace_unreadable"
    assert "POST /, and what it holds is not seen: OTLP/HTTP is at /v1/traces" in warnings[0]


async def test_one_message_of_many_that_is_not_seen_was_not_sampled_or_not_instrumented() -> None:
    async def agent(message: Message) -> str:
        if message.text == "go":
            message.entry()
        return "ok"

    async with World(agent) as world:
        outcome = await world.run([FORBIDS, {**FORBIDS, "trigger": "elsewhere"}], settle_time=20)
    assert statuses(outcome) == [P, E]
    assert "other messages of this run were seen" in outcome.tests[1].reasons[0].text
    assert "OTEL_TRACES_SAMPLER" in outcome.tests[1].reasons[0].fix


async def delayed(message: Message) -> str:
    message.world.later(0.8, lambda: (message.call("pay"), message.entry()))
    return "ok"


async def test_an_attached_agent_that_sends_late_is_waited_for_in_all_of_the_run() -> None:
    async with World(delayed) as world:
        outcome = await world.run([CALLS, CALLS, NEVER], blind_wait=60)
    assert statuses(outcome) == [P, P, F]
    assert [notice.code for notice in outcome.warnings] == ["late_telemetry"]
    assert "OTEL_BSP_SCHEDULE_DELAY" in outcome.warnings[0].text


async def test_a_settle_time_that_is_set_is_kept_and_said_to_be_too_short() -> None:
    async with World(delayed) as world:
        outcome = await world.run([CALLS, CALLS], settle_time=20, blind_wait=60)
    assert statuses(outcome) == [P, E]
    assert [notice.code for notice in outcome.warnings] == ["late_telemetry"]
    assert "agent.settle_time" in outcome.tests[1].reasons[0].fix


@pytest.mark.parametrize("comes", [False, True])
async def test_a_parent_that_never_came_shows_that_something_was_not_seen(comes: bool) -> None:
    async def agent(message: Message) -> str:
        message.call("look", parent_id=b"elsewher")
        if comes:
            message.world.later(0.03, lambda: message.span("elsewher", "agent"))
        message.entry()
        return "ok"

    async with World(agent) as world:
        outcome = await world.run([FORBIDS], settle_time=1000 if comes else 20)
    assert statuses(outcome) == [P]
    told = [notice.text for notice in outcome.warnings if notice.code == "incomplete_trace"]
    assert ["Spans of 'go' name a parent that never came" in text for text in told] == [True] * (not comes)


async def test_telemetry_that_cannot_be_read_is_an_error_of_its_test_only() -> None:
    async def agent(message: Message) -> str:
        if message.text == "bad":
            world.garble("line 1 is no JSON")
        message.call("pay")
        message.entry()
        return "ok"

    async with World(agent) as world:
        outcome = await world.run([{**CALLS, "trigger": "bad"}, CALLS], settle_time=20)
    assert statuses(outcome) == [E, P]
    assert codes(outcome) == ["trace_unreadable"]


async def test_where_all_telemetry_is_unreadable_nobody_says_that_none_came() -> None:
    async def agent(message: Message) -> str:
        message.world.garble("line 1 is no JSON")
        return "ok"

    async with World(agent) as world:
        outcome = await world.run([FORBIDS], settle_time=20)
    assert codes(outcome) == ["trace_unreadable", "not_observed"]
    assert "Nothing that came and could be read is of this message." in outcome.tests[0].reasons[1].text


@pytest.mark.parametrize(("test", "status"), [(FORBIDS, E), (CALLS, E), (ANSWERS, P)])
async def test_a_call_that_was_asked_for_and_shows_nowhere_may_have_run(test: dict[str, Any], status: Status) -> None:
    async def agent(message: Message) -> str:
        message.asks("pay", "c1")
        message.entry()
        return "ok"

    async with World(agent) as world:
        outcome = await world.run([test], settle_time=20)
    assert statuses(outcome) == [status]
    assert codes(outcome) == ["trace_unreadable"] * (status is E)


async def test_where_tools_have_spans_what_was_asked_for_and_has_none_did_not_run() -> None:
    async def agent(message: Message) -> str:
        message.asks("pay", "c1")
        message.call("look")
        message.entry()
        return "ok"

    async with World(agent) as world:
        outcome = await world.run([FORBIDS], settle_time=20)
    assert statuses(outcome) == [P]
