"""One connection to a receiver, byte for byte, for tests."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from collector.receiver import Receiver
from tests.collector.receiver.otlp_building import span, traces_request

BODY = traces_request(span("one")).SerializeToString()


def post(body: bytes = BODY, *headers: str, target: str = "/v1/traces", version: str = "1.1") -> bytes:
    named = ("host: localhost", "content-type: application/x-protobuf", f"content-length: {len(body)}", *headers)
    return (
        f"POST {target} HTTP/{version}\r\n{''.join(f'{line}{chr(13)}{chr(10)}' for line in named)}\r\n".encode()
        + body
    )


PAGE = b"GET /page HTTP/1.1\r\nhost: localhost\r\n\r\n"


async def page(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] != "http":
        raise RuntimeError("no lifespan here")
    body = scope["path"].encode()
    length = (b"content-length", str(len(body)).encode())
    await send({"type": "http.response.start", "status": 200, "headers": [length]})
    await send({"type": "http.response.body", "body": body})


class Client:
    """One connection to a receiver, and the names of the spans that the receiver handed on."""

    def __init__(self, receiver: Receiver, names: list[str]) -> None:
        self.receiver, self.names = receiver, names
        self.reader: asyncio.StreamReader
        self.writer: asyncio.StreamWriter

    async def connect(self) -> None:
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.receiver.http_port)

    async def send(self, *pieces: bytes) -> None:
        for piece in pieces:
            self.writer.write(piece)
            await self.writer.drain()

    async def answer(self) -> tuple[int, dict[str, str], bytes]:
        async with asyncio.timeout(30):
            head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:-2])}
            body = await self.reader.readexactly(int(headers.get("content-length", 0)))
        return int(head[0].split()[1]), headers, body

    async def closed(self) -> bool:
        """Whether nothing more comes: waits for the end of the connection."""
        async with asyncio.timeout(30):
            return await self.reader.read() == b""


@asynccontextmanager
async def connected(**options: Any) -> AsyncIterator[Client]:
    names: list[str] = []
    receiver = Receiver(lambda batch: names.extend(span.name for span in batch.spans), grpc_port=None, **options)
    await receiver.start()
    client = Client(receiver, names)
    await client.connect()
    yield client
    client.writer.close()
    await receiver.stop()
