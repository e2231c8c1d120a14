"""An HTTP server in the running event loop: uvicorn's protocol without its signal handlers, main loop and exits."""

import asyncio
import socket
from typing import Any

import uvicorn
from uvicorn.server import ServerState

from collector.receiver.http import ASGIApp
from collector.receiver.one_port import Grpc, OnePort, Tunnel


class HttpServer:
    """Serves an ASGI application on one host and port; port 0 takes a free one.

    Connections that speak HTTP/2 are passed on to the server that `grpc` names.
    """

    def __init__(self, app: ASGIApp, host: str, port: int, *, lifespan: bool, grpc: Grpc) -> None:
        self.host = host
        self.port = port
        self._config = uvicorn.Config(
            app,
            http="httptools",
            ws="none",
            loop="none",
            lifespan="auto" if lifespan else "off",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            date_header=False,
            timeout_keep_alive=75,
        )
        self._state = ServerState()
        self._grpc = grpc
        self._tunnels: set[Tunnel] = set()
        self._server: asyncio.Server | None = None
        self._lifespan: Any = None

    async def start(self) -> None:
        """Begin to listen. Raises `OSError` if the address cannot be had."""
        listener = _listen(self.host, self.port)
        self.port = listener.getsockname()[1]
        config = self._config
        config.load()
        self._lifespan = config.lifespan_class(config)
        await self._lifespan.startup()
        if self._lifespan.should_exit:
            listener.close()
            raise RuntimeError("the application could not start; see its log")

        def http() -> asyncio.Protocol:
            make: Any = config.http_protocol_class
            made: asyncio.Protocol = make(config=config, server_state=self._state, app_state=self._lifespan.state)
            return made

        def protocol() -> asyncio.Protocol:
            return OnePort(http, self._grpc, self._tunnels)

        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(protocol, sock=listener, backlog=config.backlog)

    def close(self) -> None:
        """Accept no new connection, and no new request on those there are."""
        if self._server is not None:
            self._server.close()
        for connection in list(self._state.connections):
            connection.shutdown()

    async def stop(self) -> None:
        """End: what still runs (streams of the application) is cancelled, and its connection closed."""
        self.close()
        tasks = set(self._state.tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        for connection in list(self._state.connections):
            transport: Any = connection.transport
            transport.close()
        for tunnel in list(self._tunnels):
            tunnel.close()
        if self._lifespan is not None:
            await self._lifespan.shutdown()
        self._server = None


def _listen(host: str, port: int) -> socket.socket:
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.setblocking(False)
    except OSError:
        listener.close()
        raise
    return listener
