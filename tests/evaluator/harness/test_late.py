"""What comes after a test was decided."""

from functools import partial

from evaluator.harness.listener import Listener
from evaluator.harness.outcome import TestOutcome
from evaluator.verdict import Status
from tests.evaluator.harness.agents import ANSWERS, CALLS, FORBIDS, NEVER, E, F, P, codes, statuses
from tests.evaluator.harness.world import Message, World


async def test_a_pass_is_taken_back_loudly() -> None:
    revised: list[tuple[Status, Status]] = []

    class Watch(Listener):
        def test_revised(self, before: TestOutcome, after: TestOutcome, why: str) -> None:
            revised.append((before.status, after.status))

    async def agent(message: Message) -> str:
        message.entry()
        world.later(0.1, lambda: message.call("pay"))
        return "ok"

    async with World(agent) as world:
        outcome = await world.run([FORBIDS], settle_time=1000, listener=Watch())
    assert statuses(outcome) == [F]
    assert codes(outcome) == ["late_call"]
    assert revised == [(P, F)]
    assert [notice.code for notice in outcome.warnings if notice.code != "undeclared"] == ["late_now_fails"]
    assert outcome.tests[0].revised


async def test_a_failure_is_taken_back_loudly() -> None:
    async def agent(message: Message) -> str:
        message.entry()
        world.later(0.1, lambda: message.call("pay"))
        return "ok"

    async with World(agent) as world:
        outcome = await world.run([CALLS], settle_time=1000)
    assert statuses(outcome) == [P]
    assert [notice.code for notice in outcome.warnings] == ["late_now_passes"]


async def test_a_conversation_that_was_ended_does_not_pass_for_a_late_call() -> None:
    async def agent(message: Message) -> str:
        message.entry()
        world.later(0.1, lambda: message.call("pay"))
        return "ok"

    async with World(agent) as world:
        outcome = await world.run([{"turns": [CALLS, ANSWERS]}], settle_time=1000)
    assert statuses(outcome) == [E]
    assert "were not sent" in outcome.tests[0].reasons[0].text


async def test_runs_that_were_saved_are_made_when_a_pass_is_taken_back() -> None:
    async def agent(message: Message) -> str:
        message.entry()
        if len(world.messages) == 1:
            world.later(0.1, lambda: message.call("pay"))
        return "ok"

    async with World(agent) as world:
        outcome = await world.run([{**FORBIDS, "runs": 2, "min_pass": 1}], settle_time=1000)
    assert [execution.status for execution in outcome.tests[0].executions] == [F, P]
    assert statuses(outcome) == [P]


async def test_a_late_call_of_nobody_is_an_error_of_each_test_that_it_may_be_of() -> None:
    async def agent(message: Message) -> str:
        message.entry()
        if len(world.messages) == 2:
            world.later(0.1, lambda: message.call("pay", trace_id=b"x" * 16))
        return "ok"

    async with World(agent) as world:
        outcome = await world.run([NEVER, NEVER], settle_time=1000)
    assert statuses(outcome) == [E, E]
    assert codes(outcome, 0) == codes(outcome, 1) == ["late_untagged"]


async def test_an_agent_that_still_works_when_the_run_ends_is_told_of() -> None:
    async def agent(message: Message) -> str:
        message.call("pay")
        message.entry()
        for number in range(1, 1_000):
            world.later(number * 0.02, partial(message.span, f"s{number}", "other"))
        return "ok"

    async with World(agent) as world:
        outcome = await world.run([CALLS], settle_time=400)
    assert statuses(outcome) == [P]
    (notice,) = outcome.warnings
    assert notice.code == "work_goes_on"
    assert "0.4 s after the last reply: what the agent does later is not seen" in notice.text


async def test_an_agent_that_worked_on_for_a_moment_and_is_quiet_since_is_not() -> None:
    async def agent(message: Message) -> str:
        message.call("pay")
        message.entry()
        world.later(0.05, lambda: message.span("s", "other"))
        return "ok"

    async with World(agent) as world:
        outcome = await world.run([CALLS], settle_time=2_000)
    assert (statuses(outcome), outcome.warnings) == ([P], ())
