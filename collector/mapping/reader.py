"""Reads a mapping file: YAML -> `Claims`, or every problem it has."""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from collector.mapping.claims import Claims
from collector.mapping.rules import Kind, Rule, Rules, Signal, Source, Where
from evaluator import globs, patterns
from evaluator.items import Json
from evaluator.language.assertion import SHELL_OPS, TOOL_KINDS
from evaluator.language.composer import compose
from evaluator.language.document import ListNode, MapNode, Node, ScalarNode
from evaluator.language.item_matcher import scalar
from evaluator.language.problem import Problem, SpecProblems, nearest
from evaluator.language.review import Review, is_extension, quoted

COMMON: Final = ("session", "job", "seq", "turn")
COLUMNS: Final = ("kind", "ops", "path", "op", "server", "skill")
PARTS: Final = {
    Kind.CALL: ("tool", "args", "result", "error", "call_id", "status", "duration_ms", *COLUMNS, *COMMON),
    Kind.APPROVAL: ("status", "tool", "args", "call_id", "decider", *COLUMNS, *COMMON),
    Kind.EVENT: ("name", "status", "path", "op", "ops", *COMMON),
    Kind.PROMPT: COMMON,
}
NEEDED: Final = {Kind.CALL: ("tool",), Kind.APPROVAL: ("status",), Kind.EVENT: (), Kind.PROMPT: ()}
WHERE_KEYS: Final = ("in", "name", "attributes")
SOURCE_KEYS: Final = ("attribute", "prefix", "value", "name")
TOP_KEYS: Final = ("name", *COMMON, *(kind.value for kind in Kind))
CALL_WORDS: Final = ("ok", "error", "denied", "held")
APPROVAL_WORDS: Final = ("allowed", "denied", "requested")
_VOCABULARIES: Final = {"kind": TOOL_KINDS, "ops": SHELL_OPS}
_A_SOURCE: Final = "the name of an attribute, or a mapping such as {value: shell}"


def read_mapping(path: Path) -> Claims:
    """The mapping of a file. Raises `SpecProblems` with every problem of the file."""
    try:
        data = path.read_bytes()
    except OSError as error:
        message = f"the file cannot be read: {error.strerror or error}"
        raise SpecProblems([Problem(str(path), "", None, "unreadable", message)]) from error
    return parse_mapping(data, str(path))


def parse_mapping(data: bytes | str, file: str) -> Claims:
    """The mapping of the text of a file, which `file` names in problems. Raises `SpecProblems`."""
    document = compose(data, file)
    review = Review(file, "mapping", list(document.problems))
    rules = None if document.root is None else _file(review, document.root)
    review.done()
    if rules is None:
        raise RuntimeError(f"{file}: the mapping was refused without a problem")  # a defect of this package
    return Claims(rules)


def _file(review: Review, root: Node) -> Rules | None:
    top = review.mapping(root, ("mapping",), "a mapping with the key mapping")
    if top is None:
        return None
    if "mapping" not in top:
        review.missing(
            root, "mapping", "is missing: a mapping file says under it what is a call, an approval, an event"
        )
        return None
    node = top["mapping"].value
    entries = review.mapping(node, TOP_KEYS, "a mapping with calls, approvals, events or prompts")
    if entries is None:
        return None
    name = review.text(entries["name"].value, "the name of the instrumentation") if "name" in entries else "mapping"
    common = {key: _sources(review, key, entries[key].value) for key in COMMON if key in entries}
    rules = [
        rule
        for kind in Kind
        if kind.value in entries
        for item in review.items(entries[kind.value].value, f"{kind}", empty="an empty list claims nothing") or ()
        if (rule := _rule(review, kind, item)) is not None
    ]
    if not any(kind.value in entries for kind in Kind):
        review.problem(node, "asserts_nothing", f"claims nothing; give one of {', '.join(Kind)}")
    return Rules(name or "mapping", common, tuple(rules))


def _rule(review: Review, kind: Kind, node: Node) -> Rule | None:
    entries = review.mapping(node, ("where", *PARTS[kind]), "a mapping with where, and where each part stands")
    if entries is None:
        return None
    where = None
    if "where" in entries:
        where = _where(review, entries["where"].value)
    else:
        review.missing(node, "where", "is missing: it says which spans or log events these are")
    for key in NEEDED[kind]:
        if key not in entries:
            review.missing(node, key, f"is missing: it says where {_MEANING[key]} stands")
    parts: dict[str, tuple[Source, ...]] = {}
    words: dict[str, str] = {}
    for key in PARTS[kind]:
        if key not in entries:
            continue
        if key == "status":
            allowed = CALL_WORDS if kind is Kind.CALL else APPROVAL_WORDS if kind is Kind.APPROVAL else ()
            parts[key], words = _status(review, entries[key].value, allowed)
        else:
            parts[key] = _sources(review, key, entries[key].value)
    return None if where is None else Rule(kind, where, parts, words)


_MEANING: Final = {"tool": "the name of the tool", "status": "what was decided"}


