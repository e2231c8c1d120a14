"""How many steps `re` can take over a text, read off the pattern."""

import re
from functools import lru_cache
from typing import Any, Final

try:
    from re import _parser as parser  # type: ignore[attr-defined]
except ImportError:  # pragma: no cover - a Python that keeps it elsewhere: every pattern is then unbounded
    parser = None

UNBOUNDED: Final = 10**12

_ONE_WAY: Final = {"LITERAL", "NOT_LITERAL", "ANY", "IN", "AT", "CATEGORY"}
_REPEATS: Final = {"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"}


def steps(pattern: str, length: int) -> int:
    """An upper bound of the steps of `re.search(pattern, text)` over a text of `length` characters.

    From each start, `re` tries at most every way in which the pattern can be laid over the text. The ways of a
    sequence multiply, those of alternatives add up, and a repetition has one for each count if its body has only
    one. Whatever else there is (a repetition of something with several ways, a back reference) is UNBOUNDED.
    """
    shape = _parsed(pattern)
    if shape is None:
        return UNBOUNDED
    ways = _sequence(shape, length + 1)
    return min(UNBOUNDED, (length + 1) * ways * max(1, len(pattern)))


@lru_cache(maxsize=1024)
def _parsed(pattern: str) -> Any:
    if parser is None:
        return None
    try:
        return parser.parse(pattern)
    except (re.error, RecursionError, OverflowError):
        return None


def _sequence(nodes: Any, counts: int) -> int:
    ways = 1
    for kind, value in nodes:
        ways = min(UNBOUNDED, ways * _node(str(kind), value, counts))
    return ways


def _node(kind: str, value: Any, counts: int) -> int:
    """`counts`: how many different numbers of repetitions there can be in the text."""
    if kind in _ONE_WAY:
        return 1
    if kind == "SUBPATTERN":
        return _sequence(value[-1], counts)
    if kind == "BRANCH":
        return min(UNBOUNDED, sum(_sequence(branch, counts) for branch in value[1]))
    if kind in _REPEATS:
        least, most, body = value
        if _sequence(body, counts) > 1:
            return UNBOUNDED
        return max(1, min(int(most) - int(least) + 1, counts))
    if kind in {"ASSERT", "ASSERT_NOT"}:
        return _sequence(value[1], counts)
    return UNBOUNDED
