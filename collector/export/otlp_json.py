"""OTLP requests from protobuf to JSON and back, with everything that is in them.

Unlike what the receiver decodes, nothing is left out: duplicate keys, trace states and schema URLs are kept. Source:
the OTLP specification, "JSON Protobuf Encoding".
"""

import math
from base64 import b64encode
from collections.abc import Callable
from typing import Any, Final

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.json_format import ParseDict, ParseError
from opentelemetry.proto.collector.logs.v1 import logs_service_pb2
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2
from opentelemetry.proto.common.v1 import common_pb2
from opentelemetry.proto.logs.v1 import logs_pb2
from opentelemetry.proto.metrics.v1 import metrics_pb2
from opentelemetry.proto.resource.v1 import resource_pb2
from opentelemetry.proto.trace.v1 import trace_pb2

Json = dict[str, Any]

_FILES: Final = (
    common_pb2,
    resource_pb2,
    trace_pb2,
    logs_pb2,
    metrics_pb2,
    trace_service_pb2,
    logs_service_pb2,
    metrics_service_pb2,
)
_REQUESTS: Final[dict[str, Any]] = {
    "traces": trace_service_pb2.ExportTraceServiceRequest,
    "logs": logs_service_pb2.ExportLogsServiceRequest,
    "metrics": metrics_service_pb2.ExportMetricsServiceRequest,
}
_IDS: Final = {"traceId", "spanId", "parentSpanId"}
_TEXT_INTEGERS: Final = {
    FieldDescriptor.TYPE_INT64,
    FieldDescriptor.TYPE_UINT64,
    FieldDescriptor.TYPE_SINT64,
    FieldDescriptor.TYPE_FIXED64,
    FieldDescriptor.TYPE_SFIXED64,
}
_NOT_FINITE: Final = {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}


def _lenient_requests() -> dict[str, Any]:
    """The official requests, but for text values, which are bytes: those that are not UTF-8 parse, too."""
    pool = descriptor_pool.DescriptorPool()
    for module in _FILES:
        file = descriptor_pb2.FileDescriptorProto()
        module.DESCRIPTOR.CopyToProto(file)
        for message in file.message_type:
            for field in message.field:
                if (message.name, field.name) == ("AnyValue", "string_value"):
                    field.type = descriptor_pb2.FieldDescriptorProto.TYPE_BYTES
        pool.Add(file)
    return {
        signal: message_factory.GetMessageClass(pool.FindMessageTypeByName(request.DESCRIPTOR.full_name))
        for signal, request in _REQUESTS.items()
    }


_LENIENT: Final = _lenient_requests()


def request_to_json(signal: str, body: bytes) -> Json:
    """The document of a serialized export request of `traces`, `logs` or `metrics`. Raises `DecodeError`."""
    return _to_json(_LENIENT[signal].FromString(body))


def request_from_json(signal: str, document: Json) -> bytes:
    """The serialized export request of a document. Raises `ValueError` if it is none."""
    request = _REQUESTS[signal]()
    try:
        ParseDict(_with_base64_ids(document), request, ignore_unknown_fields=True)
    except ParseError as error:
        raise ValueError(str(error)) from None
    return bytes(request.SerializeToString())


_Converter = Callable[[Any], Any]
_converters: dict[Any, tuple[str, _Converter | None]] = {}
"""How each field is written: its key, and what makes JSON of its value; None for what is JSON already."""


def _to_json(message: Any) -> Json:
    document: Json = {}
    for field, value in message.ListFields():
        known = _converters.get(field)
        if known is None:
            known = _converters[field] = (field.json_name, _converter(field))
        key, convert = known
        document[key] = value if convert is None else convert(value)
    return document


def _converter(field: Any) -> _Converter | None:
    one = _single_converter(field)
    if not field.is_repeated:
        return one
    return list if one is None else lambda values: [one(value) for value in values]


def _single_converter(field: Any) -> _Converter | None:
    if field.type == FieldDescriptor.TYPE_MESSAGE:
        return _to_json
    if field.type in _TEXT_INTEGERS:
        return str
    if field.type in (FieldDescriptor.TYPE_DOUBLE, FieldDescriptor.TYPE_FLOAT):
        return _double
    if field.type == FieldDescriptor.TYPE_BYTES:
        if field.json_name in _IDS:
            return bytes.hex
        return _text if field.json_name == "stringValue" else _base64
    return None


def _double(value: float) -> float | str:
    return value if math.isfinite(value) else _NOT_FINITE[str(value)]


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace")


def _base64(value: bytes) -> str:
    return b64encode(value).decode()


def _with_base64_ids(node: Any) -> Any:
    """The document as protobuf's own JSON has it: there, ids are base64 as all bytes are."""
    if isinstance(node, list):
        return [_with_base64_ids(element) for element in node]
    if isinstance(node, dict):
        return {
            key: _base64(bytes.fromhex(value)) if key in _IDS and isinstance(value, str) else _with_base64_ids(value)
            for key, value in node.items()
        }
    return node
