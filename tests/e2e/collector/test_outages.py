"""The Collector, and what it and spanbar export to, go away under load: counts add up, nothing is judged twice."""

import asyncio
import signal
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import orjson
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, KeyValue

from collector.export.destination import destination
from collector.export.exporter import ResultExporter
from collector.export.sender import Retrying, Sender
from collector.receiver.files import read
from evaluator.verdict import Result
from tests.collector.export.outcomes import result
from tests.e2e.collector.agents import Step, interleaved
from tests.e2e.collector.conftest import StartCollector, StartSpanbar
from tests.e2e.collector.process import Serving
from tests.e2e.collector.spanbar import BEHAVIORS, Spanbar
from tests.waiting import until

LOAD = [step for step in interleaved(300, seed=7) if step.kind != "end"]
PATIENT = Retrying(first=0.02, longest=0.2, give_up_after=300)


def requests() -> Iterator[bytes]:
    """The load as requests of a few spans each."""
    for start in range(0, len(LOAD), 4):
        request = ExportTraceServiceRequest()
        spans = request.resource_spans.add().scope_spans.add().spans
        for number in range(start, min(start + 4, len(LOAD))):
            step = LOAD[number]
            name = "test.run" if step.kind == "test" else "tool.call"
            span = spans.add(name=name, start_time_unix_nano=number + 1, end_time_unix_nano=number + 2)
            span.trace_id, span.span_id = (number + 1).to_bytes(16, "big"), (number + 1).to_bytes(8, "big")
            span.attributes.extend(_attributes(step))
        yield request.SerializeToString()


def _attributes(step: Step) -> Iterator[KeyValue]:
    yield KeyValue(key="hangar.session.id", value=AnyValue(string_value=step.session))
    yield KeyValue(key="hangar.seq", value=AnyValue(int_value=step.seq))
    if step.kind == "test":
        yield KeyValue(key="hangar.test.status", value=AnyValue(string_value="passed"))
        return
    yield KeyValue(key="gen_ai.tool.name", value=AnyValue(string_value="Bash"))
    op = {"push": "git.push", "delete": "delete"}.get(step.kind, "other")
    yield KeyValue(key="hangar.shell.ops", value=AnyValue(array_value=ArrayValue(values=[AnyValue(string_value=op)])))


async def judged_directly(start_spanbar: StartSpanbar) -> dict[str, dict[str, Result]]:
    """What a spanbar says of the load when nothing goes wrong."""
    spanbar = await start_spanbar()
    async with load(spanbar.http_url) as sender:
        await sender.flush()
    return spanbar.results()


@asynccontextmanager
async def load(url: str) -> AsyncIterator[Sender]:
    """The whole load on its way to `url`; at the end, all of it must have been delivered."""
    sender = Sender(destination(url, {}), workers=3, retrying=PATIENT)
    await sender.start()
    for body in requests():
        assert sender.offer("traces", body)
    yield sender
    async with asyncio.timeout(120):
        await sender.flush()
    await sender.close(1)
    counts = sender.counts
    assert (counts.delivered, counts.lost, counts.rejected) == (counts.offered, 0, 0)


async def test_a_collector_that_is_killed_under_load_loses_nothing_that_it_accepted(
    start_spanbar: StartSpanbar, start_collector: StartCollector
) -> None:
    spanbar, backend = await start_spanbar(), await start_spanbar()
    collector = await start_collector("fan-out.yaml", SPANBAR=spanbar.grpc, OTLP_BACKEND=backend.grpc)
    async with load(collector.http_url) as sender:
        for delivered in (20, 120):
            await until(lambda delivered=delivered: sender.counts.delivered >= delivered)
            await collector.kill()
            await collector.start()
    await until(lambda: len(spanbar.span_ids) == len(backend.span_ids) == len(LOAD))
    # What the Collector sent twice, not knowing whether it had arrived, is one item.
    assert sum(sum(items.values()) for items in spanbar.sessions().values()) == len(LOAD)
    assert spanbar.results() == await judged_directly(start_spanbar)


async def test_a_spanbar_that_is_away_for_a_while_is_sent_everything(
    start_spanbar: StartSpanbar, start_collector: StartCollector
) -> None:
    spanbar, backend = await start_spanbar(), await start_spanbar()
    collector = await start_collector("fan-out.yaml", SPANBAR=spanbar.grpc, OTLP_BACKEND=backend.grpc)
    async with load(collector.http_url):
        await until(lambda: spanbar.spans)
        await spanbar.stop()
        await until(lambda: len(backend.span_ids) == len(LOAD))
        assert len(spanbar.span_ids) < len(LOAD)
        await spanbar.start()
    await until(lambda: len(spanbar.span_ids) == len(LOAD))
    assert spanbar.results() == await judged_directly(start_spanbar)


