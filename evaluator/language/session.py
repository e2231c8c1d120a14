"""`agent.session`: the commands or functions that run around each execution of a test."""

import re
import shlex
from typing import Final

from evaluator.language.document import MapNode, Node, ScalarNode
from evaluator.language.placeholders import TEST, Allowed, check_text
from evaluator.language.review import Review, quoted
from evaluator.language.spec import CommandHook, Hook, Place, PythonHook

SESSION_KEYS: Final = ("setup", "teardown")
HOOK_KEYS: Final = ("python",)

_FUNCTION = re.compile(r"(?P<module>[^\W\d]\w*(?:\.[^\W\d]\w*)*):(?P<function>[^\W\d]\w*)")
_SPACED = re.compile(r"\{\{\s*([^{}]*?)\s*\}\}")

NO_SETUP: Final = "agent.session has no setup that could return it"

_SETUP = Allowed(*TEST, why_no_session="setup is what makes the session")


def hooks(review: Review, node: Node | None) -> tuple[Hook | None, Hook | None]:
    """(setup, teardown) of `agent.session`."""
    if node is None:
        return None, None
    entries = review.mapping(node, SESSION_KEYS, "a mapping with setup, teardown or both")
    if entries is None:
        return None, None
    if not entries and not any((node.path, key) in review.misspelt for key in SESSION_KEYS):
        review.problem(node, "missing_key", "needs setup, teardown or both")
    setup = _hook(review, entries["setup"].value, _SETUP) if "setup" in entries else None
    allowed = Allowed(*TEST, session=has_setup(node), why_no_session=NO_SETUP)
    teardown = _hook(review, entries["teardown"].value, allowed) if "teardown" in entries else None
    return setup, teardown


def has_setup(node: Node | None) -> bool:
    """Whether a session has a setup, whatever is wrong with it."""
    return isinstance(node, MapNode) and node.get("setup") is not None


def _hook(review: Review, node: Node, allowed: Allowed) -> Hook | None:
    if isinstance(node, MapNode):
        return _python(review, node)
    text = review.text(node, "a command, or {python: 'module:function'}")
    if text is None or not isinstance(node, ScalarNode):
        return None
    # `{{ test.id }}` is one word, whatever a shell would say.
    argv = split(review, node, _SPACED.sub(r"{{\1}}", text))
    if argv is None:
        return None
    for index, argument in enumerate(argv):
        check_text(review, node, argument, allowed, step=f"[{index}]")
    return CommandHook(argv, Place(node.path, node.line))


def _python(review: Review, node: MapNode) -> PythonHook | None:
    entries = review.mapping(node, HOOK_KEYS)
    if not entries:
        review.missing(node, "python", "must be a command, or {python: 'module:function'}")
        return None
    value = entries["python"].value
    text = review.text(value, "'module:function'")
    if text is None:
        return None
    found = _FUNCTION.fullmatch(text.strip())
    if found is None:
        message = f"must be 'module:function', such as hooks:setup, not {quoted(value)}"
        review.problem(value, "bad_command", message)
        return None
    return PythonHook(found["module"], found["function"], Place(node.path, node.line))


def split(review: Review, node: Node, command: str) -> tuple[str, ...] | None:
    """A command split as a shell does; a problem when a quote is not closed or nothing is left."""
    try:
        argv = tuple(shlex.split(command))
    except ValueError as error:
        review.problem(node, "bad_command", f"{quoted(node)} is no command: {str(error).lower()}")
        return None
    if not argv or not argv[0]:
        review.problem(node, "bad_command", f"{quoted(node)} names no program")
        return None
    return argv
