"""Behavior files: what each form is read as."""

from pathlib import Path

import pytest

from evaluator.items import ItemKind
from evaluator.language.assertion import (
    AllPaths,
    AnyPath,
    Assertion,
    Before,
    Count,
    Each,
    Eventually,
    FieldTest,
    ItemMatcher,
    Never,
    Order,
    UnitKind,
    Within,
)
from evaluator.language.behaviors import parse_behaviors, read_behaviors
from evaluator.verdict import Severity


def assertion(text: str) -> Assertion:
    (behavior,) = parse_behaviors(f"behaviors:\n  - name: x\n    assert: {text}\n", "b.yaml")
    return behavior.assertion


def matcher(text: str) -> ItemMatcher:
    found = assertion(f"{{never: {text}}}")
    assert isinstance(found, Never)
    return found.match


def event(name: str) -> ItemMatcher:
    return ItemMatcher(f"{{event: {name}}}", ItemKind.EVENT, name)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{never: {event: a}}", Never(event("a"))),
        ("{eventually: {event: a}}", Eventually(event("a"))),
        ("{count: {match: {event: a}, min: 1}}", Count(event("a"), 1, None)),
        ("{count: {match: {event: a}, max: 0}}", Count(event("a"), None, 0)),
        ("{count: {match: {event: a}, min: 0, max: 2}}", Count(event("a"), 0, 2)),
        ("{before: {first: {event: a}, then: {event: b}}}", Before(event("a"), event("b"))),
        ("{order: [{event: a}, {event: b}]}", Order((event("a"), event("b")))),
        ("{each: {event: b}, requires_prior: {event: a}}", Each(event("b"), event("a"), None)),
        (
            "{each: {event: b}, requires_prior: {event: a}, within: {seq: 0}}",
            Each(event("b"), event("a"), Within("seq", 0)),
        ),
        (
            "{each: {event: b}, requires_prior: {event: a}, within: {turns: 2}}",
            Each(event("b"), event("a"), Within("turns", 2)),
        ),
        ("{all: {paths: {from: [file.change]}, match: src/*}}", AllPaths(("file.change",), ("src/*",))),
        (
            "{any: {paths: {from: [diff.files, file.change]}, match: [a, b]}}",
            AnyPath(("diff.files", "file.change"), ("a", "b")),
        ),
        ("{x-why: [anything], never: {event: a, x-note: {y: 1}}}", Never(event("a"))),
    ],
)
def test_an_operator(text: str, expected: Assertion) -> None:
    assert assertion(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{tool: {}}", ItemMatcher("{tool: {}}", ItemKind.TOOL)),
        ("{tool: {kind: shell}}", ItemMatcher("{tool: {kind: shell}}", ItemKind.TOOL, tool_kinds=("shell",))),
        (
            "{tool: {ops: [test, delete]}}",
            ItemMatcher("{tool: {ops: [test, delete]}}", ItemKind.TOOL, ops=("test", "delete")),
        ),
        (
            "{tool: {mcp: {server: a, tool: [b]}, skill: c}}",
            ItemMatcher(
                "{tool: {mcp: {server: a, tool: [b]}, skill: c}}",
                ItemKind.TOOL,
                servers=("a",),
                tools=("b",),
                skills=("c",),
            ),
        ),
        (
            "{approval: {status: denied}}",
            ItemMatcher("{approval: {status: denied}}", ItemKind.APPROVAL, statuses=("denied",)),
        ),
        ("{path: 'a b/*'}", ItemMatcher('{path: "a b/*"}', path="a b/*")),
        ("{input: x, output: y}", ItemMatcher("{input: x, output: y}", input="x", output="y")),
    ],
)
def test_a_matcher(text: str, expected: ItemMatcher) -> None:
    assert matcher(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("passed", (("equals", "passed"),)),
        ("", (("equals", None),)),
        ("'1'", (("equals", "1"),)),
        ("true", (("equals", True),)),
        ("{not: a}", (("not", FieldTest((("equals", "a"),))),)),
        ("{not: {in: [a, null]}}", (("not", FieldTest((("in", ("a", None)),))),)),
        ("{in: [1, 2.5]}", (("in", (1, 2.5)),)),
        ("{regex: ^a, glob: a*}", (("regex", "^a"), ("glob", "a*"))),
        ("{gt: 1, gte: 1, lt: 2, lte: b}", (("gt", 1), ("gte", 1), ("lt", 2), ("lte", "b"))),
    ],
)
def test_a_field_test(text: str, expected: tuple[tuple[str, object], ...]) -> None:
    assert matcher(f"{{where: {{status: {text}}}}}").where == (("status", FieldTest(expected)),)


def test_a_file_with_everything(tmp_path: Path) -> None:
    path = tmp_path / "rules.yaml"
    path.write_text("""
x-owner: platform
behaviors:
  - name: tests before every push
    x-ticket: 12
    assert:
      each: {tool: {ops: git.push}}
      requires_prior: {event: test.run, where: {status: passed}}
      within: {turns: 1}
  - name: one attempt is enough
    unit: job
    severity: warn
    assert: {count: {match: {event: session.end}, max: 1}}
""")
    first, second = read_behaviors(path)
    assert (first.name, first.unit, first.severity) == ("tests before every push", UnitKind.SESSION, Severity.ERROR)
    assert (second.name, second.unit, second.severity) == ("one attempt is enough", UnitKind.JOB, Severity.WARN)
    assert (first.place.path, first.place.line) == ("behaviors[0]", 4)
    assert (second.place.path, second.place.line) == ("behaviors[1]", 10)
