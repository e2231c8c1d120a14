"""Calls without a readable name, and events that an SDK dropped: nothing passes that might rest on them."""

from typing import Any

import pytest

from collector.index import Index, UnitKey, UnitKind
from collector.pipeline import Pipeline
from collector.telemetry import Batch, LogRecord, Resource, Scope, Span
from evaluator.behaviors import Program
from evaluator.items import UNREADABLE_NAME
from evaluator.language.behaviors import parse_behaviors
from evaluator.verdict import Result
from tests.collector.telemetry import TRACE, agent, span, tool, tools_of

BEHAVIORS = """
behaviors:
  - {name: no deletion, assert: {never: {tool: {}, where: {name: delete_account}}}}
  - {name: no steer, assert: {never: {event: steer}}}
"""


def results(*batches: list[Span], session: str = TRACE.hex()) -> set[Result]:
    pipeline = Pipeline(Index(Program(parse_behaviors(BEHAVIORS, "b"))))
    for spans in batches:
        pipeline.receive(Batch(spans))
    pipeline.index.close_all()
    return {each.verdict.result for each in pipeline.index.units[UnitKey(UnitKind.SESSION, session)].results}


def nameless(name: Any = None, title: str = "execute_tool", **fields: Any) -> Span:
    attributes = {"gen_ai.operation.name": "execute_tool"} | ({} if name is None else {"gen_ai.tool.name": name})
    return span(title, attributes, **fields)


@pytest.mark.parametrize("name", [None, "", " ", 7, ["delete_account"]])
def test_a_name_that_cannot_be_read_is_no_name_and_nothing_passes(name: Any) -> None:
    assert [item.name for item in tools_of(nameless(name))] == [UNREADABLE_NAME]
    assert results([nameless(name)]) == {Result.UNKNOWN}


@pytest.mark.parametrize(
    "shown", [nameless(None, "execute_tool refund"), nameless("", "execute_tool refund"), span("execute_tool refund")]
)
def test_a_name_that_only_the_span_s_name_has_is_taken_from_there(shown: Span) -> None:
    assert [item.name for item in tools_of(shown)] == ["refund"]


def test_where_events_were_dropped_nothing_passes() -> None:
    assert results([tool("lookup", {})]) == {Result.PASS}
    assert results([tool("lookup", {}, dropped_events=3)]) == {Result.UNKNOWN}


def test_what_a_span_lost_counts_for_the_session_that_its_ancestor_names_later() -> None:
    root = agent(more={"session.id": "s"})
    lossy = [span("work", parent=root, dropped_events=1), tool("lookup", {}, parent=root)]
    assert results(lossy, [root], session="s") == {Result.UNKNOWN}


@pytest.mark.parametrize("name", ["run_terminal_cmd", "execute_command", "run_command", "terminal", "exec_command"])
@pytest.mark.parametrize("key", ["command", "cmd"])
def test_tools_that_run_commands_are_shells_whatever_they_are_called(name: str, key: str) -> None:
    [item] = tools_of(tool(name, {key: "git push"}))
    assert (item.tool_kind, item.ops) == ("shell", ("git.push",))


@pytest.mark.parametrize(
    ("event", "more"),
    [
        ("codex.tool_result", {"conversation.id": "s", "call_id": "c"}),
        ("gemini_cli.tool_call", {"session.id": "s"}),
        ("claude_code.tool_result", {"session.id": "s", "tool_use_id": "c"}),
    ],
)
def test_an_event_of_a_coding_agent_without_the_name_of_its_tool_may_be_of_any(
    event: str, more: dict[str, Any]
) -> None:
    log = LogRecord(5, event, None, {"event.name": event, "success": "true", **more}, Resource({}), Scope())
    pipeline = Pipeline(Index(Program(parse_behaviors(BEHAVIORS, "b"))))
    pipeline.receive(Batch(logs=[log]))
    [unit] = pipeline.index.units.values()
    assert [item.name for item in unit.own.values()] == [UNREADABLE_NAME]
    assert unit.results[0].verdict.result is Result.UNKNOWN
