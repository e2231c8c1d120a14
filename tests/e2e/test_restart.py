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


@pytest.mark.parametrize(
    ("options", "result"),
    [([], "unknown"), (["--journal", "journal"], "unknown"), (["--no-journal"], "pass")],
    ids=["by default", "with a journal of its own", "when it is told to take all for whole"],
)
async def test_a_server_that_was_killed_does_not_pass_what_it_has_but_the_rest_of(
    tmp_path: Path, options: list[str], result: str
) -> None:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    command = [str(Path(sys.executable).with_name("spanbar")), "serve", str(BEHAVIORS), *options]
    command += ["--http-port", str(port), "--grpc-port", str(free_port())]
    serving = Child(command, {}, tmp_path / "log", tmp_path)

    async def started() -> None:
        serving.spawn()
        await until(lambda: not serving.running or answers(f"{url}/readyz"))
        assert serving.running, serving.said()

    try:
        await started()
        ask(f"{url}/v1/traces", call(0, "delete"))
        await serving.end(signal.SIGKILL)
        await started()
        ask(f"{url}/v1/traces", call(1, "other"))
        ask(f"{url}/api/v1/sessions/s/end", b"")
        results = {each["behavior"]: each["result"] for each in ask(f"{url}/api/v1/sessions/s")["results"]}
        assert results["never delete"] == result
    finally:
        await serving.end(signal.SIGKILL)
