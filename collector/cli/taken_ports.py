"""Ports that another process has: told before anything is opened for a server that cannot start."""

from collections.abc import Mapping

import click

from collector.listening import is_taken
from evaluator.harness.ports import listener


def refuse_taken(host: str, ports: Mapping[str, int]) -> None:
    """Raise `UsageError` if one of `ports`, by the option that sets it, is taken. 0 is any port that is free."""
    for option, port in ports.items():
        try:
            taken = port != 0 and is_taken(host, port)
        except OSError as error:
            raise click.UsageError(f"--host {host}: {error.strerror or error}") from error
        if taken:
            who = listener(port)
            raise click.UsageError(
                f"{option}: port {port} of {host} is taken already{f' by {who}' if who else ''}; choose another with "
                f"{option} (0: any that is free), or stop what listens there"
            )
