"""`expect`: what must hold of a turn."""

from collections.abc import Mapping, Sequence
from typing import Final

from evaluator.language import matchers
from evaluator.language.document import Entry, ListNode, Node, ScalarNode
from evaluator.language.placeholders import refuse
from evaluator.language.review import Review, quoted
from evaluator.language.spec import CallExpectation, Expect, Place

EXPECT_KEYS: Final = ("function_calls", "ordered", "exclusive", "forbid", "response")
CALL_KEYS: Final = ("name", "params", "result", "error")
ASSERTING: Final = ("function_calls", "forbid", "response")
"""The keys of which `expect` needs at least one."""


def read_expect(review: Review, node: Node) -> Expect | None:
    entries = review.mapping(node, EXPECT_KEYS)
    if entries is None:
        return None
    if not any(key in entries for key in ASSERTING):
        if not any((node.path, key) in review.misspelt for key in ASSERTING):
            message = (
                f"asserts nothing: it needs one of {', '.join(ASSERTING)} (function_calls: [] for no call at all)"
            )
            review.problem(node, "asserts_nothing", message)
        return None
    calls = _calls(review, entries["function_calls"].value) if "function_calls" in entries else None
    forbid = _forbid(review, entries["forbid"].value) if "forbid" in entries else ()
    _contradictions(review, calls or (), forbid)
    return Expect(
        calls,
        ordered=_flag(review, entries, "ordered"),
        exclusive=_flag(review, entries, "exclusive"),
        forbid=tuple(name for name, _ in forbid),
        response=matchers.response(review, entries["response"].value) if "response" in entries else None,
        place=Place(node.path, node.line),
    )


def _flag(review: Review, entries: Mapping[str, Entry], key: str) -> bool:
    if key not in entries:
        return False
    entry = entries[key]
    if "function_calls" not in entries:
        review.problem(entry.key, "needs_function_calls", f"{key} says how the function_calls happen; there are none")
    return review.boolean(entry.value) or False


def _calls(review: Review, node: Node) -> tuple[CallExpectation, ...] | None:
    items = review.items(node, "calls ([] for no call at all)")
    if items is None:
        return None
    calls = [_call(review, item) for item in items]
    return tuple(call for call in calls if call is not None)


def _call(review: Review, node: Node) -> CallExpectation | None:
    entries = review.mapping(node, CALL_KEYS, "a mapping such as {name: lookup_order}")
    if entries is None:
        return None
    if "name" not in entries:
        review.missing(node, "name", "a call needs the name of its tool")
    names = _names(review, entries["name"].value) if "name" in entries else ()
    return CallExpectation(
        names,
        params=matchers.fields(review, entries["params"].value, "params") if "params" in entries else None,
        result=matchers.fields(review, entries["result"].value, "result") if "result" in entries else None,
        error=matchers.error(review, entries["error"].value) if "error" in entries else False,
        place=Place(node.path, node.line),
    )


def _names(review: Review, node: Node) -> tuple[str, ...]:
    """The names of a call: one text, or a list of texts of which any will do."""
    if isinstance(node, ListNode):
        items = review.items(node, "names", empty="a list of names needs at least one")
        return _tool_names(review, items or (), "name")
    if not isinstance(node, ScalarNode):
        review.problem(node, "wrong_type", f"must be the name of a tool, or a list of names, not {quoted(node)}")
        return ()
    return _tool_names(review, (node,), "name")


def _tool_names(review: Review, nodes: Sequence[Node], where: str) -> tuple[str, ...]:
    names = []
    for node in nodes:
        name = review.text(node, "the name of a tool")
        if name is not None:
            refuse(review, node, where)
            names.append(name)
            if name != name.strip():
                review.warn(node, "the spaces around the name count: no tool is called so")
            elif any(sign in name for sign in "*?"):
                review.warn(node, "names are literal, not patterns: '*' and '?' stand for themselves")
    return tuple(names)


def _forbid(review: Review, node: Node) -> tuple[tuple[str, Node], ...]:
    """The forbidden names with their places."""
    items = review.items(node, "names of tools", empty="forbid needs at least one name of a tool")
    found = ((item, _tool_names(review, (item,), "forbid")) for item in items or ())
    return tuple((name, item) for item, names in found for name in names)


def _contradictions(review: Review, calls: Sequence[CallExpectation], forbid: Sequence[tuple[str, Node]]) -> None:
    """Note calls that are both expected and forbidden: such a test can never pass."""
    forbidden = {name for name, _ in forbid}
    for call in calls:
        for name, node in forbid:
            if name not in call.names:
                continue
            if forbidden.issuperset(call.names):
                message = f"'{name}' is forbidden and expected ({call.place.path}): this can never pass"
                review.problem(node, "bad_value", message)
            else:
                review.warn(node, f"'{name}' is forbidden and one of the names that {call.place.path} accepts")
