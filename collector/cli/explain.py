"""`spanbar explain`: what recorded traces say, call by call."""

import sys
from pathlib import Path

import click
from rich.console import Console

from collector.assembly import Assembly
from collector.cli.endings import NothingRan
from collector.cli.explanation import Arrived, document, tell
from collector.cli.mapping_option import mapping_option
from collector.cli.seen_items import SeenItems
from collector.cli.unreadable import told
from collector.export.json import write_document
from collector.mapping import Claims
from collector.receiver.files import FileProblem, read


@click.command()
@click.argument("traces", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--json", "json_file", type=click.Path(path_type=Path), help="Write the document to FILE (- for stdout)."
)
@mapping_option
def explain(traces: tuple[Path, ...], json_file: Path | None, mapping: Claims | None) -> None:
    """Explain what recorded TRACES say: what arrived, which convention read it, each tool call with where its name,
    arguments and result came from, what was ignored and why, and the line that makes visible what is missing.

    A trace file is OTLP traces or logs (protobuf or JSON lines), trace-contract lines, or gzip of these; `-` is the
    standard input. Files that belong together (traces and their logs) go into one call. Exit codes: 0 all was read;
    1 not all could be read, and what could is explained; 2 nothing could be read.
    """
    assembly, arrived, items = Assembly(mapping), Arrived(), SeenItems()
    problems: list[FileProblem] = []
    for path in traces:
        try:
            for batch in read(path, problems.append):
                arrived.take(batch)
                assembled = assembly.add(batch)
                arrived.see(assembled.sightings)
                items.take(assembled.changes)
        except FileProblem as problem:
            problems.append(problem)
    if json_file is not None:
        write_document(document(assembly, arrived, items), json_file)
    if json_file != Path("-"):
        console = Console(highlight=False)
        tell(console, assembly, arrived, items)
        if json_file is not None:
            console.print(f"\nwrote {json_file}", style="dim", markup=False, soft_wrap=True)
    for line in () if mapping is None else mapping.idle():
        click.echo(f"warning  {line}", err=True)
    message = "\n".join(told(problems))
    if problems and not (arrived.spans or arrived.logs or arrived.records):
        raise NothingRan(message)
    if problems:
        click.echo(f"Error: not all could be read:\n{message}", err=True)
    sys.exit(1 if problems else 0)
