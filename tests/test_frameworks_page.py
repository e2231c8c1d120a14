"""docs/frameworks.md is what the starters, the conventions and the test results say."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_the_page_of_frameworks_is_written_by_its_script() -> None:
    checked = subprocess.run([sys.executable, ROOT / "scripts" / "frameworks", "--check"], check=False)
    assert checked.returncode == 0, "write it again: .venv/bin/python scripts/frameworks"
