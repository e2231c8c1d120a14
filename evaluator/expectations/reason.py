"""Why a turn failed or could not be judged, and how near it came."""

from collections.abc import Callable
from dataclasses import dataclass

from evaluator.expectations.comparison import Difference
from evaluator.expectations.values import clip
from evaluator.items import Call
from evaluator.language.spec import Place

Mask = Callable[[str], str]
"""Replaces secrets in a text."""


@dataclass(frozen=True, slots=True)
class NearestMiss:
    """The call that came nearest to an entry, and only where it differs."""

    call: Call
    differences: tuple[Difference, ...]


@dataclass(frozen=True, slots=True)
class Reason:
    """One thing that did not hold, or could not be checked.

    `code` is a class of conformance/highbar/README.md (`missing_call`, `response.contains`, `not_observed`), or
    `not_recorded` or `regex_timeout`. `text` is one sentence, masked and clipped.
    """

    code: str
    text: str
    place: Place | None = None
    """Where in the spec the expectation stands."""
    nearest: NearestMiss | None = None
    error: bool = False
    """It could not be checked: the test is an `error`, not `failed`."""
    fix: str = ""
    """The line that fixes it, or ""."""
    calls: tuple[Call, ...] = ()
    """The calls that it speaks of."""
    certain: bool = True
    """False where a later call could still cure it: something else ended the turn before that call could come."""


def shown(text: str, mask: Mask) -> str:
    """A value as a reason shows it: masked whole, then clipped, so that no part of a secret is left."""
    return clip(mask(text))


def masked(difference: Difference, mask: Mask) -> Difference:
    return Difference(mask(difference.path), shown(difference.expected, mask), shown(difference.found, mask))


def listed(words: list[str], joint: str) -> str:
    """`a`, `a and b`, `a, b and c`: each once, in the order given, at most eight."""
    words = list(dict.fromkeys(words))
    if len(words) > 8:
        words = [*words[:8], f"{len(words) - 8} more"]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {joint} {words[-1]}"


def unverifiable(
    code: str, text: str, place: Place | None = None, *, fix: str = "", calls: tuple[Call, ...] = ()
) -> Reason:
    """A reason for which a test is an error: it could not be checked, or not be run."""
    return Reason(code, text, place, error=True, fix=fix, calls=calls)
