"""The connections of one HTTP server, whatever is spoken on them."""

import asyncio
from typing import Protocol


class Member(Protocol):
    """A connection."""

    def end_if_idle(self) -> None:
        """Close it if nothing has come on it for long; called once in `KEEP_ALIVE` seconds."""

    def shut_down(self) -> None:
        """Close it now, or once the request that is under way is answered."""

    def close(self) -> None:
        """Close it now."""


class Connections:
    """`open` are all; `under_way` have a request that is not answered."""

    def __init__(self) -> None:
        self.open: set[Member] = set()
        self.under_way: set[Member] = set()
        self._idle = asyncio.Event()
        self._idle.set()

    def began(self, connection: Member) -> None:
        self.under_way.add(connection)
        self._idle.clear()

    def ended(self, connection: Member) -> None:
        self.under_way.discard(connection)
        if not self.under_way:
            self._idle.set()

    async def finished(self) -> None:
        """Wait until every request is answered, or its client has gone."""
        await self._idle.wait()

    def end_idle(self) -> None:
        for connection in list(self.open - self.under_way):
            connection.end_if_idle()
