"""The values of `params` and `result`, and the matchers in them, in `error` and in `response`."""

import datetime
import math
import re
import warnings
from typing import Final

from evaluator.language.document import ListNode, MapNode, Node, ScalarNode, plain, scalars
from evaluator.language.placeholders import refuse
from evaluator.language.problem import nearest
from evaluator.language.review import Review, is_absent, is_extension, quoted
from evaluator.language.spec import Elements, Expected, Fields, Literal, Matcher, Place

MATCHERS: Final = (
    "equals",
    "contains",
    "not_contains",
    "icontains",
    "not_icontains",
    "matches",
    "not_matches",
)
REGEXES: Final = ("matches", "not_matches")

_CORE_INT = re.compile(r"[-+]?(0|[1-9][0-9]*|0x[0-9a-fA-F]+)")
_CORE_NUMBER = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|0o[0-7]+")
_LOOKS_MISSPELT = 0.85
"""How alike a key and a matcher are when the key is probably not meant as a key."""


def fields(review: Review, node: Node, what: str) -> Fields | None:
    """`params` or `result` itself: a mapping, and never a matcher, whatever its keys are called."""
    if is_absent(node):
        return None
    if not isinstance(node, MapNode):
        review.problem(node, "wrong_type", f"{what} must be a mapping, not {quoted(node)}")
        return None
    if node.entries and all(entry.key.value in MATCHERS for entry in node):
        keys = ", ".join(entry.key.text for entry in node)
        message = f"{what} is compared key by key: this looks for a key named {keys}; matchers go one level deeper"
        review.warn(node, message)
    return _fields(review, node, what)


def _fields(review: Review, node: MapNode, what: str) -> Fields:
    entries: dict[str, Expected] = {}
    for entry in node:
        # Keys of JSON are texts: `1` and `on` are taken as they are written.
        key = entry.key.text
        if "{{" in key:
            review.warn(entry.key, f"'{key}' is taken as it is: there are no templates in {what}")
        entries[key] = value(review, entry.value, what)
    return Fields(entries)


def value(review: Review, node: Node, what: str) -> Expected:
    """One value of `params` or `result` (`what`), at any depth."""
    match node:
        case ScalarNode():
            literal(review, node)
            refuse(review, node, what)
            return Literal(node.value)
        case ListNode():
            return Elements(tuple(value(review, item, what) for item in node.items))
        case MapNode():
            return matcher(review, node, what) if is_matcher(review, node) else _fields(review, node, what)


def is_matcher(review: Review, node: MapNode) -> bool:
    """Whether a mapping is a matcher: it has matchers, and no keys but them and `x-`.

    Some of both, and keys that are nearly a matcher, are problems: one of the two was not meant.
    """
    keys = [entry.key for entry in node]
    known = [key.text for key in keys if key.value in MATCHERS]
    others = [key for key in keys if key.value not in MATCHERS and not is_extension(key)]
    misspelt = [(key, hint) for key in others if (hint := near_miss(key.text))]
    for key, hint in misspelt:
        message = (
            f"'{key.text}' is nearly a matcher; to look for a key of that name write {{equals: {{{key.text}: ...}}}}"
        )
        review.problem(key, "bad_matcher", message, hint=hint)
    if known and others and not misspelt:
        message = (
            f"has the matcher {known[0]} and the key {others[0].text}: a mapping is either a matcher or a value;"
            f" to look for a key named {known[0]} write {{equals: {{...}}}}"
        )
        review.problem(node, "bad_matcher", message)
    if not known and not misspelt:
        for key in others:
            if hint := nearest(key.text, MATCHERS, _LOOKS_MISSPELT):
                review.warn(key, f"'{key.text}' is no matcher: it is looked for as a key (did you mean '{hint}'?)")
    return bool(known)


def near_miss(key: str) -> str:
    """The matcher that `key` is but for case, hyphens or an s too many or too few; "" when there is none."""
    folded = key.lower().replace("-", "_")
    candidates = (folded, folded + "s", folded + "es", folded.removesuffix("s"))
    return next((name for name in MATCHERS if name in candidates and name != key), "")


def matcher(review: Review, node: MapNode, what: str) -> Matcher:
    """A matcher under `params`, `result` or `error`: operands may be any value, and regexes must compile."""
    tests = []
    for entry in node:
        op = entry.key.value
        if op not in MATCHERS:
            continue
        operand = entry.value
        if op == "equals":
            for scalar in scalars(operand):
                literal(review, scalar)
            _refuse_previous(review, operand, what)
        else:
            refuse(review, operand, what)
            _operand(review, op, operand)
        tests.append((op, plain(operand)))
    return Matcher(tuple(tests), Place(node.path, node.line))


