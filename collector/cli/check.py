"""`spanbar check`: behaviors over recorded traces."""

import asyncio
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from time import time_ns
from typing import Final

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TaskProgressColumn, TextColumn, TimeRemainingColumn

from collector.assembly import Assembly
from collector.cli.behavior_report import report
from collector.cli.behavior_units import behavior_units, blind, load_behaviors, misnamed
from collector.cli.endings import NothingRan
from collector.cli.garbage import no_collection
from collector.cli.mapping_option import mapping_option
from collector.cli.run_outputs import close_exporter, exporter_of
from collector.cli.unreadable import told
from collector.export.exporter import ResultExporter
from collector.export.json import behaviors_document, write_document
from collector.index import Index
from collector.mapping import Claims
from collector.pipeline import Pipeline
from collector.receiver.files import STDIN, FileProblem, read
from evaluator.behaviors import Program
from evaluator.harness.outcome import RunOutcome, unverified
from evaluator.verdict import Contract

STEP: Final = 1 << 18
"""Bytes of a file after which the progress bar moves: moving it takes as long as reading a small span."""


@click.command()
@click.argument("behaviors", type=click.Path(path_type=Path))
@click.argument("traces", nargs=-1, required=True, type=click.Path(path_type=Path))
@mapping_option
@click.option("--ordered", is_flag=True, help="Take it that nothing arrives late, and report what is final by that.")
@click.option(
    "--json", "json_file", type=click.Path(path_type=Path), help="Write the results to FILE (- for stdout)."
)
@click.option("--export", metavar="URL", help="Export results as OTLP; `env`: by OTEL_EXPORTER_OTLP_*.")
@no_collection()
def check(
    behaviors: Path,
    traces: tuple[Path, ...],
    ordered: bool,
    json_file: Path | None,
    export: str | None,
    mapping: Claims | None,
) -> None:
    """Check BEHAVIORS over recorded TRACES, read as streams of any size.

    A trace file is OTLP (JSON lines as the Collector's file exporter writes them, or protobuf), trace-contract
    lines, or gzip of these; which one is told by its content. `-` is the standard input. A part of a file that
    cannot be read makes what would pass unknown.
    """
    started = time_ns()
    exporter = exporter_of(export) if export is not None else None
    console = Console(stderr=json_file == Path("-"), highlight=False)
    program = Program(load_behaviors([behaviors]), Contract.ORDERED if ordered else Contract.ANY)
    index = Index(program)
    pipeline = Pipeline(index, Assembly(mapping))
    unreadable = _feed(pipeline, traces, console)
    for session, _ in pipeline.assembly.sessions():
        index.open(session)
    blind(index, pipeline.assembly)
    if unreadable:
        index.cut_all(unreadable)
    index.close_all()
    units = behavior_units(index)
    if not units:
        raise NothingRan(
            "nothing in these files is a session: no tool call, approval, event or agent span. "
            "See what they hold with: spanbar explain " + " ".join(map(str, traces))
        )
    report(console, units)
    warnings = [
        *misnamed(program.behaviors, index, pipeline.assembly),
        *(mapping.idle() if mapping is not None else ()),
    ]
    for number, line in enumerate(warnings):
        start = "" if number else "\n"
        console.print(f"{start}warning  {line}", style="yellow", markup=False, soft_wrap=True)
    if json_file is not None:
        write_document(behaviors_document(units), json_file)
        if json_file != Path("-"):
            console.print(f"\nwrote {json_file}", style="dim", markup=False, soft_wrap=True)
    if exporter is not None:
        outcome = RunOutcome((), (), tuple(units), started, time_ns())
        asyncio.run(_export(exporter, outcome))
    sys.exit(1 if unverified(units) else 0)


async def _export(exporter: ResultExporter, outcome: RunOutcome) -> None:
    await exporter.start()
    exporter.run_finished(outcome, verb="check")
    await close_exporter(exporter)


def _feed(pipeline: Pipeline, traces: Sequence[Path], console: Console) -> str:
    """Read all files into the pipeline; what could not be read comes back as a clause, or ""."""
    problems: list[FileProblem] = []
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    seen = console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=not seen) as progress:
        for path in traces:
            task = progress.add_task(path.name, total=_size(path))
            try:
                for batch in read(path, problems.append, partial(_advance, progress, task) if seen else None):
                    pipeline.receive(batch)
            except FileProblem as problem:
                problems.append(problem)
    for line in told(problems):
        console.print(line, style="yellow", markup=False, soft_wrap=True)
    if not problems:
        return ""
    return f"{len(problems)} part{'s' if len(problems) > 1 else ''} of the recorded files could not be read"


def _advance(progress: Progress, task: TaskID, position: int) -> None:
    if position - progress.tasks[task].completed >= STEP:
        progress.update(task, completed=position)


def _size(path: Path) -> int | None:
    """In bytes; None where it is not known beforehand: of a pipe."""
    if path == STDIN:
        return None
    try:
        return path.stat().st_size or None
    except OSError as error:
        raise click.UsageError(f"{path}: {error.strerror}") from error
