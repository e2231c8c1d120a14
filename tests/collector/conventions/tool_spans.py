"""Tool spans of the conventions, made short, and what each says of its call."""

import json
from dataclasses import dataclass
from typing import Any

from collector.telemetry import Span
from tests.collector.telemetry import span

ORDER = {"order_id": "A-1"}
SCHEMA = json.dumps({"type": "object", "properties": {"order_id": {"type": "string"}}})
RAISED = ("exception", {"exception.type": "scripts.ToolFailure", "exception.message": "service down"})
UNKNOWN = object()
"""The span does not carry it."""


@dataclass
class Row:
    name: str
    span: Span
    tool: str = "get_order"
    args: Any = UNKNOWN
    result: Any = UNKNOWN
    error: Any = None
    call_id: str | None = None
    convention: str = "genai"


def genai(attributes: dict[str, Any], **fields: Any) -> Span:
    said = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "get_order"}
    return span("execute_tool get_order", said | attributes, **fields)


def openinference(attributes: dict[str, Any], name: str = "get_order", **fields: Any) -> Span:
    said = {"openinference.span.kind": "TOOL", "tool.name": "get_order"}
    return span(name, said | attributes, **fields)


def traceloop(attributes: dict[str, Any], **fields: Any) -> Span:
    said = {"traceloop.span.kind": "tool", "traceloop.entity.name": "get_order"}
    return span("get_order.tool", said | attributes, **fields)


def text(value: Any) -> str:
    return json.dumps(value)


TOOL_MESSAGE = {"content": text({"status": "shipped"}), "tool_call_id": "call-1", "status": "success"}
CALLBACK = {
    "input_str": "{'order_id': 'A-1'}",
    "inputs": ORDER,
    "tags": [],
    "metadata": {},
    "kwargs": {"tool_call_id": "call-1"},
}
