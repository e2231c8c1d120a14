"""`spanbar validate` and `spanbar schema` as a user runs them."""

import json
import re
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result
from jsonschema import Draft202012Validator

from collector.cli import main

SPEC = "agent: {endpoint: 'http://h/'}\nsuites: [{name: S, tests: [{trigger: a, expect: {forbid: [t]}}]}]\n"
BEHAVIORS = "behaviors: [{name: quiet, assert: {never: {event: steer}}}]\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(path: str, text: str) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text)


def spanbar(*arguments: str, **environ: str) -> Result:
    return CliRunner().invoke(main, arguments, env=environ)


def test_the_specs_under_specs_are_valid() -> None:
    write("specs/a.highbar.yaml", SPEC)
    write("specs/deep/b.highbar.yaml", SPEC)
    write("specs/ignored.yaml", "?")
    result = spanbar("validate")
    assert result.output.splitlines() == [
        "✓ specs/a.highbar.yaml: 1 suite, 1 test",
        "✓ specs/deep/b.highbar.yaml: 1 suite, 1 test",
        "2 files valid",
    ]
    assert result.exit_code == 0


def test_every_problem_of_every_file_is_shown_with_its_place() -> None:
    write("a.yaml", SPEC.replace("trigger", "triger").replace("http:", "ftp:"))
    write("b.yaml", SPEC)
    write("c.yaml", "behaviors: [{name: n, assert: {nver: {event: a}}}]\n")
    result = spanbar("validate", "a.yaml", "b.yaml", "c.yaml")
    lines = result.output.splitlines()
    assert lines[0] == "✗ a.yaml: 2 problems"
    assert lines[1].startswith("  a.yaml:1: agent.endpoint: 'ftp://h/' is not the URL of an agent")
    assert lines[2].startswith(
        "  a.yaml:2: suites[0].tests[0].triger: unknown key 'triger' (did you mean 'trigger'?)"
    )
    assert lines[3:5] == ["✓ b.yaml: 1 suite, 1 test", "✗ c.yaml: 1 problem"]
    assert lines[5].startswith("  c.yaml:1: behaviors[0].assert.nver: unknown key 'nver' (did you mean 'never'?)")
    assert lines[6] == "3 problems in 2 of 3 files"
    assert result.exit_code == 2


def test_a_warning_is_shown_and_the_file_is_valid() -> None:
    write("a.yaml", SPEC.replace("forbid: [t]", "function_calls: [{name: t, params: {country: NO}}]"))
    result = spanbar("validate", "a.yaml")
    assert "warning a.yaml:2: suites[0].tests[0].expect.function_calls[0].params.country: 'NO'" in result.output
    assert result.exit_code == 0


def test_a_long_line_is_not_broken_where_the_output_is_no_terminal() -> None:
    write("a.yaml", SPEC.replace("forbid", "x" * 300))
    assert len(spanbar("validate", "a.yaml").output.splitlines()) == 4


def test_brackets_in_a_message_are_no_markup() -> None:
    write("a.yaml", SPEC.replace("[t]", "['[red]']").replace("forbid", "forbidden"))
    assert "tests[0].expect.forbidden" in spanbar("validate", "a.yaml").output


def test_a_behavior_file_is_told_by_its_top_level_key() -> None:
    write("quiet.behaviors.yaml", BEHAVIORS)
    result = spanbar("validate", ".")
    assert result.output.splitlines() == ["✓ quiet.behaviors.yaml: 1 behavior", "1 file valid"]