def _where(review: Review, node: Node) -> Where | None:
    entries = review.mapping(node, WHERE_KEYS, "a mapping such as {attributes: {app.kind: tool}}")
    if entries is None:
        return None
    if "name" not in entries and "attributes" not in entries:
        review.problem(node, "empty", "claims everything; give a name, attributes or both")
    signal = None
    if "in" in entries:
        value = getattr(entries["in"].value, "value", None)
        if value in tuple(Signal):
            signal = Signal(value)
        else:
            hint = nearest(value, Signal) if isinstance(value, str) else ""
            review.problem(
                entries["in"].value,
                "bad_value",
                f"must be spans or logs, not {quoted(entries['in'].value)}",
                hint=hint,
            )
    pattern = None
    if "name" in entries:
        pattern = review.text(entries["name"].value, "a glob over the name of the span or event")
        if pattern is not None and (why := globs.problem(pattern)):
            review.problem(entries["name"].value, "bad_value", f"no glob that can be used: {why}")
            pattern = None
    attributes = _attributes(review, entries["attributes"].value) if "attributes" in entries else ()
    return Where(signal, None if pattern is None else globs.compiled(pattern), attributes)


def _attributes(review: Review, node: Node) -> tuple[tuple[str, tuple[Json, ...]], ...]:
    if not isinstance(node, MapNode):
        review.problem(node, "wrong_type", f"must be a mapping of attributes to values, not {quoted(node)}")
        return ()
    if not [entry for entry in node if not is_extension(entry.key)]:
        review.problem(node, "empty", "no attribute is named")
    found = []
    for entry in node:
        if is_extension(entry.key):
            continue
        if isinstance(entry.value, ListNode):
            items = review.items(entry.value, "values", empty="an empty list holds for nothing") or ()
            found.append((entry.key.text, tuple(scalar(review, item) for item in items)))
        else:
            found.append((entry.key.text, (scalar(review, entry.value),)))
    return tuple(found)


def _sources(review: Review, key: str, node: Node) -> tuple[Source, ...]:
    if isinstance(node, ListNode):
        items = review.items(node, "sources", empty=f"an empty list; give {_A_SOURCE}") or ()
        return tuple(source for item in items if (source := _source(review, key, item)) is not None)
    source = _source(review, key, node)
    return () if source is None else (source,)


def _source(review: Review, key: str, node: Node) -> Source | None:
    if isinstance(node, ScalarNode):
        attribute = review.text(node, _A_SOURCE)
        return None if attribute is None else Source(attribute=attribute)
    entries = review.mapping(node, SOURCE_KEYS, _A_SOURCE)
    if entries is None:
        return None
    if len(entries) != 1:
        if entries or not review.problems or not review.problems[-1].path.startswith(node.path):
            review.problem(node, "exclusive_keys", f"must have exactly one of {', '.join(SOURCE_KEYS)}")
        return None
    form, entry = next(iter(entries.items()))
    if form == "value":
        return _constant(review, key, entry.value)
    text = review.text(entry.value, _FORMS[form])
    if text is None:
        return None
    if form == "prefix" and key != "args":
        review.problem(entry.key, "exclusive_keys", "prefix gathers the arguments of a call; it goes under args only")
        return None
    if form == "name" and (why := patterns.problem(text)):
        review.problem(entry.value, "bad_regex", f"no regex that can be used: {why}")
        return None
    return Source(**{form: text})


_FORMS: Final = {
    "attribute": "the name of an attribute",
    "prefix": "the beginning of the names of attributes, such as app.arg.",
    "name": "a regex over the name of the span or event",
}


def _constant(review: Review, key: str, node: Node) -> Source | None:
    if isinstance(node, ListNode):
        values: Json = [scalar(review, item) for item in node.items]
    else:
        values = scalar(review, node)
    vocabulary = _VOCABULARIES.get(key, ())
    for word in values if isinstance(values, list) else [values]:
        if vocabulary and word not in vocabulary:
            hint = nearest(str(word), vocabulary)
            known = "" if hint else f"; it is one of {', '.join(vocabulary)}"
            review.problem(node, "bad_value", f"'{word}' is none that behaviors know{known}", hint=hint)
    return Source(value=values)


def _status(review: Review, node: Node, meanings: Iterable[str]) -> tuple[tuple[Source, ...], dict[str, str]]:
    """`status: ATTRIBUTE`, or `status: {attribute: ATTRIBUTE, denied: [no, never], ...}`."""
    meanings = tuple(meanings)
    if not isinstance(node, MapNode):
        return _sources(review, "status", node), {}
    entries = review.mapping(node, (*SOURCE_KEYS, *meanings), _A_SOURCE)
    if entries is None:
        return (), {}
    forms = [key for key in SOURCE_KEYS if key in entries]
    if len(forms) != 1:
        review.problem(node, "exclusive_keys", f"must have exactly one of {', '.join(SOURCE_KEYS)}")
        return (), {}
    words: dict[str, str] = {}
    for meaning in meanings:
        if meaning not in entries:
            continue
        value = entries[meaning].value
        for item in value.items if isinstance(value, ListNode) else (value,):
            word = scalar(review, item)
            if str(word).lower() in words:
                review.problem(item, "duplicate_key", f"'{word}' already means {words[str(word).lower()]}")
            words[str(word).lower()] = meaning
    form = forms[0]
    if form == "value":
        source = _constant(review, "status", entries[form].value)
    else:
        text = review.text(entries[form].value, _FORMS[form])
        source = None if text is None else Source(**{form: text})
    return (() if source is None else (source,)), words
