"""What a short run does not load: it would take longer than the run."""

import json
import socket
import subprocess
import sys
from collections.abc import Collection
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
AGENT = ROOT / "benchmarks" / "quick_agent.py"

NEVER = [
    *("anyio", "google.protobuf", "grpc", "httpx", "msgspec", "multiprocessing", "opentelemetry", "re2", "starlette"),
    *("tempfile", "rich._emoji_codes", "rich.live", "rich.table", "tree_sitter", "uvicorn", "watchfiles"),
    *("collector.conventions.openinference", "collector.conventions.pydantic_ai", "collector.live"),
    *("collector.export.html", "collector.export.json", "collector.export.junit", "collector.mapping"),
    *("collector.shell", "evaluator.behaviors", "evaluator.language.assertion", "evaluator.language.behaviors"),
]
"""In a run of calls that come as OTLP JSON, without further outputs and not on a terminal."""

LATER = ["collector.assembly", "collector.conventions", "collector.pipeline", "collector.receiver"]
"""Loaded while the agent starts."""

NOTING = """
import atexit, sys
atexit.register(lambda: open({path!r}, "w").write("\\n".join(sys.modules)))
{then}
"""


def loaded_by(then: str, folder: Path, *arguments: str) -> Collection[str]:
    path = folder / "modules"
    code = NOTING.format(path=str(path), then=then)
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=folder, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return set(path.read_text().split("\n"))


@pytest.fixture(scope="module")
def loaded_by_a_run(tmp_path_factory: pytest.TempPathFactory) -> Collection[str]:
    folder = tmp_path_factory.mktemp("run")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    call = {"function_calls": [{"name": "get_order", "params": {"order_id": "1042"}}]}
    agent = {"start": f"{sys.executable} {AGENT} {port}", "endpoint": f"http://127.0.0.1:{port}/chat"}
    spec = {"agent": agent, "suites": [{"name": "Orders", "tests": [{"trigger": "order", "expect": call}]}]}
    (folder / "a.highbar.yaml").write_text(json.dumps(spec), "utf-8")
    return loaded_by("from collector.cli import main; main()", folder, "run", "a.highbar.yaml")


@pytest.mark.parametrize("module", NEVER)
def test_a_short_run_never_loads(module: str, loaded_by_a_run: Collection[str]) -> None:
    assert module not in loaded_by_a_run


@pytest.mark.parametrize("module", LATER)
def test_once_the_agent_starts_a_run_loads(module: str, loaded_by_a_run: Collection[str]) -> None:
    assert module in loaded_by_a_run


def test_what_understands_telemetry_is_not_loaded_before_the_agent_is_started(tmp_path: Path) -> None:
    assert loaded_by("import collector.cli.run", tmp_path).isdisjoint({*LATER, *NEVER})
