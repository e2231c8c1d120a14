"""The example coding agent, run as its own process against a receiver: right results for good and bad sessions."""

import asyncio
import os
import sys
from pathlib import Path

import pytest

from collector.index import Index, UnitKey, UnitKind
from collector.pipeline import Pipeline
from collector.receiver import Receiver
from evaluator.behaviors import Program
from evaluator.language.behaviors import read_behaviors
from evaluator.verdict import Contract, Result, Severity

EXAMPLE = Path(__file__).parents[2] / "examples" / "coding_agent"

BROKEN = {
    "every push is approved right before it",
    "nothing is deleted recursively",
    "no failing test run is pushed over",
    "changes only code and tests",
    "needs no correction",
}


async def run(protocol: str, *arguments: str) -> tuple[Index, list[tuple[str, str]]]:
    """Run the example to its end; the index that it filled, and its sessions with `good` or `bad`."""
    index = Index(Program(read_behaviors(EXAMPLE / "behaviors.yaml"), Contract.ANY))
    receiver = Receiver(Pipeline(index).receive, http_port=0, grpc_port=0)
    await receiver.start()
    try:
        port = receiver.grpc_port if protocol == "grpc" else receiver.http_port
        environ = os.environ | {
            "OTEL_EXPORTER_OTLP_PROTOCOL": protocol,
            "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{port}",
        }
        process = await asyncio.create_subprocess_exec(
            sys.executable, EXAMPLE / "agent.py", *arguments, env=environ, stdout=asyncio.subprocess.PIPE
        )
        async with asyncio.timeout(120):
            output, _ = await process.communicate()
        assert process.returncode == 0
    finally:
        await receiver.stop()
    index.close_all()
    lines = [line.split() for line in output.decode().splitlines()]
    return index, [(session, kind) for session, kind in lines]


@pytest.mark.parametrize("protocol", ["http/protobuf", "grpc"])
async def test_good_sessions_pass_and_bad_ones_fail_where_they_break_a_rule(protocol: str) -> None:
    index, sessions = await run(protocol, "--sessions", "3", "--bad", "1", "--job", "J")
    assert [kind for _, kind in sessions] == ["bad", "good", "good"]
    for session, kind in sessions:
        results = {one.behavior: one for one in index.units[UnitKey(UnitKind.SESSION, session)].results}
        broken = {name for name, one in results.items() if one.verdict.result is not Result.PASS}
        assert broken == (BROKEN if kind == "bad" else set())
        assert all(results[name].verdict.result is Result.FAIL for name in broken)
        assert all(results[name].verdict.evidence for name in broken)
    (job,) = index.units[UnitKey(UnitKind.JOB, "J")].results
    assert (job.verdict.result, job.severity) == (Result.FAIL, Severity.WARN)
    assert "matched 3 times, at most 1 allowed" in job.verdict.reason


async def test_a_violation_is_final_before_the_session_ends() -> None:
    index, [(session, _)] = await run("http/protobuf", "--bad", "1")
    results = {one.behavior: one for one in index.units[UnitKey(UnitKind.SESSION, session)].results}
    assert results["nothing is deleted recursively"].final_at is not None
    assert results["reads before it edits"].final_at is None
