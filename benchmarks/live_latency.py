"""From the export of a span to its verdict, at each outlet: `python benchmarks/live_latency.py [--json FILE]`.

A server with the behaviors of examples/coding_agent, behind a real Collector (otel-config/fan-out.yaml, whose batch
to spanbar waits 50 ms), while the example agent works. Beside it, calls that a `never` behavior forbids are exported
one by one, each in a session of its own. The delay is from the moment of the export call to that at which the failure
is on the page of a real Chromium, in the event stream, a line of `spanbar watch`, POSTed by `--on-fail`, and exported
as a span to an OTLP receiver; all by one clock. This process plays the agent's exporter and every reader, so some of
the delay is its own.
"""

import argparse
import asyncio
import json
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

from tests.e2e.outlets import EXAMPLE, Outlets, Told, outlets
from tests.waiting import until

GOAL = 250.0
"""ms at p99."""
NEVER = "nothing is deleted recursively"
FORBIDDEN = {
    "gen_ai.tool.name": "Bash",
    "hangar.tool.kind": "shell",
    "hangar.tool.input": '{"command": "rm -rf /tmp/orders"}',
    "hangar.seq": 1,
}


async def measure(spans: int) -> dict[str, list[float]]:
    """Delays in ms by outlet, sorted."""
    delays: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as directory:
        async with outlets(Path(directory)) as found:
            provider = TracerProvider()
            exporter = OTLPSpanExporter(f"{found.collector.http_url}/v1/traces")
            provider.add_span_processor(SimpleSpanProcessor(exporter))
            tracer = provider.get_tracer("probe")
            agent = await _agent(found.collector.http_url)
            for number in range(spans):
                session = f"probe-{number}"
                span = tracer.start_span("tool.call", attributes={**FORBIDDEN, "hangar.session.id": session})
                exported = time.time()
                await asyncio.to_thread(span.end)
                for outlet, at in (await _told(found, session)).items():
                    delays.setdefault(outlet, []).append((at - exported) * 1000)
                await asyncio.sleep(random.uniform(0.05, 0.15))
            agent.terminate()
            await agent.wait()
            provider.shutdown()
    return {outlet: sorted(each) for outlet, each in delays.items()}


async def _agent(url: str) -> asyncio.subprocess.Process:
    environ = os.environ | {"OTEL_EXPORTER_OTLP_ENDPOINT": url, "OTEL_BSP_SCHEDULE_DELAY": "50"}
    command = (sys.executable, EXAMPLE / "agent.py", "--seconds", "3600", "--bad", "3", "--pause", "40")
    return await asyncio.create_subprocess_exec(*command, env=environ, stdout=asyncio.subprocess.DEVNULL)


async def _told(found: Outlets, session: str) -> dict[str, float]:
    """When each outlet told of the failure, s since the epoch."""
    await found.page.wait_for_function("key => key in window.cells", arg=f"{session}\n{NEVER}: fail, final")
    outlet: dict[str, Callable[[], Told | None]] = {
        "event stream": lambda: _first(t for t in found.results(session, NEVER) if t.what["final"]),
        "watch": lambda: found.line(session, NEVER),
        "on-fail": lambda: _first(found.told(session, NEVER)),
        "exported span": lambda: _first(found.spans(session, NEVER)),
    }
    await until(lambda: all(told() for told in outlet.values()))
    cells = await found.cells()
    times = {"page": cells[session, f"{NEVER}: fail, final"]}
    for name, told in outlet.items():
        at = told()
        assert at is not None
        times[name] = at.at
    for kept in (found.events, found.lines, found.alarms, found.exported):
        kept.clear()  # what is looked through stays short
    return times


def _first(told: Any) -> Told | None:
    return next(iter(told), None)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write the numbers to this file as well")
    parser.add_argument("--spans", type=int, default=200)
    options = parser.parse_args()
    delays = asyncio.run(measure(options.spans))
    results = {
        outlet: {"p50": statistics.median(each), "p99": each[max(0, int(len(each) * 0.99) - 1)], "goal": GOAL}
        for outlet, each in delays.items()
    }
    print(f"{'ms, export call to':26}{'p50':>8}{'p99':>8}{'goal (p99)':>12}")
    for outlet, found in results.items():
        print(f"{outlet:26}{found['p50']:8.0f}{found['p99']:8.0f}{found['goal']:12.0f}")
    if options.json is not None:
        options.json.write_text(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
