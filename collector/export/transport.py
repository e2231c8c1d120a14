"""One attempt to deliver one OTLP request, over HTTP or gRPC, and what became of it.

Source: the OTLP specification, "OTLP/gRPC Response", "OTLP/HTTP Response" and their lists of retryable codes.
"""

import gzip
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from time import time
from typing import Any, Final, Protocol

import httpx
import orjson
from google.protobuf.json_format import Parse, ParseError
from google.protobuf.message import DecodeError
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceResponse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from collector.export.destination import Endpoint
from collector.export.destination import Protocol as WireProtocol
from collector.grpcio import grpc

PROTOBUF: Final = "application/x-protobuf"
JSON: Final = "application/json"

_RETRYABLE_HTTP: Final = frozenset({429, 502, 503, 504})
_RETRYABLE_GRPC: Final = frozenset(
    {
        grpc.StatusCode.CANCELLED,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.ABORTED,
        grpc.StatusCode.OUT_OF_RANGE,
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.DATA_LOSS,
    }
)
_METHODS: Final = {
    "traces": "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
    "logs": "/opentelemetry.proto.collector.logs.v1.LogsService/Export",
    "metrics": "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export",
}
_RESPONSES: Final[Mapping[str, tuple[type[Any], str]]] = {
    "traces": (ExportTraceServiceResponse, "rejected_spans"),
    "logs": (ExportLogsServiceResponse, "rejected_log_records"),
    "metrics": (ExportMetricsServiceResponse, "rejected_data_points"),
}


@dataclass(frozen=True, slots=True)
class Delivered:
    """The target took the request, all but `rejected` spans, records or points."""

    rejected: int = 0
    why: str = ""


@dataclass(frozen=True, slots=True)
class Retry:
    """The target could not take it now. `after`: seconds that it asks to be left alone, or None."""

    why: str
    after: float | None = None


@dataclass(frozen=True, slots=True)
class Refused:
    """The target will never take this request."""

    why: str


Attempt = Delivered | Retry | Refused


class Transport(Protocol):
    async def deliver(self, body: bytes, content_type: str) -> Attempt:
        """Send one request body, uncompressed. Never raises for what the network or the target does."""

    async def close(self) -> None: ...


def transport(signal: str, endpoint: Endpoint) -> Transport:
    """A transport for `signal`. Raises OSError or ssl.SSLError for TLS files that cannot be used."""
    if endpoint.protocol is WireProtocol.GRPC:
        return GrpcTransport(signal, endpoint)
    return HttpTransport(signal, endpoint)


class HttpTransport:
    def __init__(self, signal: str, endpoint: Endpoint) -> None:
        self._signal = signal
        self._endpoint = endpoint
        self._client = httpx.AsyncClient(
            verify=endpoint.tls.context() if endpoint.secure else False,
            headers=dict(endpoint.headers),
            timeout=endpoint.timeout,
            trust_env=False,
        )

    async def deliver(self, body: bytes, content_type: str) -> Attempt:
        headers = {"content-type": content_type}
        if self._endpoint.gzip:
            body, headers["content-encoding"] = gzip.compress(body, 1), "gzip"
        try:
            response = await self._client.post(self._endpoint.address, content=body, headers=headers)
        except httpx.TransportError as error:
            return Retry(f"{type(error).__name__}: {error}".rstrip(": "))
        if response.is_success:
            return _delivered(self._signal, response.content, response.headers.get("content-type", content_type))
        why = f"HTTP {response.status_code}{_status_text(response)}"
        if response.status_code in _RETRYABLE_HTTP:
            return Retry(why, _retry_after(response.headers.get("retry-after", "")))
        return Refused(why)

    async def close(self) -> None:
        await self._client.aclose()


