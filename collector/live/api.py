"""The part of the API that reads and ends units: sessions and jobs alike. docs/openapi.json is its contract."""

import asyncio
import time
from typing import Any, Final
from urllib.parse import unquote

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from collector.index import UnitKey, UnitKind
from collector.live import views
from collector.live.board import Board, Entry
from collector.live.encoding import encode
from collector.live.query import ApiProblem, Query
from collector.live.timeline import Filter, Timelines
from evaluator.items import ItemKind
from evaluator.verdict import Result

MOST_UNITS: Final = 500
MOST_ITEMS: Final = 1_000
LONGEST_WAIT: Final = 600.0
EVIDENCE_IN_FULL: Final = 1_000


def answer(data: Any, status: int = 200) -> Response:
    return Response(encode(data), status, {"cache-control": "no-store"}, "application/json")


class UnitApi:
    """Routes below `/api/v1/sessions` and `/api/v1/jobs`, and `/api/v1/results`."""

    def __init__(self, board: Board) -> None:
        self._board = board
        self._timelines = Timelines(board)

    def routes(self) -> list[Route]:
        one = "/api/v1/{kind}/{id}"
        return [
            Route("/api/v1/results", self.results),
            Route("/api/v1/{kind}", self.units),
            Route(one, self.unit),
            Route(f"{one}/items", self.items),
            Route(f"{one}/items/{{item}}", self.item),
            Route(f"{one}/verdict", self.verdict),
            Route(f"{one}/end", self.end, methods=["POST"]),
        ]

    async def units(self, request: Request) -> Response:
        kind = _kind(request)
        query = Query(request, ("before", "limit", "result", "behavior", "state", "q"))
        limit = query.number("limit", 100, least=1, most=MOST_UNITS)
        state = query.choice("state", ("open", "closed"))
        result = query.choice("result", tuple(Result))
        behavior = query.text("behavior")
        needle = query.text("q").casefold()
        position = self._position(kind, behavior) if behavior else None
        page: list[views.View] = []
        following: int | None = None
        for entry in self._board.newest_first(kind, before=query.number("before", None)):
            if state and entry.unit.closed is not (state == "closed"):
                continue
            if needle and needle not in entry.unit.key.id.casefold():
                continue
            if result and not self._has(entry, result, position):
                continue
            if len(page) == limit:
                following = page[-1]["number"]
                break
            page.append(self._board.summary(entry))
        return answer({"units": page, "next": following})

    async def results(self, request: Request) -> Response:
        query = Query(request, ("before", "limit", "result", "behavior", "final", "kind"))
        limit = query.number("limit", 100, least=1, most=MOST_UNITS) or 100
        kind = UnitKind(query.choice("kind", tuple(UnitKind)) or UnitKind.SESSION)
        result = query.choice("result", tuple(Result))
        final = query.choice("final", ("true", "false"))
        behavior = query.text("behavior")
        position = self._position(kind, behavior) if behavior else None
        page: list[views.View] = []
        following = previous = None
        for entry in self._board.newest_first(kind, before=query.number("before", None)):
            if len(page) >= limit:
                following = previous
                break
            previous = entry.number
            if result and not self._has(entry, result, position):
                continue
            for place, outcome in enumerate(entry.unit.results):
                if (
                    (position is None or place == position)
                    and (not result or outcome.verdict.result == result)
                    and (not final or outcome.verdict.final is (final == "true"))
                ):
                    page.append({"unit": views.unit_ref(entry.unit), **views.result(outcome)})
        return answer({"results": page, "next": following})

    async def unit(self, request: Request) -> Response:
        Query(request, ())
        entry = self._entry(request)
        results = [views.result(outcome, shown=EVIDENCE_IN_FULL) for outcome in entry.unit.results]
        return answer({**self._board.summary(entry), "results": results})

    async def items(self, request: Request) -> Response:
        query = Query(request, ("from", "limit", "q", "kind", "behavior"))
        entry = self._entry(request)
        start = query.number("from", 0) or 0
        limit = query.number("limit", 100, least=1, most=MOST_ITEMS) or 100
        wanted = Filter(
            query.text("q").casefold(), query.choice("kind", tuple(ItemKind)), behavior=query.text("behavior")
        )
        selected = await self._timelines.select(entry, wanted)
        marks = views.marks(entry.unit.results)
        window = [
            views.item(selected.items[position], position, marks.get(selected.items[position].id, ()))
            for position in selected.positions[start : start + limit]
        ]
        return answer(
            {
                "unit": views.unit_ref(entry.unit),
                "version": entry.version,
                "total": len(selected.positions),
                "from": start,
                "items": window,
            }
        )

    async def item(self, request: Request) -> Response:
        Query(request, ())
        entry = self._entry(request)
        wanted = unquote(request.path_params["item"])
        marks = views.marks(entry.unit.results)
        for position, item in enumerate(self._timelines.items(entry)):
            if views.item_id(item) == wanted:
                return answer(views.item_in_full(item, position, marks.get(item.id, ())))
        raise ApiProblem(404, "unknown_item", f"{_name(request)} has no item {wanted!r}")

    async def verdict(self, request: Request) -> Response:
        """200 with the final verdict as soon as there is one, 202 with the provisional one when the wait is over."""
        query = Query(request, ("wait", "behavior"))
        key = _key(request)
        behaviors = query.texts("behavior") or None
        for behavior in behaviors or ():
            self._position(key.kind, behavior)
        deadline = time.monotonic() + query.seconds("wait", 0.0, most=LONGEST_WAIT)
        while True:
            entry = self._board.entry(key)
            if entry is not None:
                verdict = self._board.verdict(entry, behaviors)
                if verdict["final"]:
                    return answer(self._verdict(entry, verdict, behaviors))
            left = deadline - time.monotonic()
            if left <= 0:
                break
            await self._board.changed(key, within=left)
        if entry is None:
            raise ApiProblem(404, "unknown_unit", f"{_name(request)}: nothing has arrived, or it was evicted")
        return answer(self._verdict(entry, verdict, behaviors), 202)

    async def end(self, request: Request) -> Response:
        """Close a unit: nothing more is expected of it."""
        Query(request, ())
        entry = self._entry(request)
        self._board.index.close(entry.unit.key)
        await asyncio.sleep(0)
        return answer(self._verdict(entry, self._board.verdict(entry), None))

    def _verdict(self, entry: Entry, verdict: views.View, behaviors: frozenset[str] | None) -> views.View:
        results = [views.result(r) for r in entry.unit.results if behaviors is None or r.behavior in behaviors]
        state = "closed" if entry.unit.closed else "open"
        return {"unit": views.unit_ref(entry.unit), "state": state, **verdict, "results": results}

    def _entry(self, request: Request) -> Entry:
        entry = self._board.entry(_key(request))
        if entry is None:
            raise ApiProblem(404, "unknown_unit", f"{_name(request)}: nothing has arrived, or it was evicted")
        return entry

    def _position(self, kind: UnitKind, behavior: str) -> int:
        names = [column.name for column in self._board.columns[kind]]
        if behavior not in names:
            expected = ", ".join(names) or "none is loaded"
            raise ApiProblem(400, "bad_parameter", f"behavior: found {behavior!r}, expected one of: {expected}")
        return names.index(behavior)

    def _has(self, entry: Entry, result: str, position: int | None) -> bool:
        cells = entry.cells.lower()
        wanted = views.LETTERS[Result(result)]
        return wanted in cells if position is None else cells[position] == wanted


def _kind(request: Request) -> UnitKind:
    kinds = {"sessions": UnitKind.SESSION, "jobs": UnitKind.JOB}
    kind = kinds.get(request.path_params["kind"])
    if kind is None:
        raise ApiProblem(404, "not_found", f"there is nothing at {request.url.path}")
    return kind


def _key(request: Request) -> UnitKey:
    return UnitKey(_kind(request), unquote(request.path_params["id"]))


def _name(request: Request) -> str:
    key = _key(request)
    return f"{key.kind.value} {key.id!r}"
