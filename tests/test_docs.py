"""The examples of the documentation are files that can be used."""

import re
from pathlib import Path

import pytest
import yaml

from collector.mapping import parse_mapping
from evaluator.language import parse_spec
from evaluator.language.behaviors import parse_behaviors

ROOT = Path(__file__).parents[1]
PAGES = sorted([*(ROOT / "docs").glob("*.md"), *ROOT.glob("*.md")])
FENCE = re.compile(r"^```ya?ml[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)


def examples(key: str) -> list[object]:
    """The YAML blocks of all pages that have `key` at the top: those are complete files."""
    found = []
    for page in PAGES:
        text = page.read_text("utf-8")
        for block in FENCE.finditer(text):
            if re.search(rf"^{key}:", block.group(1), re.MULTILINE):
                line = text.count("\n", 0, block.start(1)) + 1
                found.append(pytest.param(block.group(1), id=f"{page.relative_to(ROOT)}:{line}"))
    return found


@pytest.mark.parametrize("text", examples("agent"))
def test_a_spec_in_the_docs_is_valid_without_a_warning(text: str) -> None:
    environ = dict.fromkeys(re.findall(r"\$\{(\w+)\}", text), "http://127.0.0.1:8000")
    assert parse_spec(text, ROOT / "docs" / "example.highbar.yaml", environ=environ).warnings == ()


@pytest.mark.parametrize("text", examples("behaviors"))
def test_behaviors_in_the_docs_are_valid(text: str) -> None:
    assert parse_behaviors(text, "example.behaviors.yaml")


@pytest.mark.parametrize("text", examples("mapping"))
def test_a_mapping_in_the_docs_is_valid(text: str) -> None:
    assert len(parse_mapping(text, "example.mapping.yaml"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_yaml_block_is_yaml(page: Path) -> None:
    for block in FENCE.finditer(page.read_text("utf-8")):
        yaml.safe_load(block.group(1))
