"""Every configuration of otel-config/, in the real Collector, between real exporters and spanbar's receiver."""

import asyncio
import json
import os
import subprocess
from pathlib import Path

import httpx
import pytest

from collector.export.exporter import ResultExporter
from collector.export.marker import is_own_output
from collector.receiver.files import read
from collector.telemetry import Batch
from evaluator.harness.outcome import UnitBehaviors
from evaluator.verdict import Result
from tests.collector.export.outcomes import execution, result, run_outcome, test_outcome, turn
from tests.e2e.collector.agents import Agent, Step, interleaved
from tests.e2e.collector.conftest import StartCollector, StartSpanbar
from tests.e2e.collector.process import CONFIGURATIONS, Rotel, collector_binary
from tests.waiting import until

SCRIPT = [Step("s", 0, "edit"), Step("s", 1, "test"), Step("s", 2, "push"), Step("s", 3, "end")]
SPANS = 5
"""How many spans SCRIPT makes; its end is a log record."""


def run_agent(url: str, steps: list[Step] | None = None, **attributes: object) -> None:
    agent = Agent(url)
    agent.take(SCRIPT if steps is None else steps, **attributes)
    agent.close()


async def export(url: str) -> ResultExporter:
    """Export a small run, and wait until it is delivered."""
    exporter = ResultExporter(url, environ={})
    await exporter.start()
    behaviors = (UnitBehaviors("session", "s-1", (result(Result.PASS),)),)
    exporter.run_finished(run_outcome(test_outcome(0, "refunds", execution(1, turn(1))), behaviors=behaviors))
    await exporter.close(60)
    assert (exporter.counts.delivered, exporter.counts.lost) == (2, 0)
    return exporter


@pytest.mark.parametrize("configuration", CONFIGURATIONS, ids=lambda path: path.name)
def test_the_collector_finds_no_fault_in_a_configuration(configuration: Path, tmp_path: Path) -> None:
    environ = {"QUEUE_DIRECTORY": str(tmp_path), "RESULTS_FILE": str(tmp_path / "results.jsonl")}
    command = [collector_binary(), "validate", "--config", configuration]
    validated = subprocess.run(command, env=os.environ | environ, capture_output=True, text=True, check=False)
    assert validated.returncode == 0, validated.stderr
    assert "deprecated" not in validated.stderr


@pytest.mark.parametrize("wire", ["http_url", "grpc_url"])
async def test_fan_out_gives_the_agents_telemetry_to_spanbar_and_the_backend(
    wire: str, start_spanbar: StartSpanbar, start_collector: StartCollector
) -> None:
    spanbar, backend = await start_spanbar(), await start_spanbar()
    collector = await start_collector("fan-out.yaml", SPANBAR=spanbar.grpc, OTLP_BACKEND=backend.grpc)
    await asyncio.to_thread(run_agent, getattr(collector, wire))
    await until(lambda: len(spanbar.spans) == len(backend.spans) == SPANS and spanbar.logs and backend.logs)
    assert spanbar.sessions() == {"s": {"Bash": 2, "test.run": 1, "session.end": 1}}
    assert spanbar.result("s") == {
        "tests before every push": Result.PASS,
        "never delete": Result.PASS,
        "ends": Result.PASS,
    }


async def test_fan_out_gives_results_to_the_backend_and_not_back_to_spanbar(
    start_spanbar: StartSpanbar, start_collector: StartCollector
) -> None:
    spanbar, backend = await start_spanbar(), await start_spanbar()
    collector = await start_collector("fan-out.yaml", SPANBAR=spanbar.grpc, OTLP_BACKEND=backend.grpc)
    await export(collector.http_url)
    await asyncio.to_thread(run_agent, collector.http_url)
    await until(lambda: len(spanbar.spans) == SPANS and spanbar.logs and len(backend.spans) == SPANS + 7)
    assert not any(is_own_output(each.resource, each.scope) for each in [*spanbar.spans, *spanbar.logs])
    assert spanbar.sessions().keys() == {"s"}