async def test_a_spanbar_that_is_restarted_under_load_passes_nothing_that_it_saw_a_part_of(
    tmp_path: Path, start_collector: StartCollector, start_spanbar: StartSpanbar
) -> None:
    journal, backend = tmp_path / "journal", await start_spanbar()
    first = Spanbar(journal)
    await first.start()
    collector = await start_collector("fan-out.yaml", SPANBAR=first.grpc, OTLP_BACKEND=backend.grpc)
    async with load(collector.http_url):
        await until(lambda: len(first.span_ids) > len(LOAD) // 3)
        second = await first.succeeded(journal)
    await until(lambda: len(first.span_ids | second.span_ids) == len(LOAD))
    await second.stop()
    true, found = await judged_directly(start_spanbar), second.results()
    parted = found.keys() & first.sessions().keys()
    assert parted
    assert found.keys() - parted
    assert all(Result.PASS not in found[session].values() for session in parted)
    for session in found.keys() - parted:
        assert found[session] == true[session]


async def test_one_of_two_spanbars_that_is_away_for_a_while_keeps_its_sessions(
    start_spanbar: StartSpanbar, start_collector: StartCollector
) -> None:
    first, second = await start_spanbar(), await start_spanbar()
    collector = await start_collector("load-balancing.yaml", SPANBAR_1=first.grpc, SPANBAR_2=second.grpc)
    async with load(collector.http_url):
        await until(lambda: first.spans and second.spans)
        await second.stop()
        await until(lambda: "Unavailable" in collector.said() or len(first.span_ids) > len(LOAD) // 3)
        await second.start()
    await until(lambda: len(first.span_ids) + len(second.span_ids) == len(LOAD))
    assert not first.sessions().keys() & second.sessions().keys()
    assert first.results() | second.results() == await judged_directly(start_spanbar)


async def test_results_outlive_the_collector_that_takes_them_and_the_backend_behind_it(
    tmp_path: Path, start_spanbar: StartSpanbar, start_collector: StartCollector
) -> None:
    backend = await start_spanbar()
    collector = await start_collector(
        "results.yaml", OTLP_BACKEND=backend.grpc, RESULTS_FILE=tmp_path / "results.jsonl"
    )
    exporter = ResultExporter(collector.http_url, environ={}, retrying=PATIENT)
    await exporter.start()

    async def export(numbers: range) -> None:
        before = exporter.counts.offered
        for number in numbers:
            exporter.behavior_result(("session", f"s-{number}"), result(Result.PASS if number % 2 else Result.FAIL))
        await until(lambda: exporter.counts.offered == before + 2)

    await export(range(50))
    await until(lambda: exporter.counts.delivered == 2)
    await collector.kill()
    await export(range(50, 75))
    await backend.stop()
    await collector.start()
    await export(range(75, 100))
    await until(lambda: exporter.counts.delivered == 6)
    await collector.kill()
    await collector.start()
    await backend.start()
    await export(range(100, 150))
    await exporter.close(60)
    counts = exporter.counts
    assert (counts.delivered, counts.lost, counts.rejected) == (counts.offered, 0, 0)
    await until(lambda: len(backend.span_ids) == 150)
    labels = {
        span.attributes["spanbar.unit.id"]: span.attributes["gen_ai.evaluation.score.label"] for span in backend.spans
    }
    assert labels == {f"s-{number}": "pass" if number % 2 else "fail" for number in range(150)}


async def test_collector_target_and_server_killed_in_turn_leave_nothing_green_that_is_not_verified(
    tmp_path: Path, start_spanbar: StartSpanbar, start_collector: StartCollector
) -> None:
    backend, received = await start_spanbar(), tmp_path / "received.jsonl"
    journal = tmp_path / "journal"
    options = ("--export", backend.http_url, "--record", str(received), "--journal", str(journal))
    serving = Serving(BEHAVIORS, tmp_path, options)
    await serving.start()
    other = await start_spanbar()
    collector = await start_collector("fan-out.yaml", SPANBAR=serving.grpc, OTLP_BACKEND=other.grpc)
    try:
        async with load(collector.http_url) as sender:
            await until(lambda: sender.counts.delivered >= 20)
            await collector.kill()
            await collector.start()
            await until(lambda: sender.counts.delivered >= 50)
            await backend.stop()
            await until(lambda: sender.counts.delivered >= 80)
            await serving.end(signal.SIGKILL)
            # Killed between the two, it may have noted a session in the journal and not recorded its request yet.
            before = sessions_noted(journal)
            assert before >= sessions_in(received)
            await serving.start()
            await backend.start()
        await until(lambda: len(span_ids_in(received)) == len(LOAD))
        found = await ended(serving.url)
        true = await judged_directly(start_spanbar)
        parted = found.keys() & before
        assert parted
        assert found.keys() - parted
        for session, results in found.items():
            if session in parted:
                assert "pass" not in results.values()
            else:
                assert results == {name: result.value for name, result in true[session].items()}
        await serving.end()
    finally:
        await serving.end(signal.SIGKILL)
    exported = [span for span in backend.spans if span.attributes["spanbar.span"] == "result"]
    for span in exported:
        session, behavior, label = map(span.attributes.get, RESULT)
        if label == "pass":
            assert session not in parted
            assert true[session][behavior] is Result.PASS
    # Every server has given each result once, a revision of it under a number of its own.
    told = Counter((span.trace_id, *map(span.attributes.get, (*RESULT[:2], REVISION))) for span in exported)
    assert set(told.values()) == {1}


RESULT = ("spanbar.unit.id", "gen_ai.evaluation.name", "gen_ai.evaluation.score.label")
REVISION = "spanbar.result.revision"


def sessions_in(received: Path) -> set[str]:
    return {span.attributes["hangar.session.id"] for batch in read(received) for span in batch.spans}


def sessions_noted(journal: Path) -> set[str]:
    return {id for kind, id in map(orjson.loads, journal.read_bytes().splitlines()) if kind == "session"}


def span_ids_in(received: Path) -> set[bytes]:
    return {span.span_id for batch in read(received) for span in batch.spans}


async def ended(url: str) -> dict[str, dict[str, str]]:
    """End every session of a server; the results, by session and behavior."""
    found: dict[str, dict[str, str]] = {}
    async with httpx.AsyncClient(base_url=url, timeout=60) as client:
        for number in range(300):
            path = f"/api/v1/sessions/session-{number}"
            if (await client.post(f"{path}/end")).status_code == 404:
                continue
            unit = (await client.get(path)).json()
            found[unit["id"]] = {each["behavior"]: each["result"] for each in unit["results"]}
    return found
