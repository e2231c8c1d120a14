"""Requests: the tool calls that a model asked for, and the results that it was shown.

They tell which call a tool span without an id is, carry arguments that it lost, and are all there is of the calls of
an agent whose tools are not instrumented (corpus/CONVENTIONS.md, 5.1, step 7).
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from collector.assembly.columns import Place, approval_item, tool_item
from collector.assembly.derived import DERIVED_KINDS, derived
from collector.assembly.owners import NO_ITEMS, session_of
from collector.assembly.timeline import Moment
from collector.assembly.tree import Node, Trace
from collector.conventions.reading import Asked, Reading, Role, Shown
from evaluator.items import Call, CallStatus, Item, NotRecorded

if TYPE_CHECKING:
    from collector.assembly.executions import Execution
    from collector.assembly.joins import Joins

NOT_SHOWN = NotRecorded("no later message to the model shows the result")
NO_HOW = NotRecorded("the result that the model was shown says that the call failed and not how")


class Messages:
    """What the messages of one model span, or of one log record, show."""

    __slots__ = (
        "asked",
        "convention",
        "emitted",
        "ended",
        "holds",
        "joins",
        "node",
        "registered",
        "shown",
        "span_id",
        "started",
        "trace",
    )

    def __init__(self, node: Node, trace: Trace, reading: Reading, times: tuple[int, int], joins: "Joins") -> None:
        self.node = node
        self.trace = trace
        self.convention = reading.convention
        self.span_id = node.span_id
        """The span that they are of."""
        self.started, self.ended = times
        self.joins = joins
        self.asked = tuple(Request(self, position, asked) for position, asked in enumerate(reading.asked))
        self.shown = tuple(Showing(self, position, shown) for position, shown in enumerate(reading.shown))
        self.holds = tuple(reading.holds)
        self.registered: str | bytes | None = None
        """The session, or the trace id, under which the joins have them."""
        self.emitted = NO_ITEMS

    def register(self) -> None:
        self.joins.place_messages(self)

    def unregister(self) -> None:
        self.joins.remove_messages(self)

    def repeats(self) -> bool:
        """They are those of a model span around this one: the framework and its client are both instrumented."""
        near = self.node.context.near
        owners = near.owners if near is not None and near.role is Role.MODEL else ()
        return any(isinstance(owner, Messages) and bool(owner.asked) for owner in owners)

    def items(self) -> tuple[Item, ...]:
        return NO_ITEMS


@dataclass(slots=True, eq=False)
class Showing:
    """A result that a model was shown."""

    messages: Messages
    position: int
    fact: Shown
    emitted: tuple[Item, ...] = NO_ITEMS

    @property
    def moment(self) -> Moment:
        """Before what the same messages ask for: a result belongs to an earlier request."""
        return self.messages.started, self.messages.node.unique, -1 - self.position

    def items(self) -> tuple[Item, ...]:
        return NO_ITEMS


@dataclass(slots=True, eq=False)
class Request:
    """A call that a model asked for. It makes an item only when no tool span shows the call itself."""

    messages: Messages
    position: int
    asked: Asked
    named: "Execution | None" = None
    """The tool span that is this call, found by name and order."""
    emitted: tuple[Item, ...] = NO_ITEMS

    @property
    def node(self) -> Node:
        return self.messages.node

    @property
    def moment(self) -> Moment:
        return self.messages.started, self.messages.node.unique, self.position

    def items(self) -> tuple[Item, ...]:
        joins, node = self.joins, self.node
        if self.messages.registered is None or joins.is_repeated(self):
            return NO_ITEMS
        call, held = self.call(), joins.is_held(self)
        run = joins.executed_by(self)
        context = node.context
        session = session_of(context, node.trace_id)
        if session is None and context.job is None:
            return NO_ITEMS  # a log record outside of any trace that names neither
        place = Place((node.trace_id, node.span_id, None, self.position), session, context.job)
        if run is None and call.status.happened:
            item = tool_item(place, call, {}, None)
            return (derived(item) if item.tool_kind in DERIVED_KINDS else item,)
        if run is not None:
            # A tool span that was itself held says so itself.
            status = "allowed" if held and not run.is_open else ""
        elif call.status is CallStatus.DENIED:
            status = "denied"
        elif held or self._is_pending():
            status = "requested"
        else:
            status = ""
        if not status:
            return NO_ITEMS
        return (approval_item(place._replace(id=(*place.id, "approval")), call, {}, status),)

    def _is_pending(self) -> bool:
        """The run of the agent is over and nothing came of the call."""
        ended = self.node.context.agent is not None
        return ended and not is_pseudo(self.asked.name) and self.joins.shown_to(self) is None

    @property
    def joins(self) -> "Joins":
        return self.messages.joins

    def call(self) -> Call:
        """The call as the messages show it: what became of it stands in a later request to the model."""
        asked, node = self.asked, self.node
        shown = self.joins.shown_to(self)
        result: Any = NOT_SHOWN
        error: str | NotRecorded | None = None
        status = CallStatus.REQUESTED
        ended = self.messages.ended
        if shown is not None:
            result, ended = shown.fact.result, shown.messages.started
            status = self._status(shown)
            if status is CallStatus.ERROR:
                error = _error_text(result)
        elif self.joins.is_held(self):
            status = CallStatus.SUSPENDED
        return Call(
            asked.name,
            asked.args,
            result,
            error,
            self.messages.ended,
            ended,
            asked.call_id,
            status,
            self.messages.convention,
            "log" if self.messages.node.role is None else "llm-span",
            None if node.context.agent is None else node.context.agent.agent_name,
            node.trace_id,
            self.messages.span_id,
        )

    def _status(self, shown: Showing) -> CallStatus:
        if shown.fact.denied:
            return CallStatus.DENIED
        # Where tool spans exist, a failure without one means that the framework refused to run the tool.
        if self.messages.trace.has_tools and (shown.fact.failed or is_pseudo(self.asked.name)):
            return CallStatus.REQUESTED
        return CallStatus.ERROR if shown.fact.failed else CallStatus.OK


def _error_text(result: Any) -> str | NotRecorded:
    if isinstance(result, dict) and result.get("error") is not None:
        result = result["error"]
    if isinstance(result, NotRecorded):
        return NO_HOW
    return result if isinstance(result, str) else str(result)


def is_pseudo(name: str) -> bool:
    """A name that frameworks use for what is no tool: a handoff, or the answer itself."""
    return name.startswith(("transfer_to_", "final_result")) or name == "final_answer"