async def test_recorded_files_are_read_and_followed_and_not_read_again_after_a_restart(
    tmp_path: Path, start_spanbar: StartSpanbar, start_collector: StartCollector
) -> None:
    spanbar = await start_spanbar()
    recorded = tmp_path / "recorded"
    recorded.mkdir()
    file = recorded / "agents.jsonl"
    file.write_text(otlp_line(1) + otlp_line(2))
    collector = await start_collector("recorded.yaml", SPANBAR=spanbar.grpc, RECORDED=recorded / "*.jsonl")
    await until(lambda: len(spanbar.spans) == 2)
    with file.open("a") as more:
        more.write(otlp_line(3))
    await until(lambda: len(spanbar.spans) == 3)
    await collector.stop()
    with file.open("a") as more:
        more.write(otlp_line(4))
    await collector.start()
    await until(lambda: len(spanbar.spans) == 4)
    assert [span.attributes["hangar.seq"] for span in spanbar.spans] == [1, 2, 3, 4]
    assert spanbar.sessions() == {"recorded": {"Bash": 4}}


async def test_redaction_keeps_content_and_secrets_from_the_backend_and_not_from_spanbar(
    start_spanbar: StartSpanbar, start_collector: StartCollector
) -> None:
    spanbar, backend = await start_spanbar(), await start_spanbar()
    collector = await start_collector("redaction.yaml", SPANBAR=spanbar.grpc, OTLP_BACKEND=backend.grpc)
    said = {
        "gen_ai.tool.call.arguments": '{"command": "make"}',
        "gen_ai.input.messages": "please push",
        "input.value": "please push",
        "note": "mail ada@example.org with Bearer abcdef123456",
        "api_key": "plain text",
        "card": ["4111 1111 1111 1111"],
        "now_ms": 1_700_000_000_000,
        "kept": "harmless",
    }
    await asyncio.to_thread(run_agent, collector.http_url, **said)
    await until(lambda: len(spanbar.spans) == len(backend.spans) == SPANS)
    whole = next(span for span in spanbar.spans if span.name == "tool.call").attributes
    assert said.items() <= dict(whole).items()
    for span in backend.spans:
        left = dict(span.attributes)
        assert not {"gen_ai.tool.call.arguments", "gen_ai.input.messages", "input.value"} & left.keys()
        assert (left["kept"], left["now_ms"]) == ("harmless", 1_700_000_000_000)
        assert left["hangar.session.id"] == "s"
        assert not any(secret in str(left) for secret in ("ada@", "abcdef123456", "plain text", "4111"))
    assert spanbar.result("s")["tests before every push"] is Result.PASS


async def test_redaction_reaches_events_and_log_records(
    start_spanbar: StartSpanbar, start_collector: StartCollector
) -> None:
    spanbar, backend = await start_spanbar(), await start_spanbar()
    collector = await start_collector("redaction.yaml", SPANBAR=spanbar.grpc, OTLP_BACKEND=backend.grpc)
    content = [{"key": "content", "value": {"stringValue": "please push"}}]
    span = {"traceId": "74" * 16, "spanId": "01" * 8, "name": "chat"}
    span["events"] = [{"name": "gen_ai.user.message", "attributes": content}]
    log = {"eventName": "gen_ai.client.inference.operation.details", "body": {"stringValue": "please push"}}
    requests = {
        "traces": {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]},
        "logs": {"resourceLogs": [{"scopeLogs": [{"logRecords": [log]}]}]},
    }
    async with httpx.AsyncClient() as client:
        for signal, body in requests.items():
            (await client.post(f"{collector.http_url}/v1/{signal}", json=body)).raise_for_status()
    await until(lambda: spanbar.spans and spanbar.logs and backend.spans and backend.logs)
    assert dict(spanbar.spans[0].events[0].attributes) == {"content": "please push"}
    assert spanbar.logs[0].body == "please push"
    assert dict(backend.spans[0].events[0].attributes) == {}
    assert backend.logs[0].body == "redacted"


