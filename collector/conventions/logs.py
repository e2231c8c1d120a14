"""Log records that carry messages: openai-v2's legacy events, and the operation details of GenAI instrumentations
(corpus/CONVENTIONS.md, row 18 and section 6)."""

from collections.abc import Mapping
from typing import Final

from collector.conventions.messages import read_attributes, shown, tool_calls
from collector.conventions.payload import decoded
from collector.conventions.reading import Reading, Role
from collector.conventions.switches import OPENAI_V2
from collector.telemetry import LogRecord

NAME: Final = "genai-logs"
DETAILS: Final = "gen_ai.client.inference.operation.details"
CARRIERS: Final = frozenset(
    f"gen_ai.{kind}" for kind in ("choice", "tool.message", "assistant.message", "user.message", "system.message")
)
"""Events, of logs and of spans, that carry messages and are no happenings themselves."""


def read(log: LogRecord) -> Reading | None:
    """What the record shows; None when it is no record of messages."""
    event, body = log.event_name, log.body
    if event == DETAILS:
        reading = Reading(NAME, Role.MODEL)
        read_attributes(log.attributes, reading, DETAILS)
        return reading
    if event not in CARRIERS:
        return None
    reading = Reading(NAME, Role.MODEL)
    if not isinstance(body, Mapping):
        return reading
    if event == "gen_ai.choice":
        message = body.get("message")
        reading.asked = tuple(tool_calls(message if isinstance(message, Mapping) else body, event, OPENAI_V2))
    elif event == "gen_ai.tool.message" and body.get("id") is not None:
        content = body.get("content")
        reading.shown = (shown(str(body["id"]), OPENAI_V2 if content is None else decoded(content), event),)
    return reading
