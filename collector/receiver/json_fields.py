"""Fields of OTLP JSON objects: a reader returns the field's value or its default, or says what is wrong with it."""

import binascii
import json
import math
import re
from collections.abc import Callable
from typing import Any, Final

from collector.receiver.decoded import NESTING, TOO_DEEP
from collector.telemetry import Value

Json = dict[str, Any]

INT32: Final = (-(1 << 31), (1 << 31) - 1)
INT64: Final = (-(1 << 63), (1 << 63) - 1)
_DECIMAL: Final = re.compile(r"-?[0-9]{1,20}")
"""64-bit integers; Python refuses to parse texts of thousands of digits."""
_JSON_TYPES: Final = {
    dict: "an object",
    list: "a list",
    str: "text",
    bool: "a boolean",
    int: "a number",
    float: "a number",
    type(None): "null",
}
_NOT_FINITE: Final = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


class Wrong(ValueError):
    """A field whose value is not what OTLP says. `str()` is the place, what was expected and what was found."""

    def __init__(self, place: str, expected: str, found: Any) -> None:
        super().__init__(place, expected, found)
        self.place, self.expected, self.found = place, expected, found

    def within(self, outer: str) -> "Wrong":
        """The same problem, seen from the object that has the field."""
        separator = "." if self.place and not self.place.startswith("[") else ""
        return Wrong(f"{outer}{separator}{self.place}", self.expected, self.found)

    def __str__(self) -> str:
        shown = "" if isinstance(self.found, dict | list) else f" ({json.dumps(self.found)[:60]})"
        return f"{self.place}: expected {self.expected}, found {_JSON_TYPES[type(self.found)]}{shown}"


def read_text(parent: Json, key: str) -> str:
    value = parent.get(key)
    if value is None:
        return ""
    if type(value) is not str:
        raise Wrong(key, "text", value)
    return value


def read_message(parent: Json, key: str) -> Json:
    value = parent.get(key)
    if value is None:
        return {}
    if type(value) is not dict:
        raise Wrong(key, "an object", value)
    return value


def read_enum(parent: Json, key: str) -> int:
    """An enum's number. Names are not valid in OTLP JSON."""
    value = parent.get(key)
    if value is None:
        return 0
    if type(value) is not int:
        raise Wrong(key, "the number of an enum value (names are not valid in OTLP JSON)", value)
    return _in_range(key, value, *INT32)


def read_integer(parent: Json, key: str, low: int, high: int) -> int:
    """An integer between `low` and `high`, as a number or as decimal text."""
    value = parent.get(key)
    return 0 if value is None else _integer(key, value, low, high)


def _integer(key: str, value: Any, low: int, high: int) -> int:
    if type(value) is int:
        return _in_range(key, value, low, high)
    if type(value) is float and value.is_integer():
        return _in_range(key, int(value), low, high)
    if type(value) is str and _DECIMAL.fullmatch(value):
        return _in_range(key, int(value), low, high)
    raise Wrong(key, "an integer, as a number or as text", value)


def _in_range(key: str, value: int, low: int, high: int) -> int:
    if not low <= value <= high:
        raise Wrong(key, f"an integer between {low} and {high}", value)
    return value


def read_id(parent: Json, key: str) -> tuple[str, bytes | None]:
    """An id's text and its bytes: `b""` if there is none, None if the text is not hex digits, two a byte."""
    text = read_text(parent, key)
    try:
        identifier = bytes.fromhex(text)
    except ValueError:
        return text, None
    return text, identifier if 2 * len(identifier) == len(text) else None  # fromhex skips blanks


def read_attributes(parent: Json) -> dict[str, Value]:
    """The `attributes` of an object; of duplicate keys the last, as in protobuf."""
    return _key_values(parent, "attributes", NESTING)


def read_value(value: Any) -> Value:
    """An `AnyValue` in JSON; `TOO_DEEP` if it is nested deeper than `NESTING`."""
    try:
        return _any_value(value, NESTING)
    except RecursionError:
        return TOO_DEEP


