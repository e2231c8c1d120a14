"""Ops: what the commands of a command line do, in the words of `hangar.shell.ops`.

The ops are of the command line as it is written: `make deploy` or `./release.sh` may push, and does not say so. A
command that stands behind a condition counts as one that runs.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from collector.shell import forges, git, inline_code, runners, spoken
from collector.shell.syntax import Command, Script, Unreadable, Word, read
from collector.shell.wrappers import program, unwrapped
from evaluator.language.assertion import SHELL_OPS

Ops = tuple[str, ...]

_PROGRAMS: Final = frozenset({"git", "hub", *forges.NAMES})


def _names(text: str) -> list[str]:
    return text.split()


_SHELLS: Final = frozenset({"bash", "sh", "zsh", "dash", "ksh", "ash"})
_DELETING: Final = frozenset({"rm", "rmdir", "unlink", "shred", "trash", "trash-put", "srm"})
_ELSEWHERE: Final = frozenset({"docker", "podman", "nerdctl", "docker-compose", "kubectl", "ssh", "wsl", "vagrant"})
"""Programs that run a command in another place, after options and names that nobody can tell from it."""
_QUEUES: Final = frozenset({"at", "batch"})
"""Programs that run later what they are given to read."""
_LOGINS: Final = frozenset({"su", "script", "nix-shell"})
"""Programs that run the text after `-c`, `--command` or `--run`."""
_CARRIERS: Final = frozenset(_names("fish nu xonsh tmux screen zellij concurrently watchexec nodemon nix tcsh csh"))
"""Programs that run commands, or texts of them, in a way of their own."""
_MAKES: Final = frozenset({"make", "gmake"})
_STDIN: Final = frozenset({"-", "-f-", "--file=-", "--makefile=-", "/dev/stdin"})
_SPEAKING: Final = frozenset(
    _names(
        "echo printf print cat grep egrep fgrep rg ag ack man tldr info help which type whereis hash apropos say test"
        " [ [[ ls export declare local readonly set unset return exit cd pushd true false : read let"
        " curl wget jq yq tee logger notify-send wall mail apply_patch applypatch patch head tail sort uniq cut tr wc"
        " alias unalias column fmt fold nl paste comm diff cmp mkdir touch cp mv ln chmod chown basename dirname"
        " realpath readlink stat file seq date sleep kill base64 md5sum sha1sum sha256sum xxd od hexdump"
    )
)
"""Programs whose arguments are no commands, whatever they say."""
_PARALLEL_VALUED: Final = frozenset(_names("-j --jobs -P -n -N --max-args -a --arg-file -I -S --sshlogin --joblog"))
"""Options of parallel whose value is the next word."""
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
        if command.words[:1] == ("alias",):
            _define_aliases(command.words[1:], script)
        yield from _in_command(command, script, nesting)


def _define_aliases(definitions: Sequence[Word], script: Script) -> None:
    for definition in definitions:
        name, said, text = (definition or "").partition("=")
        if said:
            script.aliases[name] = text


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
    if name in script.aliases:
        _refuse_alias(script.aliases[name], words[1:], nesting)
        return
    if "{}" in name or (" " in name and [*_in_text(name, nesting + 1)]):
        raise Untold("the name of the command")
    name = program(name)
    if name in _SHELLS:
        yield from _in_shell(words[1:], command, nesting)
    elif name in _QUEUES:
        yield from _given(command, nesting)
    elif name in _LOGINS:
        (text,) = _known([forges.option(words[1:], "-c", "--command", "--run")])
        yield from _in_text(text, nesting + 1)
    elif name == "trap":
        yield from _trapped(words[1:], nesting)
    elif name == "parallel":
        yield from _in_parallel(words[1:], command, nesting)
    elif name == "eval":
        yield from _in_text(" ".join(_known(words[1:])), nesting + 1)
    elif name in _ELSEWHERE:
        if name == "ssh" or "exec" in words or "run" in words:
            _refuse_elsewhere(words[1:], nesting)
            _refuse_spoken(name, command, ())
    elif name == "find":
        yield from _found(words[1:], script, nesting)
    elif name in _DELETING:
        if not forges.asks_for_help(words[1:]):
            yield "delete"
    elif name in _PROGRAMS:
        yield from _program(name, words[1:])
    elif inline_code.is_untold(name, command, words[1:]):
        raise Untold("what a program in another language does")
    elif runners.runs_tests(name, words[1:]):
        yield "test"
    elif name in _CARRIERS:
        _refuse_elsewhere(words[1:], nesting)
        _refuse_spoken(name, command, ())
    elif name in _MAKES and not _STDIN.isdisjoint(words[1:]) and _is_given_untold(command):
        raise Untold("the recipes that are to be made")
    elif name not in _SPEAKING:
        _refuse_carried(words[1:])
        _refuse_spoken(name, command, words[1:])


def _refuse_alias(text: str, arguments: Sequence[Word], nesting: int) -> None:
    """Raise Untold where an alias would do something: which shells expand it, and when, the text does not tell."""
    rest = " ".join("$X" if word is None else word for word in arguments)
    if [*_in_text(f"{text} {rest}", nesting + 1)]:
        raise Untold("whether an alias is expanded")


def _refuse_carried(arguments: Sequence[Word]) -> None:
    """Raise Untold where a program that is not known has a command of git or a forge as its arguments: it may run."""
    for position, word in enumerate(arguments[:_MAX_ELSEWHERE]):
        name = program(word) if word is not None else ""
        if name not in _PROGRAMS:
            continue
        if _does(name, arguments[position + 1 :]):  # `install git gh` is no command of it
            raise Untold("what is run by a program that is not known")


def _refuse_spoken(name: str, command: Command, arguments: Sequence[Word]) -> None:
    """Raise Untold where what a program that is not known is told or given to read mentions a command that it may
    run."""
    for program_, *rest in spoken.commands_in(name, command, arguments):
        if program_ in _DELETING or _does(program_, rest):
            raise Untold("what is done by a program that is not known")


def _does(name: str, arguments: Sequence[Word]) -> bool:
    try:
        return bool(_program(name, arguments))
    except Untold:
        return False


def _trapped(arguments: Sequence[Word], nesting: int) -> Iterator[str]:
    """`trap TEXT SIGNAL...` runs the text in the end."""
    words = [word for word in arguments if word != "--"]
    if len(words) < 2 or words[0] in ("-", "-p", "-l"):
        return
    yield from _in_text(_known(words[:1])[0], nesting + 1)


def _in_parallel(arguments: Sequence[Word], command: Command, nesting: int) -> Iterator[str]:
    """`parallel COMMAND ::: ARGUMENT...`; without a command, the arguments are commands, or what it reads."""
    ends = [at for at, word in enumerate(arguments) if word is not None and word.startswith(":::")]
    end = ends[0] if ends else len(arguments)
    words = list(_from_command(arguments[:end]))
    if words:
        yield from _in_text(" ".join(_known(words)), nesting + 1)
    elif ends:
        for text in _known([word for word in arguments[end:] if word is None or not word.startswith(":::")]):
            yield from _in_text(text, nesting + 1)
    else:
        yield from _given(command, nesting)


def _from_command(arguments: Sequence[Word]) -> Sequence[Word]:
    """The arguments of `parallel` from its command on."""
    position = 0
    while position < len(arguments) and (arguments[position] or "").startswith("-"):
        position += 2 if arguments[position] in _PARALLEL_VALUED else 1
    return arguments[position:]


def _given(command: Command, nesting: int) -> Iterator[str]:
    """What the command is given to read is run."""
    if _is_given_untold(command):
        raise Untold("what a shell is given to read")
    if command.script:
        yield from _in_text(command.script, nesting + 1)


def _is_given_untold(command: Command) -> bool:
    """Whether the command is given to read what the text does not tell."""
    return command.script is None or (command.piped and not command.script)


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
            if text is None or text.strip() == "{}":
                raise Untold("the text for a shell")
            yield from _in_text(text, nesting + 1)
            return
        position += 2 if argument in ("-o", "+o", "--rcfile", "--init-file") else 1
    yield from _given(command, nesting)


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


def _program(name: str, arguments: Sequence[Word]) -> tuple[str, ...]:
    """The ops of a program of `_PROGRAMS`."""
    if name == "hub" and arguments and arguments[0] == "pull-request":
        return ("pr.open",)
    found = forges.ops(name, arguments) if name in forges.NAMES else git.ops(arguments)
    if found is None:
        raise Untold(f"the command of {name}")
    return found


def _known(words: Sequence[Word]) -> list[str]:
    known = [word for word in words if word is not None]
    if len(known) < len(words):
        raise Untold("a part of what is evaluated")
    return known
