"""How a receiver stops, and what it leaves behind."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import pytest
from starlette.applications import Starlette

from collector.receiver import Receiver
from collector.telemetry import Batch
from tests.collector.receiver.receiving import (
    PROTOBUF,
    TRACES,
    UNAVAILABLE,
    running,
    status_of,
)
from tests.waiting import until


async def connect(receiver: Receiver) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    return await asyncio.open_connection(receiver.host, receiver.http_port)


async def begin_request(writer: asyncio.StreamWriter, body: bytes) -> None:
    """Send the head of a request and half of its body."""
    head = f"POST /v1/traces HTTP/1.1\r\nhost: localhost\r\ncontent-type: {PROTOBUF}\r\n"
    head += f"content-length: {len(body)}\r\n\r\n"
    writer.write(head.encode() + body[: len(body) // 2])
    await writer.drain()


async def test_a_request_under_way_finishes_when_the_receiver_stops() -> None:
    batches: list[Batch] = []
    receiver = Receiver(batches.append, grpc_port=None)
    await receiver.start()
    body = TRACES.SerializeToString()
    reader, writer = await connect(receiver)
    await begin_request(writer, body)
    await until(lambda: receiver.counters.requests == 1)

    stopping = asyncio.create_task(receiver.stop())
    await asyncio.sleep(0)
    writer.write(body[len(body) // 2 :])
    answer = await reader.read()
    await stopping
    writer.close()

    assert answer.startswith(b"HTTP/1.1 200")
    assert [span.name for span in batches[0].spans] == ["one", "two"]


async def test_a_request_that_never_ends_does_not_hold_up_stopping(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("collector.receiver.receiver.GRACE", 0.05)
    receiver = Receiver(lambda batch: None, grpc_port=None)
    await receiver.start()
    _, writer = await connect(receiver)
    await begin_request(writer, TRACES.SerializeToString())
    await until(lambda: receiver.counters.requests == 1)

    async with asyncio.timeout(30):
        await receiver.stop()
    writer.close()


async def test_a_stream_of_the_application_does_not_hold_up_stopping() -> None:
    began = asyncio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            raise RuntimeError("no lifespan here")
        await send({"type": "http.response.start", "status": 200, "headers": []})
        began.set()
        await asyncio.Event().wait()

    receiver = Receiver(lambda batch: None, grpc_port=None, app=app)
    await receiver.start()
    reader, writer = await connect(receiver)
    writer.write(b"GET /stream HTTP/1.1\r\nhost: h\r\n\r\n")
    await began.wait()

    async with asyncio.timeout(30):
        await receiver.stop()
        await reader.read()
    writer.close()


@pytest.mark.parametrize(
    "first", ["", "GET /page HTTP/1.1\r\nhost: localhost\r\n\r\n"], ids=["at once", "after a page"]
)
async def test_who_does_not_wait_for_a_request_that_never_ends_leaves_nothing_running(
    first: str, caplog: pytest.LogCaptureFixture
) -> None:
    ended: list[str] = []
    losses: list[str] = []

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        ended.append("the application")

    receiver = Receiver(
        lambda batch: None,
        grpc_port=None,
        app=Starlette(lifespan=lifespan),
        on_loss=lambda cause, batch: losses.append(cause),
    )
    await receiver.start()
    reader, writer = await connect(receiver)
    if first:
        writer.write(first.encode())
        await reader.readuntil(b"\r\n\r\n")
    await begin_request(writer, TRACES.SerializeToString())
    await until(lambda: receiver.counters.requests == 1)

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await receiver.stop()
    async with asyncio.timeout(30):
        while await reader.read(1000):
            pass
    writer.close()
    assert ended == ["the application"]
    assert [record.message for record in caplog.records if record.levelname == "ERROR"] == []
    assert losses == [], "its client sends it again elsewhere"


async def test_while_stopping_new_requests_are_told_to_try_again() -> None:
    async with running() as run:
        run.receiver._intake.stopping = True
        response = await run.post("/v1/traces", TRACES.SerializeToString())

    assert response.status_code == 503
    assert int(response.headers["retry-after"]) >= 1
    assert status_of(response)[0] == UNAVAILABLE


async def test_after_stopping_the_port_is_free_again() -> None:
    first = Receiver(lambda batch: None, grpc_port=None)
    await first.start()
    await first.stop()
    second = Receiver(lambda batch: None, http_port=first.http_port, grpc_port=None)
    await second.start()
    await second.stop()

    assert second.http_port == first.http_port


async def test_a_port_in_use_is_an_error() -> None:
    async with running() as run:
        second = Receiver(lambda batch: None, http_port=run.receiver.http_port, grpc_port=None)
        with pytest.raises(OSError, match="in use"):
            await second.start()


async def test_a_client_that_goes_away_leaves_nothing_behind() -> None:
    async with running() as run:
        _, writer = await connect(run.receiver)
        await begin_request(writer, TRACES.SerializeToString())
        await until(lambda: run.receiver.counters.requests == 1)
        writer.close()
        await until(lambda: not run.receiver._http._connections.under_way)

    assert run.batches == []


async def test_signals_stay_as_they_were() -> None:
    import signal

    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    async with running():
        assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before
