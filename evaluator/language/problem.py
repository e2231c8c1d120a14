"""Problems: what is wrong with a file, and where. Shared by the test specs and the behavior files."""

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass

NEAR = 0.6
"""How alike two words must be, as difflib has it, for one to be offered for the other."""


_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
"""What would break the line or reach the terminal as a command."""


def _escaped(character: re.Match[str]) -> str:
    return repr(character.group())[1:-1]


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with a file.

    `path` is the path of keys (`suites[0].tests[2].expect`), "" for the file as a whole; `line` is 1-based, None
    when the file could not be read at all. `code` is the class of the problem (`unknown_key`, `bad_regex`, ...),
    for machines. `hint` is the word that was probably meant, or "".
    """

    file: str
    path: str
    line: int | None
    code: str
    message: str
    hint: str = ""

    def __str__(self) -> str:
        """`<file>:<line>: <path>: <message> (did you mean '<hint>'?)`, one line without control characters."""
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        path = f"{self.path}: " if self.path else ""
        hint = f" (did you mean '{self.hint}'?)" if self.hint else ""
        return _CONTROL.sub(_escaped, f"{place}: {path}{self.message}{hint}")


class SpecProblems(ValueError):
    """A file cannot be used. `problems` has every problem found in it, in the order of the file; at least one."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems: tuple[Problem, ...] = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


def nearest(word: str, words: Iterable[str], cutoff: float = NEAR) -> str:
    """The one of `words` that `word` was probably meant to be, or ""."""
    close = difflib.get_close_matches(word, list(words), n=1, cutoff=cutoff)
    return close[0] if close else ""
