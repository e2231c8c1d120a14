"""OTLP/HTTP without a transport: the head and the body of a request in, its answer out."""

from http import HTTPStatus
from typing import Final, NamedTuple

import orjson

from collector.export.printable import printable
from collector.receiver.decoded import Decoded
from collector.receiver.encoding import LIMIT, Corrupt, TooLarge, UnknownEncoding, decompress
from collector.receiver.intake import Format, Intake, Reason, Refused, Signal
from collector.receiver.loopback import is_foreign

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
ELSEWHERE: Final = (
    "OTLP/HTTP is at /v1/traces (and /v1/logs, /v1/metrics): append it to the endpoint that the exporter is given in "
    "code, or leave its endpoint to the environment (OTEL_EXPORTER_OTLP_ENDPOINT)"
)
"""What to do about a request that is misdirected."""
_NOT_FOUND: Final = 5
"""The google.rpc.Code."""
_PATH_SHOWN: Final = 80
_API: Final = "/api/"
"""JSON that is sent below it is no telemetry."""
_TEXT: Final = b"text/plain; charset=utf-8"


class Answer(NamedTuple):
    """A response. `headers` are those beside Content-Type and Content-Length; without a type there is no body."""

    status: HTTPStatus
    content_type: bytes
    body: bytes
    headers: Headers


class OtlpHttp:
    """Answers the requests for `/v1/traces`, `/v1/logs` and `/v1/metrics`."""

    def __init__(self, intake: Intake, *, local: bool = False) -> None:
        """`local`: refuse what pages of other sites may have sent."""
        self.intake = intake
        self.local = local

    def begin(self, signal: Signal, method: str, headers: dict[bytes, bytes]) -> "Export | Answer":
        """What is to be done once the head is there: take the body, or answer without it. Names are lower-case."""
        cors = _cors(headers.get(b"origin"))
        if method == "OPTIONS":
            return Answer(HTTPStatus.NO_CONTENT, b"", b"", [*cors, (b"allow", b"POST, OPTIONS")])
        if method != "POST":
            text = f"{method} /v1/{signal}: use POST with an OTLP request as its body.\n"
            return Answer(HTTPStatus.METHOD_NOT_ALLOWED, _TEXT, text.encode(), [(b"allow", b"POST, OPTIONS")])
        media_type = _media_type(headers)
        body_format = _FORMATS.get(media_type)
        export = Export(self.intake, signal, body_format, headers, cors)
        try:
            if self.local and is_foreign(headers.get(b"host"), headers.get(b"origin")):
                raise self.intake.refuse(Reason.FOREIGN, FOREIGN)
            self.intake.admit(headers.get(b"authorization"))
            if body_format is None or (body_format is Format.LINES and signal is not Signal.TRACES):
                raise self.intake.refuse(Reason.UNSUPPORTED, _unsupported(media_type, signal))
            length = headers.get(b"content-length", b"")
            if length.isdigit() and int(length) > LIMIT:
                raise self.intake.refuse(Reason.TOO_LARGE, f"the body has {int(length)} bytes, more than {LIMIT}")
        except Refused as refused:
            return export.refusal(refused)
        return export

    def head_lost(
        self, signal: Signal | None, method: str, headers: dict[bytes, bytes], reason: Reason, why: str
    ) -> None:
        """Count a request whose head cannot be read to its end: what its body has to say is lost.

        `signal` is None for what is no export. `headers` are those before that place: a client that they do not let
        in has lost nothing here.
        """
        if signal is None or method != "POST":
            return
        if self.local and is_foreign(headers.get(b"host"), headers.get(b"origin")):
            return
        try:
            self.intake.admit(headers.get(b"authorization"))
        except Refused:
            return
        self.intake.refused(signal, self.intake.refuse(reason, why))

    def misdirected(self, method: str, path: str, headers: dict[bytes, bytes]) -> Answer | None:
        """The answer to OTLP that comes to a path that takes none; None for what is no such request.

        `path` has no query. Exporters that are given a URL in code send to it as it is (OTLP, "Endpoint URLs for
        OTLP/HTTP"): the base URL, or one with another path, is a common mistake, and nothing else would tell of it.
        """
        body_format = _FORMATS.get(_media_type(headers))
        if method != "POST" or body_format is None or (path.startswith(_API) and body_format is not Format.PROTOBUF):
            return None
        if self.local and is_foreign(headers.get(b"host"), headers.get(b"origin")):
            return None
        request = f"POST {printable(path, _PATH_SHOWN)}"
        self.intake.misdirect(request)
        answer_format = Format.PROTOBUF if body_format is Format.PROTOBUF else Format.JSON
        body = _rpc_status(answer_format, _NOT_FOUND, f"a request came to {request}: {ELSEWHERE}")
        return Answer(HTTPStatus.NOT_FOUND, answer_format.encode(), body, _cors(headers.get(b"origin")))


