"""Traces that something is gone of: whoever they turn out to belong to is not whole.

A span that waits for its parent may get its session from it. When its trace is forgotten meanwhile, or a batch is
lost, the session that is named later never gets the span; so it is cut when the trace names it.
"""

import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from collector.assembly import Assembly, tree
from collector.assembly.logs import log_id
from collector.index import UnitKey, UnitKind
from collector.telemetry import Batch, LogRecord, Span
from evaluator.items import Change

REMEMBERED: Final = 100_000
"""Traces that are known to lack something: the newest. See `Suspects.units` for those before them."""

FORGOTTEN: Final = "an earlier part of its trace was forgotten while it waited for its parent"
OVERFLOWN: Final = "it has spans from a time of which more traces were forgotten than are remembered"


class Suspects:
    """Owned by one event loop. `clock` is in ns since the epoch."""

    def __init__(self, *, remembered: int = REMEMBERED, clock: Callable[[], int] = time.time_ns) -> None:
        self._remembered = remembered
        self._clock = clock
        self._traces: OrderedDict[bytes, tuple[int, str]] = OrderedDict()
        self._overflown_until = 0

    def add(self, trace: bytes, cause: str) -> None:
        """Some of this trace is gone, for this cause (a clause)."""
        if not trace:
            return  # of log records outside of any trace
        self._traces[trace] = self._clock(), cause
        if len(self._traces) > self._remembered:
            _, (when, _) = self._traces.popitem(last=False)
            self._overflown_until = max(self._overflown_until, when)

    def units(self, batch: Batch, changes: Iterable[Change], assembly: Assembly) -> Iterator[tuple[UnitKey, str]]:
        """The units that the batch shows to lack something, with the cause.

        Of traces that are not remembered any more only the time is known: a parent starts before what waits for it
        was forgotten, so that what starts later is none of theirs.
        """
        if not self._traces:
            return
        for change in changes:
            item = change.new
            if item is not None and (known := self._traces.get(item.id[0])) is not None:
                yield from _keys(item.session, item.job, known[1])
        for span in batch.spans:
            if (cause := self._cause(span.trace_id, span.start)) is not None:
                yield from _keys(*assembly.place_of(span.trace_id, span.span_id), cause)
        for log in batch.logs:
            if log.trace_id and (cause := self._cause(log.trace_id, log.time)) is not None:
                yield from _keys(*assembly.place_of(log.trace_id, log_id(log)), cause)

    def _cause(self, trace: bytes, start: int) -> str | None:
        known = self._traces.get(trace)
        if known is not None:
            return known[1]
        return OVERFLOWN if start <= self._overflown_until else None


def named_in(batch: Batch) -> Iterator[UnitKey]:
    """The units that a batch names itself, as far as that can be seen without putting it together."""
    both: list[Span | LogRecord] = [*batch.spans, *batch.logs]
    for each in both:
        for attributes in (each.attributes, each.scope.attributes, each.resource.attributes):
            for key in (*tree.SESSION_KEYS, tree.JOB_KEY):
                if (value := attributes.get(key)) not in (None, ""):
                    yield UnitKey(UnitKind.JOB if key == tree.JOB_KEY else UnitKind.SESSION, str(value))
    for record in batch.records:
        context: Any = record.get("context")
        if isinstance(context, dict) and context.get("test"):
            yield UnitKey(UnitKind.SESSION, str(context["test"]))


def _keys(session: str | None, job: str | None, cause: str) -> Iterator[tuple[UnitKey, str]]:
    if session is not None:
        yield UnitKey(UnitKind.SESSION, session), cause
    if job is not None:
        yield UnitKey(UnitKind.JOB, job), cause
