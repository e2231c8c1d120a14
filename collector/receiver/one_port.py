"""OTLP/HTTP and OTLP/gRPC on one port.

`OTEL_EXPORTER_OTLP_ENDPOINT` is one URL, and an agent whose code picks the gRPC exporter sends HTTP/2 there whatever
`OTEL_EXPORTER_OTLP_PROTOCOL` says. The first bytes of a connection tell: HTTP/2 opens with a preface (RFC 9113, 3.4)
that no HTTP/1.1 request can begin with. Such a connection is passed on to the gRPC server, byte for byte.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Final

from collector.receiver.connections import QUIET, Connections

PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

_LOG: Final = logging.getLogger("spanbar.receiver")

Http = Callable[[], asyncio.Protocol]
Grpc = Callable[[], Awaitable[tuple[str, int]]]
"""Starts the gRPC server if it is not running, and says where it listens."""


class OnePort(asyncio.Protocol):
    """The protocol of a new connection, until its first bytes say whose it is. `tunnels` has those of gRPC."""

    def __init__(self, http: Http, grpc: Grpc, connections: Connections, tunnels: "set[Tunnel]") -> None:
        self._http = http
        self._grpc = grpc
        self._connections = connections
        self._tunnels = tunnels
        self._quiet = 0
        self._transport: Any = None
        self._start = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self._connections.accepted(self, transport)

    def connection_lost(self, error: Exception | None) -> None:
        self._connections.open.discard(self)

    def end_if_idle(self) -> None:
        self._quiet += 1
        if self._quiet >= QUIET:
            self._transport.abort()

    def shut_down(self) -> None:
        self._transport.close()

    def close(self) -> None:
        self._transport.close()

    def data_received(self, data: bytes) -> None:
        self._start += data
        if PREFACE.startswith(self._start):
            return
        self._connections.open.discard(self)
        if self._start.startswith(PREFACE):
            tunnel = Tunnel(self._transport, self._tunnels)
            tunnel.opening = asyncio.get_running_loop().create_task(tunnel.open(self._grpc, self._start))
            return
        protocol = self._http()
        self._transport.set_protocol(protocol)
        protocol.connection_made(self._transport)
        protocol.data_received(self._start)


class Tunnel:
    """A client's connection and one to the gRPC server, with what comes on either passed on to the other."""

    def __init__(self, client: Any, tunnels: "set[Tunnel]") -> None:
        self._client = client
        self._tunnels = tunnels
        self.opening: asyncio.Task[None] | None = None
        tunnels.add(self)
        client.pause_reading()

    async def open(self, grpc: Grpc, start: bytes) -> None:
        """Connect to the gRPC server and pass on what the client has sent so far."""
        loop = asyncio.get_running_loop()
        try:
            host, port = await grpc()
            server, _ = await loop.create_connection(lambda: _End(self._client, self), host, port)
        except OSError as error:
            _LOG.warning("a gRPC connection could not be served: %s", error)
            self.close()
            return
        self._client.set_protocol(_End(server, self))
        server.write(start)
        self._client.resume_reading()

    def close(self) -> None:
        """End the client's connection; the gRPC server sees its own end when it is passed on."""
        self._tunnels.discard(self)
        self._client.close()


class _End(asyncio.Protocol):
    """One of the two connections: what it receives goes to `other`, at the pace that `other` takes it."""

    def __init__(self, other: Any, tunnel: Tunnel) -> None:
        self._other = other
        self._tunnel = tunnel

    def data_received(self, data: bytes) -> None:
        self._other.write(data)

    def pause_writing(self) -> None:
        self._other.pause_reading()

    def resume_writing(self) -> None:
        self._other.resume_reading()

    def connection_lost(self, error: Exception | None) -> None:
        self._other.close()
        self._tunnel.close()
