"""Requests beside OTLP are the application's."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from tests.collector.receiver.receiving import TRACES, running


async def test_another_path_is_not_found_and_says_where_otlp_goes() -> None:
    async with running() as run:
        response = await run.post("/", b"")

    assert response.status_code == 404
    assert "/v1/traces" in response.text


async def test_other_paths_are_the_applications() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            raise RuntimeError("no lifespan here")
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": scope["path"].encode()})

    async with running(app=app) as run:
        assert (await run.client.get("/page")).text == "/page"
        assert (await run.post("/v1/traces", TRACES.SerializeToString())).status_code == 200
    assert run.names == ["one", "two"]


async def test_the_application_has_its_lifespan() -> None:
    from starlette.applications import Starlette

    seen: list[str] = []

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        seen.append("started")
        yield
        seen.append("stopped")

    async with running(app=Starlette(lifespan=lifespan)):
        assert seen == ["started"]
    assert seen == ["started", "stopped"]
