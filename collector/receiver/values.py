"""Attribute values: from the raw bytes of an OTLP `AnyValue` to plain Python, when somebody asks."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from google.protobuf.message import DecodeError

from collector.receiver.schema import AnyValue
from collector.telemetry import Value
from evaluator.items import NotRecorded

NESTING: Final = 32
"""How deep lists and mappings may be nested in one value, in every encoding."""

TOO_DEEP: Final = NotRecorded(f"the attribute's value is nested deeper than {NESTING} levels")
MALFORMED: Final = NotRecorded("the attribute's value is not a well-formed OTLP AnyValue")

_RECURRING_LENGTH: Final = 96
_RECURRING_COUNT: Final = 16_384
_recurring: dict[bytes, Value] = {}
"""Raw value -> decoded value, of short scalars. Looking one up is several times cheaper than decoding it."""


class _Unreadable(Exception):
    def __init__(self, instead: NotRecorded) -> None:
        self.instead = instead


def decode_value(raw: bytes) -> Value:
    """The value in a serialized `AnyValue`: None, bool, int, float, str, bytes, or a list or dict of them.

    Text that is not UTF-8 keeps its place with U+FFFD, as Collectors let it pass. Bytes that are no `AnyValue`, and
    what is nested deeper than `NESTING`, are `NotRecorded`: such a value is never mistaken for a real one.
    """
    try:
        return _recurring[raw]
    except KeyError:
        pass
    try:
        value = _decode(raw, NESTING)
    except _Unreadable as problem:
        return problem.instead
    if len(raw) <= _RECURRING_LENGTH and not isinstance(value, list | dict):
        if len(_recurring) >= _RECURRING_COUNT:
            _recurring.clear()
        _recurring[raw] = value
    return value


def _decode(raw: bytes, levels: int) -> Value:
    # By far most values are short texts: field 1, one byte of length, and nothing else.
    if len(raw) >= 2 and raw[0] == 0x0A and raw[1] < 0x80 and raw[1] == len(raw) - 2:
        return raw[2:].decode("utf-8", "replace")
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


class LazyAttributes(Mapping[str, Value]):
    """Attributes whose values are decoded each time they are asked for. Read-only.

    It keeps the whole parsed request alive: copy what is to be kept (`dict(attributes)`).
    """

    __slots__ = ("_raw",)

    def __init__(self, raw: Any) -> None:
        self._raw = raw

    def __getitem__(self, key: str) -> Value:
        raw = self._raw.get(key)
        if raw is None:
            raise KeyError(key)
        return decode_value(raw)

    def get(self, key: str, default: Any = None) -> Any:
        raw = self._raw.get(key)
        if raw is None:
            return default
        try:
            return _recurring[raw]  # before `decode_value` does it: this is the busiest line of receiving
        except KeyError:
            return decode_value(raw)

    def __contains__(self, key: object) -> bool:
        return key in self._raw

    def __iter__(self) -> Iterator[str]:
        return iter(self._raw)

    def __len__(self) -> int:
        return len(self._raw)

    def __repr__(self) -> str:
        return repr(dict(self))
