"""OTLP that comes to a path that takes none: it is counted, and answered with where to send it."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import pytest

from tests.collector.receiver.otlp_building import to_json
from tests.collector.receiver.receiving import JSON, LINES, PROTOBUF, TRACES, running, status_of

NOT_FOUND = 5
BODY = {PROTOBUF: TRACES.SerializeToString(), JSON: to_json(TRACES), LINES: b"{}\n"}
WRONG = ["/", "/traces", "/v1/trace", "/v1/traces/", "/v1/traces/v1/traces", "/otlp/v1/traces?key=secret"]


async def application(
    scope: MutableMapping[str, Any],
    receive: Callable[[], Awaitable[Any]],
    send: Callable[[MutableMapping[str, Any]], Awaitable[None]],
) -> None:
    if scope["type"] == "http":
        await send({"type": "http.response.start", "status": 202, "headers": [(b"content-type", b"text/plain")]})
        await send({"type": "http.response.body", "body": b"the application"})


@pytest.mark.parametrize("app", [None, application], ids=["alone", "beside an application"])
@pytest.mark.parametrize("content_type", [PROTOBUF, JSON, LINES])
@pytest.mark.parametrize("path", WRONG)
async def test_it_is_answered_in_its_encoding_with_where_to_send_it(path: str, content_type: str, app: Any) -> None:
    told: list[str] = []
    async with running(app=app, on_misdirected=told.append) as run:
        response = await run.post(path, BODY[content_type], content_type)
        counters = run.receiver.counters

    code, message = status_of(response)
    shown = f"POST {path.partition('?')[0]}"
    assert (response.status_code, code) == (404, NOT_FOUND)
    assert f"a request came to {shown}: OTLP/HTTP is at /v1/traces" in message
    assert (counters.misdirected, counters.misdirected_to, told) == (1, shown, [shown])
    assert (counters.requests, run.batches) == (0, [])


NO_TELEMETRY = {
    "a GET": ("GET", "/", PROTOBUF),
    "a form": ("POST", "/", "application/x-www-form-urlencoded"),
    "no content type": ("POST", "/", ""),
    "JSON for the API": ("POST", "/api/v1/login", JSON),
}


@pytest.mark.parametrize("app", [None, application], ids=["alone", "beside an application"])
@pytest.mark.parametrize(("method", "path", "content_type"), NO_TELEMETRY.values(), ids=NO_TELEMETRY)
async def test_what_is_no_telemetry_is_none_that_went_astray(
    method: str, path: str, content_type: str, app: Any
) -> None:
    async with running(app=app) as run:
        response = await run.client.request(method, path, headers={"content-type": content_type}, content=b"{}")
    assert response.status_code == (404 if app is None else 202)
    assert run.receiver.counters.misdirected == 0


async def test_a_page_of_another_site_is_not_heard() -> None:
    async with running() as run:
        response = await run.post("/", b"{}", JSON, origin="https://elsewhere.example")
    assert response.status_code == 404
    assert run.receiver.counters.misdirected == 0


async def test_a_path_is_shown_short_and_printable() -> None:
    async with running() as run:
        await run.post("/" + "long/" * 100, BODY[PROTOBUF])
    assert len(run.receiver.counters.misdirected_to) < 100


async def test_the_connection_goes_on_with_the_right_path() -> None:
    async with running() as run:
        assert (await run.post("/", BODY[PROTOBUF])).status_code == 404
        assert (await run.post("/v1/traces", BODY[PROTOBUF])).status_code == 200
    assert run.names == ["one", "two"]
