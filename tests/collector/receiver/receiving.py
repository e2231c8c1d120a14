"""A receiver that serves, for tests over real connections."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx
from google.rpc.status_pb2 import Status as RpcStatus
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord

from collector.receiver import Receiver
from collector.telemetry import Batch
from tests.collector.receiver.otlp_building import logs_request, span, traces_request

PROTOBUF, JSON, LINES = "application/x-protobuf", "application/json", "application/x-ndjson"
TRACES = traces_request(span("one"), span("two", 2))
PARTLY_BAD = traces_request(span("good"), span("bad", 2, trace_id=b"short"))
LOGS = logs_request(LogRecord(event_name="an event"))
INVALID_ARGUMENT, RESOURCE_EXHAUSTED, UNAUTHENTICATED, UNAVAILABLE, INTERNAL = 3, 8, 16, 14, 13


class Running:
    """A receiver that serves, a client of it, and what the receiver handed on."""

    def __init__(self, receiver: Receiver, client: httpx.AsyncClient, batches: list[Batch]) -> None:
        self.receiver, self.client, self.batches = receiver, client, batches

    async def post(self, path: str, body: Any, content_type: str | None = PROTOBUF, **headers: str) -> httpx.Response:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        if content_type is not None:
            named["content-type"] = content_type
        return await self.client.post(path, content=body, headers=named)

    @property
    def names(self) -> list[str]:
        return [span.name for batch in self.batches for span in batch.spans]


@asynccontextmanager
async def running(sink: Callable[[Batch], None] | None = None, **options: Any) -> AsyncIterator[Running]:
    batches: list[Batch] = []
    receiver = Receiver(sink or batches.append, grpc_port=None, **options)
    await receiver.start()
    async with httpx.AsyncClient(base_url=receiver.http_url, timeout=30) as client:
        yield Running(receiver, client, batches)
    await receiver.stop()


def status_of(response: httpx.Response) -> tuple[int, str]:
    if response.headers["content-type"] == PROTOBUF:
        status = RpcStatus.FromString(response.content)
        return status.code, status.message
    document = response.json()
    return document["code"], document["message"]
