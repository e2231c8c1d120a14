"""`spanbar run --export`: the agent's own spans below the messages that caused them, in whatever takes both."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from collector.export.marker import is_own_output
from collector.telemetry import Span
from tests.e2e.collector.spanbar import BEHAVIORS, Spanbar

SPANBAR = Path(sys.executable).with_name("spanbar")


@pytest.fixture
async def backend() -> AsyncIterator[Spanbar]:
    backend = Spanbar()
    await backend.start()
    yield backend
    await backend.stop()


async def spanbar(*arguments: str, cwd: Path) -> tuple[int, str]:
    environ = os.environ | {"PATH": f"{SPANBAR.parent}{os.pathsep}{os.environ['PATH']}"}
    process = await asyncio.create_subprocess_exec(
        SPANBAR, *arguments, cwd=cwd, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT, env=environ
    )
    said, _ = await process.communicate()
    return process.returncode or 0, said.decode()


def own(span: Span) -> bool:
    return is_own_output(span.resource, span.scope)


async def test_the_agents_spans_hang_below_the_messages_of_the_tests_that_caused_them(
    tmp_path: Path, backend: Spanbar
) -> None:
    assert (await spanbar("init", ".", cwd=tmp_path))[0] == 0
    code, said = await spanbar(
        "run", "--export", f"grpc://{backend.grpc}", "--forward", backend.http_url, cwd=tmp_path
    )
    assert code == 0, said
    by_id = {span.span_id: span for span in backend.spans}
    of = {
        kind: [span for span in backend.spans if own(span) and span.attributes["spanbar.span"] == kind]
        for kind in ("run", "suite", "test", "execution", "message")
    }
    (run,) = of["run"]
    assert run.attributes["test.suite.run.status"] == "success"
    assert all(by_id[test.parent_id] in of["suite"] for test in of["test"])
    executions = {span.span_id: span for span in of["execution"]}
    assert of["message"]
    for message in of["message"]:
        links = {link.attributes["spanbar.link"]: link for link in message.links}
        execution, test = executions[links["execution"].span_id], by_id[links["test"].span_id]
        assert execution.parent_id == test.span_id
        assert test.attributes["test.case.name"] == message.attributes["test.case.name"]
        called = {
            span.attributes["gen_ai.tool.name"]
            for span in backend.spans
            if span.trace_id == message.trace_id and "gen_ai.tool.name" in span.attributes
        }
        assert called == set(message.attributes["spanbar.message.calls"])
    # Every trace of the agent's begins at a message: no span of it is left hanging.
    agents = [span for span in backend.spans if not own(span)]
    messages = {message.span_id for message in of["message"]}
    roots = [span for span in agents if span.parent_id not in {each.span_id for each in agents}]
    assert roots
    assert all(span.parent_id in messages for span in roots)


async def test_a_check_of_recorded_files_exports_its_results(tmp_path: Path, backend: Spanbar) -> None:
    recorded = tmp_path / "trace.jsonl"
    attributes = [
        {"key": "session.id", "value": {"stringValue": "s"}},
        {"key": "gen_ai.tool.name", "value": {"stringValue": "Bash"}},
        {"key": "hangar.shell.ops", "value": {"arrayValue": {"values": [{"stringValue": "git.push"}]}}},
    ]
    push = {"traceId": "74" * 16, "spanId": "01" * 8, "name": "tool.call", "startTimeUnixNano": "1"}
    span = push | {"endTimeUnixNano": "2", "attributes": attributes}
    recorded.write_text(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}) + "\n")
    code, said = await spanbar("check", str(BEHAVIORS), "trace.jsonl", "--export", backend.http_url, cwd=tmp_path)
    assert code == 1, said
    labels = {
        span.attributes["gen_ai.evaluation.name"]: span.attributes["gen_ai.evaluation.score.label"]
        for span in backend.spans
        if span.attributes["spanbar.span"] == "result"
    }
    assert labels == {"tests before every push": "fail", "never delete": "pass", "ends": "fail"}
    (run,) = [span for span in backend.spans if span.attributes["spanbar.span"] == "run"]
    assert (run.name, run.attributes["test.suite.run.status"]) == ("spanbar check", "failure")
    (failed,) = [span for span in backend.spans if span.name == "behavior tests before every push"]
    assert [link.span_id.hex() for link in failed.links] == ["01" * 8]


async def test_a_backend_that_is_away_is_said_and_does_not_fail_the_run(tmp_path: Path, backend: Spanbar) -> None:
    away = backend.http_url
    await backend.stop()
    assert (await spanbar("init", ".", cwd=tmp_path))[0] == 0
    code, said = await spanbar("run", "--export", away, cwd=tmp_path)
    assert code == 0, said
    assert "not delivered" in said
    assert away in said


@pytest.mark.parametrize("url", ["ftp://backend", "http://"])
async def test_an_url_that_cannot_be_used_stops_the_run_before_it_begins(tmp_path: Path, url: str) -> None:
    assert (await spanbar("init", ".", cwd=tmp_path))[0] == 0
    code, said = await spanbar("run", "--export", url, cwd=tmp_path)
    assert code == 2
    assert "--export" in said
