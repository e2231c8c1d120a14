"""The OpenAPI document against the server: every route, every answer, every event."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from starlette.applications import Starlette
from starlette.routing import Route

from collector.index import Index, UnitKey, UnitKind
from collector.live.app import Live
from collector.live.query import ApiProblem
from tests.collector.live.runs import play
from tests.collector.live.samples import Served, add, event, listening, served, shell
from tests.waiting import until

DOCUMENT = json.loads((Path(__file__).parents[3] / "docs" / "openapi.json").read_text("utf-8"))
PAGE_FILES = {("GET", "/"), ("GET", "/page/{file}")}


def operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in DOCUMENT["paths"].items():
        for method, operation in methods.items():
            yield method.upper(), path, operation


def valid(schema: dict[str, Any], value: Any) -> None:
    Draft202012Validator({**schema, "components": DOCUMENT["components"]}).validate(value)


def test_the_document_and_every_schema_in_it_are_valid() -> None:
    assert DOCUMENT["openapi"] == "3.1.0"
    for schema in DOCUMENT["components"]["schemas"].values():
        Draft202012Validator.check_schema(schema)
    references = set(_references(DOCUMENT))
    assert references == {f"#/components/schemas/{name}" for name in DOCUMENT["components"]["schemas"]}


def test_the_server_has_exactly_the_routes_of_the_document() -> None:
    served_routes = {
        (method, route.path) for route in _routes(Live(Index())) for method in (route.methods or ()) - {"HEAD"}
    }
    assert served_routes - PAGE_FILES == {(method, path) for method, path, _ in operations()}


async def test_the_server_serves_the_document() -> None:
    async with served() as room:
        assert await room.get("/openapi.json") == DOCUMENT


@pytest.mark.parametrize(
    ("method", "path", "template", "status"),
    [
        ("GET", "/api/v1/info", "/api/v1/info", 200),
        ("GET", "/api/v1/info?x=1", "/api/v1/info", 400),
        ("POST", "/api/v1/login", "/api/v1/login", 200),
        ("GET", "/api/v1/sessions?limit=1", "/api/v1/{kind}", 200),
        ("GET", "/api/v1/jobs", "/api/v1/{kind}", 200),
        ("GET", "/api/v1/sessions?limit=0", "/api/v1/{kind}", 400),
        ("GET", "/api/v1/nothing", "/api/v1/{kind}", 404),
        ("GET", "/api/v1/sessions/s", "/api/v1/{kind}/{id}", 200),
        ("GET", "/api/v1/jobs/j", "/api/v1/{kind}/{id}", 200),
        ("GET", "/api/v1/sessions/none", "/api/v1/{kind}/{id}", 404),
        ("GET", "/api/v1/sessions/s/items", "/api/v1/{kind}/{id}/items", 200),
        ("GET", "/api/v1/sessions/s/items?kind=x", "/api/v1/{kind}/{id}/items", 400),
        ("GET", "/api/v1/sessions/s/items/ITEM", "/api/v1/{kind}/{id}/items/{item}", 200),
        ("GET", "/api/v1/sessions/s/items/none", "/api/v1/{kind}/{id}/items/{item}", 404),
        ("GET", "/api/v1/sessions/s/verdict", "/api/v1/{kind}/{id}/verdict", 200),
        ("GET", "/api/v1/sessions/open/verdict", "/api/v1/{kind}/{id}/verdict", 202),
        ("GET", "/api/v1/sessions/none/verdict", "/api/v1/{kind}/{id}/verdict", 404),
        ("POST", "/api/v1/sessions/s/end", "/api/v1/{kind}/{id}/end", 200),
        ("POST", "/api/v1/sessions/none/end", "/api/v1/{kind}/{id}/end", 404),
        ("GET", "/api/v1/results", "/api/v1/results", 200),
        ("GET", "/api/v1/results?final=maybe", "/api/v1/results", 400),
        ("GET", "/api/v1/run", "/api/v1/run", 200),
        ("GET", "/api/v1/run/tests/0.0.0", "/api/v1/run/tests/{key}", 200),
        ("GET", "/api/v1/run/tests/0.0.1", "/api/v1/run/tests/{key}", 200),
        ("GET", "/api/v1/run/tests/9.9.9", "/api/v1/run/tests/{key}", 404),
        ("GET", "/healthz", "/healthz", 200),
        ("GET", "/readyz", "/readyz", 200),
    ],
)
async def test_answers_are_as_documented(method: str, path: str, template: str, status: int) -> None:
    async with served(run=True) as room:
        await _fill(room)
        (line, *_) = (await room.get("/api/v1/sessions/s/items"))["items"]
        body = {"token": "x"} if path.endswith("login") else None
        response = await room.client.request(method, path.replace("ITEM", line["id"]), json=body)
        assert response.status_code == status, response.text
        documented = DOCUMENT["paths"][template][method.lower()]["responses"][str(status)]
        valid(documented["content"]["application/json"]["schema"], response.json())


async def test_refusals_for_want_of_a_token_are_as_documented() -> None:
    async with served(token="t") as room:
        for method, path, operation in operations():
            if "401" not in operation["responses"] or path == "/api/v1/login":
                continue
            concrete = (
                path.replace("{kind}", "sessions")
                .replace("{id}", "s")
                .replace("{item}", "i")
                .replace("{key}", "0.0.0")
            )
            response = await room.client.request(method, concrete)
            assert response.status_code == 401, path
            valid(operation["responses"]["401"]["content"]["application/json"]["schema"], response.json())


async def test_a_server_that_is_not_ready_says_so_as_documented() -> None:
    async with served(unready=lambda: "it is starting") as room:
        response = await room.get("/readyz", 503)
        valid(
            DOCUMENT["paths"]["/readyz"]["get"]["responses"]["503"]["content"]["application/json"]["schema"], response
        )


async def test_events_are_as_documented() -> None:
    schemas = DOCUMENT["paths"]["/api/v1/events"]["get"]["x-events"]
    async with served(run=True) as room, listening(room.client) as stream:
        seen = await stream.until("synced")
        await _fill(room)
        room.index.apply([_taken_back(room)])
        room.live.board.publish_gathered()
        _, rest = await asyncio.gather(room.live.stop(), stream.until("bye"))
        seen += rest
    assert {sent.name for sent in seen} == set(schemas) - {"beat"}
    for sent in seen:
        valid(schemas[sent.name], sent.data)
    valid(schemas["beat"], room.live._totals())


def test_every_problem_has_a_code_and_a_message() -> None:
    problem = ApiProblem(400, "bad_parameter", "limit: found 'x'")
    assert (problem.status, problem.code, str(problem)) == (400, "bad_parameter", "limit: found 'x'")


async def _fill(room: Served) -> None:
    add(room.index, event("test.run", "open"), event("only", "gone"))
    add(room.index, shell("git push --force", seq=1, turn=2, job="j"), event("test.run", seq=2, paths=("a", "b")))
    room.index.close(UnitKey(UnitKind.SESSION, "s"))
    assert room.live.run is not None
    play(room.live.run)
    await until(lambda: room.live.board.entries)


def _taken_back(room: Served) -> Any:
    from evaluator.items import Change

    (item,) = room.index.units[UnitKey(UnitKind.SESSION, "gone")].own.values()
    return Change(item, None)


def _routes(live: Live) -> list[Route]:
    app: Any = live.app
    while not isinstance(app, Starlette):
        app = app._app
    return [route for route in app.routes if isinstance(route, Route)]


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        for entry in value.values():
            yield from _references(entry)
    elif isinstance(value, list):
        for entry in value:
            yield from _references(entry)
