"""Sessions, jobs and events (SEMANTICS.md, sections 1 and 6)."""

from typing import Any

import pytest

from collector.assembly import Assembly
from collector.telemetry import Batch
from evaluator.items import Change, Item
from tests.collector.telemetry import TRACE, agent, items_of, log, span, tool, tools_of

SESSION = {"session.id": "s"}


def session_of(*spans: Any) -> str | None:
    [item] = tools_of(*spans)
    return item.session


def test_without_a_session_the_trace_is_one() -> None:
    assert session_of(tool("lookup")) == TRACE.hex()


def test_the_keys_have_an_order() -> None:
    keys = {"gen_ai.conversation.id": "c", "session.id": "s", "hangar.session.id": "h"}
    assert session_of(tool("lookup", more=keys)) == "h"
    del keys["hangar.session.id"]
    assert session_of(tool("lookup", more=keys)) == "s"
    del keys["session.id"]
    assert session_of(tool("lookup", more=keys)) == "c"


def test_an_earlier_key_of_an_ancestor_comes_before_a_later_one_of_the_span() -> None:
    parent = agent(more={"session.id": "outer"})
    assert session_of(parent, tool("lookup", parent=parent, more={"gen_ai.conversation.id": "inner"})) == "outer"


def test_of_one_key_the_nearest_counts() -> None:
    root = agent(more={"session.id": "far"})
    near = agent(parent=root, more={"session.id": "near"})
    assert session_of(tool("lookup", parent=near), root, near) == "near"


def test_scope_and_resource_say_it_too() -> None:
    assert session_of(tool("lookup", scope_attributes={"session.id": "s"})) == "s"
    assert session_of(tool("lookup", resource={"session.id": "r"})) == "r"
    assert session_of(tool("lookup", scope_attributes={"session.id": "s"}, resource={"session.id": "r"})) == "s"


FRAMEWORK_KEYS: dict[str, dict[str, Any]] = {
    "AI SDK 5": {"ai.operationId": "ai.generateText", "ai.telemetry.metadata.sessionId": "x"},
    "AI SDK 7": {
        "gen_ai.operation.name": "agent_step",
        "ai.request.headers.user-agent": "ai/7",
        "ai.settings.context.sessionId": "x",
    },
    "Mastra": {"mastra.span.type": "agent_run", "mastra.metadata.sessionId": "x"},
    "Traceloop": {"traceloop.span.kind": "workflow", "traceloop.association.properties.thread_id": "x"},
    "OpenInference": {"openinference.span.kind": "CHAIN", "metadata": '{"thread_id": "x"}'},
    "Google ADK": {
        "gcp.vertex.agent.event_id": "e",
        "gen_ai.operation.name": "invoke_agent",
        "gcp.vertex.agent.session_id": "x",
    },
}


@pytest.mark.parametrize("attributes", FRAMEWORK_KEYS.values(), ids=FRAMEWORK_KEYS)
def test_a_frameworks_own_key_is_the_last(attributes: dict[str, Any]) -> None:
    parent = span("parent", attributes)
    assert session_of(parent, tool("lookup", parent=parent)) == "x"
    assert session_of(parent, tool("lookup", parent=parent, more={"gen_ai.conversation.id": "c"})) == "c"


def test_mcps_session_is_a_transports() -> None:
    attributes = {"mcp.method.name": "tools/call", "gen_ai.tool.name": "lookup", "mcp.session.id": "x"}
    assert session_of(span("tools/call lookup", attributes)) == TRACE.hex()


def test_an_item_that_names_its_job_and_no_session_has_none() -> None:
    [item] = tools_of(tool("lookup", more={"hangar.job.id": "j"}))
    assert (item.session, item.job) == (None, "j")


def test_a_late_ancestor_revises_the_item() -> None:
    root = agent(more={"session.id": "s"})
    middle, call = span("middle", parent=root), tool("lookup")
    call.parent_id = middle.span_id
    assembly = Assembly()
    [added] = assembly.add(Batch(spans=[call])).changes
    assert assembly.add(Batch(spans=[middle])).changes == []
    [revised] = assembly.add(Batch(spans=[root])).changes
    assert revised == Change(added.new, revised.new)
    assert revised.new is not None
    assert (revised.new.session, revised.new.id) == ("s", call.trace_id and (call.trace_id, call.span_id, None))


