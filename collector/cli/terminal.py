"""The console of a run, which outlives the standard output: a full disk or a closed pipe ends no run."""

import errno
import os
import sys
from typing import Any

import click
from rich.console import Console


class Terminal(Console):
    """A console that falls silent when its output cannot be written, and says so once on the standard error."""

    problem: OSError | None = None
    """Why what was printed did not arrive, if it did not."""

    def print(self, *objects: Any, **options: Any) -> None:
        if self.problem is not None:
            return
        try:
            super().print(*objects, **options)
        except OSError as error:
            self._give_up(error)

    def on_broken_pipe(self) -> None:
        """Called by rich when the pipe is closed; its own way would end the process."""
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))

    def _give_up(self, error: OSError) -> None:
        self.problem = error
        self.quiet = True
        if self.file is sys.stdout:
            # What is left in Python's buffer would fail once more when the process ends.
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, sys.stdout.fileno())
            os.close(nowhere)
        click.echo(f"error: the report could not be printed: {error.strerror or error}. The run goes on.", err=True)
