"""Mappings: what a user's file makes of telemetry of the user's own, and what is said of files that are wrong."""

from typing import Any

import pytest

from collector.assembly import Assembly
from collector.mapping import parse_mapping
from collector.telemetry import STATUS_ERROR, Batch, LogRecord, Resource, Scope, Span
from evaluator.items import Item, ItemKind, NotRecorded
from evaluator.language.problem import SpecProblems
from tests.collector.telemetry import span

FILE = """
mapping:
  name: shop
  session: app.session
  job: app.job
  seq: app.position
  calls:
    - where: {attributes: {app.kind: [tool, remote tool]}}
      tool: app.tool
      args: app.args
      result: app.result
      error: app.error
      call_id: app.call
      status: {attribute: app.status, denied: [vetoed], held: [parked], error: [broken]}
    - where: {in: spans, name: "step *"}
      tool: {name: "^step (.+)"}
      args: {prefix: "arg."}
      kind: {value: shell}
      turn: turn
  approvals:
    - where: {name: "gate"}
      status: {attribute: verdict, allowed: [go], denied: [stop]}
      tool: app.tool
      call_id: app.call
      decider: who
  events:
    - where: {name: "app.*"}
      name: {name: "^app\\\\.(.*)"}
      path: file
  prompts:
    - where: {name: asked}
"""


def items(*records: Span | LogRecord, file: str = FILE) -> list[Item]:
    batch = Batch()
    for record in records:
        (batch.spans if isinstance(record, Span) else batch.logs).append(record)  # type: ignore[arg-type]
    changes = Assembly(parse_mapping(file, "shop.mapping.yaml")).add(batch).changes
    return sorted((new for old, new in changes if new is not None), key=lambda item: (item.time, item.kind))


def event(name: str, at: int, attributes: dict[str, Any], body: Any = None) -> LogRecord:
    return LogRecord(at, name, body, attributes, Resource({"app.session": "s-log"}), Scope())


def test_a_span_becomes_a_call_with_each_part_from_where_the_mapping_says() -> None:
    attributes = {"app.kind": "tool", "app.tool": "pay", "app.args": '{"sum": 5}', "app.result": {"ok": True}}
    attributes |= {"app.call": "c1", "app.session": "s1", "app.job": "j1", "app.position": "7"}
    [item] = items(span("anything", attributes, at=10, took=5))
    assert (item.kind, item.name, item.session, item.job, item.seq) == (ItemKind.TOOL, "pay", "s1", "j1", 7)
    assert item.call is not None
    assert (item.call.args, item.call.result, item.call.call_id) == ({"sum": 5}, {"ok": True}, "c1")
    assert (item.call.started, item.call.ended, item.call.convention) == (10, 15, "shop")


def test_the_name_may_stand_in_the_name_of_the_span_and_each_argument_in_an_attribute_of_its_own() -> None:
    [item] = items(span("step deploy", {"arg.command": "cd x && git push", "arg.dry": False, "turn": 3}))
    assert (item.name, item.tool_kind, item.known_ops, item.turn) == ("deploy", "shell", ("git.push",), 3)
    assert item.call is not None
    assert item.call.args == {"command": "cd x && git push", "dry": False}


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({}, [("tool", "ok")]),
        ({"app.status": "success"}, [("tool", "ok")]),
        ({"app.status": "broken"}, [("tool", "error")]),
        ({"app.status": "failed"}, [("tool", "error")]),
        ({"app.error": "no money"}, [("tool", "error")]),
        ({"app.status": "VETOED"}, [("approval", "denied")]),
        ({"app.status": "rejected"}, [("approval", "denied")]),
        ({"app.status": "parked"}, [("approval", "requested")]),
    ],
)
def test_a_status_says_whether_the_call_happened(more: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    found = items(span("x", {"app.kind": "tool", "app.tool": "pay"} | more))
    assert [(item.kind.value, item.status) for item in found] == expected


def test_a_failed_span_is_a_failed_call() -> None:
    [item] = items(span("x", {"app.kind": "tool", "app.tool": "pay"}, status=STATUS_ERROR, status_message="boom"))
    assert item.call is not None
    assert (item.status, item.call.error) == ("error", "boom")


def test_what_the_mapping_claims_no_convention_reads() -> None:
    both = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "other",
        "app.kind": "tool",
        "app.tool": "pay",
    }
    assert [item.name for item in items(span("execute_tool other", both))] == ["pay"]
    del both["app.kind"]
    assert [item.name for item in items(span("execute_tool other", both))] == ["other"]


def test_the_session_of_the_mapping_comes_before_any_other() -> None:
    attributes = {"app.kind": "tool", "app.tool": "pay", "session.id": "browser", "app.session": "s1"}
    assert [item.session for item in items(span("x", attributes))] == ["s1"]


