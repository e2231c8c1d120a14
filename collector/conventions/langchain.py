"""LangChain: what its steps say, whatever instrumentation exports them (corpus/CONVENTIONS.md, table B, row 8)."""

from collections.abc import Mapping
from typing import Final

from collector.conventions.messages import mappings
from collector.conventions.payload import decoded
from evaluator.items import Json

MIDDLEWARE: Final = "HumanInTheLoopMiddleware"
"""The step that asks whether a call may run; it raises an interrupt while it waits."""


def awaiting(state: Json) -> tuple[str, ...]:
    """The ids of the calls in the last message of a graph's state, which is the input of each step."""
    found = decoded(state)
    if isinstance(found, Mapping) and isinstance(found.get("inputs"), Mapping):
        found = found["inputs"]
    messages = list(mappings(found.get("messages") if isinstance(found, Mapping) else None))
    if not messages:
        return ()
    fields = messages[-1].get("data", messages[-1].get("kwargs"))
    calls = mappings(fields.get("tool_calls")) if isinstance(fields, Mapping) else ()
    return tuple(str(call["id"]) for call in calls if call.get("id") is not None)
