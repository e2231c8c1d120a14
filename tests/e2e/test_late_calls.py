"""No false green: a forbidden call that is made after the reply fails the test that made it, whenever it comes."""

import asyncio
import json
import socket
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from collector.cli.run_telemetry import RunTelemetry
from collector.index import Index
from collector.pipeline import Pipeline
from evaluator.harness.environment import agent_environment
from evaluator.harness.listener import Listener
from evaluator.harness.outcome import RunOutcome
from evaluator.harness.run import run_specs
from evaluator.harness.specrun import Options
from evaluator.language import parse_spec
from evaluator.verdict import Status
from tests.waiting import until

AGENT = Path(__file__).parent / "background" / "agent.py"
SETTLE = 500
"""ms; the default `settle_time`: within it after the last reply, calls count."""
TESTS = 6
PLACES = (0, 2, TESTS - 1)
"""The first test, one in the middle, the last."""


@dataclass(frozen=True)
class Way:
    """How the agent exports."""

    export: str = "single"
    entry: str = "entry"
    content: str = "content"
    late: tuple[int, ...] = (0, 100, 450)
    """After how many ms the call is made."""

    def __str__(self) -> str:
        return f"{self.export}-{self.entry}-{self.content}"


WAYS = (
    Way("single", late=(0, 20, 100, 300, 450)),
    Way("batch", late=(0, 20, 100, 300, 450)),
    Way("twice"),
    Way("split"),
    Way("single", content="none"),
    Way("batch", content="none"),
    Way("single", entry="none"),
    Way("batch", entry="none"),
)


@dataclass
class Bench:
    """A running agent and where it exports to."""

    telemetry: RunTelemetry
    port: int

    async def run(self, late: int, place: int, jobs: int) -> RunOutcome:
        """Run six tests of which the one at `place` has the agent call the forbidden tool `late` ms after its reply.

        A machine that is too slow for the agent to keep its time is given further tries.
        """
        messages = ["nothing after 0"] * TESTS
        messages[place] = f"delete_account after {late}"
        for _ in range(20):
            outcome = await self._run(messages, jobs)
            if await self._exported_after() < SETTLE - 5:
                return outcome
        pytest.fail("the agent never kept its time")

    async def _exported_after(self) -> float:
        """How long after its reply the call was exported, in ms, once it was."""
        async with httpx.AsyncClient(verify=False) as client:
            while True:
                found: float | None = (await client.get(f"http://127.0.0.1:{self.port}/late")).json()
                if found is not None:
                    return found

    async def _run(self, messages: Sequence[str], jobs: int) -> RunOutcome:
        tests = [{"trigger": message, "expect": {"forbid": ["delete_account"]}} for message in messages]
        agent = {"endpoint": f"http://127.0.0.1:{self.port}/chat", "traces": "otlp"}
        text = json.dumps({"agent": agent, "suites": [{"name": "Guardrails", "tests": tests}]})
        spec = parse_spec(text, Path("late.highbar.yaml"), environ={})
        return await run_specs([spec], listener=Listener(), telemetry=self.telemetry, options=Options(jobs=jobs))


@asynccontextmanager
async def bench(way: Way) -> AsyncIterator[Bench]:
    telemetry = RunTelemetry(Pipeline(Index()))
    await telemetry.start()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    environment = agent_environment({}, telemetry.endpoints)
    command = [sys.executable, str(AGENT), str(port), way.export, way.entry, way.content]
    agent = await asyncio.create_subprocess_exec(*command, env=environment)
    try:
        await until(lambda: accepts(port))
        yield Bench(telemetry, port)
    finally:
        agent.kill()
        await agent.wait()
        await telemetry.stop()


def accepts(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.parametrize("way", WAYS, ids=str)
async def test_a_forbidden_call_after_the_reply_is_never_a_pass(way: Way) -> None:
    """Two go on side by side, each with an agent of its own: most of the time is waiting."""

    async def hold(place: int, jobs: int) -> None:
        async with bench(way) as agent:
            for late in way.late:
                outcome = await agent.run(late, place, jobs)
                expected = [Status.FAILED if at == place else Status.PASSED for at in range(TESTS)]
                assert [test.status for test in outcome.tests] == expected, (late, place, jobs)
                assert outcome.exit_status == 1

    for place in PLACES:
        await asyncio.gather(hold(place, 1), hold(place, 4))


async def test_what_is_wrong_with_a_late_call_is_said() -> None:
    async with bench(Way("single")) as agent:
        outcome = await agent.run(100, 0, 1)
    test = outcome.tests[0]
    assert test.revised
    assert {reason.code for reason in test.reasons} == {"late_call"}
    assert "delete_account" in test.reasons[0].text
    assert [notice.code for notice in outcome.warnings] == ["late_now_fails"]
