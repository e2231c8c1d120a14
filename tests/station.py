"""A receiver as the harness wants it, put together of the collector's parts: `spanbar run` without its reports."""

import asyncio
import contextlib
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from collector.assembly import Assembly
from collector.receiver import Receiver
from collector.receiver.files import FileProblem
from collector.receiver.following import Following
from collector.telemetry import Batch
from evaluator.harness.sighting import Watcher
from evaluator.harness.telemetry import Endpoints, TraceFile


class Station:
    """Implements `evaluator.harness.telemetry.Telemetry`. Each run needs an assembly of its own: `renew`."""

    def __init__(self) -> None:
        self._assembly = Assembly()
        self._watchers: list[Watcher] = []
        self._unreadable: list[Callable[[str], None]] = []
        self._receiver = Receiver(self._take, on_problem=self._tell)

    async def __aenter__(self) -> Self:
        await self._receiver.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._receiver.stop()

    @property
    def endpoints(self) -> Endpoints:
        return Endpoints(self._receiver.http_url, f"http://127.0.0.1:{self._receiver.grpc_port}")

    def renew(self) -> None:
        """Forget what was received."""
        self._assembly = Assembly()

    def watch(self, watcher: Watcher) -> Callable[[], None]:
        self._watchers.append(watcher)
        return lambda: self._watchers.remove(watcher)

    def on_unreadable(self, listener: Callable[[str], None]) -> Callable[[], None]:
        self._unreadable.append(listener)
        return lambda: self._unreadable.remove(listener)

    def follow(self, path: Path, *, from_end: bool) -> TraceFile:
        return _Followed(Following(path, self._take, self._problem, from_end=from_end))

    def _take(self, batch: Batch) -> None:
        assembled = self._assembly.add(batch)
        for watcher in self._watchers:
            watcher.observe(assembled.sightings, assembled.changes)

    def _problem(self, problem: FileProblem) -> None:
        self._tell(str(problem))

    def _tell(self, problem: str) -> None:
        for listener in self._unreadable:
            listener(problem)


class _Followed:
    def __init__(self, following: Following) -> None:
        self._following = following
        self._task = asyncio.create_task(following.run())

    async def drain(self) -> None:
        self._following.drain()

    async def stop(self) -> None:
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task
        self._following.close()
