"""A file is read the same whether libyaml reads it or PyYAML does."""

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.language import composer
from evaluator.language.composer import Document, compose
from evaluator.language.quick_events import quick_events

PIECES = (
    *("- ", "? ", ": ", ":\n", "a", "b: c", "a: ", "x y", "~", "1", "on", "2024-05-01", "<<: ", "=", "http://x:1"),
    *(" ", "  ", "\n", "\n\n", "\n  ", "\n- ", "\n  - ", "\n    - ", " # x\n", "#", "---\n", "--- ", "...\n"),
    *("[", "]", "{", "}", ",", "[a, b]", "{a: b}", "{a}", "[a: b]", "[a,]", "{? a : b}", "a?b", "a:b", "::"),
    *("&a ", "*a", "<<: *a", "!!str ", "!x ", "! ", "|\n  x\n", ">-\n  a\n\n  b\n", "|2\n", ">+\n", "|#", "| # x\n"),
    *("'", '"', "''", "'it''s'", '"a\n b"', '"\\x41"', '"\\q"', "\\", '"a\\\n  b"', '{"a":1}', "%YAML 1.1\n", "-a"),
    *("é", "“", "😀", "\xa0", "\t", "\u2028", "\x85"),
)  # fmt: skip


def thorough(text: str) -> Document:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(yaml, "__with_libyaml__", False)
        return compose(text, "a.yaml")


def is_quick(text: str) -> bool:
    try:
        return bool(list(quick_events(text)))
    except yaml.YAMLError:
        return False


@settings(max_examples=500, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=16).map("".join))
def test_any_file_is_read_the_same_by_both(text: str) -> None:
    assert compose(text + "\n", "a.yaml") == thorough(text + "\n")


USUAL = [
    "a: Where is order 1042?\nb: {c: [1, two, 'three'], d: \"Wo?\"}\n",
    "a: |\n  text\n  of “lines”\nb: >-\n  one\n  line 😀\nc: &x {d: 1}\ne:\n  <<: *x\n",
    "# é\n\na:\n- b\n- c: null\n",
]


@pytest.mark.parametrize("text", USUAL)
def test_what_specs_are_made_of_is_read_quickly(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = thorough(text)
    monkeypatch.setattr(composer, "_thoroughly", None)
    assert (is_quick(text), compose(text, "a.yaml")) == (True, expected)


OTHERWISE = ["a:\tb\n", "a: 1", "a: !!str 1\n", "a: ! \n", "|#\n", "{a?b: 1}\n", "{a,\nb}\n", "a: \u2028b\n"]


@pytest.mark.parametrize("text", OTHERWISE)
def test_what_the_two_read_otherwise_is_left_to_pyyaml(text: str) -> None:
    assert not is_quick(text)


@pytest.mark.parametrize("text", ["a: [\n", "a: 'x\n", "a: 1\na: *b\n", "a: 1\n---\nb: 2\n", "a: 1\n b: 2\n"])
def test_what_is_wrong_is_said_by_pyyaml(text: str) -> None:
    (problem,) = compose(text, "a.yaml").problems
    assert (problem,) == thorough(text).problems
