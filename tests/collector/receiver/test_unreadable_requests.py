"""Requests that cannot be read to their end: each is told as a loss, and none is taken in part."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from collector.receiver.connection import HEAD_LIMIT
from tests.collector.receiver.connecting import BODY, PAGE, Client, connected, page, post
from tests.waiting import until

LENGTH = f"content-length: {len(BODY)}"
CHUNKED = "transfer-encoding: chunked"
CHUNKS = b"%x\r\n%s\r\n0\r\n" % (len(BODY), BODY)


def head(*headers: str, target: str = "/v1/traces", method: str = "POST") -> bytes:
    lines = (
        f"{method} {target} HTTP/1.1",
        "host: localhost",
        "content-type: application/x-protobuf",
        *headers,
        "",
        "",
    )
    return "\r\n".join(lines).encode()


def long(count: int) -> list[str]:
    return [f"baggage-{number}: {'x' * 1000}" for number in range(count)]


@asynccontextmanager
async def losing(first: bytes = b"", **options: Any) -> AsyncIterator[tuple[Client, list[str]]]:
    """A connection, and the causes of the losses. `first`: a request that is answered before."""
    losses: list[str] = []
    async with connected(on_loss=lambda cause, batch: losses.append(cause), **options) as client:
        if first:
            await client.send(first)
            assert (await client.answer())[0] == 200
        yield client, losses


ON = {
    "alone": {},
    "beside an application": {"app": page},
    "after a page": {"app": page, "first": PAGE},
    "after an export": {"first": post()},
}
UNREADABLE = {
    "two lengths": head(LENGTH, LENGTH) + BODY,
    "a length and chunks": head(LENGTH, CHUNKED) + CHUNKS,
    "a negative length": head("content-length: -1") + BODY,
    "an immense length": head(f"content-length: {'9' * 5000}") + BODY,
    "lines that end in LF": (head(LENGTH)).replace(b"\r\n", b"\n") + BODY,
}


@pytest.mark.parametrize("options", ON.values(), ids=ON)
@pytest.mark.parametrize("request_", UNREADABLE.values(), ids=UNREADABLE)
async def test_an_export_whose_head_cannot_be_read_is_a_loss(request_: bytes, options: dict[str, Any]) -> None:
    async with losing(**options) as (client, losses):
        taken = list(client.names)
        await client.send(request_)
        assert (await client.answer())[0] == 400
        assert await client.closed()
    assert len(losses) == client.receiver.counters.refused == 1
    assert "head of a request cannot be read" in losses[0]
    assert client.names == taken


@pytest.mark.parametrize("options", ON.values(), ids=ON)
@pytest.mark.parametrize("pieces", [1, 3])
async def test_an_export_with_a_head_that_is_too_long_is_a_loss(pieces: int, options: dict[str, Any]) -> None:
    whole = head(*long(HEAD_LIMIT // 1000 + 1), LENGTH)
    size = len(whole) // pieces + 1
    async with losing(**options) as (client, losses):
        for at in range(0, len(whole), size):
            await client.send(whole[at : at + size])
        assert (await client.answer())[0] == 431
    assert len(losses) == 1
    assert f"more than {HEAD_LIMIT} bytes" in losses[0]


@pytest.mark.parametrize("options", ON.values(), ids=ON)
@pytest.mark.parametrize(
    "request_", [head(LENGTH) + BODY[:-3], head(CHUNKED) + CHUNKS[:-9]], ids=["sized", "chunked"]
)
async def test_an_export_that_its_client_leaves_unfinished_is_a_loss(
    request_: bytes, options: dict[str, Any]
) -> None:
    async with losing(**options) as (client, losses):
        begun = client.receiver.counters.requests
        await client.send(request_)
        await until(lambda: client.receiver.counters.requests > begun)
        client.writer.close()
        await until(lambda: losses)
    assert len(losses) == client.receiver.counters.losses == 1
    assert "the connection ended within the body" in losses[0]


NO_LOSS = {
    "metrics": head(LENGTH, LENGTH, target="/v1/metrics"),
    "another path": head(LENGTH, LENGTH, target="/v1/nothing"),
    "another method": head(LENGTH, LENGTH, method="PUT"),
    "another site's page": head("host: evil.example", LENGTH, LENGTH),
    "no HTTP": b"\x16\x03\x01 this is no HTTP\r\n\r\n",
}


@pytest.mark.parametrize("app", [None, page], ids=["alone", "beside an application"])
@pytest.mark.parametrize("request_", NO_LOSS.values(), ids=NO_LOSS)
async def test_what_is_no_export_that_is_let_in_loses_nothing(request_: bytes, app: Any) -> None:
    async with losing(first=post(), app=app) as (client, losses):
        await client.send(request_)
        assert (await client.answer())[0] == 400
    assert losses == []


@pytest.mark.parametrize(("token", "lost"), [("t0ken", 1), ("wrong", 0)])
async def test_with_a_token_only_who_has_it_loses_something(token: str, lost: int) -> None:
    async with losing(token="t0ken") as (client, losses):
        await client.send(head(f"authorization: Bearer {token}", LENGTH, LENGTH))
        assert (await client.answer())[0] == 400
    assert (len(losses), client.receiver.counters.refused) == (lost, 1)


@pytest.mark.parametrize("first", [b"", PAGE], ids=["at once", "after a page"])
async def test_trailers_are_no_headers(first: bytes) -> None:
    async with losing(first, app=page) as (client, losses):
        await client.send(head(CHUNKED) + CHUNKS + b"content-encoding: gzip\r\n\r\n")
        assert (await client.answer())[0] == 200
    assert (client.names, losses) == (["one"], [])


ENDLESS = {
    "trailers": "\r\n".join(long(100)).encode(),
    "one trailer": b"endless: " + b"x" * 300_000,
}


@pytest.mark.parametrize("first", [b"", PAGE], ids=["at once", "after a page"])
@pytest.mark.parametrize("trailers", ENDLESS.values(), ids=ENDLESS)
async def test_trailers_without_end_are_a_loss_and_end_the_connection(trailers: bytes, first: bytes) -> None:
    async with losing(first, app=page) as (client, losses):
        begun = client.receiver.counters.requests
        await client.send(head(CHUNKED) + CHUNKS)
        await until(lambda: client.receiver.counters.requests > begun)
        await client.send(trailers)
        await until(lambda: losses)
    assert (client.names, len(losses)) == ([], 1)


async def test_extensions_of_a_chunk_without_end_are_a_loss() -> None:
    async with losing() as (client, losses):
        await client.send(head(CHUNKED) + b"1;" + b"x" * 300_000)
        await until(lambda: losses)
    assert len(losses) == 1


async def test_an_offer_of_another_protocol_after_a_page_is_a_loss_and_no_success() -> None:
    async with losing(PAGE, app=page) as (client, losses):
        await client.send(post(BODY, "connection: Upgrade", "upgrade: h2c"))
        assert (await client.answer())[0] == 400
    assert (client.names, len(losses)) == ([], 1)


TOO_LARGE = b"x" * 20_000_000
"""More than the buffers of a connection hold."""


@pytest.mark.parametrize(
    "request_",
    [
        head(f"content-length: {len(TOO_LARGE)}") + TOO_LARGE,
        head(CHUNKED) + b"%x\r\n%s\r\n0\r\n\r\n" % (len(TOO_LARGE), TOO_LARGE),
        head(LENGTH, LENGTH) + TOO_LARGE,
    ],
    ids=["sized", "chunked", "with a head that cannot be read"],
)
async def test_a_client_that_sends_all_before_it_reads_gets_the_refusal(
    request_: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("collector.receiver.http.LIMIT", 1_000_000)
    async with losing() as (client, losses):
        await client.send(request_)
        assert (await client.answer())[0] in (413, 400)
        assert await client.closed()
        client.writer.close()
        await until(lambda: not client.receiver._http._connections.open)
    assert len(losses) == 1


async def test_what_comes_behind_a_refusal_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("collector.receiver.connection.LINGER_BYTES", 1_000_000)
    async with losing() as (client, _):
        with pytest.raises(ConnectionError):
            await client.send(head(LENGTH, LENGTH), TOO_LARGE, TOO_LARGE)
        await until(lambda: not client.receiver._http._connections.open)


async def test_a_client_that_goes_on_for_long_behind_a_refusal_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("collector.receiver.connection.LINGER", 0.05)
    async with losing() as (client, _):
        await client.send(head(LENGTH, LENGTH))
        assert (await client.answer())[0] == 400
        await until(lambda: not client.receiver._http._connections.open)
