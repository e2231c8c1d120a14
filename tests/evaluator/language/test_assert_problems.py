"""Bad asserts: every problem with its path, its class, its message and its hint."""

import pytest

from evaluator.language.problem import Problem
from tests.evaluator.language.behavior_files import problems

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


@pytest.mark.parametrize(("text", "expected"), ASSERTS, ids=[text for text, _ in ASSERTS])
def test_a_bad_assert(text: str, expected: list[tuple[str, str, str, str]]) -> None:
    found = problems(f"behaviors:\n  - name: x\n    assert: {text}\n")
    assert found == [Problem("b.yaml", f"behaviors[0].assert{path}", 3, *rest) for path, *rest in expected]
