"""Inline code: command lines that hold a program in another language (`python -c`, `node -e`, `pwsh -Command`).

What such a program does is not worked out. Where its text mentions what an op is about, nobody can tell whether it
does that; where it mentions nothing, it does nothing of the kind as far as the command line says.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from collector.shell.syntax import Command, Word

_MENTIONED: Final = re.compile(
    r"\b(?:git|gh|glab|rm|rmdir|unlink|unlinkSync|rmSync|rmdirSync|shred|rmtree|rimraf|removedirs|rm_rf|rm_r)\b"
    r"|\bhub\W+(?:push|pull-request)\b"
    r"|\b(?:os|fs|Deno|File|FileUtils)\.(?:remove|rm|delete)\b"
)
_MENTIONED_ON_WINDOWS: Final = re.compile(
    r"\b(?:git|gh|glab|rm|rmdir|rd|del|erase|ri|Remove-Item)\b(?!-)", re.IGNORECASE
)

_RUNS: Final = re.compile(
    r"(?:\b(?:os\.(?:system|popen|exec\w*|spawn\w*|posix_spawn\w*)|(?:subprocess|commands|child_process|Open3)\.\w+"
    r"|(?:pty|Kernel|Process|Bun)\.spawn\w*|(?:IO|Kernel)\.(?:popen|system|exec)|Deno\.(?:Command|run)"
    r"|execSync|execFileSync|execFile|spawnSync|check_output|check_call|Popen|getoutput|shell_exec|passthru|proc_open"
    r"|popen)\s*\(|(?<![.\w])(?:system|exec|spawn)\b\s*(?:\(|(?=[\"'$@\w])))"
)
"""Where code of another language may begin to run a command."""
_LITERAL: Final = r"""(?:"(?:[^"\\$`#]|#(?!\{))*"|'[^'\\]*')"""
_PLAIN: Final = re.compile(rf"[\s(\[]*{_LITERAL}(?:\s*,\s*{_LITERAL})*\s*(?:[\]),;}}\n]|$)")
"""Arguments that are texts as they stand, not put together."""

_CODE: Final[Mapping[str, tuple[str, ...]]] = {
    "node": ("-e", "--eval", "-p", "--print", "-pe"),
    "bun": ("-e", "--eval", "-p", "--print"),
    "tsx": ("-e", "--eval", "-p", "--print"),
    "ts-node": ("-e", "--eval", "-p", "--print", "-pe"),
    "deno": ("eval",),
    "php": ("-r", "-B", "-R", "-E"),
    "lua": ("-e",),
    "luajit": ("-e",),
    "julia": ("-e", "-E", "--eval", "--print"),
    "Rscript": ("-e",),
    "osascript": ("-e",),
    "expect": ("-c",),
    "elixir": ("-e", "--eval"),
    "groovy": ("-e",),
}
"""By interpreter, the words after which code stands."""
_LETTERED: Final = {"python": "c", "pypy": "c", "perl": "eE", "ruby": "e"}
"""By the beginning of the name, the letters of short options that code follows, also joined (`-lane`, `-uc`)."""
_WINDOWS: Final = frozenset({"cmd", "powershell", "pwsh"})
_AWKS: Final = frozenset({"awk", "gawk", "mawk", "nawk"})
_READING: Final = ("python", "pypy", "perl", "ruby", "node", "php", "lua")
"""Interpreters that run what they are given to read, where no file is named."""


def is_untold(name: str, command: Command, arguments: Sequence[Word]) -> bool:
    """Whether the command runs code from the command line that may do what an op is about."""
    if name in _WINDOWS:
        return _mentions(arguments, _MENTIONED_ON_WINDOWS)
    if name in _AWKS:
        return any(
            word is not None and "system" in word and (_MENTIONED.search(word) or _builds(word)) for word in arguments
        )
    code = _code(name, arguments)
    if code is not None:
        return _mentions(code, _MENTIONED) or _builds(next(filter(None, code), ""))
    if not name.startswith(_READING) or any(word is None or not word.startswith("-") for word in arguments):
        return False
    if any(word is not None and word.startswith(("-m", "--version", "--help", "-V", "-h")) for word in arguments):
        return False
    if command.script == "":
        return command.piped
    return _mentions((command.script,), _MENTIONED) or _builds(command.script or "")


def _code(name: str, arguments: Sequence[Word]) -> Sequence[Word] | None:
    """The words that are code, and those after them; None where there are none."""
    options = _CODE.get(name, ())
    letters = next((letters for start, letters in _LETTERED.items() if name.startswith(start)), "")
    for position, word in enumerate(arguments):
        if word is None:
            continue
        if word in options:
            return arguments[position + 1 :]
        if letters and word[:1] == "-" and word[:2] != "--":
            at = next((at for at, letter in enumerate(word) if at and letter in letters), 0)
            if at:
                return [word[at + 1 :], *arguments[position + 1 :]]  # the code may follow its letter at once
            if "m" in word[1:2]:
                return None
        elif letters and word[:1] != "-":
            return None
    return None


def _mentions(words: Sequence[Word], pattern: re.Pattern[str]) -> bool:
    return any(word is None or pattern.search(word) for word in words)


def _builds(code: str) -> bool:
    """Whether the code runs a command that it puts together: what it is need not stand in the text."""
    return any(not _PLAIN.match(code, found.end()) for found in _RUNS.finditer(code))
