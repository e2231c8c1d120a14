"""`spanbar serve`: a long-running receiver with behaviors over every session."""

import asyncio
import gc
import logging
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from collector.cli.behavior_units import load_behaviors
from collector.cli.config import read_config
from collector.cli.descriptors import raise_limit
from collector.cli.event_loop import loop_factory
from collector.cli.exporting import ResultExports
from collector.cli.garbage import young_collection
from collector.cli.mapping_option import mapping_option
from collector.cli.quantities import Duration, Size
from collector.cli.serving import Serving, Settings
from collector.cli.taken_ports import refuse_taken
from collector.export.destination import DestinationError
from collector.export.exporter import ResultExporter
from collector.export.forward import Forwarder
from collector.export.metrics import MetricsExporter
from collector.export.record import Recorder
from collector.index import Limits
from collector.journal import Journal, NoJournal, default_path
from collector.live.alarms import Alarm
from collector.mapping import Claims
from collector.receiver.loopback import is_loopback
from evaluator.verdict import Contract

_log = logging.getLogger("collector.cli.serve")


@click.command()
@click.argument("behaviors", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--config",
    type=click.Path(path_type=Path),
    is_eager=True,
    expose_value=False,
    callback=read_config,
    help="YAML with these options as keys, and `behaviors`.",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to bind. Off loopback needs a token.")
@click.option(
    "--http-port", default=4318, show_default=True, type=click.IntRange(0, 65535), help="OTLP/HTTP, API, page."
)
@click.option("--grpc-port", default=4317, show_default=True, type=click.IntRange(0, 65535), help="OTLP/gRPC.")
@click.option("--token", envvar="SPANBAR_TOKEN", help="Bearer token for OTLP, API and page.  [env: SPANBAR_TOKEN]")
@click.option("--token-file", type=click.Path(path_type=Path), help="Read the token from FILE.")
@click.option("--ordered", is_flag=True, help="Take it that nothing arrives late, and report what is final by that.")
@click.option(
    "--idle", default="5m", show_default=True, type=Duration(), help="Close a session without items for this long."
)
@click.option(
    "--max-sessions", default=10_000, show_default=True, type=click.IntRange(1), help="Sessions that are kept."
)
@click.option(
    "--max-items", default=1_000_000, show_default=True, type=click.IntRange(1), help="Items that are kept."
)
@click.option(
    "--max-session-items", default=100_000, show_default=True, type=click.IntRange(1), help="Items of one session."
)
@click.option(
    "--max-bytes", default="1GiB", show_default=True, type=Size(), help="Telemetry that is kept, about, as received."
)
@click.option(
    "--max-value",
    default="1MiB",
    show_default=True,
    type=Size(smallest=1024),
    help="One attribute, body or argument.",
)
@click.option(
    "--on-fail", multiple=True, metavar="COMMAND|URL", help="Run, with the result as JSON on stdin, or POST it to."
)
@click.option(
    "--export", multiple=True, metavar="URL", help="Export results as OTLP; `env` goes by OTEL_EXPORTER_OTLP_*."
)
@click.option("--export-header", multiple=True, metavar="NAME=VALUE", help="A header of every export.")
@click.option("--metrics-export", multiple=True, metavar="URL", help="Export the server's own metrics as OTLP.")
@click.option(
    "--metrics-every", default="10s", show_default=True, type=Duration(), help="Between two exports of metrics."
)
@click.option("--forward", multiple=True, metavar="URL", help="Pass on what was received, unchanged.")
@click.option("--forward-header", multiple=True, metavar="NAME=VALUE", help="A header of every forwarded request.")
@click.option(
    "--record", type=click.Path(path_type=Path), help="Append every received request to FILE, as OTLP JSON."
)
@click.option(
    "--journal",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Note sessions in FILE: after a restart, what goes on is unknown and never pass.  "
    "[default: in $XDG_STATE_HOME/spanbar, by the HTTP port]",
)
@click.option("--no-journal", is_flag=True, help="Take every session for whole, also right after a restart.")
@mapping_option
def serve(
    *,
    mapping: Claims | None,
    behaviors: tuple[Path, ...],
    host: str,
    http_port: int,
    grpc_port: int,
    token: str | None,
    token_file: Path | None,
    ordered: bool,
    idle: float,
    max_sessions: int,
    max_items: int,
    max_session_items: int,
    max_bytes: int,
    max_value: int,
    on_fail: tuple[str, ...],
    export: tuple[str, ...],
    export_header: tuple[str, ...],
    metrics_export: tuple[str, ...],
    metrics_every: float,
    forward: tuple[str, ...],
    forward_header: tuple[str, ...],
    record: Path | None,
    journal: Path | None,
    no_journal: bool,
) -> None:
    """Receive telemetry for long and decide BEHAVIORS over every session as it arrives.

    The page is at the HTTP port. SIGTERM ends it: results as they stand are exported first.
    """
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s", stream=sys.stderr)
    for noisy in ("httpx", "uvicorn", "grpc"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    refuse_taken(host, {"--http-port": http_port, "--grpc-port": grpc_port})
    exporting = _headers("export", (*export, *metrics_export), export_header)
    settings = Settings(
        behaviors=load_behaviors(behaviors),
        contract=Contract.ORDERED if ordered else Contract.ANY,
        host=host,
        http_port=http_port,
        grpc_port=grpc_port,
        token=_token(host, token, token_file),
        idle=idle,
        mapping=mapping,
        limits=Limits(max_sessions, max_items, max_session_items, max_bytes),
        value_limit=max_value,
        on_fail=_targets(on_fail),
        exports=_exports(export, exporting),
        metrics_exporters=_metrics_exporters(metrics_export, metrics_every, exporting),
        forwarders=_forwarders(forward, forward_header),
        recorder=_recorder(record) if record is not None else None,
        journal=_journal(journal, http_port, off=no_journal),
    )
    raise_limit()
    with young_collection(), asyncio.Runner(loop_factory=loop_factory()) as runner:
        ending = runner.run(_serve(settings))
    sys.exit(ending)


async def _serve(settings: Settings) -> int:
    stopped: asyncio.Future[signal.Signals] = asyncio.get_running_loop().create_future()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, _stop, stopped, number)
    serving = Serving(settings)
    try:
        await serving.start()
    except OSError as error:
        click.echo(f"spanbar serve: cannot start: {error}", err=True)
        await serving.stop()
        return 2
    _announce(serving)
    # What the start has made lives as long as the process: the collector of cycles need never look at it again, and
    # looks at the rest rarely, since items are kept in tuples that it soon leaves alone.
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    number = await stopped
    _log.info("%s: stopping", number.name)
    await serving.stop()
    for problem in serving.problems():
        _log.error("%s", problem)
    return 130 if number is signal.SIGINT else 0


def _stop(stopped: "asyncio.Future[signal.Signals]", number: signal.Signals) -> None:
    if not stopped.done():
        stopped.set_result(number)


def _announce(serving: Serving) -> None:
    receiver, settings = serving.receiver, serving.settings
    count = len(settings.behaviors)
    click.echo(f"page and API  {receiver.http_url}/", err=True)
    click.echo(f"OTLP/HTTP     {receiver.http_url}", err=True)
    click.echo(f"OTLP/gRPC     {settings.host}:{receiver.grpc_port}", err=True)
    if settings.journal is not None:
        click.echo(f"journal       {settings.journal.path}", err=True)
    if count:
        click.echo(f"behaviors     {count}", err=True)
    else:
        click.echo("behaviors     none: sessions are shown and nothing is judged", err=True)


def _token(host: str, token: str | None, path: Path | None) -> str | None:
    if token is not None and path is not None:
        raise click.UsageError("--token and --token-file: give one of them")
    if path is not None:
        try:
            token = path.read_text("utf-8").strip()
        except OSError as error:
            raise click.UsageError(f"--token-file {path}: {error.strerror}") from error
    if token is not None and not token:
        raise click.UsageError("the token is empty")
    if token is None and not is_loopback(host):
        raise click.UsageError(
            f"--host {host} is reachable from other machines, which needs a bearer token: "
            "give --token-file FILE or set SPANBAR_TOKEN, or bind to 127.0.0.1"
        )
    return token


def _journal(path: Path | None, port: int, *, off: bool) -> Journal | None:
    """The journal in FILE or where it belongs by default. A server at any free port is nobody's successor."""
    if off and path is not None:
        raise click.UsageError("--journal and --no-journal: give one of them")
    if off or (path is None and port == 0):
        return None
    try:
        if path is None:
            path = default_path(port, os.environ)
            path.parent.mkdir(parents=True, exist_ok=True)
        return Journal(path)
    except NoJournal as error:
        raise click.UsageError(
            f"--journal {path}: the file is not empty and no journal ({error}); it was left as it is: "
            "give a new FILE, or one that a server has made"
        ) from error
    except BlockingIOError:
        raise click.UsageError(
            f"--journal {path}: another spanbar has it open; give each a file of its own"
        ) from None
    except OSError as error:
        raise click.UsageError(
            f"--journal {path}: {error.strerror}; give a FILE that can be written, which outlives a restart, or "
            "--no-journal to take what comes after a restart for whole"
        ) from error


def _targets(on_fail: Sequence[str]) -> Sequence[Alarm]:
    try:
        return [Alarm(target) for target in on_fail]
    except ValueError as error:
        raise click.UsageError(f"--on-fail: {error}") from error


def _exports(urls: Sequence[str], headers: dict[str, str]) -> ResultExports | None:
    if not urls:
        return None
    try:
        exporters = [ResultExporter(None if url == "env" else url, headers=headers) for url in urls]
    except DestinationError as error:
        raise click.UsageError(f"--export: {error}") from error
    return ResultExports(exporters)


def _metrics_exporters(urls: Sequence[str], every: float, headers: dict[str, str]) -> Sequence[MetricsExporter]:
    try:
        return [MetricsExporter(None if url == "env" else url, every=every, headers=headers) for url in urls]
    except DestinationError as error:
        raise click.UsageError(str(error)) from error


def _forwarders(urls: Sequence[str], headers: Sequence[str]) -> Sequence[Forwarder]:
    pairs = _headers("forward", urls, headers)
    try:
        return [Forwarder(url, headers=pairs) for url in urls]
    except DestinationError as error:
        raise click.UsageError(f"--forward: {error}") from error


def _recorder(path: Path) -> Recorder:
    try:
        return Recorder(path, append=True)
    except OSError as error:
        raise click.UsageError(f"--record: {path}: {error.strerror}") from error


def _headers(option: str, urls: Sequence[str], headers: Sequence[str]) -> dict[str, str]:
    """The headers as they are written. A message never shows a value: it may be a secret."""
    pairs = {}
    for number, header in enumerate(headers, 1):
        name, equals, value = header.partition("=")
        if not equals or not name.strip():
            raise click.UsageError(f"--{option}-header: the header no. {number} is not NAME=VALUE")
        pairs[name.strip()] = value.strip()
    if pairs and not urls:
        raise click.UsageError(f"--{option}-header is given without --{option}")
    return pairs
