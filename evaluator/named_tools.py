"""Named tools: the tools that behaviors name by a plain text, and whether anything shows that there are such tools.

A name with a typo matches nothing, so that `never` passes with it for ever.
"""

import difflib
from collections.abc import Collection, Iterable, Iterator
from typing import Final

from evaluator.expectations.reason import listed
from evaluator.items import UNREADABLE_NAME, Item, ItemKind
from evaluator.language.assertion import Behavior, ItemMatcher
from evaluator.operators import matchers

NEAR: Final = 0.85
"""How alike (0 to 1) a name is that is taken for the one that is meant, where the agent declares no tools."""

_NAMES: Final = frozenset({"name", "gen_ai.tool.name"})
_SEPARATORS: Final = str.maketrans("", "", "_-. ")


def shown_by(item: Item) -> str | None:
    """The name that an item shows to be in use: of a tool, also where an approval is of its call, or of an event."""
    name = item.call.name if item.kind is ItemKind.APPROVAL and item.call is not None else item.name
    return None if name == UNREADABLE_NAME else name


class NamedTools:
    """The names that the behaviors have for tools. `unfounded` says which of them nothing bears out."""

    def __init__(self, behaviors: Iterable[Behavior]) -> None:
        self._named = [
            (behavior.name, names, matcher.kind is ItemKind.TOOL)
            for behavior in behaviors
            for matcher in matchers(behavior.assertion)
            for names in _alternatives(matcher)
        ]

    def __bool__(self) -> bool:
        return bool(self._named)

    def unfounded(self, declared: Collection[str] | None, seen: Collection[str]) -> list[str]:
        """A sentence about each name that is neither declared nor seen, where a like one is, or where the agent says
        which tools it has (`declared` is not None) and it is none of them. Of alternatives one is enough for that,
        and what may be an event (a matcher without a kind) need be no tool."""
        known = sorted({*(declared or ()), *seen})
        found: dict[str, None] = {}
        for behavior, names, tool in self._named:
            lacking = [name for name in names if name not in known]
            for name in lacking:
                said = f"behavior {behavior!r} names the tool {name!r}, which nothing declares or calls"
                near = _nearest(name, known, declared is not None)
                if near is not None:
                    found[f"{said}; did you mean {near!r}?"] = None
                elif tool and declared is not None and len(lacking) == len(names):
                    tools = listed([repr(each) for each in sorted(declared)], "and") if declared else "none"
                    found[f"{said}; the agent declares {tools}"] = None
        return list(found)


def _alternatives(matcher: ItemMatcher) -> Iterator[tuple[str, ...]]:
    """The names of tools that a matcher gives, any of which will do."""
    if matcher.kind not in (ItemKind.TOOL, None):
        return
    for field, wanted in matcher.where:
        for op, operand in wanted.tests if field in _NAMES else ():
            names = operand if op == "in" else (operand,) if op == "equals" else ()
            if texts := tuple(name for name in names if isinstance(name, str)):
                yield texts


def _nearest(name: str, known: Iterable[str], declared: bool) -> str | None:
    """The known name that is most like this one, if it is like enough; capitals and separators do not count."""
    plain = {_plain(each): each for each in known}
    found = difflib.get_close_matches(_plain(name), plain, 1, 0.6 if declared else NEAR)
    return plain[found[0]] if found else None


def _plain(name: str) -> str:
    return name.casefold().translate(_SEPARATORS)
