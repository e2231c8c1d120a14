"""Payloads: text that frameworks put into attributes, back to the values it stands for.

The forms are those of corpus/CONVENTIONS.md, sections 1 and 3: JSON text, structured values, Python literals, text
that an attribute limit cut, text that a redaction replaced.
"""

import ast
import json
import re
from collections.abc import Mapping
from typing import Final

import orjson

from collector.telemetry import Span
from evaluator.items import UNREADABLE_NAME, Json, NotRecorded

REDACTED: Final = "__REDACTED__"
_HUGE_INTEGER = re.compile(r"[0-9]{19}")
_UNPRINTABLE_INTEGER: Final = re.compile(r"0[xob][0-9a-f_]{1000}", re.IGNORECASE)
"""An integer of so many digits that Python refuses to write it in decimal."""
_SCALAR_STARTS: Final = frozenset('"-0123456789')
_WORDS: Final[Mapping[str, Json]] = {"true": True, "false": False, "null": None}
_BLANKS: Final = " \t\r\n"

CUT: Final = NotRecorded(
    "it was cut by an attribute length limit",
    "unset OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT (and OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT)",
)
DROPPED: Final = NotRecorded(
    "an attribute was dropped: the span had more than the limit allows",
    "raise OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT",
)
NAMELESS: Final = NotRecorded("the telemetry carries values without the names of their parameters")
NO_RESULT: Final = NotRecorded("the span carries no result")
REPEATED: Final = NotRecorded("a key is there twice, and which of its values holds is not known")
TOO_DEEP: Final = NotRecorded("it is nested too deep to be read")
HIDDEN: Final = NotRecorded("it was redacted", "unset OPENINFERENCE_HIDE_INPUTS and OPENINFERENCE_HIDE_OUTPUTS")


def parsed(text: str) -> Json:
    """The value of JSON text, integers of any size exact. Raises ValueError."""
    if len(text) > 19 and _HUGE_INTEGER.search(text):
        return _parsed_slowly(text)
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        if "NaN" in text or "Infinity" in text:  # as Python writes them
            return _parsed_slowly(text)
        raise


def _parsed_slowly(text: str) -> Json:
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError("depth limit exceeded") from error


def literal(text: str) -> Json:
    """The value of a Python literal. Raises ValueError."""
    if _UNPRINTABLE_INTEGER.search(text):
        raise ValueError("an integer has too many digits")
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError) as error:
        raise ValueError(str(error)) from error


def decoded(value: Json) -> Json:
    """JSON text as its value, once; any other text and value as it is; what was cut or redacted as not recorded."""
    if not isinstance(value, str) or not value:
        return value
    first = value[0]
    if first in "{[":
        return _structure(value)
    if first in "tfn":
        return _WORDS.get(value.rstrip(_BLANKS), value)
    if first in _SCALAR_STARTS:
        try:
            return parsed(value)
        except ValueError:
            return value
    if value == REDACTED:
        return HIDDEN
    return value


def _structure(text: str) -> Json:
    """The dict or list of JSON text or of a Python repr; text that only begins like one; or `CUT`."""
    try:
        return parsed(text)
    except ValueError as error:
        if "unexpected end" in str(error):
            return CUT
        if "depth limit" in str(error):
            return TOO_DEEP
    try:
        return literal(text)
    except ValueError as error:
        return CUT if "never closed" in str(error) or "unterminated" in str(error) else text


def arguments(value: Json, absent: NotRecorded | None) -> Mapping[str, Json] | NotRecorded:
    """The arguments of a call from the attribute that carries them, `absent` when it carries none that have names."""
    if isinstance(value, str):
        if value == "{}":
            return {}
        found = decoded(value)
        if isinstance(found, str) and found != value:  # JSON text inside a JSON string
            value = found
            found = decoded(found)
        if isinstance(found, dict):
            return REPEATED if repeats_a_key(value, found) else found
        return found if isinstance(found, NotRecorded) else NAMELESS
    if value is None:
        return absent or NAMELESS
    return value if isinstance(value, Mapping) else absent or NAMELESS


def repeats_a_key(text: str, found: Mapping[str, Json]) -> bool:
    """Whether JSON text or a Python repr, of which `found` was made, says a key of one object twice."""
    keys = 0
    pending: list[Json] = [found]
    while pending:
        each = pending.pop()
        if isinstance(each, Mapping):
            keys += len(each)
            pending.extend(value for value in each.values() if isinstance(value, dict | list))
        else:
            pending.extend(value for value in each if isinstance(value, dict | list))
    if text.count(":") <= keys:
        return False  # there is a colon for every key that was read, and none is left over
    try:
        json.loads(text, object_pairs_hook=_once)
    except (_RepeatedKey, RecursionError):
        return True  # what is nested too deep to look at may do so
    except ValueError:
        dicts = (node for node in ast.walk(ast.parse(text.strip(), mode="eval")) if isinstance(node, ast.Dict))
        return any(len(each.keys) > len({ast.dump(key) for key in each.keys if key}) for each in dicts)
    return False


class _RepeatedKey(Exception):
    pass


def _once(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _RepeatedKey
    return found


def tool_name(value: Json) -> str:
    """A tool's name, which is text; anything else is none, and `UNREADABLE_NAME` stands for it."""
    return value if isinstance(value, str) and value.strip() else UNREADABLE_NAME


def identifier(value: Json) -> str | None:
    """The id of a call: a text, or an integer as one. Anything else identifies nothing."""
    if isinstance(value, str):
        return value or None
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else None


def lost(span: Span, otherwise: NotRecorded) -> NotRecorded:
    """Why an attribute that should be there is not: it was dropped, or `otherwise`."""
    return DROPPED if span.dropped_attributes else otherwise


def missing_result(absent: NotRecorded, *, failed: bool, has_args: bool) -> NotRecorded | None:
    """What stands for a result that is not there: a call that failed has none, and where the arguments are recorded,
    content capture is on."""
    if failed:
        return None
    return NO_RESULT if has_args and absent is not DROPPED else absent


def as_text(value: Json, *, sort_keys: bool = False) -> str:
    """A result as a reader would say it: text as it is, anything else as JSON."""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, default=str, sort_keys=sort_keys)
    except (TypeError, ValueError, RecursionError):  # of a Python literal, which may be no JSON value
        return repr(value)
