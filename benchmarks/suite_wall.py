"""How long a suite takes: spanbar against highbar's defaults, side by side in one run.

    python benchmarks/suite_wall.py [--tests 4 20 100] [--rounds 3]

The agent answers after 20 ms and makes one call for each message. spanbar gets it as OTLP spans, highbar as the
trace file that its SDK would write; highbar is installed into .cache/highbar-venv. Wall times are those of the whole
command, with start-up of the tool and of the agent. Only ratios within one run count: a machine's speed changes.
"""

import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.e2e import highbar  # noqa: E402

AGENT = ROOT / "benchmarks" / "quick_agent.py"
SPANBAR = Path(sys.executable).parent / "spanbar"
GOALS = {(20, "spanbar"): 10.0, (100, "spanbar -j 8"): 25.0}
OVERHEAD_GOAL_MS = 10.0


def write_spec(folder: Path, tests: int) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    call = {"function_calls": [{"name": "get_order", "params": {"order_id": "1042"}}]}
    spec = {
        "agent": {
            "start": f"{sys.executable} -S {AGENT} {port}",
            "endpoint": f"http://127.0.0.1:{port}/chat",
            "health": f"http://127.0.0.1:{port}/health",
        },
        "suites": [{"name": "Orders", "tests": [{"trigger": f"order {n}", "expect": call} for n in range(tests)]}],
    }
    (folder / "suite.highbar.yaml").write_text(json.dumps(spec), "utf-8")


def wall(command: list[str], folder: Path) -> float:
    """Seconds of one run, all of whose tests must pass."""
    began = time.perf_counter()
    done = subprocess.run(
        [*command, "suite.highbar.yaml"],
        cwd=folder,
        env=highbar.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    took = time.perf_counter() - began
    if done.returncode != 0:
        sys.exit(f"{command[0]} exited with {done.returncode}:\n{done.stdout}{done.stderr}")
    return took


def overhead(folder: Path) -> float:
    """ms per test beyond what the agent itself took, sequentially: the median, from spanbar's own document."""
    subprocess.run(
        [str(SPANBAR), "run", "--json", "result.json", "suite.highbar.yaml"],
        cwd=folder,
        env=dict(os.environ),
        check=True,
        capture_output=True,
    )
    tests = json.loads((folder / "result.json").read_text("utf-8"))["tests"]
    own = [float((folder / "agent.ms").read_text("utf-8").split()[at]) for at in range(len(tests))]
    return statistics.median(test["duration_ms"] - mine for test, mine in zip(tests, own, strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tests", type=int, nargs="+", default=[4, 20, 100])
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    commands = {
        "highbar": [str(highbar.installed() / "highbar"), "run"],
        "spanbar": [str(SPANBAR), "run"],
        "spanbar -j 8": [str(SPANBAR), "run", "-j", "8"],
    }
    print(f"{'tests':>5}  {'tool':<14}{'wall, median':>14}{'ratio':>8}   goal")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for tests in arguments.tests:
            write_spec(folder, tests)
            times: dict[str, list[float]] = {tool: [] for tool in commands}
            for _ in range(arguments.rounds):
                for tool, command in commands.items():
                    times[tool].append(wall(command, folder))
            base = statistics.median(times["highbar"])
            for tool, taken in times.items():
                median = statistics.median(taken)
                goal = GOALS.get((tests, tool))
                told = "" if goal is None else f"   {goal:g} x: {'met' if base / median >= goal else 'not met'}"
                print(f"{tests:>5}  {tool:<14}{median:>12.2f} s{base / median:>7.1f}x{told}", flush=True)
        beyond = overhead(folder)
        told = "met" if beyond <= OVERHEAD_GOAL_MS else "not met"
        print(f"sequential overhead of a test, beyond the agent's: {beyond:.1f} ms   {OVERHEAD_GOAL_MS:g} ms: {told}")


if __name__ == "__main__":
    main()
