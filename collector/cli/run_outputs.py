"""Where a run's findings and telemetry go beside the terminal: files, exports, forwards, a live page."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import click

from collector.export.destination import DestinationError
from collector.export.exporter import ResultExporter
from collector.export.html import write_html
from collector.export.json import run_document, write_document
from collector.export.junit import write_junit
from collector.index import Index
from collector.receiver import Received
from evaluator.harness.listener import Listener
from evaluator.harness.outcome import RunOutcome

EXPORT_WAIT = 10.0
"""Seconds that results have to reach where they are exported to."""

Raw = Callable[[Received], None]


@dataclass(slots=True)
class Opened:
    """The outputs of a run that goes on: who listens to it, and who gets each request as it came."""

    listeners: list[Listener] = field(default_factory=list)
    raws: list[Raw] = field(default_factory=list)

    def raw(self, received: Received) -> None:
        for raw in self.raws:
            raw(received)


@dataclass(frozen=True, slots=True)
class Outputs:
    """What the command line asked for; None: not."""

    json: Path | None = None
    junit: Path | None = None
    html: Path | None = None
    record: Path | None = None
    export: str | None = None
    forward: str | None = None
    live: int | None = None

    @asynccontextmanager
    async def opened(self, index: Index) -> AsyncIterator[Opened]:
        """The outputs, closed at the end. Raises click.UsageError for what cannot be opened."""
        async with AsyncExitStack() as stack:
            opened = Opened([Files(self)])
            if self.export is not None:
                exporter = exporter_of(self.export)
                await exporter.start()
                stack.push_async_callback(close_exporter, exporter)
                opened.listeners.append(Exporting(exporter))
            yield opened


class Files(Listener):
    """Writes the report files when the run is over."""

    def __init__(self, outputs: Outputs) -> None:
        self._outputs = outputs

    def run_finished(self, outcome: RunOutcome) -> None:
        outputs = self._outputs
        if outputs.json is not None:
            write_document(run_document(outcome), outputs.json)
        if outputs.junit is not None:
            write_junit(outcome, outputs.junit)
        if outputs.html is not None:
            write_html(outcome, outputs.html)


class Exporting(Listener):
    """Exports the whole run when it is over."""

    def __init__(self, exporter: ResultExporter) -> None:
        self._exporter = exporter

    def run_finished(self, outcome: RunOutcome) -> None:
        self._exporter.run_finished(outcome)


def exporter_of(url: str) -> ResultExporter:
    """The exporter to a URL; `env` goes by the `OTEL_EXPORTER_OTLP_*` variables. Raises click.UsageError."""
    try:
        return ResultExporter(None if url == "env" else url)
    except DestinationError as error:
        raise click.UsageError(f"--export: {error}") from error


async def close_exporter(exporter: ResultExporter) -> None:
    """Wait until everything is delivered, at most `EXPORT_WAIT` seconds, and say what was not."""
    await exporter.close(EXPORT_WAIT)
    if exporter.counts.lost:
        click.echo(
            f"warning: {exporter.counts.lost} export(s) to {exporter.name} were not delivered: "
            f"{exporter.counts.last_error}",
            err=True,
        )
