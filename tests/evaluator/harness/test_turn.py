"""What closes a turn: when a verdict is known, and what it waits for."""

from typing import Any

import pytest

from evaluator.harness.listener import Listener
from evaluator.harness.outcome import ClosedBy, TestOutcome
from evaluator.verdict import Status
from tests.evaluator.harness.agents import (
    ANSWERS,
    CALLS,
    FORBIDS,
    NEVER,
    F,
    P,
    closed_by,
    codes,
    only_enters,
    pays,
    silent,
    statuses,
)
from tests.evaluator.harness.world import Message, World


@pytest.mark.parametrize(
    ("test", "agent", "status", "cause"),
    [
        (ANSWERS, silent, P, ClosedBy.REPLY),
        (CALLS, pays, P, ClosedBy.EVIDENCE),
        (CALLS, only_enters, F, ClosedBy.EVIDENCE),
        (FORBIDS, only_enters, P, ClosedBy.EVIDENCE),
        (FORBIDS, pays, F, ClosedBy.FAILURE),
        (NEVER, pays, F, ClosedBy.FAILURE),
    ],
)
async def test_a_turn_closes_as_soon_as_it_can(
    test: dict[str, Any], agent: Any, status: Status, cause: ClosedBy
) -> None:
    async with World(agent) as world:
        outcome = await world.run([test], settle_time=50)
    assert statuses(outcome) == [status]
    assert closed_by(outcome) == [cause]


async def test_without_an_entry_span_what_is_asked_for_is_enough() -> None:
    async def agent(message: Message) -> str:
        message.call("pay", parent_id=message.parent_id)
        return "ok"

    async with World(agent) as world:
        outcome = await world.run([CALLS], settle_time=50)
    assert closed_by(outcome) == [ClosedBy.SETTLED]


async def test_without_an_entry_span_what_is_missing_is_waited_for() -> None:
    async def agent(message: Message) -> str:
        message.call("other", parent_id=message.parent_id)
        return "ok"

    async with World(agent) as world:
        outcome = await world.run([CALLS], settle_time=50)
    assert statuses(outcome) == [F]
    assert closed_by(outcome) == [ClosedBy.SETTLE_TIME]


async def test_a_parent_that_is_missing_is_waited_for() -> None:
    async def agent(message: Message) -> str:
        message.span("inner---", "other", b"tool----")
        message.entry()

        def rest() -> None:
            message.call("pay")
            message.span("tool----", "other")

        world.later(0.05, rest)
        return "ok"

    async with World(agent) as world:
        outcome = await world.run([CALLS], settle_time=5000)
    assert statuses(outcome) == [P]
    assert closed_by(outcome) == [ClosedBy.EVIDENCE]


async def test_an_entry_span_that_is_still_to_come_is_waited_for() -> None:
    """The tool span names it as its parent, so more may have happened than is known."""

    async def agent(message: Message) -> str:
        message.call("other")
        world.later(0.05, lambda: (message.call("pay"), message.entry()))
        return "ok"

    async with World(agent) as world:
        outcome = await world.run([FORBIDS], settle_time=1000)
    assert statuses(outcome) == [F]
    assert codes(outcome) == ["forbidden_call"]


async def test_an_agent_that_sends_entry_spans_is_waited_for_until_it_has() -> None:
    async def agent(message: Message) -> str:
        message.call("other", parent_id=message.parent_id)
        if len(world.messages) == 1:
            message.entry()
        else:
            world.later(0.05, lambda: (message.call("pay"), message.entry()))
        return "ok"

    async with World(agent) as world:
        outcome = await world.run([FORBIDS, FORBIDS], settle_time=1000)
    assert statuses(outcome) == [P, F]
    assert codes(outcome, 1) == ["forbidden_call"]


async def test_a_wrong_reply_is_told_together_with_the_calls_that_are_on_their_way() -> None:
    async def agent(message: Message) -> str:
        world.later(0.05, lambda: (message.call("pay"), message.entry()))
        return "no"

    wrong = {"trigger": "go", "expect": {"forbid": ["pay"], "response": {"contains": "ok"}}}
    finished: list[TestOutcome] = []

    class Watch(Listener):
        def test_finished(self, outcome: TestOutcome) -> None:
            finished.append(outcome)

    async with World(agent) as world:
        outcome = await world.run([wrong, wrong], listener=Watch(), settle_time=1000, jobs=2)
    for test in (*finished, *outcome.tests):
        assert [reason.code for reason in test.reasons] == ["forbidden_call", "response.contains"]


async def test_a_wrong_reply_of_an_agent_that_is_not_seen_ends_the_turn_after_settle_time() -> None:
    wrong = {"trigger": "go", "expect": {"forbid": ["pay"], "response": {"contains": "no"}}}
    async with World(silent) as world:
        outcome = await world.run([wrong], settle_time=50, blind_wait=600)
    assert statuses(outcome) == [F]
    assert closed_by(outcome) == [ClosedBy.FAILURE]


async def test_an_agent_whose_parents_never_come_is_waited_for_once() -> None:
    async def agent(message: Message) -> str:
        message.call("pay", parent_id=b"nowhere-")
        return "ok"

    async with World(agent) as world:
        outcome = await world.run([CALLS, CALLS], settle_time=50)
    assert statuses(outcome) == [P, P]
    assert closed_by(outcome) == [ClosedBy.SETTLE_TIME, ClosedBy.SETTLED]


async def test_the_calls_that_the_next_message_needs_are_waited_for() -> None:
    async def agent(message: Message) -> str:
        message.span("model---", "model", message.parent_id)
        if message.text == "first":
            world.later(0.05, lambda: message.call("pay", parent_id=message.parent_id))
        return "ok"

    turns = [
        {"trigger": "first"},
        {"trigger": "use {{previous.function_calls[0].result.id}}", "expect": ANSWERS["expect"]},
    ]
    async with World(agent) as world:
        outcome = await world.run([{"turns": turns}], settle_time=5000)
    assert [message.text for message in world.messages] == ["first", "use 7"]
    assert statuses(outcome) == [P]
