# ruff: noqa: E501
"""Bad behavior files: every problem with its line, its path, its class, its message and its hint."""

from pathlib import Path

import pytest

from evaluator.language.behaviors import parse_behaviors, read_behaviors
from evaluator.language.problem import Problem, SpecProblems

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

ASSERTS: list[tuple[str, list[tuple[str, str, str, str]]]] = [
    (
        "never",
        [("", "wrong_type", "must be a mapping with one operator, such as {never: {event: steer}}, not 'never'", "")],
    ),
    (
        "{}",
        [
            (
                "",
                "asserts_nothing",
                "has no operator; give one of never, eventually, count, before, order, each, all, any",
                "",
            )
        ],
    ),
    (
        "{x-note: 1}",
        [
            (
                "",
                "asserts_nothing",
                "has no operator; give one of never, eventually, count, before, order, each, all, any",
                "",
            )
        ],
    ),
    ("{nevr: {event: a}}", [(".nevr", "unknown_key", "unknown key 'nevr'", "never")]),
    (
        "{never: {event: a}, eventually: {event: b}}",
        [
            (
                "",
                "exclusive_keys",
                "has never and eventually; an assert holds one operator, so make them two behaviors",
                "",
            )
        ],
    ),
    (
        "{requires_prior: {event: a}}",
        [(".requires_prior", "needs_each", "requires_prior goes with each, and there is none here", "")],
    ),
    (
        "{never: {event: a}, within: {seq: 1}}",
        [(".within", "needs_each", "within goes with each, and there is none here", "")],
    ),
    (
        "{each: {event: b}}",
        [
            (
                ".requires_prior",
                "missing_key",
                "is missing: each says of which items, requires_prior what must precede",
                "",
            )
        ],
    ),
    (
        "{each: {event: b}, requires_prior: {event: a}, within: 3}",
        [(".within", "wrong_type", "must be a mapping with seq or turns, such as {turns: 1}, not '3'", "")],
    ),
    (
        "{each: {event: b}, requires_prior: {event: a}, within: {}}",
        [(".within", "exclusive_keys", "takes exactly one of seq and turns", "")],
    ),
    (
        "{each: {event: b}, requires_prior: {event: a}, within: {seq: 1, turns: 1}}",
        [(".within", "exclusive_keys", "takes exactly one of seq and turns", "")],
    ),
    (
        "{each: {event: b}, requires_prior: {event: a}, within: {seq: -1}}",
        [(".within.seq", "out_of_range", "must be at least 0, not '-1'", "")],
    ),
    (
        "{each: {event: b}, requires_prior: {event: a}, within: {turns: 1.5}}",
        [(".within.turns", "wrong_type", "must be a whole number of at least 0, not a number '1.5'", "")],
    ),
    (
        "{each: {event: b}, requires_prior: {event: a}, within: {turn: 1}}",
        [(".within.turn", "unknown_key", "unknown key 'turn'", "turns")],
    ),
    (
        "{each: {event: b}, requires_prior: {event: a}, within: {seq: true}}",
        [(".within.seq", "wrong_type", "must be a whole number of at least 0, not a boolean 'true'", "")],
    ),
    (
        "{count: {event: a}}",
        [
            (".count.event", "unknown_key", "unknown key 'event'; the keys here are match, min, max", ""),
            (".count.match", "missing_key", "is missing: the matcher of what is counted", ""),
        ],
    ),
    (
        "{count: {match: {event: a}}}",
        [(".count", "asserts_nothing", "give min, max or both: any number would do", "")],
    ),
    (
        "{count: {match: {event: a}, min: 3, max: 2}}",
        [(".count.min", "out_of_range", "min is 3 and max is 2: no number is in between", "")],
    ),
    ("{count: {match: {event: a}, max: -1}}", [(".count.max", "out_of_range", "must be at least 0, not '-1'", "")]),
    (
        "{count: {match: {event: a}, max: many}}",
        [(".count.max", "wrong_type", "must be a whole number of at least 0, not text 'many'", "")],
    ),
    ("{count: {min: 1}}", [(".count.match", "missing_key", "is missing: the matcher of what is counted", "")]),
    ("{count: 3}", [(".count", "wrong_type", "must be a mapping with match, and min, max or both, not '3'", "")]),
    (
        "{before: {first: {event: a}}}",
        [(".before.then", "missing_key", "is missing: before needs the two matchers first and then", "")],
    ),
    (
        "{before: [a, b]}",
        [(".before", "wrong_type", "must be a mapping with first and then, each a matcher, not a list", "")],
    ),
    (
        "{before: {frist: {event: a}, then: {event: b}}}",
        [(".before.frist", "unknown_key", "unknown key 'frist'", "first")],
    ),
    ("{order: {event: a}}", [(".order", "wrong_type", "must be a list of matchers, not a mapping", "")]),
    ("{order: []}", [(".order", "empty", "an empty order holds of everything; give matchers", "")]),
    (
        "{order: [{event: a}, b]}",
        [(".order[1]", "wrong_type", "must be a matcher, such as {tool: {ops: git.push}}, not 'b'", "")],
    ),
    (
        "{all: {paths: {from: [file.change]}}}",
        [(".all.match", "missing_key", "is missing: all needs a glob, or a list of globs", "")],
    ),
    (
        "{all: {match: '*'}}",
        [
            (
                ".all.paths",
                "missing_key",
                "is missing: all needs where paths come from, as in {from: [file.change]}",
                "",
            )
        ],
    ),
    (
        "{any: {paths: [file.change], match: '*'}}",
        [
            (
                ".any.paths",
                "wrong_type",
                "must be a mapping with from, as in {from: [file.change, diff.files]}, not a list",
                "",
            )
        ],
    ),
    (
        "{any: {paths: {from: [file.chang]}, match: '*'}}",
        [(".any.paths.from[0]", "bad_value", "must be file.change or diff.files, not 'file.chang'", "file.change")],
    ),
    ("{any: {paths: {from: []}, match: '*'}}", [(".any.paths.from", "empty", "an empty list has no paths", "")]),
    (
        "{any: {paths: {}, match: '*'}}",
        [(".any.paths.from", "missing_key", "is missing: a list of file.change and diff.files, or one of them", "")],
    ),
    (
        "{all: {paths: {from: file.change}, match: '*'}}",
        [(".all.paths.from", "wrong_type", "must be a list of sources, not text 'file.change'", "")],
    ),
    (
        "{all: {paths: {from: [file.change]}, match: []}}",
        [(".all.match", "empty", "an empty list matches no path", "")],
    ),
    (
        "{all: {paths: {from: [file.change]}, match: ['src/[', 3]}}",
        [
            (
                ".all.match[0]",
                "bad_value",
                "no glob that can be used: the '[' at character 5 opens no class; write [[] for the character itself",
                "",
            ),
            (".all.match[1]", "wrong_type", "must be a glob, not a number '3' (quote it to have it as text)", ""),
        ],
    ),
]
"""What stands under `assert`, at line 3; paths from there."""

