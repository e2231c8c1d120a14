"""Behavior files: YAML -> typed behaviors (reference/matchers-and-operators.txt; DESIGN.md, "Commands")."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

from evaluator.language.assertion import (
    PATH_SOURCES,
    AllPaths,
    AnyPath,
    Assertion,
    Before,
    Behavior,
    Count,
    Each,
    Eventually,
    Never,
    Order,
    UnitKind,
    Within,
)
from evaluator.language.composer import compose
from evaluator.language.document import ListNode, Node
from evaluator.language.item_matcher import glob, item_matcher
from evaluator.language.problem import Problem, SpecProblems, nearest
from evaluator.language.review import Review, quoted
from evaluator.language.spec import Place
from evaluator.verdict import Severity

OPERATORS: Final = ("never", "eventually", "count", "before", "order", "each", "all", "any")
_ASSERT: Final = (*OPERATORS, "requires_prior", "within")


def read_behaviors(path: Path) -> tuple[Behavior, ...]:
    """The behaviors of a file, in its order. Raises `SpecProblems` with every problem of the file."""
    try:
        data = path.read_bytes()
    except OSError as error:
        reason = error.strerror or str(error)
        problem = Problem(str(path), "", None, "unreadable", f"the file cannot be read: {reason}")
        raise SpecProblems([problem]) from error
    return parse_behaviors(data, str(path))


def parse_behaviors(data: bytes | str, file: str) -> tuple[Behavior, ...]:
    """The behaviors of the text of a file, which `file` names in problems. Raises `SpecProblems`."""
    document = compose(data, file)
    review = Review(file, "behaviors", list(document.problems))
    behaviors = () if document.root is None else _behaviors(review, document.root)
    review.done()
    return behaviors


def _behaviors(review: Review, root: Node) -> tuple[Behavior, ...]:
    entries = review.mapping(root, ("behaviors",), "a mapping with the key behaviors")
    if entries is None:
        return ()
    if "behaviors" not in entries:
        review.missing(root, "behaviors", "is missing: a behavior file has a list of them")
        return ()
    nodes = review.items(entries["behaviors"].value, "behaviors", empty="an empty list checks nothing") or ()
    found = [behavior for node in nodes if (behavior := _behavior(review, node)) is not None]
    lines: dict[str, int | None] = {}
    for behavior in found:
        if behavior.name in lines:
            message = (
                f"'{behavior.name}' is also the name of the behavior at line {lines[behavior.name]}; names are unique"
            )
            review.problems.append(
                Problem(review.file, f"{behavior.place.path}.name", behavior.place.line, "duplicate_key", message)
            )
        lines.setdefault(behavior.name, behavior.place.line)
    return tuple(found)


def _behavior(review: Review, node: Node) -> Behavior | None:
    entries = review.mapping(
        node, ("name", "unit", "severity", "assert"), "a behavior: a mapping with name and assert"
    )
    if entries is None:
        return None
    name = review.text(entries["name"].value, "the name of the behavior") if "name" in entries else None
    if "name" not in entries:
        review.missing(node, "name", "is missing: results call a behavior by its name")
    unit = _word(review, entries["unit"].value, tuple(UnitKind), "session") if "unit" in entries else "session"
    severity = (
        _word(review, entries["severity"].value, tuple(Severity), "error") if "severity" in entries else "error"
    )
    if "assert" not in entries:
        review.missing(node, "assert", "is missing: it holds the operator, such as assert: {never: {event: steer}}")
        return None
    assertion = _assertion(review, entries["assert"].value)
    if assertion is None or name is None:
        return None
    line = entries["name"].value.line
    return Behavior(name, UnitKind(unit), Severity(severity), assertion, Place(node.path, line))


def _word(review: Review, node: Node, words: tuple[str, ...], default: str) -> str:
    """One of a few words; the default where it is none of them, which is noted."""
    value = getattr(node, "value", None)
    if value in words:
        return str(value)
    hint = nearest(value, words) if isinstance(value, str) else ""
    review.problem(node, "bad_value", f"must be {' or '.join(words)}, not {quoted(node)}", hint=hint)
    return default


def _assertion(review: Review, node: Node) -> Assertion | None:
    entries = review.mapping(node, _ASSERT, "a mapping with one operator, such as {never: {event: steer}}")
    if entries is None:
        return None
    operators = [key for key in OPERATORS if key in entries]
    if len(operators) > 1:
        message = f"has {' and '.join(operators)}; an assert holds one operator, so make them two behaviors"
        review.problem(node, "exclusive_keys", message)
        return None
    for key in ("requires_prior", "within"):
        if key in entries and "each" not in entries:
            review.problem(entries[key].key, "needs_each", f"{key} goes with each, and there is none here")
    if not operators:
        if not any(problem.path.startswith(node.path) for problem in review.problems):
            review.problem(node, "asserts_nothing", f"has no operator; give one of {', '.join(OPERATORS)}")
        return None
    operator = operators[0]
    if operator == "each":
        within = entries["within"].value if "within" in entries else None
        prior = entries["requires_prior"].value if "requires_prior" in entries else None
        return _each(review, node, entries["each"].value, prior, within)
    return _READERS[operator](review, entries[operator].value)


def _each(review: Review, node: Node, each: Node, prior: Node | None, within: Node | None) -> Each | None:
    matcher = item_matcher(review, each)
    if prior is None:
        review.missing(
            node, "requires_prior", "is missing: each says of which items, requires_prior what must precede"
        )
        return None
    return Each(matcher, item_matcher(review, prior), None if within is None else _within(review, within))


def _within(review: Review, node: Node) -> Within | None:
    entries = review.mapping(node, ("seq", "turns"), "a mapping with seq or turns, such as {turns: 1}")
    if entries is None:
        return None
    if len(entries) != 1:
        if entries or not any(problem.path.startswith(node.path) for problem in review.problems):
            review.problem(node, "exclusive_keys", "takes exactly one of seq and turns")
        return None
    ((unit, entry),) = entries.items()
    most = review.whole(entry.value, least=0)
    return None if most is None else Within(unit, most)


def _never(review: Review, node: Node) -> Assertion:
    return Never(item_matcher(review, node))


def _eventually(review: Review, node: Node) -> Assertion:
    return Eventually(item_matcher(review, node))


def _count(review: Review, node: Node) -> Assertion | None:
    entries = review.mapping(node, ("match", "min", "max"), "a mapping with match, and min, max or both")
    if entries is None:
        return None
    if "match" not in entries:
        review.missing(node, "match", "is missing: the matcher of what is counted")
        return None
    match = item_matcher(review, entries["match"].value)
    least = review.whole(entries["min"].value, least=0) if "min" in entries else None
    most = review.whole(entries["max"].value, least=0) if "max" in entries else None
    if "min" not in entries and "max" not in entries:
        review.problem(node, "asserts_nothing", "give min, max or both: any number would do")
    elif least is not None and most is not None and least > most:
        review.problem(
            entries["min"].value, "out_of_range", f"min is {least} and max is {most}: no number is in between"
        )
    return Count(match, least, most)


def _before(review: Review, node: Node) -> Assertion | None:
    entries = review.mapping(node, ("first", "then"), "a mapping with first and then, each a matcher")
    if entries is None:
        return None
    found = {key: item_matcher(review, entry.value) for key, entry in entries.items()}
    for key in ("first", "then"):
        if key not in found:
            review.missing(node, key, "is missing: before needs the two matchers first and then")
    return Before(found["first"], found["then"]) if len(found) == 2 else None


def _order(review: Review, node: Node) -> Assertion | None:
    nodes = review.items(node, "matchers", empty="an empty order holds of everything; give matchers")
    if nodes is None:
        return None
    return Order(tuple(item_matcher(review, entry) for entry in nodes))


def _all(review: Review, node: Node) -> Assertion | None:
    parts = _paths(review, node, "all")
    return None if parts is None else AllPaths(*parts)


def _any(review: Review, node: Node) -> Assertion | None:
    parts = _paths(review, node, "any")
    return None if parts is None else AnyPath(*parts)


_READERS: Final[dict[str, Callable[[Review, Node], Assertion | None]]] = {
    "never": _never,
    "eventually": _eventually,
    "count": _count,
    "before": _before,
    "order": _order,
    "all": _all,
    "any": _any,
}


def _paths(review: Review, node: Node, operator: str) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """The sources and globs of `all` and `any`."""
    entries = review.mapping(node, ("paths", "match"), "a mapping with paths and match")
    if entries is None:
        return None
    sources = _sources(review, entries["paths"].value) if "paths" in entries else None
    globs = _globs(review, entries["match"].value) if "match" in entries else None
    if "paths" not in entries:
        review.missing(
            node, "paths", f"is missing: {operator} needs where paths come from, as in {{from: [file.change]}}"
        )
    if "match" not in entries:
        review.missing(node, "match", f"is missing: {operator} needs a glob, or a list of globs")
    return None if sources is None or globs is None else (sources, globs)


def _sources(review: Review, node: Node) -> tuple[str, ...] | None:
    entries = review.mapping(node, ("from",), "a mapping with from, as in {from: [file.change, diff.files]}")
    if entries is None:
        return None
    if "from" not in entries:
        review.missing(node, "from", f"is missing: a list of {' and '.join(PATH_SOURCES)}, or one of them")
        return None
    items = review.items(entries["from"].value, "sources", empty="an empty list has no paths") or ()
    return tuple(dict.fromkeys(_word(review, item, PATH_SOURCES, PATH_SOURCES[0]) for item in items))


def _globs(review: Review, node: Node) -> tuple[str, ...] | None:
    if isinstance(node, ListNode):
        items = review.items(node, "globs", empty="an empty list matches no path") or ()
        return tuple(pattern for item in items if (pattern := glob(review, item)) is not None)
    pattern = glob(review, node)
    return None if pattern is None else (pattern,)
