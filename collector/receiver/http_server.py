"""The HTTP server of the receiver: OTLP itself, an application if there is one, and gRPC passed on, on one port."""

import asyncio
import socket
from typing import TYPE_CHECKING, Final

from collector.listening import BACKLOG, listen, port_of
from collector.receiver.asgi import ASGIApp, OtlpApp
from collector.receiver.connection import Connection
from collector.receiver.connections import Connections
from collector.receiver.http import OtlpHttp
from collector.receiver.one_port import Grpc, OnePort, Tunnel

if TYPE_CHECKING:
    from collector.receiver.application import Application

KEEP_ALIVE: Final = 75.0
"""s between two sweeps, which close connections on which nothing comes: see `QUIET`."""


class HttpServer:
    """Serves OTLP, and with `app` everything else, on one host and port; port 0 takes a free one.

    With `listener`, it is that socket's port, which is taken already. Connections that speak HTTP/2 are passed on to
    the server that `grpc` names.
    """

    def __init__(
        self,
        otlp: OtlpHttp,
        host: str,
        port: int,
        *,
        app: ASGIApp | None,
        grpc: Grpc,
        listener: socket.socket | None = None,
    ) -> None:
        self.host = host
        self.port = port if listener is None else port_of(listener)
        self._otlp = otlp
        self._app = OtlpApp(otlp, app) if app is not None else None
        self._application: Application | None = None
        self._connections = Connections()
        self._grpc = grpc
        self._tunnels: set[Tunnel] = set()
        self._listener = listener
        self._server: asyncio.Server | None = None
        self._sweeping: asyncio.TimerHandle | None = None

    async def start(self) -> None:
        """Begin to serve. Raises `OSError` if the address cannot be had."""
        if self._listener is None:
            self._listener = listen(self.host, self.port)
            self.port = port_of(self._listener)
        elsewhere = None
        if self._app is not None:
            # Loading uvicorn takes long beside a short run that serves no page.
            from collector.receiver.application import Application

            self._application = Application(self._app, self._otlp, self._connections)
            try:
                await self._application.start()
            except RuntimeError:
                self._listener.close()
                self._listener = None
                raise
            elsewhere = self._application.connection

        def http() -> asyncio.Protocol:
            return Connection(self._otlp, self._connections, elsewhere)

        def protocol() -> asyncio.Protocol:
            return OnePort(http, self._grpc, self._connections, self._tunnels)

        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(protocol, sock=self._listener, backlog=BACKLOG)
        self._sweep()

    def close(self) -> None:
        """Accept no new connection, and no new request on those there are."""
        if self._sweeping is not None:
            self._sweeping.cancel()
        if self._server is not None:
            self._server.close()
        elif self._listener is not None:
            self._listener.close()
        for connection in list(self._connections.open):
            connection.shut_down()

    async def finished(self) -> None:
        """Wait until every OTLP request that is under way is answered."""
        await self._connections.finished()
        if self._app is not None and self._app.in_flight:
            await asyncio.wait(self._app.in_flight)

    async def stop(self) -> None:
        """End: what still runs is cancelled, and its connection closed."""
        self.close()
        for connection in list(self._connections.open):
            connection.close()
        for tunnel in list(self._tunnels):
            tunnel.close()
        if self._application is not None:
            await self._application.stop()
            self._application = None
        self._server = self._listener = None

    def _sweep(self) -> None:
        self._connections.end_idle()
        self._sweeping = asyncio.get_running_loop().call_later(KEEP_ALIVE, self._sweep)
