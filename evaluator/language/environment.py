"""`${NAME}` under `agent`: replaced by the environment variable of that name when a spec is loaded."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from evaluator.language.document import Entry, ListNode, MapNode, Node, ScalarNode
from evaluator.language.review import Review

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


@dataclass(slots=True)
class Environment:
    """The variables that a spec may use. `used` collects those that it does, by name."""

    variables: Mapping[str, str]
    review: Review
    used: dict[str, str] = field(default_factory=dict)

    def expand(self, node: Node) -> Node:
        """A tree with the variables in its texts filled in; keys stay, and what was filled in is not expanded again.

        A missing variable is a problem (an empty one is not). `$NAME`, `${}` and `${1A}` stay as they are. Nodes keep
        the text of the file, so that a message that quotes it shows `${NAME}` and never the value.
        """
        match node:
            case ScalarNode():
                return replace(node, value=self.text(node)) if isinstance(node.value, str) else node
            case ListNode():
                return replace(node, items=tuple(self.expand(item) for item in node.items))
            case MapNode():
                return replace(node, entries=tuple(Entry(key, self.expand(value)) for key, value in _pairs(node)))

    def text(self, node: ScalarNode) -> str:
        def value(found: re.Match[str]) -> str:
            name = found.group(1)
            if name not in self.variables:
                self.review.problem(node, "missing_env", f"the environment variable {name} is not set")
                return found.group()
            text = self.variables[name]
            if any("\ud800" <= character <= "\udfff" for character in text):
                self.review.problem(node, "bad_value", f"the environment variable {name} is not UTF-8 text")
                return found.group()
            self.used[name] = text
            return text

        return _VARIABLE.sub(value, node.value)


def _pairs(node: MapNode) -> list[tuple[ScalarNode, Node]]:
    return [(entry.key, entry.value) for entry in node]