MATCHERS: list[tuple[str, list[tuple[str, str, str, str]]]] = [
    (
        "{}",
        [
            (
                "",
                "empty",
                "matches every item; give at least one of tool, approval, event, path, input, output, where",
                "",
            )
        ],
    ),
    ("[]", [("", "wrong_type", "must be a matcher, such as {tool: {ops: git.push}}, not a list", "")]),
    ("a", [("", "wrong_type", "must be a matcher, such as {tool: {ops: git.push}}, not 'a'", "")]),
    ("{tol: {}}", [(".tol", "unknown_key", "unknown key 'tol'", "tool")]),
    ("{tool: {}, event: a}", [("", "exclusive_keys", "no item is both a tool and an event; keep one of them", "")]),
    (
        "{tool: }",
        [(".tool", "wrong_type", "must be a mapping such as {kind: shell}, or {} for any tool call, not null", "")],
    ),
    (
        "{tool: shell}",
        [
            (
                ".tool",
                "wrong_type",
                "must be a mapping such as {kind: shell}, or {} for any tool call, not 'shell'",
                "",
            )
        ],
    ),
    ("{tool: {kind: shel}}", [(".tool.kind", "bad_value", "'shel' is no tool kind", "shell")]),
    (
        "{tool: {kind: [shell, bash]}}",
        [
            (
                ".tool.kind[1]",
                "bad_value",
                "'bash' is no tool kind; it is one of shell, edit, read, search, web, mcp, skill, plan, other",
                "",
            )
        ],
    ),
    (
        "{tool: {kind: []}}",
        [(".tool.kind", "empty", "an empty list matches nothing; give a tool kind, or a list of them", "")],
    ),
    ("{tool: {ops: git-push}}", [(".tool.ops", "bad_value", "'git-push' is no shell op", "git.push")]),
    ("{tool: {op: git.push}}", [(".tool.op", "unknown_key", "unknown key 'op'", "ops")]),
    (
        "{tool: {ops: 3}}",
        [
            (
                ".tool.ops",
                "wrong_type",
                "must be a shell op, or a list of them, not a number '3' (quote it to have it as text)",
                "",
            )
        ],
    ),
    (
        "{tool: {mcp: github}}",
        [(".tool.mcp", "wrong_type", "must be a mapping with server, tool or both, not 'github'", "")],
    ),
    ("{tool: {mcp: {}}}", [(".tool.mcp", "empty", "give server, tool or both; any MCP call is {kind: mcp}", "")]),
    ("{tool: {mcp: {servr: x}}}", [(".tool.mcp.servr", "unknown_key", "unknown key 'servr'", "server")]),
    (
        "{tool: {skill: ''}}",
        [(".tool.skill", "empty", "must not be empty: the name of a skill, or a list of them is needed", "")],
    ),
    ("{approval: {state: denied}}", [(".approval.state", "unknown_key", "unknown key 'state'", "status")]),
    ("{approval: {ops: push}}", [(".approval.ops", "bad_value", "'push' is no shell op", "git.push")]),
    (
        "{approval: {status: {not: denied}}}",
        [(".approval.status", "wrong_type", "must be a status such as denied, or a list of them, not a mapping", "")],
    ),
    ("{event: }", [(".event", "wrong_type", "must be the name of an event, not null", "")]),
    ("{event: [a, b]}", [(".event", "wrong_type", "must be the name of an event, not a list", "")]),
    ("{event: {name: a}}", [(".event", "wrong_type", "must be the name of an event, not a mapping", "")]),
    ("{path: 3}", [(".path", "wrong_type", "must be a glob, not a number '3' (quote it to have it as text)", "")]),
    ("{path: [a, b]}", [(".path", "wrong_type", "must be a glob, not a list", "")]),
    (
        "{path: ''}",
        [(".path", "bad_value", "no glob that can be used: an empty glob matches only an empty text", "")],
    ),
    (
        "{path: 'src\\x'}",
        [
            (
                ".path",
                "bad_value",
                "no glob that can be used: a backslash means different things to fnmatch and to DuckDB; put the character in brackets, as in [*]",
                "",
            )
        ],
    ),
    (
        "{path: '[z-a]'}",
        [
            (
                ".path",
                "bad_value",
                "no glob that can be used: the range z-a is empty; write it the other way round",
                "",
            )
        ],
    ),
    (
        "{input: '('}",
        [
            (
                ".input",
                "bad_regex",
                "no regex that can be used: Python's re refuses it: missing ), unterminated subpattern at position 0",
                "",
            )
        ],
    ),
    (
        "{input: ''}",
        [(".input", "empty", "an empty regex is found in every text; write null under where for a missing one", "")],
    ),
    (
        "{input: '(?=a)'}",
        [
            (
                ".input",
                "bad_regex",
                "no regex that can be used: RE2 refuses it: invalid perl operator: (?= (it has no lookaround, backreferences or inline comments)",
                "",
            )
        ],
    ),
    (
        "{output: 3}",
        [(".output", "wrong_type", "must be a regex, not a number '3' (quote it to have it as text)", "")],
    ),
    (
        "{input: 'a{,3}'}",
        [(".input", "bad_regex", "no regex that can be used: RE2 reads {,3} as plain text; write {0,3}", "")],
    ),
    (
        "{where: {}}",
        [(".where", "empty", "tests nothing; it needs a mapping of fields to tests, such as {status: passed}", "")],
    ),
    (
        "{where: status}",
        [
            (
                ".where",
                "wrong_type",
                "must be a mapping of fields to tests, such as {status: passed}, not 'status'",
                "",
            )
        ],
    ),
    ("{where: {stauts: passed}}", [(".where.stauts", "unknown_key", "'stauts' is no column", "status")]),
    ("{where: {1: x}}", [(".where.1", "wrong_type", "the name of a field must be text, not '1'", "")]),
    (
        "{where: {status: [a, b]}}",
        [
            (
                ".where.status",
                "wrong_type",
                "must be a value or a test, not a list; for any of several write {in: [...]}",
                "",
            )
        ],
    ),
    (
        "{where: {status: {}}}",
        [
            (
                ".where.status",
                "empty",
                "tests nothing; give a value or one of not, in, regex, glob, gt, gte, lt, lte",
                "",
            )
        ],
    ),
    (
        "{where: {status: {eq: a}}}",
        [
            (
                ".where.status.eq",
                "unknown_key",
                "unknown key 'eq'; the keys here are not, in, regex, glob, gt, gte, lt, lte",
                "",
            )
        ],
    ),
    (
        "{where: {status: {is: a}}}",
        [
            (
                ".where.status.is",
                "unknown_key",
                "unknown key 'is'; the keys here are not, in, regex, glob, gt, gte, lt, lte",
                "",
            )
        ],
    ),
    (
        "{where: {status: {in: a}}}",
        [(".where.status.in", "wrong_type", "must be a list of values, not text 'a'", "")],
    ),
    ("{where: {status: {in: []}}}", [(".where.status.in", "empty", "in with an empty list never holds", "")]),
    (
        "{where: {status: {in: [[a]]}}}",
        [(".where.status.in[0]", "wrong_type", "must be a single value, not a list", "")],
    ),
    (
        "{where: {status: {not: [a]}}}",
        [
            (
                ".where.status.not",
                "wrong_type",
                "must be a value or a test, not a list; for any of several write {in: [...]}",
                "",
            )
        ],
    ),
    (
        "{where: {status: {not: {not: a}}}}",
        [
            (
                ".where.status.not.not",
                "unknown_key",
                "unknown key 'not'; the keys here are in, regex, glob, gt, gte, lt, lte",
                "",
            )
        ],
    ),
    (
        "{where: {status: {regex: '['}}}",
        [
            (
                ".where.status.regex",
                "bad_regex",
                "no regex that can be used: Python's re refuses it: unterminated character set at position 0",
                "",
            )
        ],
    ),
    (
        "{where: {path: {glob: 'a['}}}",
        [
            (
                ".where.path.glob",
                "bad_value",
                "no glob that can be used: the '[' at character 2 opens no class; write [[] for the character itself",
                "",
            )
        ],
    ),
    (
        "{where: {total: {gt: null}}}",
        [(".where.total.gt", "wrong_type", "gt compares numbers or texts, not null", "")],
    ),
    (
        "{where: {total: {gt: true}}}",
        [(".where.total.gt", "wrong_type", "gt compares numbers or texts, not a boolean 'true'", "")],
    ),
    (
        "{where: {total: {gte: [1]}}}",
        [(".where.total.gte", "wrong_type", "gte compares numbers or texts, not a list", "")],
    ),
    (
        "{where: {total: 2024-05-01}}",
        [
            (
                ".where.total",
                "bad_value",
                "'2024-05-01' is a date in YAML, which no field can equal; quote it to have it as text",
                "",
            )
        ],
    ),
    ("{where: {total: .nan}}", [(".where.total", "bad_value", "'.nan' is no number that a field can equal", "")]),
    (
        "{where: {hangar.pr.merged_by: NO}}",
        [('.where["hangar.pr.merged_by"]', "bad_value", "YAML reads 'NO' as false; quote it, or write false", "")],
    ),
    ("{where: {tool_kind: shel}}", [(".where.tool_kind", "bad_value", "'shel' is no tool kind", "shell")]),
    (
        "{where: {tool_kind: {in: [shell, edt]}}}",
        [(".where.tool_kind.in[1]", "bad_value", "'edt' is no tool kind", "edit")],
    ),
]
"""What stands under `never`, at line 3; paths from there."""


