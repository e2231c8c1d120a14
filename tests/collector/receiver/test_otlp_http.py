"""OTLP/HTTP as its specification has it, over real connections."""

import asyncio
import gzip
import json
import zlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from google.rpc.status_pb2 import Status as RpcStatus
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord

from collector.receiver import Overloaded, Received, Receiver, Signal
from collector.receiver import encoding as encoding_module
from collector.telemetry import Batch
from tests.collector.receiver.otlp_building import logs_request, span, to_json, traces_request
from tests.waiting import until

PROTOBUF, JSON, LINES = "application/x-protobuf", "application/json", "application/x-ndjson"
TRACES = traces_request(span("one"), span("two", 2))
PARTLY_BAD = traces_request(span("good"), span("bad", 2, trace_id=b"short"))
LOGS = logs_request(LogRecord(event_name="an event"))


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


INVALID_ARGUMENT, RESOURCE_EXHAUSTED, UNAUTHENTICATED, UNAVAILABLE, INTERNAL = 3, 8, 16, 14, 13

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


def status_of(response: httpx.Response) -> tuple[int, str]:
    if response.headers["content-type"] == PROTOBUF:
        status = RpcStatus.FromString(response.content)
        return status.code, status.message
    document = response.json()
    return document["code"], document["message"]


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
async def test_other_methods_are_not_allowed(method: str) -> None:
    async with running() as run:
        response = await run.client.request(method, "/v1/traces")

    assert response.status_code == 405
    assert "POST" in response.headers["allow"]


async def test_another_path_is_not_found_and_says_where_otlp_goes() -> None:
    async with running() as run:
        response = await run.post("/", b"")

    assert response.status_code == 404
    assert "/v1/traces" in response.text


async def test_other_paths_are_the_applications() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            raise RuntimeError("no lifespan here")
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": scope["path"].encode()})

    async with running(app=app) as run:
        assert (await run.client.get("/page")).text == "/page"
        assert (await run.post("/v1/traces", TRACES.SerializeToString())).status_code == 200
    assert run.names == ["one", "two"]


async def test_the_application_has_its_lifespan() -> None:
    from starlette.applications import Starlette

    seen: list[str] = []

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        seen.append("started")
        yield
        seen.append("stopped")

    async with running(app=Starlette(lifespan=lifespan)):
        assert seen == ["started"]
    assert seen == ["started", "stopped"]


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


async def test_a_chunked_body_past_the_limit_is_refused_before_it_ends(small_limit: int) -> None:
    ended = False

    async def chunks() -> AsyncIterator[bytes]:
        nonlocal ended
        for _ in range(100_000):
            yield bytes(small_limit)
        ended = True

    async with running() as run:
        try:
            response = await run.post("/v1/traces", chunks())
            assert response.status_code == 413
        except httpx.TransportError:
            pass  # the client was still writing when the connection was closed
    assert not ended
    assert run.receiver.counters.refused == 1


@pytest.mark.parametrize("header", ["", "Bearer wrong", "secret", "Basic secret", "Bearer secrets"])
async def test_without_the_token_nothing_is_taken(header: str) -> None:
    async with running(token="secret") as run:
        response = await run.post("/v1/traces", TRACES.SerializeToString(), authorization=header)

    assert response.status_code == 401
    assert response.headers["www-authenticate"] == "Bearer"
    assert status_of(response)[0] == UNAUTHENTICATED
    assert run.batches == []


@pytest.mark.parametrize("scheme", ["Bearer", "bearer"])
async def test_with_the_token_a_request_is_taken(scheme: str) -> None:
    async with running(token="secret") as run:
        response = await run.post("/v1/traces", TRACES.SerializeToString(), authorization=f"{scheme} secret")

    assert response.status_code == 200
    assert run.names == ["one", "two"]


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


TOOL = {"v": 1, "type": "tool", "ts": 1.5, "fn": "get_order", "args": {"id": "A-1"}}


async def test_lines_of_trace_contract_records_are_taken() -> None:
    body = b"\n".join([json.dumps(TOOL).encode(), b"", json.dumps({**TOOL, "fn": "other"}).encode(), b""])

    async with running() as run:
        response = await run.post("/v1/traces", body, LINES)

    assert (response.status_code, response.json()) == (200, {})
    assert [record["fn"] for batch in run.batches for record in batch.records] == ["get_order", "other"]
    assert run.receiver.counters.records == 2


async def test_of_lines_the_good_are_taken_and_the_bad_are_counted_with_their_number() -> None:
    body = b"\n".join([json.dumps(TOOL).encode(), b"{broken", b'{"no": "type"}', json.dumps(TOOL).encode()])

    async with running() as run:
        response = await run.post("/v1/traces", body, LINES)

    partial = response.json()["partialSuccess"]
    assert response.status_code == 200
    assert sum(len(batch.records) for batch in run.batches) == 2
    assert partial["rejectedSpans"] == "2"
    assert partial["errorMessage"].startswith("line 2: ")


