"""OTLP/HTTP as its specification has it, over real connections."""

import gzip
import zlib
from collections.abc import AsyncIterator
from typing import Any

import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord

from collector.receiver import Overloaded
from collector.receiver import encoding as encoding_module
from collector.telemetry import Batch
from tests.collector.receiver.otlp_building import logs_request, span, to_json, traces_request
from tests.collector.receiver.receiving import (
    INTERNAL,
    INVALID_ARGUMENT,
    JSON,
    LINES,
    LOGS,
    PARTLY_BAD,
    PROTOBUF,
    RESOURCE_EXHAUSTED,
    TRACES,
    UNAVAILABLE,
    running,
    status_of,
)

ACCEPTED = {
    "protobuf": (TRACES.SerializeToString(), PROTOBUF, ""),
    "protobuf by its other name": (TRACES.SerializeToString(), "application/protobuf", ""),
    "JSON": (to_json(TRACES), JSON, ""),
    "JSON with a charset": (to_json(TRACES), "application/json; charset=utf-8", ""),
    "JSON in capitals": (to_json(TRACES), "Application/JSON;charset=UTF-8", ""),
    "gzip": (gzip.compress(TRACES.SerializeToString()), PROTOBUF, "gzip"),
    "gzip of JSON": (gzip.compress(to_json(TRACES)), JSON, "gzip"),
    "deflate": (zlib.compress(TRACES.SerializeToString()), PROTOBUF, "deflate"),
    "identity": (TRACES.SerializeToString(), PROTOBUF, "identity"),
}


@pytest.mark.parametrize(("body", "content_type", "encoding"), ACCEPTED.values(), ids=ACCEPTED)
async def test_a_request_is_taken_and_answered_in_its_format(body: bytes, content_type: str, encoding: str) -> None:
    async with running() as run:
        response = await run.post("/v1/traces", body, content_type, content_encoding=encoding)

    assert response.status_code == 200
    assert run.names == ["one", "two"]
    if "json" in content_type.lower():
        assert (response.headers["content-type"], response.json()) == (JSON, {})
    else:
        assert (response.headers["content-type"], response.content) == (PROTOBUF, b"")
    assert (run.receiver.counters.requests, run.receiver.counters.spans) == (1, 2)


async def test_a_chunked_body_is_taken() -> None:
    async def chunks() -> AsyncIterator[bytes]:
        body = TRACES.SerializeToString()
        for start in range(0, len(body), 20):
            yield body[start : start + 20]

    async with running() as run:
        response = await run.post("/v1/traces", chunks())

    assert response.status_code == 200
    assert run.names == ["one", "two"]


async def test_the_sink_has_the_batch_before_the_client_has_its_answer() -> None:
    seen: list[Batch] = []
    async with running(seen.append) as run:
        await run.post("/v1/traces", TRACES.SerializeToString())
        assert len(seen) == 1


@pytest.mark.parametrize(("body", "content_type"), [(LOGS.SerializeToString(), PROTOBUF), (to_json(LOGS), JSON)])
async def test_logs_are_taken(body: bytes, content_type: str) -> None:
    async with running() as run:
        response = await run.post("/v1/logs", body, content_type)

    assert response.status_code == 200
    assert [record.event_name for batch in run.batches for record in batch.logs] == ["an event"]
    assert run.receiver.counters.logs == 1


@pytest.mark.parametrize(
    ("body", "content_type"),
    [(ExportMetricsServiceRequest(resource_metrics=[{}]).SerializeToString(), PROTOBUF), (b"{}", JSON)],
)
async def test_metrics_are_taken_and_dropped_and_counted(body: bytes, content_type: str) -> None:
    async with running() as run:
        response = await run.post("/v1/metrics", body, content_type)

    assert response.status_code == 200
    assert run.batches == []
    assert run.receiver.counters.dropped_metrics == 1


@pytest.mark.parametrize("path", ["/v1/traces", "/v1/logs", "/v1/metrics"])
@pytest.mark.parametrize(("body", "content_type"), [(b"", PROTOBUF), (b"{}", JSON)])
async def test_an_empty_request_is_a_success(path: str, body: bytes, content_type: str) -> None:
    async with running() as run:
        response = await run.post(path, body, content_type)

    assert response.status_code == 200
    assert run.batches == []


async def test_what_is_rejected_is_said_in_protobuf() -> None:
    async with running() as run:
        response = await run.post("/v1/traces", PARTLY_BAD.SerializeToString())

    partial = ExportTraceServiceResponse.FromString(response.content).partial_success
    assert response.status_code == 200
    assert run.names == ["good"]
    assert partial.rejected_spans == 1
    assert "trace id has 5 bytes, not 16" in partial.error_message
    assert run.receiver.counters.rejected == 1


async def test_what_is_rejected_is_said_in_json() -> None:
    async with running() as run:
        response = await run.post("/v1/traces", to_json(PARTLY_BAD), JSON)

    partial = response.json()["partialSuccess"]
    assert response.status_code == 200
    assert partial["rejectedSpans"] == "1"
    assert "trace id has 5 bytes, not 16" in partial["errorMessage"]


async def test_rejected_log_records_are_said_under_their_own_name() -> None:
    bad = logs_request(LogRecord(trace_id=b"short"))
    async with running() as run:
        in_json = await run.post("/v1/logs", to_json(bad), JSON)
        in_protobuf = await run.post("/v1/logs", bad.SerializeToString())

    assert in_json.json()["partialSuccess"]["rejectedLogRecords"] == "1"
    assert ExportLogsServiceResponse.FromString(in_protobuf.content).partial_success.rejected_log_records == 1


