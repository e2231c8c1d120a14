"""The whole of receiving against other receivers: `python benchmarks/receive_all.py [--agentevals PATH]`.

Requests of 512 hangar spans (12 attributes, 1.2 kB) go over gRPC and HTTP to: spanbar, which puts them together,
keeps every item and judges 100 behaviors; rotel, a Collector in Rust, which drops them; and, where its command is
given (install `agentevals-cli` into an environment of its own), agentevals, which keeps them. Compared is the CPU
time of the serving process a span, from the system's accounts, so it does not matter how fast the sender is, or
what else the machine does. The servers take turns. A ratio above 1 means that spanbar needs less.
"""

import argparse
import asyncio
import http.client
import json
import os
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import check
import grpc
import rotel
from operators import program, rules

from collector.cli.event_loop import loop_factory
from collector.cli.garbage import young_collection
from collector.index import Index
from collector.pipeline import Pipeline
from collector.receiver import Receiver
from evaluator.verdict import Contract

SPANS = 512
EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
HEADERS = {"content-type": "application/x-protobuf"}
TICKS = os.sysconf("SC_CLK_TCK")
GOALS = {"gRPC": 0.6, "HTTP": 0.5}
"""Of rotel's throughput."""


async def serve() -> None:
    """spanbar without its command line, in a process of its own."""
    receiver = Receiver(Pipeline(Index(program(rules(100), Contract.ANY))).receive)
    await receiver.start()
    print(receiver.http_port, receiver.grpc_port, flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@dataclass
class Server:
    name: str
    process: "subprocess.Popen[str]"
    http_port: int
    grpc_port: int
    times: dict[str, list[float]] = field(default_factory=dict)
    """CPU us a span, by transport."""

    def cpu(self) -> float:
        """CPU seconds of the process, all threads and the kernel's work for it included."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def wait(self) -> None:
        for port in (self.http_port, self.grpc_port):
            deadline = time.monotonic() + 120
            while True:
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
                if self.process.poll() is not None or time.monotonic() > deadline:
                    raise SystemExit(f"{self.name} did not start to listen")
                time.sleep(0.1)

    def take(self, transport: str, bodies: Sequence[bytes]) -> None:
        """Send it requests, one after another, and note what they cost."""
        before = self.cpu()
        if transport == "HTTP":
            connection = http.client.HTTPConnection("127.0.0.1", self.http_port)
            for body in bodies:
                connection.request("POST", "/v1/traces", body, HEADERS)
                response = connection.getresponse()
                response.read()
                assert response.status == 200, (self.name, response.status)
            connection.close()
        else:
            with grpc.insecure_channel(f"127.0.0.1:{self.grpc_port}") as channel:
                export = channel.unary_unary(EXPORT)
                for body in bodies:
                    export(body)
        spent = (self.cpu() - before) / len(bodies) / SPANS
        self.times.setdefault(transport, []).append(spent * 1e6)


@contextmanager
def started(command: Sequence[str], **options: int) -> "Iterator[subprocess.Popen[str]]":
    process = subprocess.Popen(command, stdin=subprocess.PIPE, text=True, **options)
    try:
        yield process
    finally:
        process.terminate()
        process.communicate()


def servers(stack: ExitStack, agentevals: Path | None) -> list[Server]:
    ours = stack.enter_context(started([sys.executable, __file__, "--serve"], stdout=subprocess.PIPE))
    assert ours.stdout is not None
    found = [Server("spanbar", ours, *map(int, ours.stdout.readline().split()))]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    http_port, grpc_port = free_port(), free_port()
    command = [str(Path(rotel.__file__).parent / "rotel-agent"), "start", "--exporter", "blackhole"]
    command += ["--otlp-http-endpoint", f"127.0.0.1:{http_port}", "--otlp-grpc-endpoint", f"127.0.0.1:{grpc_port}"]
    found.append(Server("rotel", stack.enter_context(started(command, **quiet)), http_port, grpc_port))
    if agentevals is not None:
        http_port, grpc_port = free_port(), free_port()
        command = [
            str(agentevals),
            "serve",
            "--dev",
            "--headless",
            "--port",
            str(free_port()),
            "--api-grpc-port",
            "0",
        ]
        command += ["--otlp-http-port", str(http_port), "--otlp-grpc-port", str(grpc_port)]
        found.append(Server("agentevals", stack.enter_context(started(command, **quiet)), http_port, grpc_port))
    for server in found:
        server.wait()
    return found


def bodies(requests: int) -> list[bytes]:
    check.A_REQUEST = SPANS
    texts = {f"gen_ai.other.{number}": f"{number}" + "v" * 200 for number in range(4)}
    return [request.SerializeToString() for request in check.hangar(requests * SPANS, texts)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write the numbers to this file as well")
    parser.add_argument("--agentevals", type=Path, help="the agentevals command")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--requests", type=int, default=40, help="a round")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        with young_collection(), asyncio.Runner(loop_factory=loop_factory()) as runner:
            runner.run(serve())
        return
    # Every request of a server is new to it, over all rounds: what comes twice counts once, and costs less.
    fresh = bodies(2 * options.rounds * options.requests)
    with ExitStack() as stack:
        compared = servers(stack, options.agentevals)
        for first in range(0, len(fresh), 2 * options.requests):
            for offset, transport in ((0, "gRPC"), (options.requests, "HTTP")):
                for server in compared:
                    server.take(transport, fresh[first + offset : first + offset + options.requests])
    results = {
        server.name: {transport: statistics.median(times) for transport, times in server.times.items()}
        for server in compared
    }
    ours = results["spanbar"]
    print(f"{'CPU us a span':14}{'gRPC':>9}{'HTTP':>9}{'ratio gRPC':>13}{'ratio HTTP':>13}")
    for name, found in results.items():
        ratios = "".join(f"{found[transport] / ours[transport]:13.2f}" for transport in found)
        print(f"{name:14}{found['gRPC']:9.2f}{found['HTTP']:9.2f}{ratios}")
    print(f"goals against rotel: gRPC {GOALS['gRPC']}, HTTP {GOALS['HTTP']}; against agentevals: 5")
    if options.json is not None:
        options.json.write_text(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
