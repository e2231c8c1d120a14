"""The receiver of a run, as the harness sees it: `evaluator.harness.telemetry.Telemetry` over the real one."""

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path

from collector.pipeline import Pipeline
from collector.receiver import Received, Receiver
from collector.receiver.asgi import ASGIApp
from collector.receiver.files import FileProblem
from collector.receiver.following import Following
from collector.telemetry import Batch
from evaluator.harness.sighting import Watcher
from evaluator.harness.telemetry import Endpoints, TraceFile

_LOG = logging.getLogger("spanbar.run")

Unreadable = Callable[[str], None]
"""Is told in one sentence what could not be read."""


class RunTelemetry:
    """Receives for one run. Port 0 takes a free port. Raises `OSError` at `start` if a port cannot be had."""

    def __init__(
        self,
        pipeline: Pipeline,
        *,
        host: str = "127.0.0.1",
        http_port: int = 0,
        grpc_port: int | None = 0,
        raw: Callable[[Received], None] | None = None,
        app: ASGIApp | None = None,
    ) -> None:
        self._pipeline = pipeline
        self._unreadable: list[Unreadable] = []
        self._followed: set[FollowedFile] = set()
        self._receiver = Receiver(
            pipeline.receive,
            host=host,
            http_port=http_port,
            grpc_port=grpc_port,
            raw=raw,
            app=app,
            on_problem=self._tell,
        )

    @property
    def endpoints(self) -> Endpoints:
        port = self._receiver.grpc_port
        return Endpoints(self._receiver.http_url, None if port is None else f"http://127.0.0.1:{port}")

    async def start(self) -> None:
        await self._receiver.start()

    async def stop(self) -> None:
        for followed in list(self._followed):
            await followed.stop()
        await self._receiver.stop()

    def watch(self, watcher: Watcher) -> Callable[[], None]:
        return self._pipeline.watch(watcher)

    def follow(self, path: Path, *, from_end: bool) -> TraceFile:
        followed = FollowedFile(path, self._pipeline.receive, self._file_problem, from_end=from_end)
        self._followed.add(followed)
        return followed

    def on_unreadable(self, listener: Unreadable) -> Callable[[], None]:
        self._unreadable.append(listener)
        return lambda: self._unreadable.remove(listener)

    def _file_problem(self, problem: FileProblem) -> None:
        self._tell(str(problem))

    def _tell(self, problem: str) -> None:
        for listener in self._unreadable:
            listener(problem)


class FollowedFile:
    """A trace-contract file followed in a task of its own until it is stopped."""

    def __init__(
        self, path: Path, sink: Callable[[Batch], None], on_problem: Callable[[FileProblem], None], *, from_end: bool
    ) -> None:
        self._path = path
        self._following = Following(path, sink, on_problem, from_end=from_end)
        self._task = asyncio.get_running_loop().create_task(self._following.run())
        self._task.add_done_callback(self._ended)

    async def drain(self) -> None:
        self._following.drain()

    async def stop(self) -> None:
        if not self._task.done():
            self._task.cancel()
            await asyncio.wait([self._task])
            self._following.close()

    def _ended(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            _LOG.error("%s is not followed any more: %r", self._path, error)
