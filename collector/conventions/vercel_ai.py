"""Vercel's AI SDK: 5, 6 and 7's older integration by `ai.operationId`; 7's sessions by its settings
(corpus/CONVENTIONS.md, rows 24 and 25). Calls of version 7 follow the GenAI conventions."""

from collections.abc import Iterator, Mapping
from typing import Final

from collector.conventions import genai
from collector.conventions.definitions import declared
from collector.conventions.exceptions import failure
from collector.conventions.messages import after_last, mappings, shown, text_or_none
from collector.conventions.payload import arguments, decoded, identifier, lost, missing_result, tool_name
from collector.conventions.reading import Asked, Reading, Role, Shown, ToolFacts, unreadable
from collector.conventions.switches import VERCEL_AI
from collector.telemetry import Span
from evaluator.items import CallStatus, Json

NAME: Final = "vercel-ai"
KEY: Final = "ai.operationId"

SESSION_NAMES: Final = ("sessionId", "session_id", "conversationId", "threadId", "chatId")
"""What applications call their session; the SDK has no name for it."""
_METADATA: Final = tuple(f"ai.telemetry.metadata.{name}" for name in SESSION_NAMES)
_CONTEXT: Final = tuple(f"ai.settings.context.{name}" for name in SESSION_NAMES)


def read(span: Span) -> Reading | None:
    attributes = span.attributes
    operation = attributes.get(KEY)
    if not isinstance(operation, str):
        reading = unreadable(NAME, KEY)
    elif operation == "ai.toolCall":
        reading = Reading(NAME, Role.TOOL, _tool(span))
    elif operation.endswith((".doGenerate", ".doStream")):
        reading = Reading(NAME, Role.MODEL)
        _messages(span, reading)
    elif operation.startswith(("ai.generate", "ai.stream")):
        reading = Reading(NAME, Role.AGENT, agent=text_or_none(attributes.get("ai.telemetry.functionId")))
    else:
        return None
    session, reading.session_from = genai.first_of(attributes, _METADATA)
    reading.session = text_or_none(session)
    return reading


def read_settings(span: Span) -> Reading | None:
    """A span of version 7, with the session that its runtime context names."""
    reading = genai.read(span)
    session, session_from = genai.first_of(span.attributes, _CONTEXT)
    if reading is None and session is not None:
        reading = Reading(genai.NAME, Role.OTHER)
    if reading is not None:
        reading.session, reading.session_from = text_or_none(session), session_from
    return reading


def _tool(span: Span) -> ToolFacts:
    attributes = span.attributes
    args, result = attributes.get("ai.toolCall.args"), attributes.get("ai.toolCall.result")
    if result is None:
        result = attributes.get("ai.toolCall.output")
    absent = lost(span, VERCEL_AI) if args is None or result is None else VERCEL_AI
    error, error_from = failure(span)
    return ToolFacts(
        name=tool_name(attributes.get("ai.toolCall.name")),
        args=arguments(args, absent),
        result=missing_result(absent, failed=error is not None, has_args=args is not None)
        if result is None
        else decoded(result),
        error=error,
        status=CallStatus.OK if error is None else CallStatus.ERROR,
        call_id=identifier(attributes.get("ai.toolCall.id")),
        name_from="ai.toolCall.name",
        args_from="ai.toolCall.args" if args is not None else "",
        result_from="ai.toolCall.result" if result is not None else "",
        error_from=error_from,
    )


def _messages(span: Span, reading: Reading) -> None:
    attributes = span.attributes
    calls = decoded(attributes.get("ai.response.toolCalls"))
    reading.asked = tuple(_asked(calls))
    if calls is None and "ai.response.text" not in attributes:
        reading.blind = lost(span, VERCEL_AI)
    messages = list(mappings(decoded(attributes.get("ai.prompt.messages"))))
    reading.shown = tuple(_shown(messages))
    reading.holds = tuple(_held(messages))
    tools = attributes.get("ai.prompt.tools")
    if tools is not None:
        reading.declares = declared(tools)


def _asked(calls: Json) -> Iterator[Asked]:
    for call in mappings(calls):
        args = arguments(call.get("input", call.get("args")), VERCEL_AI)
        name, call_id = tool_name(call.get("toolName")), identifier(call.get("toolCallId"))
        yield Asked(name, args, call_id, "ai.response.toolCalls")


def _shown(messages: list[Mapping[str, Json]]) -> Iterator[Shown]:
    for message in after_last(messages, lambda each: any(True for _ in _parts(each, "tool-call"))):
        for part in _parts(message, "tool-result"):
            output = part.get("output", part.get("result"))
            kind = output.get("type") if isinstance(output, Mapping) else None
            value = output.get("value", output.get("reason")) if isinstance(output, Mapping) and kind else output
            fact = shown(str(part.get("toolCallId")), value, "ai.prompt.messages", str(kind).startswith("error"))
            fact.denied = fact.denied or kind == "execution-denied"
            yield fact


def _held(messages: list[Mapping[str, Json]]) -> Iterator[str]:
    for message in messages:
        for part in _parts(message, "tool-approval-request"):
            if part.get("toolCallId") is not None:
                yield str(part["toolCallId"])


def _parts(message: Mapping[str, Json], kind: str) -> Iterator[Mapping[str, Json]]:
    return (part for part in mappings(message.get("content")) if part.get("type") == kind)
