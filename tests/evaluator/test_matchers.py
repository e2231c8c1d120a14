"""What matches: each key of a matcher, each test of `where`, and what is missing or was not recorded."""

import json
from random import Random
from typing import Any

import pytest

from evaluator.columns import input_of, output_of
from evaluator.dispatch import Dispatch
from evaluator.items import Call, CallStatus, Item, ItemKind, NotRecorded
from evaluator.language.assertion import Never
from evaluator.matchers import Predicate, compile_matcher
from tests.evaluator.operators.building import behaviors, item

HIDDEN = NotRecorded("content capture is off", "set CAPTURE=true")


def predicate(matcher: dict[str, Any]) -> Predicate:
    (behavior,) = behaviors({"never": matcher})
    assert isinstance(behavior.assertion, Never)
    return compile_matcher(behavior.assertion.match)


def matches(matcher: dict[str, Any], one: Item) -> bool | None:
    """What the predicate says, alone and through dispatch: they must agree."""
    alone = predicate(matcher)
    found = alone(one)
    hits = list(Dispatch([alone]).match(one))
    assert hits == ([] if found is False else [(0, found is True)])
    return found


def field(test: Any, value: Any) -> bool | None:
    return matches({"where": {"hangar.x": test}}, item(attrs={} if value is Ellipsis else {"hangar.x": value}))


MISSING = ...


@pytest.mark.parametrize(
    ("test", "value", "expected"),
    [
        # a scalar is equality
        ("a", "a", True),
        ("a", "A", False),
        ("a", MISSING, False),
        (1, 1, True),
        (1, 1.0, True),
        (1.0, 1, True),
        (1, "1", False),
        ("1", 1, False),
        (1, True, False),
        (True, True, True),
        (True, 1, False),
        (True, "true", False),
        (False, False, True),
        (False, 0, False),
        (False, MISSING, False),
        (2**60, 2**60 + 1, False),
        ("a", {"a": 1}, False),
        # null is absence
        (None, MISSING, True),
        (None, None, True),
        (None, "", False),
        (None, False, False),
        (None, [], False),
        # not
        ({"not": "a"}, "b", True),
        ({"not": "a"}, "a", False),
        ({"not": "a"}, MISSING, False),
        ({"not": "a"}, 1, True),
        ({"not": None}, "a", True),
        ({"not": None}, MISSING, False),
        ({"not": 1}, True, True),
        ({"not": {"in": ["a", "b"]}}, "c", True),
        ({"not": {"in": ["a", "b"]}}, "a", False),
        ({"not": {"regex": "^a"}}, "ba", True),
        ({"not": {"glob": "a*"}}, "ab", False),
        ({"not": {"glob": "a*"}}, MISSING, False),
        # in
        ({"in": ["a", "b"]}, "b", True),
        ({"in": ["a", "b"]}, "c", False),
        ({"in": ["a", None]}, MISSING, True),
        ({"in": ["a", "b"]}, MISSING, False),
        ({"in": [1, True]}, 1.0, True),
        ({"in": [1]}, True, False),
        # regex and glob
        ({"regex": "b"}, "abc", True),
        ({"regex": "^b"}, "abc", False),
        ({"regex": "."}, MISSING, False),
        ({"regex": "1"}, 1, False),
        ({"glob": "a*"}, "a/b", True),
        ({"glob": "a"}, "ab", False),
        ({"glob": "*"}, 1, False),
        ({"glob": "*"}, MISSING, False),
        # comparisons
        ({"gt": 1}, 2, True),
        ({"gt": 1}, 1, False),
        ({"gte": 1}, 1.0, True),
        ({"lt": 1}, 0.5, True),
        ({"lte": 1}, 2, False),
        ({"gt": 0}, True, False),
        ({"gt": 0}, "1", False),
        ({"gt": "a"}, "b", True),
        ({"gt": "a"}, 1, False),
        ({"gte": 0}, MISSING, False),
        ({"gte": 3, "lt": 10}, 3, True),
        ({"gte": 3, "lt": 10}, 10, False),
        # lists: any element, not: none
        ("a", ["b", "a"], True),
        ("a", [], False),
        ("a", [["a"]], False),
        ("a", ["b", "a", "a"], True),
        ({"not": "a"}, ["b", "c"], True),
        ({"not": "a"}, ["b", "a"], False),
        ({"not": "a"}, [], True),
        ({"in": ["a", "b"]}, ["a", "b"], True),
        ({"regex": "^b"}, ["ab", "ba"], True),
        ({"glob": "b*"}, ["ab", "cb"], False),
        ({"gt": 3}, [1, 5], True),
        ({"gte": 3, "lt": 10}, [1, 20], False),
        ({"gte": 3, "lt": 10}, [1, 5], True),
        ({"regex": "^a", "not": "ab"}, ["ac"], True),
        ({"regex": "^a", "not": "ab"}, ["ac", "ab"], False),
        # not recorded: nobody can say
        ("a", HIDDEN, None),
        (None, HIDDEN, None),
        ({"not": "a"}, HIDDEN, None),
        ({"in": ["a", None]}, HIDDEN, None),
        ({"regex": "a"}, HIDDEN, None),
        ({"glob": "a"}, HIDDEN, None),
        ({"gt": 1}, HIDDEN, None),
    ],
)
def test_a_field_test(test: Any, value: Any, expected: bool | None) -> None:
    assert field(test, value) is expected


