# ruff: noqa: E501
"""Bad behavior files: every problem with its line, its path, its class, its message and its hint."""

from pathlib import Path

import pytest

from evaluator.language.behaviors import read_behaviors
from evaluator.language.problem import Problem, SpecProblems
from tests.evaluator.language.behavior_files import problems

FILES: list[tuple[str, list[tuple[int, str, str, str, str]]]] = [
    ("", [(1, "behaviors", "wrong_type", "must be a mapping with the key behaviors, not null", "")]),
    ("[]\n", [(1, "behaviors", "wrong_type", "must be a mapping with the key behaviors, not a list", "")]),
    ("behaviors:\n", [(1, "behaviors", "wrong_type", "must be a list of behaviors, not null", "")]),
    ("behaviors: []\n", [(1, "behaviors", "empty", "an empty list checks nothing", "")]),
    ("behaviors: {}\n", [(1, "behaviors", "wrong_type", "must be a list of behaviors, not a mapping", "")]),
    ("behaviours: []\n", [(1, "behaviours", "unknown_key", "unknown key 'behaviours'", "behaviors")]),
    (
        "behaviors: [\n",
        [
            (
                2,
                "",
                "invalid_yaml",
                "invalid YAML: while parsing a flow node: expected the node content, but found '<stream end>'",
                "",
            )
        ],
    ),
    ("behaviors:\n\t- x\n", [(2, "", "invalid_yaml", "invalid YAML: a tab cannot indent; use spaces", "")]),
    (
        "behaviors:\n  - never\n",
        [(2, "behaviors[0]", "wrong_type", "must be a behavior: a mapping with name and assert, not 'never'", "")],
    ),
    (
        "behaviors:\n  - assert: {never: {event: a}}\n",
        [(2, "behaviors[0].name", "missing_key", "is missing: results call a behavior by its name", "")],
    ),
    (
        "behaviors:\n  - name: x\n",
        [
            (
                2,
                "behaviors[0].assert",
                "missing_key",
                "is missing: it holds the operator, such as assert: {never: {event: steer}}",
                "",
            )
        ],
    ),
    (
        "behaviors:\n  - name: ''\n    assert: {never: {event: a}}\n",
        [(2, "behaviors[0].name", "empty", "must not be empty: the name of the behavior is needed", "")],
    ),
    (
        "behaviors:\n  - name: 3\n    assert: {never: {event: a}}\n",
        [
            (
                2,
                "behaviors[0].name",
                "wrong_type",
                "must be the name of the behavior, not a number '3' (quote it to have it as text)",
                "",
            )
        ],
    ),
    (
        "behaviors:\n  - name: x\n    unit: sesion\n    assert: {never: {event: a}}\n",
        [(3, "behaviors[0].unit", "bad_value", "must be session or job, not 'sesion'", "session")],
    ),
    (
        "behaviors:\n  - name: x\n    unit: [job]\n    assert: {never: {event: a}}\n",
        [(3, "behaviors[0].unit", "bad_value", "must be session or job, not a list", "")],
    ),
    (
        "behaviors:\n  - name: x\n    severity: fatal\n    assert: {never: {event: a}}\n",
        [(3, "behaviors[0].severity", "bad_value", "must be error or warn, not 'fatal'", "")],
    ),
    (
        "behaviors:\n  - name: x\n    severity: warning\n    assert: {never: {event: a}}\n",
        [(3, "behaviors[0].severity", "bad_value", "must be error or warn, not 'warning'", "warn")],
    ),
    (
        "behaviors:\n  - name: x\n    asserts: {never: {event: a}}\n",
        [(3, "behaviors[0].asserts", "unknown_key", "unknown key 'asserts'", "assert")],
    ),
    (
        "behaviors:\n  - name: x\n    assert: {never: {event: a}}\n    level: high\n",
        [
            (
                4,
                "behaviors[0].level",
                "unknown_key",
                "unknown key 'level'; the keys here are name, unit, severity, assert",
                "",
            )
        ],
    ),
    (
        "behaviors:\n  - name: x\n    assert: {never: {event: a}}\n  - name: y\n    assert: {never: {event: b}}\n  - name: x\n    assert: {never: {event: c}}\n",
        [
            (
                6,
                "behaviors[2].name",
                "duplicate_key",
                "'x' is also the name of the behavior at line 2; names are unique",
                "",
            )
        ],
    ),
    (
        "behaviors:\n  - name: x\n    name: y\n    assert: {never: {event: a}}\n",
        [(3, "behaviors[0].name", "duplicate_key", "the key 'name' is already on line 2: remove one of the two", "")],
    ),
]


@pytest.mark.parametrize(("text", "expected"), FILES, ids=[text for text, _ in FILES])
def test_a_bad_file(text: str, expected: list[tuple[int, str, str, str, str]]) -> None:
    assert problems(text) == [Problem("b.yaml", path, line, *rest) for line, path, *rest in expected]


def test_all_problems_of_a_file_are_reported_at_once_in_its_order() -> None:
    text = """behaviors:
  - name: first
    unit: sesion
    assert:
      each: {tool: {ops: git.puhs}}
      requires_prior: {event: test.run, where: {stauts: passed}}
      within: {turns: -1}
  - assert: {never: {path: "["}}
"""
    assert [(problem.line, problem.hint) for problem in problems(text)] == [
        (3, "session"),
        (5, "git.push"),
        (6, "status"),
        (7, ""),
        (8, ""),
        (8, ""),
    ]


def test_a_problem_reads_as_one_line() -> None:
    (problem,) = problems("behaviors:\n  - name: x\n    assert: {never: {tool: {kind: shel}}}\n")
    assert (
        str(problem)
        == "b.yaml:3: behaviors[0].assert.never.tool.kind: 'shel' is no tool kind (did you mean 'shell'?)"
    )


def test_a_file_that_cannot_be_read_is_a_problem_of_the_file(tmp_path: Path) -> None:
    with pytest.raises(SpecProblems, match="the file cannot be read"):
        read_behaviors(tmp_path / "missing.yaml")
