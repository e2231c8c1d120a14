"""OTLP endpoints that answer as a test says: HTTP and gRPC, each on a free port."""

import asyncio
import ssl
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
import trustme
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.duration_pb2 import Duration
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse


@dataclass(frozen=True)
class Answer:
    """`code` is an HTTP status or a gRPC status; `after` is a Retry-After or a RetryInfo, in seconds."""

    code: Any
    body: bytes = b""
    after: float | None = None
    message: str = ""


@dataclass
class Seen:
    """A request as it arrived."""

    path: str
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True)
class Certificates:
    """PEM files of a server at 127.0.0.1, of a client, and of the authority that both are of."""

    authority: Path
    server: Path
    server_key: Path
    client: Path
    client_key: Path

    @classmethod
    def made_in(cls, directory: Path) -> "Certificates":
        authority = trustme.CA()
        authority.cert_pem.write_to_path(directory / "authority.pem")
        for name, owner in (("server", "127.0.0.1"), ("client", "client.test")):
            issued = authority.issue_cert(owner)
            issued.private_key_pem.write_to_path(directory / f"{name}.key")
            issued.cert_chain_pems[0].write_to_path(directory / f"{name}.pem")
        files = ("authority.pem", "server.pem", "server.key", "client.pem", "client.key")
        return cls(*(directory / file for file in files))

    def server_context(self) -> ssl.SSLContext:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(self.authority))
        context.load_cert_chain(self.server, self.server_key)
        context.verify_mode = ssl.CERT_REQUIRED
        return context

    def server_credentials(self) -> grpc.ServerCredentials:
        pair = (self.server_key.read_bytes(), self.server.read_bytes())
        return grpc.ssl_server_credentials([pair], self.authority.read_bytes(), require_client_auth=True)


@dataclass
class HttpTarget:
    """Answers each request with the next of `answers`, then with the last for ever. `gate` holds answers back."""

    answers: list[Answer]
    seen: list[Seen] = field(default_factory=list)
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    url: str = ""
    _writers: list[asyncio.StreamWriter] = field(default_factory=list)

    async def start(self, port: int = 0, certificates: "Certificates | None" = None) -> None:
        self.gate.set()
        context = certificates.server_context() if certificates is not None else None
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", port, ssl=context)
        self.port = self._server.sockets[0].getsockname()[1]
        self.url = f"{'http' if context is None else 'https'}://127.0.0.1:{self.port}"

    async def stop(self) -> None:
        self._server.close()
        for writer in self._writers:
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.append(writer)
        try:
            while (line := (await reader.readline()).decode()).strip():
                headers = {}
                while (header := (await reader.readline()).decode().strip()) != "":
                    key, _, value = header.partition(":")
                    headers[key.lower()] = value.strip()
                body = await reader.readexactly(int(headers["content-length"]))
                self.seen.append(Seen(line.split()[1], headers, body))
                await self.gate.wait()
                answer = self.answers[min(len(self.seen), len(self.answers)) - 1]
                writer.write(_http(answer))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            return
        finally:
            writer.close()


def _http(answer: Answer) -> bytes:
    lines = [
        f"HTTP/1.1 {answer.code} x",
        f"content-length: {len(answer.body)}",
        "content-type: application/x-protobuf",
    ]
    if answer.after is not None:
        lines.append(f"retry-after: {answer.after:g}")
    return "\r\n".join([*lines, "", ""]).encode() + answer.body


@dataclass
class GrpcTarget:
    answers: list[Answer]
    seen: list[Seen] = field(default_factory=list)
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    url: str = ""

    async def start(self, port: int = 0, certificates: "Certificates | None" = None) -> None:
        self.gate.set()
        self._server = grpc.aio.server(options=(("grpc.so_reuseport", 0),))
        self._server.add_generic_rpc_handlers((_Handler(self),))
        if certificates is None:
            self.port = self._server.add_insecure_port(f"127.0.0.1:{port}")
        else:
            self.port = self._server.add_secure_port(f"127.0.0.1:{port}", certificates.server_credentials())
        await self._server.start()
        self.url = f"{'grpc' if certificates is None else 'grpcs'}://127.0.0.1:{self.port}"

    async def stop(self) -> None:
        await self._server.stop(None)

    async def answer(self, path: str, body: bytes, context: grpc.aio.ServicerContext) -> bytes:
        self.seen.append(Seen(path, {k: str(v) for k, v in context.invocation_metadata() or ()}, body))
        await self.gate.wait()
        answer = self.answers[min(len(self.seen), len(self.answers)) - 1]
        if answer.code is grpc.StatusCode.OK:
            return answer.body
        if answer.after is not None:
            context.set_trailing_metadata((("grpc-status-details-bin", _details(answer)),))
        await context.abort(answer.code, answer.message)
        raise AssertionError("abort returns never")


class _Handler(grpc.GenericRpcHandler):
    def __init__(self, target: GrpcTarget) -> None:
        self._target = target

    def service(self, call: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler:
        async def answer(body: bytes, context: grpc.aio.ServicerContext) -> bytes:
            return await self._target.answer(call.method, body, context)

        return grpc.unary_unary_rpc_method_handler(answer)


def _details(answer: Answer) -> bytes:
    assert answer.after is not None
    delay = Duration()
    delay.FromNanoseconds(int(answer.after * 1e9))
    packed = AnyMessage()
    packed.Pack(RetryInfo(retry_delay=delay))
    return Status(code=answer.code.value[0], message=answer.message, details=[packed]).SerializeToString()


def partial_success(rejected: int, message: str) -> bytes:
    response = ExportTraceServiceResponse()
    response.partial_success.rejected_spans = rejected
    response.partial_success.error_message = message
    return response.SerializeToString()


def bodies(seen: Iterable[Seen]) -> list[bytes]:
    return [each.body for each in seen]
