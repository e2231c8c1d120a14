"""Real frameworks with a scripted model: the agents that `spanbar init --framework` writes get the right verdicts."""

import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from collector.cli.starters import FRAMEWORKS
from tests.e2e.frameworks.results import add_result
from tests.e2e.frameworks.starters import SPECS, TABLE, Framework, Project, right
from tests.environments import free_port


def params(frameworks: Iterable[Framework]) -> list[Any]:
    return [pytest.param(each, id=each.name, marks=[pytest.mark.heavy] * each.heavy) for each in frameworks]


EVERY = params(TABLE)
WITH_APPROVALS = params(each for each in TABLE if each.approvals)
WITH_SWITCH = params(each for each in TABLE if each.hidden is not None)
pytestmark = pytest.mark.xdist_group("frameworks")


@pytest.fixture(scope="session")
def model() -> Iterator[str]:
    """The URL of the scripted model's server."""
    port = free_port()
    process = subprocess.Popen([sys.executable, SPECS / "model_server.py", str(port)])
    yield f"http://127.0.0.1:{port}"
    process.terminate()
    process.wait()


@pytest.fixture
def project(framework: Framework, model: str, tmp_path: Path) -> Project:
    return Project(framework, tmp_path / "project", model)


def test_every_starter_is_put_to_the_test() -> None:
    assert {each.name for each in TABLE} == set(FRAMEWORKS)


@pytest.mark.parametrize("framework", EVERY)
def test_an_agent_gets_the_right_verdicts_on_tests_that_run_at_once(project: Project) -> None:
    found = project.run("verdicts", "-j", "8")
    assert found.verdicts == right("verdicts"), found.output
    add_result(project.framework.name, project.versions, "verdicts", found.verdicts)


@pytest.mark.parametrize("framework", params(each for each in TABLE if not each.heavy))
def test_an_agent_gets_the_right_verdicts_on_tests_one_after_another(project: Project) -> None:
    found = project.run("verdicts")
    assert found.verdicts == right("verdicts"), found.output


@pytest.mark.parametrize("framework", WITH_APPROVALS)
def test_a_call_has_happened_once_it_is_approved_and_not_before(project: Project) -> None:
    found = project.run("approvals")
    assert found.verdicts == right("approvals"), found.output
    add_result(project.framework.name, project.versions, "approvals", found.verdicts)


@pytest.mark.parametrize("framework", WITH_SWITCH)
def test_without_content_a_verdict_that_needs_it_is_an_error_with_advice(project: Project) -> None:
    found = project.run("unseen", **project.framework.hidden or {})
    assert found.verdicts == right("unseen"), found.output
    assert found.advice, found.output
    assert all(project.framework.advice in advice for advice in found.advice), found.output
    without = {"switch": project.framework.hidden, "advice": sorted(found.advice), "verdicts": found.verdicts}
    add_result(project.framework.name, project.versions, "without content", without)


@pytest.mark.parametrize("framework", EVERY)
def test_a_starter_passes_its_own_specs(project: Project) -> None:
    ran = project.run_own_specs()
    assert ran.returncode == 0, ran.stdout + ran.stderr
