"""Protobuf's wire format, as far as it takes to cut a file into requests and to tell spans from log records."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from collector.receiver.intake import Signal

_VARINT, _I64, _LENGTH, _I32 = 0, 1, 2, 5
_FIXED_SIZES: Final = {_I64: 8, _I32: 4}
_LONGEST_VARINT: Final = 10

_METRIC_TYPES: Final = dict.fromkeys((1, 2, 3, 5, 7, 9, 10, 11, 12), _LENGTH)
"""The wire types of the fields of `Metric`. A `Span` has others, but for one that has little more than its ids."""


class NotProtobuf(ValueError):
    """Bytes that are no protobuf message."""


class Field(NamedTuple):
    number: int
    wire_type: int
    start: int
    """Where the value begins; the contents of a length-delimited one, without the length."""
    end: int


def varint(buffer: bytes, position: int) -> tuple[int, int]:
    """The integer at `position` and where it ends. Raises `NotProtobuf`."""
    value = 0
    for shift in range(_LONGEST_VARINT):
        if position >= len(buffer):
            raise NotProtobuf("cut inside an integer")
        byte = buffer[position]
        position += 1
        value |= (byte & 0x7F) << (7 * shift)
        if byte < 0x80:
            return value, position
    raise NotProtobuf("an integer of more than 64 bits")


def fields(buffer: bytes, start: int, end: int) -> Iterator[Field]:
    """The fields of the message in `buffer[start:end]`, not descending. Raises `NotProtobuf`."""
    while start < end:
        tag, start = varint(buffer, start)
        wire_type = tag & 7
        if wire_type == _LENGTH:
            size, start = varint(buffer, start)
        elif wire_type == _VARINT:
            size = varint(buffer, start)[1] - start
        elif wire_type in _FIXED_SIZES:
            size = _FIXED_SIZES[wire_type]
        else:
            raise NotProtobuf(f"a field of wire type {wire_type}")
        if start + size > end:
            raise NotProtobuf("a field that is longer than its message")
        yield Field(tag >> 3, wire_type, start, start + size)
        start += size


def whole_part(message: bytes, depth: int = 1) -> bytes:
    """What is whole of a message that is cut at its end: its fields, and of a field 2 that is cut, its whole part.

    Of a resource these are, `depth` levels down, the scopes and their spans or log records.
    """
    kept, position, end = bytearray(), 0, len(message)
    while position < end:
        try:
            tag, start = varint(message, position)
            size = 0
            if tag & 7 == _LENGTH:
                size, start = varint(message, start)
            elif tag & 7 == _VARINT:
                start = varint(message, start)[1]
            else:
                size = _FIXED_SIZES.get(tag & 7, end)
        except NotProtobuf:
            break
        if start + size > end:
            if depth and tag == (2 << 3 | _LENGTH):
                inner = whole_part(message[start:], depth - 1)
                kept += bytes((tag, *_as_varint(len(inner)))) + inner
            break
        kept += message[position : start + size]
        position = start + size
    return bytes(kept)


def _as_varint(value: int) -> list[int]:
    found = []
    while value >= 0x80:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return [*found, value]


def resource_field(resource: bytes) -> bytes:
    """A resource as field 1 of a request."""
    return bytes((1 << 3 | _LENGTH, *_as_varint(len(resource)))) + resource


def signal_of(resource: bytes) -> Signal | None:
    """What a ResourceSpans, ResourceLogs or ResourceMetrics carries, told by its first leaf; None without one.

    The three have the same shape (resource 1, scopes 2; in them scope 1, leaves 2); only spans, log records and
    metrics differ. Raises `NotProtobuf`.
    """
    for scope in fields(resource, 0, len(resource)):
        if (scope.number, scope.wire_type) != (2, _LENGTH):
            continue
        for leaf in fields(resource, scope.start, scope.end):
            if (leaf.number, leaf.wire_type) == (2, _LENGTH) and leaf.start < leaf.end:
                return _signal_of_leaf(list(fields(resource, leaf.start, leaf.end)))
    return None


def _signal_of_leaf(leaf: list[Field]) -> Signal:
    first = next((field for field in leaf if field.number == 1), None)
    if first is None or first.wire_type != _LENGTH:
        return Signal.LOGS  # a log record's field 1 is its time; spans have their trace id there, metrics their name
    if _agree(leaf, _METRIC_TYPES) and not (_lengths(leaf, 1) == {16} and _lengths(leaf, 2) == {8}):
        return Signal.METRICS
    return Signal.TRACES


def _agree(leaf: list[Field], types: dict[int, int]) -> bool:
    return all(types.get(field.number, field.wire_type) == field.wire_type for field in leaf)


def _lengths(message: list[Field], number: int) -> set[int]:
    return {field.end - field.start for field in message if field.number == number}
