"""The HTTP client reads whole answers, and says what is wrong with any other."""

import asyncio
import gzip
import zlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from evaluator.harness.http import HttpError, HttpResponse, TooLarge, request

HEAD = b"HTTP/1.1 200 OK\r\n"


@asynccontextmanager
async def server(answer: bytes, received: list[bytes] | None = None) -> AsyncIterator[str]:
    """A server that reads one request, writes the answer as it is, and closes."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = next((int(line[15:]) for line in head.split(b"\r\n") if line.startswith(b"Content-Length:")), 0)
        body = await reader.readexactly(length)
        if received is not None:
            received.append(head + body)
        writer.write(answer)
        writer.close()

    serving = await asyncio.start_server(handle, "127.0.0.1", 0)
    async with serving:
        yield f"http://127.0.0.1:{serving.sockets[0].getsockname()[1]}/path?a=b c"


async def get(answer: bytes, largest: int = 1000) -> HttpResponse:
    async with server(answer) as url:
        return await request("POST", url, (), b"hello", largest=largest)


def with_length(body: bytes, *headers: bytes) -> bytes:
    return HEAD + b"".join(header + b"\r\n" for header in headers) + b"Content-Length: %d\r\n\r\n" % len(body) + body


@pytest.mark.parametrize(
    "answer",
    [
        with_length(b"hello"),
        HEAD + b"\r\nhello",
        HEAD + b"Connection: close\r\n\r\nhello",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\n" + with_length(b"hello"),
        with_length(gzip.compress(b"hello", mtime=0), b"Content-Encoding: gzip"),
        with_length(zlib.compress(b"hello"), b"Content-Encoding: deflate"),
        with_length(zlib.compress(b"hello")[2:-4], b"Content-Encoding: deflate"),
    ],
)
async def test_a_body_is_read_however_it_is_sent(answer: bytes) -> None:
    response = await get(answer)
    assert (response.status, response.body) == (200, b"hello")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (b"", "without an answer"),
        (HEAD + b"Content-Length: 9\r\n\r\nhello", "before its answer was whole"),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhel", "before its answer was whole"),
        (b"220 mail.example ESMTP\r\n", "is no HTTP"),
        (with_length(b"hello", b"Content-Encoding: gzip"), "is not gzip"),
    ],
)
async def test_a_broken_answer_is_an_error(answer: bytes, said: str) -> None:
    with pytest.raises(HttpError, match=said):
        await get(answer)


@pytest.mark.parametrize(
    "answer",
    [with_length(b"x" * 1001), with_length(gzip.compress(b"x" * 100_000, mtime=0), b"Content-Encoding: gzip")],
)
async def test_a_body_that_is_too_large_is_an_error(answer: bytes) -> None:
    with pytest.raises(TooLarge):
        await get(answer)


async def test_nothing_listens() -> None:
    async with server(b"") as url:
        pass
    with pytest.raises(HttpError, match="cannot connect"):
        await request("GET", url, (), b"", largest=1)


@pytest.mark.parametrize(
    "check",
    [
        lambda sent: sent.startswith(b"POST /path?a=b%20c HTTP/1.1\r\n"),
        lambda sent: sent.endswith(b"\r\n\r\nhello"),
        lambda sent: sent.count(b"Content-Length: 5\r\n") == 1,
        lambda sent: b"Host: 127.0.0.1:" in sent,
        lambda sent: b"Authorization: Basic dTpwIHc=\r\n" in sent,
        lambda sent: sent.lower().count(b"user-agent:") == 1,
        lambda sent: b"user-agent: mine\r\n" in sent,
    ],
)
async def test_what_is_sent(check: Callable[[bytes], bool]) -> None:
    received: list[bytes] = []
    async with server(with_length(b""), received) as url:
        with_credentials = url.replace("127.0.0.1", "u:p%20w@127.0.0.1")
        await request("POST", with_credentials, [(b"user-agent", b"mine")], b"hello", largest=1)
    assert check(received[0])
