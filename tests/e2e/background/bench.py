"""A background agent under test: started, told where to export, and stopped."""

import asyncio
import json
import socket
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from collector.cli.run_telemetry import RunTelemetry
from collector.index import Index
from collector.pipeline import Pipeline
from evaluator.harness.environment import agent_environment
from evaluator.harness.listener import Listener
from evaluator.harness.outcome import RunOutcome
from evaluator.harness.run import run_specs
from evaluator.harness.specrun import Options
from evaluator.language import parse_spec
from tests.environments import free_port
from tests.waiting import until

AGENT = Path(__file__).parent / "agent.py"


@dataclass(frozen=True)
class Way:
    """How the agent exports."""

    export: str = "single"
    entry: str = "entry"
    content: str = "content"

    def __str__(self) -> str:
        return f"{self.export}-{self.entry}-{self.content}"


@dataclass
class Bench:
    """A running agent and where it exports to."""

    telemetry: RunTelemetry
    port: int

    async def run(self, tests: Sequence[Mapping[str, Any]], jobs: int = 1) -> RunOutcome:
        """Run a spec with these tests, as an attached agent has it."""
        agent = {"endpoint": f"http://127.0.0.1:{self.port}/chat", "traces": "otlp"}
        text = json.dumps({"agent": agent, "suites": [{"name": "Guardrails", "tests": tests}]})
        spec = parse_spec(text, Path("background.highbar.yaml"), environ={})
        return await run_specs([spec], listener=Listener(), telemetry=self.telemetry, options=Options(jobs=jobs))

    async def exported_after(self) -> float:
        """How long after its reply the forbidden call was exported, in ms, once it was."""
        async with httpx.AsyncClient(verify=False) as client:
            while True:
                found: float | None = (await client.get(f"http://127.0.0.1:{self.port}/late")).json()
                if found is not None:
                    return found


@asynccontextmanager
async def bench(way: Way) -> AsyncIterator[Bench]:
    telemetry = RunTelemetry(lambda: Pipeline(Index()))
    await telemetry.start()
    port = free_port()
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
