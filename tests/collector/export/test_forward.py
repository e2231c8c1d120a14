"""What is received is passed on as it is, and what is not delivered is said."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import grpc
import httpx
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from collector.export.destination import DestinationError
from collector.export.forward import Forwarder
from collector.export.sender import Retrying
from collector.receiver import Received, Receiver, Signal
from collector.telemetry import Batch
from tests.collector.export.otlp_target import Answer, GrpcTarget, HttpTarget, bodies, partial_success
from tests.collector.receiver.otlp_building import plain_spans, span, to_json, traces_request
from tests.waiting import until

QUICK = Retrying(first=0.001, longest=0.002, give_up_after=30)
PROTOBUF, JSON, LINES = "application/x-protobuf", "application/json", "application/x-ndjson"
REQUEST = traces_request(span("one"), span("two", 2))
BODY = REQUEST.SerializeToString()
TAKEN_BY_HTTP, TAKEN_BY_GRPC = Answer(200), Answer(grpc.StatusCode.OK)


@asynccontextmanager
async def http_target(*answers: Answer) -> AsyncIterator[HttpTarget]:
    target = HttpTarget(list(answers) or [TAKEN_BY_HTTP])
    await target.start()
    yield target
    await target.stop()


@asynccontextmanager
async def grpc_target(*answers: Answer) -> AsyncIterator[GrpcTarget]:
    target = GrpcTarget(list(answers) or [TAKEN_BY_GRPC])
    await target.start()
    yield target
    await target.stop()


@asynccontextmanager
async def forwarding(url: str, **options: Any) -> AsyncIterator[Forwarder]:
    """A forwarder, which at the end has delivered what it was given."""
    forwarder = Forwarder(url, environ={}, retrying=QUICK, **options)
    await forwarder.start()
    yield forwarder
    await forwarder.close(30)


@pytest.mark.parametrize(
    ("signal", "content_type", "body"),
    [(Signal.TRACES, PROTOBUF, BODY), (Signal.TRACES, JSON, to_json(REQUEST)), (Signal.METRICS, JSON, b"{}")],
)
async def test_over_http_a_body_goes_out_as_it_came_in(signal: Signal, content_type: str, body: bytes) -> None:
    async with http_target() as target, forwarding(target.url, headers={"x-key": "k"}) as forwarder:
        forwarder(Received(signal, content_type, body))

    [seen] = target.seen
    assert (seen.path, seen.body) == (f"/v1/{signal}", body)
    assert (seen.headers["content-type"], seen.headers["x-key"]) == (content_type, "k")
    assert (forwarder.counts.delivered, forwarder.problem) == (1, None)


async def test_over_grpc_protobuf_goes_out_as_it_came_in() -> None:
    async with grpc_target() as target, forwarding(target.url) as forwarder:
        forwarder(Received(Signal.TRACES, PROTOBUF, BODY))

    assert bodies(target.seen) == [BODY]
    assert target.seen[0].path == "/opentelemetry.proto.collector.trace.v1.TraceService/Export"


async def test_over_grpc_json_goes_out_as_protobuf() -> None:
    async with grpc_target() as target, forwarding(target.url) as forwarder:
        forwarder(Received(Signal.TRACES, JSON, to_json(REQUEST)))

    [body] = bodies(target.seen)
    assert plain_spans(ExportTraceServiceRequest.FromString(body)) == plain_spans(REQUEST)


async def test_json_that_has_no_protobuf_form_is_said() -> None:
    async with grpc_target() as target, forwarding(target.url) as forwarder:
        forwarder(Received(Signal.TRACES, JSON, to_json(REQUEST).replace(b"0102", b"01 2")))

    assert target.seen == []
    assert forwarder.unsendable == 1
    assert forwarder.problem is not None
    assert "1 request(s) could not be passed on: its JSON has no protobuf form" in forwarder.problem


async def test_trace_contract_lines_are_not_passed_on_and_that_is_said() -> None:
    async with http_target() as target, forwarding(target.url) as forwarder:
        forwarder(Received(Signal.TRACES, LINES, b'{"type": "hello"}'))

    assert target.seen == []
    assert forwarder.problem is not None
    assert "trace-contract lines are not OTLP" in forwarder.problem


async def test_a_target_that_is_busy_is_tried_again() -> None:
    async with (
        http_target(Answer(503), Answer(429, after=0), TAKEN_BY_HTTP) as target,
        forwarding(target.url) as forwarder,
    ):
        forwarder(Received(Signal.TRACES, PROTOBUF, BODY))

    assert bodies(target.seen) == [BODY] * 3
    assert (forwarder.counts.delivered, forwarder.counts.retries, forwarder.problem) == (1, 2, None)


async def test_a_target_that_refuses_is_not_tried_again_and_that_is_said() -> None:
    async with http_target(Answer(400)) as target, forwarding(target.url) as forwarder:
        forwarder(Received(Signal.TRACES, PROTOBUF, BODY))

    assert len(target.seen) == 1
    assert forwarder.problem == f"{target.url}: 1 request(s) were not delivered: HTTP 400"


async def test_what_the_target_rejects_is_said() -> None:
    async with http_target(Answer(200, partial_success(2, "too old"))) as target, forwarding(target.url) as forwarder:
        forwarder(Received(Signal.TRACES, PROTOBUF, BODY))

    assert forwarder.problem == f"{target.url}: the target rejected 2 record(s): too old"


async def test_what_does_not_fit_the_queue_is_dropped_and_that_is_said() -> None:
    async with http_target() as target:
        target.gate.clear()
        async with forwarding(target.url, queue_bytes=3 * len(BODY)) as forwarder:
            for _ in range(4):
                forwarder(Received(Signal.TRACES, PROTOBUF, BODY))
            target.gate.set()

    assert (forwarder.counts.delivered, forwarder.counts.dropped) == (3, 1)
    assert forwarder.problem is not None
    assert "1 request(s) were not delivered: the queue is full" in forwarder.problem


async def test_what_is_not_delivered_in_time_is_said() -> None:
    async with http_target() as target:
        target.gate.clear()
        forwarder = Forwarder(target.url, environ={}, retrying=QUICK)
        await forwarder.start()
        for _ in range(10):
            forwarder(Received(Signal.TRACES, PROTOBUF, BODY))
        await until(lambda: target.seen)
        await forwarder.close(0.01)
        target.gate.set()

    assert forwarder.counts.lost == 10
    assert forwarder.problem is not None
    assert "10 request(s) were not delivered" in forwarder.problem


@pytest.mark.parametrize("url", ["ftp://host", "http://", "http://host:port"])
def test_a_url_that_cannot_be_used_is_an_error_that_names_the_option(url: str) -> None:
    with pytest.raises(DestinationError, match="--forward"):
        Forwarder(url, environ={})


@pytest.mark.parametrize("scheme", ["http", "grpc"])
async def test_two_receivers_in_a_row_see_the_same_spans(scheme: str) -> None:
    first_batches: list[Batch] = []
    second_batches: list[Batch] = []
    second = Receiver(second_batches.append)
    await second.start()
    port = second.http_port if scheme == "http" else second.grpc_port
    async with forwarding(f"{scheme}://127.0.0.1:{port}") as forwarder:
        first = Receiver(first_batches.append, raw=forwarder)
        await first.start()
        async with httpx.AsyncClient() as client:
            for body, content_type in ((BODY, PROTOBUF), (to_json(REQUEST), JSON)):
                await client.post(first.traces_url, content=body, headers={"content-type": content_type})
        await first.stop()
    await second.stop()

    assert [[s.name for s in batch.spans] for batch in second_batches] == [["one", "two"]] * 2
    assert len(first_batches) == 2
    assert forwarder.problem is None
