"""The example of docs/mapping.md, run as its reader would run it."""

import json
import re
from pathlib import Path

import jsonschema
import pytest
import yaml
from click.testing import CliRunner

from collector.cli import main
from collector.mapping.schema import mapping_schema
from tests.collector.mapping.test_mapping import FILE, WRONG

PAGE = Path(__file__).parents[3] / "docs" / "mapping.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
UNSAID = {
    "mapping.calls[0].tool.name",
    "mapping.calls[0].status.error[0]",
    "mapping.calls[0].tool.prefix",
    "mapping.calls[0].kind.value",
    "mapping.calls[0].ops.value",
    "mapping.calls",
}
"""Problems that no schema can tell."""


@pytest.fixture
def example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    blocks = [(kind, text) for kind, text in BLOCK.findall(PAGE.read_text("utf-8"))]
    [mapping, behaviors] = [text for kind, text in blocks if kind == "yaml"]
    [trace] = [text for kind, text in blocks if kind == "json"]
    (tmp_path / "shop.mapping.yaml").write_text(mapping, "utf-8")
    (tmp_path / "rules.yaml").write_text(behaviors, "utf-8")
    (tmp_path / "trace.jsonl").write_text(trace, "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def spanbar(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(main, arguments)
    return result.exit_code, result.output


def test_the_example_passes_its_behavior(example: Path) -> None:
    code, output = spanbar(
        "check", "--mapping", "shop.mapping.yaml", "rules.yaml", "trace.jsonl", "--json", "out.json"
    )
    assert code == 0, output
    [found] = json.loads((example / "out.json").read_text("utf-8"))["behaviors"]
    assert (found["result"], found["unit"]["id"]) == ("pass", "run-1")


def test_without_the_mapping_there_is_no_refund_in_the_same_trace(example: Path) -> None:
    code, output = spanbar("check", "rules.yaml", "trace.jsonl")
    assert code != 0
    assert "nothing in these files is a session" in output


def test_explain_says_where_each_part_of_the_call_stands(example: Path) -> None:
    code, output = spanbar("explain", "--mapping", "shop.mapping.yaml", "trace.jsonl", "--json", "-")
    assert code == 0, output
    [call] = json.loads(output)["calls"]
    assert (call["name"], call["args"], call["session"]) == ("refund", {"order": "A-1", "amount": 30}, "run-1")


def test_a_mapping_with_problems_runs_nothing(example: Path) -> None:
    Path("bad.yaml").write_text("mapping:\n  calls:\n    - where: {name: x}\n      tol: t\n", "utf-8")
    code, output = spanbar("check", "--mapping", "bad.yaml", "rules.yaml", "trace.jsonl")
    assert code == 2
    assert "bad.yaml:4: mapping.calls[0].tol: unknown key 'tol' (did you mean 'tool'?)" in output


def test_validate_takes_mappings(example: Path) -> None:
    code, output = spanbar("validate", "shop.mapping.yaml")
    assert code == 0
    assert "2 rules" in output


def test_the_schema_is_a_schema_and_takes_the_examples() -> None:
    schema = json.loads(spanbar("schema", "mapping")[1])
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(yaml.safe_load(FILE), schema)


@pytest.mark.parametrize(("text", "path"), [(text, path) for text, path, _ in WRONG if path not in UNSAID])
def test_the_schema_refuses_what_the_reader_refuses(text: str, path: str) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(yaml.safe_load(text), mapping_schema())
