"""Real frameworks with scripted models, each an agent in an environment of its own, get the verdicts that are right."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.environments import free_port, python_environment, spanbar

FRAMEWORKS = Path(__file__).parent / "frameworks"
SPEC = FRAMEWORKS / "verdicts.highbar.yaml"
SERVICE = (
    "fastapi",
    "uvicorn",
    "opentelemetry-sdk",
    "opentelemetry-exporter-otlp-proto-http",
    "opentelemetry-instrumentation-fastapi",
)
REQUIREMENTS = {
    "pydantic_ai": ("pydantic-ai-slim>=2", *SERVICE),
    "openai_agents": ("openai-agents", "openinference-instrumentation-openai-agents", *SERVICE),
}


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The base URL of the scripted model."""
    port = free_port()
    python = python_environment("pydantic_ai", REQUIREMENTS["pydantic_ai"])
    process = subprocess.Popen([python, FRAMEWORKS / "model_server.py", str(port)])
    yield f"http://127.0.0.1:{port}/v1"
    process.terminate()
    process.wait()


@pytest.mark.xdist_group("frameworks")
@pytest.mark.parametrize("jobs", ["1", "8"])
@pytest.mark.parametrize("framework", REQUIREMENTS)
def test_a_framework_agent_gets_the_right_verdicts(framework: str, jobs: str, model: str, tmp_path: Path) -> None:
    python = python_environment(framework, REQUIREMENTS[framework])
    ran = spanbar(
        "run",
        SPEC,
        "-j",
        jobs,
        "--json",
        "found.json",
        cwd=tmp_path,
        PORT=str(free_port()),
        AGENT_PYTHON=str(python),
        AGENT_FILE=str(FRAMEWORKS / "agents" / f"{framework}_support.py"),
        PYTHONPATH=str(FRAMEWORKS),
        OPENAI_API_KEY="none",
        OPENAI_BASE_URL=model,
    )
    assert (tmp_path / "found.json").exists(), ran.stdout + ran.stderr
    assert verdicts(tmp_path / "found.json") == expected(), ran.stdout + ran.stderr
    assert ran.returncode == 1


def verdicts(document: Path) -> dict[str, list[str]]:
    tests = json.loads(document.read_text())["tests"]
    return {
        test["name"]: [test["status"], *dict.fromkeys(reason["code"] for reason in test["reasons"])] for test in tests
    }


def expected() -> dict[str, list[str]]:
    spec = yaml.safe_load(SPEC.read_text())
    return {test["name"]: test["x-expected"] for suite in spec["suites"] for test in suite["tests"]}
