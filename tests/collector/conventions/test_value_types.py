"""Values of every type in every attribute that a convention reads: nothing raises, and no call gets a wrong name."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from collector.assembly import Assembly
from collector.conventions import BY_NAME, CONVENTIONS
from collector.telemetry import Batch, LogRecord, Resource, Scope, Span, SpanEvent
from evaluator.items import UNREADABLE_NAME, NotRecorded
from tests.collector.telemetry import log, span

VALUES: tuple[Any, ...] = (
    *(None, True, 0, 1 << 64, 10**400, 0.5, float("nan"), float("inf")),
    *("", "\ud800", "{", "[1]", "{1: 2, 'a': (3,)}", "[" * 400),
    *("[0x" + "f" * 5_000 + "]", "1" * 5_000, '{"error": {}}', '{"role": [1]}'),
    '[{"parts": [{"type": "tool_call", "name": ["x"], "arguments": 5, "id": {}}], "role": 1}]',
    '[{"tool_calls": [{"id": {}, "function": {"name": [1]}}]}]',
    '[{"content": [{"type": "tool-call", "toolCallId": [1], "toolName": {}}]}, null, 3]',
    *(b"\xff", [], ["chat"], [None, 1], [{"x": [1]}], {}, {"role": ["x"], "name": {"b": [1]}}),
    NotRecorded("it was taken out"),
)

NAMES = ("lookup", "work", "execute_tool", "running tool", "tool.call", "tools/call lookup", "execute_tool lookup")

SPANS = {
    "genai tool": span(
        "execute_tool lookup", {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "lookup"}
    ),
    "genai model": span("chat", {"gen_ai.operation.name": "chat"}),
    "genai agent": span("invoke_agent", {"gen_ai.operation.name": "invoke_agent"}),
    "named tool": span("execute_tool lookup"),
    "hangar": span("tool.call", {"gen_ai.tool.name": "lookup"}),
    "approval": span("approval", {"hangar.approval.status": "allowed"}),
    "test run": span("test.run", {"hangar.test.status": "passed"}),
    "pydantic tool": span("running tool", {"gen_ai.tool.name": "lookup", "logfire.msg": "m"}),
    "pydantic agent": span("agent run", {"logfire.msg": "m"}),
    "pydantic model": span("chat", {"gen_ai.operation.name": "chat", "logfire.msg": "m", "events": "[]"}),
    **{
        f"openinference {kind}": span("lookup", {"openinference.span.kind": kind} | more)
        for kind, more in (
            ("TOOL", {"tool.name": "lookup", "input.value": "{}", "output.value": "{}"}),
            ("LLM", {"llm.output_messages.0.message.role": "assistant", "llm.input_messages.0.message.role": "user"}),
            ("AGENT", {"crew_key": "k"}),
        )
    },
    **{
        f"traceloop {kind}": span("lookup.tool", {"traceloop.span.kind": kind, "traceloop.entity.name": "lookup"})
        for kind in ("tool", "agent", "workflow")
    },
    "traceloop model": span("m", {"llm.request.type": "chat", "gen_ai.prompt.0.role": "tool"}),
    **{
        f"vercel {kind}": span(kind, {"ai.operationId": kind, "ai.toolCall.name": "lookup"})
        for kind in ("ai.toolCall", "ai.generateText", "ai.generateText.doGenerate")
    },
    "vercel 7": span("chat", {"ai.request.headers.user-agent": "ai/7", "gen_ai.operation.name": "execute_tool"}),
    "mcp": span("tools/call lookup", {"mcp.method.name": "tools/call"}),
    **{
        f"mastra {kind}": span("m", {"mastra.span.type": kind, "gen_ai.tool.name": "lookup"})
        for kind in ("tool_call", "model_step", "agent_run")
    },
    "adk tool": span(
        "t",
        {"gcp.vertex.agent.event_id": "e", "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "lookup"},
    ),
    "adk model": span("call_llm", {"gcp.vertex.agent.event_id": "e"}),
    "strands tool": span(
        "t", {"gen_ai.event.start_time": "t", "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "lookup"}
    ),
    "strands model": span("chat", {"gen_ai.event.start_time": "t", "gen_ai.operation.name": "chat"}),
    **{name: span(name, {"tool_name": "lookup"}) for name in BY_NAME if name.startswith("claude_code.")},
}
EVENTS = {
    "exception": ("exception", {"exception.type": "Boom"}),
    "a choice": ("gen_ai.choice", {"message": "[]"}),
    "a tool message": ("gen_ai.tool.message", {"content": "[]"}),
    "details": ("gen_ai.client.inference.operation.details", {}),
    "tool output": ("tool.output", {"output": "o"}),
    "any": ("steer", {"hangar.turn": 1}),
    "codex": ("event at.rs", {"event.name": "codex.tool_result", "tool_name": "lookup", "call_id": "c"}),
    "a codex prompt": ("event at.rs", {"event.name": "codex.user_prompt"}),
}
LOGS = {
    name: log(name, {"event.name": name, "tool_name": "lookup", "function_name": "lookup", "session.id": "s"})
    for name in (
        *("claude_code.tool_result", "claude_code.tool_decision", "claude_code.user_prompt", "codex.tool_result"),
        *("codex.tool_decision", "codex.user_prompt", "codex.sse_event", "gemini_cli.tool_call"),
        *("gemini_cli.user_prompt", "qwen-code.tool_call", "gen_ai.client.inference.operation.details"),
        *("gen_ai.choice", "gen_ai.tool.message", "exception", "steer"),
    )
}


class Recorder(dict[str, Any]):
    """Attributes that know which of them were asked for."""

    def __init__(self, attributes: Any) -> None:
        super().__init__(attributes)
        self.asked = set(attributes)

    def get(self, key: str, default: Any = None) -> Any:
        self.asked.add(key)
        return super().get(key, default)

    def __contains__(self, key: object) -> bool:
        self.asked.add(str(key))
        return super().__contains__(key)


def readings(attributes: Any, batch: Any) -> Iterator[tuple[str, Any, Batch]]:
    """What is read once each of the attributes that are asked for has been of each type, with the key and value."""
    done: set[str] = set()
    asked = Recorder(attributes)
    Assembly().add(batch(asked))
    while todo := sorted(asked.asked - done):
        done.update(todo)
        for key in todo:
            for value in VALUES:
                found = Recorder({**attributes, key: value})
                yield key, value, batch(found)
                asked.asked |= found.asked


def check(key: str, value: Any, batch: Batch) -> None:
    assembly = Assembly(watched=True)
    result = assembly.add(batch)
    assert not result.unread, f"{key} = {value!r} cannot be read"
    assert not assembly.add(Batch(list(batch.spans), list(batch.logs))).unread
    named = {*NAMES, UNREADABLE_NAME, *([value] if isinstance(value, str) and value.strip() else [])}
    for change in result.changes:
        call = None if change.new is None else change.new.call
        if call is not None:
            assert call.name in named, f"{key} = {value!r}"
            assert call.call_id is None or isinstance(call.call_id, str)
    for explained in assembly.calls():
        assert isinstance(explained.call.call_id, str | None)
    assembly.ignored()
    assembly.blind()


@pytest.mark.parametrize("shown", SPANS.values(), ids=SPANS)
def test_no_type_of_value_breaks_the_reading_of_a_span(shown: Span) -> None:
    for key, value, batch in readings(shown.attributes, lambda found: Batch([replace(shown, attributes=found)])):
        check(key, value, batch)


@pytest.mark.parametrize(("name", "attributes"), EVENTS.values(), ids=EVENTS)
def test_no_type_of_value_breaks_the_reading_of_an_event_on_a_span(name: str, attributes: Any) -> None:
    for carrier in ("genai tool", "strands tool", "strands model", "claude_code.tool", "hangar"):

        def batch(found: Any, carrier: Span = SPANS[carrier]) -> Batch:
            return Batch([replace(carrier, events=[SpanEvent(name, 5, found)], status=2)])

        for key, value, made in readings(attributes, batch):
            check(key, value, made)


@pytest.mark.parametrize("shown", LOGS.values(), ids=LOGS)
def test_no_type_of_value_breaks_the_reading_of_a_log_record(shown: LogRecord) -> None:
    for key, value, batch in readings(
        shown.attributes, lambda found: Batch([], [replace(shown, attributes=found, body=found.get("body"))])
    ):
        check(key, value, batch)


def test_no_type_of_value_in_a_resource_or_scope_breaks_reading() -> None:
    def batch(found: Any) -> Batch:
        made = [replace(each, resource=Resource(found), scope=Scope("", "", found)) for each in SPANS.values()]
        return Batch(made, [replace(each, resource=Resource(found)) for each in LOGS.values()])

    for key, value, made in readings({}, batch):
        if not isinstance(value, int) or abs(value) < 10**300:  # a decoder makes no such integer of an attribute
            check(key, value, made)


@pytest.mark.parametrize("key", ["type", "context", "ts", "started_at", "ended_at", "fn", "args", "result", "error"])
def test_no_type_of_value_breaks_the_reading_of_a_record(key: str) -> None:
    for value in VALUES:
        record = {"v": 1, "type": "tool", "ts": 1.5, "fn": "lookup", "args": {}} | {key: value}
        check(key, value, Batch(records=[record]))


def test_every_convention_is_among_the_spans() -> None:
    seen = {key for shown in SPANS.values() for key in shown.attributes}
    assert {key for key, _ in CONVENTIONS} <= seen
    assert set(BY_NAME) <= {shown.name for shown in SPANS.values()}


@pytest.mark.parametrize(
    "key",
    ["gen_ai.operation.name", "traceloop.span.kind", "openinference.span.kind", "mcp.method.name", "ai.operationId"],
)
def test_a_span_that_says_in_no_text_what_it_stands_for_may_be_any_call(key: str) -> None:
    [loss] = Assembly().add(Batch([span("x", {key: ["tool"], "session.id": "s"})])).losses
    assert (loss.session, loss.unreadable) == ("s", True)
    assert key in loss.cause
