"""Declared tools: the names in the tool definitions that agents send to their model."""

from collections.abc import Iterator, Mapping
from typing import Final

from collector.conventions.payload import decoded
from evaluator.items import Json

_REMEMBERED: Final = 256
_declared: dict[str, frozenset[str]] = {}
"""An agent sends the same definitions with each request; they are parsed once."""


def declared(definitions: Json) -> frozenset[str] | None:
    """The names in tool definitions: JSON text or a list, of mappings, of texts of mappings, or of names."""
    if not isinstance(definitions, str):
        return _named(definitions)
    names = _declared.get(definitions)
    if names is None:
        found = _named(decoded(definitions))
        if found is None:
            return None
        if len(_declared) >= _REMEMBERED:
            _declared.clear()
        names = _declared[definitions] = found
    return names


def _named(definitions: Json) -> frozenset[str] | None:
    if not isinstance(definitions, list):
        return None
    return frozenset(name for definition in definitions for name in _names(definition))


def _names(definition: Json) -> Iterator[str]:
    if isinstance(definition, str):
        inner = decoded(definition)
        if isinstance(inner, Mapping):
            yield from _names(inner)
        else:
            yield definition
    elif isinstance(definition, Mapping):
        function = definition.get("function", definition)
        groups = definition.get("function_declarations", definition.get("functionDeclarations"))
        if isinstance(groups, list):
            for group in groups:
                yield from _names(group)
        elif isinstance(function, Mapping) and isinstance(function.get("name"), str):
            yield function["name"]
