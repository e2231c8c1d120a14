"""Runs: behaviors, parallel tests, interruption."""

import asyncio
from collections.abc import Collection

from evaluator.expectations import Reason
from evaluator.harness.listener import Listener, TurnSent
from evaluator.harness.outcome import ClosedBy, RunOutcome, TestOutcome, UnitBehaviors
from evaluator.harness.telemetry import Executions
from tests.evaluator.harness.agents import (
    ANSWERS,
    CALLS,
    FORBIDS,
    NEVER,
    E,
    F,
    P,
    closed_by,
    codes,
    silent,
    statuses,
)
from tests.evaluator.harness.world import Message, World


async def test_a_behavior_that_fails_ends_the_execution_at_once() -> None:
    class Failing:
        def begin(self, executions: Executions) -> None:
            self.executions = executions

        def end(self) -> tuple[UnitBehaviors, ...]:
            return ()

        def fail(self, trace_ids: Collection[bytes]) -> None:
            self.executions.fail_by_behavior(trace_ids, Reason("behavior", "tests before every push"))

    behaviors = Failing()

    async def agent(message: Message) -> str:
        behaviors.fail([message.trace_id])
        await asyncio.sleep(600)
        return "ok"

    async with World(agent) as world:
        outcome = await world.run([ANSWERS], behaviors=behaviors)
    assert statuses(outcome) == [F]
    assert codes(outcome) == ["behavior"]
    assert outcome.tests[0].executions[0].ended_early


async def test_parallel_tests_are_told_apart_by_trace() -> None:
    arrived = asyncio.Barrier(4)

    async def agent(message: Message) -> str:
        await arrived.wait()
        if message.text == "pay":
            message.call("pay")
        message.entry()
        return "ok"

    tests = [{**NEVER, "trigger": trigger} for trigger in ("a", "pay", "b", "c")]
    async with World(agent) as world:
        outcome = await world.run(tests, jobs=4, settle_time=50)
    assert statuses(outcome) == [P, F, P, P]


async def test_what_is_known_when_a_run_is_interrupted_is_told() -> None:
    async def agent(message: Message) -> str:
        if message.text == "hang":
            running.cancel()
            await asyncio.sleep(600)
        return "ok"

    async with World(agent) as world:
        tests = [ANSWERS, {**ANSWERS, "trigger": "hang"}, {**ANSWERS, "trigger": "never begun"}]
        running = asyncio.create_task(world.run(tests))
        outcome = await running
    assert outcome.interrupted
    assert outcome.exit_status == 130
    assert statuses(outcome) == [P, E]
    assert codes(outcome, 1) == ["interrupted"]
    assert closed_by(outcome) == [ClosedBy.REPLY, ClosedBy.INTERRUPTED]
    assert [test.name for test in outcome.not_run] == ["never begun"]


async def test_a_listener_is_told_in_order() -> None:
    told: list[str] = []

    class Watch(Listener):
        def run_started(self, specs: object) -> None:
            told.append("run started")

        def turn_sent(self, turn: TurnSent) -> None:
            told.append(f"sent {turn.trigger}")

        def turn_decided(self, turn: TurnSent, outcome: object) -> None:
            told.append(f"decided {turn.trigger}")

        def execution_finished(self, key: object, outcome: object) -> None:
            told.append("execution finished")

        def test_finished(self, outcome: TestOutcome) -> None:
            told.append("test finished")

        def run_finished(self, outcome: RunOutcome) -> None:
            told.append("run finished")

    async with World(silent) as world:
        await world.run([ANSWERS], listener=Watch())
    assert told == ["run started", "sent go", "decided go", "execution finished", "test finished", "run finished"]


async def test_an_agent_of_which_only_a_web_server_is_seen_proves_nothing_of_calls() -> None:
    async def agent(message: Message) -> str:
        message.entry("server")
        return "ok"

    async with World(agent) as world:
        outcome = await world.run([FORBIDS, NEVER, ANSWERS])
    assert statuses(outcome) == [E, E, P]
    assert {reason.code for test in outcome.tests for reason in test.reasons} == {"tool_not_observable"}


async def test_one_call_in_a_run_shows_that_calls_can_be_seen_in_all_of_it() -> None:
    async def agent(message: Message) -> str:
        message.entry("server")
        if message.text == "pay":
            message.call("pay")
        return "ok"

    async with World(agent) as world:
        outcome = await world.run([FORBIDS, {**CALLS, "trigger": "pay"}])
    assert statuses(outcome) == [P, P]