def _key_values(parent: Json, key: str, levels: int) -> dict[str, Value]:
    elements = parent.get(key)
    if elements is None:
        return {}
    if type(elements) is not list:
        raise Wrong(key, "a list", elements)
    values: dict[str, Value] = {}
    index = 0
    try:
        for index, element in enumerate(elements):  # noqa: B007 - the index names the place of an error
            try:
                name, value = element["key"], element["value"]
                text = value["stringValue"]
            except (KeyError, TypeError):
                pass
            else:
                if type(text) is str and type(name) is str and len(value) == 1:  # by far most are like this
                    values[name] = text
                    continue
            if type(element) is not dict:
                raise Wrong("", "an object with key and value", element)
            values[read_text(element, "key")] = _attribute_value(element.get("value"), levels)
    except Wrong as wrong:
        raise wrong.within(f"{key}[{index}]") from None
    return values


def _attribute_value(value: Any, levels: int) -> Value:
    if value is None:
        return None
    try:
        return _any_value(value, levels) if levels < NESTING else read_value(value)
    except Wrong as wrong:
        raise wrong.within("value") from None


def _any_value(value: Any, levels: int) -> Value:
    if type(value) is not dict:
        raise Wrong("", 'an object such as {"stringValue": "..."}', value)
    present = [key for key in _VALUES if value.get(key) is not None]
    if not present:
        return None
    if len(present) > 1:
        raise Wrong(present[1], f"one value, and {present[0]} is given as well", value[present[1]])
    key = present[0]
    return _VALUES[key](key, value[key], levels)


def _string(key: str, value: Any, _levels: int) -> str:
    if type(value) is not str:
        raise Wrong(key, "text", value)
    return value


def _boolean(key: str, value: Any, _levels: int) -> bool:
    if type(value) is not bool:
        raise Wrong(key, "true or false", value)
    return value


def _int64(key: str, value: Any, _levels: int) -> int:
    return _integer(key, value, *INT64)


def _double(key: str, value: Any, _levels: int) -> float:
    if type(value) in (int, float):
        return float(value)
    if type(value) is str:
        if value in _NOT_FINITE:
            return _NOT_FINITE[value]
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if math.isfinite(number):
            return number
    raise Wrong(key, 'a number, or "NaN", "Infinity" or "-Infinity"', value)


def _bytes(key: str, value: Any, _levels: int) -> bytes:
    if type(value) is str:
        digits = value.replace("-", "+").replace("_", "/").rstrip("=")
        try:
            return binascii.a2b_base64(digits + "=" * (-len(digits) % 4), strict_mode=True)
        except ValueError:
            pass
    raise Wrong(key, "base64 text", value)


def _array(key: str, value: Any, levels: int) -> list[Value]:
    if type(value) is not dict:
        raise Wrong(key, 'an object {"values": [...]}', value)
    if levels == 0:
        raise RecursionError
    elements = value.get("values")
    if elements is None:
        return []
    if type(elements) is not list:
        raise Wrong(f"{key}.values", "a list", elements)
    values: list[Value] = []
    try:
        for element in elements:
            values.append(_any_value(element, levels - 1))
    except Wrong as wrong:
        raise wrong.within(f"{key}.values[{len(values)}]") from None
    return values


def _kvlist(key: str, value: Any, levels: int) -> dict[str, Value]:
    if type(value) is not dict:
        raise Wrong(key, 'an object {"values": [...]}', value)
    if levels == 0:
        raise RecursionError
    try:
        return _key_values(value, "values", levels - 1)
    except Wrong as wrong:
        raise wrong.within(key) from None


_VALUES: Final[dict[str, Callable[[str, Any, int], Value]]] = {
    "stringValue": _string,
    "intValue": _int64,
    "boolValue": _boolean,
    "doubleValue": _double,
    "arrayValue": _array,
    "kvlistValue": _kvlist,
    "bytesValue": _bytes,
}