class Export:
    """A request whose head was accepted and whose body comes piece by piece."""

    __slots__ = ("_body_format", "_cors", "_headers", "_intake", "_pieces", "_signal", "_size")

    def __init__(
        self,
        intake: Intake,
        signal: Signal,
        body_format: Format | None,
        headers: dict[bytes, bytes],
        cors: Headers,
    ) -> None:
        self._intake = intake
        self._signal = signal
        self._body_format = body_format
        self._headers = headers
        self._cors = cors
        self._pieces: list[bytes] = []
        self._size = 0

    def add(self, piece: bytes) -> Answer | None:
        """Take a piece of the body; the answer, if the body is too large already."""
        try:
            if self._size + len(piece) > LIMIT:
                raise self._intake.refuse(Reason.TOO_LARGE, f"the body has more than {LIMIT} bytes")
            self._intake.hold(len(piece))
        except Refused as refused:
            return self.refusal(refused)
        self._size += len(piece)
        self._pieces.append(piece)
        return None

    def answer(self) -> Answer:
        """Decode the body, which is whole, hand on what it has, and say what came of it."""
        body = self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)
        self.drop()
        assert self._body_format is not None
        try:
            decoded = self._intake.take(self._signal, self._body_format, self._decompress(body))
        except Refused as refused:
            return self.refusal(refused)
        answered = _success(decoded, self._signal, self._answer_format)
        return Answer(HTTPStatus.OK, self._answer_format.encode(), answered, self._cors)

    def drop(self) -> None:
        """Let go of what has come of the body."""
        self._intake.release(self._size)
        self._size = 0
        self._pieces.clear()

    def cut_off(self) -> None:
        """The connection has ended before the body was whole. When the receiver stops, it is sent again elsewhere."""
        if self._intake.stopping:
            self.drop()
            return
        text = f"the connection ended within the body: {self._size} bytes had come"
        if length := self._headers.get(b"content-length"):
            text += f" of {length.decode('latin-1')}"
        self.drop()
        self._intake.refused(self._signal, self._intake.refuse(Reason.MALFORMED, text))

    def refusal(self, refused: Refused) -> Answer:
        """A google.rpc.Status in the format of the request (OTLP/HTTP, "Failures")."""
        self.drop()
        self._intake.refused(self._signal, refused)
        status, code = _STATUS[refused.reason]
        body = _rpc_status(self._answer_format, code, str(refused))
        return Answer(status, self._answer_format.encode(), body, self._cors + _refusal_headers(refused))

    @property
    def _answer_format(self) -> Format:
        return Format.PROTOBUF if self._body_format is Format.PROTOBUF else Format.JSON

    def _decompress(self, body: bytes) -> bytes:
        try:
            return decompress(body, self._headers.get(b"content-encoding", b"").decode("latin-1"))
        except TooLarge as error:
            raise self._intake.refuse(Reason.TOO_LARGE, str(error)) from None
        except Corrupt as error:
            raise self._intake.refuse(Reason.MALFORMED, str(error)) from None
        except UnknownEncoding as error:
            raise self._intake.refuse(Reason.UNSUPPORTED, str(error)) from None


def not_found(path: str) -> Answer:
    text = f"{path} is not served here. OTLP/HTTP is taken at POST {', '.join(PATHS)}.\n"
    return Answer(HTTPStatus.NOT_FOUND, _TEXT, text.encode(), [])


def export_response(decoded: Decoded) -> bytes:
    """The serialized response to an export: empty, or what was rejected and why."""
    if not decoded.rejected:
        return b""
    from collector.receiver.schema import ExportResponse

    partial = {"rejected": decoded.rejected, "error_message": decoded.reason}
    return bytes(ExportResponse(partial_success=partial).SerializeToString())


def _success(decoded: Decoded, signal: Signal, answer_format: Format) -> bytes:
    if answer_format is Format.PROTOBUF:
        return export_response(decoded)
    if not decoded.rejected:
        return b"{}"
    key = "rejectedSpans" if signal is Signal.TRACES else "rejectedLogRecords"
    return orjson.dumps({"partialSuccess": {key: str(decoded.rejected), "errorMessage": decoded.reason}})


def _media_type(headers: dict[bytes, bytes]) -> bytes:
    return headers.get(b"content-type", b"").partition(b";")[0].strip().lower()


def _rpc_status(answer_format: Format, code: int, message: str) -> bytes:
    """A google.rpc.Status."""
    if answer_format is not Format.PROTOBUF:
        return orjson.dumps({"code": code, "message": message})
    from collector.receiver.schema import RpcStatus

    return bytes(RpcStatus(code=code, message=message).SerializeToString())


def _unsupported(media_type: bytes, signal: Signal) -> str:
    lines = f", or {Format.LINES} with trace-contract records" if signal is Signal.TRACES else ""
    found = f"content type {media_type.decode('latin-1')!r}" if media_type else "a request without content type"
    return f"{found} is not supported: send {Format.PROTOBUF} or {Format.JSON}{lines}"


def _refusal_headers(refused: Refused) -> Headers:
    headers: Headers = []
    if refused.retry_after is not None:
        headers.append((b"retry-after", b"%d" % max(1, round(refused.retry_after))))
    if refused.reason is Reason.UNAUTHENTICATED:
        headers.append((b"www-authenticate", b"Bearer"))
    if refused.reason is Reason.TOO_LARGE:
        headers.append((b"connection", b"close"))
    return headers


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
