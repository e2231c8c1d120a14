"""The matchers of behavior files: what an item must be."""

import datetime
import json
import math
import re
from collections.abc import Callable, Iterable
from typing import Any, Final

from evaluator import globs, patterns
from evaluator.columns import COLUMNS
from evaluator.items import ItemKind, Json
from evaluator.language.assertion import SHELL_OPS, TOOL_KINDS, FieldTest, ItemMatcher
from evaluator.language.document import ListNode, MapNode, Node, ScalarNode
from evaluator.language.problem import nearest
from evaluator.language.review import Review, is_extension, quoted

KEYS: Final = ("tool", "approval", "event", "path", "input", "output", "where")
SUBJECTS: Final = ("tool", "approval", "event")
TESTS: Final = ("not", "in", "regex", "glob", "gt", "gte", "lt", "lte")
BOUNDS: Final = ("gt", "gte", "lt", "lte")
MATCHER: Final = "a matcher, such as {tool: {ops: git.push}}"

_BARE: Final = re.compile(r"[A-Za-z_][\w./-]*")
_NOT_TEXT: Final = frozenset({"true", "false", "yes", "no", "on", "off", "null"})

_NO_PROBLEMS: Final = ItemMatcher("")
"""Stands for a matcher that has a problem; nothing is made of it."""


def item_matcher(review: Review, node: Node) -> ItemMatcher:
    """Read one matcher; what is wrong with it is noted in `review`."""
    entries = review.mapping(node, KEYS, MATCHER)
    if entries is None:
        return _NO_PROBLEMS
    if not entries:
        if all(is_extension(entry.key) for entry in node):  # type: ignore[union-attr]
            review.problem(node, "empty", f"matches every item; give at least one of {', '.join(KEYS)}")
        return _NO_PROBLEMS
    subjects = [key for key in SUBJECTS if key in entries]
    if len(subjects) > 1:
        message = f"no item is both {' and '.join(_article(key) for key in subjects)}; keep one of them"
        review.problem(node, "exclusive_keys", message)
    parts: dict[str, Any] = {}
    for key, entry in entries.items():
        parts.update(_PARTS[key](review, entry.value))
    return ItemMatcher(inline(node), **parts)


