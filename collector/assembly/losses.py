"""Losses: what is missing of spans, or is unreadable in them, as far as it may change a verdict."""

import logging
from collections.abc import Callable, Iterator, Sequence
from operator import length_hint
from typing import Final, NamedTuple, TypeVar

from collector.assembly.owners import session_of
from collector.assembly.tree import Node

_Piece = TypeVar("_Piece")
_log: Final = logging.getLogger(__name__)

SHARED_ID: Final = "two spans of it have one id, so that what is below them may be of either"
CIRCLE: Final = "spans of it are each other's parents, so that what they belong to is not known"
UNREAD: Final = "some telemetry could not be read: the log says why"

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
    unreadable: bool = False
    """There is no telling what is lost: it may be any call or event."""


class Losses:
    """Each is told once its session is known as far as it is, and again when that changes."""

    __slots__ = ("_failed", "_logged", "_open")

    def __init__(self) -> None:
        self._open: dict[tuple[Node, str, bool], Loss | None] = {}
        """What was told of spans whose ancestors are not all there."""
        self._failed = False
        self._logged = False

    def add(self, node: Node, cause: str, *, unreadable: bool = False) -> None:
        self._open[node, cause, unreadable] = None

    def fail(self, error: Exception, node: Node | None = None) -> None:
        """Reading telemetry raised: a defect of the reader, which takes down nothing else and lets nothing pass. It
        is logged once: what is wrong with one span is mostly wrong with many."""
        if not self._logged:
            self._logged = True
            _log.error("some telemetry could not be read; what is open is not whole", exc_info=error)
        self._failed = True
        if node is not None:
            self.add(node, UNREAD, unreadable=True)

    def failed(self) -> str:
        """Why nothing that is open is whole since the last time; "" where nothing was lost without a trace."""
        failed, self._failed = self._failed, False
        return UNREAD if failed else ""

    def told(self) -> list[Loss]:
        """What is new since the last time."""
        if not self._open:
            return []
        found = []
        for key, before in list(self._open.items()):
            node, cause, unreadable = key
            context = node.context
            loss = Loss(session_of(context, node.trace_id), context.job, cause, unreadable)
            if loss != before:
                found.append(loss)
                self._open[key] = loss
            if node.settled:
                del self._open[key]
        while len(self._open) > LOOKED_AFTER:
            del self._open[next(iter(self._open))]
        return found


def surviving(
    pieces: Sequence[_Piece], take: Callable[[Iterator[_Piece]], None]
) -> Iterator[tuple[_Piece, Exception]]:
    """Have `take` go through all the pieces, also past those at which it raises: these, and what it raised.

    What is in a span or a log record, its sender decides; one that nobody foresaw must not take others down.
    """
    rest = iter(pieces)
    left = len(pieces)
    while True:
        try:
            take(rest)
            return
        except Exception as error:
            if length_hint(rest) == left:
                raise  # at none of the pieces
            left, raised = length_hint(rest), error
        yield pieces[len(pieces) - left - 1], raised
