"""The results of behaviors over complete lists of items, straight from SEMANTICS.md, sections 2 and 3. Slow."""

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from itertools import pairwise, product

from evaluator.items import Item
from evaluator.language.assertion import (
    AllPaths,
    AnyPath,
    Assertion,
    Before,
    Count,
    Each,
    Eventually,
    ItemMatcher,
    Never,
    Order,
    Within,
)
from evaluator.matchers import compile_matcher
from evaluator.operators import matchers
from evaluator.verdict import Result

Matches = Sequence[Sequence[Item]]
"""For each matcher of an assertion, the items that match it."""


def result(assertion: Assertion, items: Iterable[Item]) -> Result:
    """The result over these items. With doubtful matches: what holds whichever of them match, else unknown."""
    items = list(items)
    tests = [compiled(matcher) for matcher in matchers(assertion)]
    outcomes = [[(item, matches(item)) for item in items] for matches in tests]
    doubtful = [(role, item) for role, found in enumerate(outcomes) for item, outcome in found if outcome is None]
    results = set()
    for choice in product((False, True), repeat=len(doubtful)):
        chosen = {(role, item.id) for (role, item), match in zip(doubtful, choice, strict=True) if match}
        results.add(
            over(
                assertion,
                [
                    [item for item, outcome in found if outcome or (role, item.id) in chosen]
                    for role, found in enumerate(outcomes)
                ],
            )
        )
    return results.pop() if len(results) == 1 else Result.UNKNOWN


_compiled: dict[ItemMatcher, object] = {}


def compiled(matcher: ItemMatcher):
    if matcher not in _compiled:
        _compiled[matcher] = compile_matcher(matcher)
    return _compiled[matcher]


def over(assertion: Assertion, matches: Matches) -> Result:
    match assertion:
        case Never():
            return Result.FAIL if matches[0] else Result.PASS
        case Eventually():
            return Result.PASS if matches[0] else Result.FAIL
        case Count(_, least, most):
            number = len(matches[0])
            return passes((least is None or number >= least) and (most is None or number <= most))
        case Before():
            first, then = first_of(matches[0]), first_of(matches[1])
            if then is None:
                return Result.NOT_APPLICABLE
            return passes(first is not None and precedes(first, then))
        case Order():
            firsts = [first_of(found) for found in matches]
            if any(first is None for first in firsts):
                return Result.FAIL
            return passes(all(precedes(a, b) for a, b in pairwise(firsts)))
        case Each(_, _, within):
            return each(within, *matches)
        case AllPaths(sources, globs) | AnyPath(sources, globs):
            return paths(assertion, [item for found in matches for item in found], sources, globs)
    raise AssertionError(assertion)


def passes(holds: bool) -> Result:
    return Result.PASS if holds else Result.FAIL


def positioned(item: Item) -> bool:
    return item.session is not None and item.seq is not None


def precedes(a: Item, b: Item) -> bool:
    if positioned(a) and positioned(b) and a.session == b.session:
        return a.seq < b.seq
    return a.time < b.time


def first_of(items: Sequence[Item]) -> Item | None:
    candidates = []
    for session in {item.session for item in items if positioned(item)}:
        of_session = [item for item in items if positioned(item) and item.session == session]
        candidates.append(min(of_session, key=lambda item: (item.seq, item.time)))
    without = [item for item in items if not positioned(item)]
    candidates.extend(without)
    key = lambda item: (item.time, item.session is None, item.session or "", not positioned(item), item.seq or 0)  # noqa: E731
    return min(candidates, key=key, default=None)


def each(within: Within | None, priors: Sequence[Item], items: Sequence[Item]) -> Result:
    if not items:
        return Result.NOT_APPLICABLE
    standings = []
    for b in items:
        pairs = [in_window(a, b, within) for a in priors if precedes(a, b)]
        standings.append(True if True in pairs else None if None in pairs else False)
    if False in standings:
        return Result.FAIL
    return Result.UNKNOWN if None in standings else Result.PASS


def in_window(a: Item, b: Item, within: Within | None) -> bool | None:
    if within is None:
        return True
    if a.session is None or a.session != b.session:
        return None
    unit = "turn" if within.unit == "turns" else "seq"
    before, after = getattr(a, unit), getattr(b, unit)
    return None if before is None or after is None else after - before <= within.most


def paths(assertion: Assertion, items: Sequence[Item], sources: Sequence[str], globs: Sequence[str]) -> Result:
    found: list[str | None] = []
    for item in items:
        if item.name == "file.change" and "file.change" in sources:
            found.append(item.path)
        elif item.name == "diff.files" and "diff.files" in sources:
            found.extend(item.paths or ())
    if not found:
        return Result.NOT_APPLICABLE
    held = [path is not None and any(fnmatchcase(path, glob) for glob in globs) for path in found]
    return passes(all(held) if isinstance(assertion, AllPaths) else any(held))
