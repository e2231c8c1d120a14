"""YAML bytes become a tree in which everything knows its place, or problems."""

import datetime
from typing import Any

import pytest

from evaluator.language import composer
from evaluator.language.composer import compose
from evaluator.language.document import MAX_DEPTH, ListNode, MapNode, Node, ScalarNode, plain, scalars


def tree(text: str) -> Node:
    document = compose(text, "a.yaml")
    assert [str(problem) for problem in document.problems] == []
    assert document.root is not None
    return document.root


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("yes", True),
        ("Off", False),
        ("y", "y"),
        ("true", True),
        ("~", None),
        ("", None),
        ("0123", 83),
        ("0o17", "0o17"),
        ("12:30", 750),
        ("1_000", 1000),
        ("0x1F", 31),
        ("1e3", "1e3"),
        ("1.0e+3", 1000.0),
        ("2024-05-01", datetime.date(2024, 5, 1)),
        ("9007199254740993", 9007199254740993),
        ("'yes'", "yes"),
        ("!!str 12", "12"),
        ("!!binary aGk=", b"hi"),
        ("=", "="),
        ("- <<", ["<<"]),
        ("{1: a, true: b, 1.0: c}", {"1": "a", "true": "b", "1.0": "c"}),
        ("\ufeffa: 1", {"a": 1}),
        ("a: &x 1\nb: &x 2\nc: *x", {"a": 1, "b": 2, "c": 2}),
        ("a: &a {k: 1, j: 2}\nb: {<<: *a, j: 3}", {"a": {"k": 1, "j": 2}, "b": {"j": 3, "k": 1}}),
        (
            "a: &a {k: 1}\nb: &b {k: 2, l: 2}\nc: {<<: [*a, *b]}",
            {"a": {"k": 1}, "b": {"k": 2, "l": 2}, "c": {"k": 1, "l": 2}},
        ),
        ("a: &a {k: 1}\nb: {<<: *a, <<: {l: 2}}", {"a": {"k": 1}, "b": {"k": 1, "l": 2}}),
    ],
)
def test_values_are_those_of_yaml_1_1(text: str, value: Any) -> None:
    assert plain(tree(text)) == value


def test_every_value_knows_its_path_and_line() -> None:
    root = tree('a:\n  - b: 1\n    c d:\n      - x\n      - "e\\"f": y\n2: z\n')
    assert [(scalar.path, scalar.line) for scalar in scalars(root)] == [
        ("a[0].b", 2),
        ('a[0]["c d"][0]', 4),
        ('a[0]["c d"][1]["e\\"f"]', 5),
        ("2", 6),
    ]


def test_a_key_has_its_own_line_and_the_path_of_its_value() -> None:
    root = tree("a:\n  b:\n    c\n")
    assert isinstance(root, MapNode)
    inner = root.get("a")
    assert isinstance(inner, MapNode)
    (entry,) = inner
    assert (entry.key.path, entry.key.line) == ("a.b", 2)
    assert (entry.value.path, entry.value.line) == ("a.b", 3)


def test_what_an_alias_repeats_has_the_path_of_the_alias_and_the_line_of_the_text() -> None:
    root = tree("a: &a\n  - k: 1\nb: *a\nc:\n  <<: {d: *a}\n")
    assert [(scalar.path, scalar.line) for scalar in scalars(root)] == [("a[0].k", 2), ("b[0].k", 2), ("c.d[0].k", 2)]


def test_a_file_of_comments_holds_null() -> None:
    assert tree("# nothing\n") == ScalarNode(None, "", True, "", 1)


