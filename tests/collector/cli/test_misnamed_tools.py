"""Warnings of `check` and `serve` about tools that behaviors name and that there seem not to be."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner

from collector.cli.check import check
from tests.serving import send, serving, shell

BEHAVIORS = "behaviors: [{name: no deletion, assert: {never: {tool: {}, where: {name: delete_acount}}}}]"
SAID = "behavior 'no deletion' names the tool 'delete_acount', which nothing declares or calls"
CALL = {"v": 1, "type": "tool", "ts": 1, "fn": "delete_account", "args": {}, "context": {"test": "t"}}


@pytest.fixture
def behaviors(tmp_path: Path) -> Path:
    (tmp_path / "b.yaml").write_text(BEHAVIORS)
    return tmp_path / "b.yaml"


@pytest.mark.parametrize(
    ("records", "said"),
    [
        ([CALL], f"warning  {SAID}; did you mean 'delete_account'?"),
        (
            [CALL | {"fn": "pay"}, {"v": 1, "type": "tools", "ts": 1, "names": ["pay"]}],
            f"warning  {SAID}; the agent declares 'pay'",
        ),
        ([CALL | {"fn": "pay"}], ""),
    ],
)
def test_check_warns_and_its_results_stay(records: list[dict[str, Any]], said: str, behaviors: Path) -> None:
    trace = behaviors.with_name("t.jsonl")
    trace.write_text("".join(json.dumps(record) + "\n" for record in records))
    ran = CliRunner().invoke(check, [str(behaviors), str(trace)])
    assert ran.exit_code == 0
    assert [line for line in ran.output.splitlines() if line.startswith("warning")] == ([said] if said else [])


def test_a_server_warns_once_when_a_session_is_over(behaviors: Path) -> None:
    behaviors.write_text(BEHAVIORS.replace("delete_acount", "bassh"))
    with serving(behaviors, "--idle", "200ms") as server:
        for session in ("s", "t"):
            send(server.url, shell(1, "ls", session, trace=ord(session)))
            answer = httpx.get(f"{server.url}/api/v1/sessions/{session}/verdict", params={"wait": "60s"}, timeout=90)
            assert answer.json()["result"] == "pass"
        assert server.stop() == 0
    warnings = [line for line in server.log if "names the tool 'bassh'" in line]
    assert ["did you mean 'bash'?" in line for line in warnings] == [True]
