"""Regexes: the common subset of Python's `re` and RE2, run by RE2, which no text can make slow.

RE2 fixes the meaning where the two differ (SEMANTICS.md, section 3): `\\d`, `\\w`, `\\s` and `\\b` are ASCII, `$` is
the very end of the text.
"""

import re
import warnings
from collections.abc import Sequence
from typing import Any, Final

import re2

_MEMORY: Final = 64 << 20
"""What RE2 may use for one set, bytes. It takes only what it needs."""

_OTHER_REPEAT: Final = re.compile(r"\{,\d+\}")
_POSIX_CLASS: Final = re.compile(r"\[\[:\^?[a-z]+:\]")


def _options() -> Any:
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MEMORY
    return options


def problem(pattern: str) -> str:
    """Why a pattern is refused, with the way out where there is one; "" when it is of the common subset."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        return f"Python's re refuses it: {error}"
    try:
        re2.compile(pattern, _options())
    except (re2.error, UnicodeEncodeError) as error:
        return f"RE2 refuses it: {_said(error)}"
    bare = re.sub(r"\\.", "..", pattern, flags=re.DOTALL)
    if found := _OTHER_REPEAT.search(bare):
        return f"RE2 reads {found[0]} as plain text; write {{0{found[0][1:]}"
    if found := _POSIX_CLASS.search(bare):
        return f"Python reads {found[0]} as single characters; write the class out, as in [A-Za-z]"
    return ""


def _said(error: Exception) -> str:
    said = error.args[0] if error.args else ""
    text = said.decode(errors="replace") if isinstance(said, bytes) else str(said)
    if "invalid perl operator: (?" in text:
        return f"{text} (it has no lookaround, backreferences or inline comments)"
    return text


def _nothing(text: bytes) -> list[int]:
    """What a set finds that does not work."""
    return []


class PatternSet:
    """Patterns that are looked for together, in one pass over a text."""

    __slots__ = ("_match", "_patterns")

    def __init__(self, patterns: Sequence[str]) -> None:
        """`patterns` are of RE2; raises `re2.error` for one that is not."""
        self._patterns = tuple(patterns)
        # A set whose automaton does not fit into its memory finds nothing and does not say so. The empty pattern is
        # always found when it works, so that a set that did not work is noticed.
        automaton = re2.Set.SearchSet(_options())
        automaton.Add("")
        for pattern in patterns:
            automaton.Add(pattern)
        try:
            automaton.Compile()
        except re2.error:  # the program alone does not fit: the patterns are looked for one by one
            self._match = _nothing
        else:
            self._match = automaton._set.Match

    def search(self, text: str) -> list[int]:
        """The positions of the patterns that are found somewhere in the text, in no order."""
        encoded = text.encode("utf-8", "replace")
        found: list[int] = self._match(encoded)
        if found == _WORKED:
            return _NONE
        if not found:
            return self._one_by_one(encoded)
        return [position - 1 for position in found if position]

    def _one_by_one(self, encoded: bytes) -> list[int]:
        options = _options()
        singles = (re2.compile(pattern.encode(), options) for pattern in self._patterns)
        return [position for position, single in enumerate(singles) if single.search(encoded)]


_NONE: Final[list[int]] = []
_WORKED: Final = [0]
