"""Connections to the HTTP port, byte for byte: what HTTP/1.1 allows and what it does not, and whose one is."""

from typing import Any

import pytest

from collector.receiver.connection import HEAD_LIMIT
from tests.collector.receiver.connecting import BODY, PAGE, connected, page, post


async def test_a_connection_serves_one_request_after_another() -> None:
    async with connected() as client:
        for _ in range(3):
            await client.send(post())
            assert (await client.answer())[0] == 200
    assert client.names == ["one"] * 3


async def test_requests_that_come_in_one_piece_are_answered_in_their_order() -> None:
    async with connected() as client:
        await client.send(post() + post(b"garbage") + post())
        assert [(await client.answer())[0] for _ in range(3)] == [200, 400, 200]
    assert client.names == ["one", "one"]


@pytest.mark.parametrize("app", [None, page], ids=["alone", "beside an application"])
async def test_a_request_may_come_byte_by_byte(app: Any) -> None:
    async with connected(app=app) as client:
        whole = post()
        await client.send(*(whole[at : at + 1] for at in range(len(whole))))
        assert (await client.answer())[0] == 200
    assert client.names == ["one"]


@pytest.mark.parametrize(
    "target", ["/v1/traces?a=b", "http://localhost/v1/traces"], ids=["a query", "the absolute form of proxies"]
)
async def test_a_target_may_have(target: str) -> None:
    async with connected(app=page) as client:
        await client.send(post(target=target))
        assert (await client.answer())[0] == 200
    assert client.names == ["one"]


async def test_a_client_that_waits_for_continue_gets_it_and_is_served() -> None:
    async with connected() as client:
        head, body = post(BODY, "expect: 100-continue").split(b"\r\n\r\n", 1)
        await client.send(head + b"\r\n\r\n")
        assert (await client.answer())[0] == 100
        await client.send(body)
        assert (await client.answer())[0] == 200
    assert client.names == ["one"]


async def test_a_client_that_waits_for_continue_is_not_asked_for_what_is_refused() -> None:
    async with connected(token="t0ken") as client:
        head, _ = post(BODY, "expect: 100-continue").split(b"\r\n\r\n", 1)
        await client.send(head + b"\r\n\r\n")
        assert (await client.answer())[0] == 401


async def test_a_tunnel_is_refused() -> None:
    async with connected() as client:
        await client.send(b"CONNECT localhost:80 HTTP/1.1\r\nhost: localhost\r\n\r\n" + post())
        assert (await client.answer())[0] == 400
        assert await client.closed()
    assert client.names == []


async def test_the_offer_of_http2_by_upgrade_is_passed_over() -> None:
    """The HTTP client of the JDK makes it with its first request; the body is that of HTTP/1.1 all the same."""
    async with connected() as client:
        offer = ("connection: Upgrade, HTTP2-Settings", "upgrade: h2c", "http2-settings: AAEAAEAA")
        await client.send(post(BODY, *offer) + post())
        assert [(await client.answer())[0] for _ in range(2)] == [200, 200]
    assert client.names == ["one", "one"]


@pytest.mark.parametrize(
    "request_", [post(BODY, "connection: close"), post(version="1.0")], ids=["asked to", "HTTP/1.0"]
)
async def test_the_connection_is_closed_after_the_answer(request_: bytes) -> None:
    async with connected() as client:
        await client.send(request_)
        status, headers, _ = await client.answer()
        assert (status, headers["connection"]) == (200, "close")
        assert await client.closed()
    assert client.names == ["one"]


async def test_an_answer_to_head_has_no_body() -> None:
    async with connected() as client:
        await client.send(b"HEAD /v1/traces HTTP/1.1\r\nhost: localhost\r\n\r\n")
        head = await client.reader.readuntil(b"\r\n\r\n")
        await client.send(post())
        assert (await client.answer())[0] == 200
    assert head.startswith(b"HTTP/1.1 405")


async def test_what_is_refused_by_its_head_leaves_the_connection_in_order() -> None:
    async with connected() as client:
        await client.send(post(b"x" * 5_000, target="/v2/traces"), post(b"y" * 5_000, target="/v1/logs")[:300])
        assert (await client.answer())[0] == 404
        await client.send(post(b"y" * 5_000, target="/v1/logs")[300:])
        assert (await client.answer())[0] == 400
        await client.send(post())
        assert (await client.answer())[0] == 200
    assert client.names == ["one"]


@pytest.mark.parametrize("app", [None, page], ids=["alone", "beside an application"])
async def test_what_is_no_http_is_refused_and_the_connection_closed(app: Any) -> None:
    async with connected(app=app) as client:
        await client.send(b"\x16\x03\x01 this is no HTTP\r\n\r\n")
        assert (await client.answer())[0] == 400
        assert await client.closed()


async def test_a_head_without_end_is_refused() -> None:
    async with connected() as client:
        await client.send(b"POST /v1/traces HTTP/1.1\r\nendless: " + b"x" * HEAD_LIMIT)
        assert (await client.answer())[0] == 431
        assert await client.closed()


async def test_a_body_that_cannot_be_read_to_its_end_is_a_loss_and_is_told() -> None:
    losses: list[str] = []
    async with connected(on_loss=lambda cause, batch: losses.append(cause)) as client:
        head = b"POST /v1/traces HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/x-protobuf\r\n"
        await client.send(head + b"transfer-encoding: chunked\r\n\r\nno number\r\n")
        assert (await client.answer())[0] == 400
        assert await client.closed()
    assert client.names == []
    assert "cannot be read to its end" in losses[0]


async def test_a_connection_of_otlp_becomes_the_applications_when_a_page_is_asked_for() -> None:
    async with connected(app=page) as client:
        await client.send(post())
        assert (await client.answer())[0] == 200
        await client.send(PAGE)
        assert await client.answer() == (200, {"content-length": "5"}, b"/page")
        await client.send(post())
        assert (await client.answer())[0] == 200
        await client.send(post(b"garbage"), PAGE)
        assert [(await client.answer())[0] for _ in range(2)] == [400, 200]
    assert client.names == ["one", "one"]


async def test_a_page_that_is_asked_for_behind_an_export_in_one_piece_has_to_be_asked_for_again() -> None:
    async with connected(app=page) as client:
        await client.send(post() + PAGE)
        assert (await client.answer())[0] == 200
        assert await client.closed()
    assert client.names == ["one"]