async def test_two_hundred_interleaved_sessions_are_each_whole_at_one_of_two_spanbars(
    start_spanbar: StartSpanbar, start_collector: StartCollector
) -> None:
    steps = interleaved(200)
    alone, first, second = await start_spanbar(), await start_spanbar(), await start_spanbar()
    await asyncio.to_thread(run_agent, alone.http_url, steps)
    collector = await start_collector("load-balancing.yaml", SPANBAR_1=first.grpc, SPANBAR_2=second.grpc)
    # Two agents at once, each with its part of every session.
    await asyncio.gather(
        asyncio.to_thread(run_agent, collector.grpc_url, steps[::2]),
        asyncio.to_thread(run_agent, collector.http_url, steps[1::2]),
    )
    await until(lambda: len(first.spans) + len(second.spans) == len(alone.spans))
    await until(lambda: len(first.logs) + len(second.logs) == len(alone.logs))
    assert len(alone.sessions()) == 200
    assert not first.sessions().keys() & second.sessions().keys()
    assert min(len(first.sessions()), len(second.sessions())) > 50
    assert first.sessions() | second.sessions() == alone.sessions()
    expected = alone.results()
    assert first.results() | second.results() == expected
    assert {each for of in expected.values() for each in of.values()} == {
        Result.PASS,
        Result.FAIL,
        Result.NOT_APPLICABLE,
    }


async def test_results_reach_a_backend_and_a_file_and_are_read_back_as_they_were(
    tmp_path: Path, start_spanbar: StartSpanbar, start_collector: StartCollector
) -> None:
    backend, file = await start_spanbar(), tmp_path / "results.jsonl"
    collector = await start_collector("results.yaml", OTLP_BACKEND=backend.grpc, RESULTS_FILE=file)
    await asyncio.to_thread(run_agent, collector.http_url)
    await export(collector.grpc_url)
    await until(lambda: len(backend.spans) == 7 and backend.logs)
    await collector.stop()
    written = Batch()
    for batch in read(file):
        written.spans.extend(batch.spans)
        written.logs.extend(batch.logs)
    for spans, logs in ((backend.spans, backend.logs), (written.spans, written.logs)):
        by_id = {span.span_id: span for span in spans}
        above = {
            span.attributes["spanbar.span"]: by_id[span.parent_id].attributes["spanbar.span"]
            for span in spans
            if span.parent_id in by_id
        }
        assert above == {"suite": "run", "test": "suite", "execution": "test", "session": "run", "result": "session"}
        (message,) = [span for span in spans if span.attributes["spanbar.span"] == "message"]
        assert message.trace_id.hex() == turn(1).trace_id
        assert [log.attributes["gen_ai.evaluation.score.label"] for log in logs] == ["pass"]


async def test_rotel_carries_an_agents_telemetry_as_well(tmp_path: Path, start_spanbar: StartSpanbar) -> None:
    spanbar = await start_spanbar()
    rotel = Rotel(f"http://{spanbar.grpc}", tmp_path)
    await rotel.start()
    try:
        await asyncio.to_thread(run_agent, f"http://127.0.0.1:{rotel.http_port}")
        await asyncio.to_thread(run_agent, f"grpc://127.0.0.1:{rotel.grpc_port}", [Step("t", 0, "push")])
        await until(lambda: len(spanbar.spans) == SPANS + 2 and spanbar.logs)
    finally:
        await rotel.stop()
    assert spanbar.sessions() == {"s": {"Bash": 2, "test.run": 1, "session.end": 1}, "t": {"Bash": 1}}
    assert spanbar.result("t")["tests before every push"] is Result.FAIL


async def test_results_pass_through_rotel(tmp_path: Path, start_spanbar: StartSpanbar) -> None:
    backend = await start_spanbar()
    rotel = Rotel(f"http://{backend.grpc}", tmp_path)
    await rotel.start()
    try:
        await export(f"grpc://127.0.0.1:{rotel.grpc_port}")
        await until(lambda: len(backend.spans) == 7 and backend.logs)
    finally:
        await rotel.stop()
    assert all(is_own_output(each.resource, each.scope) for each in [*backend.spans, *backend.logs])


def otlp_line(seq: int) -> str:
    """One request as the Collector's file exporter writes it, with one call."""
    attributes = [
        {"key": "hangar.session.id", "value": {"stringValue": "recorded"}},
        {"key": "hangar.seq", "value": {"intValue": str(seq)}},
        {"key": "gen_ai.tool.name", "value": {"stringValue": "Bash"}},
    ]
    span = {
        "traceId": "74" * 16,
        "spanId": f"{seq:016x}",
        "name": "tool.call",
        "startTimeUnixNano": str(seq),
        "endTimeUnixNano": str(seq + 1),
        "attributes": attributes,
    }
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}) + "\n"
