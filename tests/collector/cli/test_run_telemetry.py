"""The receiver of a run: its port is taken at once, and what comes before it serves is kept."""

import asyncio
import socket
from collections.abc import Sequence

import httpx
import pytest

from collector.cli.run_telemetry import RunTelemetry
from collector.index import Index
from collector.pipeline import Pipeline
from evaluator.harness.sighting import Sighting
from evaluator.items import Change
from tests.collector.receiver.otlp_building import span, traces_request


class Noting:
    """A watcher that counts what it is shown."""

    def __init__(self) -> None:
        self.seen = 0

    def observe(self, sightings: Sequence[Sighting], changes: Sequence[Change]) -> None:
        self.seen += len(sightings)


def telemetry(**ports: int | None) -> RunTelemetry:
    return RunTelemetry(lambda: Pipeline(Index()), **{"grpc_port": None, **ports})  # type: ignore[arg-type]


async def test_what_an_agent_sends_before_the_run_serves_is_taken_in_then() -> None:
    run, noting = telemetry(), Noting()
    await run.start()
    run.watch(noting)
    async with httpx.AsyncClient(timeout=60) as client:
        body, kind = traces_request(span("early")).SerializeToString(), {"content-type": "application/x-protobuf"}
        sending = asyncio.create_task(client.post(run.endpoints.traces, content=body, headers=kind))
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.shield(sending), 0.2)
        await run.serve()
        assert (await sending).status_code == 200
    assert noting.seen == 1
    await run.stop()


async def test_who_stops_watching_is_shown_nothing_more() -> None:
    run, noting = telemetry(), Noting()
    await run.start()
    unwatch = run.watch(noting)
    await run.serve()
    unwatch()
    async with httpx.AsyncClient(timeout=60) as client:
        body, kind = traces_request(span("late")).SerializeToString(), {"content-type": "application/x-protobuf"}
        await client.post(run.endpoints.traces, content=body, headers=kind)
    assert noting.seen == 0
    await run.stop()


async def test_to_serve_twice_is_to_serve_once() -> None:
    run = telemetry()
    await run.start()
    await run.serve()
    port = run.endpoints.http
    await run.serve()
    assert run.endpoints.http == port
    await run.stop()


async def test_a_run_that_never_served_gives_its_port_back() -> None:
    run = telemetry()
    await run.start()
    await run.stop()
    port = int(run.endpoints.http.rpartition(":")[2])
    again = telemetry(http_port=port)
    await again.start()
    await again.stop()


@pytest.mark.parametrize("which", ["http_port", "grpc_port"])
async def test_a_port_in_use_is_known_before_any_agent_is_started(which: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(OSError, match=r"in use|bind"):
        await telemetry(**{which: taken.getsockname()[1]}).start()
