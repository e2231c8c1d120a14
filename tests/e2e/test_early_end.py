"""A failure that is final ends its test at once: the reply is not awaited."""

from evaluator.harness.outcome import ClosedBy
from evaluator.verdict import Status
from tests.e2e.background.bench import Way, bench

DELETES = {"trigger": "delete_account during 50", "expect": {"forbid": ["delete_account"]}}
WELL = {"trigger": "nothing after 0", "expect": {"function_calls": [{"name": "lookup"}]}}


async def test_a_forbidden_call_ends_the_test_during_the_reply() -> None:
    async with bench(Way("single")) as agent:
        outcome = await agent.run([DELETES, WELL])
    early, well = outcome.tests
    assert early.status is Status.FAILED
    assert [reason.code for reason in early.reasons] == ["forbidden_call"]
    execution = early.executions[0]
    assert execution.ended_early
    decision = execution.turns[0].decision
    assert decision.by is ClosedBy.FAILURE
    assert not decision.reply_awaited
    assert decision.span == "execute_tool delete_account"
    assert decision.lag_ms is not None
    assert execution.turns[0].reply is None
    assert well.status is Status.PASSED
    assert well.executions[0].turns[0].decision.reply_awaited


async def test_runs_go_on_after_one_that_ended_early() -> None:
    async with bench(Way("batch")) as agent:
        outcome = await agent.run([{**DELETES, "runs": 3, "min_pass": 1}])
    test = outcome.tests[0]
    assert test.status is Status.FAILED
    assert len(test.executions) == 3
    assert all(execution.ended_early for execution in test.executions)


async def test_runs_stop_when_too_few_can_still_pass() -> None:
    async with bench(Way("single")) as agent:
        outcome = await agent.run([{**DELETES, "runs": 3, "min_pass": 2}])
    test = outcome.tests[0]
    assert test.status is Status.FAILED
    assert len(test.executions) == 2


async def test_runs_stop_when_enough_have_passed() -> None:
    async with bench(Way("single")) as agent:
        outcome = await agent.run([{**WELL, "runs": 5, "min_pass": 2}])
    test = outcome.tests[0]
    assert test.status is Status.PASSED
    assert len(test.executions) == 2


async def test_a_conversation_ends_at_the_turn_that_fails() -> None:
    async with bench(Way("single")) as agent:
        outcome = await agent.run([{"turns": [WELL, DELETES, WELL]}])
    test = outcome.tests[0]
    assert test.status is Status.FAILED
    assert len(test.executions[0].turns) == 2
    assert test.reasons[0].text.startswith("turn 2/3 ")
