"""The rules of docs/behaviors.md that keep calls from secrets, over calls that get at them in each way."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from collector.assembly import Assembly
from collector.index import Index
from collector.pipeline import Pipeline
from collector.telemetry import Batch
from evaluator.behaviors import Program
from evaluator.language.behaviors import parse_behaviors
from tests.collector.telemetry import span

PAGE = Path(__file__).parents[1] / "docs" / "behaviors.md"
[RULES] = [block for block in re.findall(r"^```yaml\n(.*?)^```", PAGE.read_text(), re.M | re.S) if "secrets" in block]
LONG = {"command": f"echo {'x' * 500}; cat secrets/key"}


def results(name: str, arguments: dict[str, Any] | None) -> list[str]:
    attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name}
    if arguments is not None:
        attributes["gen_ai.tool.call.arguments"] = json.dumps(arguments)
    pipeline = Pipeline(Index(Program(parse_behaviors(RULES, "rules"))), Assembly())
    pipeline.receive(Batch([span(f"execute_tool {name}", attributes)]))
    pipeline.index.close_all()
    [unit] = pipeline.index.units.values()
    return [result.verdict.result.value for result in unit.results]


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("Read", {"file_path": "secrets/key"}, ["fail", "fail", "fail"]),
        ("Write", {"content": "x" * 500, "file_path": "secrets/key"}, ["fail", "pass", "fail"]),
        ("Bash", {"command": "cat secrets/key"}, ["pass", "fail", "fail"]),
        ("Bash", LONG, ["pass", "pass", "fail"]),
        ("Grep", {"pattern": "x", "path": "secrets/"}, ["pass", "fail", "fail"]),
        ("mcp__fs__write_file", {"path": "secrets/key"}, ["pass", "fail", "fail"]),
        ("delete_file", {"path": "secrets/key"}, ["pass", "fail", "fail"]),
        ("Bash", {"command": "cat s*/k*"}, ["pass", "pass", "pass"]),
        ("Bash", None, ["pass", "unknown", "pass"]),
        ("Read", None, ["unknown", "unknown", "pass"]),
    ],
)
def test_each_rule_sees_what_the_page_says(name: str, arguments: dict[str, Any] | None, expected: list[str]) -> None:
    assert results(name, arguments) == expected