@pytest.mark.parametrize(
    ("text", "place", "code", "said"),
    [
        ("a: 1\na: 2", ("a", 2), "duplicate_key", "already on line 1"),
        ("a:\n  b: 1\n  'b': 2", ("a.b", 3), "duplicate_key", "'b'"),
        ("a: {1: x, 0x1: y}", ("a.0x1", 1), "duplicate_key", "'0x1'"),
        ("a: {1: x, '1': y}", ("a.1", 1), "duplicate_key", "'1'"),
        ("? [a, b]\n: 1", ("", 1), "invalid_yaml", "a list cannot be a key"),
        ("b:\n  {a: 1}: 1", ("b", 2), "invalid_yaml", "a mapping cannot be a key"),
        ("a: &a [*a]", ("a[0]", 1), "invalid_yaml", "without end"),
        ("a: *b", ("a", 1), "invalid_yaml", "names nothing"),
        ("a: 1\n---\nb: 1", ("", 2), "invalid_yaml", "second document"),
        ("a:\n\tb: 1", ("", 2), "invalid_yaml", "tab"),
        ("a: [\n", ("", 2), "invalid_yaml", "expected"),
        ("a: \x07", ("", 1), "invalid_yaml", "U+0007"),
        ("a: 1\nb: \ud800", ("", 2), "invalid_yaml", "U+D800"),
        ('a: "\\uD800"', ("a", 1), "invalid_yaml", "surrogate"),
        ('a: "\\UFFFFFFFF"', ("", 1), "invalid_yaml", "invalid YAML"),
        ("a: !secret x", ("a", 1), "invalid_yaml", "'!secret'"),
        ("a: !!set {b}", ("a", 1), "invalid_yaml", "'!!set'"),
        ("a: !!python/name:os.system x", ("a", 1), "invalid_yaml", "'!!python/name:os.system'"),
        ("a: 2024-02-30", ("a", 1), "invalid_yaml", "timestamp"),
        ("a: 0x_", ("a", 1), "invalid_yaml", "int"),
        ("a: !!bool perhaps", ("a", 1), "invalid_yaml", "bool"),
        ("a: !!int ''", ("a", 1), "invalid_yaml", "int"),
        ("a: !!timestamp soon", ("a", 1), "invalid_yaml", "timestamp"),
        ("a: !!binary é", ("a", 1), "invalid_yaml", "binary"),
        (f"a: {'9' * 5000}", ("a", 1), "invalid_yaml", "int"),
        ("a: {<<: 5}", ("a", 1), "invalid_yaml", "merges a mapping"),
        ("a: {<<: [{b: 1}, x]}", ("a", 1), "invalid_yaml", "merges a mapping"),
    ],
)
def test_what_is_no_tree_is_a_problem_with_its_place(text: str, place: tuple[str, int], code: str, said: str) -> None:
    (problem,) = compose(text, "a.yaml").problems
    assert ((problem.path, problem.line), problem.code) == (place, code)
    assert said in problem.message


def test_what_is_no_utf8_is_unreadable_where_it_is() -> None:
    (problem,) = compose(b"a: 1\nb: \xe9\n", "a.yaml").problems
    assert (problem.line, problem.code) == (2, "unreadable")
    assert "0xe9 at offset 8" in problem.message


def test_several_problems_of_one_file_are_all_told() -> None:
    problems = compose("a: 1\na: 2\nb: !x 1\nc: {d: 1, d: 2}\n", "a.yaml").problems
    assert [(problem.path, problem.line) for problem in problems] == [("a", 2), ("b", 3), ("c.d", 4)]


LAUGHS = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)
MERGES = "a: &a {" + ", ".join(f"k{n}: 1" for n in range(500)) + "}\nb: {<<: [" + ", ".join(["*a"] * 500) + "]}\n"


@pytest.mark.parametrize("text", [LAUGHS, MERGES], ids=["aliases of aliases", "merges of merges"])
def test_a_file_that_grows_without_bound_is_too_large(text: str) -> None:
    document = compose(text, "a.yaml")
    assert document.root is None
    assert "too large" in document.problems[-1].message


def test_a_file_with_more_values_than_can_be_kept_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(composer, "MAX_NODES", 100)
    assert compose("- a\n" * 99, "a.yaml").problems == ()
    (problem,) = compose("- a\n" * 102, "a.yaml").problems
    assert (problem.line, problem.message) == (101, "too large: more than 100 values")


@pytest.mark.parametrize("text", ["[" * 5000, "{a: " * 5000, "- " * 5000 + "x"], ids=["lists", "mappings", "blocks"])
def test_deep_nesting_is_a_problem(text: str) -> None:
    document = compose(text, "a.yaml")
    assert document.root is None
    assert f"more than {MAX_DEPTH} levels" in document.problems[-1].message


def test_aliases_cannot_nest_deeper_than_text() -> None:
    text = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}]\n" for n in range(1, 3000))
    assert "levels deep" in compose(text, "a.yaml").problems[-1].message


def test_the_deepest_tree_that_is_allowed_can_be_used() -> None:
    root = tree("[" * MAX_DEPTH + "]" * MAX_DEPTH)
    assert isinstance(root, ListNode)
    assert list(scalars(root)) == []
    assert plain(root) != []
