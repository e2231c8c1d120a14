"""An ASGI application on connections that are handed over to it: uvicorn's protocol, without its main loop."""

import asyncio
from typing import Any, Final, cast

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from collector.receiver.asgi import ASGIApp
from collector.receiver.connection import HEAD_LIMIT
from collector.receiver.connections import QUIET_WITHIN, Connections
from collector.receiver.http import OtlpHttp
from collector.receiver.intake import Reason
from collector.receiver.target import signal_of

ENDING: Final = 0.2
"""s that a request has to end by itself when its connection is closed."""

_LONG_HEAD: Final = b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


class Application:
    """Serves one application in the running event loop."""

    def __init__(self, app: ASGIApp, otlp: OtlpHttp, connections: Connections) -> None:
        self._otlp = otlp
        self._connections = connections
        self._config = uvicorn.Config(
            app,
            http="httptools",
            ws="none",
            loop="none",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            date_header=False,
            timeout_keep_alive=75,
        )
        self._state = ServerState()
        self._lifespan: Any = None

    async def start(self) -> None:
        """Let the application start. Raises `RuntimeError` if it cannot."""
        self._config.load()
        self._lifespan = self._config.lifespan_class(self._config)
        await self._lifespan.startup()
        if self._lifespan.should_exit:
            raise RuntimeError("the application could not start; see its log")

    def connection(self) -> asyncio.Protocol:
        """The protocol of a connection that has begun to speak HTTP."""
        return _PageConnection(self._otlp, self._connections, self._config, self._state, self._lifespan.state)

    async def stop(self) -> None:
        """End: what still runs has seen its connection end; what goes on nevertheless is cancelled."""
        tasks = set(self._state.tasks)
        if tasks:
            _, tasks = await asyncio.wait(tasks, timeout=ENDING)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        await self._lifespan.shutdown()


class _PageConnection(HttpToolsProtocol):
    """uvicorn's, with the limits of `Connection` and its care for exports whose head cannot be read."""

    def __init__(
        self,
        otlp: OtlpHttp,
        connections: Connections,
        config: uvicorn.Config,
        state: ServerState,
        app_state: dict[str, Any],
    ) -> None:
        super().__init__(config, state, app_state)
        self._otlp = otlp
        self._open = connections.open
        self._quiet = 0
        """Sweeps since the last byte."""
        self.url = b""
        self.headers = []
        self._in_head = True
        self._head_size = 0
        """Bytes of the names and values that were read since the head began, or the body."""
        self._bodiless = 0
        """Bytes that came since the request began, or since the last piece of its body."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(cast(asyncio.Transport, transport))
        self._open.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._open.discard(self)

    def end_if_idle(self) -> None:
        self._quiet += 1
        answering = self.cycle is not None and not self.cycle.more_body and not self.cycle.response_complete
        if self._quiet >= QUIET_WITHIN and not answering:
            self.transport.abort()

    def shut_down(self) -> None:
        self.shutdown()

    def close(self) -> None:
        self.transport.close()

    def data_received(self, data: bytes) -> None:
        self._quiet = 0
        self._bodiless += len(data)
        super().data_received(data)
        if self._bodiless > HEAD_LIMIT and not self.transport.is_closing():
            self._end_long()

    def send_400_response(self, msg: str) -> None:
        """uvicorn's answer to all that its parser cannot read, or a callback does not take."""
        if self._head_size > HEAD_LIMIT:
            self._end_long()
            return
        if self._in_head:
            self._lose(Reason.MALFORMED, "the head of a request cannot be read")
        super().send_400_response(msg)

    # What the parser calls:

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._in_head, self._head_size = True, 0

    def on_header(self, name: bytes, value: bytes) -> None:
        self._head_size += len(name) + len(value)
        if self._head_size > HEAD_LIMIT:
            raise ValueError("the head, or what comes with the body, is too long")
        # uvicorn would take trailers for headers.
        if self._in_head:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        if self.parser.should_upgrade() and signal_of(self.url) is not None:
            raise ValueError("the body behind an offer to speak another protocol is not read here")
        self._in_head, self._head_size = False, 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._bodiless = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._bodiless, self._in_head, self.url = 0, True, b""
        super().on_message_complete()

    def _end_long(self) -> None:
        if self._in_head:
            self._lose(Reason.TOO_LARGE, f"the head of a request has more than {HEAD_LIMIT} bytes")
            self.transport.write(_LONG_HEAD)
        self.transport.close()

    def _lose(self, reason: Reason, why: str) -> None:
        method = self.parser.get_method().decode("ascii")
        self._otlp.head_lost(signal_of(self.url), method, dict(self.headers), reason, why)
