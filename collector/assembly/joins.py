"""Joins: tool spans with what the model asked for, and calls that were held with their resumption in another trace.

A call id identifies a call within a conversation, not within a trace (corpus/CONVENTIONS.md, section 3, point 14).
The conversation is the session that telemetry names; without one it is the trace, and across traces only what is left
over on both sides is joined. Tool spans without an id, or with one that no model knows, are joined by name, order and
compatible arguments within the trace.

Answers are computed from what is there, and whoever may get another answer than before is marked for it. So they do
not depend on the order in which telemetry came.
"""

from collections.abc import Callable, Mapping
from typing import Any

from collector.assembly.executions import Execution
from collector.assembly.groups import CallGroup, Everywhere, Groups
from collector.assembly.held import HeldCalls
from collector.assembly.names import NamedCalls
from collector.assembly.requests import Messages, Request, Showing
from collector.assembly.timeline import LAST
from collector.assembly.tree import Node


class Joins:
    def __init__(self, mark: Callable[[Any], None]) -> None:
        self.mark = mark
        """Says that the items of an owner may have changed."""
        self._groups = Groups()
        self._everywhere = Everywhere(self._mark_with_runs)
        self._names = NamedCalls(mark, self._is_taken, self._asked_by_id)
        self._held = HeldCalls(mark)
        self.holding: Mapping[str, int] = self._held.sessions
        """The sessions, or "", in which a tool span without a call id looks held: others may have taken it up."""

    def settle(self) -> None:
        """Match by name what has changed since the last time."""
        self._names.settle()

    # What is there.

    def place(self, execution: Execution) -> None:
        """Put a tool span where what is known of it now belongs."""
        self.mark(execution)
        said, call_id, is_open, key = None, None, False, None
        if execution.is_call:
            said, call_id, is_open = execution.node.context.said, execution.call_id, execution.is_open
            key = said, call_id, is_open
        if execution.registered == key:
            return
        if execution.registered is not None:
            self.remove(execution)
        if key is None:
            return
        execution.registered = key
        self._names.add_run(execution)
        if call_id is None:
            self._held.add((said or "", execution.facts.name), execution, is_open)
            return
        group = self._groups.add_run(scope(execution.node, call_id), execution)
        if group is not None:
            self._run_changed(group, execution)
        if said is None:
            self._everywhere.add(call_id, execution)

    def remove(self, execution: Execution) -> None:
        if execution.registered is None:
            return
        said, call_id, _ = execution.registered
        execution.registered = None
        self._names.remove_run(execution)
        if call_id is None:
            self._held.remove((said or "", execution.name), execution)
            return
        group = self._groups.remove_run((said or execution.node.trace_id, call_id), execution)
        if group is not None:
            self._run_changed(group, execution)
        if said is None:
            self._everywhere.remove(call_id, execution)

    def place_messages(self, messages: Messages) -> None:
        """Put the calls that messages asked for, and the results that they show, where they belong."""
        home = None if messages.repeats() else (messages.node.context.said or messages.node.trace_id)
        if home == messages.registered:
            for request in messages.asked:
                self.mark(request)
            return
        self.remove_messages(messages)
        messages.registered = home
        if home is not None:
            self._put_messages(messages, home, 1)

    def remove_messages(self, messages: Messages) -> None:
        if messages.registered is not None:
            home, messages.registered = messages.registered, None
            self._put_messages(messages, home, -1)

    def _put_messages(self, messages: Messages, home: str | bytes, sign: int) -> None:
        nameless = isinstance(home, bytes)
        for call_id in messages.holds:
            group = self._groups.of((home, call_id))
            group.holds += sign
            for request in group.asks.all():
                self.mark(request)
            for run in group.runs.all():
                self._everywhere.touch(call_id, run.moment)
        for request in messages.asked:
            self.mark(request)
            self._put(home, request.asked.call_id, "asks", request, sign)
            (self._names.add_ask if sign > 0 else self._names.remove_ask)(request)
            if nameless and request.asked.call_id is not None:
                self._everywhere.put(request.asked.call_id, request, sign)
        for showing in messages.shown:
            self._put(home, showing.fact.call_id, "shows", showing, sign)
            if nameless:
                self._everywhere.put(showing.fact.call_id, showing, sign)

    def _put(self, home: str | bytes, call_id: str | None, line: str, entry: Request | Showing, sign: int) -> None:
        if call_id is None:
            return
        group = self._groups.of((home, call_id))
        timeline = getattr(group, line)
        if sign > 0:
            timeline.add(entry.moment, entry)
        else:
            timeline.remove(entry.moment)
        self._messages_changed(group, entry.moment[0])

    def _run_changed(self, group: CallGroup, execution: Execution) -> None:
        """Mark whoever may get another answer because a tool span came or went. The other tool spans of a call get
        none, but for the one before, which it may have resumed."""
        request = group.asks.until(execution.started)
        if request is not None:
            self._mark_request(request)
        earlier = group.runs.before(execution.moment)
        if earlier is not None:
            self.mark(earlier)

    def _messages_changed(self, group: CallGroup, time: int) -> None:
        """Mark whoever may get another answer because a request or a result came or went at `time`."""
        request = group.asks.until(time)
        earlier = None if request is None else group.asks.before(request.moment)
        runs: list[Execution] = []
        for each in (request, earlier, group.asks.until(time - 1)):
            if each is not None:
                self._mark_request(each)
                runs += self._runs_of(each)
        start = 0 if request is None else request.messages.started
        following = group.asks.after((time, LAST, 0))
        end = None if following is None else following.messages.started
        before = group.runs.before((start, b"", 0))
        for run in [*runs, *group.runs.within(start, end), *([] if before is None else [before])]:
            self.mark(run)
            self._names.touch_run(run)
            self._everywhere.touch(run.call_id, run.moment)
        for showing in group.shows.within(start + 1, None if end is None else end + 1):
            self._everywhere.touch(showing.fact.call_id, showing.moment)

    def _mark_request(self, request: Request) -> None:
        self.mark(request)
        if request.named is not None:
            self.mark(request.named)
        self._names.touch(request)
        self._everywhere.touch(request.asked.call_id, request.moment)

    def _mark_with_runs(self, owner: Any) -> None:
        """Mark what another trace says something new of; the tool spans of a request read its answers."""
        self.mark(owner)
        if isinstance(owner, Request):
            for run in self._runs_of(owner):
                self.mark(run)

    def _runs_of(self, request: Request) -> list[Execution]:
        group = self._group(request)
        return [] if group is None else group.runs.within(request.messages.started, group.end_of(request))

    def affected(self, owner: Any) -> list[Any]:
        """Who reads the answers about `owner`, and so may change with it."""
        found: list[Any] = []
        if isinstance(owner, Request):
            call_id = owner.asked.call_id
            if owner.named is not None:
                found.append(owner.named)
        elif isinstance(owner, Execution) and owner.is_open:
            call_id = owner.call_id
        else:
            return found
        following = None if call_id is None else self._everywhere.after(call_id, owner.moment)
        return found if following is None else [*found, following]

    # What follows from it.

    def is_alone(self, execution: Execution) -> bool:
        """No messages and no other tool span speak of the call, so it is what its span says."""
        if execution.named is not None or execution.registered is None:
            return False
        said, call_id, is_open = execution.registered
        if is_open or call_id is None:
            return not is_open
        if not self._groups.is_alone((said or execution.node.trace_id, call_id), execution):
            return False
        return said is not None or self._everywhere.is_alone(call_id, execution)

    def request_of(self, execution: Execution) -> Request | None:
        """What the model asked for when it made this call."""
        request = self._asked_by_id(execution)
        if request is not None or execution.named is not None:
            return request or execution.named
        call_id = execution.call_id
        if call_id is None or execution.node.context.said is not None:
            return None
        earlier = self._everywhere.before(call_id, execution.moment)
        if isinstance(earlier, Execution) and earlier.is_open and _elsewhere(earlier, execution):
            return self.request_of(earlier)
        if isinstance(earlier, Request) and self.executed_by(earlier) is execution:
            return earlier
        return None

    def _asked_by_id(self, execution: Execution) -> Request | None:
        call_id = execution.call_id
        group = None if call_id is None else self._groups.find(scope(execution.node, call_id))
        request = None if group is None else group.asks.until(execution.started)
        return request if request is not None and request.asked.name == execution.name else None

    def executed_by(self, request: Request) -> Execution | None:
        """The tool span that is this call, the first where there are several."""
        group = self._group(request)
        runs = [] if group is None else group.runs.within(request.messages.started, group.end_of(request), limit=1)
        if runs:
            return runs[0]
        if request.named is not None:
            return request.named
        following = self._left_over_after(request)
        return following if isinstance(following, Execution) else None

    def shown_to(self, request: Request) -> Showing | None:
        """The result that the model was shown for a call."""
        group = self._group(request)
        if group is not None:
            end = group.end_of(request)
            shows = group.shows.within(request.messages.started + 1, None if end is None else end + 1, limit=1)
            if shows:
                return shows[0]
        following = self._left_over_after(request)
        return following if isinstance(following, Showing) else None

    def resumed(self, execution: Execution) -> Execution | None:
        """The tool span that took up a call which this one shows as held, or without a result."""
        call_id = execution.call_id
        if call_id is not None:
            return self._later_run(execution, call_id)
        request = execution.named
        if request is None or request.asked.call_id is None:
            return self._held.resumption((execution.node.context.said or "", execution.name), execution)
        group = self._group(request)
        runs = [] if group is None else group.runs.within(request.messages.started, group.end_of(request))
        following = next(iter(runs), None) or self._left_over_after(request)
        if isinstance(following, Execution) and _elsewhere(following, execution):
            return following
        return self._held.resumption((execution.node.context.said or "", execution.name), execution)

    def _later_run(self, execution: Execution, call_id: str) -> Execution | None:
        group = self._groups.find(scope(execution.node, call_id))
        later = None if group is None else group.runs.after(execution.moment)
        if later is None and execution.node.context.said is None:
            later = self._everywhere.after(call_id, execution.moment)
        if not isinstance(later, Execution) or later.name != execution.name or not _elsewhere(later, execution):
            return None
        if group is not None and group.asks.until(later.started) is not group.asks.until(execution.started):
            return None
        return later

    def is_repeated(self, request: Request) -> bool:
        """The same call is asked for again before anything came of it: another instrumentation saw it too."""
        group = self._group(request)
        if group is None or group.end_of(request) is None or request.named is not None:
            return False
        end = group.end_of(request)
        runs = group.runs.within(request.messages.started, end, limit=1)
        return not runs and not group.shows.within(request.messages.started + 1, (end or 0) + 1, limit=1)

    def is_held(self, request: Request) -> bool:
        """Telemetry says that the call waits, or waited, for an approval."""
        group = self._group(request)
        if request.asked.held or (group is not None and group.holds > 0):
            return True
        following = self._left_over_after(request)
        if not isinstance(following, Execution) or following.call_id is None:
            return False
        resumed = self._groups.find(scope(following.node, following.call_id))
        return resumed is not None and resumed.holds > 0

    def _is_taken(self, request: Request) -> bool:
        """A tool span of the same trace has its call id."""
        group = self._group(request)
        runs = [] if group is None else group.runs.within(request.messages.started, group.end_of(request))
        return any(run.node.trace_id == request.node.trace_id for run in runs)

    def _group(self, request: Request) -> CallGroup | None:
        if request.asked.call_id is None or request.messages.registered is None:
            return None
        return self._groups.of((request.messages.registered, request.asked.call_id))

    def _left_over_after(self, request: Request) -> Execution | Showing | None:
        """What comes next with this call id in another trace, if nothing in that trace accounts for it."""
        call_id = request.asked.call_id
        if call_id is None or not isinstance(request.messages.registered, bytes):
            return None
        following = self._everywhere.after(call_id, request.moment)
        if isinstance(following, Execution):
            group = self._groups.find(scope(following.node, call_id))
            accounted = group is not None and group.asks.until(following.started) is not None
            fits = following.name == request.asked.name
            return following if fits and not accounted and following.node.trace_id != request.node.trace_id else None
        if isinstance(following, Showing) and following.messages.node.trace_id != request.node.trace_id:
            group = self._groups.find((following.messages.node.trace_id, call_id))
            accounted = group is not None and group.asks.until(following.moment[0] - 1) is not None
            return None if accounted else following
        return None


def scope(node: Node, call_id: str) -> tuple[str | bytes, str]:
    return node.context.said or node.trace_id, call_id


def _elsewhere(one: Execution, other: Execution) -> bool:
    return one.node.trace_id != other.node.trace_id
