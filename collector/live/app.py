"""The live room put together: one ASGI app with the API, the event stream, the page and the health endpoints."""

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import version
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self
from urllib.parse import quote, urlencode

import orjson
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from collector.index import Index, UnitKind
from collector.live.access import COOKIE, Access
from collector.live.api import UnitApi, answer
from collector.live.board import Board
from collector.live.feed import Feed
from collector.live.livetest import in_full, key_text
from collector.live.query import ApiProblem, Query
from collector.live.runboard import RunBoard
from collector.live.stream import EventStream
from collector.metrics import CONTENT_TYPE, Histogram, Metric, render

PAGE: Final = Path(__file__).parent / "page"
OPENAPI: Final = Path(__file__).parent / "openapi.json"
MOST_READERS: Final = 64
"""Event streams at the same time; the next is refused with 503."""

GOODBYE: Final = 0.5
"""s that readers of a server have at its end."""

GOODBYE_OF_RUN: Final = 5.0
"""The same of a run: readers fetch what failed in it before they leave, and then it does not wait."""

LOGIN_BODY: Final = 8 * 1024

_MEDIA: Final = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


class Live:
    """Use as an async context: it publishes while it is entered. `app` is what a receiver mounts.

    `token`: what readers must know (off loopback); None only on loopback. `run`: whether a run is followed; the
    attribute `run` is its `Listener` then. `unready`: why the server is not ready, None when it is. `metrics`: what
    `/metrics` says. `about`: settings that readers may know.
    """

    def __init__(
        self,
        index: Index,
        *,
        run: bool = False,
        token: str | None = None,
        unready: Callable[[], str | None] = lambda: None,
        metrics: Callable[[], Iterable[Metric | Histogram]] = lambda: (),
        about: dict[str, Any] | None = None,
    ) -> None:
        self.feed = Feed()
        self.board = Board(index, self.feed)
        self.run = RunBoard(self.feed) if run else None
        if self.run is not None:
            index.listen(self.run.seen)
        self._goodbye = GOODBYE_OF_RUN if run else GOODBYE
        self._unready = unready
        self._metrics = metrics
        self._about = about or {}
        self._started = time.time()
        self._access = Access(self._routes(), token)
        self.app: ASGIApp = self._access
        self._publishing: asyncio.Task[None] | None = None
        self._left = asyncio.Event()

    async def __aenter__(self) -> Self:
        self._publishing = asyncio.create_task(self.board.run())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()
        if self._publishing is not None:
            self._publishing.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._publishing

    async def stop(self) -> None:
        """Publish what is left and end the event streams, once their readers have left or have had their time."""
        self.board.publish_gathered()
        self.feed.close()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._goodbye):
                while self.board.readers:
                    self._left.clear()
                    await self._left.wait()

    def _routes(self) -> ASGIApp:
        routes = [
            Route("/", self._page),
            Route("/page/{file}", self._page_file),
            Route("/healthz", self._health),
            Route("/readyz", self._ready),
            Route("/metrics", self._metrics_text),
            Route("/openapi.json", self._openapi),
            Route("/api/v1/info", self._info),
            Route("/api/v1/login", self._login, methods=["POST"]),
            Route("/api/v1/events", self._events),
            Route("/api/v1/run", self._run),
            Route("/api/v1/run/tests/{key}", self._run_test),
            *UnitApi(self.board).routes(),
        ]
        return _Undecoded(Starlette(routes=routes, exception_handlers={ApiProblem: _problem, HTTPException: _http}))

    async def _events(self, request: Request) -> ASGIApp | Response:
        query = Query(request, ("last_event_id",))
        if self.board.readers >= MOST_READERS:
            raise ApiProblem(503, "too_many_readers", f"{MOST_READERS} event streams are open; close one")
        last_id = request.headers.get("last-event-id") or query.text("last_event_id") or None
        stream = EventStream(
            self.feed,
            last_id,
            head=self._head,
            snapshot=self._snapshot,
            beat=self._totals,
            farewell=self._goodbye / 2,
        )
        return _Counted(stream, self.board, self._left)

    def _snapshot(self) -> Iterator[tuple[str, Any]]:
        if self.run is not None:
            yield from self.run.snapshot()
        yield from self.board.snapshot()

    def _head(self) -> dict[str, Any]:
        columns = {
            f"{kind.value}s": [{"name": c.name, "severity": c.severity.value} for c in self.board.columns[kind]]
            for kind in UnitKind
        }
        return {
            "version": version("spanbar"),
            "mode": "run" if self.run is not None else "serve",
            "boot": self.feed.boot,
            "started_ms": round(self._started * 1000),
            "behaviors": columns,
            **self._totals(),
        }

    def _totals(self) -> dict[str, Any]:
        index = self.board.index
        return {
            "now_ms": round(time.time() * 1000),
            "units": len(self.board.entries),
            "items": index.items,
            "evicted": index.evicted,
        }

    async def _info(self, request: Request) -> Response:
        Query(request, ())
        return answer({**self._head(), "ready": self._unready() is None, "settings": self._about})

    async def _login(self, request: Request) -> Response:
        """Exchange the token for the cookie that the page's requests carry."""
        body = b""
        async for chunk in request.stream():
            body += chunk
            if len(body) > LOGIN_BODY:
                raise ApiProblem(413, "too_large", f"the body is larger than {LOGIN_BODY} bytes")
        try:
            given = orjson.loads(body)["token"]
        except (orjson.JSONDecodeError, TypeError, KeyError) as error:
            raise ApiProblem(400, "bad_body", 'expected a JSON object {"token": TEXT}') from error
        if self._access.cookie is None:
            return answer({"needed": False})
        if not isinstance(given, str) or not self._access.knows(given.encode()):
            raise ApiProblem(401, "wrong_token", "this is not the server's token")
        return self._with_cookie(answer({"needed": True}), request)

    async def _run(self, request: Request) -> Response:
        Query(request, ())
        run = self._following()
        tests = [test for name, data in run.snapshot() if name == "tests" for test in data["tests"]]
        return answer({**run.summary(), "all_tests": tests})

    async def _run_test(self, request: Request) -> Response:
        Query(request, ())
        wanted = request.path_params["key"]
        for key, test in self._following().tests.items():
            if key_text(key) == wanted:
                return answer(in_full(test))
        raise ApiProblem(404, "unknown_test", f"the run has no test {wanted!r}; a key is SPEC.SUITE.TEST")

    def _following(self) -> RunBoard:
        if self.run is None:
            raise ApiProblem(404, "no_run", "this server follows no run; `spanbar run --live` does")
        return self.run

    async def _health(self, request: Request) -> Response:
        return answer({"status": "ok"})

    async def _ready(self, request: Request) -> Response:
        why = self._unready()
        return answer({"status": "ready"}) if why is None else answer({"status": "not ready", "why": why}, 503)

    async def _metrics_text(self, request: Request) -> Response:
        return PlainTextResponse(render(self._metrics()), media_type=CONTENT_TYPE)

    async def _openapi(self, request: Request) -> Response:
        return Response(OPENAPI.read_bytes(), media_type="application/json")

    async def _page(self, request: Request) -> Response:
        token = request.query_params.get("token")
        if token is None:
            return _file(PAGE / "index.html")
        # The token leaves the address at once, so that it is in no bookmark and no screenshot.
        rest = [(name, value) for name, value in request.query_params.multi_items() if name != "token"]
        target = RedirectResponse("/" + (f"?{urlencode(rest)}" if rest else ""), 303)
        return self._with_cookie(target, request) if self._access.knows(token.encode()) else target

    async def _page_file(self, request: Request) -> Response:
        path = PAGE / request.path_params["file"]
        if path.parent != PAGE or path.suffix not in _MEDIA or not path.is_file():
            raise HTTPException(404)
        return _file(path)

    def _with_cookie(self, response: Response, request: Request) -> Response:
        secure = request.url.scheme == "https" or request.headers.get("x-forwarded-proto") == "https"
        response.set_cookie(COOKIE, self._access.cookie or "", httponly=True, samesite="strict", secure=secure)
        return response


