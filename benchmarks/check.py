"""What `spanbar check` costs: `python benchmarks/check.py [--spans N] [--json FILE]`.

Files of a made-up coding agent (hangar spans, one tool call each, 8 or 9 attributes) and of a GenAI agent (an agent
span, model spans and tool spans in turns) are read, decoded, put together and judged by 0, 1, 10, 100 and 1,000
behaviors, as protobuf and as OTLP JSON lines, in one process and with the garbage collector as `check` has it. CPU
time, so other processes distort it little; the variants take turns, and the median counts. `x parse` is the multiple
of protobuf's parse of the same spans with the official schema; it changes little with the speed of the machine.
"""

import argparse
import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import orjson
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import ScopeSpans
from operators import program, rules

from collector.cli.garbage import no_collection
from collector.export.otlp_json import request_to_json
from collector.index import Index
from collector.pipeline import Pipeline
from collector.receiver.files import read
from evaluator.behaviors import Program
from evaluator.verdict import Contract

BEHAVIORS = (0, 1, 10, 100, 1000)
A_REQUEST = 500
START = 1_764_500_000_000_000_000
TOOLS = {"shell": "Bash", "edit": "Edit", "read": "Read", "search": "Grep"}


def attribute(key: str, value: str | int | list[str]) -> KeyValue:
    made = AnyValue()
    if isinstance(value, int):
        made.int_value = value
    elif isinstance(value, str):
        made.string_value = value
    else:
        for element in value:
            made.array_value.values.add(string_value=element)
    return KeyValue(key=key, value=made)


class Spans:
    """Adds spans to a request, with ids and times that go on from one to the next."""

    def __init__(self) -> None:
        self.number = 0

    def add(self, scope: ScopeSpans, trace: int, parent: int, name: str, attributes: dict[str, Any]) -> int:
        self.number += 1
        scope.spans.add(
            trace_id=trace.to_bytes(16, "big"),
            span_id=self.number.to_bytes(8, "big"),
            parent_span_id=parent.to_bytes(8, "big") if parent else b"",
            name=name,
            kind=1,
            start_time_unix_nano=START + self.number * 1_000_000,
            end_time_unix_nano=START + self.number * 1_000_000 + 500_000,
            attributes=[attribute(key, value) for key, value in attributes.items()],
        )
        return self.number


def hangar(total: int, others: Mapping[str, str] | None = None) -> Iterator[ExportTraceServiceRequest]:
    """Tool calls of a coding agent, 10,000 a session; each with `others` as further attributes."""
    chance, spans = random.Random(1), Spans()
    for first in range(0, total, A_REQUEST):
        made = ExportTraceServiceRequest()
        scope = made.resource_spans.add().scope_spans.add()
        for position in range(first, first + A_REQUEST):
            session, seq = divmod(position, 10_000)
            kind = chance.choice(tuple(TOOLS))
            attributes = {
                "gen_ai.tool.name": TOOLS[kind],
                "hangar.session.id": f"session-{session}",
                "hangar.seq": seq,
                "hangar.turn": seq // 50,
                "hangar.tool.kind": kind,
                "hangar.tool.input": "x" * chance.randint(10, 100),
                "hangar.tool.output": "ok",
                "hangar.file.repo_path": f"src/part{chance.randint(0, 50)}.py",
            }
            if kind == "shell":
                attributes["hangar.shell.ops"] = [chance.choice(["test", "git.commit"])]
            spans.add(scope, session + 1, 0, "tool.call", {**attributes, **(others or {})})
        yield made


def genai(total: int) -> Iterator[ExportTraceServiceRequest]:
    """Runs of an agent: its span, and below it model and tool spans in turns; children end, and come, first."""
    chance, spans = random.Random(1), Spans()
    for first in range(0, total, A_REQUEST):
        made = ExportTraceServiceRequest()
        scope = made.resource_spans.add().scope_spans.add()
        for run in range(first, first + A_REQUEST, 10):
            parent = (1 << 40) + run
            for step in range(9):
                attributes: dict[str, Any] = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}
                attributes["gen_ai.usage.input_tokens"] = chance.randint(1, 5000)
                if step % 2 == 0:
                    attributes = {
                        "gen_ai.operation.name": "execute_tool",
                        "gen_ai.tool.name": "get_order",
                        "gen_ai.tool.call.id": f"call-{run}-{step}",
                        "gen_ai.tool.type": "function",
                        "gen_ai.tool.call.arguments": json.dumps({"order": chance.randint(1, 9999)}),
                        "gen_ai.tool.call.result": "shipped",
                    }
                spans.add(scope, run + 1, parent, attributes["gen_ai.operation.name"], attributes)
            agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.conversation.id": f"run-{run}"}
            spans.add(scope, run + 1, 0, "invoke_agent", agent)
            scope.spans[-1].span_id = parent.to_bytes(8, "big")
        yield made


def parsed(requests: list[bytes]) -> None:
    for body in requests:
        ExportTraceServiceRequest.FromString(body)


def decoded(path: Path) -> None:
    for _ in read(path):
        pass


def checked(path: Path, over: Program | None) -> Pipeline:
    pipeline = Pipeline(Index(over))
    for batch in read(path):
        pipeline.receive(batch)
    return pipeline


def timed(run: Callable[[], object]) -> float:
    """CPU seconds; what the run leaves behind is freed outside."""
    with no_collection():
        start = time.process_time()
        left = run()
        spent = time.process_time() - start
    del left
    return spent


def measure(name: str, requests: list[bytes], folder: Path, spans: int, rounds: int) -> dict[str, float]:
    """CPU microseconds a span, by variant."""
    binary, lines = folder / f"{name}.pb", folder / f"{name}.jsonl"
    binary.write_bytes(b"".join(requests))
    lines.write_bytes(b"".join(orjson.dumps(request_to_json("traces", body)) + b"\n" for body in requests))
    variants: dict[str, Callable[[], object]] = {
        "protobuf parse alone": lambda: parsed(requests),
        "read and decode": lambda: decoded(binary),
    }
    for behaviors in BEHAVIORS:
        over = program(rules(behaviors), Contract.ANY) if behaviors else None
        variants[f"check, {behaviors} behaviors"] = partial(checked, binary, over)
        if behaviors == 100:
            variants["JSON lines: check, 100 behaviors"] = partial(checked, lines, over)
    variants["JSON lines: read and decode"] = lambda: decoded(lines)
    times: dict[str, list[float]] = {variant: [] for variant in variants}
    for _ in range(rounds):
        for variant, run in variants.items():
            times[variant].append(timed(run) / spans * 1e6)
    return {variant: statistics.median(values) for variant, values in times.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write the numbers to this file as well")
    parser.add_argument("--spans", type=int, default=50_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    results: dict[str, dict[str, float]] = {}
    for name, make in (("hangar", hangar), ("genai", genai)):
        requests = [request.SerializeToString() for request in make(options.spans)]
        with tempfile.TemporaryDirectory() as folder:
            found = measure(name, requests, Path(folder), options.spans, options.rounds)
        results[name] = found
        parse, without = found["protobuf parse alone"], found["check, 0 behaviors"]
        print(f"\n{name + ', each span':34}{'CPU us':>9}{'spans/s':>11}{'x parse':>9}{'x none':>9}")
        for variant, value in found.items():
            print(f"{variant:34}{value:9.2f}{1e6 / value:11,.0f}{value / parse:9.1f}{value / without:9.2f}")
    if options.json is not None:
        options.json.write_text(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
