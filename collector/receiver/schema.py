"""OTLP's messages as this receiver reads them: the same wire format, declared so that parsing leaves values alone.

`repeated KeyValue` and `repeated bytes` are the same bytes on the wire. Declared as the latter, one parse in C leaves
each attribute as raw bytes; most recur from span to span, and looking one up is several times cheaper than decoding
it (`collector.receiver.values`). Declared in a descriptor pool of its own, so that it never meets the official
classes. Field numbers are those of opentelemetry-proto 1.x.
"""

from collections.abc import Iterable
from typing import Any, Final

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_Field = descriptor_pb2.FieldDescriptorProto
_PACKAGE: Final = "spanbar.wire"
_SCALARS: Final[dict[str, Any]] = {
    "string": _Field.TYPE_STRING,
    "bytes": _Field.TYPE_BYTES,
    "bool": _Field.TYPE_BOOL,
    "int32": _Field.TYPE_INT32,
    "int64": _Field.TYPE_INT64,
    "uint32": _Field.TYPE_UINT32,
    "double": _Field.TYPE_DOUBLE,
    "fixed32": _Field.TYPE_FIXED32,
    "fixed64": _Field.TYPE_FIXED64,
}

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


def _declare(file: descriptor_pb2.FileDescriptorProto, name: str, fields: Iterable[str]) -> None:
    message = file.message_type.add(name=name)
    if name in _ONEOFS:
        message.oneof_decl.add(name="value")
    for field in fields:
        *label, kind, field_name, number = field.split()
        declared = message.field.add(name=field_name, number=int(number), label=_Field.LABEL_OPTIONAL)
        if label or kind == "map":
            declared.label = _Field.LABEL_REPEATED
        if kind == "map":
            entry = message.nested_type.add(name=field_name.capitalize() + "Entry")
            entry.options.map_entry = True
            entry.field.add(name="key", number=1, type=_Field.TYPE_STRING, label=_Field.LABEL_OPTIONAL)
            entry.field.add(name="value", number=2, type=_Field.TYPE_BYTES, label=_Field.LABEL_OPTIONAL)
            kind = f"{name}.{entry.name}"
        if kind in _SCALARS:
            declared.type = _SCALARS[kind]
        else:
            declared.type = _Field.TYPE_MESSAGE
            declared.type_name = f".{_PACKAGE}.{kind}"
        if name in _ONEOFS:
            declared.oneof_index = 0


def _build() -> descriptor_pool.DescriptorPool:
    file = descriptor_pb2.FileDescriptorProto(name="spanbar/wire.proto", package=_PACKAGE, syntax="proto3")
    for name, fields in _MESSAGES.items():
        _declare(file, name, fields.split(","))
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
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
