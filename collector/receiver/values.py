"""Attributes and their values: from the raw bytes of OTLP's `KeyValue` and `AnyValue` to plain Python."""

from collections.abc import Iterable
from typing import Final

from google.protobuf.message import DecodeError

from collector.receiver.decoded import NESTING, TOO_DEEP
from collector.receiver.schema import AnyValue, KeyValue
from collector.telemetry import Value
from evaluator.items import NotRecorded

MALFORMED: Final = NotRecorded("the attribute's value is not a well-formed OTLP AnyValue")

# How a serialized field begins: its number, and how its value is encoded.
_KEY: Final = 0x0A
_VALUE: Final = 0x12
_TEXT: Final = 0x0A
_INTEGER: Final = 0x18

_RECURRING_LENGTH: Final = 96
_RECURRING_COUNT: Final = 16_384


class _Unreadable(Exception):
    def __init__(self, instead: NotRecorded) -> None:
        self.instead = instead


def read_attributes(raw: Iterable[bytes]) -> dict[str, Value]:
    """The attributes in serialized `KeyValue`s; of duplicate keys the last. Lists may be shared: they are read-only.

    Raises protobuf's `DecodeError` for bytes that are no `KeyValue`; a value that is none is `MALFORMED`.
    """
    return dict(map(_pair_of, raw))


class _Pairs(dict[bytes, tuple[str, Value]]):
    """Serialized `KeyValue` -> key and value, of short ones: most recur from span to span."""

    def __missing__(self, raw: bytes) -> tuple[str, Value]:
        pair = decode_pair(raw)
        if len(raw) <= _RECURRING_LENGTH and pair[1].__class__ is not dict:
            if len(self) >= _RECURRING_COUNT:
                self.clear()
            self[raw] = pair
        return pair


class _Keys(dict[bytes, str]):
    """A serialized key with its tag and length -> its text, so that equal keys are one object."""

    def __missing__(self, raw: bytes) -> str:
        try:
            key = raw[2:].decode()
        except UnicodeDecodeError:
            raise DecodeError("a key is not UTF-8") from None
        if len(self) >= _RECURRING_COUNT:
            self.clear()
        self[raw] = key
        return key


_keys: Final = _Keys()
_pair_of: Final = _Pairs().__getitem__


def decode_pair(raw: bytes) -> tuple[str, Value]:
    """Key and value of a serialized `KeyValue`. Raises protobuf's `DecodeError` for bytes that are none."""
    # Nearly all are: a key of less than 128 bytes, then a value of less than 16 kB, and nothing else.
    try:
        if raw[0] == _KEY and raw[1] < 0x80:
            end = 2 + raw[1]
            if raw[end] == _VALUE:
                size, start = raw[end + 1], end + 2
                if size >= 0x80 and raw[start] < 0x80:
                    size, start = size & 0x7F | raw[start] << 7, start + 1
                if start + size == len(raw):
                    key = _keys[raw[:end]]
                    if size >= 2 and raw[start] == _TEXT and raw[start + 1] == size - 2 < 0x80:
                        return key, raw[start + 2 :].decode("utf-8", "replace")
                    return key, decode_value(raw[start:])
    except IndexError:
        pass
    message = KeyValue.FromString(raw)
    return message.key, decode_value(message.value)


def decode_value(raw: bytes) -> Value:
    """The value in a serialized `AnyValue`: None, bool, int, float, str, bytes, or a list or dict of them.

    Text that is not UTF-8 keeps its place with U+FFFD, as Collectors let it pass. Bytes that are no `AnyValue`, and
    what is nested deeper than `NESTING`, are `NotRecorded`: such a value is never mistaken for a real one.
    """
    try:
        return _decode(raw, NESTING)
    except _Unreadable as problem:
        return problem.instead


def _decode(raw: bytes, levels: int) -> Value:
    # By far most values are texts of less than 16 kB and small numbers, and nothing else is in them.
    size = len(raw)
    if size >= 2:
        first, second = raw[0], raw[1]
        if first == _TEXT:
            if second == size - 2 < 0x80:
                return raw[2:].decode("utf-8", "replace")
            if size >= 0x83 and second >= 0x80 > raw[2] and second & 0x7F | raw[2] << 7 == size - 3:
                return raw[3:].decode("utf-8", "replace")
        elif first == _INTEGER:
            if second < 0x80 and size == 2:
                return second
            if size == 3 and second >= 0x80 > raw[2]:
                return second & 0x7F | raw[2] << 7
    try:
        message = AnyValue.FromString(raw)
    except DecodeError:
        raise _Unreadable(MALFORMED) from None
    kind = message.WhichOneof("value")
    if kind is None:
        return None
    if kind == "text":
        return message.text.decode("utf-8", "replace")
    if kind not in ("list", "mapping"):
        return message.blob if kind == "blob" else getattr(message, kind)
    if levels == 0:
        raise _Unreadable(TOO_DEEP)
    if kind == "list":
        return [_decode(element, levels - 1) for element in message.list.values]
    return {key: _decode(element, levels - 1) for key, element in message.mapping.values.items()}
