"""What a receiver hands on, and what it tells of the rest."""

import gzip
import json

from collector.receiver import Overloaded, Received, Signal
from collector.telemetry import Batch
from tests.collector.receiver.otlp_building import to_json
from tests.collector.receiver.receiving import JSON, LINES, LOGS, PARTLY_BAD, PROTOBUF, TRACES, running

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
