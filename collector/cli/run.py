"""`spanbar run`: test specs against an agent."""

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from collector.cli.behavior_units import BadFiles, load_behaviors, misnamed
from collector.cli.endings import NothingRan
from collector.cli.garbage import young_collection
from collector.cli.mapping_option import mapping_option
from collector.cli.report import TerminalReport
from collector.cli.run_behaviors import RunBehaviors
from collector.cli.run_outputs import Outputs
from collector.cli.run_telemetry import RunTelemetry
from collector.cli.specs import find
from collector.cli.terminal import Terminal
from collector.index import Index
from evaluator.harness.listener import Listener, Listeners
from evaluator.harness.outcome import Notice, RunOutcome, TestKey
from evaluator.harness.process import kill_agents
from evaluator.harness.run import run_specs
from evaluator.harness.specrun import Options
from evaluator.language import SpecProblems, read_spec
from evaluator.language.spec import Spec

if TYPE_CHECKING:
    from collector.assembly import Assembly
    from collector.mapping import Claims
    from collector.pipeline import Pipeline
    from evaluator.behaviors import Program
    from evaluator.language.assertion import Behavior

FILE = click.Path(path_type=Path)

UNDELIVERED = 2
"""The exit code of a run that is verified and whose report could not be printed."""

ENDING = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}
"""The signals that end a run, and its exit code then."""


@dataclass(frozen=True, slots=True)
class Ports:
    """Where a run receives. Port 0 takes a free one."""

    host: str
    http: int
    grpc: int | None
    """None: gRPC is not served."""


