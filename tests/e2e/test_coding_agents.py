"""Real coding agents in front of a scripted model, sending to a real receiver. They are installed from npm."""

import asyncio
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from collector.assembly import Assembly
from collector.receiver import Receiver
from collector.telemetry import Batch
from evaluator.items import Item, ItemKind
from tests.e2e.coding_agents.scripted_model import Call, ScriptedModel
from tests.environments import CACHE

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.skipif(shutil.which("npm") is None, reason="coding agents are installed with npm"),
]
LIMIT = 180
"""s. An agent needs a few; a limit that is reached is a failure."""


def installed(package: str, command: str, *scripts: Sequence[str]) -> Path:
    """The command of an npm package, installed into the cache once. `scripts` are run in its folder after that."""
    folder = CACHE / f"npm-{package.replace('/', '-').lstrip('@')}"
    binary = folder / "node_modules" / ".bin" / command
    if not binary.exists():
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(
            ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", folder, package],
            check=True,
            capture_output=True,
        )
        for script in scripts:
            subprocess.run(script, cwd=folder / "node_modules" / package, check=True, capture_output=True)
    return binary


class Station:
    """A receiver, and the items of what came."""

    def __init__(self) -> None:
        self._assembly = Assembly()
        self._found: dict[Any, Item] = {}
        self.receiver = Receiver(self._take, grpc_port=None)

    def _take(self, batch: Batch) -> None:
        for old, new in self._assembly.add(batch).changes:
            if old is not None:
                del self._found[old.id]
            if new is not None:
                self._found[new.id] = new

    async def __aenter__(self) -> "Station":
        await self.receiver.start()
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.receiver.stop()

    async def run(self, command: Sequence[str | Path], environ: Mapping[str, str], cwd: Path) -> list[Item]:
        """Run an agent to its end and give the items of what it sent, which it flushes before it exits."""
        clean = {"PATH": os.environ["PATH"], "HOME": str(cwd.parent), **environ}
        process = await asyncio.create_subprocess_exec(
            *command, cwd=cwd, env=clean, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        output, _ = await asyncio.wait_for(process.communicate(), LIMIT)
        assert process.returncode == 0, output.decode()
        return sorted(self._found.values(), key=lambda item: item.time)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "home" / "shop"
    folder.mkdir(parents=True)
    subprocess.run(["git", "init", "-q", folder], check=True)
    (folder / "README.md").write_text("hello\n", "utf-8")
    return folder


def told(items: Sequence[Item]) -> list[tuple[Any, ...]]:
    return [
        (item.call.name, item.known_ops, item.known_path, item.status, item.turn)
        for item in items
        if item.call is not None and item.kind is ItemKind.TOOL
    ]


def denied(items: Sequence[Item]) -> list[tuple[str, tuple[str, ...]]]:
    return [
        (item.call.name, item.known_ops)
        for item in items
        if item.call is not None and item.kind is ItemKind.APPROVAL and item.status == "denied"
    ]


async def test_claude_code(checkout: Path) -> None:
    claude = installed("@anthropic-ai/claude-code", "claude", ["node", "install.cjs"])
    steps: list[list[Call]] = [
        [("Bash", {"command": "cd . && rm -rf build", "description": "clean"})],
        [("Write", {"file_path": str(checkout / "src" / "a.py"), "content": "a = 1\n"})],
        [("Bash", {"command": "git push", "description": "push"})],
        [("Bash", {"command": "false", "description": "fail"})],
    ]
    async with AsyncExitStack() as stack:
        station = await stack.enter_async_context(Station())
        model = stack.enter_context(ScriptedModel(steps))
        environ = {
            "ANTHROPIC_API_KEY": "none",
            "ANTHROPIC_BASE_URL": model.url,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "CLAUDE_CODE_ENABLE_TELEMETRY": "1",
            "CLAUDE_CODE_ENHANCED_TELEMETRY_BETA": "1",
            "OTEL_LOGS_EXPORTER": "otlp",
            "OTEL_TRACES_EXPORTER": "otlp",
            "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
            "OTEL_EXPORTER_OTLP_ENDPOINT": station.receiver.http_url,
            "OTEL_LOG_TOOL_DETAILS": "1",
            "OTEL_RESOURCE_ATTRIBUTES": f"hangar.checkout={checkout}",
        }
        tools = ["--allowedTools", "Bash(cd:*),Bash(rm:*),Bash(false),Write", "--disallowedTools", "Bash(git push:*)"]
        items = await station.run([claude, "-p", "go", *tools], environ, checkout)
        assert told(items) == [
            ("Bash", ("delete",), None, "ok", 1),
            ("Write", (), "src/a.py", "ok", 1),
            ("Bash", (), None, "error", 1),
        ]
        assert denied(items) == [("Bash", ("git.push",))]
        again = await station.run([claude, "-p", "again", "--continue", *tools], environ, checkout)
    assert len({item.session for item in again}) == 1
    assert {item.turn for item in again} == {1, 2}
    events = [item.seq for item in again if item.kind is ItemKind.EVENT]
    assert events == sorted(set(events))


async def test_codex(checkout: Path) -> None:
    codex = installed("@openai/codex", "codex")
    steps: list[list[Call]] = [
        [("exec_command", {"cmd": "cd . && rm -rf build"})],
        [("exec_command", {"cmd": "python3 -m unittest discover -s . || true"})],
        [("exec_command", {"cmd": "exit 3"})],
    ]
    home = checkout.parent / ".codex"
    home.mkdir()
    async with AsyncExitStack() as stack:
        station = await stack.enter_async_context(Station())
        model = stack.enter_context(ScriptedModel(steps))
        url = station.receiver.http_url
        config = f"""
model = "scripted"
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "danger-full-access"
[model_providers.scripted]
name = "scripted"
base_url = "{model.url}/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
[otel]
exporter = {{ otlp-http = {{ endpoint = "{url}/v1/logs", protocol = "binary" }} }}
trace_exporter = {{ otlp-http = {{ endpoint = "{url}/v1/traces", protocol = "binary" }} }}
"""
        (home / "config.toml").write_text(config, "utf-8")
        environ = {"CODEX_HOME": str(home), "SCRIPTED_KEY": "none"}
        items = await station.run([codex, "exec", "--skip-git-repo-check", "go"], environ, checkout)
    assert told(items) == [
        ("exec_command", ("test",), None, "ok", 1),
        ("exec_command", (), None, "error", 1),
    ]
    # Codex has a rule of its own against it, and says so in the output only.
    assert denied(items) == [("exec_command", ("delete",))]
    assert len({item.session for item in items if item.name.startswith("codex.")}) == 1


async def test_gemini_cli(checkout: Path) -> None:
    gemini = installed("@google/gemini-cli", "gemini")
    steps: list[list[Call]] = [
        [("run_shell_command", {"command": "cd . && rm -rf build"})],
        [("write_file", {"file_path": "src/a.py", "content": "a = 1\n"})],
        [("run_shell_command", {"command": "git push"})],
    ]
    settings = checkout.parent / ".gemini" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{"security": {"auth": {"selectedType": "gemini-api-key"}}}', "utf-8")
    async with AsyncExitStack() as stack:
        station = await stack.enter_async_context(Station())
        model = stack.enter_context(ScriptedModel(steps))
        environ = {
            "GEMINI_API_KEY": "none",
            "GOOGLE_GEMINI_BASE_URL": model.url,
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
            "GEMINI_TELEMETRY_ENABLED": "true",
            "GEMINI_TELEMETRY_TARGET": "local",
            "GEMINI_TELEMETRY_OTLP_ENDPOINT": station.receiver.http_url,
            "GEMINI_TELEMETRY_OTLP_PROTOCOL": "http",
        }
        allowed = "run_shell_command(cd),run_shell_command(rm)"
        command = [
            gemini,
            "-m",
            "gemini-2.5-flash",
            "--approval-mode",
            "auto_edit",
            "--allowed-tools",
            allowed,
            "-p",
            "go",
        ]
        items = await station.run(command, environ, checkout)
    assert told(items) == [
        ("run_shell_command", ("delete",), None, "ok", 1),
        ("write_file", (), "src/a.py", "ok", 1),
    ]
    assert denied(items) == [("run_shell_command", ("git.push",))]
