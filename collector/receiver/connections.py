"""The connections of one HTTP server, whatever is spoken on them."""

import asyncio
import logging
import sys
from typing import Any, Final, Protocol

QUIET: Final = 2
"""Looks of the sweep that find nothing new on a connection, after which it is closed."""

QUIET_WITHIN: Final = 3
"""The same within a request."""

SPARE: Final = 16
"""Of the files that the process may have open, those that connections leave to the rest of it."""

_LOG: Final = logging.getLogger("spanbar.receiver")


class Member(Protocol):
    """A connection."""

    def end_if_idle(self) -> None:
        """Close it if nothing has come on it for long; called by every sweep."""

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
        self._last_descriptor = _descriptors() - SPARE

    def accepted(self, connection: Member, transport: Any) -> None:
        """One more. When descriptors run out, event loops turn clients away without a word: it is logged before."""
        self.open.add(connection)
        if transport.get_extra_info("socket").fileno() >= self._last_descriptor:
            self._last_descriptor = sys.maxsize
            _LOG.error(
                "nearly all files that this process may have open are in use, most of them by %d connections: more "
                "will be turned away. Raise the limit of open files (ulimit -n)",
                len(self.open),
            )

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
        for connection in list(self.open):
            connection.end_if_idle()


def _descriptors() -> int:
    try:
        import resource
    except ImportError:  # Windows
        return sys.maxsize
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return sys.maxsize if soft == resource.RLIM_INFINITY else soft
