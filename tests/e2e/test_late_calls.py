"""No false green: a forbidden call that is made after the reply fails the test that made it, whenever it comes."""

import asyncio
from dataclasses import dataclass

import pytest

from evaluator.harness.outcome import RunOutcome
from evaluator.verdict import Status
from tests.e2e.background.bench import Bench, Way, bench

SETTLE = 500
"""ms; the default `settle_time`: within it after the last reply, calls count."""
TESTS = 6
PLACES = (0, 2, TESTS - 1)
"""The first test, one in the middle, the last."""
EVERY = (0, 20, 100, 300, 450)
SOME = (0, 100, 450)
"""ms after the reply at which the call is made."""


@dataclass(frozen=True)
class Lateness:
    way: Way
    late: tuple[int, ...] = SOME

    def __str__(self) -> str:
        return str(self.way)


CASES = (
    Lateness(Way("single"), EVERY),
    Lateness(Way("batch"), EVERY),
    Lateness(Way("twice")),
    Lateness(Way("split")),
    Lateness(Way("single", content="none")),
    Lateness(Way("batch", content="none")),
    Lateness(Way("single", entry="none")),
    Lateness(Way("batch", entry="none")),
)


async def call_late(agent: Bench, late: int, place: int, jobs: int) -> RunOutcome:
    """Run six tests of which the one at `place` has the agent call the forbidden tool `late` ms after its reply.

    A machine that is too slow for the agent to keep its time is given further tries.
    """
    messages = ["nothing after 0"] * TESTS
    messages[place] = f"delete_account after {late}"
    tests = [{"trigger": message, "expect": {"forbid": ["delete_account"]}} for message in messages]
    for _ in range(20):
        outcome = await agent.run(tests, jobs)
        if await agent.exported_after() < SETTLE - 5:
            return outcome
    pytest.fail("the agent never kept its time")


@pytest.mark.parametrize("case", CASES, ids=str)
async def test_a_forbidden_call_after_the_reply_is_never_a_pass(case: Lateness) -> None:
    """Two go on side by side, each with an agent of its own: most of the time is waiting."""

    async def hold(place: int, jobs: int) -> None:
        async with bench(case.way) as agent:
            for late in case.late:
                outcome = await call_late(agent, late, place, jobs)
                expected = [Status.FAILED if at == place else Status.PASSED for at in range(TESTS)]
                assert [test.status for test in outcome.tests] == expected, (late, place, jobs)
                assert outcome.exit_status == 1

    for place in PLACES:
        await asyncio.gather(hold(place, 1), hold(place, 4))


async def test_what_is_wrong_with_a_late_call_is_said() -> None:
    async with bench(Way("single")) as agent:
        outcome = await call_late(agent, 100, 0, 1)
    test = outcome.tests[0]
    assert test.revised
    assert {reason.code for reason in test.reasons} == {"late_call"}
    assert "delete_account" in test.reasons[0].text
    assert [notice.code for notice in outcome.warnings] == ["late_now_fails"]
