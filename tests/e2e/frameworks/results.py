"""What was found of the frameworks, for docs/frameworks.md: written where FRAMEWORK_RESULTS says, else not at all."""

import fcntl
import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

FILE = "FRAMEWORK_RESULTS"
SERVICE = {"fastapi", "uvicorn", "zod"}
VERSIONS = """
import importlib.metadata, json, platform, sys
print(json.dumps({"python": platform.python_version(), **{n: importlib.metadata.version(n) for n in sys.argv[1:]}}))
"""


def add_result(framework: str, versions: dict[str, str], key: str, found: Any) -> None:
    """Add one finding to the results. Several test workers may do so at once."""
    named = os.environ.get(FILE)
    if named is None:
        return
    with Path(named).open("a+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        results = json.loads(file.read() or "{}")
        results.setdefault(framework, {})["versions"] = versions
        results[framework][key] = found
        file.truncate(0)
        file.write(json.dumps(results, indent=2, sort_keys=True) + "\n")


def python_versions(python: Path, requirements: Path) -> dict[str, str]:
    """The versions of what a starter asks for, without the service around the agent."""
    names = [re.split(r"[^\w.-]", line)[0] for line in requirements.read_text().split()]
    wanted = [name for name in names if name not in SERVICE]
    found = subprocess.run([python, "-c", VERSIONS, *wanted], capture_output=True, text=True, check=True)
    versions: dict[str, str] = json.loads(found.stdout)
    return versions


def node_versions(packages: Path, package: Path) -> dict[str, str]:
    names = [name for name in json.loads(package.read_text())["dependencies"] if name not in SERVICE]
    node = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout.strip()
    found = {name: json.loads((packages / name / "package.json").read_text())["version"] for name in names}
    return {"node": node.removeprefix("v"), **found}
