"""Coding agents: what their events come to, as they were captured (`captured/`) and as they are documented
(`documented/`, each with the title of the page). Any order and repetition of the records gives the same items."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest

from collector.assembly import Assembly
from collector.receiver.files import read
from collector.telemetry import Batch, LogRecord, Resource, Scope, Span
from evaluator.items import Item, ItemKind, NotRecorded
from tests.collector.telemetry import assembled, log, span

HERE = Path(__file__).parent
CAPTURED = ["claude_code", "codex", "codex_refused", "gemini_cli"]
DOCUMENTED = ["claude_code", "codex", "gemini_cli", "qwen_code", "copilot_chat"]
MS = 1_000_000


def captured(name: str) -> list[Span | LogRecord]:
    records: list[Span | LogRecord] = []
    for batch in read(HERE / "captured" / f"{name}.jsonl"):
        records += batch.spans
        records += batch.logs
    return records


def documented(name: str) -> list[Span | LogRecord]:
    described = json.loads((HERE / "documented" / f"{name}.json").read_text("utf-8"))
    return [_record(one) for one in described["records"]]


def _record(one: dict[str, Any]) -> Span | LogRecord:
    at, attributes = one["at"] * MS + 1, one["attributes"]
    if "span" not in one:
        name = one.get("event") or attributes["event.name"]
        return LogRecord(at, name, one.get("body"), attributes, Resource(one.get("resource", {})), Scope())
    return span(
        one["span"], attributes, at=at, took=one["took"] * MS, resource=one["resource"], id=str(one["at"]).encode()
    )


def batch_of(records: Iterable[Span | LogRecord]) -> Batch:
    batch = Batch()
    for record in records:
        (batch.spans if isinstance(record, Span) else batch.logs).append(record)  # type: ignore[arg-type]
    return batch


def items_of(records: Iterable[Span | LogRecord]) -> list[Item]:
    return in_order(assembled(batch_of(records)).values())


def in_order(items: Iterable[Item]) -> list[Item]:
    return sorted(items, key=lambda item: (item.time, item.kind, item.name))


def calls(items: Sequence[Item]) -> list[tuple[Any, ...]]:
    return [
        (item.name, item.tool_kind, item.known_ops, item.known_path, item.status, item.turn)
        for item in items
        if item.kind is ItemKind.TOOL
    ]


def approvals(items: Sequence[Item]) -> list[tuple[Any, ...]]:
    return [
        (item.call.name, item.known_ops, item.status, item.attributes.get("hangar.approval.source"))
        for item in items
        if item.kind is ItemKind.APPROVAL and item.call is not None
    ]


def test_a_resumed_session_of_claude_code_as_it_was_captured() -> None:
    items = items_of(captured("claude_code"))
    assert calls(items) == [
        ("Bash", "shell", (), None, "ok", 1),
        ("Read", "read", (), "README.md", "ok", 1),
        ("Bash", "shell", (), None, "error", 1),
        ("Bash", "shell", (), None, "ok", 2),
        ("Read", "read", (), "README.md", "ok", 2),
        ("Bash", "shell", (), None, "error", 2),
    ]
    denied = [each for each in approvals(items) if each[2] == "denied"]
    assert denied == [("Bash", ("git.push",), "denied", "config"), ("Bash", ("git.push",), "denied", "unknown")]
    assert len({item.session for item in items}) == 1


def test_positions_of_a_resumed_session_are_counted_on_although_the_agent_begins_again_at_0() -> None:
    records = captured("claude_code")
    sequences = [record.attributes.get("event.sequence") for record in records if isinstance(record, LogRecord)]
    assert sequences.count(0) == 2
    events = [item for item in items_of(records) if item.kind is ItemKind.EVENT]
    positions = [item.seq for item in events]
    assert positions == sorted(positions)
    assert len(set(positions)) == len(positions)


def test_a_call_of_claude_code_takes_arguments_from_its_event_and_the_result_from_its_span() -> None:
    [bash, *_] = [item.call for item in items_of(captured("claude_code")) if item.kind is ItemKind.TOOL]
    assert bash is not None
    assert bash.args == {"command": "cd . && echo pytest", "description": "Run tests"}
    assert bash.result == "pytest"
    assert bash.source == "log"


def test_the_traces_of_claude_code_alone_show_which_calls_ran_and_which_were_denied() -> None:
    items = items_of(record for record in captured("claude_code") if isinstance(record, Span))
    assert [call[:2] for call in calls(items)] == [call[:2] for call in calls(items_of(captured("claude_code")))]
    assert [each[1:3] for each in approvals(items)] == [(("git.push",), "denied")] * 2
    assert {item.turn for item in items} == {1, 2}


def test_a_session_of_codex_as_it_was_captured() -> None:
    items = items_of(captured("codex"))
    assert calls(items) == [
        ("exec_command", "shell", (), None, "ok", 1),
        ("exec_command", "shell", ("git.push",), None, "error", 1),
        ("exec_command", "shell", (), None, "error", 1),
    ]
    assert approvals(items)[1] == ("exec_command", ("git.push",), "allowed", "Config")
    assert {item.session for item in items} == {"01a22c62-7e59-7e83-9577-5da174ae3d61"}
    # There is no tool of this name: it was asked for and never ran.
    assert [item.name for item in items if item.attributes.get("tool_name") == "apply_patch"] == ["codex.tool_result"]


def test_what_codex_refuses_by_its_policy_is_denied() -> None:
    items = items_of(captured("codex_refused"))
    assert calls(items) == []
    assert approvals(items) == [("exec_command", ("delete",), "denied", "policy")]


@pytest.mark.parametrize(
    ("output", "status"),
    [
        ('exec_command failed: CreateProcess { message: "Rejected(\\"`rm -rf x` rejected\\")" }', "denied"),
        ("approval policy is Never; reject command", "denied"),
        ("exec command rejected by user", "denied"),
        ("rm: cannot remove x", "error"),
    ],
)
def test_a_failed_command_of_codex_is_told_from_one_that_was_refused(output: str, status: str) -> None:
    said = {"event.name": "codex.tool_result", "conversation.id": "c", "tool_name": "exec_command", "call_id": "1"}
    said |= {"arguments": '{"cmd": "rm -rf x"}', "success": "false", "output": output, "duration_ms": "1"}
    [item] = items_of([log("event otel/src/tool_result.rs:54", said)])
    assert (item.kind is ItemKind.APPROVAL, item.status, item.ops) == (status == "denied", status, ("delete",))


def test_a_session_of_gemini_cli_as_it_was_captured() -> None:
    items = items_of(captured("gemini_cli"))
    assert calls(items) == [
        ("run_shell_command", "shell", (), None, "ok", 1),
        ("read_file", "read", (), "README.md", "ok", 1),
        ("write_file", "edit", (), "src/new.py", "ok", 1),
        ("run_shell_command", "shell", (), None, "error", 1),
    ]
    assert ("run_shell_command", ("git.push",), "denied", "policy") in approvals(items)


@pytest.mark.parametrize("agent", ["codex", "gemini_cli", "claude_code"])
def test_an_approval_precedes_the_call_that_it_allows(agent: str) -> None:
    items = items_of(captured(agent))
    allowed = [item for item in items if item.kind is ItemKind.APPROVAL and item.status == "allowed"]
    assert allowed
    for approval in allowed:
        started = [item for item in items if item.kind is ItemKind.TOOL and item.call == approval.call]
        assert [approval.time < item.time for item in started] == [True]


def test_claude_code_as_it_is_documented() -> None:
    items = items_of(documented("claude_code"))
    assert calls(items) == [
        ("Bash", "shell", ("test",), None, "ok", 1),
        ("mcp__github__create_issue", "mcp", (), None, "error", 2),
        ("mcp_tool", "mcp", (), None, "ok", 2),
        ("Skill", "skill", (), None, "ok", 2),
        ("Edit", "edit", (), "src/cart.py", "ok", 2),
    ]
    assert approvals(items) == [
        ("Bash", ("test",), "allowed", "user_temporary"),
        ("Bash", ("git.push",), "denied", "user_reject"),
    ]
    tools = {item.name: item for item in items if item.kind is ItemKind.TOOL}
    named, hidden = tools["mcp__github__create_issue"], tools["mcp_tool"]
    assert (named.mcp_server, named.mcp_tool) == ("github", "create_issue")
    assert isinstance(hidden.mcp_server, NotRecorded)
    assert hidden.mcp_server.fix == "OTEL_LOG_TOOL_DETAILS=1"
    assert tools["Skill"].skill == "review"
    assert tools["Bash"].call is not None
    assert tools["Bash"].call.args == {"command": "uv run pytest -q", "timeout": 60000}
    assert [item.name for item in items if item.kind is ItemKind.EVENT] == [
        "claude_code.user_prompt",
        "claude_code.user_prompt",
        "claude_code.skill_activated",
    ]
    assert [item.seq for item in items if item.name == "Bash"] == [2]


def test_codex_as_it_is_documented() -> None:
    items = items_of(documented("codex"))
    assert calls(items) == [
        ("shell", "shell", ("test", "git.commit"), None, "error", 1),
        ("create_issue", "mcp", (), None, "ok", 1),
    ]
    assert approvals(items) == [
        ("shell", ("test", "git.commit"), "allowed", "User"),
        ("shell", ("git.push",), "denied", "User"),
    ]
    assert [item.name for item in items if item.kind is ItemKind.EVENT] == [
        "codex.conversation_starts",
        "codex.user_prompt",
    ]


def test_gemini_cli_as_it_is_documented() -> None:
    items = items_of(documented("gemini_cli"))
    assert calls(items) == [
        ("run_shell_command", "shell", ("test",), None, "ok", 1),
        ("replace", "edit", (), "src/cart.js", "ok", 1),
        ("mcp_github_create_issue", "mcp", (), None, "ok", 1),
    ]
    assert approvals(items) == [
        ("run_shell_command", ("test",), "allowed", "auto_accept"),
        ("run_shell_command", ("pr.open",), "denied", "reject"),
        ("replace", (), "allowed", "modify"),
    ]
    [server] = [(item.mcp_server, item.mcp_tool) for item in items if item.tool_kind == "mcp"]
    assert server == ("github", "create_issue")


def test_qwen_code_as_it_is_documented() -> None:
    items = items_of(documented("qwen_code"))
    assert calls(items) == [("run_shell_command", "shell", ("delete",), None, "ok", 1)]
    assert [item.name for item in items if item.kind is ItemKind.EVENT] == ["qwen-code.user_prompt"]


def test_copilot_chat_as_it_is_documented() -> None:
    items = items_of(documented("copilot_chat"))
    assert calls(items) == [
        ("run_in_terminal", "shell", ("git.commit",), None, "ok", None),
        ("readFile", "read", (), "src/index.ts", "ok", None),
        ("runCommand", "shell", (), None, "ok", None),
    ]
    unknown = next(item for item in items if item.name == "runCommand").ops
    assert isinstance(unknown, NotRecorded)
    assert unknown.fix == "COPILOT_OTEL_CAPTURE_CONTENT=true"


def test_where_claude_code_hides_details_the_columns_say_which_switch_shows_them() -> None:
    def event(name: str, **attributes: Any) -> LogRecord:
        said = {"session.id": "s", "event.name": name, "tool_use_id": "t", **attributes}
        return log(name, said, body=f"claude_code.{name}")

    bash = event("tool_result", tool_name="Bash", success="true", duration_ms="1")
    [item] = items_of([bash])
    assert isinstance(item.ops, NotRecorded)
    assert item.ops.fix == "OTEL_LOG_TOOL_DETAILS=1"
    [edit] = items_of([event("tool_result", tool_name="Edit", success="true", duration_ms="1")])
    assert isinstance(edit.path, NotRecorded)


def test_what_claude_code_has_cut_is_not_taken_for_the_value() -> None:
    given = json.dumps({"file_path": "a.txt", "content": "y" * 128 + "…[6000 chars]"})
    said = {"session.id": "s", "event.name": "tool_result", "tool_name": "Write", "tool_input": given}
    [item] = items_of([log("tool_result", said, body="claude_code.tool_result")])
    assert item.call is not None
    assert isinstance(item.call.args, dict)
    assert item.call.args["file_path"] == "a.txt"
    assert isinstance(item.call.args["content"], NotRecorded)


@pytest.mark.parametrize(
    ("args", "path"),
    [
        ({"file_path": "/home/dev/shop/src/a.py"}, "src/a.py"),
        ({"file_path": "src/../lib/a.py"}, "lib/a.py"),
        ({"file_path": "/home/dev/shopping/a.py"}, None),
        ({"file_path": "../other/a.py"}, None),
        ({"input": "*** Begin Patch\n*** Update File: src/a.py\n*** End Patch"}, "src/a.py"),
        ({}, None),
    ],
)
def test_paths_are_relative_to_the_checkout_and_none_outside_it(args: dict[str, Any], path: str | None) -> None:
    said = {"session.id": "s", "event.name": "tool_result", "tool_name": "Edit", "tool_input": json.dumps(args)}
    said["hangar.checkout"] = "/home/dev/shop"
    [item] = items_of([log("tool_result", said, body="claude_code.tool_result")])
    assert item.path == path


def test_without_a_checkout_nobody_can_tell_where_an_absolute_path_is() -> None:
    given = json.dumps({"file_path": "/home/dev/shop/a.py"})
    said = {"session.id": "s", "event.name": "tool_result", "tool_name": "Edit", "tool_input": given}
    [item] = items_of([log("tool_result", said, body="claude_code.tool_result")])
    assert isinstance(item.path, NotRecorded)
    assert "hangar.checkout" in item.path.fix


def test_an_event_that_is_in_no_trace_and_names_no_session_is_nobodys() -> None:
    assert (
        items_of([log("something.happened", {}), log("codex.user_prompt", {"event.name": "codex.user_prompt"})]) == []
    )


@pytest.mark.parametrize(
    ("source", "agent"), [*((captured, name) for name in CAPTURED), *((documented, name) for name in DOCUMENTED)]
)
def test_any_order_batching_and_repetition_gives_the_same_items(source: Any, agent: str) -> None:
    records = source(agent)
    expected = items_of(records)
    for seed in range(6):
        random = Random(seed)
        mixed = [*records, *random.sample(records, len(records) // 3)]
        random.shuffle(mixed)
        assembly, found = Assembly(), {}
        while mixed:
            size = random.randint(1, 5)
            for old, new in assembly.add(batch_of(mixed[:size])).changes:
                if old is not None:
                    del found[old.id]
                if new is not None:
                    assert new.id not in found
                    found[new.id] = new
            del mixed[:size]
        assert in_order(found.values()) == expected
