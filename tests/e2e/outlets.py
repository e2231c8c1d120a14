"""Everything by which a running server tells of a result, watched at once: page, event stream, `spanbar watch`,
`--on-fail` and exported spans. Each notes when it told what."""

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx
from playwright.async_api import Page
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from collector.receiver import Receiver
from collector.receiver.asgi import ASGIApp
from collector.telemetry import Span
from tests.e2e.browser import chromium, opened
from tests.e2e.collector.process import Collector
from tests.serving import SPANBAR, Server, serving
from tests.waiting import until

EXAMPLE: Final = Path(__file__).parents[2] / "examples" / "coding_agent"

NOTE_CELLS: Final = """
() => {
  window.cells = {};
  const look = (row) => {
    const session = row.querySelector("[role=rowheader] bdi")?.textContent;
    for (const cell of session ? row.querySelectorAll(".cell[aria-label]") : []) {
      const key = session + "\\n" + cell.getAttribute("aria-label");
      if (!(key in window.cells)) window.cells[key] = Date.now() / 1000;
    }
  };
  const rowOf = (node) => (node.nodeType === 1 ? node : node.parentElement)?.closest(".grid .body .row");
  const changed = (mutations) => {
    const nodes = mutations.flatMap((mutation) => [mutation.target, ...mutation.addedNodes]);
    new Set(nodes.map(rowOf).filter(Boolean)).forEach(look);
  };
  new MutationObserver(changed).observe(document.body, {
    subtree: true, childList: true, characterData: true, attributes: true, attributeFilter: ["aria-label"],
  });
  document.querySelectorAll(".grid .body .row").forEach(look);
}
"""
"""Notes when each cell first showed what it shows."""


@dataclass
class Told:
    """Something that an outlet told, and when (s since the epoch)."""

    at: float
    what: Any


@dataclass
class Outlets:
    """A server behind a Collector, and all of its outlets. `collector.http_url` is where an agent exports to."""

    server: Server
    collector: Collector
    page: Page
    events: list[Told] = field(default_factory=list)
    """(name, data) of the event stream."""
    lines: list[Told] = field(default_factory=list)
    """Lines of `spanbar watch`."""
    alarms: list[Told] = field(default_factory=list)
    """JSON of `--on-fail`, by POST."""
    exported: list[Told] = field(default_factory=list)
    """Spans of results."""

    async def cells(self) -> dict[tuple[str, str], float]:
        """When the page first showed a session's cell with this label."""
        noted: dict[str, float] = await self.page.evaluate("() => window.cells")
        return {(key.partition("\n")[0], key.partition("\n")[2]): at for key, at in noted.items()}

    def results(self, session: str, behavior: str) -> list[Told]:
        """What the event stream told of one result, in order."""
        return [
            Told(told.at, told.what[1])
            for told in self.events
            if told.what[0] == "result"
            and (told.what[1]["unit"]["id"], told.what[1]["behavior"]) == (session, behavior)
        ]

    def spans(self, session: str, behavior: str) -> list[Told]:
        """The spans of one result."""
        return [told for told in self.exported if _is_result(told.what, session, behavior)]

    def told(self, session: str, behavior: str) -> list[Told]:
        """What `--on-fail` was told of one result."""
        return [t for t in self.alarms if (t.what["unit"]["id"], t.what["behavior"]) == (session, behavior)]

    def line(self, session: str, text: str) -> Told | None:
        """The first line of `spanbar watch` with a session and a text in it."""
        pattern = re.compile(rf"session {re.escape(session)}\b.*{re.escape(text)}")
        return next((told for told in self.lines if pattern.search(told.what)), None)


def _is_result(span: Span, session: str, behavior: str) -> bool:
    wanted = {"spanbar.span": "result", "spanbar.unit.id": session, "gen_ai.evaluation.name": behavior}
    return wanted.items() <= dict(span.attributes).items()


@asynccontextmanager
async def outlets(directory: Path, behaviors: Path = EXAMPLE / "behaviors.yaml") -> AsyncIterator[Outlets]:
    """Start everything, wait until every outlet is there, and end everything."""
    async with AsyncExitStack() as stack:
        exported: list[Told] = []
        alarms: list[Told] = []
        backend = Receiver(
            lambda batch: exported.extend(_now(span) for span in batch.spans), grpc_port=None, app=_alarm(alarms)
        )
        await backend.start()
        stack.push_async_callback(backend.stop)
        options = ("--export", backend.http_url, "--on-fail", f"{backend.http_url}/api/alarm")
        server = stack.enter_context(serving(behaviors, *options, cwd=directory))
        backend_address = backend.http_url.removeprefix("http://")
        collector = Collector("fan-out.yaml", directory, {"SPANBAR": server.grpc, "OTLP_BACKEND": backend_address})
        stack.push_async_callback(collector.kill)
        await collector.start()
        browser = await stack.enter_async_context(chromium())
        page = await stack.enter_async_context(opened(browser, f"{server.url}/#/sessions"))
        await page.locator("#connection-text", has_text="Live").wait_for()
        await page.evaluate(NOTE_CELLS)
        found = Outlets(server, collector, page, alarms=alarms, exported=exported)
        for reading in (_read_events(found), _read_lines(found)):
            stack.push_async_callback(_cancelled, asyncio.create_task(reading))
        await until(lambda: any(told.what[0] == "synced" for told in found.events))
        await until(lambda: any("live" in told.what for told in found.lines))
        yield found


def _alarm(alarms: list[Told]) -> ASGIApp:
    """Takes what `--on-fail` posts."""

    async def take(request: Request) -> Response:
        alarms.append(_now(await request.json()))
        return Response()

    return Starlette(routes=[Route("/api/alarm", take, methods=["POST"])])


def _now(what: Any) -> Told:
    return Told(time.time(), what)


async def _read_events(found: Outlets) -> None:
    async with (
        httpx.AsyncClient(timeout=60) as client,
        client.stream("GET", f"{found.server.url}/api/v1/events") as stream,
    ):
        name = ""
        async for line in stream.aiter_lines():
            key, _, value = line.partition(": ")
            if key == "event":
                name = value
            elif key == "data":
                found.events.append(_now((name, json.loads(value))))


async def _read_lines(found: Outlets) -> None:
    process = await asyncio.create_subprocess_exec(
        SPANBAR,
        "watch",
        "--plain",
        found.server.url,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env={"PYTHONUNBUFFERED": "1"},
    )
    assert process.stdout is not None
    try:
        async for line in process.stdout:
            found.lines.append(_now(line.decode()))
    finally:
        process.kill()
        await process.wait()


async def _cancelled(task: "asyncio.Task[None]") -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