@click.command()
@click.argument("specs", metavar="[SPEC]...", nargs=-1, type=FILE)
@click.option("--behaviors", "behavior_files", multiple=True, type=FILE, help="Judge every execution by FILE too.")
@click.option("--runs", type=click.IntRange(1), help="Run each test N times, unless it says itself.")
@click.option("--all-runs", is_flag=True, help="Do all runs, also when the outcome is clear.")
@click.option("-j", "jobs", type=click.IntRange(1), default=1, help="Run N tests at once, told apart by trace.")
@click.option("-k", "text", help="Only tests with TEXT in their suite's or their own name (any case).")
@click.option("--frozen", is_flag=True, help="Never generate variations; use the committed cache only.")
@click.option("--json", "json_file", type=FILE, help="Write what was found to FILE (- for stdout).")
@click.option("--junit", "junit_file", type=FILE, help="Write JUnit XML to FILE.")
@click.option("--html", "html_file", type=FILE, help="Write a page for people to FILE.")
@click.option("--record", "record_file", type=FILE, help="Write every received request to FILE, as OTLP JSON lines.")
@click.option("--export", "export_url", metavar="URL", help="Export results as OTLP; `env`: by OTEL_EXPORTER_OTLP_*.")
@click.option("--forward", "forward_url", metavar="URL", help="Pass on what was received, unchanged.")
@click.option(
    "--live",
    type=click.IntRange(0, 65535),
    is_flag=False,
    flag_value=0,
    metavar="[PORT]",
    help="Serve a page of the run as it goes on, at the OTLP/HTTP port (or PORT).",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to receive.")
@click.option("--http-port", type=click.IntRange(0, 65535), help="OTLP/HTTP port. Default: free; 4318 to attach.")
@click.option("--grpc-port", type=click.IntRange(0, 65535), help="OTLP/gRPC port. Default: none; 4317 to attach.")
@mapping_option
def run(
    specs: tuple[Path, ...],
    behavior_files: tuple[Path, ...],
    runs: int | None,
    all_runs: bool,
    jobs: int,
    text: str | None,
    frozen: bool,
    json_file: Path | None,
    junit_file: Path | None,
    html_file: Path | None,
    record_file: Path | None,
    export_url: str | None,
    forward_url: str | None,
    live: int | None,
    host: str,
    http_port: int | None,
    grpc_port: int | None,
    mapping: "Claims | None",
) -> None:
    """Run test specs: SPEC is a file, or a folder of *.highbar.yaml (default: specs/).

    The agent is told where to send its spans (HIGHBAR_TRACES_URL and OTEL_EXPORTER_OTLP_*). A test ends the moment
    its verdict is known. Exit codes: 0 verified; 1 failed or could not be verified; 2 nothing could run.
    """
    loaded = load_specs(find(specs), runs)
    ports = ports_for(loaded, host, live or http_port, grpc_port)
    options = Options(
        jobs=jobs,
        runs=runs,
        all_runs=all_runs,
        frozen=frozen,
        select=_selecting(text),
        asked=text or "",
        environ=dict(os.environ),
    )
    stdout_taken = json_file == Path("-")
    console = Terminal(stderr=stdout_taken, highlight=False)
    for spec in loaded:
        for warning in spec.warnings:
            console.print(f"warning  {warning}", style="yellow", markup=False, soft_wrap=True)
    outputs = Outputs(
        json=json_file,
        junit=junit_file,
        html=html_file,
        record=record_file,
        export=export_url,
        forward=forward_url,
        live=live is not None,
    )
    job = _Job(loaded, load_behaviors(behavior_files), options, ports, outputs, TerminalReport(console), mapping)
    code = _go(job)
    # Whoever reads the report has not seen all of it: that is no success.
    sys.exit(code or (UNDELIVERED if console.problem is not None else 0))


def ports_for(specs: Sequence[Spec], host: str, http_port: int | None, grpc_port: int | None) -> Ports:
    """The ports that are asked for; else the well-known ones where an agent runs already.

    An agent that is started gets a free port for HTTP, which takes OTLP/gRPC as well.
    """
    attached = any(spec.agent.start is None and spec.agent.traces in (None, "otlp") for spec in specs)
    return Ports(
        host,
        (4318 if attached else 0) if http_port is None else http_port,
        (4317 if attached else None) if grpc_port is None else grpc_port,
    )


def load_specs(paths: Sequence[Path], runs: int | None) -> list[Spec]:
    """All specs; every problem of every file is printed, and then nothing runs (exit 2)."""
    loaded, problems = [], []
    for path in paths:
        try:
            loaded.append(read_spec(path, environ=os.environ, runs=runs))
        except SpecProblems as found:
            problems += [str(problem) for problem in found.problems]
    if problems:
        raise BadFiles(problems)
    return loaded


@dataclass(frozen=True, slots=True)
class _Job:
    specs: Sequence[Spec]
    behaviors: "Sequence[Behavior]"
    options: Options
    ports: Ports
    outputs: Outputs
    report: TerminalReport
    mapping: "Claims | None"

    async def run(self) -> RunOutcome:
        everywhere, named = list(self.behaviors), named_behaviors(self.specs)
        judged = tuple(dict.fromkeys([*everywhere, *(behavior for each in named.values() for behavior in each)]))
        index = Index(_program(judged))
        async with AsyncExitStack() as stack:
            outputs = await stack.enter_async_context(self.outputs.opened(index, self.report.wrote))
            telemetry = RunTelemetry(
                lambda: _pipeline(index, self.mapping),
                host=self.ports.host,
                http_port=self.ports.http,
                grpc_port=self.ports.grpc,
                raw=outputs.raw,
                app=outputs.app,
            )
            try:
                await telemetry.start()
            except OSError as error:
                raise NothingRan(f"cannot receive on {self.ports.host}: {error.strerror or error}") from error
            if outputs.app is not None:
                self.report.live_at(telemetry.endpoints.http)
            stack.push_async_callback(telemetry.stop)
            stack.push_async_callback(outputs.say_goodbye)
            behaviors = RunBehaviors(
                index, lambda: telemetry.pipeline.assembly, everywhere, named, tests_naming(self.specs)
            )
            listener: Listener = Listeners([behaviors, self.report, *outputs.listeners])
            return await run_specs(
                self.specs,
                listener=listener,
                telemetry=telemetry,
                options=replace(self.options, watched=bool(everywhere)),
                behaviors=behaviors if judged else None,
                closing=lambda: self._warnings(judged, index, lambda: telemetry.pipeline.assembly),
            )

    def _warnings(
        self, judged: "Sequence[Behavior]", index: Index, assembly: "Callable[[], Assembly]"
    ) -> Iterator[Notice]:
        """What seems to be wrong in the behaviors and the mapping, after all has arrived."""
        for text in misnamed(judged, index, assembly()) if judged else ():
            yield Notice("unknown_tool", text)
        for text in self.mapping.idle() if self.mapping is not None else ():
            yield Notice("unused_rule", text)


def _pipeline(index: Index, mapping: "Claims | None") -> "Pipeline":
    from collector.assembly import Assembly
    from collector.pipeline import Pipeline

    return Pipeline(index, Assembly(mapping))


def _program(behaviors: "Sequence[Behavior]") -> "Program | None":
    if not behaviors:
        return None
    # Loading the operators takes long beside a short run that has no behaviors.
    from evaluator.behaviors import Program

    return Program(behaviors)


def named_behaviors(specs: Sequence[Spec]) -> "dict[Path, Sequence[Behavior]]":
    """The behaviors of every file that a spec names under `x-behaviors`."""
    paths = [path for spec in specs for suite in spec.suites for test in suite.tests for path in test.behaviors]
    return {path: load_behaviors([path]) for path in dict.fromkeys(paths)}


def tests_naming(specs: Sequence[Spec]) -> dict[TestKey, Sequence[Path]]:
    return {
        TestKey(at, suite_at, test_at): test.behaviors
        for at, spec in enumerate(specs)
        for suite_at, suite in enumerate(spec.suites)
        for test_at, test in enumerate(suite.tests)
        if test.behaviors
    }


def _selecting(text: str | None) -> Callable[[str, str], bool] | None:
    if text is None:
        return None
    wanted = text.casefold()
    return lambda suite, test: wanted in suite.casefold() or wanted in test.casefold()


def _interrupt(task: "asyncio.Future[RunOutcome]", ended_by: list[signal.Signals], number: signal.Signals) -> None:
    """The first signal ends the run in order; with a further one, the agents get no time to end by themselves."""
    if ended_by:
        kill_agents()
    else:
        task.cancel()
    ended_by.append(number)


def _go(job: _Job) -> int:
    """Run to the end or to the first signal; the exit code."""
    ended_by: list[signal.Signals] = []

    async def supervised() -> RunOutcome:
        task = asyncio.ensure_future(job.run())
        loop = asyncio.get_running_loop()
        for number in ENDING:
            loop.add_signal_handler(number, _interrupt, task, ended_by, number)
        return await task

    try:
        with young_collection():
            outcome = asyncio.run(supervised())
    except asyncio.CancelledError:
        return ENDING[ended_by[0]] if ended_by else 130
    finally:
        job.report.close()
    if ended_by:
        return ENDING[ended_by[0]]
    return int(outcome.exit_status)
