"""`spanbar check`: what it says, and its exit code, where not all of a recording can be read."""

import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from collector.cli.check import check
from tests.serving import shell, span

BEHAVIORS = """
behaviors:
  - {name: no push, assert: {never: {tool: {ops: git.push}}}}
  - {name: tests, assert: {eventually: {event: test.run}}}
"""


def lines(*spans: object) -> bytes:
    """A line for each span, as the Collector's file exporter writes it."""
    return b"".join(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [s]}]}]}).encode() + b"\n" for s in spans)


TESTED = lines(span(1, "test.run", "s"), *(shell(number, "ls", "s") for number in range(2, 2_000)))
PUSHED = lines(shell(1, "git push", "s"), *(shell(number, "ls", "s") for number in range(2, 2_000)))


def damaged(content: bytes) -> bytes:
    compressed = bytearray(gzip.compress(content))
    compressed[-4_000:-3_900] = b"\xff" * 100
    return bytes(compressed)


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "a cut last line": lambda content: content[:-20],
    "a cut gzip file": lambda content: gzip.compress(content)[:-2_000],
    "a damaged gzip file": damaged,
}


def results(tmp_path: Path, content: bytes) -> tuple[int, str, dict[str, str]]:
    (tmp_path / "b.yaml").write_text(BEHAVIORS)
    (tmp_path / "trace").write_bytes(content)
    found = tmp_path / "found.json"
    ran = CliRunner().invoke(check, [str(tmp_path / "b.yaml"), str(tmp_path / "trace"), "--json", str(found)])
    behaviors = json.loads(found.read_text())["behaviors"]
    return ran.exit_code, ran.output, {each["name"]: each["result"] for each in behaviors}


def test_a_whole_recording_passes(tmp_path: Path) -> None:
    code, output, found = results(tmp_path, gzip.compress(TESTED))
    assert (code, found) == (0, {"no push": "pass", "tests": "pass"})
    assert output.splitlines()[-1] == f"wrote {tmp_path / 'found.json'}"


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_of_a_damaged_recording_nothing_passes_that_the_rest_could_change(
    tmp_path: Path, damage: Callable[[bytes], bytes]
) -> None:
    code, output, found = results(tmp_path, damage(TESTED))
    assert (code, found) == (1, {"no push": "unknown", "tests": "pass"})
    assert "trace: line " in output


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_what_fails_before_the_damage_fails(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    assert results(tmp_path, damage(PUSHED))[::2] == (1, {"no push": "fail", "tests": "unknown"})


def test_of_many_problems_the_first_and_the_last_are_told(tmp_path: Path) -> None:
    _, output, _ = results(tmp_path, b"{broken\n" * 20 + TESTED[:-20])
    assert [int(line) for line in re.findall(r"trace: line (\d+):", output)] == [1, 2, 3, 4, 5, 2_019]
    assert "and 15 more problems; the last:" in output


def test_a_pass_by_a_regex_says_of_what_it_saw_only_the_beginning(tmp_path: Path) -> None:
    (tmp_path / "b.yaml").write_text("behaviors: [{name: no rm, assert: {never: {tool: {}, input: 'rm -rf'}}}]")
    (tmp_path / "t.jsonl").write_bytes(lines(shell(1, f"echo {'x' * 500}; rm -rf /", "s"), shell(2, "ls", "s")))
    ran = CliRunner().invoke(check, [str(tmp_path / "b.yaml"), str(tmp_path / "t.jsonl"), "--json", "-"])
    [behavior] = json.loads(ran.stdout)["behaviors"]
    assert behavior["result"] == "pass"
    assert behavior["reason"].endswith("; 1 input is longer than the 500 characters that a regex sees")
