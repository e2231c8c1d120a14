"""OTLP/HTTP as an ASGI application: `/v1/traces`, `/v1/logs` and `/v1/metrics`; every other path is another app's."""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from http import HTTPStatus
from typing import Any, Final

import orjson

from collector.receiver.decoded import Decoded
from collector.receiver.encoding import LIMIT, Corrupt, TooLarge, UnknownEncoding, decompress
from collector.receiver.intake import Format, Intake, Reason, Refused, Signal
from collector.receiver.loopback import is_foreign
from collector.receiver.schema import ExportResponse, RpcStatus

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
ASGIApp = Callable[[Scope, Receive, Send], Awaitable[None]]
Headers = list[tuple[bytes, bytes]]

PATHS: Final = {f"/v1/{signal}": signal for signal in Signal}
_FORMATS: Final = {
    b"application/x-protobuf": Format.PROTOBUF,
    b"application/protobuf": Format.PROTOBUF,
    b"application/json": Format.JSON,
    b"application/x-ndjson": Format.LINES,
    b"application/jsonl": Format.LINES,
}
_STATUS: Final = {
    Reason.MALFORMED: (HTTPStatus.BAD_REQUEST, 3),
    Reason.TOO_LARGE: (HTTPStatus.REQUEST_ENTITY_TOO_LARGE, 8),
    Reason.UNSUPPORTED: (HTTPStatus.UNSUPPORTED_MEDIA_TYPE, 3),
    Reason.UNAUTHENTICATED: (HTTPStatus.UNAUTHORIZED, 16),
    Reason.FOREIGN: (HTTPStatus.FORBIDDEN, 7),
    Reason.UNAVAILABLE: (HTTPStatus.SERVICE_UNAVAILABLE, 14),
    Reason.FAILED: (HTTPStatus.INTERNAL_SERVER_ERROR, 13),
}
"""The HTTP status and the google.rpc.Code of each reason."""
FOREIGN: Final = (
    "without a token, telemetry is taken only under this machine's own names: localhost, 127.0.0.1, [::1]"
)


class _Disconnected(Exception):
    """The client went away before its request was whole."""


