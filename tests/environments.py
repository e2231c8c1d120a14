"""Python environments of their own for agents and peers, made once and kept in `.cache/environments`."""

import fcntl
import hashlib
import os
import random
import shutil
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CACHE = ROOT / ".cache" / "environments"


def python_environment(name: str, requirements: Sequence[str]) -> Path:
    """The Python of an environment with these packages. Made if it is not there; two test workers make it once."""
    uv = Path(sys.executable).with_name("uv")
    folder = _folder(name, "\n".join(requirements))
    python = folder / "bin" / "python"
    _make(
        folder,
        [uv, "venv", "-q", "--python", sys.executable, folder],
        [uv, "pip", "install", "-q", "--python", python, *requirements],
    )
    return python


def node_packages(name: str, package: Path) -> Path:
    """The `node_modules` with what a package.json asks for."""
    folder = _folder(name, package.read_text())
    _make(
        folder,
        ["mkdir", folder],
        ["cp", package, folder],
        ["npm", "install", "--prefix", folder, "--no-audit", "--no-fund", "--no-progress"],
    )
    return folder / "node_modules"


def _folder(name: str, content: str) -> Path:
    CACHE.mkdir(parents=True, exist_ok=True)
    return CACHE / f"{name}-{hashlib.sha256(content.encode()).hexdigest()[:12]}"


def _make(folder: Path, *commands: Sequence[str | Path]) -> None:
    """Make a folder by these commands, unless it is complete. Two test workers make it once."""
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if (folder / "complete").exists():
            return
        shutil.rmtree(folder, ignore_errors=True)
        for command in commands:
            made = subprocess.run(command, check=False, capture_output=True, text=True)
            if made.returncode != 0:
                pytest.fail(f"the environment {folder.name} could not be made: {made.stderr[-2000:]}")
        (folder / "complete").touch()


def free_port() -> int:
    """A free port outside the range that connections are given theirs from, so that none takes it meanwhile."""
    while True:
        port = random.randrange(10_000, 32_000)
        with socket.socket() as bound:
            try:
                bound.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port


def spanbar(*arguments: str | Path, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the command as its user would, to its end."""
    command = [Path(sys.executable).with_name("spanbar"), *arguments]
    environment = {**os.environ, "NO_COLOR": "1", **variables}
    return subprocess.run(command, check=False, cwd=cwd, env=environment, capture_output=True, text=True, timeout=300)
