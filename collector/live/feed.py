"""The feed: a bounded ring of server-sent events, each encoded once, that any number of readers follow.

A reader holds nothing but the number of the last event it has sent, so a slow one costs no memory: when the ring
has moved past it, `Feed.after` says `Lapped` and the reader starts over from a snapshot. Ids are
`<boot>-<number>`; `boot` differs at every start of the process, so an id of an earlier start is never taken for
one of this start.
"""

import asyncio
import secrets
import time
from collections.abc import Iterator
from typing import Any, Final

from collector.live.encoding import encode

EVENTS: Final = 16_384
SIZE: Final = 16 * 1024 * 1024
"""How many events, and how many bytes of them, the ring keeps unless told otherwise."""


class Lapped(Exception):
    """Events after the asked one are no longer in the ring."""


class Feed:
    """Publishes events by number from 1. Owned by one event loop."""

    def __init__(self, *, events: int = EVENTS, size: int = SIZE, boot: str | None = None) -> None:
        self.boot = boot or f"{time.time_ns() // 1_000_000:x}{secrets.token_hex(2)}"
        self.closed = False
        self.published = 0
        """The number of the newest event."""
        self._events = events
        self._size = size
        self._kept = 0
        self._ring: dict[int, bytes] = {}
        self._oldest = 1
        self._waiting: list[asyncio.Future[None]] = []

    def publish(self, name: str, data: Any) -> int:
        """Append an event and wake who waits for it. `data` is made JSON of at once. Returns the event's number."""
        self.published += 1
        encoded = frame(name, data, id=self.id_of(self.published))
        self._ring[self.published] = encoded
        self._kept += len(encoded)
        while len(self._ring) > self._events or (self._kept > self._size and len(self._ring) > 1):
            self._kept -= len(self._ring.pop(self._oldest))
            self._oldest += 1
        self._wake()
        return self.published

    def close(self) -> None:
        """No more events: readers finish what is there and end."""
        self.closed = True
        self._wake()

    def id_of(self, number: int) -> str:
        return f"{self.boot}-{number}"

    def number_of(self, event_id: str) -> int | None:
        """The number in an id of this start that can be resumed from; None if it is another's or is gone."""
        boot, _, digits = event_id.rpartition("-")
        if boot != self.boot or not (digits.isascii() and digits.isdigit()):
            return None
        number = int(digits)
        return number if self._oldest - 1 <= number <= self.published else None

    def after(self, number: int, *, at_most: int) -> tuple[int, bytes]:
        """Events after `number`, of about `at_most` bytes, and the number of the last of them.

        Raises `Lapped` when the event after `number` is no longer kept.
        """
        if number + 1 < self._oldest:
            raise Lapped
        parts: list[bytes] = []
        size = 0
        while number < self.published and size < at_most:
            number += 1
            parts.append(self._ring[number])
            size += len(parts[-1])
        return number, b"".join(parts)

    async def news(self, number: int, *, within: float) -> bool:
        """Wait until there is an event after `number` (True), or `within` seconds passed or the feed closed."""
        if self.published > number or self.closed:
            return self.published > number
        waiter = asyncio.get_running_loop().create_future()
        self._waiting.append(waiter)
        try:
            async with asyncio.timeout(within):
                await waiter
        except TimeoutError:
            self._waiting.remove(waiter)
        except asyncio.CancelledError:
            if waiter in self._waiting:
                self._waiting.remove(waiter)
            raise
        return self.published > number

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, []
        for waiter in waiting:
            if not waiter.done():
                waiter.set_result(None)


def frame(name: str, data: Any, *, id: str | None = None) -> bytes:
    """One server-sent event. JSON has no line ends of its own, so one `data:` line is enough."""
    head = f"id: {id}\nevent: {name}\ndata: " if id is not None else f"event: {name}\ndata: "
    return head.encode() + encode(data) + b"\n\n"


def frames(events: Iterator[tuple[str, Any]]) -> Iterator[bytes]:
    """Frames without ids: a snapshot is resumed from nowhere."""
    return (frame(name, data) for name, data in events)
