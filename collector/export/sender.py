"""The sender: a bounded queue of OTLP requests in front of one destination, with bounded retry.

Used by the results' exporter (`--export`) and by forwarding (`--forward`). What is offered is delivered, or counted
as failed or dropped: nothing vanishes. `Counts.offered` is always the sum of the others.
"""

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from random import uniform
from typing import Final

from collector.export.destination import Destination
from collector.export.transport import PROTOBUF, Delivered, Refused, Transport, transport

MEBIBYTE: Final = 1 << 20


@dataclass(slots=True)
class Counts:
    """Requests by what became of them; `rejected` are spans, records and points that the target did not take."""

    offered: int = 0
    delivered: int = 0
    failed: int = 0
    """Refused for good, not taken in time, or under way when the sender was closed (the target may have it)."""
    dropped: int = 0
    """Never tried to the end: the queue was full, or it still waited when the sender was closed."""
    retries: int = 0
    rejected: int = 0
    last_error: str = ""

    @property
    def pending(self) -> int:
        """Waiting or under way."""
        return self.offered - self.delivered - self.failed - self.dropped

    @property
    def lost(self) -> int:
        return self.failed + self.dropped


@dataclass(frozen=True, slots=True)
class Retrying:
    """Seconds: the first pause, the longest one, and for how long one request is tried at all."""

    first: float = 0.2
    longest: float = 5.0
    give_up_after: float = 120.0


@dataclass(frozen=True, slots=True)
class _Request:
    signal: str
    body: bytes
    content_type: str


class Sender:
    """Delivers requests to `destination` in the background, in about the order in which they were offered.

    `queue_bytes` bounds what waits; `workers` requests are under way at a time. Belongs to the event loop in which
    it was started.
    """

    def __init__(
        self,
        destination: Destination,
        *,
        queue_bytes: int = 64 * MEBIBYTE,
        workers: int = 4,
        retrying: Retrying | None = None,
    ) -> None:
        self.destination = destination
        self.counts = Counts()
        self._queue_bytes = queue_bytes
        self._waiting_bytes = 0
        self._workers = workers
        self._retrying = retrying or Retrying()
        self._queue: asyncio.Queue[_Request] = asyncio.Queue()
        self._room = asyncio.Event()
        self._transports: dict[str, Transport] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._closed = False

    async def start(self) -> None:
        """Raises OSError or ssl.SSLError when TLS files cannot be used."""
        for signal, endpoint in self.destination.endpoints.items():
            self._transports[signal] = transport(signal, endpoint)
        self._tasks = [asyncio.create_task(self._work(), name=f"sender-{n}") for n in range(self._workers)]

    def offer(self, signal: str, body: bytes, content_type: str = PROTOBUF) -> bool:
        """Queue one uncompressed request body; False, and counted as dropped, if there is no room for it.

        `signal` is `traces`, `logs` or `metrics`. Never waits. Before `start`, requests wait in the queue.
        """
        self.counts.offered += 1
        if self._closed or not self._fits(body):
            self.counts.dropped += 1
            self.counts.last_error = "the sender is closed" if self._closed else "the queue is full"
            return False
        self._waiting_bytes += len(body)
        self._queue.put_nowait(_Request(signal, body, content_type))
        return True

    async def send(self, signal: str, body: bytes, content_type: str = PROTOBUF) -> bool:
        """As `offer`, but waits until there is room."""
        while not self._closed and not self._fits(body):
            self._room.clear()
            await self._room.wait()
        return self.offer(signal, body, content_type)

    async def flush(self) -> None:
        """Wait until all that was offered is delivered, failed or dropped."""
        await self._queue.join()

    async def close(self, within: float) -> None:
        """Take nothing more, give what waits `within` seconds to be delivered, and count what was not."""
        self._closed = True
        self._room.set()
        if self._tasks:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._queue.join(), within)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self.counts.dropped += self._queue.qsize()
        for each in self._transports.values():
            await each.close()

    def _fits(self, body: bytes) -> bool:
        # A request that is larger than the whole queue is taken when nothing else waits.
        return self._waiting_bytes + len(body) <= self._queue_bytes or self._waiting_bytes == 0

    async def _work(self) -> None:
        while True:
            request = await self._queue.get()
            self._waiting_bytes -= len(request.body)
            self._room.set()
            try:
                await self._deliver(request)
            except asyncio.CancelledError:
                self.counts.failed += 1
                raise
            finally:
                self._queue.task_done()

    async def _deliver(self, request: _Request) -> None:
        carrier = self._transports.get(request.signal)
        if carrier is None:
            self._fail(f"no endpoint is set for {request.signal}")
            return
        clock = asyncio.get_running_loop().time
        deadline = clock() + self._retrying.give_up_after
        pause = self._retrying.first
        while True:
            attempt = await carrier.deliver(request.body, request.content_type)
            if isinstance(attempt, Delivered):
                self.counts.delivered += 1
                self.counts.rejected += attempt.rejected
                if attempt.why:
                    self.counts.last_error = attempt.why
                return
            if isinstance(attempt, Refused):
                self._fail(attempt.why)
                return
            self.counts.last_error = attempt.why
            # What the target asks for is kept to; otherwise pauses double, and differ so that senders spread.
            wait = attempt.after if attempt.after is not None else uniform(pause / 2, pause)
            if clock() + wait > deadline:
                self._fail(f"given up after {self._retrying.give_up_after:g} s: {attempt.why}")
                return
            self.counts.retries += 1
            await asyncio.sleep(wait)
            pause = min(pause * 2, self._retrying.longest)

    def _fail(self, why: str) -> None:
        self.counts.failed += 1
        self.counts.last_error = why
