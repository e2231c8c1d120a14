"""`spanbar init`: a small support agent and its spec, to start from."""

from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

import click

STARTER = files("collector.cli") / "starter"


@click.command()
@click.argument("folder", metavar="[DIR]", default=".", type=click.Path(file_okay=False, path_type=Path))
def init(folder: Path) -> None:
    """Write a small support agent (no LLM, OpenTelemetry SDK) and its spec into DIR (default: here).

    Files that are there already are never overwritten: then nothing is written at all.
    """
    sources = dict(_walk(STARTER, Path()))
    taken = [str(folder / name) for name in sources if (folder / name).exists()]
    if taken:
        message = f"{', '.join(taken)} already there; nothing was written. Name another folder: spanbar init my-agent"
        raise click.UsageError(message)
    for name, source in sources.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(source.read_bytes())
        click.echo(f"  Created {target}")
    step = "spanbar run" if folder == Path() else f"cd {folder} && spanbar run"
    click.echo(f'\n  Next: {step}\n  (the agent needs the OpenTelemetry SDK: pip install "spanbar[quickstart]")')


def _walk(folder: Traversable, path: Path) -> list[tuple[Path, Traversable]]:
    found: list[tuple[Path, Traversable]] = []
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir() and entry.name != "__pycache__":
            found += _walk(entry, path / entry.name)
        elif entry.is_file():
            found.append((path / entry.name, entry))
    return found