SHELL = {"kind": "tool", "name": "Bash", "tool_kind": "shell", "ops": ["test", "git.push"]}
MCP = {"kind": "tool", "name": "mcp__github__merge", "tool_kind": "mcp", "mcp_server": "github", "mcp_tool": "merge"}
DENIED = {"kind": "approval", "name": "approval", "ops": ["delete"], "status": "denied"}
CHANGE = {"kind": "event", "name": "file.change", "path": "src/a.py", "op": "edit", "turn": 3, "seq": 7}


@pytest.mark.parametrize(
    ("matcher", "one", "expected"),
    [
        ({"tool": {}}, SHELL, True),
        ({"tool": {}}, DENIED, False),
        ({"tool": {}}, {"kind": "event", "name": "tool.call"}, False),
        ({"tool": {"kind": "shell"}}, SHELL, True),
        ({"tool": {"kind": ["edit", "shell"]}}, SHELL, True),
        ({"tool": {"kind": "edit"}}, SHELL, False),
        ({"tool": {"kind": "other"}}, {"kind": "tool", "name": "x"}, False),
        ({"tool": {"ops": "git.push"}}, SHELL, True),
        ({"tool": {"ops": ["delete", "test"]}}, SHELL, True),
        ({"tool": {"ops": ["test", "git.push"]}}, SHELL, True),
        ({"tool": {"ops": "delete"}}, SHELL, False),
        ({"tool": {"ops": "delete"}}, DENIED, False),
        ({"tool": {"kind": "shell", "ops": "delete"}}, SHELL, False),
        ({"tool": {"mcp": {"server": "github"}}}, MCP, True),
        ({"tool": {"mcp": {"server": ["gitlab", "github"], "tool": "merge"}}}, MCP, True),
        ({"tool": {"mcp": {"server": "github", "tool": "list"}}}, MCP, False),
        ({"tool": {"mcp": {"tool": "merge"}}}, SHELL, False),
        ({"tool": {"skill": "release"}}, {"kind": "tool", "name": "Skill", "skill": "release"}, True),
        ({"tool": {"skill": ["x", "y"]}}, {"kind": "tool", "name": "Skill", "skill": "release"}, False),
        ({"approval": {}}, DENIED, True),
        ({"approval": {}}, SHELL, False),
        ({"approval": {"ops": "delete", "status": ["denied", "expired"]}}, DENIED, True),
        ({"approval": {"status": "allowed"}}, DENIED, False),
        ({"event": "file.change"}, CHANGE, True),
        ({"event": "file"}, CHANGE, False),
        ({"event": "approval"}, DENIED, False),
        ({"path": "src/*"}, CHANGE, True),
        ({"path": "*.PY"}, CHANGE, False),
        ({"path": "*"}, {"name": "file.change"}, False),
        ({"event": "file.change", "path": "docs/*"}, CHANGE, False),
        ({"input": "rm"}, SHELL | {"input": "rm -rf /"}, True),
        ({"input": "rm"}, SHELL, False),
        ({"output": "^ok$"}, SHELL | {"output": "ok"}, True),
        ({"output": "."}, SHELL, False),
        ({"input": "x"}, SHELL | {"input": "a" * 500 + "x"}, False),
        ({"input": "x"}, SHELL | {"input": "é" * 499 + "x"}, True),
        ({"where": {"name": "file.change"}}, CHANGE, True),
        ({"where": {"name": {"in": ["a", "file.change"]}}, "event": "a"}, CHANGE, False),
        ({"where": {"name": {"glob": "file.*"}}}, CHANGE, True),
        ({"where": {"tool_kind": "shell"}}, SHELL, True),
        ({"where": {"tool_kind": {"not": "shell"}}}, MCP, True),
        ({"where": {"tool_kind": None}}, CHANGE, True),
        ({"where": {"turn": {"gt": 2}, "seq": 7}}, CHANGE, True),
        ({"where": {"turn": {"gt": 2}, "seq": 8}}, CHANGE, False),
        ({"where": {"op": "edit", "path": {"regex": "a"}}}, CHANGE, True),
        ({"where": {"mcp_server": "github", "mcp_tool": {"in": ["merge"]}}}, MCP, True),
        ({"where": {"skill": None}}, MCP, True),
        ({"where": {"input": "rm", "output": None}}, SHELL | {"input": "rm"}, True),
        (
            {"where": {"total": {"gte": 3}, "complete": True, "trusted": False}},
            {"total": 3, "complete": True, "trusted": False},
            True,
        ),
        ({"where": {"complete": True}}, {"complete": 1}, False),
        ({"where": {"complete": "yes"}}, {"complete": ["yes"]}, True),
    ],
)
def test_a_matcher(matcher: dict[str, Any], one: dict[str, Any], expected: bool) -> None:
    assert matches(matcher, item(**one)) is expected