def test_log_events_are_calls_approvals_and_events_too_joined_by_the_call_id() -> None:
    found = items(
        event("done", 50, {"app.kind": "remote tool", "app.tool": "pay", "app.call": "c1"}, {"app.args": {"sum": 5}}),
        event("gate", 40, {"app.tool": "pay", "app.call": "c1", "verdict": "go", "who": "boss"}),
        event("gate", 60, {"app.tool": "refund", "app.call": "c2", "verdict": "stop"}),
        event("app.file.change", 70, {"file": "src/a.py"}),
        event("asked", 30, {}),
    )
    assert [(item.kind.value, item.name, item.status, item.turn, item.session) for item in found] == [
        ("approval", "approval", "allowed", 1, "s-log"),
        ("tool", "pay", "ok", 1, "s-log"),
        ("approval", "approval", "denied", 1, "s-log"),
        ("event", "file.change", None, 1, "s-log"),
    ]
    assert found[1].call is not None
    assert found[1].call.args == {"sum": 5}
    assert found[0].attributes["hangar.approval.source"] == "boss"
    assert found[3].path == "src/a.py"


def test_what_is_not_there_is_not_recorded_and_says_where_it_was_looked_for() -> None:
    [item] = items(span("x", {"app.kind": "tool", "app.tool": "pay"}))
    assert item.call is not None
    assert isinstance(item.call.args, NotRecorded)
    assert item.call.args.cause == "there is no app.args, where the mapping shop looks for it"
    [item] = items(span("step x", {}))
    assert item.call is not None
    assert isinstance(item.call.result, NotRecorded)
    assert item.call.result.fix == "add result to it"


WRONG = [
    ("mapping: {}", "mapping", "claims nothing"),
    ("calls: []", "calls", "unknown key 'calls'"),
    ("mapping: {calls: []}", "mapping.calls", "an empty list claims nothing"),
    ("mapping: {calls: [{tool: t}]}", "mapping.calls[0].where", "is missing"),
    ("mapping: {calls: [{where: {name: x}}]}", "mapping.calls[0].tool", "is missing"),
    ("mapping: {calls: [{where: {}, tool: t}]}", "mapping.calls[0].where", "claims everything"),
    (
        "mapping: {calls: [{where: {in: span, name: x}, tool: t}]}",
        "mapping.calls[0].where.in",
        "did you mean 'spans'?",
    ),
    (
        "mapping: {calls: [{where: {attribute: {a: 1}}, tool: t}]}",
        "mapping.calls[0].where.attribute",
        "'attributes'?",
    ),
    ("mapping: {calls: [{where: {name: x}, tool: t, agrs: a}]}", "mapping.calls[0].agrs", "did you mean 'args'?"),
    ("mapping: {calls: [{where: {name: x}, tool: 5}]}", "mapping.calls[0].tool", "must be the name of an attribute"),
    (
        "mapping: {calls: [{where: {name: x}, tool: {attribute: a, value: b}}]}",
        "mapping.calls[0].tool",
        "exactly one of",
    ),
    ("mapping: {calls: [{where: {name: x}, tool: {name: '('}}]}", "mapping.calls[0].tool.name", "no regex"),
    ("mapping: {calls: [{where: {name: x}, tool: {prefix: a}}]}", "mapping.calls[0].tool.prefix", "under args only"),
    (
        "mapping: {calls: [{where: {name: x}, tool: t, kind: {value: shel}}]}",
        "mapping.calls[0].kind.value",
        "'shell'?",
    ),
    ("mapping: {calls: [{where: {name: x}, tool: t, ops: {value: push}}]}", "mapping.calls[0].ops.value", "push"),
    (
        "mapping: {calls: [{where: {name: x}, tool: t, status: {attribute: s, ok: [a], error: [a]}}]}",
        "mapping.calls[0].status.error[0]",
        "'a' already means ok",
    ),
    ("mapping: {approvals: [{where: {name: x}}]}", "mapping.approvals[0].status", "is missing"),
    ("mapping: {calls: [{where: {name: x}, tool: t}], calls: []}", "mapping.calls", "is already on line 1"),
]


@pytest.mark.parametrize(("text", "path", "message"), WRONG, ids=[path + " " + message for _, path, message in WRONG])
def test_a_wrong_file_is_refused_with_place_line_and_hint(text: str, path: str, message: str) -> None:
    with pytest.raises(SpecProblems) as found:
        parse_mapping(text, "shop.mapping.yaml")
    told = [str(problem) for problem in found.value.problems]
    assert any(problem.path == path for problem in found.value.problems), told
    assert any(message in one for one in told), told
    assert all(one.startswith("shop.mapping.yaml:1: ") for one in told)


def test_every_problem_is_found_at_once() -> None:
    text = "mapping:\n  calls:\n    - where: {name: x}\n      tol: t\n    - tool: {}\n"
    with pytest.raises(SpecProblems) as found:
        parse_mapping(text, "f")
    assert [(problem.path, problem.line) for problem in found.value.problems] == [
        ("mapping.calls[0].tol", 4),
        ("mapping.calls[1].where", 5),
        ("mapping.calls[1].tool", 5),
    ]


def test_keys_of_the_users_own_are_skipped() -> None:
    text = "mapping: {x-note: 1, calls: [{x-why: 2, where: {name: x, x-a: 1}, tool: {attribute: t, x-b: 1}}]}"
    assert len(parse_mapping(text, "f")) == 1
