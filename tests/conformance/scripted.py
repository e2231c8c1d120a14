"""One conformance case, run: the world it asks for, its scripted agent, and what spanbar says."""

import asyncio
import contextlib
import json
import os
import socket
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from collector.cli import main
from collector.cli.run_telemetry import RunTelemetry
from collector.index import Index
from collector.pipeline import Pipeline
from evaluator.harness.environment import agent_environment
from evaluator.harness.listener import Listener
from evaluator.harness.outcome import RunOutcome, TestOutcome
from evaluator.harness.run import run_specs
from evaluator.harness.specrun import Options
from evaluator.harness.variations import CACHE, cache_key
from evaluator.language import Problem, SpecProblems, read_spec
from evaluator.language.spec import Spec
from tests.environments import free_port
from tests.waiting import until

AGENT = Path(__file__).with_name("agent.py")
BLIND_WAIT = 0.5
"""Seconds instead of ten: the scripted agent sends at once or never."""

Case = Mapping[str, Any]


@dataclass(frozen=True)
class Seen:
    """What a case came to."""

    problems: tuple[Problem, ...] = ()
    outcome: RunOutcome | None = None
    files: Mapping[str, str] = field(default_factory=dict)
    port_free: bool = True
    command: Result | None = None
    """What the command line said, for a case that is about which specs it finds."""

    @property
    def exit(self) -> int:
        if self.command is not None:
            return self.command.exit_code
        return 2 if self.problems else int(self.outcome.exit_status) if self.outcome is not None else 0

    @property
    def stops(self) -> list[str]:
        return [stop.code for stop in self.outcome.stops] if self.outcome is not None else []

    @property
    def tests(self) -> tuple[TestOutcome, ...]:
        return self.outcome.tests if self.outcome is not None else ()

    @property
    def warnings(self) -> set[str]:
        return {notice.code for notice in self.outcome.warnings} if self.outcome is not None else set()

    def shown(self) -> str:
        """Everything that a report may show."""
        if self.command is not None:
            return self.command.output
        lines = [f"{problem.file}: {problem.path}: {problem.message} {problem.hint}" for problem in self.problems]
        if self.outcome is not None:
            lines += [f"{notice.code}: {notice.text}" for notice in self.outcome.warnings]
            lines += [f"{stop.code}: {stop.text}" for stop in self.outcome.stops]
            lines += [text for test in self.tests for text in (test.name, test.suite, *texts(test))]
        return "\n".join(lines)


def texts(test: TestOutcome) -> Iterator[str]:
    """What a report shows of a test's reasons."""
    for reason in test.reasons:
        yield reason.text
        yield reason.fix
        for difference in reason.nearest.differences if reason.nearest is not None else ():
            yield f"{difference.path}: {difference.expected} {difference.found}"


