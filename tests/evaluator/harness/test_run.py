"""When a verdict is known, what it waits for, and what changes it afterwards."""

import asyncio
from collections.abc import Collection
from typing import Any

import pytest

from evaluator.expectations import Reason
from evaluator.harness.listener import Listener, TurnSent
from evaluator.harness.outcome import ClosedBy, RunOutcome, TestOutcome, UnitBehaviors
from evaluator.harness.telemetry import Executions
from evaluator.verdict import Status
from tests.evaluator.harness.world import Message, World

CALLS = {"trigger": "go", "expect": {"function_calls": [{"name": "pay"}]}}
FORBIDS = {"trigger": "go", "expect": {"forbid": ["pay"]}}
NEVER = {"trigger": "go", "expect": {"function_calls": []}}
ANSWERS = {"trigger": "go", "expect": {"response": {"contains": "ok"}}}


def statuses(outcome: RunOutcome) -> list[Status]:
    return [test.status for test in outcome.tests]


def codes(outcome: RunOutcome, at: int = 0) -> list[str]:
    return [reason.code for reason in outcome.tests[at].reasons]


def closed_by(outcome: RunOutcome) -> list[ClosedBy]:
    executions = [execution for test in outcome.tests for execution in test.executions]
    return [turn.decision.by for execution in executions for turn in execution.turns]


P, F, E = Status.PASSED, Status.FAILED, Status.ERROR


async def silent(message: Message) -> str:
    return "ok"


async def pays(message: Message) -> str:
    message.call("pay")
    message.entry()
    return "ok"


async def only_enters(message: Message) -> str:
    message.entry()
    return "ok"


# When a turn closes


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


# Whether the agent is observed


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


# What comes late


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


# Behaviors, parallel tests, interruption


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
