"""`spanbar init` writes a starter that is whole, and never over what is there."""

import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from collector.cli import main
from collector.cli.starters import FRAMEWORKS, PLAIN, Starter
from evaluator.language import read_spec


def init(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["init", *map(str, arguments)])


def written(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_without_a_framework_the_agent_needs_no_model(tmp_path: Path) -> None:
    assert init(tmp_path).exit_code == 0
    assert written(tmp_path) == {"agent.py", "specs/support.highbar.yaml"}


@pytest.mark.parametrize("starter", [PLAIN, *FRAMEWORKS.values()], ids=lambda starter: starter.name)
def test_what_is_written_compiles_and_its_specs_are_valid(starter: Starter, tmp_path: Path) -> None:
    asked = () if starter is PLAIN else ("--framework", starter.name)
    assert init(*asked, tmp_path).exit_code == 0
    for module in tmp_path.rglob("*.py"):
        compile(module.read_text(), module, "exec")
    specs = list((tmp_path / "specs").iterdir())
    assert specs
    for spec in specs:
        assert read_spec(spec, environ=os.environ).suites


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_an_agent_on_a_framework_says_what_to_install(name: str, tmp_path: Path) -> None:
    result = init("--framework", name, tmp_path)
    assert {"requirements.txt", "package.json"} & written(tmp_path)
    assert FRAMEWORKS[name].install in result.output
    assert f"export {FRAMEWORKS[name].key}=" in result.output


def test_files_are_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / "orders.py").write_text("mine")
    result = init("--framework", "pydantic-ai", tmp_path)
    assert result.exit_code == 2
    assert "orders.py already there; nothing was written" in result.output
    assert written(tmp_path) == {"orders.py"}
    assert (tmp_path / "orders.py").read_text() == "mine"


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("pydantic", "pydantic-ai"),
        ("pydanticai", "pydantic-ai"),
        ("langgraph", "langchain"),
        ("llamaindex", "llama-index"),
        ("adk", "google-adk"),
        ("vercel", "vercel-ai"),
        ("strand", "strands"),
    ],
)
def test_a_near_miss_is_told_what_was_meant(asked: str, meant: str, tmp_path: Path) -> None:
    result = init("--framework", asked, tmp_path)
    assert result.exit_code == 2
    assert f"Did you mean {meant}?" in result.output
    assert written(tmp_path) == set()


def test_a_name_like_no_other_gets_the_list(tmp_path: Path) -> None:
    result = init("--framework", "zzz", tmp_path)
    assert "Did you mean" not in result.output
    assert all(name in result.output for name in FRAMEWORKS)


@pytest.mark.parametrize("asked", ["OpenAI_Agents", "openai agents", "openai-agents"])
def test_names_are_taken_as_people_write_them(asked: str, tmp_path: Path) -> None:
    assert init("--framework", asked, tmp_path).exit_code == 0
    assert "from agents import" in (tmp_path / "agent.py").read_text()


def test_help_lists_the_frameworks() -> None:
    shown = init("--help").output
    assert all(name in shown for name in FRAMEWORKS)
