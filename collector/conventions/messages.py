"""Messages to and from a model: the calls that it asked for and the results that it was shown.

The part formats are those of the GenAI conventions (`gen_ai.input.messages`, `gen_ai.output.messages`), as attributes
of a span, of a span event or of a log record, as JSON text or structured; and the older events, one a message.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeVar

from collector.conventions.definitions import declared
from collector.conventions.payload import arguments, decoded, identifier, lost, tool_name
from collector.conventions.reading import Asked, Reading, Shown
from collector.telemetry import Attributes, Span
from evaluator.items import Json, NotRecorded

OUTPUT: Final = "gen_ai.output.messages"
INPUT: Final = "gen_ai.input.messages"
DEFINITIONS: Final = "gen_ai.tool.definitions"
NO_RESULT: Final = NotRecorded("the message that carries the result has no content")
NOT_SAID: Final = NotRecorded("the model's message does not say with which arguments")

DENIALS: Final = (
    "Tool execution was not approved",  # openai-agents
    "The tool call was denied",  # pydantic-ai
    "User rejected the tool call",  # LangChain
    "This tool call is rejected",  # Google ADK
    "Tool call invocation was rejected",  # agent-framework
    "Tool execution denied",  # AI SDK
    "CONFIRMATION_FAILED: ",  # Strands, HumanInTheLoop
    "tool cancelled by user",  # Strands, hooks
)
"""How frameworks tell the model that a person refused a call, in their default words."""

_REPR: Final = re.compile(r"ResponseFunctionToolCall\(arguments='(.*?)', call_id='(.*?)', name='(.*?)'")
"""A call as openai-agents-v2 writes it into the text of a message: a Python repr (CONVENTIONS.md, table B, row 6)."""

_Message = TypeVar("_Message")


def read_messages(span: Span, reading: Reading, absent: NotRecorded) -> None:
    """Fill in what a model span's messages show: `asked`, `shown`, `declares`, and `blind` when there are none."""
    read_attributes(span.attributes, reading, OUTPUT)
    if OUTPUT not in span.attributes:
        reading.blind = lost(span, absent)


def read_attributes(attributes: Attributes, reading: Reading, source: str) -> None:
    """Fill in what the message attributes of a span, span event or log record show."""
    output, history = attributes.get(OUTPUT), attributes.get(INPUT)
    if output is not None:
        messages = decoded(output)
        if isinstance(messages, NotRecorded):
            reading.blind = messages
        else:
            reading.asked = tuple(asked_in(messages, source))
    if history is not None:
        messages = decoded(history)
        reading.shown = tuple(shown_in(messages, INPUT))
        reading.holds = held_in(messages)
    definitions = attributes.get(DEFINITIONS)
    if definitions is not None:
        reading.declares = declared(definitions)


def asked_in(messages: Json, source: str) -> Iterator[Asked]:
    """The `tool_call` parts of output messages. A call next to a `tool-approval-request` part is held (AI SDK)."""
    for message in mappings(messages):
        parts = list(mappings(message.get("parts")))
        held = any(part.get("type") == "tool-approval-request" for part in parts)
        for part in parts:
            if part.get("type") == "tool_call":
                args = arguments(part.get("arguments"), NOT_SAID)
                yield Asked(tool_name(part.get("name")), args, identifier(part.get("id")), source, held)
            elif part.get("type") == "text":
                for args_text, call_id, name in _REPR.findall(str(part.get("content") or "")):
                    yield Asked(name, arguments(args_text, NOT_SAID), call_id, source)


def shown_in(messages: Json, source: str) -> Iterator[Shown]:
    """The results after the last message that asked for tools: the others were shown by an earlier request."""
    for message in after_last(list(mappings(messages)), _asks):
        for part in mappings(message.get("parts")):
            call_id = part.get("id")
            if part.get("type") == "tool_call_response" and call_id is not None:
                result = part.get("response", part.get("result", NO_RESULT))
                yield shown(str(call_id), decoded(result), source)


def held_in(messages: Json) -> tuple[str, ...]:
    """The ids of the calls next to a `tool-approval-request`, which waited for an approval (AI SDK)."""
    held: list[str] = []
    for message in mappings(messages):
        parts = list(mappings(message.get("parts")))
        if any(part.get("type") == "tool-approval-request" for part in parts):
            calls = [part for part in parts if part.get("type") == "tool_call"]
            held += [str(call["id"]) for call in calls if call.get("id") is not None]
    return tuple(held)


def shown(call_id: str, result: Json | NotRecorded, source: str, failed: bool = False) -> Shown:
    """What one result says; a mapping with nothing but an `error` is the usual way to hand a failure to the model."""
    denied = False
    if isinstance(result, Mapping):
        failed = failed or result.keys() == {"error"}
        denied = result.get("type") == "execution-denied" or is_denial(result.get("error"))
    return Shown(call_id, result, source, failed, denied or is_denial(result))


def is_denial(text: Json | NotRecorded) -> bool:
    return isinstance(text, str) and any(denial in text[:200] for denial in DENIALS)


def asked_by_events(events: Json) -> Iterator[Asked]:
    """The calls in the older events: OpenAI's message format, in `gen_ai.choice`."""
    for event in mappings(events):
        if event.get("event.name") == "gen_ai.choice":
            yield from tool_calls(event.get("message"), "gen_ai.choice")


def shown_by_events(events: Json) -> Iterator[Shown]:
    """The results in the older events, after the last message that asked for tools."""
    for event in after_last(list(mappings(events)), lambda each: bool(each.get("tool_calls"))):
        if event.get("event.name") == "gen_ai.tool.message" and event.get("id") is not None:
            yield shown(str(event["id"]), decoded(event.get("content", NO_RESULT)), "gen_ai.tool.message")


def tool_calls(message: Json, source: str, absent: NotRecorded = NOT_SAID) -> Iterator[Asked]:
    """The `tool_calls` of a message in OpenAI's format."""
    calls = message.get("tool_calls") if isinstance(message, Mapping) else None
    for call in mappings(calls):
        function = call.get("function")
        if isinstance(function, Mapping):
            args = arguments(function.get("arguments"), absent)
            yield Asked(tool_name(function.get("name")), args, identifier(call.get("id")), source)


def after_last(messages: Sequence[_Message], is_mark: Callable[[_Message], bool]) -> Sequence[_Message]:
    """The messages after the last one that is a mark; all when none is."""
    for position in range(len(messages) - 1, -1, -1):
        if is_mark(messages[position]):
            return messages[position + 1 :]
    return messages


def text_or_none(value: Json) -> str | None:
    return None if value is None or value == "" else str(value)


def mappings(value: Json) -> Iterator[Mapping[str, Any]]:
    """The mappings in a list; nothing when it is none."""
    if isinstance(value, list):
        for element in value:
            if isinstance(element, Mapping):
                yield element


def _asks(message: Mapping[str, Json]) -> bool:
    return any(part.get("type") == "tool_call" for part in mappings(message.get("parts")))
