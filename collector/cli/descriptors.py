"""How many files, and so connections, a server may have open."""

from typing import Final

ENOUGH: Final = 1 << 16
"""A server needs no more, and commands that it starts may go through all numbers there can be."""


def raise_limit() -> None:
    """Take as many as the system lets this process have, up to `ENOUGH`."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = ENOUGH if hard == resource.RLIM_INFINITY else min(hard, ENOUGH)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
