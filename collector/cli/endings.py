"""How a command ends when nothing could run: a message on the standard error, and exit code 2."""

import click


class NothingRan(click.ClickException):
    """What was asked for could not begin, or its outcome could not be delivered; the message has the way out."""

    exit_code = 2