def test_the_behavior_files_that_a_spec_names_are_checked_too_and_once() -> None:
    write("specs/a.highbar.yaml", SPEC.replace("trigger: a", "trigger: a, x-behaviors: ../b.yaml"))
    write("specs/c.highbar.yaml", SPEC.replace("trigger: a", "trigger: a, x-behaviors: ../b.yaml"))
    write("b.yaml", BEHAVIORS.replace("steer", "''"))
    result = spanbar("validate")
    assert result.output.splitlines()[2] == "✗ b.yaml: 1 problem"
    assert result.output.count("1 problem\n") == 1
    assert result.exit_code == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "there is no specs"),
        (("none.yaml",), "there is no none.yaml"),
        (("empty",), "no *.highbar.yaml and no *.behaviors.yaml and no *.mapping.yaml in empty"),
    ],
)
def test_nothing_to_check_is_no_success(arguments: tuple[str, ...], said: str) -> None:
    Path("empty").mkdir()
    result = spanbar("validate", *arguments)
    assert said in result.output
    assert result.exit_code == 2


def test_variables_come_from_the_environment_and_are_not_shown() -> None:
    write("a.yaml", SPEC.replace("http://h/", "${AGENT_URL}"))
    assert "AGENT_URL is not set" in spanbar("validate", "a.yaml").output
    assert spanbar("validate", "a.yaml", AGENT_URL="http://h/").exit_code == 0
    refused = spanbar("validate", "a.yaml", AGENT_URL="hidden-word")
    assert refused.exit_code == 2
    assert "hidden-word" not in refused.output


def test_runs_are_those_that_run_would_be_given() -> None:
    write("a.yaml", SPEC.replace("trigger: a", "trigger: a, min_pass: 2"))
    assert spanbar("validate", "a.yaml").exit_code == 2
    assert spanbar("validate", "a.yaml", "--runs", "2").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "title"), [((), "Test spec"), (("spec",), "Test spec"), (("behaviors",), "Behaviors")]
)
def test_a_schema_is_json(arguments: tuple[str, ...], title: str) -> None:
    schema = json.loads(spanbar("schema", *arguments).output)
    assert schema["title"].startswith(title)
    assert schema["$defs"]


def test_a_config_of_serve_is_known_by_its_options_and_the_files_that_it_names_are_checked_too() -> None:
    write("rules/b.yaml", BEHAVIORS)
    write("a.yaml", "behaviors: [rules/b.yaml]\nidle: 3s\nx-note: mine\n")
    write("b.yaml", "idle: 3s\nordered: true\n")
    result = spanbar("validate", "a.yaml", "b.yaml")
    assert result.output.splitlines() == [
        "✓ a.yaml: 2 options of spanbar serve",
        "✓ b.yaml: 2 options of spanbar serve",
        "✓ rules/b.yaml: 1 behavior",
        "3 files valid",
    ]


def test_every_problem_of_a_config_of_serve_is_shown_with_its_place() -> None:
    write("a.yaml", "idel: 3s\nhttp-port: 99999\nidle: soon\nmax-items: true\nbehaviors: none.yaml\n")
    result = spanbar("validate", "a.yaml")
    assert result.exit_code == 2
    lines = result.output.splitlines()
    assert lines[0] == "✗ a.yaml: 4 problems"
    assert [line.partition(" ")[0] for line in map(str.strip, lines[1:5])] == [f"a.yaml:{at}:" for at in range(1, 5)]
    assert "none.yaml: cannot be read" in lines[6]


def test_the_schema_of_configs_takes_what_is_valid_and_refuses_what_is_not() -> None:
    schema = Draft202012Validator(json.loads(spanbar("schema", "serve").output))
    page = (Path(__file__).parents[3] / "docs" / "serve.md").read_text("utf-8")
    [documented] = re.findall(r"^```yaml\n(host: .*?)^```", page, re.MULTILINE | re.DOTALL)
    for text in (documented, "behaviors: [a.yaml]\nidle: 5\nmax-bytes: 1GiB\nordered: true\nx-note: 1"):
        assert not list(schema.iter_errors(yaml.safe_load(text)))
    for text in ("idel: 5m", "http-port: 99999", "ordered: 1", "export: []"):
        assert list(schema.iter_errors(yaml.safe_load(text)))
