"""The README shows what its commands print."""

import re
import sys
from pathlib import Path

from tests.environments import free_port, spanbar

ROOT = Path(__file__).parents[2]


def test_the_first_run_prints_what_the_readme_shows(tmp_path: Path) -> None:
    assert spanbar("init", cwd=tmp_path).returncode == 0
    port = str(free_port())
    for name in ("agent.py", "specs/support.highbar.yaml"):
        file = tmp_path / name
        file.write_text(
            file.read_text().replace("8731", port).replace("python agent.py", f"{sys.executable} agent.py")
        )
    ran = spanbar("run", cwd=tmp_path)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    shown = re.search(r"^```text\n(.*?)^```", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert shown is not None
    assert without_times(ran.stdout) == without_times(shown[1])


def without_times(text: str) -> list[str]:
    """The lines, with no word on how long anything took and when it was decided: that differs from run to run."""
    lines = (re.sub(r"decided .*|[\d.]+ m?s\b", "...", line).split() for line in text.strip().splitlines())
    return [" ".join(line) for line in lines]