class GrpcTransport:
    """Takes protobuf bodies only: gRPC has no OTLP/JSON."""

    def __init__(self, signal: str, endpoint: Endpoint) -> None:
        self._signal = signal
        self._endpoint = endpoint
        options: Sequence[tuple[str, Any]] = (
            ("grpc.max_send_message_length", -1),
            # Come back within a second or so of the target, as the sender's own pauses do.
            ("grpc.initial_reconnect_backoff_ms", 200),
            ("grpc.max_reconnect_backoff_ms", 2000),
        )
        compression = grpc.Compression.Gzip if endpoint.gzip else grpc.Compression.NoCompression
        if endpoint.secure:
            credentials = _channel_credentials(endpoint)
            self._channel = grpc.aio.secure_channel(endpoint.address, credentials, options, compression)
        else:
            self._channel = grpc.aio.insecure_channel(endpoint.address, options, compression)
        self._export = self._channel.unary_unary(_METHODS[signal])
        self._metadata = tuple(endpoint.headers.items())

    async def deliver(self, body: bytes, content_type: str) -> Attempt:
        if content_type != PROTOBUF:
            return Refused(f"a {content_type} body cannot be sent over gRPC")
        try:
            response = await self._export(body, timeout=self._endpoint.timeout, metadata=self._metadata)
        except grpc.aio.AioRpcError as error:
            why = f"gRPC {error.code().name}: {error.details() or 'no details'}"
            after = _retry_info(error)
            if error.code() in _RETRYABLE_GRPC:
                return Retry(why, after)
            # RESOURCE_EXHAUSTED is retryable only if the target says when.
            if error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED and after is not None:
                return Retry(why, after)
            return Refused(why)
        return _delivered(self._signal, response, PROTOBUF)

    async def close(self) -> None:
        await self._channel.close()


def _channel_credentials(endpoint: Endpoint) -> grpc.ChannelCredentials:
    tls = endpoint.tls
    return grpc.ssl_channel_credentials(
        tls.certificate.read_bytes() if tls.certificate else None,
        tls.client_key.read_bytes() if tls.client_key else None,
        tls.client_certificate.read_bytes() if tls.client_certificate else None,
    )


def _delivered(signal: str, body: bytes, content_type: str) -> Delivered:
    """What a success response says was rejected. A body that cannot be read says nothing."""
    message, rejected = _RESPONSES[signal]
    response = message()
    try:
        if content_type.startswith(JSON):
            Parse(body or b"{}", response, ignore_unknown_fields=True)
        else:
            response.ParseFromString(body)
    except (DecodeError, ParseError):
        return Delivered()
    partial = response.partial_success
    return Delivered(getattr(partial, rejected), partial.error_message)


def _status_text(response: httpx.Response) -> str:
    """The message of the `google.rpc.Status` that an error response carries, after a colon; else "" or its text."""
    kind = response.headers.get("content-type", "")
    text = ""
    try:
        if kind.startswith(PROTOBUF):
            text = Status.FromString(response.content).message
        elif kind.startswith(JSON):
            status = orjson.loads(response.content)
            text = str(status.get("message", "")) if isinstance(status, dict) else ""
        elif kind.startswith("text/plain"):
            text = response.text
    except (DecodeError, orjson.JSONDecodeError):
        return ""
    text = text.strip()
    return f": {text[:300]}" if text else ""


def _retry_after(text: str) -> float | None:
    """Seconds that a Retry-After header asks for: a number of seconds or a date."""
    if text.strip().isdecimal():
        return float(text)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time())
    except ValueError:
        return None


def _retry_info(error: grpc.aio.AioRpcError) -> float | None:
    """The delay of the `RetryInfo` in the error's status details."""
    for key, value in error.trailing_metadata() or ():
        if key != "grpc-status-details-bin":
            continue
        info = RetryInfo()
        try:
            if any(detail.Unpack(info) for detail in Status.FromString(value).details):
                return float(info.retry_delay.seconds + info.retry_delay.nanos / 1e9)
        except DecodeError:
            return None
    return None