def test_parents_in_a_circle_end() -> None:
    one, other = tool("one"), tool("other")
    one.parent_id, other.parent_id = other.span_id, one.span_id
    assert {item.name for item in tools_of(one, other)} == {"one", "other"}


def named(items: list[Item], name: str) -> Item:
    [item] = [item for item in items if item.name == name]
    return item


def test_a_span_event_takes_session_job_and_turn_of_its_span() -> None:
    more = {"hangar.session.id": "s", "hangar.job.id": "j", "hangar.turn": 4}
    event = named(items_of(span("step", more, events=[("git.commit", {"hangar.seq": 7})])), "git.commit")
    assert (event.kind, event.session, event.job, event.turn, event.seq) == ("event", "s", "j", 4, 7)


def test_a_span_event_may_have_its_own() -> None:
    own = {"hangar.session.id": "own", "hangar.turn": 5}
    event = named(
        items_of(span("step", {"hangar.session.id": "s", "hangar.turn": 4}, events=[("steer", own)])), "steer"
    )
    assert (event.session, event.turn) == ("own", 5)


def test_events_of_one_span_are_told_apart() -> None:
    step = span("step", events=[("steer", {}), ("steer", {})])
    assert [item.id[2] for item in items_of(step)] == [0, 1]


def test_approvals_and_test_runs_are_read_from_spans_events_and_logs() -> None:
    approval = {"hangar.approval.status": "denied", "hangar.shell.ops": ["git.push"]}
    for shown in (
        span("approval", approval),
        span("step", events=[("approval", approval)]),
        log("approval", approval | SESSION),
    ):
        [item] = items_of(shown)
        assert (item.kind, item.name, item.status, item.ops) == ("approval", "approval", "denied", ("git.push",))
    run = {"test.suite.run.status": "success", "hangar.test.total": 3}
    for shown in (span("test.run", run), span("step", events=[("test.run", run)]), log("test.run", run | SESSION)):
        [item] = items_of(shown)
        assert (item.kind, item.name, item.status, item.total) == ("event", "test.run", "success", 3)


def test_delivered_files_are_an_item_wherever_they_stand() -> None:
    files = {"hangar.diff.files": ["a.py", "b.py"]}
    for shown in (span("step", files), span("step", events=[("done", files)]), log("done", files | SESSION)):
        assert named(items_of(shown), "diff.files").paths == ("a.py", "b.py")


def test_a_log_record_belongs_to_the_session_of_its_span() -> None:
    step = span("step", {"session.id": "s"})
    assert named(items_of(log("steer", of=step), step), "steer").session == "s"


def test_a_log_record_delivered_twice_counts_once() -> None:
    assert len(items_of(*(log("steer", SESSION | {"n": number}) for number in (1, 1, 2)))) == 2


KINDS = {
    "Bash": "shell",
    "Write": "edit",
    "Read": "read",
    "Grep": "search",
    "WebFetch": "web",
    "mcp__gh__search": "mcp",
    "lookup": "other",
}


@pytest.mark.parametrize(("name", "kind"), KINDS.items())
def test_the_kind_of_a_tool_is_known_by_its_name(name: str, kind: str) -> None:
    [item] = tools_of(tool(name))
    assert item.tool_kind == kind


def test_columns_of_a_tool_call() -> None:
    attributes = {
        "gen_ai.tool.name": "Bash",
        "hangar.tool.kind": "shell",
        "hangar.shell.ops": ["test"],
        "hangar.seq": 3,
        "hangar.turn": 1,
        "hangar.tool.input": "pytest",
        "hangar.tool.output": "ok",
        "hangar.file.repo_path": "src/a.py",
        "gen_ai.skill.name": "testing",
    }
    [item] = tools_of(span("tool.call", attributes))
    assert (item.name, item.tool_kind, item.ops, item.seq, item.turn) == ("Bash", "shell", ("test",), 3, 1)
    assert (item.input, item.output, item.path, item.skill, item.status) == (
        "pytest",
        "ok",
        "src/a.py",
        "testing",
        "ok",
    )
    assert item.attributes["hangar.seq"] == 3


def test_an_mcp_tool_is_named_by_its_server() -> None:
    [item] = tools_of(tool("mcp__github__create_issue"))
    assert (item.mcp_server, item.mcp_tool) == ("github", "create_issue")
