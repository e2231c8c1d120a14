"""Executions: tool spans, and the layers of one call that they show.

A tool span below a tool span of the same name, with no agent or model span between, is a layer of the same call
(corpus/CONVENTIONS.md, 5.1, step 6). The outermost layer is the call; the inner ones only fill its gaps.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from collector.assembly.columns import Place, approval_item, tool_item
from collector.assembly.derived import DERIVED_KINDS, derived
from collector.assembly.owners import NO_ITEMS, session_of
from collector.assembly.timeline import Moment
from collector.assembly.tree import Node
from collector.conventions.exceptions import SUSPENDING, bare
from collector.conventions.reading import Role, ToolFacts
from collector.telemetry import Attributes
from evaluator.items import Call, CallStatus, Item, Json, NotRecorded

# Looking a member up in its enum is slow before Python 3.12.
_TOOL: Final = Role.TOOL
_SUSPENDED: Final = CallStatus.SUSPENDED
_DENIED: Final = CallStatus.DENIED
_HAPPENED: Final = frozenset(status for status in CallStatus if status.happened)

if TYPE_CHECKING:
    from collector.assembly.joins import Joins
    from collector.assembly.requests import Request


@dataclass(slots=True, eq=False)
class Execution:
    """One tool span. `outer` is the layer around it, `inner` are those in it, once they are known."""

    node: Node
    item_id: tuple[Any, ...]
    facts: ToolFacts
    convention: str
    started: int
    ended: int
    attributes: Attributes
    joins: "Joins"
    outer: "Execution | None" = None
    inner: "list[Execution] | None" = None
    named: "Request | None" = None
    """What the model asked for, found by name and order because the span has no call id."""
    registered: "tuple[Any, ...] | None" = None
    """Under which keys the joins have it."""
    raised: tuple[int, str, str] | None = None
    """Time, type and message of the last exception that a log record reports of this span."""
    folders: tuple[str, ...] = ()
    """The checkouts that its span or resource names; looked for only where a path may be in the arguments."""
    has_columns: bool = True
    """Its attributes have any of `columns.KEYS`."""
    unasked: bool = False
    """Its trace begins with the agent itself: it runs for no request."""
    emitted: tuple[Item, ...] = NO_ITEMS

    @property
    def moment(self) -> Moment:
        return self.started, self.node.unique, 0

    @property
    def name(self) -> str:
        return self.facts.name

    def register(self) -> None:
        """Take what the ancestors say into account: the layer around this one, and the session."""
        near = self.node.context.near
        if self.outer is None and near is not None and near.role is _TOOL:
            around = near.owners[0]
            if isinstance(around, Execution) and _is_layer(around, self):
                self.outer = around
                around.inner = [*(around.inner or ()), self]
                around.inner.sort(key=lambda layer: layer.moment)
                self.joins.place(around.outermost())
        self.joins.place(self)

    def unregister(self) -> None:
        self.joins.remove(self)

    def detach(self) -> None:
        """Be no layer of the call around it any more: that is not around it."""
        around, self.outer = self.outer, None
        if around is not None and around.inner is not None:
            around.inner = [layer for layer in around.inner if layer is not self] or None

    def outermost(self) -> "Execution":
        layer = self
        while layer.outer is not None:
            layer = layer.outer
        return layer

    def layers(self) -> "Iterator[Execution]":
        """This layer and all in it, outer before inner."""
        pending = [self]
        while pending:
            layer = pending.pop()
            yield layer
            if layer.inner is not None:
                pending.extend(reversed(layer.inner))

    @property
    def is_call(self) -> bool:
        """It stands for a call of its own: no inner layer, and no phantom."""
        return self.outer is None and not self.facts.phantom

    @property
    def call_id(self) -> str | None:
        if self.inner is None:
            return self.facts.call_id
        return next((layer.facts.call_id for layer in self.layers() if layer.facts.call_id is not None), None)

    @property
    def is_open(self) -> bool:
        """The call may have been held: its span says so, or shows no result where every other does."""
        if self.raised is None and self.inner is None:
            return self.facts.status is _SUSPENDED or self.facts.unfinished
        if self._outcome()[1] is _SUSPENDED:
            return True
        return self.facts.unfinished and isinstance(self._filled("result"), NotRecorded)

    def items(self) -> tuple[Item, ...]:
        if not self.is_call:
            return NO_ITEMS
        call = self.call()
        context = self.node.context
        place = Place(self.item_id, session_of(context, self.node.trace_id), context.job)
        if call.status in _HAPPENED:
            item = tool_item(place, call, self.attributes, self.facts.kind, self.has_columns)
            return (derived(item, self.folders) if item.tool_kind in DERIVED_KINDS else item,)
        status = "denied" if call.status is _DENIED else "suspended"
        if status == "suspended" and self.joins.resumed(self) is not None:
            status = "allowed"
        place = place._replace(id=(*self.item_id, "approval"))
        return (approval_item(place, call, self.attributes, status),)

    def call(self) -> Call:
        """The call, with the gaps of the outermost layer filled from the inner ones and from the model's messages."""
        facts = self.facts
        if self.inner is None and self.raised is None and self.joins.is_alone(self):
            return self._made_of(facts.args, facts.result, facts.error, facts.call_id, facts.status)
        error, status = self._outcome()
        args: Any = facts.args
        result: Any = facts.result
        if self.inner:
            args, result = self._filled("args"), self._filled("result")
        request = self.joins.request_of(self)
        call_id = facts.call_id
        if request is not None or self.inner:
            call_id = self.call_id
        if request is not None:
            if isinstance(args, NotRecorded) and not isinstance(request.asked.args, NotRecorded):
                args = request.asked.args
            call_id = call_id or request.asked.call_id
            shown = self.joins.shown_to(request)
            if shown is not None:
                if shown.fact.denied and self.is_open:
                    status = _DENIED
                if isinstance(result, NotRecorded) and status.happened:
                    result = shown.fact.result
        if self.is_open and status.happened and (self._awaits_answer() or self.joins.resumed(self) is not None):
            status = _SUSPENDED
        return self._made_of(args, result, error, call_id, status)

    def _awaits_answer(self) -> bool:
        """The model asked for the call and was shown no result, where a call that ran is always answered.

        Outside a request openai-agents goes on after an approval in the same trace and without spans, so that nothing
        tells a call that ran from one that waits: it counts, as corpus/openai-agents-openinference/approval has it.
        """
        named = self.named
        return (
            self.facts.answered
            and not self.unasked
            and named is not None
            and named.asked.call_id is not None
            and self.joins.shown_to(named) is None
        )

    def _made_of(self, args: Any, result: Any, error: Any, call_id: str | None, status: CallStatus) -> Call:
        facts, node = self.facts, self.node
        agent = node.context.agent
        return Call._make(
            (
                facts.name,
                args,
                result,
                error,
                self.started,
                self.ended,
                call_id,
                status,
                self.convention,
                facts.source,
                None if agent is None else agent.agent_name,
                node.trace_id,
                node.span_id,
            )
        )

    def _filled(self, field: str) -> Json | NotRecorded:
        """The value of the outermost layer that has it."""
        missing: Any = getattr(self.facts, field)
        for layer in self.layers():
            value: Any = getattr(layer.facts, field)
            if not isinstance(value, NotRecorded):
                return value
        return missing

    def _outcome(self) -> tuple[str | NotRecorded | None, CallStatus]:
        """Error text and status. A layer fails with the last layer in it (MCP, client and server)."""
        path = [self]
        while path[-1].inner:
            path.append(max(path[-1].inner, key=lambda layer: (layer.ended, layer.moment)))
        inner_error, inner_status = path.pop()._own_outcome()
        while path:
            error, status = path.pop()._own_outcome()
            if status is CallStatus.OK and inner_status is not CallStatus.OK:
                error, status = inner_error, inner_status
            elif status is CallStatus.ERROR and isinstance(error, NotRecorded) and inner_error is not None:
                error = inner_error
            inner_error, inner_status = error, status
        return inner_error, inner_status

    def _own_outcome(self) -> tuple[str | NotRecorded | None, CallStatus]:
        error, status = self.facts.error, self.facts.status
        return (error, status) if self.raised is None or not status.happened else self._raised(error)

    def _raised(self, error: str | NotRecorded | None) -> tuple[str | NotRecorded | None, CallStatus]:
        _, kind, message = self.raised or (0, "", "")
        if bare(kind) in SUSPENDING:
            return None, _SUSPENDED
        return (error if isinstance(error, str) else message or kind), CallStatus.ERROR


def _is_layer(around: Execution, within: Execution) -> bool:
    """Whether two tool spans of one branch show the same call. The same instrumentation would not repeat itself with
    other arguments: then the tool calls itself."""
    if around.facts.name != within.facts.name or around.facts.phantom or within.facts.phantom:
        return False
    if around.convention != within.convention:
        return True
    outer_args, inner_args = around.facts.args, within.facts.args
    return isinstance(outer_args, NotRecorded) or isinstance(inner_args, NotRecorded) or outer_args == inner_args
