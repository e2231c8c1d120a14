"""Ops: what the commands of a command line do, in the words of `hangar.shell.ops`.

The ops are of the command line as it is written: `make deploy` or `./release.sh` may push, and does not say so. A
command that stands behind a condition counts as one that runs.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final

from collector.shell import git, runners
from collector.shell.syntax import Command, Script, Unreadable, Word, read
from collector.shell.wrappers import unwrapped
from evaluator.language.assertion import SHELL_OPS

Ops = tuple[str, ...]

_SHELLS: Final = frozenset({"bash", "sh", "zsh", "dash", "ksh", "ash"})
_DELETING: Final = frozenset({"rm", "rmdir", "unlink", "shred", "trash", "trash-put", "srm"})
_ELSEWHERE: Final = frozenset({"docker", "podman", "nerdctl", "docker-compose", "kubectl", "ssh", "wsl", "vagrant"})
"""Programs that run a command in another place, after options and names that nobody can tell from it."""
_VALUED: Final = frozenset(
    {"-R", "--repo", "-X", "--method", "-f", "-F", "--field", "--raw-field", "-H", "--header", "--input"}
)
"""Options of gh and glab whose value is the next word."""
_MAX_NESTING: Final = 8
_MAX_ELSEWHERE: Final = 64


class Untold(ValueError):
    """What a command does is only known when it runs."""


@lru_cache(maxsize=4096)
def ops_of(text: str) -> Ops | None:
    """The ops of a command line, in the order of the vocabulary; None where the text does not tell."""
    try:
        return _ordered(_in_text(text, 0))
    except (Unreadable, Untold):
        return None


def ops_of_words(words: Sequence[str]) -> Ops | None:
    """The ops of a command that is given as its words, without a shell around it."""
    try:
        return _ordered(_in_command(Command(tuple(words)), Script([], {}), 0))
    except (Unreadable, Untold):
        return None


def _ordered(found: Iterator[str]) -> Ops:
    ops = set(found)
    return tuple(op for op in SHELL_OPS if op in ops)


def _in_text(text: str, nesting: int) -> Iterator[str]:
    if nesting > _MAX_NESTING:
        raise Untold("shells in shells without an end")
    script = read(text)
    for command in script.commands:
        yield from _in_command(command, script, nesting)


def _in_command(command: Command, script: Script, nesting: int) -> Iterator[str]:
    """The ops of one simple command, whatever runs it (`sudo`, `env`, `xargs`, `uv run`, ...)."""
    if nesting > _MAX_NESTING:
        raise Untold("functions in functions without an end")
    words = unwrapped(command.words)
    if not words:
        return
    name = words[0]
    if name is None:
        raise Untold("the name of the command")
    if name in script.functions:
        for inner in script.functions[name]:
            yield from _in_command(inner, script, nesting + 1)
        return
    name = name.rsplit("/", 1)[-1]
    if name in _SHELLS:
        yield from _in_shell(words[1:], command, nesting)
    elif name == "eval":
        yield from _in_text(" ".join(_known(words[1:])), nesting + 1)
    elif name in _ELSEWHERE:
        if name == "ssh" or "exec" in words or "run" in words:
            _refuse_elsewhere(words[1:], nesting)
    elif name == "find":
        yield from _found(words[1:], script, nesting)
    elif name in _DELETING:
        if not _asks_for_help(words[1:]):
            yield "delete"
    elif name in _PROGRAMS:
        yield from _PROGRAMS[name](words[1:])
    elif runners.runs_tests(name, words[1:]):
        yield "test"


def _in_shell(arguments: Sequence[Word], command: Command, nesting: int) -> Iterator[str]:
    """`bash -c TEXT` runs the text, `bash FILE` a file that may do anything, `bash` what it is given to read."""
    position = 0
    while position < len(arguments):
        argument = arguments[position]
        if argument is None:
            raise Untold("an argument of a shell")
        if not argument.startswith(("-", "+")) or argument == "-":
            return
        if not argument.startswith("--") and "c" in argument:
            text = next((word for word in arguments[position + 1 :] if word is None or word[:1] != "-"), None)
            if text is None:
                raise Untold("the text for a shell")
            yield from _in_text(text, nesting + 1)
            return
        position += 2 if argument in ("-o", "+o", "--rcfile", "--init-file") else 1
    if command.script is None or (command.piped and not command.script):
        raise Untold("what a shell is given to read")
    if command.script:
        yield from _in_text(command.script, nesting + 1)


def _refuse_elsewhere(arguments: Sequence[Word], nesting: int) -> None:
    """Raise Untold where some end of the arguments would be a command that does something."""
    for position in range(min(len(arguments), _MAX_ELSEWHERE)):
        text = arguments[position]
        inner = [*_in_command(Command(tuple(arguments[position:])), Script([], {}), nesting + 1)]
        if inner or (text is not None and " " in text and [*_in_text(text, nesting + 1)]):
            raise Untold("what is run in another place")


def _found(arguments: Sequence[Word], script: Script, nesting: int) -> Iterator[str]:
    """`find ... -delete`, `find ... -exec COMMAND ;`"""
    if "-delete" in arguments:
        yield "delete"
    for position, argument in enumerate(arguments):
        if argument in ("-exec", "-execdir", "-ok", "-okdir"):
            rest = arguments[position + 1 :]
            end = next((at for at, word in enumerate(rest) if word in (";", "+")), len(rest))
            yield from _in_command(Command(tuple(rest[:end])), script, nesting + 1)


def _gh(arguments: Sequence[Word]) -> Iterator[str]:
    """The command lines of GitHub: `gh pr create`, and its API."""
    if _asks_for_help(arguments) or "--dry-run" in arguments:
        return
    words = list(_without_options(arguments, _VALUED))
    if words[:1] == [None]:
        raise Untold("the command of gh")
    if words[:1] == ["pr"]:
        if words[1:2] == [None]:
            raise Untold("the command of gh pr")
        if words[1:2] and words[1] in ("create", "new"):
            yield "pr.open"
    elif words[:1] == ["api"] and any(word is not None and _is_pulls(word) for word in words[1:2]):
        sends = {"-f", "-F", "--field", "--raw-field", "--input"}
        method = _option(arguments, "-X", "--method")
        if method.upper() == "POST" or (not method and any(word in sends for word in arguments)):
            yield "pr.open"


def _glab(arguments: Sequence[Word]) -> Iterator[str]:
    words = list(_without_options(arguments, _VALUED))
    if words[:1] == ["mr"] and words[1:2] and words[1] in ("create", "new") and not _asks_for_help(arguments):
        yield "pr.open"


def _git(arguments: Sequence[Word]) -> Iterator[str]:
    found = git.ops(arguments)
    if found is None:
        raise Untold("the command of git")
    yield from found


_PROGRAMS: Final[Mapping[str, Callable[[Sequence[Word]], Iterator[str]]]] = {
    "git": _git,
    "gh": _gh,
    "glab": _glab,
    "hub": lambda arguments: iter(("pr.open",)) if arguments[:1] == ["pull-request"] else _git(arguments),
}


def _is_pulls(path: str) -> bool:
    return path.rstrip("/").endswith("/pulls")


def _without_options(arguments: Sequence[Word], with_value: frozenset[str]) -> Iterator[Word]:
    """The arguments that are no options. `with_value` are the options whose value is the next word."""
    skip = False
    for argument in arguments:
        if skip:
            skip = False
        elif argument is not None and argument.startswith("-"):
            skip = argument in with_value
        else:
            yield argument


def _option(arguments: Sequence[Word], *names: str) -> str:
    """The value of an option that is given as `NAME VALUE` or `NAME=VALUE`; "" without it."""
    for position, argument in enumerate(arguments):
        if argument in names and position + 1 < len(arguments):
            return arguments[position + 1] or ""
        for name in names:
            if argument is not None and argument.startswith(f"{name}="):
                return argument[len(name) + 1 :]
    return ""


def _asks_for_help(arguments: Sequence[Word]) -> bool:
    return "--help" in arguments or "--version" in arguments


def _known(words: Sequence[Word]) -> list[str]:
    known = [word for word in words if word is not None]
    if len(known) < len(words):
        raise Untold("a part of what is evaluated")
    return known
