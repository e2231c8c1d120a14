"""The receiver of a run, as the harness sees it: `evaluator.harness.telemetry.Telemetry` over the real one."""

import asyncio
import logging
import socket
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from collector.listening import authority, listen, port_of
from evaluator.harness.sighting import Sighting, Watcher
from evaluator.harness.telemetry import Endpoints, Misdirected, TraceFile
from evaluator.items import Change

# What decodes and understands telemetry is loaded when an agent has been started, while it starts.
if TYPE_CHECKING:
    from collector.pipeline import Pipeline
    from collector.receiver import Received, Receiver
    from collector.receiver.asgi import ASGIApp
    from collector.receiver.files import FileProblem
    from collector.telemetry import Batch

_LOG = logging.getLogger("spanbar.run")

Unreadable = Callable[[str], None]
"""Is told in one sentence what could not be read."""


class RunTelemetry:
    """Receives for one run. Port 0 takes a free port. `pipeline` is made when it is needed.

    From `start` on, agents can connect. What they send is kept waiting by the system until `serve`, unless there is
    a port for gRPC or an application: then all is served from the start.
    """

    def __init__(
        self,
        pipeline: "Callable[[], Pipeline]",
        *,
        host: str = "127.0.0.1",
        http_port: int = 0,
        grpc_port: int | None = 0,
        raw: "Callable[[Received], None] | None" = None,
        app: "ASGIApp | None" = None,
    ) -> None:
        self._make_pipeline = pipeline
        self._host = host
        self._http_port = http_port
        self._grpc_port = grpc_port
        self._raw = raw
        self._app = app
        self._watchers: list[Watcher] = []
        self._unreadable: list[Unreadable] = []
        self._followed: set[FollowedFile] = set()
        self._listener: socket.socket | None = None
        self._receiver: Receiver | None = None

    @cached_property
    def pipeline(self) -> "Pipeline":
        pipeline = self._make_pipeline()
        pipeline.watch(self)
        pipeline.on_unreadable(self._tell)
        return pipeline

    @property
    def endpoints(self) -> Endpoints:
        grpc = self._receiver.grpc_port if self._receiver is not None else None
        http = f"http://{authority(self._host)}:{self._http_port}"
        return Endpoints(http, None if grpc is None else f"http://127.0.0.1:{grpc}")

    @property
    def misdirected(self) -> Misdirected:
        if self._receiver is None:
            return Misdirected(0, "")
        counters = self._receiver.counters
        return Misdirected(counters.misdirected, counters.misdirected_to)

    async def start(self) -> None:
        """Take the ports. Raises `OSError` if one cannot be had."""
        self._listener = listen(self._host, self._http_port)
        self._http_port = port_of(self._listener)
        if self._grpc_port is not None or self._app is not None:
            await self.serve()

    async def serve(self) -> None:
        if self._receiver is not None:
            return
        from collector.receiver import Receiver

        receiver = Receiver(
            self.pipeline.receive,
            host=self._host,
            listener=self._listener,
            grpc_port=self._grpc_port,
            raw=self._raw,
            app=self._app,
            on_problem=self._tell,
        )
        await receiver.start()
        self._receiver = receiver

    async def stop(self) -> None:
        for followed in list(self._followed):
            await followed.stop()
        if self._receiver is not None:
            await self._receiver.stop()
        elif self._listener is not None:
            self._listener.close()

    def watch(self, watcher: Watcher) -> Callable[[], None]:
        self._watchers.append(watcher)
        return lambda: self._watchers.remove(watcher)

    def observe(self, sightings: Sequence[Sighting], changes: Sequence[Change]) -> None:
        for watcher in self._watchers:
            watcher.observe(sightings, changes)

    def follow(self, path: Path, *, from_end: bool) -> TraceFile:
        followed = FollowedFile(path, self.pipeline.receive, self._file_problem, from_end=from_end)
        self._followed.add(followed)
        return followed

    def on_unreadable(self, listener: Unreadable) -> Callable[[], None]:
        self._unreadable.append(listener)
        return lambda: self._unreadable.remove(listener)

    def _file_problem(self, problem: "FileProblem") -> None:
        self._tell(str(problem))

    def _tell(self, problem: str) -> None:
        for listener in self._unreadable:
            listener(problem)


class FollowedFile:
    """A trace-contract file followed in a task of its own until it is stopped."""

    def __init__(
        self,
        path: Path,
        sink: "Callable[[Batch], None]",
        on_problem: "Callable[[FileProblem], None]",
        *,
        from_end: bool,
    ) -> None:
        from collector.receiver.following import Following

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
