"""Recordings that come through pipes are read as files are, whatever their form, damaged ones too."""

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.collector.cli.test_check import lines
from tests.serving import shell

SPANBAR = str(Path(sys.executable).with_name("spanbar"))
BEHAVIORS = "behaviors: [{name: no push, assert: {never: {tool: {ops: git.push}}}}]"
PUSHED = lines(shell(1, "ls", "s"), shell(2, "git push", "s"))
LISTED = lines(*(shell(number, "ls", "s") for number in range(1, 2_000)))


@pytest.fixture
def behaviors(tmp_path: Path) -> Path:
    (tmp_path / "b.yaml").write_text(BEHAVIORS)
    return tmp_path / "b.yaml"


@pytest.mark.parametrize("content", [PUSHED, gzip.compress(PUSHED)], ids=["lines", "gzip"])
def test_the_standard_input_is_checked(content: bytes, behaviors: Path) -> None:
    ran = subprocess.run([SPANBAR, "check", str(behaviors), "-"], input=content, capture_output=True, check=False)
    assert ran.returncode == 1, ran.stderr
    assert b"fail no push" in ran.stdout


def test_the_pipe_of_a_process_is_checked(behaviors: Path, tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_bytes(PUSHED)
    command = f"'{SPANBAR}' check '{behaviors}' <(cat '{tmp_path / 't.jsonl'}')"
    ran = subprocess.run(["bash", "-c", command], capture_output=True, check=False)
    assert ran.returncode == 1, ran.stderr
    assert b"fail no push" in ran.stdout


@pytest.mark.parametrize("content", [LISTED[:-20], gzip.compress(LISTED)[:-200]], ids=["lines", "gzip"])
def test_of_a_cut_pipe_nothing_passes(content: bytes, behaviors: Path) -> None:
    ran = subprocess.run([SPANBAR, "check", str(behaviors), "-"], input=content, capture_output=True, check=False)
    assert ran.returncode == 1, ran.stderr
    assert b"unknown no push" in ran.stdout


def test_the_standard_input_is_explained() -> None:
    ran = subprocess.run([SPANBAR, "explain", "--json", "-", "-"], input=PUSHED, capture_output=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert len(json.loads(ran.stdout)["calls"]) == 2
