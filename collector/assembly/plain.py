"""Plain calls: tool spans that say all there is to know of their call, as long as nothing else speaks of it.

Most spans of coding agents are plain: roots in the hangar vocabulary, without a call id and in a trace without
messages. The item of such a span is made at once, and of the span only its record is kept. When something comes that
could change the item (a span below it, a log record of it, messages in its trace, a held call in its session), it is
`due`: it is added again as any other span is, which makes the same item with all that joins need.
"""

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from collector.assembly.columns import COLUMN_KEYS, DIFF_KEY, HAPPENED, OTHER_KIND, TOOL_KINDS, Place, tool_item
from collector.assembly.derived import DERIVED_KINDS, derived
from collector.assembly.owners import session_of
from collector.assembly.tree import Context, Trace
from collector.compiled import compiled
from collector.conventions import hangar
from collector.conventions.payload import REDACTED
from collector.telemetry import KIND_SERVER, STATUS_ERROR, Resource, Scope, Span
from evaluator.items import Call, CallStatus, Item, ItemKind

_NAME, _ARGUMENTS, _RESULT = "gen_ai.tool.name", "gen_ai.tool.call.arguments", "gen_ai.tool.call.result"
_READ: Final = (_NAME, _ARGUMENTS, _RESULT, hangar.INPUT, hangar.OUTPUT)
_NEVER: Final = frozenset({"gen_ai.tool.call.id", "error.type", DIFF_KEY})
"""With any of these more is to be known than the span says, or it makes more than one item."""
_SHAPES: Final = 4_096

# Looking a member up in its enum is slow before Python 3.12.
_OK: Final = CallStatus.OK
_SOURCE: Final = "tool-span"
_new: Final = tuple.__new__
"""Makes a named tuple without counting its fields again."""

_compiled: Final = compiled("collector.assembly._plain")
if _compiled is not None:
    _compiled.configure(
        item=Item,
        call=Call,
        keys=(*_READ, *(key for key in COLUMN_KEYS if key not in _READ)),
        tool_kinds=TOOL_KINDS,
        tool=ItemKind.TOOL,
        other=OTHER_KIND,
        ok_status=_OK,
        ok_text=HAPPENED[_OK],
        convention=hangar.NAME,
        source=_SOURCE,
        no_arguments=hangar.NO_ARGUMENTS,
        no_result=hangar.NO_RESULT,
        redacted=REDACTED,
    )


class Plain(NamedTuple):
    """What is kept of a plain call: its item, and what else its span had."""

    item: Item
    kind: int
    resource: Resource
    scope: Scope

    def span(self) -> Span:
        """The span again, as far as anything is made of it."""
        item, call = self.item, self.item.call
        if call is None:
            raise ValueError("the item of a plain call has no call")
        times, shared = (call.started, call.ended), (self.resource, self.scope)
        return Span(call.trace_id, call.span_id, b"", hangar.TOOL_CALL, self.kind, *times, item.attributes, *shared)


class _Shapes(dict[tuple[str, ...], bool]):
    """The keys of a span, in their order -> whether a span with them may be a plain call. They recur."""

    def __missing__(self, keys: tuple[str, ...]) -> bool:
        if len(self) >= _SHAPES:
            self.clear()
        found = self[keys] = _NAME in keys and _NEVER.isdisjoint(keys)
        return found


class PlainCalls:
    """The plain calls of an assembly."""

    def __init__(
        self, trace: Callable[[bytes], Trace], context: Callable[[Span], Context], holding: Mapping[str, int]
    ) -> None:
        """`trace` and `context` find those of a span; `holding` has the sessions in which a call looks held."""
        self._trace = trace
        self._context = context
        self._holding = holding
        self._shapes = _Shapes()
        self._traces: dict[str, dict[Trace, None]] = {}
        """The traces with plain calls in a session, by what telemetry says of it; "" where it says nothing."""

    def take(self, span: Span) -> Item | None:
        """The item of a span that is a new plain call; None for any other, which is to be added as all are."""
        if span.name != hangar.TOOL_CALL or span.parent_id or span.events:
            return None
        if not self._shapes[tuple(span.attributes)] or span.status == STATUS_ERROR:
            return None
        if span.dropped_attributes or span.dropped_events:
            return None
        trace, span_id = self._trace(span.trace_id), span.span_id
        if trace.messages or span_id in trace.plain or span_id in trace.nodes:
            return None
        if span_id in trace.waiting or span_id in trace.raised:
            return None
        context = self._context(span)
        said = context.said or ""
        if said in self._holding:
            return None
        kind = span.kind
        if not trace.unasked and kind != KIND_SERVER:
            if trace.unanswered:
                return None
            trace.unasked = True
        item = _item(span, trace.id, context)
        if item is None:
            return None
        if said not in trace.plain_sessions:
            trace.plain_sessions.add(said)
            self._traces.setdefault(said, {})[trace] = None
            trace.has_tools = trace.framed = trace.speaks = True
        trace.plain[span_id] = _new(Plain, (item, kind, span.resource, span.scope))
        return item

    def due(self, trace: Trace, *span_ids: bytes) -> list[Plain]:
        """Those of the spans that are plain, or all of the trace: they are plain no longer."""
        if span_ids:
            found = (trace.plain.pop(span_id, None) for span_id in span_ids)
            return [plain for plain in found if plain is not None]
        plain = list(trace.plain.values())
        self.forget(trace)
        return plain

    def beside_held(self) -> list[Trace]:
        """The traces with plain calls in a session in which a call looks held."""
        return [trace for said in self._holding.keys() & self._traces.keys() for trace in self._traces[said]]

    def forget(self, trace: Trace) -> None:
        for said in trace.plain_sessions:
            del self._traces[said][trace]
            if not self._traces[said]:
                del self._traces[said]
        trace.plain_sessions.clear()
        trace.plain.clear()


def _item(span: Span, trace_id: bytes, context: Context) -> Item | None:
    """The item that the span makes if it is a plain call; None if nobody can read the name of its tool."""
    attributes, span_id, start = span.attributes, span.span_id, span.start
    session, job = session_of(context, trace_id), context.job
    if _compiled is not None:
        made: Item | None = _compiled.item(attributes, trace_id, span_id, start, span.end, session, job)
        if made is not None:
            return made
    name, arguments, result, given, output = map(attributes.get, _READ)
    if name.__class__ is not str or not name.strip():
        return None
    args = hangar.arguments_of(arguments, given)
    result = hangar.result_of(result, output)
    times = start, span.end
    call = _new(Call, (name, args, result, None, *times, None, _OK, hangar.NAME, _SOURCE, None, trace_id, span_id))
    place = _new(Place, ((trace_id, span_id, None), session, job, None))
    item = tool_item(place, call, attributes, None)
    # In this vocabulary a call without arguments has no columns to derive (see `derived`).
    return derived(item) if args.__class__ is dict and item.tool_kind in DERIVED_KINDS else item
