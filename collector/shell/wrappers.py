"""Wrappers: programs that run the command which their arguments name (`sudo`, `env`, `timeout`, `uv run`, ...)."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from collector.shell.syntax import Word


class Wrapper(NamedTuple):
    """How the arguments of a wrapper end and the command begins."""

    with_value: frozenset[str] = frozenset()
    """Options whose value is the next word."""
    operands: int = 0
    """Words of its own before the command: the duration of `timeout`, the file of `flock`."""
    assignments: bool = False
    """`NAME=VALUE` words may come before the command."""
    subcommands: frozenset[str] = frozenset()
    """It is a wrapper only with one of these as its first word (`uv run`)."""


def _options(text: str) -> frozenset[str]:
    return frozenset(text.split())


_RUN: Final = frozenset({"run"})

WRAPPERS: Final[Mapping[str, Wrapper]] = {
    "sudo": Wrapper(
        _options("-u -g -p -C -D -h -R -r -t -T -U --user --group --prompt --chdir --host"), assignments=True
    ),
    "doas": Wrapper(_options("-u -C")),
    "env": Wrapper(_options("-u -C --unset --chdir"), assignments=True),
    "time": Wrapper(_options("-f -o")),
    "nice": Wrapper(_options("-n --adjustment")),
    "ionice": Wrapper(_options("-c -n -p")),
    "nohup": Wrapper(),
    "setsid": Wrapper(),
    "command": Wrapper(),
    "builtin": Wrapper(),
    "exec": Wrapper(_options("-a")),
    "stdbuf": Wrapper(_options("-i -o -e")),
    "timeout": Wrapper(_options("-s -k --signal --kill-after"), operands=1),
    "gtimeout": Wrapper(_options("-s -k --signal --kill-after"), operands=1),
    "flock": Wrapper(_options("-w -E --timeout"), operands=1),
    "xargs": Wrapper(_options("-I -i -n -P -L -d -E -s -a --max-args --max-procs --delimiter --arg-file")),
    "watch": Wrapper(_options("-n --interval")),
    "caffeinate": Wrapper(_options("-t -w")),
    "xvfb-run": Wrapper(_options("-s -n -e -f -w --server-args --server-num")),
    "dotenv": Wrapper(_options("-e -f"), subcommands=_RUN),
    "uv": Wrapper(_options("--with --with-requirements --python -p --project --directory --group --extra --env-file"),
                  subcommands=_RUN),
    "poetry": Wrapper(_options("-C --directory --project"), subcommands=_RUN),
    "pipenv": Wrapper(subcommands=_RUN),
    "pdm": Wrapper(_options("-p --project"), subcommands=_RUN),
    "hatch": Wrapper(_options("-e --env"), subcommands=_RUN),
    "rye": Wrapper(subcommands=_RUN),
    "conda": Wrapper(_options("-n -p --name --prefix"), subcommands=_RUN),
    "mamba": Wrapper(_options("-n -p --name --prefix"), subcommands=_RUN),
    "coverage": Wrapper(_options("--source --rcfile --data-file --include --omit"), subcommands=_RUN),
    "bundle": Wrapper(subcommands=frozenset({"exec"})),
    "npx": Wrapper(_options("-p --package")),
    "bunx": Wrapper(),
    "pnpx": Wrapper(),
    "uvx": Wrapper(_options("--from --with --python -p")),
    "pipx": Wrapper(_options("--spec --python"), subcommands=_RUN),
    "mise": Wrapper(subcommands=frozenset({"exec", "x"})),
    "direnv": Wrapper(operands=1, subcommands=frozenset({"exec"})),
    "coproc": Wrapper(),
    "chronic": Wrapper(),
    "busybox": Wrapper(),
    "toybox": Wrapper(),
    "corepack": Wrapper(),
    "strace": Wrapper(_options("-e -o -p -s -u -E -O -S -a -I -P")),
    "ltrace": Wrapper(_options("-e -o -p -s -u -l -n -a -x")),
    "chrt": Wrapper(_options("-T -P -D -p"), operands=1),
    "taskset": Wrapper(operands=1),
    "chroot": Wrapper(operands=1),
    "unshare": Wrapper(_options("-S -G -R -w --root --wd --setuid --setgid")),
    "runuser": Wrapper(_options("-u -g -G --user --group --supp-group")),
    "firejail": Wrapper(),
    "faketime": Wrapper(_options("-f"), operands=1),
    "proxychains": Wrapper(_options("-f")),
    "proxychains4": Wrapper(_options("-f")),
    "systemd-run": Wrapper(_options("-p -u -t -M -H -E --property --unit --slice --description --setenv")),
    "systemd-inhibit": Wrapper(_options("--what --who --why --mode")),
    "dbus-run-session": Wrapper(_options("--config-file --dbus-daemon")),
    "ssh-agent": Wrapper(_options("-a -t -P")),
    "entr": Wrapper(),
}  # fmt: skip
"""By the name of the program. `coverage run -m pytest` is left with `-m pytest`, which `runners` knows."""


def program(path: str) -> str:
    """The name of a program without its folder and, on Windows, its ending: `git` for `C:\\Git\\git.exe`."""
    name = path.replace("\\", "/").rsplit("/", 1)[-1]
    stem, dot, ending = name.rpartition(".")
    return stem if dot and ending.lower() in ("exe", "cmd", "bat") else name


def unwrapped(words: Sequence[Word]) -> Sequence[Word]:
    """The command that is run in the end: `sudo env A=b timeout 5 git push` is `git push`.

    Empty where none is run (`command -v git`); its name is None where it is only known when it runs.
    """
    while words:
        name = program(words[0]) if words[0] is not None else ""
        wrapper = WRAPPERS.get(name)
        if wrapper is None:
            return words
        if name == "command" and words[1:2] and words[1] in ("-v", "-V"):
            return ()
        if name == "env" and any(word is None or word.startswith(("-S", "--split-string")) for word in words[1:2]):
            return (None,)
        inner = _inner(wrapper, words[1:])
        if inner is None:
            return words
        words = inner
    return words


def _inner(wrapper: Wrapper, arguments: Sequence[Word]) -> Sequence[Word] | None:
    """The words of the command; None where this is no call that wraps one."""
    position, operands = 0, wrapper.operands
    awaited = bool(wrapper.subcommands)
    while position < len(arguments):
        word = arguments[position]
        if word == "--":
            position += 1
            if not awaited and operands == 0:
                break
            continue
        if word is not None and word.startswith("-") and word != "-m":
            position += 2 if _takes_next(word, wrapper.with_value) else 1
        elif awaited:
            if word not in wrapper.subcommands:
                return None
            awaited = False
            position += 1
        elif wrapper.assignments and word is not None and "=" in word.lstrip("-"):
            position += 1
        elif operands:
            operands -= 1
            position += 1
        else:
            break
    return None if awaited else arguments[position:]


def _takes_next(option: str, with_value: frozenset[str]) -> bool:
    """Whether the value of an option is the next word; of joined letters (`-iu`), that of the last."""
    if option in with_value or option.startswith("--"):
        return option in with_value
    valued = next((at for at, letter in enumerate(option) if at and f"-{letter}" in with_value), None)
    return valued == len(option) - 1
