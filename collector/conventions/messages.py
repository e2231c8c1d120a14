"""Messages to and from a model: the calls that it asked for and the results that it was shown.

The part formats are those of the GenAI conventions (`gen_ai.input.messages`, `gen_ai.output.messages`), as attributes
of a span, of a span event or of a log record, as JSON text or structured.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from collector.conventions.definitions import declared
from collector.conventions.payload import arguments, decoded, lost
from collector.conventions.reading import Asked, Reading, Shown
from collector.telemetry import Attributes, Span
from evaluator.items import Json, NotRecorded

OUTPUT: Final = "gen_ai.output.messages"
INPUT: Final = "gen_ai.input.messages"
NO_RESULT: Final = NotRecorded("the message that carries the result has no content")


def read_messages(span: Span, reading: Reading, absent: NotRecorded) -> None:
    """Fill in what a model span's messages show: `asked`, `shown`, `declares`, and `blind` when there are none."""
    attributes = span.attributes
    read_attributes(attributes, reading, OUTPUT)
    if OUTPUT not in attributes:
        reading.blind = lost(span, absent)


def read_attributes(attributes: Attributes, reading: Reading, source: str, absent: NotRecorded | None = None) -> None:
    output, history = attributes.get(OUTPUT), attributes.get(INPUT)
    if output is not None:
        messages = decoded(output)
        if isinstance(messages, NotRecorded):
            reading.blind = messages
        else:
            reading.asked = tuple(asked_in(messages, source))
    if history is not None:
        reading.shown = tuple(shown_in(decoded(history), INPUT))
    definitions = attributes.get("gen_ai.tool.definitions")
    if definitions is not None:
        reading.declares = declared(definitions)


def asked_in(messages: Json, source: str) -> Iterator[Asked]:
    """The `tool_call` parts of output messages. A call next to a `tool-approval-request` part is held (AI SDK)."""
    for message in _mappings(messages):
        parts = list(_mappings(message.get("parts")))
        held = any(part.get("type") == "tool-approval-request" for part in parts)
        for part in parts:
            if part.get("type") == "tool_call":
                yield Asked(
                    str(part.get("name")),
                    arguments(part.get("arguments"), _UNSAID),
                    text_or_none(part.get("id")),
                    source,
                    held,
                )


def shown_in(messages: Json, source: str) -> Iterator[Shown]:
    """The results after the last message that asked for tools: the others were shown by an earlier request."""
    for message in after_last(list(_mappings(messages)), _asks):
        for part in _mappings(message.get("parts")):
            call_id = part.get("id")
            if part.get("type") == "tool_call_response" and call_id is not None:
                result = part.get("response", part.get("result", NO_RESULT))
                yield shown(str(call_id), decoded(result), source)


def shown(call_id: str, result: Json | NotRecorded, source: str, failed: bool = False) -> Shown:
    """What one result says; a mapping with nothing but an `error` is the usual way to hand a failure to the model."""
    if isinstance(result, Mapping) and set(result) == {"error"}:
        failed = True
    return Shown(call_id, result, source, failed)


def after_last(messages: Sequence[Any], is_mark: Any) -> Iterable[Any]:
    """The messages after the last one that is a mark; all when none is."""
    for position in range(len(messages) - 1, -1, -1):
        if is_mark(messages[position]):
            return messages[position + 1 :]
    return messages


def text_or_none(value: Json) -> str | None:
    return None if value is None or value == "" else str(value)


def _asks(message: Mapping[str, Json]) -> bool:
    return any(part.get("type") == "tool_call" for part in _mappings(message.get("parts")))


def _mappings(value: Json) -> Iterator[Mapping[str, Json]]:
    if isinstance(value, list):
        for element in value:
            if isinstance(element, Mapping):
                yield element


_UNSAID: Final = NotRecorded("the model's message does not say with which arguments")
