"""From a span's end to the verdict that it changes: `python benchmarks/latency.py [--json FILE]`.

A server process with 100 behaviors receives; this process ends spans in the OpenTelemetry SDK, each in a session of
its own and forbidden by a behavior, exported one by one (SimpleSpanProcessor) over HTTP and gRPC. The delay is from
the end time that the SDK gives the span, just before the export call, to the moment at which the index says that its
result has changed, by one clock. With load, a third process sends spans of other sessions meanwhile, 100 a request.
"""

import argparse
import asyncio
import http.client
import json
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from check import hangar
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter
from operators import program, rules

from collector.cli.event_loop import loop_factory
from collector.cli.garbage import young_collection
from collector.index import Index, Update
from collector.pipeline import Pipeline
from collector.receiver import Receiver
from evaluator.verdict import Contract

GOALS = {"idle": 3.0, "load": 10.0}
"""ms at p99."""
LOAD = 10_000
"""Spans a second."""
FORBIDDEN = "forbidden/by/latency.py"


async def serve() -> None:
    """A server in a process of its own: `GET /delays` takes the delays since the last time, in ns."""
    delays: list[int] = []

    def heard(update: Update) -> None:
        item = None if update.change is None else update.change.new
        if update.results and item is not None and item.path == FORBIDDEN and item.call is not None:
            delays.append(time.time_ns() - item.call.ended)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        body = json.dumps(delays).encode()
        delays.clear()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": body})

    index = Index(program([*rules(99), {"never": {"path": FORBIDDEN}}], Contract.ANY))
    index.listen(heard)
    receiver = Receiver(Pipeline(index).receive, app=app)
    await receiver.start()
    print(receiver.http_port, receiver.grpc_port, flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    await receiver.stop()


def load(port: int) -> None:
    """Send `LOAD` spans a second until stdin ends."""
    bodies = []
    for request in hangar(50_000):
        spans = list(request.resource_spans[0].scope_spans[0].spans)
        for first in range(0, len(spans), 100):
            del request.resource_spans[0].scope_spans[0].spans[:]
            request.resource_spans[0].scope_spans[0].spans.extend(spans[first : first + 100])
            bodies.append(request.SerializeToString())
    ended = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
    connection = http.client.HTTPConnection("127.0.0.1", port)
    start, sent = time.monotonic(), 0
    print("sending", flush=True)
    while not ended.is_set():
        # Trace ids go on, so that no span is a repetition: 16 bytes after the tag and length of the first field.
        body = bodies[sent % len(bodies)].replace(
            b"\x0a\x10" + bytes(12), b"\x0a\x10" + (sent + 1).to_bytes(12, "big")
        )
        connection.request("POST", "/v1/traces", body, {"content-type": "application/x-protobuf"})
        connection.getresponse().read()
        sent += 1
        time.sleep(max(0.0, start + sent * 100 / LOAD - time.monotonic()))
    print(sent * 100 / (time.monotonic() - start), flush=True)


@contextmanager
def child(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A process of this file, that ends when its stdin does."""
    command = [sys.executable, __file__, *arguments]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.communicate()


def line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline()


def delays(exporter: SpanExporter, taken: Callable[[], list[int]], spans: int) -> list[float]:
    """Milliseconds, sorted, of each span."""
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("latency")
    taken()
    for number in range(spans):
        session = f"probe-{time.time_ns()}"
        attributes = {"hangar.session.id": session, "hangar.seq": number, "hangar.file.repo_path": FORBIDDEN}
        tracer.start_span("tool.call", attributes=attributes).end()
        time.sleep(0.01)
    provider.shutdown()
    found = sorted(delay / 1e6 for delay in taken())
    if len(found) != spans:
        raise SystemExit(f"of {spans} spans {len(found)} had a verdict")
    return found


def measure(spans: int) -> dict[str, dict[str, float]]:
    results: dict[str, dict[str, float]] = {}
    with child("--serve") as server:
        http_port, grpc_port = line(server).split()

        def taken() -> list[int]:
            connection = http.client.HTTPConnection("127.0.0.1", int(http_port))
            connection.request("GET", "/delays")
            found: list[int] = json.loads(connection.getresponse().read())
            connection.close()
            return found

        def both(state: str) -> None:
            exporters: dict[str, SpanExporter] = {
                "HTTP": HttpExporter(f"http://127.0.0.1:{http_port}/v1/traces"),
                "gRPC": GrpcExporter(f"http://127.0.0.1:{grpc_port}", insecure=True),
            }
            for name, exporter in exporters.items():
                found = delays(exporter, taken, spans)
                p99 = found[int(len(found) * 0.99) - 1]
                results[f"{name}, {state}"] = {"p50": statistics.median(found), "p99": p99, "goal": GOALS[state]}

        both("idle")
        with child("--load", http_port) as sender:
            line(sender)
            both("load")
            sender.stdin.close()  # type: ignore[union-attr]
            sender.stdin = None
            print(f"the load was {float(line(sender)):,.0f} spans/s")
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write the numbers to this file as well")
    parser.add_argument("--spans", type=int, default=500)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--load", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        with young_collection(), asyncio.Runner(loop_factory=loop_factory()) as runner:
            runner.run(serve())
        return
    if options.load is not None:
        load(options.load)
        return
    results = measure(options.spans)
    print(f"{'ms, span end to verdict':26}{'p50':>8}{'p99':>8}{'goal (p99)':>12}")
    for name, found in results.items():
        print(f"{name:26}{found['p50']:8.2f}{found['p99']:8.2f}{found['goal']:12.0f}")
    if options.json is not None:
        options.json.write_text(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
