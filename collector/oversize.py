"""Values that are too large to be kept: taken out of what was received, and remembered for whose they were.

An attribute, a log record's body, an argument: what is longer than the limit becomes `NotRecorded`, so that nothing
equals it. What is no content but says where a span belongs is shortened instead. Either way the session is not whole.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from collector import conventions
from collector.assembly import Assembly, columns, tree
from collector.assembly.logs import log_id
from collector.index import UnitKey, UnitKind
from collector.sizes import size_of
from collector.telemetry import Batch, LogRecord, Resource, Scope, Span
from evaluator.items import Change, NotRecorded

REMEMBERED: Final = 10_000
"""Traces of which it is known that they lost something: the newest."""

LOOKED_AFTER: Final = 64
"""Spans of one trace that lost something and whose session may still become known."""

SHORTENED: Final = columns.KEYS | tree.KEYS | conventions.KEYS | {"gen_ai.tool.name", "tool.name"}
"""Keys whose texts keep their beginning: they decide what a span is, and whose."""

_NO_TRACE: Final = b""


class Oversize:
    """Takes values of more than `limit` bytes out of batches. `taken` counts them. Owned by one event loop."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.taken = 0
        self.cause = f"a value in it was larger than the limit of {limit} bytes"
        self._lost: dict[bytes, dict[bytes, None]] = {}
        self._resources: dict[int, bool] = {}

    def take_out(self, batch: Batch) -> None:
        """Make the batch one without oversized values. Call `units` after the assembly has had it."""
        self._lost.pop(_NO_TRACE, None)
        if 0 < batch.size <= self.limit:
            return  # nothing in it can be larger than all of it
        self._resources.clear()
        for span in batch.spans:
            if self._shorten_span(span):
                self._remember(span.trace_id, span.span_id)
        for log in batch.logs:
            if self._shorten_log(log):
                self._remember(log.trace_id, log_id(log))
        for number, record in enumerate(batch.records):
            shortened = self._without(record)
            if shortened is not record:
                batch.records[number] = dict(shortened)
                self._remember(_NO_TRACE, b"")

    def units(self, batch: Batch, changes: Iterable[Change], assembly: Assembly) -> Iterator[UnitKey]:
        """The units that are not whole for what was taken out of the traces in the batch, as known by now."""
        if not self._lost:
            return
        for change in changes:
            item = change.new or change.old
            if item is not None and item.id[0] in self._lost:
                if item.session is not None:
                    yield UnitKey(UnitKind.SESSION, item.session)
                if item.job is not None:
                    yield UnitKey(UnitKind.JOB, item.job)
        traces = {span.trace_id for span in batch.spans} | {log.trace_id for log in batch.logs}
        for trace in traces & self._lost.keys():
            for span_id in self._lost[trace]:
                session, job = assembly.place_of(trace, span_id)
                if session is not None:
                    yield UnitKey(UnitKind.SESSION, session)
                if job is not None:
                    yield UnitKey(UnitKind.JOB, job)

    def _remember(self, trace: bytes, span: bytes) -> None:
        spans = self._lost.setdefault(trace, {})
        if len(spans) < LOOKED_AFTER:
            spans[span] = None
        if len(self._lost) > REMEMBERED:
            del self._lost[next(iter(self._lost))]

    def _shorten_span(self, span: Span) -> bool:
        before = self.taken
        span.attributes = self._without(span.attributes)
        span.name = self._head(span.name)
        if len(message := span.status_message) > self.limit:
            span.status_message = self._head(message)
        for event in span.events:
            event.attributes, event.name = self._without(event.attributes), self._head(event.name)
        for link in span.links:
            link.attributes = self._without(link.attributes)
        return self._of_shared(span.resource, span.scope) or self.taken > before

    def _shorten_log(self, log: LogRecord) -> bool:
        before = self.taken
        log.attributes = self._without(log.attributes)
        log.event_name = self._head(log.event_name)
        if size_of(log.body) > self.limit:
            log.body = self._instead(log.body)
        return self._of_shared(log.resource, log.scope) or self.taken > before

    def _of_shared(self, *shared: Resource | Scope) -> bool:
        """Whether a resource or scope has lost something; they are shared, and each is looked at once a batch."""
        found = False
        for each in shared:
            lost = self._resources.get(id(each))
            if lost is None:
                before = self.taken
                each.attributes = self._without(each.attributes)
                lost = self._resources[id(each)] = self.taken > before
            found = found or lost
        return found

    def _without(self, attributes: Mapping[str, Any]) -> Mapping[str, Any]:
        """The attributes without what is too large; themselves if nothing is."""
        limit = self.limit
        large = [
            key
            for key, value in attributes.items()
            if (len(value) if value.__class__ is str else size_of(value)) > limit
        ]
        if not large:
            return attributes
        instead = {}
        for key in large:
            value = attributes[key]
            is_place = key in SHORTENED and isinstance(value, str)
            instead[key] = self._head(value) if is_place else self._instead(value)
        return {**attributes, **instead}

    def _head(self, text: str) -> str:
        if len(text) <= self.limit:
            return text
        self.taken += 1
        return text[: self.limit]

    def _instead(self, value: Any) -> NotRecorded:
        self.taken += 1
        return NotRecorded(
            f"it was cut by the limit: {size_of(value)} bytes, at most {self.limit} are kept", "raise --max-value"
        )
