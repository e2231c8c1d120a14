"""What receiving costs: `python benchmarks/receive.py [--json FILE]`.

First decoding, in CPU microseconds a span and as a multiple of protobuf's parse alone; then whole requests over HTTP
and gRPC, in CPU microseconds of the serving process a request and a span, with a sink that does nothing. Spans have
12 attributes and about 1.2 kB. Only ratios within one run mean anything: absolute times drift with the machine. Every
number is the median of rounds in which the variants take turns.
"""

import argparse
import asyncio
import http.client
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import grpc
import orjson
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from collector.export.otlp_json import request_to_json
from collector.receiver import Receiver
from collector.receiver.otlp_json import decode_traces_json
from collector.receiver.protobuf import decode_traces
from collector.receiver.schema import TracesRequest
from collector.telemetry import Batch

SPANS = 512
EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
HEADERS = {"content-type": "application/x-protobuf"}


def request(spans: int) -> bytes:
    """A serialized request. Half of each span's attributes recur from span to span, as in real agents."""
    made = ExportTraceServiceRequest()
    scope = made.resource_spans.add().scope_spans.add()
    for number in range(spans):
        span = scope.spans.add(
            trace_id=os.urandom(16),
            span_id=os.urandom(8),
            parent_span_id=os.urandom(8),
            name="execute_tool get_order",
            kind=1,
            start_time_unix_nano=1764500000000000000 + number,
            end_time_unix_nano=1764500000000001000 + number,
        )
        for key in range(12):
            attribute = span.attributes.add(key=f"gen_ai.attribute.{key}")
            attribute.value.string_value = "v" * 60 + (f"{number:08}" if key % 2 else "recurs")
    return made.SerializeToString()


def decoding(rounds: int) -> dict[str, float]:
    """CPU microseconds a span."""
    body = request(SPANS)
    document = orjson.dumps(request_to_json("traces", body))
    variants: dict[str, Callable[[], object]] = {
        "protobuf parse alone, official schema": lambda: ExportTraceServiceRequest.FromString(body),
        "the same, attributes left raw": lambda: TracesRequest.FromString(body),
        "spans, with all twelve attributes": lambda: decode_traces(body),
        "OTLP JSON, all attributes": lambda: decode_traces_json(document),
    }
    times: dict[str, list[float]] = {name: [] for name in variants}
    for _ in range(rounds):
        for name, run in variants.items():
            start = time.process_time()
            run()
            times[name].append((time.process_time() - start) / SPANS * 1e6)
    return {name: statistics.median(values) for name, values in times.items()}


async def serve() -> None:
    """A receiver in a process of its own: `GET /cpu` gives the CPU seconds it has used. Ends with its parent."""

    def sink(batch: Batch) -> None:
        pass

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": str(time.process_time()).encode()})

    receiver = Receiver(sink, app=app)
    await receiver.start()
    print(receiver.http_port, receiver.grpc_port, flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    await receiver.stop()


class Server:
    def __init__(self) -> None:
        command = [sys.executable, __file__, "--serve"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        http_port, grpc_port = self._process.stdout.readline().split()
        self._http = http.client.HTTPConnection("127.0.0.1", int(http_port))
        self._channel = grpc.insecure_channel(f"127.0.0.1:{grpc_port}")
        self._export = self._channel.unary_unary(EXPORT)

    def post(self, body: bytes) -> None:
        self._http.request("POST", "/v1/traces", body, HEADERS)
        response = self._http.getresponse()
        response.read()
        assert response.status == 200

    def call(self, body: bytes) -> None:
        self._export(body)

    def cpu(self) -> float:
        self._http.request("GET", "/cpu")
        return float(self._http.getresponse().read())

    def close(self) -> None:
        self._http.close()
        self._channel.close()
        self._process.communicate()


def requests(rounds: int) -> dict[str, dict[str, float]]:
    """CPU microseconds of the server and wall microseconds of a client that waits for each answer, a request."""
    server = Server()
    many, one = request(SPANS), request(1)
    variants: dict[str, tuple[Callable[[bytes], None], bytes, int]] = {
        f"HTTP, {SPANS} spans": (server.post, many, 40),
        f"gRPC, {SPANS} spans": (server.call, many, 40),
        "HTTP, 1 span": (server.post, one, 400),
        "gRPC, 1 span": (server.call, one, 400),
    }
    cpu: dict[str, list[float]] = {name: [] for name in variants}
    wall: dict[str, list[float]] = {name: [] for name in variants}
    for _ in range(rounds):
        for name, (send, body, number) in variants.items():
            before, start = server.cpu(), time.perf_counter()
            for _ in range(number):
                send(body)
            wall[name].append((time.perf_counter() - start) / number * 1e6)
            cpu[name].append((server.cpu() - before) / number * 1e6)
    server.close()
    return {name: {"cpu": statistics.median(cpu[name]), "wall": statistics.median(wall[name])} for name in variants}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write the numbers to this file as well")
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        import uvloop

        uvloop.run(serve())
        return
    decoded = decoding(options.rounds)
    limit = decoded["protobuf parse alone, official schema"]
    print(f"{'decoding':42}{'CPU us':>9}{'x parse':>9}")
    for name, value in decoded.items():
        print(f"{name:42}{value:9.2f}{value / limit:9.1f}")
    handled = requests(max(3, options.rounds // 5))
    print(f"\n{'whole requests':22}{'CPU us':>9}{'wall us':>9}{'CPU us/span':>13}{'x parse':>9}")
    for name, values in handled.items():
        spans = SPANS if str(SPANS) in name else 1
        each = values["cpu"] / spans
        print(f"{name:22}{values['cpu']:9.0f}{values['wall']:9.0f}{each:13.2f}{each / limit:9.1f}")
    if options.json is not None:
        options.json.write_text(json.dumps({"decoding": decoded, "requests": handled}, indent=2))


if __name__ == "__main__":
    main()
