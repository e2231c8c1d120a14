"""What `highbar init` writes gives the same verdicts under `spanbar run`: its SDK can only write a file."""

import json
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.e2e import highbar

PORT = "8731"
"""The port that `highbar init` writes."""


@pytest.fixture(scope="session")
def commands() -> Path:
    try:
        return highbar.installed()
    except subprocess.CalledProcessError as error:
        pytest.skip(f"highbar cannot be installed here: {error}")


@pytest.fixture(params=[True, False], ids=["guarded", "unguarded"])
def project(request: pytest.FixtureRequest, commands: Path, tmp_path: Path) -> Path:
    """A new project of highbar's, on a free port, with its guardrails on or off."""
    subprocess.run([str(commands / "highbar"), "init"], cwd=tmp_path, check=True, capture_output=True)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    for path in (tmp_path / "agent.py", tmp_path / "specs" / "quickstart.highbar.yaml"):
        path.write_text(path.read_text("utf-8").replace(PORT, port), "utf-8")
    agent = tmp_path / "agent.py"
    agent.write_text(agent.read_text("utf-8").replace("GUARDRAILS = True", f"GUARDRAILS = {request.param}"), "utf-8")
    return tmp_path


def spanbar(folder: Path, *arguments: str) -> tuple[int, dict[str, Any], str]:
    """`spanbar run`: its exit code, its JSON document and what it printed."""
    command = [str(Path(sys.executable).parent / "spanbar"), "run", "--json", "result.json", *arguments]
    done = subprocess.run(command, cwd=folder, env=highbar.environment(), capture_output=True, text=True, check=False)
    assert (folder / "result.json").exists(), done.stderr
    return done.returncode, json.loads((folder / "result.json").read_text("utf-8")), done.stdout


def test_the_verdicts_are_those_of_highbar(project: Path) -> None:
    theirs_exit, theirs = highbar.run(project)
    assert len(theirs) == 4, "what highbar prints is not understood any more"
    ours_exit, ours, printed = spanbar(project)
    assert {test["name"]: test["status"] == "passed" for test in ours["tests"]} == theirs
    assert ours_exit == theirs_exit
    assert "it was started once more" in printed


def test_no_test_waits_for_a_fixed_time(project: Path) -> None:
    _, ours, _ = spanbar(project)
    closed_by = {
        turn["decision"]["by"]
        for test in ours["tests"]
        for execution in test["executions"]
        for turn in execution["turns"]
    }
    assert "settle-time" not in closed_by


def test_calls_come_with_their_arguments(project: Path) -> None:
    _, ours, _ = spanbar(project, "-k", "before cancelling")
    (test,) = ours["tests"]
    calls = test["executions"][0]["calls"]
    assert [(call["name"], call["args"]) for call in calls] == [
        ("get_order", {"order_id": "1042"}),
        ("cancel_order", {"order_id": "1042"}),
    ]
