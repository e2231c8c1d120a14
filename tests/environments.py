"""Python environments of their own for agents and peers, made once and kept in `.cache/environments`."""

import fcntl
import hashlib
import os
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
    key = hashlib.sha256("\n".join(requirements).encode()).hexdigest()[:12]
    folder = CACHE / f"{name}-{key}"
    python = folder / "bin" / "python"
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if (folder / "complete").exists():
            return python
        uv = Path(sys.executable).with_name("uv")
        shutil.rmtree(folder, ignore_errors=True)
        made = subprocess.run([uv, "venv", "-q", "--python", sys.executable, folder], capture_output=True, text=True)
        if made.returncode == 0:
            install = [uv, "pip", "install", "-q", "--python", python, *requirements]
            made = subprocess.run(install, capture_output=True, text=True)
        if made.returncode != 0:
            pytest.fail(f"the environment {name!r} could not be made: {made.stderr[-2000:]}")
        (folder / "complete").touch()
    return python


def free_port() -> int:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        port = bound.getsockname()[1]
        assert isinstance(port, int)
        return port


def spanbar(*arguments: str | Path, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the command as its user would, to its end."""
    command = [Path(sys.executable).with_name("spanbar"), *arguments]
    environment = {**os.environ, "NO_COLOR": "1", **variables}
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=300)
