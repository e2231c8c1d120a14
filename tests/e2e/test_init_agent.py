"""What `highbar init` writes gives the same verdicts under `spanbar run`: its SDK can only write a file."""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.e2e import highbar
from tests.environments import free_port

PORT = "8731"
"""The port that `highbar init` writes."""


@dataclass(frozen=True)
class Both:
    """One project run by both tools."""

    theirs_exit: int
    theirs: dict[str, bool]
    ours_exit: int
    ours: dict[str, Any]
    printed: str


@pytest.fixture(scope="module", params=[True, False], ids=["guarded", "unguarded"])
def both(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Both:
    try:
        highbar.installed()
    except subprocess.CalledProcessError as error:
        pytest.skip(f"highbar cannot be installed here: {error}")
    folder = tmp_path_factory.mktemp("project")
    write_project(folder, guardrails=request.param)
    theirs_exit, theirs = highbar.run(folder)
    command = [str(Path(sys.executable).parent / "spanbar"), "run", "--json", "result.json"]
    done = subprocess.run(command, cwd=folder, env=highbar.environment(), capture_output=True, text=True, check=False)
    assert (folder / "result.json").exists(), done.stderr
    ours = json.loads((folder / "result.json").read_text("utf-8"))
    return Both(theirs_exit, theirs, done.returncode, ours, done.stdout)


def write_project(folder: Path, *, guardrails: bool) -> None:
    """A new project of highbar's, on a free port."""
    subprocess.run(["highbar", "init"], cwd=folder, env=highbar.environment(), check=True, capture_output=True)
    port = str(free_port())
    for path in (folder / "agent.py", folder / "specs" / "quickstart.highbar.yaml"):
        text = path.read_text("utf-8").replace(PORT, port)
        path.write_text(text.replace("GUARDRAILS = True", f"GUARDRAILS = {guardrails}"), "utf-8")


def test_the_verdicts_are_those_of_highbar(both: Both) -> None:
    assert len(both.theirs) == 4, "what highbar prints is not understood any more"
    assert {test["name"]: test["status"] == "passed" for test in both.ours["tests"]} == both.theirs
    assert both.ours_exit == both.theirs_exit


def test_that_the_agent_was_given_a_file_is_said_in_a_line(both: Both) -> None:
    assert len([line for line in both.printed.splitlines() if "started once more" in line]) == 1


def test_no_test_waits_for_a_fixed_time(both: Both) -> None:
    executions = [execution for test in both.ours["tests"] for execution in test["executions"]]
    closed_by = {turn["decision"]["by"] for execution in executions for turn in execution["turns"]}
    assert "settle-time" not in closed_by


def test_calls_come_with_their_arguments(both: Both) -> None:
    (test,) = [test for test in both.ours["tests"] if "before cancelling" in test["name"]]
    calls = test["executions"][0]["calls"]
    assert [(call["name"], call["args"]) for call in calls] == [
        ("get_order", {"order_id": "1042"}),
        ("cancel_order", {"order_id": "1042"}),
    ]
