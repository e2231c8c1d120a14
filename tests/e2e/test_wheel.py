"""The wheel: what is in it, and that it works in a clean environment with nothing of this repository."""

import os
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.metadata import version
from pathlib import Path

import httpx
import pytest

from collector.compiled import MODULES, are_all_compiled
from tests.e2e.collector.process import Child, free_port
from tests.waiting import until

ROOT = Path(__file__).parents[2]
UV = Path(sys.executable).with_name("uv")
pytestmark = pytest.mark.xdist_group("wheel")


def run(*command: object, cwd: Path | None = None, environ: dict[str, str] | None = None) -> str:
    made = subprocess.run(
        [*map(str, command)], cwd=cwd, env=environ, capture_output=True, text=True, check=False, timeout=600
    )
    assert made.returncode == 0, made.stdout + made.stderr
    return made.stdout


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built as `pip install` builds it."""
    directory = tmp_path_factory.mktemp("wheel")
    run(UV, "build", "--wheel", "--out-dir", directory, ROOT)
    (built,) = directory.glob("*.whl")
    return built


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of programs of a clean environment with the wheel in it."""
    directory = tmp_path_factory.mktemp("installed") / "environment"
    run(UV, "venv", "--python", sys.executable, directory)
    run(UV, "pip", "install", "--python", directory / "bin" / "python", f"spanbar[quickstart] @ {wheel.as_uri()}")
    return directory / "bin"


def clean(programs: Path) -> dict[str, str]:
    """Variables in which nothing leads back to this repository or its environment."""
    kept = {name: os.environ[name] for name in ("HOME", "XDG_STATE_HOME", "LANG") if name in os.environ}
    return {**kept, "PATH": f"{programs}{os.pathsep}/usr/bin{os.pathsep}/bin"}


def test_it_holds_every_file_of_the_packages_and_no_other(wheel: Path) -> None:
    listed = run("git", "ls-files", "-co", "--exclude-standard", "collector", "evaluator", cwd=ROOT).splitlines()
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    compiled = {name for name in names if name.endswith(tuple(EXTENSION_SUFFIXES))}
    assert {name.partition(".")[0].replace("/", ".") for name in compiled} == set(
        MODULES if are_all_compiled() else ()
    )
    assert names - compiled == {name for name in listed if (ROOT / name).is_file()}
    assert {"collector/py.typed", "evaluator/py.typed", "collector/live/openapi.json"} <= names
    assert _below(names, "collector/live/page/") >= {"index.html", "main.js", "base.css", "mark.svg"}
    assert "support.highbar.yaml" in {Path(name).name for name in names if "/starters/" in name}
    assert "collector/export/report.css" in names


def _below(names: Sequence[str] | set[str], folder: str) -> set[str]:
    return {name.removeprefix(folder) for name in names if name.startswith(folder)}


def test_the_program_says_its_version(installed: Path, tmp_path: Path) -> None:
    assert version("spanbar") in run(installed / "spanbar", "--version", cwd=tmp_path, environ=clean(installed))


def test_it_runs_what_it_writes(installed: Path, tmp_path: Path) -> None:
    environ = clean(installed)
    run(installed / "spanbar", "init", cwd=tmp_path, environ=environ)
    port = str(free_port())
    for file in (tmp_path / "agent.py", *tmp_path.glob("specs/*")):
        file.write_text(file.read_text().replace("8731", port))
    assert "4 passed" in run(installed / "spanbar", "run", cwd=tmp_path, environ=environ)


async def test_it_serves_its_page_and_api(installed: Path, tmp_path: Path) -> None:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    command = [str(installed / "spanbar"), "serve", "--http-port", str(port), "--grpc-port", str(free_port())]
    server = Child(command, clean(installed), tmp_path / "log", tmp_path)
    server.spawn()
    try:
        async with httpx.AsyncClient(base_url=url, timeout=30) as client:
            await until(lambda: not server.running or "OTLP/gRPC" in server.said())
            assert server.running, server.said()
            assert (await client.get("/healthz")).json() == {"status": "ok"}
            assert "<title>spanbar</title>" in (await client.get("/")).text
            assert (await client.get("/page/main.js")).status_code == 200
            assert (await client.get("/openapi.json")).json()["info"]["title"]
    finally:
        await server.end()