class OtlpApp:
    """The ASGI application. `in_flight` are the tasks that handle an OTLP request at the moment."""

    def __init__(self, intake: Intake, app: ASGIApp | None = None, *, local: bool = False) -> None:
        """`local`: refuse what pages of other sites may have sent."""
        self._intake = intake
        self._local = local
        self._app = app
        self.in_flight: set[asyncio.Task[Any]] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        signal = PATHS.get(scope["path"]) if scope["type"] == "http" else None
        if signal is not None:
            await self._otlp(signal, scope, receive, send)
        elif self._app is not None:
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            text = f"{scope['path']} is not served here. OTLP/HTTP is taken at POST {', '.join(PATHS)}.\n"
            await _respond(send, HTTPStatus.NOT_FOUND, b"text/plain; charset=utf-8", text.encode(), [])
        else:
            raise RuntimeError(f"{scope['type']} is not served")

    async def _otlp(self, signal: Signal, scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(scope["headers"])
        cors = _cors(headers.get(b"origin"))
        if scope["method"] == "OPTIONS":
            await _respond(send, HTTPStatus.NO_CONTENT, b"", b"", [*cors, (b"allow", b"POST, OPTIONS")])
            return
        if scope["method"] != "POST":
            text = f"{scope['method']} {scope['path']}: use POST with an OTLP request as its body.\n"
            allow = (b"allow", b"POST, OPTIONS")
            await _respond(send, HTTPStatus.METHOD_NOT_ALLOWED, b"text/plain; charset=utf-8", text.encode(), [allow])
            return
        task = asyncio.current_task()
        assert task is not None
        self.in_flight.add(task)
        try:
            await self._export(signal, headers, receive, send, cors)
        finally:
            self.in_flight.discard(task)

    async def _export(
        self, signal: Signal, headers: dict[bytes, bytes], receive: Receive, send: Send, cors: Headers
    ) -> None:
        media_type = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
        body_format = _FORMATS.get(media_type)
        answer_format = Format.PROTOBUF if body_format is Format.PROTOBUF else Format.JSON
        try:
            if self._local and is_foreign(headers.get(b"host"), headers.get(b"origin")):
                raise self._intake.refuse(Reason.FOREIGN, FOREIGN)
            self._intake.admit(headers.get(b"authorization"))
            if body_format is None or (body_format is Format.LINES and signal is not Signal.TRACES):
                raise self._intake.refuse(Reason.UNSUPPORTED, _unsupported(media_type, signal))
            body = self._decompress(await self._body(headers, receive), headers)
            decoded = self._intake.take(signal, body_format, body)
        except Refused as refused:
            self._intake.refused(signal, refused)
            status, answer = _refusal(refused, answer_format)
            await _respond(send, status, answer_format.encode(), answer, cors + _refusal_headers(refused))
        except _Disconnected:
            return
        else:
            answer = _success(decoded, signal, answer_format)
            await _respond(send, HTTPStatus.OK, answer_format.encode(), answer, cors)

    async def _body(self, headers: dict[bytes, bytes], receive: Receive) -> bytes:
        length = headers.get(b"content-length", b"")
        if length.isdigit() and int(length) > LIMIT:
            raise self._intake.refuse(Reason.TOO_LARGE, f"the body has {int(length)} bytes, more than {LIMIT}")
        pieces: list[bytes] = []
        size = 0
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise _Disconnected
            piece: bytes = message.get("body", b"")
            size += len(piece)
            if size > LIMIT:
                raise self._intake.refuse(Reason.TOO_LARGE, f"the body has more than {LIMIT} bytes")
            pieces.append(piece)
            if not message.get("more_body"):
                return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def _decompress(self, body: bytes, headers: dict[bytes, bytes]) -> bytes:
        try:
            return decompress(body, headers.get(b"content-encoding", b"").decode("latin-1"))
        except TooLarge as error:
            raise self._intake.refuse(Reason.TOO_LARGE, str(error)) from None
        except Corrupt as error:
            raise self._intake.refuse(Reason.MALFORMED, str(error)) from None
        except UnknownEncoding as error:
            raise self._intake.refuse(Reason.UNSUPPORTED, str(error)) from None


def _unsupported(media_type: bytes, signal: Signal) -> str:
    lines = f", or {Format.LINES} with trace-contract records" if signal is Signal.TRACES else ""
    found = f"content type {media_type.decode('latin-1')!r}" if media_type else "a request without content type"
    return f"{found} is not supported: send {Format.PROTOBUF} or {Format.JSON}{lines}"


def _refusal(refused: Refused, answer_format: Format) -> tuple[HTTPStatus, bytes]:
    """The HTTP status, and a google.rpc.Status in the format of the request (OTLP/HTTP, "Failures")."""
    status, code = _STATUS[refused.reason]
    if answer_format is Format.PROTOBUF:
        return status, RpcStatus(code=code, message=str(refused)).SerializeToString()
    return status, orjson.dumps({"code": code, "message": str(refused)})


def _refusal_headers(refused: Refused) -> Headers:
    headers: Headers = []
    if refused.retry_after is not None:
        headers.append((b"retry-after", b"%d" % max(1, round(refused.retry_after))))
    if refused.reason is Reason.UNAUTHENTICATED:
        headers.append((b"www-authenticate", b"Bearer"))
    if refused.reason is Reason.TOO_LARGE:
        headers.append((b"connection", b"close"))
    return headers


def export_response(decoded: Decoded) -> bytes:
    """The serialized response to an export: empty, or what was rejected and why."""
    if not decoded.rejected:
        return b""
    partial = {"rejected": decoded.rejected, "error_message": decoded.reason}
    return bytes(ExportResponse(partial_success=partial).SerializeToString())


def _success(decoded: Decoded, signal: Signal, answer_format: Format) -> bytes:
    if answer_format is Format.PROTOBUF:
        return export_response(decoded)
    if not decoded.rejected:
        return b"{}"
    key = "rejectedSpans" if signal is Signal.TRACES else "rejectedLogRecords"
    return orjson.dumps({"partialSuccess": {key: str(decoded.rejected), "errorMessage": decoded.reason}})


def _cors(origin: bytes | None) -> Headers:
    """What lets a page that is served from this machine export from the browser."""
    if origin is None or is_foreign(None, origin):
        return []
    return [
        (b"access-control-allow-origin", origin),
        (b"access-control-allow-methods", b"POST, OPTIONS"),
        (b"access-control-allow-headers", b"content-type, content-encoding, authorization, traceparent, baggage"),
        (b"vary", b"origin"),
    ]


async def _respond(send: Send, status: HTTPStatus, content_type: bytes, body: bytes, headers: Headers) -> None:
    about_body = [(b"content-type", content_type), (b"content-length", b"%d" % len(body))] if content_type else []
    await send({"type": "http.response.start", "status": int(status), "headers": about_body + headers})
    await send({"type": "http.response.body", "body": body})