def problems(text: str) -> list[Problem]:
    with pytest.raises(SpecProblems) as caught:
        parse_behaviors(text, "b.yaml")
    return list(caught.value.problems)


@pytest.mark.parametrize(("text", "expected"), FILES, ids=[text for text, _ in FILES])
def test_a_bad_file(text: str, expected: list[tuple[int, str, str, str, str]]) -> None:
    assert problems(text) == [Problem("b.yaml", path, line, *rest) for line, path, *rest in expected]


@pytest.mark.parametrize(("text", "expected"), ASSERTS, ids=[text for text, _ in ASSERTS])
def test_a_bad_assert(text: str, expected: list[tuple[str, str, str, str]]) -> None:
    found = problems(f"behaviors:\n  - name: x\n    assert: {text}\n")
    assert found == [Problem("b.yaml", f"behaviors[0].assert{path}", 3, *rest) for path, *rest in expected]


@pytest.mark.parametrize(("text", "expected"), MATCHERS, ids=[text for text, _ in MATCHERS])
def test_a_bad_matcher(text: str, expected: list[tuple[str, str, str, str]]) -> None:
    found = problems(f"behaviors:\n  - name: x\n    assert: {{never: {text}}}\n")
    assert found == [Problem("b.yaml", f"behaviors[0].assert.never{path}", 3, *rest) for path, *rest in expected]


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
