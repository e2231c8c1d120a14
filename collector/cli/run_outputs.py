"""Where a run's findings and telemetry go beside the terminal: files, exports, forwards, a live page."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import click

from collector.cli.endings import NothingRan
from collector.index import Index
from evaluator.harness.listener import Listener
from evaluator.harness.outcome import RunOutcome

# What writes an output is loaded when that output is asked for: together they take longer than a short run.
if TYPE_CHECKING:
    from collector.export.exporter import ResultExporter
    from collector.export.forward import Forwarder
    from collector.export.record import Recorder
    from collector.live.app import Live
    from collector.receiver import Received
    from collector.receiver.asgi import ASGIApp

LAST_WORDS = 10.0
"""Seconds that what waits to be exported or forwarded has at the end."""

Raw = Callable[["Received"], None]


@dataclass(slots=True)
class Opened:
    """The outputs of a run that goes on: who listens to it, who gets each request as it came, what is served."""

    listeners: list[Listener] = field(default_factory=list)
    raws: list[Raw] = field(default_factory=list)
    live: "Live | None" = None

    @property
    def app(self) -> "ASGIApp | None":
        return self.live.app if self.live is not None else None

    def raw(self, received: "Received") -> None:
        for raw in self.raws:
            raw(received)

    async def say_goodbye(self) -> None:
        """Let readers of the page know that this is the end, while the server can still tell them."""
        if self.live is not None:
            await self.live.stop()


@dataclass(frozen=True, slots=True)
class Outputs:
    """What the command line asked for."""

    json: Path | None = None
    junit: Path | None = None
    html: Path | None = None
    record: Path | None = None
    export: str | None = None
    forward: str | None = None
    live: bool = False

    @asynccontextmanager
    async def opened(self, index: Index, wrote: Callable[[Path], None]) -> AsyncIterator[Opened]:
        """The outputs. At the end they are closed, and what did not get through is said on the standard error.

        `wrote` is told of each file that was written.

        Raises click.UsageError for what cannot be opened.
        """
        opened = Opened([Files(self, wrote)])
        async with AsyncExitStack() as stack:
            if self.record is not None:
                stack.callback(wrote, self.record)
                stack.callback(_tell, recorder := _recorder(self.record))
                opened.raws.append(stack.enter_context(recorder))
            if self.forward is not None:
                forwarder = _forwarder(self.forward)
                await forwarder.start()
                stack.callback(_tell, forwarder)
                stack.push_async_callback(forwarder.close, LAST_WORDS)
                opened.raws.append(forwarder)
            if self.export is not None:
                exporter = exporter_of(self.export)
                await exporter.start()
                stack.push_async_callback(close_exporter, exporter)
                opened.listeners.append(Exporting(exporter))
            if self.live:
                from collector.live.app import Live

                opened.live = await stack.enter_async_context(Live(index, run=True))
                assert opened.live.run is not None
                opened.listeners.append(opened.live.run)
            yield opened


class Files(Listener):
    """Writes the report files when the run is over. A file that cannot be written ends the run with its reason."""

    def __init__(self, outputs: Outputs, wrote: Callable[[Path], None]) -> None:
        self._outputs = outputs
        self._wrote = wrote

    def run_finished(self, outcome: RunOutcome) -> None:
        outputs = self._outputs
        if outputs.json is not None:
            from collector.export.json import run_document, write_document

            self._write(outputs.json, lambda path: write_document(run_document(outcome), path))
        if outputs.junit is not None:
            from collector.export.junit import write_junit

            self._write(outputs.junit, lambda path: write_junit(outcome, path))
        if outputs.html is not None:
            from collector.export.html import write_html

            self._write(outputs.html, lambda path: write_html(outcome, path))

    def _write(self, path: Path, write: Callable[[Path], None]) -> None:
        """Raises NothingRan if that fails: whoever reads an old report must not take it for this run's."""
        try:
            write(path)
        except OSError as error:
            raise NothingRan(f"{path} could not be written: {error.strerror or error}") from error
        self._wrote(path)


class Exporting(Listener):
    """Exports the whole run when it is over."""

    def __init__(self, exporter: "ResultExporter") -> None:
        self._exporter = exporter

    def run_finished(self, outcome: RunOutcome) -> None:
        self._exporter.run_finished(outcome)


def exporter_of(url: str) -> "ResultExporter":
    """The exporter to a URL; `env` goes by the `OTEL_EXPORTER_OTLP_*` variables. Raises click.UsageError."""
    from collector.export.destination import DestinationError
    from collector.export.exporter import ResultExporter

    try:
        return ResultExporter(None if url == "env" else url)
    except DestinationError as error:
        raise click.UsageError(f"--export: {error}") from error


async def close_exporter(exporter: "ResultExporter") -> None:
    """Wait until everything is delivered, at most `LAST_WORDS` seconds, and say what was not."""
    await exporter.close(LAST_WORDS)
    if exporter.counts.lost:
        click.echo(
            f"warning: {exporter.counts.lost} export(s) to {exporter.name} were not delivered: "
            f"{exporter.counts.last_error}",
            err=True,
        )


def _recorder(path: Path) -> "Recorder":
    from collector.export.record import Recorder

    try:
        return Recorder(path)
    except OSError as error:
        raise click.UsageError(f"--record: {path}: {error.strerror}") from error


def _forwarder(url: str) -> "Forwarder":
    from collector.export.destination import DestinationError
    from collector.export.forward import Forwarder

    try:
        return Forwarder(url)
    except DestinationError as error:
        raise click.UsageError(f"--forward: {error}") from error


def _tell(output: "Recorder | Forwarder") -> None:
    if output.problem is not None:
        click.echo(f"warning: {output.problem}", err=True)
