"""OTLP/gRPC and OTLP/HTTP on one port: the first bytes of a connection tell which it is."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import grpc
import httpx
import pytest
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.trace.v1.trace_service_pb2_grpc import TraceServiceStub
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

from collector.receiver import Receiver
from collector.receiver.one_port import PREFACE
from collector.telemetry import Batch
from tests.collector.receiver.otlp_building import span, traces_request

TRACES = traces_request(span("one"), span("two", 2))


@asynccontextmanager
async def receiving(sink: Callable[[Batch], None], **options: Any) -> AsyncIterator[Receiver]:
    receiver = Receiver(sink, **options)
    await receiver.start()
    yield receiver
    await receiver.stop()


def on_the_http_port(receiver: Receiver) -> grpc.aio.Channel:
    unlimited = [("grpc.max_send_message_length", -1)]
    return grpc.aio.insecure_channel(f"127.0.0.1:{receiver.http_port}", options=unlimited)


def names(batches: list[Batch]) -> list[str]:
    return [span.name for batch in batches for span in batch.spans]


@pytest.mark.parametrize("grpc_port", [0, None])
async def test_the_http_port_takes_grpc(grpc_port: int | None) -> None:
    batches: list[Batch] = []
    async with receiving(batches.append, grpc_port=grpc_port) as receiver, on_the_http_port(receiver) as channel:
        await TraceServiceStub(channel).Export(TRACES)
        async with httpx.AsyncClient() as client:
            body, kind = TRACES.SerializeToString(), {"content-type": "application/x-protobuf"}
            answer = await client.post(receiver.traces_url, content=body, headers=kind)
    assert answer.status_code == 200
    assert names(batches) == ["one", "two", "one", "two"]


async def test_a_grpc_exporter_that_was_given_the_http_endpoint_works() -> None:
    batches: list[Batch] = []
    async with receiving(batches.append, grpc_port=None) as receiver:
        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(OTLPSpanExporter(endpoint=receiver.traces_url)))
        await asyncio.to_thread(provider.get_tracer("t").start_span("exported").end)
        await asyncio.to_thread(provider.shutdown)
    assert names(batches) == ["exported"]


async def test_a_large_grpc_body_comes_through_whole() -> None:
    batches: list[Batch] = []
    large = traces_request(*(span(f"{number} {'x' * 2_000}", number + 1) for number in range(8_000)))
    async with receiving(batches.append, grpc_port=None) as receiver, on_the_http_port(receiver) as channel:
        await TraceServiceStub(channel).Export(large)
    assert len(names(batches)) == 8_000


async def test_many_grpc_clients_at_once_are_all_served() -> None:
    batches: list[Batch] = []
    async with receiving(batches.append, grpc_port=None) as receiver:

        async def send() -> None:
            async with on_the_http_port(receiver) as channel:
                for _ in range(5):
                    await TraceServiceStub(channel).Export(TRACES)

        await asyncio.gather(*(send() for _ in range(20)))
    assert len(batches) == 100


async def test_grpc_on_the_http_port_needs_the_token_too() -> None:
    batches: list[Batch] = []
    options = {"grpc_port": None, "token": "t0ken"}
    async with receiving(batches.append, **options) as receiver, on_the_http_port(receiver) as channel:
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await TraceServiceStub(channel).Export(TRACES)
    assert refused.value.code() is grpc.StatusCode.UNAUTHENTICATED
    assert batches == []


async def test_a_preface_that_comes_byte_by_byte_is_a_preface() -> None:
    async with receiving(lambda batch: None, grpc_port=None) as receiver:
        reader, writer = await asyncio.open_connection("127.0.0.1", receiver.http_port)
        for number in range(len(PREFACE)):
            writer.write(PREFACE[number : number + 1])
            await writer.drain()
        settings_frame = b"\x00\x00\x00\x04\x00\x00\x00\x00\x00"
        writer.write(settings_frame)
        answer = await reader.readexactly(9)
        writer.close()
    assert answer[3] == 4, "an HTTP/2 server answers a preface with its settings"


async def test_what_only_begins_like_a_preface_is_http() -> None:
    async with receiving(lambda batch: None, grpc_port=None) as receiver:
        reader, writer = await asyncio.open_connection("127.0.0.1", receiver.http_port)
        writer.write(b"PRI /v1/traces HTTP/1.1\r\nhost: x\r\n\r\n")
        answer = await reader.readline()
        writer.close()
    assert answer.startswith(b"HTTP/1.1 4")


async def test_clients_that_say_nothing_or_leave_disturb_nobody() -> None:
    batches: list[Batch] = []
    async with receiving(batches.append, grpc_port=None) as receiver:
        for start in (b"", b"P", PREFACE[:10], PREFACE, PREFACE + b"garbage"):
            _, writer = await asyncio.open_connection("127.0.0.1", receiver.http_port)
            writer.write(start)
            await writer.drain()
            writer.close()
        async with on_the_http_port(receiver) as channel:
            await TraceServiceStub(channel).Export(TRACES)
    assert names(batches) == ["one", "two"]


async def test_after_stopping_no_grpc_connection_is_left() -> None:
    async with receiving(lambda batch: None, grpc_port=None) as receiver, on_the_http_port(receiver) as channel:
        await TraceServiceStub(channel).Export(TRACES)
        await receiver.stop()
        with pytest.raises(grpc.aio.AioRpcError):
            await TraceServiceStub(channel).Export(TRACES)