async def test_lines_of_otlp_json_are_taken_as_well() -> None:
    async with running() as run:
        await run.post("/v1/traces", to_json(TRACES) + b"\n" + to_json(LOGS), LINES)

    assert run.names == ["one", "two"]
    assert run.receiver.counters.logs == 1


async def test_the_raw_body_is_handed_on_decompressed_once_it_is_accepted() -> None:
    raw: list[Received] = []
    body = TRACES.SerializeToString()

    async with running(raw=raw.append) as run:
        await run.post("/v1/traces", gzip.compress(body), content_encoding="gzip")
        await run.post("/v1/traces", b"\xff")
        await run.post("/v1/metrics", b"{}", JSON)

    assert raw == [Received(Signal.TRACES, PROTOBUF, body), Received(Signal.METRICS, JSON, b"{}")]


async def test_problems_are_told() -> None:
    problems: list[str] = []
    async with running(on_problem=problems.append) as run:
        await run.post("/v1/traces", b"\xff")
        await run.post("/v1/traces", PARTLY_BAD.SerializeToString())

    assert problems[0].startswith("a request was refused: the body of 1 bytes is not a protobuf")
    assert problems[1].startswith("a part of a request of traces was rejected: span 2 ('bad')")


async def test_what_is_lost_for_good_is_told() -> None:
    losses: list[tuple[str, Batch | None]] = []
    taken: list[Batch] = []

    def sink(batch: Batch) -> None:
        taken.append(batch)
        if len(batch.spans) == 2:
            raise ValueError("no")

    async with running(sink, on_loss=lambda *loss: losses.append(loss)) as run:
        await run.post("/v1/traces", b"\xff")
        await run.post("/v1/traces", PARTLY_BAD.SerializeToString())
        await run.post("/v1/metrics", b"\xff")
        await run.post("/v1/traces", TRACES.SerializeToString(), "text/plain")
        await run.post("/v1/traces", TRACES.SerializeToString())
        assert run.receiver.counters.losses == 4

    assert [batch for _, batch in losses] == [None, None, None, taken[-1]]
    assert "ValueError('no')" in losses[-1][0]


async def test_what_comes_again_or_may_not_come_in_loses_nothing() -> None:
    def overloaded(batch: Batch) -> None:
        raise Overloaded("busy")

    losses: list[str] = []
    async with running(overloaded, token="t", on_loss=lambda cause, batch: losses.append(cause)) as run:
        await run.post("/v1/traces", b"\xff")
        await run.post("/v1/traces", TRACES.SerializeToString(), authorization="Bearer t")
    assert losses == []


@pytest.mark.parametrize(
    "headers",
    [{"host": "evil.example:4318"}, {"host": "localhost.evil.example"}, {"origin": "https://evil.example"}],
)
async def test_on_loopback_what_another_sites_page_may_have_sent_is_refused(headers: dict[str, str]) -> None:
    losses: list[str] = []
    async with running(on_loss=lambda cause, batch: losses.append(cause)) as run:
        response = await run.post("/v1/traces", b"text", "text/plain", **headers)
        assert (response.status_code, "own names" in response.json()["message"]) == (403, True)
        assert (await run.post("/v1/traces", TRACES.SerializeToString(), **headers)).status_code == 403
        for host in ("localhost:4318", "127.0.0.1", "[::1]:4318"):
            assert (await run.post("/v1/traces", TRACES.SerializeToString(), host=host)).status_code == 200
    assert losses == []
    async with running(token="t") as run:
        body = TRACES.SerializeToString()
        assert (await run.post("/v1/traces", body, authorization="Bearer t", **headers)).status_code == 200


async def test_a_page_on_this_machine_may_export() -> None:
    origin = "http://localhost:5173"
    async with running() as run:
        preflight = await run.client.options("/v1/traces", headers={"origin": origin})
        response = await run.post("/v1/traces", to_json(TRACES), JSON, origin=origin)

    assert preflight.status_code == 204
    assert "content-type" in preflight.headers["access-control-allow-headers"]
    assert preflight.headers["access-control-allow-origin"] == origin
    assert response.headers["access-control-allow-origin"] == origin


@pytest.mark.parametrize("origin", ["https://evil.example", "http://localhost.evil.example", "null"])
async def test_a_page_from_elsewhere_may_not_export(origin: str) -> None:
    async with running() as run:
        preflight = await run.client.options("/v1/traces", headers={"origin": origin})

    assert "access-control-allow-origin" not in preflight.headers


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
