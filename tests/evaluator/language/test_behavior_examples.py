"""The behavior files that the docs and the examples show are valid, and the docs name all that there is."""

import re
from pathlib import Path

import pytest

from evaluator.columns import COLUMNS
from evaluator.language.assertion import SHELL_OPS, TOOL_KINDS
from evaluator.language.behaviors import OPERATORS, parse_behaviors, read_behaviors
from evaluator.language.item_matcher import KEYS, TESTS

ROOT = Path(__file__).parents[3]
DOCS = (ROOT / "docs" / "behaviors.md").read_text()
BLOCKS = re.findall(r"```yaml\n(.*?)```", DOCS, re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS)
def test_an_example_of_the_docs_is_a_valid_file(block: str) -> None:
    assert parse_behaviors(block, "docs/behaviors.md")


def test_the_example_agent_has_a_valid_file_with_every_operator() -> None:
    behaviors = read_behaviors(ROOT / "examples" / "coding_agent" / "behaviors.yaml")
    assert {type(behavior.assertion).__name__ for behavior in behaviors} == {
        "Never",
        "Eventually",
        "Count",
        "Before",
        "Order",
        "Each",
        "AllPaths",
        "AnyPath",
    }


@pytest.mark.parametrize("word", [*OPERATORS, *KEYS, *TESTS, *COLUMNS, *TOOL_KINDS, *SHELL_OPS])
def test_the_docs_name_every_word_of_the_format(word: str) -> None:
    assert re.search(rf"\b{re.escape(word)}\b", DOCS)
