"""`agent.request`: what each message is sent as."""

import re
from collections.abc import Mapping
from typing import Final

from evaluator.items import Json
from evaluator.language.document import MapNode, Node, ScalarNode, plain, scalars
from evaluator.language.matchers import literal
from evaluator.language.placeholders import MESSAGE, Allowed, check, check_text, uses
from evaluator.language.problem import nearest
from evaluator.language.review import Review, is_absent, quoted
from evaluator.language.spec import Request

REQUEST_KEYS: Final = ("method", "headers", "body")
METHODS: Final = ("POST", "PUT", "PATCH")
DEFAULT_BODY: Final[Mapping[str, Json]] = {"message": "{{message}}"}

_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
"""A token of RFC 9110, section 5.6.2."""


def read_request(review: Review, node: Node | None, allowed: Allowed) -> Request:
    """Read `agent.request`; `allowed` are the placeholders that headers and body may use."""
    if node is None or is_absent(node):
        return Request(body=dict(DEFAULT_BODY))
    entries = review.mapping(node, REQUEST_KEYS, "a mapping with method, headers and body")
    if entries is None:
        return Request()
    method = _method(review, entries["method"].value) if "method" in entries else "POST"
    headers = _headers(review, entries["headers"].value, allowed) if "headers" in entries else None
    body = _body(review, entries["body"].value, allowed) if "body" in entries else dict(DEFAULT_BODY)
    return Request(method, headers, body)


def _method(review: Review, node: Node) -> str:
    text = review.any_text(node, "a method, one of POST, PUT and PATCH")
    if text is not None and text.upper() not in METHODS:
        message = f"must be one of {', '.join(METHODS)}, not {quoted(node)}: the method must be able to send a body"
        review.problem(node, "bad_value", message, hint=nearest(text.upper(), METHODS))
    return (text or "POST").upper()


def _headers(review: Review, node: Node, allowed: Allowed) -> Mapping[str, str]:
    if not isinstance(node, MapNode):
        review.problem(node, "wrong_type", f"must be a mapping of headers to texts, not {quoted(node)}")
        return {}
    headers: dict[str, str] = {}
    seen: dict[str, str] = {}
    for entry in node:
        name = entry.key.text
        if not _HEADER_NAME.fullmatch(name):
            message = "is no name of a header: letters, digits and hyphens only"
            review.problem(entry.key, "bad_value", f"'{name}' {message}")
        if (other := seen.setdefault(name.lower(), name)) != name:
            message = f"'{name}' and '{other}' are one header: their case does not matter"
            review.problem(entry.key, "duplicate_key", message)
        text = review.any_text(entry.value, "text")
        if text is None or not isinstance(entry.value, ScalarNode):
            continue
        if complaint := _value_complaint(text):
            review.problem(
                entry.value, "bad_value", f"the value {complaint}; it is not shown, since it may be a secret"
            )
        check_text(review, entry.value, text, allowed)
        headers[name] = text
    return headers


def _value_complaint(text: str) -> str:
    """What is wrong with the value of a header, "" when nothing is. Never has any of the value in it."""
    if any(ord(character) < 32 or ord(character) == 127 for character in text):
        return "has a control character or a line break in it (often a secret that was read with its newline)"
    if text != text.strip():
        return "starts or ends with a space"
    return "" if text.isascii() else "has characters that are not ASCII, which headers cannot carry"


def _body(review: Review, node: Node, allowed: Allowed) -> Json:
    for scalar in scalars(node):
        literal(review, scalar)
    before = len(review.problems)
    check(review, node, allowed)
    # A misspelt {{message}} is told once, as such.
    if not uses(node, MESSAGE) and len(review.problems) == before:
        review.problem(
            node, "bad_placeholder", "must have {{message}} in one of its values: it is where the message goes"
        )
    return plain(node)