def called(**parts: Any) -> Item:
    return item("tool", "Bash", tool_kind="shell", call=Call("Bash", **({"args": {}} | parts)))


@pytest.mark.parametrize(
    ("one", "given", "gave"),
    [
        (called(args={"cmd": "ls", "n": [1, None]}, result={"ok": True}), '{"cmd":"ls","n":[1,null]}', '{"ok":true}'),
        (called(args={"é": 2**70}, result="as it\nis"), '{"é":1180591620717411303424}', "as it\nis"),
        (called(args=HIDDEN, result=HIDDEN), HIDDEN, HIDDEN),
        (
            called(args=NotRecorded("no input", optional=True), result=NotRecorded("no output", optional=True)),
            None,
            None,
        ),
        (called(result=None), "{}", None),
        (called(result=0), "{}", "0"),
        (called(args={"x": "y" * 600})._replace(input="short"), "short", None),
        (item("event", "x"), None, None),
        (item("event", "x", output="é" * 501), None, "é" * 500),
    ],
)
def test_input_and_output_come_from_the_call_where_they_are_not_recorded(one: Item, given: Any, gave: Any) -> None:
    assert input_of(one) == given
    assert output_of(one) == gave


def test_derived_texts_are_clipped_to_500_code_points() -> None:
    assert len(str(input_of(called(args={"x": "é" * 600})))) == 500


@pytest.mark.parametrize(
    ("matcher", "expected"),
    [
        ({"input": "x"}, None),
        ({"tool": {"kind": "shell"}, "input": "x"}, None),
        ({"tool": {"kind": "edit"}, "input": "x"}, False),
        ({"tool": {"ops": "delete"}, "input": "x"}, False),
        ({"input": "x", "where": {"hangar.y": 1}}, False),
        ({"input": "x", "output": "boom"}, None),
        ({"input": "x", "output": "fine"}, False),
        ({"where": {"input": None}}, None),
    ],
)
def test_what_was_not_recorded_leaves_a_match_open_unless_another_key_fails(matcher: Any, expected: Any) -> None:
    one = called(args=HIDDEN, error="boom", status=CallStatus.ERROR)._replace(output="boom")
    assert matches(matcher, one) is expected


