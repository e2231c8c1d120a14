"""Spans, made short: what tests need to say, and nothing else."""

import json
from itertools import count
from typing import Any

from collector.assembly import Assembly
from collector.telemetry import Batch, LogRecord, Resource, Scope, Span, SpanEvent
from evaluator.items import Item, ItemKind

_ids = count(1)
TRACE = b"\x01" * 16


def span(name: str = "work", attributes: dict[str, Any] | None = None, **fields: Any) -> Span:
    """A span of an own id. `at` and `took` are ns, `parent` is a span or an id, events are (name, attributes)."""
    at = fields.pop("at", 1_000)
    parent = fields.pop("parent", b"")
    events = [
        event if isinstance(event, SpanEvent) else SpanEvent(event[0], at, event[1])
        for event in fields.pop("events", ())
    ]
    return Span(
        trace_id=fields.pop("trace", TRACE),
        span_id=fields.pop("id", None) or next(_ids).to_bytes(8, "big"),
        parent_id=parent.span_id if isinstance(parent, Span) else parent,
        name=name,
        kind=fields.pop("kind", 1),
        start=at,
        end=at + fields.pop("took", 10),
        attributes=attributes or {},
        resource=Resource(fields.pop("resource", {})),
        scope=Scope(fields.pop("scope", ""), "", fields.pop("scope_attributes", {})),
        events=events,
        **fields,
    )


def tool(name: str, args: Any = None, result: Any = None, *, call_id: str | None = None, **fields: Any) -> Span:
    """An `execute_tool` span of the GenAI conventions; `args` and `result` as JSON text."""
    attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name}
    if args is not None:
        attributes["gen_ai.tool.call.arguments"] = json.dumps(args)
    if result is not None:
        attributes["gen_ai.tool.call.result"] = json.dumps(result)
    if call_id is not None:
        attributes["gen_ai.tool.call.id"] = call_id
    attributes |= fields.pop("more", {})
    return span(f"execute_tool {name}", attributes, **fields)


def agent(**fields: Any) -> Span:
    more = fields.pop("more", {})
    return span(
        "invoke_agent support",
        {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "support"} | more,
        **fields,
    )


def chat(asks: Any = (), shows: Any = (), **fields: Any) -> Span:
    """A model span. `asks` are (name, args, call id), `shows` (call id, result) of the request before."""
    parts = [{"type": "tool_call", "name": name, "arguments": args, "id": call_id} for name, args, call_id in asks]
    replies = [{"type": "tool_call_response", "id": call_id, "response": result} for call_id, result in shows]
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.output.messages": json.dumps([{"role": "assistant", "parts": parts}]),
        "gen_ai.input.messages": json.dumps([{"role": "tool", "parts": replies}]),
    }
    return span("chat model", attributes | fields.pop("more", {}), **fields)


def log(
    event: str, attributes: dict[str, Any] | None = None, *, at: int = 1_000, of: Span | None = None, body: Any = None
) -> LogRecord:
    trace_id, span_id = (of.trace_id, of.span_id) if of is not None else (b"", b"")
    return LogRecord(at, event, body, attributes or {}, Resource(), Scope(), trace_id, span_id)


def assembled(*batches: Batch) -> dict[tuple[Any, ...], Item]:
    """The items by id after some batches. Every change must fit to what was said before."""
    assembly = Assembly()
    items: dict[tuple[Any, ...], Item] = {}
    for batch in batches:
        for old, new in assembly.add(batch).changes:
            if old is not None:
                assert items.pop(old.id) == old
            if new is not None:
                assert new.id not in items
                items[new.id] = new
    return items


def items_of(*spans: Span | LogRecord | dict[str, Any]) -> list[Item]:
    """The items of spans, log records and trace-contract records that come in one batch, in order of time."""
    batch = Batch(
        [each for each in spans if isinstance(each, Span)],
        [each for each in spans if isinstance(each, LogRecord)],
        [each for each in spans if isinstance(each, dict)],
    )
    return sorted(assembled(batch).values(), key=lambda item: (item.time, repr(item.id)))


def tools_of(*spans: Span | LogRecord | dict[str, Any]) -> list[Item]:
    return [item for item in items_of(*spans) if item.kind is ItemKind.TOOL]


def approvals_of(*spans: Span | LogRecord | dict[str, Any]) -> list[Item]:
    return [item for item in items_of(*spans) if item.kind is ItemKind.APPROVAL]
