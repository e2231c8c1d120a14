"""A report that cannot be written is said to be lost, once, and ends nothing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PRINTS = """
import sys
from collector.cli.terminal import Terminal
terminal = Terminal()
for _ in range(3):
    terminal.print("a line")
sys.exit(3 if terminal.problem is not None else 0)
"""


@pytest.fixture(params=["full", "closed"])
def unwritable(request: pytest.FixtureRequest) -> int:
    if request.param == "full":
        if not Path("/dev/full").exists():
            pytest.skip("no /dev/full here")
        return os.open("/dev/full", os.O_WRONLY)
    read, write = os.pipe()
    os.close(read)
    return write


def test_an_output_that_cannot_be_written_is_told_once_without_a_traceback(unwritable: int) -> None:
    ended = subprocess.run([sys.executable, "-c", PRINTS], stdout=unwritable, stderr=subprocess.PIPE, check=False)
    os.close(unwritable)
    assert ended.returncode == 3
    (line,) = ended.stderr.decode().splitlines()
    assert line.startswith("error: the report could not be printed: ")
