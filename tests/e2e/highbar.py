"""highbar itself, the tool whose spec format this is: installed into an environment of its own."""

import os
import re
import subprocess
import sys
from pathlib import Path

VERSION = "0.1.0rc3"
ENVIRONMENT = Path(__file__).parents[2] / ".cache" / "highbar-venv"

_RESULT = re.compile(r"^\s+([✓✗!?xX•⚠⊘-])\s+(.*?)(?:\s+\d+/\d+.*)?\s+\d+ms$")


def installed() -> Path:
    """The folder of its commands; installs it when it is not there yet. Raises CalledProcessError."""
    commands = ENVIRONMENT / "bin"
    if not (commands / "highbar").exists():
        subprocess.run([sys.executable, "-m", "venv", str(ENVIRONMENT)], check=True)
        # It asks for Python 3.12 and runs on 3.11; the pre-releases of httpx 1 break it.
        wanted = [f"highbar[quickstart]=={VERSION}", "httpx<1"]
        pip = [str(commands / "python"), "-m", "pip", "install", "-q", "--ignore-requires-python"]
        subprocess.run([*pip, *wanted], check=True)
    return commands


def environment() -> dict[str, str]:
    """The variables with which its commands, and an agent that needs its SDK, are found."""
    return {**os.environ, "PATH": f"{ENVIRONMENT / 'bin'}{os.pathsep}{os.environ['PATH']}"}


def run(folder: Path) -> tuple[int, dict[str, bool]]:
    """`highbar run` in the folder: its exit code, and by its name whether each test passed."""
    done = subprocess.run(
        ["highbar", "run"], cwd=folder, env=environment(), capture_output=True, text=True, check=False
    )
    results = filter(None, (_RESULT.match(line) for line in done.stdout.splitlines()))
    return done.returncode, {result.group(2): result.group(1) == "✓" for result in results}