@pytest.mark.parametrize(
    ("matcher", "expected"),
    [
        ({"tool": {"ops": "git.push"}}, None),
        ({"tool": {"kind": "edit", "ops": "git.push"}}, False),
        ({"path": "src/*"}, None),
        ({"where": {"path": {"not": {"glob": "src/*"}}}}, None),
        ({"tool": {"mcp": {"server": "github"}}}, None),
        ({"tool": {"skill": "review"}}, None),
        ({"tool": {"kind": "shell"}}, True),
    ],
)
def test_a_column_that_nobody_can_tell_leaves_a_match_open(matcher: Any, expected: Any) -> None:
    one = item("tool", "Bash", tool_kind="shell")._replace(ops=HIDDEN, path=HIDDEN, mcp_server=HIDDEN, skill=HIDDEN)
    assert matches(matcher, one) is expected


def test_dispatch_finds_for_many_predicates_what_each_says_alone() -> None:
    random = Random(5)
    fields = ["name", "tool_kind", "path", "input", "status", "total", "hangar.x", "hangar.y", "mcp_server"]
    values = ["a", "b", "src/a", "shell", "test", 1, 2, True, None]

    def matcher() -> dict[str, Any]:
        made: dict[str, Any] = {}
        match random.randrange(5):
            case 0:
                made["tool"] = random.choice(
                    [{}, {"kind": "shell"}, {"ops": ["test", "delete"]}, {"mcp": {"server": "a"}}]
                )
            case 1:
                made["event"] = random.choice(["a", "b"])
            case 2:
                made["approval"] = random.choice([{}, {"status": "a"}])
        if random.random() < 0.4:
            made["path"] = random.choice(["src/*", "*a", "a", "[ab]", "s*/a", "*"])
        if random.random() < 0.4:
            made["input"] = random.choice(["a", "^b", "[0-9]"])
        tests = [
            random.choice(values),
            {"not": random.choice(values[:5])},
            {"in": random.sample(values, 2)},
            {"glob": random.choice(["a*", "*", "src/*"])},
            {"regex": random.choice(["a", "^b$"])},
            {"gte": random.choice([1, "a"])},
        ]
        chosen = random.sample(fields, random.randint(0 if made else 1, 2))
        if chosen:
            made["where"] = {name: random.choice(tests) for name in chosen}
        where = made.get("where", {})
        if "tool_kind" in where:
            where["tool_kind"] = random.choice(["shell", {"not": "edit"}, None])
        return made

    def one() -> Item:
        attributes = {
            name: random.choice(["a", "b", 1, True, ["a", "b"], ["src/a", 2], HIDDEN])
            for name in ("hangar.x", "hangar.y")
            if random.random() < 0.6
        }
        return item(
            random.choice(list(ItemKind)),
            random.choice(["a", "b", "x"]),
            tool_kind=random.choice([None, "shell", "edit"]),
            ops=random.sample(["test", "delete", "pr.open"], random.randint(0, 2)),
            path=random.choice([None, "a", "src/a", "b", HIDDEN]),
            input=random.choice([None, "a", "b", "7"]),
            status=random.choice([None, "a", "b"]),
            total=random.choice([None, 1, True, "a", ["a", 1]]),
            mcp_server=random.choice([None, "a", HIDDEN]),
            attrs=attributes,
            call=random.choice([None, Call("x", HIDDEN), Call("x", {"a": 1})]),
        )._replace(**random.choice([{}, {}, {"ops": HIDDEN}]))

    for _ in range(40):
        predicates = [predicate(matcher()) for _ in range(30)]
        dispatch = Dispatch(predicates)
        for _ in range(40):
            tried = one()
            expected = {n: found is True for n, each in enumerate(predicates) if (found := each(tried)) is not False}
            hits = list(dispatch.match(tried))
            assert len(hits) == len(dict(hits))
            assert dict(hits) == expected, json.dumps(str(tried))
