"""`--mapping FILE`: what the telemetry of an instrumentation of the user's own means."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from collector.cli.behavior_units import BadFiles
from evaluator.language.problem import SpecProblems

if TYPE_CHECKING:
    from collector.mapping import Claims


def _read(context: click.Context, param: click.Parameter, path: Path | None) -> "Claims | None":
    """The mapping of a file. Every problem of it is printed, and then nothing runs (exit 2)."""
    if path is None:
        return None
    # Loading the language of mappings takes long beside a short run that has none.
    from collector.mapping import read_mapping

    try:
        return read_mapping(path)
    except SpecProblems as found:
        raise BadFiles([str(problem) for problem in found.problems]) from found


mapping_option: Final = click.option(
    "--mapping",
    type=click.Path(path_type=Path),
    callback=_read,
    help="What spans and log events of your own mean: FILE as in docs/mapping.md.",
)
