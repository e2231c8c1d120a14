"""The frameworks that are put to the test: what `spanbar init` writes for each, run in an environment of its own."""

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.e2e.frameworks.results import node_versions, python_versions
from tests.environments import free_port, node_packages, python_environment, spanbar

SPECS = Path(__file__).parent
HIDDEN = {"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "NO_CONTENT"}
OPENINFERENCE_HIDDEN = {"OPENINFERENCE_HIDE_INPUTS": "true", "OPENINFERENCE_HIDE_OUTPUTS": "true"}
GENAI = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_AND_EVENT"
PYDANTIC_AI = "InstrumentationSettings(include_content=True)"
OPENINFERENCE = "unset OPENINFERENCE_HIDE_INPUTS and OPENINFERENCE_HIDE_OUTPUTS"


@dataclass(frozen=True)
class Framework:
    """`hidden` switches content capture off, and `advice` is what the user is told then; None: there is no switch."""

    name: str
    hidden: Mapping[str, str] | None
    advice: str = ""
    approvals: bool = True
    heavy: bool = True


TABLE = (
    Framework("pydantic-ai", HIDDEN, PYDANTIC_AI, heavy=False),
    Framework("openai-agents", OPENINFERENCE_HIDDEN, OPENINFERENCE, heavy=False),
    Framework("langchain", OPENINFERENCE_HIDDEN, OPENINFERENCE),
    Framework("crewai", OPENINFERENCE_HIDDEN, OPENINFERENCE, approvals=False),
    Framework("google-adk", HIDDEN, GENAI),
    Framework("strands", None),
    Framework("smolagents", OPENINFERENCE_HIDDEN, OPENINFERENCE, approvals=False),
    Framework("llama-index", OPENINFERENCE_HIDDEN, OPENINFERENCE, approvals=False),
    Framework("agent-framework", {"ENABLE_SENSITIVE_DATA": "false"}, "ENABLE_SENSITIVE_DATA=true"),
    Framework("vercel-ai", HIDDEN, "recordInputs"),
    Framework("openai", HIDDEN, GENAI, approvals=False),
    Framework("mcp", HIDDEN, PYDANTIC_AI, approvals=False),
)


class Project:
    """A starter in a folder of its own, with the packages that it asks for."""

    def __init__(self, framework: Framework, folder: Path, model: str) -> None:
        self.framework = framework
        self.folder = folder
        written = spanbar("init", "--framework", framework.name, folder, cwd=folder.parent)
        assert written.returncode == 0, written.stderr
        self._variables = {
            "PORT": str(free_port()),
            "OPENAI_API_KEY": "none",
            "OPENAI_BASE_URL": f"{model}/v1",
            "GOOGLE_API_KEY": "none",
            "GOOGLE_GEMINI_BASE_URL": model,
        }
        package, requirements = folder / "package.json", folder / "requirements.txt"
        if package.exists():
            packages = node_packages(framework.name, package)
            (folder / "node_modules").symlink_to(packages)
            self.versions = node_versions(packages, package)
            self._variables["AGENT_START"] = "node agent.js"
        else:
            python = python_environment(framework.name, requirements.read_text().splitlines())
            self.versions = python_versions(python, requirements)
            self._variables["PATH"] = f"{python.parent}{os.pathsep}{os.environ['PATH']}"
            self._variables["AGENT_START"] = "python agent.py"

    def run(self, spec: str, *options: str, **variables: str) -> "Found":
        """Run one of the specs beside this module."""
        options = (str(SPECS / f"{spec}.highbar.yaml"), "--json", "found.json", *options)
        ran = spanbar("run", *options, cwd=self.folder, **self._variables, **variables)
        document = self.folder / "found.json"
        output = f"{ran.stdout}{ran.stderr}\n{self._log()}"
        assert document.exists(), output
        return Found(json.loads(document.read_text())["tests"], output)

    def run_own_specs(self) -> subprocess.CompletedProcess[str]:
        for spec in (self.folder / "specs").iterdir():
            spec.write_text(spec.read_text().replace("8731", self._variables["PORT"]))
        return spanbar("run", cwd=self.folder, **self._variables)

    def _log(self) -> str:
        logs = sorted((self.folder / ".highbar").glob("*.log"))
        return "\n".join(log.read_text()[-3000:] for log in logs)


@dataclass(frozen=True)
class Found:
    tests: Sequence[dict[str, Any]]
    output: str

    @property
    def verdicts(self) -> dict[str, list[str]]:
        """By test: its status, and the codes of its reasons."""
        return {
            test["name"]: [test["status"], *dict.fromkeys(reason["code"] for reason in test["reasons"])]
            for test in self.tests
        }

    @property
    def advice(self) -> set[str]:
        return {reason["fix"] for test in self.tests for reason in test["reasons"] if reason["fix"]}


def right(spec: str) -> dict[str, list[str]]:
    """The verdicts that a spec's `x-expected` says are right."""
    suites = yaml.safe_load((SPECS / f"{spec}.highbar.yaml").read_text())["suites"]
    return {test["name"]: test["x-expected"] for suite in suites for test in suite["tests"]}
