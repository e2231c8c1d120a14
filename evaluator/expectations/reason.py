"""Why a test did not pass: a stable code and a text for people."""

from dataclasses import dataclass

from evaluator.items import Call
from evaluator.language.spec import Place


@dataclass(frozen=True, slots=True)
class Reason:
    """One thing that did not hold, or could not be checked.

    `code` is a class of conformance/highbar/README.md (`missing_call`, `response.contains`, `not_observed`).
    """

    code: str
    text: str
    place: Place | None = None
    """Where in the spec the expectation stands."""
    nearest: Call | None = None
    """The call that came nearest to what was expected, or the call that must not have happened."""
    error: bool = False
    """It could not be checked: the test is an `error`, not `failed`."""
    hint: str = ""
    """The line that fixes it, or ""."""
