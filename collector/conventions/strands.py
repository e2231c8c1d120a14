"""strands-agents: GenAI spans whose content is on span events (corpus/CONVENTIONS.md, rows 14 and 15)."""

from collections.abc import Iterator, Mapping
from typing import Final

from collector.conventions import genai
from collector.conventions.definitions import declared
from collector.conventions.messages import OUTPUT, after_last, mappings, read_attributes, shown
from collector.conventions.payload import arguments, as_text, decoded, identifier, tool_name
from collector.conventions.reading import Asked, Reading, Role, Shown, ToolFacts
from collector.conventions.switches import STRANDS
from collector.telemetry import Attributes, Span, SpanEvent
from evaluator.items import CallStatus, Json, NotRecorded

NAME: Final = "strands"
KEY: Final = "gen_ai.event.start_time"
STATUS: Final = "gen_ai.tool.status"
DETAILS: Final = "gen_ai.client.inference.operation.details"
HELD: Final = "no gen_ai.tool.status"


def read(span: Span) -> Reading | None:
    attributes = span.attributes
    operation = attributes.get(genai.OPERATION)
    if operation == "execute_tool":
        return Reading(NAME, Role.TOOL, _tool(span))
    reading = genai.read_operation(span, NAME, operation, STRANDS)
    if reading is None:
        return None
    tools = attributes.get("gen_ai.agent.tools")
    if tools is not None:
        reading.declares = declared(tools)
    if reading.role is Role.MODEL and OUTPUT not in attributes:
        _messages(span.events, reading)
    return reading


def is_held(attributes: Attributes) -> bool:
    """A tool span without a status was interrupted for a person."""
    return STATUS not in attributes


def _tool(span: Span) -> ToolFacts:
    attributes = span.attributes
    facts = genai.read_tool(span, absent=STRANDS)
    for event in span.events:
        if event.name == "gen_ai.tool.message" and not facts.args_from:
            facts.args = arguments(event.attributes.get("content"), STRANDS)
            facts.args_from = "event gen_ai.tool.message: content"
        elif event.name == "gen_ai.choice" and not facts.result_from:
            facts.result = decoded(event.attributes.get("message"))
            facts.result_from = "event gen_ai.choice: message"
    facts.result = _content(facts.result)
    facts.unfinished = False
    if is_held(attributes) and facts.error is None:
        genai.hold(facts, HELD)
    elif attributes.get(STATUS) == "error" and facts.error is None:
        facts.status = CallStatus.ERROR
        facts.error = facts.result if isinstance(facts.result, NotRecorded) else as_text(facts.result)
        facts.error_from = STATUS
    return facts


def _content(result: Json | NotRecorded) -> Json | NotRecorded:
    """The value in content blocks: one block's own, several as a list."""
    blocks = list(mappings(result))
    if not blocks or not isinstance(result, list) or len(blocks) != len(result):
        return result
    values = [decoded(block["text"]) if "text" in block else block.get("json", block) for block in blocks]
    return values[0] if len(values) == 1 else values


def _messages(events: "list[SpanEvent] | object", reading: Reading) -> None:
    history: list[SpanEvent] = []
    for event in events if isinstance(events, list | tuple) else ():
        if event.name == DETAILS:
            read_attributes(event.attributes, reading, DETAILS)
            reading.blind = None
            return
        if event.name == "gen_ai.choice":
            reading.asked = tuple(_asked(decoded(event.attributes.get("message"))))
            reading.blind = None
        else:
            history.append(event)
    reading.shown = tuple(_shown(history))


def _asked(blocks: Json) -> Iterator[Asked]:
    for block in mappings(blocks):
        use = block.get("toolUse")
        if isinstance(use, Mapping):
            args, call_id = arguments(use.get("input"), STRANDS), identifier(use.get("toolUseId"))
            yield Asked(tool_name(use.get("name")), args, call_id, "event gen_ai.choice: message")


def _shown(history: list[SpanEvent]) -> Iterator[Shown]:
    for event in after_last(history, lambda each: '"toolUse"' in str(each.attributes.get("content", ""))):
        for block in mappings(decoded(event.attributes.get("content"))):
            reply = block.get("toolResult")
            if isinstance(reply, Mapping) and reply.get("toolUseId") is not None:
                failed = reply.get("status") == "error"
                yield shown(str(reply["toolUseId"]), _content(reply.get("content")), f"event {event.name}", failed)
