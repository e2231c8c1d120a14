"""Globs, as fnmatch and DuckDB's GLOB agree on them: case-sensitive, over the whole value, `*` crosses `/`.

`*` is any text, `?` one code point, `[abc]`, `[a-z]` and `[!a-z]` one code point of a class. Patterns that the two
read differently (a backslash, a `[` that opens no class) are refused when a file is loaded.
"""

import re
from collections.abc import Callable
from functools import lru_cache

from evaluator.patterns import PatternSet

_CLASS = re.compile(r"\[(!?)(\]?[^\]]*)\]")


def problem(pattern: str) -> str:
    """Why a pattern is refused, with the way out; "" when it is a glob."""
    if not pattern:
        return "an empty glob matches only an empty text"
    if "\\" in pattern:
        return "a backslash means different things to fnmatch and to DuckDB; put the character in brackets, as in [*]"
    position = 0
    while (position := pattern.find("[", position)) >= 0:
        group = _CLASS.match(pattern, position)
        if group is None or not group[2]:
            return f"the '[' at character {position + 1} opens no class; write [[] for the character itself"
        for low, high in _ranges(group[2]):
            if low > high:
                return f"the range {low}-{high} is empty; write it the other way round"
        position = group.end()
    return ""


def regex(pattern: str) -> str:
    """The RE2 regex that finds exactly what the glob matches."""
    parts = [r"\A(?s:"]
    position = 0
    while position < len(pattern):
        character = pattern[position]
        position += 1
        if character == "*":
            if parts[-1] != ".*":
                parts.append(".*")
        elif character == "?":
            parts.append(".")
        elif character == "[" and (group := _CLASS.match(pattern, position - 1)):
            parts.append(_class(negated=bool(group[1]), body=group[2]))
            position = group.end()
        else:
            parts.append(_literal(character))
    parts.append(r")\z")
    return "".join(parts)


def simple(pattern: str) -> bool:
    """Whether the methods of texts are enough: literals, and one `*` or one at either end."""
    if any(character in pattern for character in "?["):
        return False
    inner = pattern.strip("*")
    return "*" not in inner or (inner == pattern and "*" not in pattern.partition("*")[2].lstrip("*"))


def ends(pattern: str) -> tuple[str, str]:
    """The texts that a match starts and ends with: what stands before the first and after the last wildcard."""
    literals = re.split(r"[*?\[]", pattern)
    if len(literals) == 1:
        return pattern, pattern
    return literals[0], "" if "[" in pattern else literals[-1]


@lru_cache(maxsize=4096)
def compiled(pattern: str) -> Callable[[str], bool]:
    """A test of texts. What needs no regex is done with the methods of texts."""
    if not simple(pattern):
        found = PatternSet((regex(pattern),))
        return lambda text: bool(found.search(text))
    head, star, rest = pattern.partition("*")
    if not star:
        return pattern.__eq__
    tail = rest.lstrip("*")
    if "*" not in tail:
        return _ends(head, tail)
    inner = tail.rstrip("*")
    return lambda text: inner in text


@lru_cache(maxsize=1024)
def any_of(patterns: tuple[str, ...]) -> Callable[[str], bool]:
    """A test whether a text matches any of these. It remembers texts: paths recur."""
    tests = tuple(compiled(pattern) for pattern in patterns)
    return lru_cache(maxsize=4096)(lambda text: any(test(text) for test in tests))


def _ends(head: str, tail: str) -> Callable[[str], bool]:
    if not tail:
        return lambda text: text.startswith(head)
    if not head:
        return lambda text: text.endswith(tail)
    least = len(head) + len(tail)
    return lambda text: len(text) >= least and text.startswith(head) and text.endswith(tail)


def _ranges(body: str) -> list[tuple[str, str]]:
    """The ranges of a class, single characters as ranges of one. A `-` at either end is itself."""
    ranges = []
    position = 0
    while position < len(body):
        if position + 2 < len(body) and body[position + 1] == "-":
            ranges.append((body[position], body[position + 2]))
            position += 3
        else:
            ranges.append((body[position], body[position]))
            position += 1
    return ranges


def _class(*, negated: bool, body: str) -> str:
    ranges = "".join(f"{_literal(low)}-{_literal(high)}" for low, high in _ranges(body))
    return f"[{'^' if negated else ''}{ranges}]"


def _literal(character: str) -> str:
    return character if character.isalnum() else rf"\x{{{ord(character):x}}}"
