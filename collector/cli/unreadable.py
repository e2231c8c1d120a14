"""What of recorded files could not be read, as it is told: the first problems, and the last, which has the cause."""

from collections.abc import Iterator, Sequence
from typing import Final

from collector.receiver.files import FileProblem

TOLD: Final = 5
"""How many problems are told at first."""


def told(problems: Sequence[FileProblem]) -> Iterator[str]:
    """The problems, a line each, and how many there are beside them."""
    yield from (str(problem) for problem in problems[:TOLD])
    left_out = len(problems) - TOLD - 1
    if left_out > 0:
        yield f"and {left_out} more problem{'s' if left_out > 1 else ''}; the last:"
    if left_out >= 0:
        yield str(problems[-1])
