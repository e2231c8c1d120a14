"""The receiver: OTLP/HTTP and OTLP/gRPC in one event loop, and one sink for what arrives."""

import asyncio
import contextlib
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from collector.listening import authority
from collector.receiver.asgi import ASGIApp
from collector.receiver.http import OtlpHttp
from collector.receiver.http_server import HttpServer
from collector.receiver.intake import Counters, Intake, Received
from collector.receiver.loopback import is_loopback
from collector.telemetry import Batch

if TYPE_CHECKING:
    from collector.receiver.grpc import GrpcServer

GRACE: Final = 5.0
"""Seconds that requests under way have to finish when the receiver stops."""


class Receiver:
    """Serves OTLP/HTTP (protobuf, JSON, trace-contract lines) and OTLP/gRPC in the running event loop.

    `sink` is called in the event loop for every request that carries something, before the client gets its success;
    it may raise `Overloaded`. `raw` is called after it with the body. Port 0 takes a free port; `listener` is a
    socket that has taken the HTTP port already. OTLP/gRPC is taken on the HTTP port as well, and has a port of its
    own unless `grpc_port` is None. `app` gets every HTTP request that is not for `/v1/traces`, `/v1/logs` or
    `/v1/metrics`; the bearer `token` guards these paths and gRPC, not `app`.
    `on_problem` is told in one sentence of each request that was refused, and of each that lost a part. `on_loss` is
    told why traces or logs of a client that may come in are lost for good, and of the batch that the sink failed at.
    `on_misdirected` is told the method and path of each request with OTLP that came to a path where none is taken.
    """

    def __init__(
        self,
        sink: Callable[[Batch], None],
        *,
        host: str = "127.0.0.1",
        http_port: int = 0,
        grpc_port: int | None = 0,
        listener: socket.socket | None = None,
        app: ASGIApp | None = None,
        token: str | None = None,
        raw: Callable[[Received], None] | None = None,
        on_problem: Callable[[str], None] | None = None,
        on_loss: Callable[[str, Batch | None], None] | None = None,
        on_misdirected: Callable[[str], None] | None = None,
    ) -> None:
        self.host = host
        self._intake = Intake(sink, raw, token, on_problem, on_loss, on_misdirected)
        otlp = OtlpHttp(self._intake, local=token is None and is_loopback(host))
        self._http = HttpServer(otlp, host, http_port, app=app, grpc=self._grpc_address, listener=listener)
        self._grpc = None if grpc_port is None else _grpc_server(self._intake, host, grpc_port)
        self._inner_grpc: GrpcServer | None = None
        """Serves the gRPC of the HTTP port where there is no gRPC port."""
        self._starting_grpc = asyncio.Lock()

    @property
    def counters(self) -> Counters:
        return self._intake.counters

    @property
    def http_port(self) -> int:
        """The port that is asked for; once started, the port that is served."""
        return self._http.port

    @property
    def grpc_port(self) -> int | None:
        return None if self._grpc is None else self._grpc.port

    @property
    def http_url(self) -> str:
        """The base URL of OTLP/HTTP, as `OTEL_EXPORTER_OTLP_ENDPOINT` takes it."""
        return f"http://{authority(self.host)}:{self.http_port}"

    @property
    def traces_url(self) -> str:
        return f"{self.http_url}/v1/traces"

    async def start(self) -> None:
        """Begin to listen on both ports. Raises `OSError` if one cannot be had; then neither is held."""
        await self._http.start()
        if self._grpc is not None:
            try:
                await self._grpc.start()
            except OSError:
                await self._http.stop()
                raise

    async def stop(self) -> None:
        """Take no new request, let those under way finish (at most `GRACE` seconds), and end."""
        self._intake.stopping = True
        self._http.close()
        servers = [server for server in (self._grpc, self._inner_grpc) if server is not None]
        finishing = [asyncio.create_task(server.stop(GRACE)) for server in servers]
        try:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(GRACE):
                    await self._http.finished()
            for task in finishing:
                await task
        finally:
            # Also for who does not wait that long.
            await self._http.stop()

    async def _grpc_address(self) -> tuple[str, int]:
        if self._grpc is not None:
            return authority(self.host).strip("[]"), self._grpc.port
        async with self._starting_grpc:
            if self._inner_grpc is None:
                server = _grpc_server(self._intake, "127.0.0.1", 0)
                await server.start()
                self._inner_grpc = server
        return "127.0.0.1", self._inner_grpc.port


def _grpc_server(intake: Intake, host: str, port: int) -> "GrpcServer":
    # Loading grpcio takes as long as a short test run, and one that only receives OTLP/HTTP does not need it.
    from collector.receiver.grpc import GrpcServer

    return GrpcServer(intake, host, port)
