"""Value matchers: `equals`, `contains`, `icontains`, `matches` and their negations (reference/spec-format.txt)."""

from collections.abc import Callable
from typing import Final, Protocol

from evaluator.expectations.values import Fit, equal, text_form
from evaluator.items import Json, NotRecorded


class RegexTimeout(Exception):
    """A search took longer than the limit."""

    def __init__(self, pattern: str) -> None:
        super().__init__(f"the regex {pattern!r} ran longer than a second on one value")
        self.pattern = pattern


class RegexSearch(Protocol):
    """Python's `re.search(pattern, text) is not None`, in bounded time."""

    def __call__(self, pattern: str, text: str) -> bool:
        """Raises RegexTimeout when the search takes longer than a second."""


class _NoTextForm(Exception):
    """The value has no text form, so neither a matcher nor its negation can hold."""


def meets(op: str, operand: Json, value: Json | NotRecorded, search: RegexSearch) -> Fit:
    """Whether `value` meets one matcher.

    A negation holds only where the matcher could be applied: null and mappings (for a regex lists too) meet neither.
    Raises RegexTimeout.
    """
    if isinstance(value, NotRecorded):
        return Fit.UNKNOWN
    negated, test = _TESTS[op]
    try:
        held = test(operand, value, search)
    except _NoTextForm:
        return Fit.NO
    return Fit(Fit.YES - held) if negated else held


def _equals(operand: Json, value: Json, _: RegexSearch) -> Fit:
    return equal(operand, value)


def _contains(operand: Json, value: Json, _: RegexSearch) -> Fit:
    if isinstance(value, list):
        return max((equal(operand, item) for item in value), default=Fit.NO)
    return Fit.of(_text(operand) in _text(value))


def _icontains(operand: Json, value: Json, _: RegexSearch) -> Fit:
    if isinstance(value, list):
        return max((equal(_folded(operand), _folded(item)) for item in value), default=Fit.NO)
    return Fit.of(_text(operand).casefold() in _text(value).casefold())


def _matches(operand: Json, value: Json, search: RegexSearch) -> Fit:
    return Fit.of(search(_text(operand), _text(value)))


def _text(value: Json) -> str:
    text = text_form(value)
    if text is None:
        raise _NoTextForm
    return text


def _folded(value: Json) -> Json:
    return value.casefold() if isinstance(value, str) else value


_Test = Callable[[Json, Json, RegexSearch], Fit]
_TESTS: Final[dict[str, tuple[bool, _Test]]] = {
    "equals": (False, _equals),
    "contains": (False, _contains),
    "icontains": (False, _icontains),
    "matches": (False, _matches),
    "not_contains": (True, _contains),
    "not_icontains": (True, _icontains),
    "not_matches": (True, _matches),
}
