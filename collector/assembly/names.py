"""Named calls: tool spans whose call id no model knows, matched by name with what was asked for in their trace.

A tool span belongs to the last message before it that asked for a tool of its name. Among the calls of that message
equal arguments come first, then the order.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from collector.assembly.timeline import Timeline
from evaluator.items import Json, NotRecorded

if TYPE_CHECKING:
    from collector.assembly.executions import Execution
    from collector.assembly.requests import Request


class NameGroup:
    """The calls of one name in one trace."""

    __slots__ = ("asks", "runs")

    def __init__(self) -> None:
        self.asks: Timeline[Request] = Timeline()
        self.runs: Timeline[Execution] = Timeline()


class TraceNames:
    """The calls of one trace. They are put in order by name only once a model asked for one."""

    __slots__ = ("groups", "runs")

    def __init__(self) -> None:
        self.runs: dict[Execution, None] = {}
        self.groups: dict[str, NameGroup] | None = None

    def group(self, name: str) -> NameGroup:
        if self.groups is None:
            self.groups = {}
            for run in self.runs:
                self.groups.setdefault(run.name, NameGroup()).runs.add(run.moment, run)
        return self.groups.setdefault(name, NameGroup())


class NamedCalls:
    def __init__(
        self,
        mark: Callable[[Any], None],
        is_taken: "Callable[[Request], bool]",
        asked_by_id: "Callable[[Execution], Request | None]",
    ) -> None:
        self._mark = mark
        self._is_taken = is_taken
        """Whether a tool span with its call id has been found for a request."""
        self._asked_by_id = asked_by_id
        """The request with the call id of a tool span."""
        self._traces: dict[bytes, TraceNames] = {}
        self._stale: dict[tuple[NameGroup, int], None] = {}
        """Groups and the times of the messages whose calls have to be matched again."""

    def add_run(self, execution: "Execution") -> None:
        names = self._names(execution.node.trace_id)
        names.runs[execution] = None
        if names.groups is not None:
            group = names.group(execution.name)
            group.runs.add(execution.moment, execution)
            self._touch(group, execution.started)

    def remove_run(self, execution: "Execution") -> None:
        names = self._names(execution.node.trace_id)
        del names.runs[execution]
        if execution.named is not None:
            self._pair(execution.named, None)
            execution.named = None
        if names.groups is not None:
            group = names.group(execution.name)
            group.runs.remove(execution.moment)
            self._touch(group, execution.started)
        self._drop_empty(execution.node.trace_id, names)

    def add_ask(self, request: "Request") -> None:
        group = self._names(request.node.trace_id).group(request.asked.name)
        group.asks.add(request.moment, request)
        self._touch(group, request.messages.started)
        self._touch(group, request.messages.started - 1)

    def remove_ask(self, request: "Request") -> None:
        names = self._names(request.node.trace_id)
        group = names.group(request.asked.name)
        group.asks.remove(request.moment)
        if request.named is not None:
            self._part(request.named)
        request.named = None
        self._touch(group, request.messages.started)
        self._drop_empty(request.node.trace_id, names)

    def touch(self, request: "Request") -> None:
        """Whether a span with its call id is there may have changed."""
        self._touch_name(request.node.trace_id, request.asked.name, request.messages.started)

    def touch_run(self, execution: "Execution") -> None:
        """Whether a request with its call id is there may have changed."""
        self._touch_name(execution.node.trace_id, execution.name, execution.started)

    def settle(self) -> None:
        for group, time in self._stale:
            self._match(group, time)
        self._stale.clear()

    def _names(self, trace_id: bytes) -> TraceNames:
        names = self._traces.get(trace_id)
        if names is None:
            names = self._traces[trace_id] = TraceNames()
        return names

    def _drop_empty(self, trace_id: bytes, names: TraceNames) -> None:
        if not names.runs and not any(group.asks for group in (names.groups or {}).values()):
            self._traces.pop(trace_id, None)

    def _touch_name(self, trace_id: bytes, name: str, time: int) -> None:
        names = self._traces.get(trace_id)
        group = None if names is None or names.groups is None else names.groups.get(name)
        if group is not None and group.runs:
            self._touch(group, time)

    def _touch(self, group: NameGroup, time: int) -> None:
        if group.asks:
            last = group.asks.until(time)
            if last is not None:
                self._stale[group, last.messages.started] = None

    def _match(self, group: NameGroup, time: int) -> None:
        """Match the calls that were asked for at `time` with the tool spans up to the next message that asks."""
        asks = group.asks.within(time, time + 1)
        if not asks:
            return
        following = group.asks.after(asks[-1].moment)
        end = None if following is None else following.messages.started
        runs = group.runs.within(time, end, limit=2 * len(asks) + 4)
        runs = [run for run in runs if self._asked_by_id(run) is None]
        pairs = _pairs([ask for ask in asks if not self._is_taken(ask)], runs)
        for ask in asks:
            self._pair(ask, pairs.get(id(ask)))
        matched = {id(run) for run in pairs.values()}
        for run in runs:
            if id(run) not in matched:
                self._part(run)

    def _pair(self, ask: "Request | None", run: "Execution | None") -> None:
        if ask is None or ask.named is run:
            return
        if ask.named is not None and ask.named.named is ask:
            self._part(ask.named)
        ask.named = run
        self._mark(ask)
        if run is not None:
            run.named = ask
            self._mark(run)

    def _part(self, run: "Execution") -> None:
        if run.named is not None:
            run.named = None
            self._mark(run)


def _pairs(asks: "list[Request]", runs: "list[Execution]") -> "dict[int, Execution]":
    """Which tool span is which request, by the identity of the request."""
    pairs: dict[int, Execution] = {}
    for agrees in (_equal, _compatible):
        for run in [run for run in runs if run not in pairs.values()]:
            ask = next((ask for ask in asks if id(ask) not in pairs and agrees(ask, run)), None)
            if ask is not None:
                pairs[id(ask)] = run
    return pairs


def _equal(ask: "Request", run: "Execution") -> bool:
    wanted = ask.asked.args
    if isinstance(wanted, NotRecorded):
        return False
    if isinstance(run.facts.args, NotRecorded):
        return run.facts.bare is not None and len(wanted) == 1 and _same(next(iter(wanted.values())), run.facts.bare)
    return wanted == run.facts.args


def _compatible(ask: "Request", run: "Execution") -> bool:
    """What both know of the arguments agrees; defaults may have been filled in between."""
    wanted, used = ask.asked.args, run.facts.args
    if isinstance(wanted, NotRecorded):
        return True
    if isinstance(used, NotRecorded):
        return run.facts.bare is None or _equal(ask, run)
    return all(key in used and used[key] == value for key, value in wanted.items())


def _same(value: Json, text: Json) -> bool:
    return value == text or str(value) == str(text)