def _operand(review: Review, op: str, operand: Node) -> None:
    if op in REGEXES:
        if not isinstance(operand, ScalarNode) or not isinstance(operand.value, str):
            review.problem(operand, "bad_regex", f"{op} needs a regex, a text, not {quoted(operand)}")
        elif _nonempty(review, op, operand):
            regex(review, operand, operand.value)
        return
    for scalar in scalars(operand):
        # A text operand is used as text, whatever number it looks like.
        if not isinstance(scalar.value, str):
            literal(review, scalar)
    if isinstance(operand, ScalarNode) and operand.value is None:
        review.warn(operand, f"{op} with null looks at lists only, for an item that is null")
    elif isinstance(operand, ScalarNode):
        _nonempty(review, op, operand)


def _nonempty(review: Review, op: str, operand: ScalarNode) -> bool:
    if operand.value != "":
        return True
    outcome = "never holds" if op.startswith("not_") else "always holds"
    review.problem(operand, "empty", f"{op} with an empty text {outcome}: it checks nothing")
    return False


def response(review: Review, node: Node) -> Matcher | None:
    """The matchers of a reply: at least one, with texts as operands."""
    if is_absent(node) or (isinstance(node, MapNode) and all(is_extension(entry.key) for entry in node)):
        review.problem(node, "empty", f"response needs at least one of {', '.join(MATCHERS)}")
        return None
    entries = review.mapping(node, MATCHERS, 'a mapping of matchers, such as {contains: "shipped"}')
    if entries is None:
        return None
    tests = []
    for op, entry in entries.items():
        text = review.any_text(entry.value)
        if text is None or not isinstance(entry.value, ScalarNode):
            continue
        if op == "equals":
            _refuse_previous(review, entry.value, "response")
        else:
            refuse(review, entry.value, "response")
            if _nonempty(review, op, entry.value) and op in REGEXES:
                regex(review, entry.value, text)
        tests.append((op, text))
    return Matcher(tuple(tests), Place(node.path, node.line))


def error(review: Review, node: Node) -> bool | Matcher:
    """`error` of a call: true, false, or matchers of its error text."""
    if isinstance(node, ScalarNode) and isinstance(node.value, bool):
        return node.value
    if isinstance(node, MapNode) and is_matcher(review, node):
        return matcher(review, node, "error")
    found = quoted(node)
    if isinstance(node, MapNode):
        found = f"a mapping with {', '.join(entry.key.text for entry in node) or 'nothing in it'}"
    needed = 'error must be true, false or matchers of the error text, such as {contains: "timed out"}'
    review.problem(node, "bad_matcher", f"{needed}, not {found}")
    return False


def regex(review: Review, node: Node, pattern: str) -> None:
    """Note a pattern that is no regex of Python's `re`."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as problem:
        review.problem(node, "bad_regex", f"{quoted(node)} is no regex of Python's re: {problem}")


def literal(review: Review, node: ScalarNode) -> None:
    """Note a value that YAML read as something else than JSON has, or than its text looks like.

    A date, binary data, infinity or NaN equals nothing that an agent can send, so it is a problem. What YAML 1.1 and
    YAML 1.2 read differently (`NO`, `0123`, `12:30`) is one that can be meant, so it is a warning.
    """
    found = node.value
    if isinstance(found, datetime.date | bytes) or (isinstance(found, float) and not math.isfinite(found)):
        kind = "no number in JSON" if isinstance(found, float) else f"{node.kind} in YAML, and JSON has none"
        message = f"{quoted(node)} is {kind}: no JSON value can equal it; quote it to have it as text"
        review.problem(node, "bad_value", message)
    elif node.plain and (reading := _surprise(node)):
        review.warn(node, f"{quoted(node)} is {reading} in YAML 1.1; quote it if the text is meant")


def _surprise(node: ScalarNode) -> str:
    match node.value:
        case bool():
            return "" if node.text.lower() in ("true", "false") else f"the boolean {str(node.value).lower()}"
        case int():
            return "" if _CORE_INT.fullmatch(node.text) else f"the number {node.value}"
        case float():
            return "" if _CORE_NUMBER.fullmatch(node.text) else f"the number {node.value}"
        case str():
            return "text and no number" if _CORE_NUMBER.fullmatch(node.text) else ""
    return ""


def _refuse_previous(review: Review, node: Node, what: str) -> None:
    """`equals` may hold braces (agents do handle such texts), but not what was meant to be filled in."""
    for scalar in scalars(node):
        if isinstance(scalar.value, str) and re.search(r"\{\{\s*previous\b", scalar.value):
            refuse(review, scalar, what)
