"""`spanbar serve` killed in the middle of a session."""

import json
import signal
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.collector.process import Child, free_port
from tests.waiting import until

BEHAVIORS = Path(__file__).parent / "collector" / "pushes.yaml"


def call(seq: int, op: str) -> bytes:
    attributes = [
        {"key": "session.id", "value": {"stringValue": "s"}},
        {"key": "hangar.seq", "value": {"intValue": str(seq)}},
        {"key": "gen_ai.tool.name", "value": {"stringValue": "Bash"}},
        {"key": "hangar.shell.ops", "value": {"arrayValue": {"values": [{"stringValue": op}]}}},
    ]
    times = {"startTimeUnixNano": str(seq + 1), "endTimeUnixNano": str(seq + 2)}
    span = {"traceId": "74" * 16, "spanId": f"{seq + 1:016x}", "name": "tool.call", "attributes": attributes}
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span | times]}]}]}).encode()


def ask(url: str, body: bytes | None = None) -> Any:
    request = urllib.request.Request(url, body, {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


def answers(url: str) -> bool:
    try:
        return bool(ask(url))
    except OSError:
        return False


class Killed:
    """`spanbar serve` at one URL, killed and started again."""

    def __init__(self, folder: Path, *options: str) -> None:
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        command = [str(Path(sys.executable).with_name("spanbar")), "serve", str(BEHAVIORS), *options]
        command += ["--http-port", str(port), "--grpc-port", str(free_port())]
        self._serving = Child(command, {}, folder / "log", folder)

    async def start(self) -> None:
        self._serving.spawn()
        await until(lambda: not self._serving.running or answers(f"{self.url}/readyz"))
        assert self._serving.running, self._serving.said()

    async def kill(self) -> None:
        await self._serving.end(signal.SIGKILL)

    def send(self, body: bytes) -> None:
        ask(f"{self.url}/v1/traces", body)

    def results(self, session: str) -> dict[str, str]:
        """Its results once it is ended."""
        ask(f"{self.url}/api/v1/sessions/{session}/end", b"")
        return {each["behavior"]: each["result"] for each in ask(f"{self.url}/api/v1/sessions/{session}")["results"]}


@pytest.mark.parametrize(
    ("options", "result"),
    [([], "unknown"), (["--journal", "journal"], "unknown"), (["--no-journal"], "pass")],
    ids=["by default", "with a journal of its own", "when it is told to take all for whole"],
)
async def test_a_server_that_was_killed_does_not_pass_what_it_has_but_the_rest_of(
    tmp_path: Path, options: list[str], result: str
) -> None:
    serving = Killed(tmp_path, *options)
    try:
        await serving.start()
        serving.send(call(0, "delete"))
        await serving.kill()
        await serving.start()
        serving.send(call(1, "other"))
        assert serving.results("s")["never delete"] == result
    finally:
        await serving.kill()


async def test_a_session_that_is_named_only_after_the_restart_lacks_what_its_trace_had_before(tmp_path: Path) -> None:
    serving = Killed(tmp_path)
    deletion, root = (json.loads(call(number, "delete")) for number in (0, 1))
    child = deletion["resourceSpans"][0]["scopeSpans"][0]["spans"][0]
    child["parentSpanId"] = f"{2:016x}"
    child["attributes"] = [each for each in child["attributes"] if each["key"] != "session.id"]
    naming = root["resourceSpans"][0]["scopeSpans"][0]["spans"][0]
    naming["name"] = "invoke_agent"
    naming["attributes"] = [
        {"key": "session.id", "value": {"stringValue": "s"}},
        {"key": "gen_ai.operation.name", "value": {"stringValue": "invoke_agent"}},
    ]
    try:
        await serving.start()
        serving.send(json.dumps(deletion).encode())
        await serving.kill()
        await serving.start()
        serving.send(json.dumps(root).encode())
        assert serving.results("s")["never delete"] == "unknown"
    finally:
        await serving.kill()
