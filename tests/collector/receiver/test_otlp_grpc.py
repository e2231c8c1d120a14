"""OTLP/gRPC as its specification has it, with the official stubs over real connections."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import grpc
import pytest
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status as RpcStatus
from opentelemetry.proto.collector.logs.v1.logs_service_pb2_grpc import LogsServiceStub
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2_grpc import MetricsServiceStub
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2_grpc import TraceServiceStub
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord

from collector.receiver import Overloaded, Received, Receiver, Signal
from collector.receiver.encoding import LIMIT
from collector.telemetry import Batch
from tests.collector.receiver.otlp_building import logs_request, span, traces_request

TRACES = traces_request(span("one"), span("two", 2))
EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"


@asynccontextmanager
async def running(sink: Callable[[Batch], None], **options: Any) -> AsyncIterator[tuple[Receiver, grpc.aio.Channel]]:
    receiver = Receiver(sink, **options)
    await receiver.start()
    unlimited = [("grpc.max_send_message_length", -1)]
    async with grpc.aio.insecure_channel(f"127.0.0.1:{receiver.grpc_port}", options=unlimited) as channel:
        yield receiver, channel
    await receiver.stop()


async def export_bytes(channel: grpc.aio.Channel, body: bytes, **options: Any) -> bytes:
    answer: bytes = await channel.unary_unary(EXPORT)(body, **options)
    return answer


def names(batches: list[Batch]) -> list[str]:
    return [span.name for batch in batches for span in batch.spans]


@pytest.mark.parametrize(
    "compression", [grpc.Compression.NoCompression, grpc.Compression.Gzip, grpc.Compression.Deflate]
)
async def test_spans_are_taken(compression: grpc.Compression) -> None:
    batches: list[Batch] = []
    async with running(batches.append) as (receiver, channel):
        response = await TraceServiceStub(channel).Export(TRACES, compression=compression)

    assert not response.HasField("partial_success")
    assert names(batches) == ["one", "two"]
    assert (receiver.counters.requests, receiver.counters.spans) == (1, 2)


async def test_log_records_are_taken() -> None:
    batches: list[Batch] = []
    async with running(batches.append) as (_, channel):
        await LogsServiceStub(channel).Export(logs_request(LogRecord(event_name="an event")))

    assert [record.event_name for batch in batches for record in batch.logs] == ["an event"]


async def test_metrics_are_taken_and_dropped_and_counted() -> None:
    batches: list[Batch] = []
    async with running(batches.append) as (receiver, channel):
        await MetricsServiceStub(channel).Export(ExportMetricsServiceRequest(resource_metrics=[{}]))

    assert batches == []
    assert receiver.counters.dropped_metrics == 1


async def test_an_empty_request_is_a_success() -> None:
    batches: list[Batch] = []
    async with running(batches.append) as (_, channel):
        response = await TraceServiceStub(channel).Export(ExportTraceServiceRequest())

    assert not response.HasField("partial_success")
    assert batches == []


async def test_what_is_rejected_is_said() -> None:
    batches: list[Batch] = []
    async with running(batches.append) as (_, channel):
        response = await TraceServiceStub(channel).Export(
            traces_request(span("good"), span("bad", 2, span_id=b"short"))
        )

    assert response.partial_success.rejected_spans == 1
    assert "span id has 5 bytes, not 8" in response.partial_success.error_message
    assert names(batches) == ["good"]


async def test_a_malformed_body_is_an_invalid_argument() -> None:
    async with running(lambda batch: None) as (receiver, channel):
        with pytest.raises(grpc.aio.AioRpcError, match="not a protobuf ExportTraceServiceRequest") as raised:
            await export_bytes(channel, b"\xff\xff")

    assert raised.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert receiver.counters.refused == 1


@pytest.mark.parametrize("compression", [grpc.Compression.NoCompression, grpc.Compression.Gzip])
async def test_a_body_past_the_limit_exhausts_the_resources(compression: grpc.Compression) -> None:
    async with running(lambda batch: None) as (_, channel):
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            await export_bytes(channel, bytes(LIMIT + 1), compression=compression)

    assert raised.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED


async def test_a_body_of_more_than_grpcs_usual_4_mib_is_taken() -> None:
    batches: list[Batch] = []
    async with running(batches.append) as (_, channel):
        await TraceServiceStub(channel).Export(traces_request(span("x" * 5_000_000)))

    assert [len(name) for name in names(batches)] == [5_000_000]


async def test_another_method_is_unimplemented() -> None:
    async with running(lambda batch: None) as (_, channel):
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            await channel.unary_unary("/opentelemetry.proto.collector.trace.v1.TraceService/Import")(b"")

    assert raised.value.code() is grpc.StatusCode.UNIMPLEMENTED


@pytest.mark.parametrize("metadata", [[], [("authorization", "Bearer wrong")], [("authorization", "secret")]])
async def test_without_the_token_nothing_is_taken(metadata: list[tuple[str, str]]) -> None:
    batches: list[Batch] = []
    async with running(batches.append, token="secret") as (_, channel):
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            await TraceServiceStub(channel).Export(TRACES, metadata=metadata)

    assert raised.value.code() is grpc.StatusCode.UNAUTHENTICATED
    assert batches == []


async def test_with_the_token_a_request_is_taken() -> None:
    batches: list[Batch] = []
    async with running(batches.append, token="secret") as (_, channel):
        await TraceServiceStub(channel).Export(TRACES, metadata=[("authorization", "Bearer secret")])

    assert names(batches) == ["one", "two"]


async def test_an_overloaded_sink_is_unavailable_and_says_when_to_try_again() -> None:
    def overloaded(batch: Batch) -> None:
        raise Overloaded("10,000 items wait", retry_after=2.5)

    async with running(overloaded) as (_, channel):
        with pytest.raises(grpc.aio.AioRpcError, match="10,000 items wait") as raised:
            await TraceServiceStub(channel).Export(TRACES)

    details = dict(raised.value.trailing_metadata())["grpc-status-details-bin"]
    info = RetryInfo()
    assert raised.value.code() is grpc.StatusCode.UNAVAILABLE
    assert RpcStatus.FromString(details).details[0].Unpack(info)
    assert info.retry_delay.ToMilliseconds() == 2500


async def test_a_sink_that_fails_is_an_internal_error_and_not_a_success() -> None:
    def broken(batch: Batch) -> None:
        raise ZeroDivisionError("a bug")

    async with running(broken) as (_, channel):
        with pytest.raises(grpc.aio.AioRpcError, match="a bug") as raised:
            await TraceServiceStub(channel).Export(TRACES)

    assert raised.value.code() is grpc.StatusCode.INTERNAL


async def test_the_raw_body_is_handed_on() -> None:
    raw: list[Received] = []
    async with running(lambda batch: None, raw=raw.append) as (_, channel):
        await TraceServiceStub(channel).Export(TRACES, compression=grpc.Compression.Gzip)

    assert raw == [Received(Signal.TRACES, "application/x-protobuf", TRACES.SerializeToString())]


async def test_requests_of_many_clients_at_once_are_all_taken() -> None:
    batches: list[Batch] = []
    async with running(batches.append) as (receiver, channel):
        stub = TraceServiceStub(channel)
        requests = [traces_request(span(f"span {number}", number + 1)) for number in range(200)]
        await asyncio.gather(*(stub.Export(request) for request in requests))

    assert sorted(names(batches)) == sorted(f"span {number}" for number in range(200))
    assert receiver.counters.requests == 200


async def test_a_port_in_use_is_an_error_and_leaves_the_http_port_free() -> None:
    async with running(lambda batch: None) as (receiver, _):
        second = Receiver(lambda batch: None, grpc_port=receiver.grpc_port)
        with pytest.raises(OSError, match="cannot listen on"):
            await second.start()
        third = Receiver(lambda batch: None, http_port=second.http_port, grpc_port=None)
        await third.start()
        await third.stop()


async def test_after_stopping_nobody_answers() -> None:
    async with running(lambda batch: None) as (receiver, channel):
        await receiver.stop()
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            await TraceServiceStub(channel).Export(TRACES)

    assert raised.value.code() is grpc.StatusCode.UNAVAILABLE