def _article(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def _tool(review: Review, node: Node) -> dict[str, Any]:
    found: dict[str, Any] = {"kind": ItemKind.TOOL}
    what = "a mapping such as {kind: shell}, or {} for any tool call"
    entries = review.mapping(node, ("kind", "ops", "mcp", "skill"), what)
    for key, entry in (entries or {}).items():
        match key:
            case "kind":
                found["tool_kinds"] = one_of(review, entry.value, TOOL_KINDS, "tool kind")
            case "ops":
                found["ops"] = one_of(review, entry.value, SHELL_OPS, "shell op")
            case "skill":
                found["skills"] = names(review, entry.value, "the name of a skill, or a list of them")
            case "mcp":
                found.update(_mcp(review, entry.value))
    return found


def _mcp(review: Review, node: Node) -> dict[str, Any]:
    entries = review.mapping(node, ("server", "tool"), "a mapping with server, tool or both")
    if entries is None:
        return {}
    if not entries and all(is_extension(entry.key) for entry in node):  # type: ignore[union-attr]
        review.problem(node, "empty", "give server, tool or both; any MCP call is {kind: mcp}")
    return {
        {"server": "servers", "tool": "tools"}[key]: names(
            review, entry.value, f"the name of a {key}, or a list of them"
        )
        for key, entry in entries.items()
    }


def _approval(review: Review, node: Node) -> dict[str, Any]:
    found: dict[str, Any] = {"kind": ItemKind.APPROVAL}
    entries = review.mapping(node, ("ops", "status"), "a mapping such as {status: denied}, or {} for any approval")
    for key, entry in (entries or {}).items():
        if key == "ops":
            found["ops"] = one_of(review, entry.value, SHELL_OPS, "shell op")
        else:
            found["statuses"] = names(review, entry.value, "a status such as denied, or a list of them")
    return found


def _event(review: Review, node: Node) -> dict[str, Any]:
    return {"kind": ItemKind.EVENT, "event": review.text(node, "the name of an event")}


def _path(review: Review, node: Node) -> dict[str, Any]:
    return {"path": glob(review, node)}


def _input(review: Review, node: Node) -> dict[str, Any]:
    return {"input": regex(review, node)}


def _output(review: Review, node: Node) -> dict[str, Any]:
    return {"output": regex(review, node)}


def _where(review: Review, node: Node) -> dict[str, Any]:
    what = "a mapping of fields to tests, such as {status: passed}"
    if not isinstance(node, MapNode):
        review.problem(node, "wrong_type", f"must be {what}, not {quoted(node)}")
        return {}
    tests = []
    for entry in node:
        if is_extension(entry.key):
            continue
        field = entry.key.value
        if not isinstance(field, str):
            review.problem(entry.key, "wrong_type", f"the name of a field must be text, not {quoted(entry.key)}")
            continue
        if field not in COLUMNS and "." not in field:
            # Whatever else it is may be the full name of an attribute.
            hint = nearest(field, COLUMNS)
            if hint:
                review.problem(entry.key, "unknown_key", f"'{field}' is no column", hint=hint)
        test = field_test(review, entry.value)
        if field == "tool_kind":
            _closed(review, entry.value, TOOL_KINDS)
        if test is not None:
            tests.append((field, test))
    if not tests and all(is_extension(entry.key) for entry in node):
        review.problem(node, "empty", f"tests nothing; it needs {what}")
    return {"where": tuple(tests)}


_PARTS: Final[dict[str, Callable[[Review, Node], dict[str, Any]]]] = {
    "tool": _tool,
    "approval": _approval,
    "event": _event,
    "path": _path,
    "input": _input,
    "output": _output,
    "where": _where,
}


def field_test(review: Review, node: Node, *, nested: bool = False) -> FieldTest | None:
    """The test of one field: a scalar, or a mapping of `TESTS` (without `not` when `nested` in one)."""
    if isinstance(node, ScalarNode):
        return FieldTest((("equals", scalar(review, node)),))
    keys = TESTS[1:] if nested else TESTS
    if isinstance(node, ListNode):
        review.problem(
            node, "wrong_type", "must be a value or a test, not a list; for any of several write {in: [...]}"
        )
        return None
    entries = review.mapping(node, keys)
    if not entries:
        if entries is not None and all(is_extension(entry.key) for entry in node):
            review.problem(node, "empty", f"tests nothing; give a value or one of {', '.join(keys)}")
        return None
    return FieldTest(tuple((op, _operand(review, op, entry.value)) for op, entry in entries.items()))


def _operand(review: Review, op: str, node: Node) -> "Json | FieldTest":
    match op:
        case "not":
            return field_test(review, node, nested=True)
        case "in":
            items = review.items(node, "values", empty="in with an empty list never holds")
            return tuple(scalar(review, item) for item in items or ())
        case "regex":
            return regex(review, node)
        case "glob":
            return glob(review, node)
    value = node.value if isinstance(node, ScalarNode) else None
    if value is None or isinstance(value, bool):
        review.problem(node, "wrong_type", f"{op} compares numbers or texts, not {_shown(node)}")
        return None
    return scalar(review, node)


def scalar(review: Review, node: Node) -> Json:
    """A value that a field can equal."""
    if not isinstance(node, ScalarNode):
        review.problem(node, "wrong_type", f"must be a single value, not {node.kind}")
        return None
    value = node.value
    if isinstance(value, datetime.date | bytes):
        message = f"{quoted(node)} is {node.kind} in YAML, which no field can equal; quote it to have it as text"
        review.problem(node, "bad_value", message)
    elif isinstance(value, float) and not math.isfinite(value):
        review.problem(node, "bad_value", f"{quoted(node)} is no number that a field can equal")
    elif isinstance(value, bool) and node.plain and node.text.lower() not in ("true", "false"):
        reading = str(value).lower()
        review.problem(node, "bad_value", f"YAML reads {quoted(node)} as {reading}; quote it, or write {reading}")
    return value


def glob(review: Review, node: Node) -> str | None:
    pattern = review.any_text(node, "a glob")
    if pattern is not None and (why := globs.problem(pattern)):
        review.problem(node, "bad_value", f"no glob that can be used: {why}")
    return pattern


def regex(review: Review, node: Node) -> str | None:
    pattern = review.any_text(node, "a regex")
    if pattern == "":
        review.problem(
            node, "empty", "an empty regex is found in every text; write null under where for a missing one"
        )
    elif pattern is not None and (why := patterns.problem(pattern)):
        review.problem(node, "bad_regex", f"no regex that can be used: {why}")
    return pattern


def names(review: Review, node: Node, what: str) -> tuple[str, ...]:
    """A text or a list of texts: any of them."""
    if isinstance(node, ListNode):
        items = review.items(node, "texts", empty=f"an empty list matches nothing; give {what}") or ()
        return tuple(text for item in items if (text := review.text(item, "text")) is not None)
    text = review.text(node, what)
    return () if text is None else (text,)


def one_of(review: Review, node: Node, words: tuple[str, ...], noun: str) -> tuple[str, ...]:
    """A word of a closed vocabulary, or a list of them."""
    found = names(review, node, f"a {noun}, or a list of them")
    _closed(review, node, words, noun)
    return found


def _closed(review: Review, node: Node, words: tuple[str, ...], noun: str = "tool kind") -> None:
    """Note what is no word of a closed vocabulary: a text, the items of a list, the operands of `in` and `not`."""
    for word in _words(node):
        if isinstance(word.value, str) and word.value.strip() and word.value not in words:
            hint = nearest(word.value, words)
            known = "" if hint else f"; it is one of {', '.join(words)}"
            review.problem(word, "bad_value", f"'{word.value}' is no {noun}{known}", hint=hint)


def _words(node: Node | None) -> Iterable[ScalarNode]:
    match node:
        case ScalarNode():
            yield node
        case ListNode():
            for item in node.items:
                yield from _words(item)
        case MapNode():
            yield from _words(node.get("in"))
            yield from _words(node.get("not"))


def _shown(node: Node) -> str:
    return f"{node.kind} {quoted(node)}" if isinstance(node, ScalarNode) and node.value is not None else node.kind


def inline(node: Node) -> str:
    """A tree as one line of YAML, as it would be written."""
    match node:
        case ScalarNode():
            return _bare(node)
        case ListNode():
            return f"[{', '.join(inline(item) for item in node.items)}]"
        case MapNode():
            entries = (entry for entry in node if not is_extension(entry.key))
            return f"{{{', '.join(f'{entry.key.text}: {inline(entry.value)}' for entry in entries)}}}"


def _bare(node: ScalarNode) -> str:
    """A single value, in quotes only where it needs them."""
    if not isinstance(node.value, str):
        return node.text or "null"
    if _BARE.fullmatch(node.value) and node.value.lower() not in _NOT_TEXT:
        return node.value
    return json.dumps(node.value, ensure_ascii=False)
