"""A review of one file: reads typed values out of its tree and collects every problem and warning on the way.

A getter notes what is wrong and returns None (or what the caller gave as default), so that one reading finds every
problem of a file. Nothing that a getter returned may be used for a verdict before `done` has been called.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from evaluator.language.document import Entry, ListNode, MapNode, Node, ScalarNode, child
from evaluator.language.problem import Problem, SpecProblems, nearest

_SHOWN = 60
"""How many characters of a value a message quotes."""


def quoted(node: Node) -> str:
    """What a message says was found: short texts and numbers as they stand in the file, else the kind of value.

    The text of the file is shown and not what came of it: an expanded `${NAME}` must not reach the output.
    """
    if isinstance(node, ScalarNode) and node.value is not None and node.text:
        return f"'{node.text}'" if len(node.text) <= _SHOWN else f"'{node.text[:_SHOWN]}…'"
    return node.kind if not (isinstance(node, ScalarNode) and node.value == "") else "an empty text"


@dataclass(slots=True)
class Review:
    """The problems and warnings of `file`. `root` is how the file as a whole is called in paths ("spec")."""

    file: str
    root: str = ""
    problems: list[Problem] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    misspelt: set[tuple[str, str]] = field(default_factory=set)
    """The keys that were probably meant by an unknown key, each with the path of its mapping."""

    def problem(self, node: Node, code: str, message: str, *, hint: str = "", key: str = "") -> None:
        """Note a problem of `node`, or of what should be under `key` in it."""
        path = child(node.path, key) if key else node.path or self.root
        self.problems.append(Problem(self.file, path, node.line, code, message, hint))

    def warn(self, node: Node, message: str) -> None:
        """Note what is allowed and can hardly be meant."""
        self.warnings.append(str(Problem(self.file, node.path or self.root, node.line, "warning", message)))

    def done(self) -> None:
        """Raise `SpecProblems` if there is any problem, in the order of the file."""
        if self.problems:
            raise SpecProblems(sorted(dict.fromkeys(self.problems), key=lambda problem: problem.line or 0))

    def mapping(self, node: Node, keys: Iterable[str], what: str = "a mapping") -> Mapping[str, Entry] | None:
        """The entries of a mapping whose keys the format defines, by key.

        `x-` keys are left out, others are problems. None when it is no mapping; `what` says what it should be.
        """
        if not isinstance(node, MapNode):
            self.problem(node, "wrong_type", f"must be {what}, not {quoted(node)}")
            return None
        known = tuple(keys)
        for entry in node:
            if not is_extension(entry.key) and entry.key.value not in known:
                self.unknown(node, entry, known)
        return {entry.key.value: entry for entry in node if entry.key.value in known}

    def unknown(self, node: Node, entry: Entry, known: Iterable[str]) -> None:
        """Note a key that the format does not have in the mapping `node`."""
        hint = nearest(entry.key.text, known)
        self.misspelt.add((node.path, hint))
        allowed = "" if hint else f"; the keys here are {', '.join(known)}"
        self.problem(entry.key, "unknown_key", f"unknown key '{entry.key.text}'{allowed}", hint=hint)

    def text(self, node: Node, what: str = "text") -> str | None:
        """A text that is not blank, as it is."""
        value = self.any_text(node, what)
        if value is not None and not value.strip():
            self.problem(node, "empty", f"must not be empty: {what} is needed")
            return None
        return value

    def any_text(self, node: Node, what: str = "text") -> str | None:
        """A text, which may be empty."""
        if isinstance(node, ScalarNode) and isinstance(node.value, str):
            return node.value
        quote = " (quote it to have it as text)" if isinstance(node, ScalarNode) and node.value is not None else ""
        self.problem(node, "wrong_type", f"must be {what}, not {_kind(node)}{quote}")
        return None

    def whole(self, node: Node, *, least: int, wrong: str = "wrong_type", low: str = "out_of_range") -> int | None:
        """A whole number of at least `least`; `wrong` and `low` are the codes of the problems. A boolean is none."""
        if not isinstance(node, ScalarNode) or type(node.value) is not int:
            self.problem(node, wrong, f"must be a whole number of at least {least}, not {_kind(node)}")
        elif node.value < least:
            self.problem(node, low, f"must be at least {least}, not {quoted(node)}")
        else:
            return node.value
        return None

    def boolean(self, node: Node) -> bool | None:
        if isinstance(node, ScalarNode) and isinstance(node.value, bool):
            return node.value
        self.problem(node, "wrong_type", f"must be true or false, not {_kind(node)}")
        return None

    def items(self, node: Node, what: str, *, empty: str | None = None) -> tuple[Node, ...] | None:
        """The items of a list; a problem with the message `empty` when it has none and `empty` is given."""
        if not isinstance(node, ListNode):
            self.problem(node, "wrong_type", f"must be a list of {what}, not {_kind(node)}")
            return None
        if not node.items and empty is not None:
            self.problem(node, "empty", empty)
            return None
        return node.items

    def missing(self, node: Node, key: str, message: str, code: str = "missing_key") -> None:
        """Note that `key` is not in the mapping `node`, unless it is there with another spelling: that is noted."""
        if (node.path, key) not in self.misspelt:
            self.problem(node, code, message, key=key)


def is_extension(key: ScalarNode) -> bool:
    """Whether a key is one of the user's own, which are skipped: `x-` in lower case, with the dash."""
    return isinstance(key.value, str) and key.value.startswith("x-")


def is_absent(node: Node | None) -> bool:
    """Whether an optional value is not there or null, where null is accepted for that."""
    return node is None or (isinstance(node, ScalarNode) and node.value is None)


def _kind(node: Node) -> str:
    """The kind of a value, with the value itself where a text does not hold it."""
    if isinstance(node, ScalarNode) and node.value is not None:
        return f"{node.kind} {quoted(node)}"
    return node.kind
