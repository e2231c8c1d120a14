"""`spanbar variations`: have a model write the paraphrases that specs ask for, into the file that is committed."""

import asyncio
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from collector.cli.run import load_specs
from collector.cli.specs import find
from evaluator.harness.variations import Model, Variations, VariationsError
from evaluator.language.spec import Spec

Wanted = tuple[str, int]
"""A trigger and how many variations of it a test asks for."""


@click.command()
@click.argument("specs", metavar="[SPEC]...", nargs=-1, type=click.Path(path_type=Path))
@click.option("--force", is_flag=True, help="Write them anew, also those that are in the file already.")
@click.pass_context
def variations(context: click.Context, specs: tuple[Path, ...], force: bool) -> None:
    """Write the variations of every test that asks for them to .highbar/variations.json: commit it, edit it.

    SPEC is a file, or a folder of *.highbar.yaml (default: specs/). The model is named by HIGHBAR_LLM_API_KEY,
    HIGHBAR_LLM_BASE_URL and HIGHBAR_LLM_MODEL. Exit codes: 0 all there; 1 some could not be written.
    """
    wanted = list(dict.fromkeys(_wanted(load_specs(find(specs), None))))
    if not wanted:
        click.echo("No test asks for variations (tests[].variations).")
        return
    store = Variations(Path.cwd(), Model.of(os.environ), frozen=False)
    failures = asyncio.run(_write(store, wanted, force))
    click.echo(f"\n{store.path}: commit it")
    context.exit(1 if failures else 0)


def _wanted(specs: Sequence[Spec]) -> Iterator[Wanted]:
    for spec in specs:
        for suite in spec.suites:
            for test in suite.tests:
                if test.variations:
                    yield test.turns[0].trigger, test.variations


async def _write(store: Variations, wanted: Sequence[Wanted], force: bool) -> int:
    """Returns how many could not be written."""
    failures = 0
    for trigger, count in wanted:
        try:
            found = await (store.write(trigger, count) if force else store.of(trigger, count))
        except VariationsError as error:
            failures += 1
            click.echo(f"✗ {trigger}\n    {error}", err=True)
            continue
        click.echo(f"✓ {trigger} ({len(found)} of {count})")
        for text in found:
            click.echo(f"    {text}")
    return failures
