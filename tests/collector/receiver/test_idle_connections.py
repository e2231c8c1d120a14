"""Connections on which nothing comes: they are closed, whatever has begun on them, and what that loses is told."""

import asyncio
from typing import Any

import pytest

from collector.receiver.connections import SPARE
from collector.receiver.one_port import PREFACE
from tests.collector.receiver.connecting import BODY, PAGE, Client, connected, page, post
from tests.waiting import until

HEAD = post()[: -len(BODY)]
UNFINISHED = {
    "nothing": (b"", 0),
    "a part of the preface of HTTP/2": (PREFACE[:8], 0),
    "the preface of HTTP/2": (PREFACE, 0),
    "half a request line": (b"POST /v1", 0),
    "half a head": (HEAD[:-2], 0),
    "a head": (HEAD, 1),
    "half a body": (post()[:-1], 1),
    "half the head of a page": (PAGE[:-2], 0),
}


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("collector.receiver.http_server.KEEP_ALIVE", 0.05)
    monkeypatch.setattr("collector.receiver.grpc.IDLE", 0.05)


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("first", [b"", post(), PAGE], ids=["at once", "after an export", "after a page"])
@pytest.mark.parametrize(("start", "lost"), UNFINISHED.values(), ids=UNFINISHED)
async def test_what_is_not_finished_is_closed(start: bytes, lost: int, first: bytes) -> None:
    losses: list[str] = []
    async with connected(app=page, on_loss=lambda cause, batch: losses.append(cause)) as client:
        if first:
            await client.send(first)
            assert (await client.answer())[0] == 200
        await client.send(start)
        async with asyncio.timeout(30):
            while await client.reader.read(1000):
                pass
        await until(lambda: len(losses) == lost)
        await until(lambda: not client.receiver._http._connections.open)


async def test_a_connection_on_which_something_comes_stays() -> None:
    async with connected() as client:
        connections = client.receiver._http._connections
        for byte in post()[:20]:
            await client.send(bytes([byte]))
            await until(lambda: [connection._quiet for connection in connections.open] == [0])  # type: ignore[attr-defined]
            connections.end_idle()
        await client.send(post()[20:])
        assert (await client.answer())[0] == 200
    assert client.names == ["one"]


async def test_an_answer_that_takes_long_is_waited_for() -> None:
    asked, goes_on = asyncio.Event(), asyncio.Event()

    async def slow(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            asked.set()
            await goes_on.wait()
        await page(scope, receive, send)

    async with connected(app=slow) as client:
        await client.send(PAGE)
        await asked.wait()
        for _ in range(10):
            client.receiver._http._connections.end_idle()
        goes_on.set()
        assert (await client.answer())[0] == 200


async def test_bodies_that_are_not_whole_are_bounded_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("collector.receiver.intake.HELD_LIMIT", len(BODY) + 5)
    losses: list[str] = []
    async with connected(app=page, on_loss=lambda cause, batch: losses.append(cause)) as client:
        await client.send(post()[:-1])
        await until(lambda: client.receiver._intake._held == len(BODY) - 1)
        other = Client(client.receiver, client.names)
        for first in (b"", PAGE):
            await other.connect()
            if first:
                await other.send(first)
                assert (await other.answer())[0] == 200
            await other.send(post())
            status, headers, _ = await other.answer()
            assert (status, headers["retry-after"]) == (503, "1")
        await client.send(post()[-1:])
        assert (await client.answer())[0] == 200
        await other.send(post())
        assert (await other.answer())[0] == 200
        other.writer.close()
        assert client.receiver._intake._held == 0
    assert (client.names, losses) == (["one", "one"], [])


async def test_it_is_logged_once_before_descriptors_run_out(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("collector.receiver.connections._descriptors", lambda: SPARE)
    async with connected() as client:
        for _ in range(3):
            await client.send(post())
            assert (await client.answer())[0] == 200
            client.writer.close()
            await client.connect()
    assert caplog.text.count("Raise the limit of open files") == 1
