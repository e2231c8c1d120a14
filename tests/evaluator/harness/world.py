"""A run without processes: an agent in the test's event loop, and telemetry that it delivers when it likes."""

import asyncio
import json
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from evaluator.harness import clock
from evaluator.harness.listener import Listener
from evaluator.harness.outcome import RunOutcome
from evaluator.harness.run import run_specs
from evaluator.harness.sighting import Sighting, Watcher
from evaluator.harness.specrun import Options
from evaluator.harness.telemetry import Behaviors, Endpoints, Misdirected, TraceFile
from evaluator.items import Call, CallStatus, Change, Item, ItemKind
from evaluator.language import parse_spec


@dataclass(frozen=True)
class Message:
    """What the agent was sent, and whose it is. `world` delivers its spans."""

    world: "World"
    text: str
    trace_id: bytes
    parent_id: bytes
    headers: Mapping[str, str]

    def call(self, name: str, *, trace_id: bytes | None = None, parent_id: bytes = b"entry---") -> None:
        """A tool span arrives, below the entry span."""
        now, span_id = clock.now(), os.urandom(8)
        trace_id = self.trace_id if trace_id is None else trace_id
        call = Call(name, {}, {"id": 7}, started=now, ended=now, trace_id=trace_id, span_id=span_id)
        item = Item((trace_id, span_id, None), ItemKind.TOOL, name, None, None, None, now, None, call=call)
        sighting = Sighting(trace_id, span_id, parent_id, f"execute_tool {name}", "tool", start=now, end=now)
        self.world.deliver([sighting], [Change(None, item)])

    def entry(self, role: str = "agent") -> None:
        """The entry span of the message arrives."""
        self.span("entry---", role, self.parent_id)

    def misdirect(self, path: str) -> None:
        """A request with telemetry comes to a path where none is taken."""
        self.world.misdirected = Misdirected(self.world.misdirected.requests + 1, f"POST {path}")

    def span(self, span_id: str, role: str, parent_id: bytes = b"entry---") -> None:
        sighting = Sighting(self.trace_id, span_id.encode(), parent_id, role, role, declares=None)
        self.world.deliver([sighting], [])

    def asks(self, name: str, call_id: str) -> None:
        """The span of a model that asks for a tool arrives."""
        call = Call(name, {}, call_id=call_id, status=CallStatus.REQUESTED)
        sighting = Sighting(self.trace_id, os.urandom(8), b"entry---", "chat", "model", asks=(call,))
        self.world.deliver([sighting], [])


Agent = Callable[[Message], Awaitable[str]]
JSON = "application/json"


class World:
    """The agent answers each message with what `agent` returns; later spans are tasks that it starts with `later`.

    `content_type`: of replies that are sent as they are; without it they are JSON.
    """

    def __init__(self, agent: Agent, *, content_type: str | None = None) -> None:
        self._agent = agent
        self._content_type = content_type
        self._watchers: list[Watcher] = []
        self._unreadable: list[Callable[[str], None]] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self.messages: list[Message] = []
        self.misdirected = Misdirected(0, "")

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._answer, "127.0.0.1", 0)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for task in self._tasks:
            task.cancel()
        self._server.close()

    async def run(
        self,
        tests: Sequence[Mapping[str, Any]],
        *,
        listener: Listener | None = None,
        behaviors: Behaviors | None = None,
        blind_wait: float = 0.0,
        all_runs: bool = False,
        jobs: int = 1,
        **agent: Any,
    ) -> RunOutcome:
        """Run a spec with these tests; `agent` are further keys of its agent."""
        port = self._server.sockets[0].getsockname()[1]
        document = {
            "agent": {"endpoint": f"http://127.0.0.1:{port}/", "traces": "otlp", **agent},
            "suites": [{"name": "S", "tests": tests}],
        }
        spec = parse_spec(json.dumps(document), Path("spec.highbar.yaml"), environ={})
        options = Options(jobs=jobs, all_runs=all_runs, blind_wait=blind_wait)
        return await run_specs(
            [spec], listener=listener or Listener(), telemetry=self, options=options, behaviors=behaviors
        )

    def later(self, seconds: float, action: Callable[[], None]) -> None:
        async def act() -> None:
            await asyncio.sleep(seconds)
            action()

        task = asyncio.create_task(act())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def deliver(self, sightings: Sequence[Sighting], changes: Sequence[Change]) -> None:
        for watcher in list(self._watchers):
            watcher.observe(sightings, changes)

    def garble(self, what: str) -> None:
        """Telemetry arrives that cannot be read."""
        for listener in self._unreadable:
            listener(what)

    # As telemetry

    @property
    def endpoints(self) -> Endpoints:
        return Endpoints("http://127.0.0.1:1")

    async def serve(self) -> None:
        pass

    def watch(self, watcher: Watcher) -> Callable[[], None]:
        self._watchers.append(watcher)
        return lambda: self._watchers.remove(watcher)

    def follow(self, path: Path, *, from_end: bool) -> TraceFile:
        raise NotImplementedError(path)

    def on_unreadable(self, listener: Callable[[str], None]) -> Callable[[], None]:
        self._unreadable.append(listener)
        return lambda: self._unreadable.remove(listener)

    # As agent

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
        except asyncio.IncompleteReadError:
            # Somebody looked whether the port accepts.
            writer.close()
            return
        lines = (line.partition(": ") for line in head.split("\r\n")[1:])
        headers = {name.lower(): value for name, _, value in lines}
        body = json.loads(await reader.readexactly(int(headers["content-length"])))
        _, trace_id, parent_id, _ = headers["traceparent"].split("-")
        message = Message(self, body["message"], bytes.fromhex(trace_id), bytes.fromhex(parent_id), headers)
        self.messages.append(message)
        text = await self._agent(message)
        reply = (json.dumps({"reply": text}) if self._content_type is None else text).encode()
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\n" % (self._content_type or JSON).encode())
        writer.write(b"Content-Length: %d\r\n\r\n" % len(reply) + reply)
        writer.close()
