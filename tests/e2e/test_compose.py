"""What docker/compose.yaml puts together, as processes of this machine: agent, Collector, spanbar, and a backend."""

import json
import signal
import sys
import urllib.request
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from collector.export.marker import is_own_output
from tests.e2e.collector.process import ROOT, Child, Collector, free_port
from tests.e2e.collector.spanbar import Spanbar
from tests.waiting import until

SESSIONS = 12
TOKEN = "a token"


@pytest.fixture
async def spawn(tmp_path: Path) -> AsyncIterator[Callable[..., Child]]:
    started: list[Child] = []

    def start(name: str, *command: str, **environ: str) -> Child:
        child = Child([str(Path(sys.executable).with_name(name)), *command], environ, tmp_path / f"{name}.log")
        child.spawn()
        started.append(child)
        return child

    yield start
    for child in started:
        await child.end(signal.SIGKILL)


def ask(port: int, path: str) -> Any:
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers={"authorization": f"Bearer {TOKEN}"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


def ready(port: int) -> bool:
    try:
        return bool(ask(port, "/readyz"))
    except OSError:
        return False


async def test_agent_spans_and_results_meet_in_the_backend(tmp_path: Path, spawn: Callable[..., Child]) -> None:
    backend = Spanbar()
    await backend.start()
    http, grpc = free_port(), free_port()
    environ = {"SPANBAR": f"127.0.0.1:{grpc}", "SPANBAR_TOKEN": TOKEN, "OTLP_BACKEND": backend.grpc}
    collector = Collector("fan-out.yaml", tmp_path, environ)
    behaviors = str(ROOT / "docker" / "behaviors.yaml")
    ports = ["--http-port", str(http), "--grpc-port", str(grpc)]
    serving = spawn(*("spanbar", "serve", behaviors, *ports, "--export", collector.http_url), SPANBAR_TOKEN=TOKEN)
    try:
        await until(lambda: not serving.running or ready(http))
        assert serving.running, serving.said()
        await collector.start()
        agent = [str(ROOT / "docker" / "agent.py"), "--sessions", str(SESSIONS), "--pause", "0"]
        spawn("python", *agent, OTEL_EXPORTER_OTLP_ENDPOINT=collector.http_url)
        expected = _expected(SESSIONS)
        await until(lambda: _exported(backend) == expected)
        await serving.end()
        await until(lambda: len(_results(backend, "session")) >= SESSIONS)
    finally:
        await collector.kill()
        await backend.stop()
    agents = {span.span_id for span in backend.spans if not is_own_output(span.resource, span.scope)}
    for span in _results(backend, "result"):
        evidence = [link.span_id for link in span.links if link.attributes["spanbar.link"] == "evidence"]
        assert set(evidence) <= agents, "evidence that the backend does not have"
        if span.attributes["gen_ai.evaluation.score.label"] == "fail":
            assert evidence


def _results(backend: Spanbar, kind: str) -> list[Any]:
    return [
        span
        for span in backend.spans
        if is_own_output(span.resource, span.scope) and span.attributes["spanbar.span"] == kind
    ]


def _exported(backend: Spanbar) -> dict[tuple[str, str], str]:
    """The newest result of each session and behavior."""
    newest: dict[tuple[str, str], tuple[int, str]] = {}
    for span in _results(backend, "result"):
        key = span.attributes["spanbar.unit.id"], span.attributes["gen_ai.evaluation.name"]
        value = span.attributes["spanbar.result.revision"], span.attributes["gen_ai.evaluation.score.label"]
        newest[key] = max(value, newest.get(key, (-1, "")))
    return {key: label for key, (_, label) in newest.items()}


def _expected(sessions: int) -> dict[tuple[str, str], str]:
    """What a reader of docker/behaviors.yaml would say of the agent's scripts."""
    import random
    from importlib.util import module_from_spec, spec_from_file_location

    spec = spec_from_file_location("compose_agent", ROOT / "docker" / "agent.py")
    assert spec is not None
    assert spec.loader is not None
    agent = module_from_spec(spec)
    spec.loader.exec_module(agent)
    chance, expected = random.Random(0), {}
    for number in range(sessions):
        steps, session = agent.script(chance), f"session-{number}"
        expected[session, "tests before every push"] = "pass" if "test" in steps else "fail"
        expected[session, "never delete"] = "fail" if "delete" in steps else "pass"
        expected[session, "reads before it edits"] = "pass" if "read" in steps else "fail"
    return expected
