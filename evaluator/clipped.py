"""Clipped texts: inputs and outputs that are longer than what a regex sees of them, and in which it found nothing.

The result of a behavior does not change by them (SEMANTICS.md, section 6). Who reads it is to know.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Final

from evaluator.columns import is_clipped
from evaluator.items import CLIP, Item
from evaluator.language.assertion import Behavior, Count, ItemMatcher, Never
from evaluator.matchers import Predicate, compile_matcher

TEXTS: Final = ("input", "output")


@dataclass(frozen=True, slots=True)
class Clipped:
    """The texts that a `never` or `count` looks into by a regex, and could not look through."""

    fields: tuple[str, ...]
    """Which of `TEXTS` its matcher has a regex for."""
    whole: Predicate
    rest: Predicate
    """The matcher without its tests of these."""

    def note(self, items: Iterable[Item]) -> str:
        """How many texts of `items` are longer than what a regex sees, where no match was found; "" for none."""
        numbers = dict.fromkeys(self.fields, 0)
        for item in items:
            clipped = [field for field in self.fields if is_clipped(item, field)]
            if clipped and self.rest(item) is not False and self.whole(item) is False:
                for field in clipped:
                    numbers[field] += 1
        counted = [f"{number} {field}{'' if number == 1 else 's'}" for field, number in numbers.items() if number]
        if not counted:
            return ""
        be = "is" if sum(numbers.values()) == 1 else "are"
        return f"{' and '.join(counted)} {be} longer than the {CLIP} characters that a regex sees"


def clipped_of(behaviors: Iterable[Behavior]) -> dict[str, Callable[[Iterable[Item]], str]]:
    """`Clipped.note` of each behavior, by its name, that a clipped text may have escaped."""
    found: dict[str, Callable[[Iterable[Item]], str]] = {}
    for behavior in behaviors:
        if isinstance(behavior.assertion, Never | Count) and (fields := _searched(behavior.assertion.match)):
            matcher = behavior.assertion.match
            rest = replace(
                matcher, input=None, output=None, where=tuple(test for test in matcher.where if test[0] not in fields)
            )
            found[behavior.name] = Clipped(fields, compile_matcher(matcher), compile_matcher(rest)).note
    return found


def _searched(matcher: ItemMatcher) -> tuple[str, ...]:
    """Which of `TEXTS` a regex of the matcher looks into."""
    by_where = {field for field, wanted in matcher.where if any(op == "regex" for op, _ in wanted.tests)}
    by_key = {field for field in TEXTS if getattr(matcher, field) is not None}
    return tuple(field for field in TEXTS if field in by_where | by_key)
