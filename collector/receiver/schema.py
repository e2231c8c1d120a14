"""OTLP's messages as this receiver reads them: the same wire format, declared so that parsing leaves values alone.

`repeated KeyValue` and `repeated bytes` are the same bytes on the wire. Declared as the latter, one parse in C leaves
each attribute as raw bytes; most recur from span to span, and looking one up is several times cheaper than decoding
it (`collector.receiver.values`). Declared in a descriptor pool of its own, so that it never meets the official
classes. Field numbers are those of opentelemetry-proto 1.x.
"""

from collections.abc import Iterable
from typing import Any, Final

from google.protobuf import descriptor_pool, message_factory

_PACKAGE: Final = "spanbar.wire"
_TYPES: Final = {
    "double": 1,
    "int64": 3,
    "int32": 5,
    "fixed64": 6,
    "fixed32": 7,
    "bool": 8,
    "string": 9,
    "bytes": 12,
    "uint32": 13,
}
"""Numbers of `FieldDescriptorProto.Type`."""
_MESSAGE: Final = 11
_OPTIONAL, _REPEATED = 1, 3

_MESSAGES: Final[dict[str, str]] = {
    "Resource": "repeated bytes attributes 1",
    "Scope": "string name 1, string version 2, repeated bytes attributes 3",
    "Event": "fixed64 time 1, string name 2, repeated bytes attributes 3",
    "Link": "bytes trace_id 1, bytes span_id 2, repeated bytes attributes 4",
    "Status": "string message 2, int32 code 3",
    "Span": (
        "bytes trace_id 1, bytes span_id 2, bytes parent_id 4, string name 5, int32 kind 6, fixed64 start 7,"
        "fixed64 end 8, repeated bytes attributes 9, uint32 dropped_attributes 10, repeated Event events 11,"
        "uint32 dropped_events 12, repeated Link links 13, Status status 15, fixed32 flags 16"
    ),
    "ScopeSpans": "Scope scope 1, repeated Span spans 2",
    "ResourceSpans": "Resource resource 1, repeated ScopeSpans scopes 2",
    "TracesRequest": "repeated ResourceSpans resources 1",
    "LogRecord": (
        "fixed64 time 1, int32 severity 2, bytes body 5, repeated bytes attributes 6, bytes trace_id 9,"
        "bytes span_id 10, fixed64 observed_time 11, string event_name 12"
    ),
    "ScopeLogs": "Scope scope 1, repeated LogRecord records 2",
    "ResourceLogs": "Resource resource 1, repeated ScopeLogs scopes 2",
    "LogsRequest": "repeated ResourceLogs resources 1",
    "List": "repeated bytes values 1",
    "Mapping": "map values 1",
    "AnyValue": (
        "bytes text 1, bool truth 2, int64 integer 3, double real 4, List list 5, Mapping mapping 6, bytes blob 7"
    ),
    "KeyValue": "string key 1, bytes value 2",
    "PartialSuccess": "int64 rejected 1, string error_message 2",
    "ExportResponse": "PartialSuccess partial_success 1",
    "MetricsRequest": "repeated bytes resources 1",
    "Detail": "string type_url 1, bytes value 2",
    "RpcStatus": "int32 code 1, string message 2, repeated Detail details 3",
    "Duration": "int64 seconds 1, int32 nanos 2",
    "RetryInfo": "Duration retry_delay 1",
}
_ONEOFS: Final = {"AnyValue"}


def _written(number: int, value: bytes | str | int) -> bytes:
    """One field of a protobuf message on the wire: an int below 128, or text or bytes of any length."""
    if isinstance(value, int):
        return bytes((number << 3, value))
    data = value.encode() if isinstance(value, str) else value
    size, length = len(data), bytearray()
    while size > 127:
        length.append(size & 127 | 128)
        size >>= 7
    return bytes((number << 3 | 2, *length, size)) + data


def _field(name: str, number: str, label: int, kind: str, *, oneof: bool = False) -> bytes:
    """A FieldDescriptorProto."""
    parts = [_written(1, name), _written(3, int(number)), _written(4, label)]
    if kind in _TYPES:
        parts.append(_written(5, _TYPES[kind]))
    else:
        parts += [_written(5, _MESSAGE), _written(6, f".{_PACKAGE}.{kind}")]
    return b"".join([*parts, _written(9, 0)] if oneof else parts)


def _message(name: str, fields: Iterable[str]) -> bytes:
    """A DescriptorProto."""
    parts = [_written(1, name)]
    for field in fields:
        *label, kind, field_name, number = field.split()
        repeated = bool(label) or kind == "map"
        if kind == "map":
            entry = field_name.capitalize() + "Entry"
            kind = f"{name}.{entry}"
            pair = _field("key", "1", _OPTIONAL, "string"), _field("value", "2", _OPTIONAL, "bytes")
            is_entry = _written(7, _written(7, 1))
            parts.append(_written(3, _written(1, entry) + b"".join(_written(2, half) for half in pair) + is_entry))
        label_number = _REPEATED if repeated else _OPTIONAL
        parts.append(_written(2, _field(field_name, number, label_number, kind, oneof=name in _ONEOFS)))
    if name in _ONEOFS:
        parts.append(_written(8, _written(1, "value")))
    return b"".join(parts)


def _build() -> descriptor_pool.DescriptorPool:
    # Written by hand because loading the classes of descriptors takes as long as a short run.
    messages = (_written(4, _message(name, fields.split(","))) for name, fields in _MESSAGES.items())
    file = [_written(1, "spanbar/wire.proto"), _written(2, _PACKAGE), *messages, _written(12, "proto3")]
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(b"".join(file))
    return pool


_POOL: Final = _build()


def _message_class(name: str) -> Any:
    return message_factory.GetMessageClass(_POOL.FindMessageTypeByName(f"{_PACKAGE}.{name}"))


TracesRequest: Final = _message_class("TracesRequest")
LogsRequest: Final = _message_class("LogsRequest")
MetricsRequest: Final = _message_class("MetricsRequest")
AnyValue: Final = _message_class("AnyValue")
KeyValue: Final = _message_class("KeyValue")
ExportResponse: Final = _message_class("ExportResponse")
RpcStatus: Final = _message_class("RpcStatus")
RetryInfo: Final = _message_class("RetryInfo")
