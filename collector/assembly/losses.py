"""Losses: what spans themselves say is missing of them, as far as it may change a verdict."""

from typing import Final, NamedTuple

from collector.assembly.owners import session_of
from collector.assembly.tree import Node

LOOKED_AFTER: Final = 1_000
"""Spans with losses whose session or job may still become known: the latest ones."""

NAMELESS: Final = "a tool was called, and its span does not say which: set gen_ai.tool.name, a text, on the span"


def events_dropped(number: int) -> str:
    """The cause where an SDK says that it dropped events of a span."""
    events = "1 event" if number == 1 else f"{number} events"
    return f"the SDK dropped {events} of a span: raise OTEL_SPAN_EVENT_COUNT_LIMIT"


class Loss(NamedTuple):
    """The session and the job that are not whole, and why (a clause)."""

    session: str | None
    job: str | None
    cause: str


class Losses:
    """Each is told once its session is known as far as it is, and again when that changes."""

    __slots__ = ("_open",)

    def __init__(self) -> None:
        self._open: dict[tuple[Node, str], Loss | None] = {}
        """What was told of spans whose ancestors are not all there."""

    def add(self, node: Node, cause: str) -> None:
        self._open[node, cause] = None
        if len(self._open) > LOOKED_AFTER:
            del self._open[next(iter(self._open))]

    def told(self) -> list[Loss]:
        """What is new since the last time."""
        if not self._open:
            return []
        found = []
        for (node, cause), before in list(self._open.items()):
            context = node.context
            loss = Loss(session_of(context, node.trace_id), context.job, cause)
            if loss != before:
                found.append(loss)
                self._open[node, cause] = loss
            if node.settled:
                del self._open[node, cause]
        return found
