# ruff: noqa: E501
"""Bad matchers of behaviors: every problem with its path, its class, its message and its hint."""

import pytest

from evaluator.language.problem import Problem
from tests.evaluator.language.behavior_files import problems

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


@pytest.mark.parametrize(("text", "expected"), MATCHERS, ids=[text for text, _ in MATCHERS])
def test_a_bad_matcher(text: str, expected: list[tuple[str, str, str, str]]) -> None:
    found = problems(f"behaviors:\n  - name: x\n    assert: {{never: {text}}}\n")
    assert found == [Problem("b.yaml", f"behaviors[0].assert.never{path}", 3, *rest) for path, *rest in expected]
