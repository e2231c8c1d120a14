"""Texts for programs that nobody here knows: what an editor, a debugger or a database is told to do may be a command.

`vim -c '!git push'` pushes and `notify 'git push failed'` does not, and nothing tells the two apart.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from collector.shell.syntax import Command, Word

_PROGRAM: Final = re.compile(
    r"(?<![\w./-])(?:/[\w./-]*/)?(git|gh|glab|hub|tea|az|rm|rmdir|unlink|shred|trash|srm)(?:\.exe)?(?=[\s\"',\]])"
)
_WORD: Final = re.compile(r"[\w./:=@+-]+")
_WORDS: Final = 24
"""How many words after the name of a program are looked at."""
_SED_RUNS: Final = re.compile(r"(?:^|[;{}\d$/!\s])e\s|[/|,#@]\w*e\w*\s*(?:;|$|\n|\})")
"""What makes sed run a text: its command `e`, and that flag of `s`."""
_SEDS: Final = frozenset({"sed", "gsed"})


def commands_in(name: str, command: Command, arguments: Sequence[Word]) -> Iterator[tuple[str, ...]]:
    """The commands, as their words, that the arguments of a program or what it is given to read mention."""
    texts = [word for word in arguments if word is not None and " " in word]
    if name in _SEDS:
        texts = [text.replace("/", " / ") for text in texts if _SED_RUNS.search(text)]
    for text in (*texts, command.script or ""):
        for found in _PROGRAM.finditer(text):
            end = text.find("\n", found.end())
            rest = text[found.end() : end if end >= 0 else None]
            yield (found[1], *_WORD.findall(rest)[:_WORDS])
