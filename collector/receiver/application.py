"""An ASGI application on connections that are handed over to it: uvicorn's protocol, without its main loop."""

import asyncio
from typing import Any

import uvicorn
from uvicorn.server import ServerState

from collector.receiver.asgi import ASGIApp


class Application:
    """Serves one application in the running event loop."""

    def __init__(self, app: ASGIApp) -> None:
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
        make: Any = self._config.http_protocol_class
        made: asyncio.Protocol = make(config=self._config, server_state=self._state, app_state=self._lifespan.state)
        return made

    def shut_down(self) -> None:
        """Take no new request on the connections that there are."""
        for connection in list(self._state.connections):
            connection.shutdown()

    async def stop(self) -> None:
        """End: what still runs (streams) is cancelled, and its connection closed."""
        tasks = set(self._state.tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        for connection in list(self._state.connections):
            transport: Any = connection.transport
            transport.close()
        await self._lifespan.shutdown()