class _Undecoded:
    """Routes by the path as it was sent, so that an encoded slash in a session's id stays inside it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            raw: bytes = scope.get("raw_path") or quote(scope["path"]).encode()
            scope = {**scope, "path": raw.partition(b"?")[0].decode("latin-1")}
        await self._app(scope, receive, send)


class _Counted:
    """Counts a reader for as long as its stream is open."""

    def __init__(self, stream: ASGIApp, board: Board, left: asyncio.Event) -> None:
        self._stream = stream
        self._board = board
        self._left = left

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._board.readers += 1
        try:
            await self._stream(scope, receive, send)
        finally:
            self._board.readers -= 1
            self._left.set()


def _file(path: Path) -> Response:
    headers = {"cache-control": "no-cache"}
    return FileResponse(path, media_type=_MEDIA[path.suffix], headers=headers)


async def _problem(request: Request, error: Exception) -> Response:
    assert isinstance(error, ApiProblem)
    return answer({"error": {"code": error.code, "message": error.message}}, error.status)


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    messages = {
        404: ("not_found", f"there is nothing at {request.url.path}"),
        405: ("not_allowed", f"{request.method} is not possible at {request.url.path}"),
    }
    code, message = messages.get(error.status_code, ("error", str(error.detail)))
    response = answer({"error": {"code": code, "message": message}}, error.status_code)
    response.headers.update(error.headers or {})
    return response
