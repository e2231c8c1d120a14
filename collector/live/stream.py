"""The event stream: a reader's place in the feed, sent as server-sent events.

A reader without a resumable id gets `reset` (why, and the columns of the board), everything as it is now, and
`synced`, whose id is where it then goes on; events before `synced` carry no id, so a stream that breaks off in the
middle starts over. A reader that takes nothing for `SEND_PATIENCE` seconds, or that the ring has overtaken, is
disconnected; it comes back with its last id.
"""

import asyncio
from collections.abc import Callable, Iterator
from typing import Any, Final

from starlette.types import Message, Receive, Scope, Send

from collector.live.feed import Feed, Lapped, frame

HEARTBEAT: Final = 10.0
"""s without an event after which a `beat` is sent."""

SEND_PATIENCE: Final = 15.0
CHUNK: Final = 64 * 1024
RETRY_MS: Final = 1_000

Snapshot = Callable[[], Iterator[tuple[str, Any]]]


class EventStream:
    """An ASGI response that ends when the client goes, the feed closes, or the client is too slow."""

    def __init__(
        self,
        feed: Feed,
        last_id: str | None,
        *,
        head: Callable[[], dict[str, Any]],
        snapshot: Snapshot,
        beat: Callable[[], dict[str, Any]],
        heartbeat: float = HEARTBEAT,
        patience: float = SEND_PATIENCE,
        farewell: float = 0.0,
    ) -> None:
        """`farewell`: s that a reader has after `bye` to fetch what it still wants; it leaves when it has it."""
        self._feed = feed
        self._last_id = last_id
        self._head = head
        self._snapshot = snapshot
        self._beat = beat
        self._heartbeat = heartbeat
        self._patience = patience
        self._farewell = farewell

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = [
            (b"content-type", b"text/event-stream; charset=utf-8"),
            (b"cache-control", b"no-store"),
            (b"x-accel-buffering", b"no"),
        ]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        writing = asyncio.create_task(self._write(send))
        leaving = asyncio.create_task(_left(receive))
        try:
            done, _ = await asyncio.wait((writing, leaving), return_when=asyncio.FIRST_COMPLETED)
            if writing in done and writing.result():
                await asyncio.wait((leaving,), timeout=self._farewell)
        except asyncio.CancelledError:
            return  # the server is gone before its reader; to raise would be logged as an error of this app
        finally:
            for task in (writing, leaving):
                task.cancel()
            await asyncio.gather(writing, leaving, return_exceptions=True)
        if writing in done and writing.result():
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _write(self, send: Send) -> bool:
        """Write until the feed closes. False if the client was too slow: the response is then left unfinished."""
        try:
            await self._send(send, f"retry: {RETRY_MS}\n\n".encode())
            number = self._feed.number_of(self._last_id) if self._last_id else None
            if number is None:
                number = await self._start_over(send)
            while True:
                number, events = self._feed.after(number, at_most=CHUNK)
                if events:
                    await self._send(send, events)
                elif self._feed.closed:
                    await self._send(send, frame("bye", {"why": "spanbar stops"}))
                    return True
                elif not await self._feed.news(number, within=self._heartbeat) and not self._feed.closed:
                    await self._send(send, frame("beat", self._beat()))
        except (TimeoutError, Lapped, OSError):
            return False

    async def _start_over(self, send: Send) -> int:
        number = self._feed.published
        why = "first" if not self._last_id else self._why_not(self._last_id)
        await self._send(send, frame("reset", {"why": why, **self._head()}))
        for name, data in self._snapshot():
            await self._send(send, frame(name, data))
        await self._send(send, frame("synced", {}, id=self._feed.id_of(number)))
        return number

    def _why_not(self, last_id: str) -> str:
        """`gap`: the events after that id are gone; `restart`: the id is of another start."""
        return "gap" if last_id.startswith(f"{self._feed.boot}-") else "restart"

    async def _send(self, send: Send, body: bytes) -> None:
        message: Message = {"type": "http.response.body", "body": body, "more_body": True}
        async with asyncio.timeout(self._patience):
            await send(message)


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
