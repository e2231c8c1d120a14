"""The command line: one module per verb, loaded when it is called. The one place that puts the rooms together."""

import atexit
import gc
from importlib import import_module
from typing import Any, Final

import click

from collector.cli.garbage import loading

INTERRUPTED: Final = 130
"""The exit code after Ctrl-C."""

VERBS = {
    "init": "Write a small support agent and its spec.",
    "run": "Run test specs against an agent.",
    "validate": "Check specs and behavior files.",
    "check": "Check behaviors over recorded traces.",
    "serve": "Receive for long, with verdicts live.",
    "watch": "Show the live verdicts of a server in the terminal.",
    "doctor": "Send one message and explain what arrived.",
    "explain": "Explain what recorded traces say.",
    "variations": "Write paraphrases to the committed cache.",
    "schema": "Print the JSON Schema of the file formats.",
}


class Verbs(click.Group):
    """Loads a verb's module when it is asked for, so that `spanbar --help` and each verb start at once."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in VERBS:
            return None
        with loading():
            command = getattr(import_module(f"collector.cli.{name}"), name)
        assert isinstance(command, click.Command)
        return command

    def invoke(self, ctx: click.Context) -> Any:
        """Click ends with 1 when a verb is interrupted before, or without, a way of its own to end."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo("interrupted", err=True)
            ctx.exit(INTERRUPTED)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(VERBS.items()))


@click.group(
    cls=Verbs,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    help="Test AI agents by what they do: agents export OpenTelemetry spans here, and verdicts form as they arrive.",
    epilog="Exit codes: 0 verified; 1 failed or could not be verified; 2 nothing could run; 130 interrupted.",
)
@click.version_option(package_name="spanbar", prog_name="spanbar")
def main() -> None:
    # All that is kept goes with the process: to look for garbage in it first is a tenth of what a short run takes.
    atexit.register(gc.freeze)
