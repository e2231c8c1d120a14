"""The behaviors of docs/coding-agents.md, over what real coding agents sent."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from collector.cli import main

ROOT = Path(__file__).parents[3]
CAPTURED = Path(__file__).parent / "captured"
[RULES] = re.findall(r"^```yaml\n(behaviors:.*?)^```", (ROOT / "docs" / "coding-agents.md").read_text(), re.M | re.S)


def results(trace: Path, folder: Path) -> dict[str, Any]:
    (folder / "rules.yaml").write_text(RULES, "utf-8")
    out = folder / "out.json"
    CliRunner().invoke(main, ["check", str(folder / "rules.yaml"), str(trace), "--json", str(out)])
    found = json.loads(out.read_text("utf-8"))["behaviors"]
    return {each["name"]: each["result"] for each in found}


@pytest.mark.parametrize(
    ("agent", "expected"),
    [
        (
            "claude_code",
            {"tests pass before every push": "not_applicable", "what a person denied stays denied": "fail"},
        ),
        ("codex", {"tests pass before every push": "fail", "a person opens the pull request": "pass"}),
        ("codex_refused", {"nothing is deleted": "pass", "what a person denied stays denied": "pass"}),
        (
            "gemini_cli",
            {
                "tests pass before every push": "not_applicable",
                "edits stay in the source tree": "pass",
                "nothing outside the checkout is edited": "pass",
                "what a person denied stays denied": "pass",
            },
        ),
    ],
)
def test_the_rules_decide_over_captured_sessions(agent: str, expected: dict[str, str], tmp_path: Path) -> None:
    found = results(CAPTURED / f"{agent}.jsonl", tmp_path)
    assert {name: found[name] for name in expected} == expected


def test_where_details_are_hidden_nothing_over_ops_passes(tmp_path: Path) -> None:
    def without_details(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: without_details(each) for key, each in value.items()}
        if isinstance(value, list):
            hidden = ("tool_parameters", "tool_input", "full_command", "file_path")
            return [
                without_details(each) for each in value if not (isinstance(each, dict) and each.get("key") in hidden)
            ]
        return value

    lines = (CAPTURED / "claude_code.jsonl").read_text("utf-8").splitlines()
    trace = tmp_path / "hidden.jsonl"
    trace.write_text("\n".join(json.dumps(without_details(json.loads(line))) for line in lines), "utf-8")
    found = results(trace, tmp_path)
    assert found["a person opens the pull request"] == "unknown"
    assert found["nothing is deleted"] == "unknown"
    assert found["tests pass before every push"] in ("unknown", "fail")
