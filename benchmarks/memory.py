"""What is kept of a million spans: `python benchmarks/memory.py [--spans N] [--json FILE]`.

Spans of a coding agent are received, assembled, judged by 100 behaviors and kept, as `serve` does it, the cyclic
garbage collector as `serve` has it. Reported are the resident bytes a span beyond those of the process before the
first one; the longest that one request of 500 spans held the event loop up, in CPU time, garbage collection
included; and how long a full pass of the collector would take.
"""

import argparse
import gc
import json
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from check import A_REQUEST, hangar
from operators import program, rules

from collector.cli.garbage import young_collection
from collector.index import Index
from collector.pipeline import Pipeline
from collector.receiver.protobuf import decode_traces
from evaluator.verdict import Contract

GOALS = {"bytes a span": 460.0, "longest request, ms": 30.0}


def resident() -> int:
    """Bytes of this process that are in memory now."""
    fields = Path("/proc/self/statm").read_text().split()
    return int(fields[1]) * 4096


def measure(spans: int) -> dict[str, float]:
    pipeline = Pipeline(Index(program(rules(100), Contract.ANY)))
    with young_collection():
        before, took = resident(), []
        for request in hangar(spans):
            body = request.SerializeToString()
            start = time.thread_time()
            pipeline.receive(decode_traces(body).batch)
            took.append(time.thread_time() - start)
        kept = resident() - before
        start = time.thread_time()
        gc.collect()
        full = time.thread_time() - start
    assert pipeline.index.items == spans
    return {
        "spans": float(spans),
        "bytes a span": kept / spans,
        "longest request, ms": max(took) * 1e3,
        "median request, ms": statistics.median(took) * 1e3,
        "a full pass of the collector, ms": full * 1e3,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write the numbers to this file as well")
    parser.add_argument("--spans", type=int, default=1_000_000)
    options = parser.parse_args()
    found = measure(options.spans // A_REQUEST * A_REQUEST)
    for name, value in found.items():
        goal = f"   goal {GOALS[name]:,.0f}" if name in GOALS else ""
        print(f"{name:34}{value:14,.1f}{goal}")
    if options.json is not None:
        options.json.write_text(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
