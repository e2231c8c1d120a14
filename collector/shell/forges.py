"""Forges: command lines of GitHub, GitLab and others, as far as they open pull requests."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from collector.shell.syntax import Word

NAMES: Final = ("gh", "glab", "tea", "az")

_VALUED: Final = frozenset(
    {"-R", "--repo", "-X", "--method", "-f", "-F", "--field", "--raw-field", "-H", "--header", "--input"}
)
"""Options of gh and glab whose value is the next word."""
_OPENING: Final[Mapping[str, tuple[frozenset[str], ...]]] = {
    "gh": (frozenset({"pr"}), frozenset({"create", "new"})),
    "glab": (frozenset({"mr"}), frozenset({"create", "new"})),
    "tea": (frozenset({"pr", "pull", "pulls"}), frozenset({"create", "c"})),
    "az": (frozenset({"repos"}), frozenset({"pr"}), frozenset({"create"})),
}
"""The words with which each opens a pull request."""
_OPENS: Final = ("pr.open",)


def ops(name: str, arguments: Sequence[Word]) -> tuple[str, ...] | None:
    """The ops of a command line of one of `NAMES`; None where the words do not tell."""
    if asks_for_help(arguments) or "--dry-run" in arguments:
        return ()
    words = list(_without_options(arguments))
    for position, expected in enumerate(_OPENING[name]):
        word = words[position] if position < len(words) else ""
        if word is None:
            return None
        if word not in expected:
            return _OPENS if name == "gh" and position == 0 and word == "api" and _posts(words, arguments) else ()
    return _OPENS


def asks_for_help(arguments: Sequence[Word]) -> bool:
    return "--help" in arguments or "--version" in arguments


def option(arguments: Sequence[Word], *names: str) -> Word:
    """The value of an option that is given as `NAME VALUE` or `NAME=VALUE`; "" without it."""
    for position, argument in enumerate(arguments):
        if argument in names and position + 1 < len(arguments):
            return arguments[position + 1]
        for name in names:
            if argument is not None and argument.startswith(f"{name}="):
                return argument[len(name) + 1 :]
    return ""


def _posts(words: Sequence[Word], arguments: Sequence[Word]) -> bool:
    """Whether `gh api` creates a pull request."""
    path = words[1] if len(words) > 1 else ""
    if path is None or not path.rstrip("/").endswith("/pulls"):
        return False
    sends = {"-f", "-F", "--field", "--raw-field", "--input"}
    method = (option(arguments, "-X", "--method") or "").upper()
    return method == "POST" or (not method and any(word in sends for word in arguments))


def _without_options(arguments: Sequence[Word]) -> Iterator[Word]:
    skip = False
    for argument in arguments:
        if skip:
            skip = False
        elif argument is not None and argument.startswith("-"):
            skip = argument in _VALUED
        else:
            yield argument