REFUSED = {
    "not protobuf": ("/v1/traces", b"\xff\xff", PROTOBUF, "", 400, INVALID_ARGUMENT, "not a protobuf"),
    "logs that are not protobuf": ("/v1/logs", b"\xff\xff", PROTOBUF, "", 400, INVALID_ARGUMENT, "not a protobuf"),
    "metrics that are not protobuf": ("/v1/metrics", b"\xff", PROTOBUF, "", 400, INVALID_ARGUMENT, "not a protobuf"),
    "not JSON": ("/v1/traces", b"{", JSON, "", 400, INVALID_ARGUMENT, "not JSON"),
    "a wrong type": ("/v1/traces", b'{"resourceSpans": 1}', JSON, "", 400, INVALID_ARGUMENT, "resourceSpans: exp"),
    "not gzip": ("/v1/traces", b"plain", PROTOBUF, "gzip", 400, INVALID_ARGUMENT, "not gzip"),
    "an unknown encoding": ("/v1/traces", b"x", PROTOBUF, "br", 415, INVALID_ARGUMENT, "'br' is not supported"),
    "another media type": ("/v1/traces", b"x", "text/plain", "", 415, INVALID_ARGUMENT, "'text/plain' is not supp"),
    "no media type": ("/v1/traces", b"x", None, "", 415, INVALID_ARGUMENT, "without content type"),
    "lines of logs": ("/v1/logs", b"{}", LINES, "", 415, INVALID_ARGUMENT, "is not supported"),
}


@pytest.mark.parametrize(
    ("path", "body", "content_type", "encoding", "status", "code", "message"), REFUSED.values(), ids=REFUSED
)
async def test_a_refusal_is_a_status_in_the_format_of_the_request(
    path: str, body: bytes, content_type: str | None, encoding: str, status: int, code: int, message: str
) -> None:
    async with running() as run:
        response = await run.post(path, body, content_type, content_encoding=encoding)

    answer = status_of(response)
    assert response.status_code == status
    assert response.headers["content-type"] == (PROTOBUF if content_type == PROTOBUF else JSON)
    assert answer[0] == code
    assert message in answer[1]
    assert run.batches == []
    assert run.receiver.counters.refused == 1


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
async def test_other_methods_are_not_allowed(method: str) -> None:
    async with running() as run:
        response = await run.client.request(method, "/v1/traces")

    assert response.status_code == 405
    assert "POST" in response.headers["allow"]


@pytest.fixture
def small_limit(monkeypatch: pytest.MonkeyPatch) -> int:
    """A limit that tests reach quickly."""
    limit = 1000
    monkeypatch.setattr("collector.receiver.http.LIMIT", limit)
    monkeypatch.setattr(encoding_module.decompress, "__defaults__", (limit,))
    return limit


def big_request(size: int) -> bytes:
    """A request of exactly this many bytes."""
    body = traces_request(span("x" * (size - 200))).SerializeToString()
    unknown = size - len(body) - 2
    return body + bytes([0x7A, unknown]) + bytes(unknown)


def test_the_limit_is_64_mib() -> None:
    assert encoding_module.LIMIT == 64 * 1024 * 1024


@pytest.mark.parametrize("encode", [bytes, gzip.compress], ids=["as it is", "gzip"])
async def test_a_body_of_the_limit_is_taken_and_one_more_byte_is_too_large(small_limit: int, encode: Any) -> None:
    encoding = "" if encode is bytes else "gzip"
    async with running() as run:
        taken = await run.post("/v1/traces", encode(big_request(small_limit)), content_encoding=encoding)
        refused = await run.post("/v1/traces", encode(big_request(small_limit + 1)), content_encoding=encoding)

    assert taken.status_code == 200
    assert refused.status_code == 413
    assert status_of(refused)[0] == RESOURCE_EXHAUSTED
    assert len(run.names) == 1


async def test_a_chunked_body_past_the_limit_is_refused_and_not_kept(small_limit: int) -> None:
    held: list[int] = []

    async with running() as run:

        async def chunks() -> AsyncIterator[bytes]:
            for _ in range(10_000):
                yield bytes(small_limit)
                held.append(run.receiver._intake._held)

        response = await run.post("/v1/traces", chunks())
    assert response.status_code == 413
    assert max(held) <= small_limit
    assert run.receiver.counters.refused == 1
    assert run.receiver.counters.refused == 1


async def test_an_overloaded_sink_is_retryable_and_says_when() -> None:
    def overloaded(batch: Batch) -> None:
        raise Overloaded("10,000 items wait", retry_after=7)

    async with running(overloaded) as run:
        response = await run.post("/v1/traces", TRACES.SerializeToString())

    assert response.status_code == 503
    assert response.headers["retry-after"] == "7"
    assert status_of(response) == (UNAVAILABLE, "10,000 items wait")
    assert run.receiver.counters.spans == 0


async def test_a_sink_that_fails_is_an_error_and_not_a_success(caplog: pytest.LogCaptureFixture) -> None:
    def broken(batch: Batch) -> None:
        raise ZeroDivisionError("a bug")

    async with running(broken) as run:
        response = await run.post("/v1/traces", TRACES.SerializeToString())

    assert response.status_code == 500
    assert status_of(response)[0] == INTERNAL
    assert "a bug" in caplog.text
