"""`spanbar init`: a small support agent and its specs, to start from."""

import difflib
from pathlib import Path

import click

from collector.cli.starters import FRAMEWORKS, PLAIN, Starter

_NAMES = "\n".join(f"  {starter.name:<16} {starter.title}" for starter in FRAMEWORKS.values())


def _starter(ctx: click.Context, param: click.Parameter, value: str | None) -> Starter:
    """The starter of a framework's name, in any case, with `_`, `.` or a space for `-`."""
    if value is None:
        return PLAIN
    wanted = value.strip().lower().replace("_", "-").replace(" ", "-").replace(".", "-")
    if wanted in FRAMEWORKS:
        return FRAMEWORKS[wanted]
    near = _nearest(wanted)
    hint = f" Did you mean {near}?" if near else ""
    raise click.BadParameter(f"no starter for {value!r}.{hint} There are:\n\n{_NAMES}", ctx, param)


@click.command(epilog=f"\b\nFrameworks:\n{_NAMES}")
@click.argument("folder", metavar="[DIR]", default=".", type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "--framework",
    "starter",
    metavar="NAME",
    callback=_starter,
    help="Write an agent on this framework, instrumented.",
)
def init(folder: Path, starter: Starter) -> None:
    """Write a small support agent and its specs into DIR (default: here).

    Without --framework: an agent without an LLM, on the OpenTelemetry SDK alone. Files that are there already are
    never overwritten: then nothing is written at all.
    """
    sources = starter.files()
    taken = [str(folder / name) for name in sources if (folder / name).exists()]
    if taken:
        message = f"{', '.join(taken)} already there; nothing was written. Name another folder: spanbar init my-agent"
        raise click.UsageError(message)
    for name, source in sources.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(source.read_bytes())
        click.echo(f"  Created {target}")
    steps = [] if folder == Path() else [f"cd {folder}"]
    steps.append(starter.install)
    if starter.key is not None:
        steps.append(f"export {starter.key}=...")
    click.echo("\n  Next:\n" + "\n".join(f"    {step}" for step in [*steps, "spanbar run"]))


def _nearest(wanted: str) -> str | None:
    """The framework whose name has what was asked for in it, or is like it, or has a word like it in its title."""
    within = [name for name in FRAMEWORKS if len(wanted) > 2 and wanted in name]
    if within:
        return within[0]
    words = {word.lower(): starter.name for starter in FRAMEWORKS.values() for word in starter.title.split()}
    words |= {name: name for name in FRAMEWORKS}
    near = difflib.get_close_matches(wanted, words, n=1)
    return words[near[0]] if near else None