class World:
    """The folder, the port, the files and the variables of one case."""

    def __init__(self, case: Case, folder: Path) -> None:
        self.case = case
        self.folder = folder
        self.port = free_port()
        correlates = "correlate" in json.dumps(case.get("spec", case.get("yaml", "")))
        arguments = [sys.executable, "-S", str(AGENT), str(folder / "script.json"), str(self.port)]
        self.start = [*arguments, *(["--own-traces"] if correlates else [])]
        base = f"http://127.0.0.1:{self.port}"
        self.tokens = {
            "@ENDPOINT@": f"{base}/chat",
            "@HEALTH@": f"{base}/health",
            "@START@": " ".join(self.start),
            "@TRACES@": "missing.jsonl" if case.get("no_trace_file") else "otlp",
            "@PORT@": str(self.port),
            "@DIR@": str(folder),
        }
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(("HIGHBAR_", "OTEL_"))}
        path = f"{Path(sys.executable).parent}{os.pathsep}{inherited.get('PATH', '')}"
        own = {name: self.fill(value) for name, value in case.get("env", {}).items()}
        self.environ = {**inherited, "PATH": path, **own}

    def fill(self, text: str) -> str:
        for token, value in self.tokens.items():
            text = text.replace(token, value)
        return text

    def write(self) -> Path:
        """Write the case's files. Returns the spec's path, relative to the folder."""
        (self.folder / "script.json").write_text(json.dumps(self.case["script"]), "utf-8")
        for name, text in self.case.get("files", {}).items():
            self.put(name, self.fill(text).encode())
        if "variations_cache" in self.case:
            entries = self.case["variations_cache"]
            keyed = {cache_key(entry["trigger"], entry["count"]): entry for entry in entries}
            self.put(str(CACHE), json.dumps(keyed).encode())
        path = Path(self.case.get("spec_file", "case.highbar.yaml"))
        if not self.case.get("no_spec_file"):
            self.put(str(path), self.spec_bytes())
        return path

    def spec_bytes(self) -> bytes:
        if "bytes_hex" in self.case:
            return bytes.fromhex(self.case["bytes_hex"])
        text = self.case.get("yaml") or yaml.safe_dump(self.case["spec"], sort_keys=False, allow_unicode=True)
        return self.fill(text).encode("utf-8", "surrogatepass")

    def put(self, name: str, content: bytes) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)

    def runs(self) -> int | None:
        arguments = self.case.get("cli", [])
        return int(arguments[arguments.index("--runs") + 1]) if "--runs" in arguments else None

    def read(self, path: Path) -> tuple[list[Spec], tuple[Problem, ...]]:
        """All specs that the case runs, and their problems. Relative to the folder, as a user names them."""
        argument = Path(self.case.get("spec_arg", path))
        found = sorted(argument.rglob("*.highbar.yaml")) if argument.is_dir() else [argument]
        specs: list[Spec] = []
        problems: list[Problem] = []
        for each in found:
            try:
                specs.append(read_spec(each, environ=self.environ, runs=self.runs()))
            except SpecProblems as error:
                problems += error.problems
        return specs, tuple(problems)


async def run_case(case: Case, folder: Path) -> Seen:
    """Run a case in the folder, which is the working directory."""
    world = World(case, folder)
    specs, problems = world.read(world.write())
    if problems or case.get("verb") == "validate" or case["expect"].get("valid"):
        return Seen(problems)
    telemetry = RunTelemetry(lambda: Pipeline(Index()))
    await telemetry.start()
    options = Options(
        runs=world.runs(),
        all_runs=True,
        frozen="--frozen" in case.get("cli", []),
        folder=folder,
        environ=world.environ,
        blind_wait=BLIND_WAIT,
    )
    try:
        async with surroundings(world, telemetry):
            outcome = await run_specs(specs, listener=Listener(), telemetry=telemetry, options=options)
    finally:
        await telemetry.stop()
    names = case["expect"].get("files", {})
    files = {name: (folder / name).read_text("utf-8") for name in names if (folder / name).exists()}
    return Seen((), outcome, files, port_free=not accepts(world.port))


def run_command(case: Case, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Seen:
    """Run a case by the command line: one that is about which specs are found."""
    world = World(case, folder)
    world.write()
    monkeypatch.setenv("PATH", world.environ["PATH"])
    arguments = [case["spec_arg"]] if case.get("spec_arg") else []
    return Seen(command=CliRunner().invoke(main, [case.get("verb", "run"), *arguments]))


def is_about_finding(case: Case) -> bool:
    return "spec_file" in case or "spec_arg" in case


@contextlib.asynccontextmanager
async def surroundings(world: World, telemetry: RunTelemetry) -> AsyncIterator[None]:
    """What is there before the run: something on the port, or the agent that is attached to."""
    case = world.case
    async with contextlib.AsyncExitStack() as stack:
        if case.get("port_occupied"):
            stack.enter_context(socket.create_server(("127.0.0.1", world.port)))
        if case["mode"] == "attach" and not case.get("agent_down"):
            environment = agent_environment(world.environ, telemetry.endpoints)
            agent = await asyncio.create_subprocess_exec(*world.start, env=environment)
            stack.push_async_callback(agent.wait)
            stack.callback(agent.kill)
            await until(lambda: accepts(world.port))
        yield


def accepts(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
