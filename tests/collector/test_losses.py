"""Calls without a readable name, and events that an SDK dropped: nothing passes that might rest on them."""

from typing import Any

import pytest

from collector import conventions
from collector.assembly import Assembly
from collector.assembly.losses import UNREAD
from collector.conventions import hangar
from collector.index import Index, UnitKey, UnitKind
from collector.pipeline import Pipeline
from collector.telemetry import Batch, LogRecord, Resource, Scope, Span
from evaluator.behaviors import Program
from evaluator.items import UNREADABLE_NAME
from evaluator.language.behaviors import parse_behaviors
from evaluator.verdict import Result
from tests.collector.telemetry import TRACE, agent, chat, span, tool, tools_of

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


def raising(name: str) -> Any:
    """`hangar.read`, which raises for spans of one session."""
    read = hangar.read

    def read_or_raise(each: Span) -> Any:
        if each.attributes.get("session.id") == name:
            raise RecursionError("nobody foresaw this")
        return read(each)

    return read_or_raise


def hangar_call(session: str, **fields: Any) -> Span:
    return span(
        "tool.call", {"gen_ai.tool.name": "lookup", "gen_ai.tool.call.id": "c", "session.id": session}, **fields
    )


def test_a_span_that_cannot_be_read_takes_nothing_else_down_and_lets_nothing_pass(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(conventions.BY_NAME[hangar.TOOL_CALL], "read", raising("broken"))
    pipeline = Pipeline(Index(Program(parse_behaviors(BEHAVIORS, "b"))))
    told: list[str] = []
    pipeline.on_unreadable(told.append)
    pipeline.receive(Batch([hangar_call("before")]))
    pipeline.index.close(UnitKey(UnitKind.SESSION, "before"))
    pipeline.receive(Batch([hangar_call("open")]))
    pipeline.receive(Batch([hangar_call("broken"), hangar_call("broken"), hangar_call("after")]))
    pipeline.receive(Batch([hangar_call("later")], []))
    pipeline.receive(Batch([hangar_call("broken", kind=2, parent=b"absent!!")]))
    pipeline.index.close_all()
    found = {unit.key.id: {each.verdict.result for each in unit.results} for unit in pipeline.index.units.values()}
    assert found["before"] == {Result.PASS}
    assert found["open"] == found["after"] == {Result.UNKNOWN}
    assert told
    assert set(told) == {UNREAD}
    assert caplog.text.count("Traceback") == 1


def test_a_session_that_a_span_which_cannot_be_read_names_is_not_whole_when_it_comes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(conventions.BY_NAME[hangar.TOOL_CALL], "read", raising(""))
    root = agent(more={"session.id": "s"})
    unread = hangar_call("", parent=root)
    assert results([unread], [root, tool("lookup", {}, parent=root)], session="s") == {Result.UNKNOWN}


def test_a_log_record_that_cannot_be_read_lets_nothing_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: LogRecord) -> None:
        raise TypeError

    monkeypatch.setattr(conventions, "read_log", broken)
    assembly = Assembly()
    said = {"session.id": "s"}
    result = assembly.add(Batch([tool("lookup", {})], [LogRecord(5, "e", None, said, Resource({}), Scope())]))
    assert result.unread == UNREAD
    assert [loss.session for loss in result.losses] == ["s"]
    assert len(result.changes) == 1


def test_a_call_that_a_model_asked_for_without_a_readable_name_may_be_any() -> None:
    asked = chat([(["delete_account"], {}, "c1")])
    shown = chat(shows=[("c1", "ok")], at=2_000)
    assert [item.name for item in tools_of(asked, shown)] == [UNREADABLE_NAME]
    assert results([asked, shown]) == {Result.UNKNOWN}


def test_more_losses_than_are_looked_after_are_all_told() -> None:
    lossy = [span("work", {"session.id": f"s{number}"}, dropped_events=1) for number in range(1_500)]
    assert len({loss.session for loss in Assembly().add(Batch(lossy)).losses}) == 1_500
