"""Groups: everything that carries one call id, in one conversation and in those that telemetry does not name."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from collector.assembly.executions import Execution
from collector.assembly.timeline import Moment, Timeline

if TYPE_CHECKING:
    from collector.assembly.requests import Request, Showing

Scope = tuple[str | bytes, str]
"""The session, or the trace id where telemetry names none, and a call id."""


class CallGroup:
    """Everything that carries one call id in one conversation."""

    __slots__ = ("asks", "holds", "runs", "shows")

    def __init__(self) -> None:
        self.asks: Timeline[Request] = Timeline()
        self.runs: Timeline[Execution] = Timeline()
        self.shows: Timeline[Showing] = Timeline()
        self.holds = 0
        """How many spans say that the call waits for an approval."""

    def end_of(self, request: "Request") -> int | None:
        """Where the next request with this call id begins, which is another call."""
        following = self.asks.after(request.moment)
        return None if following is None else following.messages.started


class Groups:
    """Call groups by scope. A tool span that has its call id for itself, as most have, stands for its group."""

    def __init__(self) -> None:
        self._groups: dict[Scope, CallGroup | Execution] = {}

    def find(self, scope: Scope) -> CallGroup | None:
        group = self._groups.get(scope)
        return group if isinstance(group, CallGroup) else None

    def of(self, scope: Scope) -> CallGroup:
        found = self._groups.get(scope)
        if isinstance(found, CallGroup):
            return found
        group = self._groups[scope] = CallGroup()
        if found is not None:
            group.runs.add(found.moment, found)
        return group

    def is_alone(self, scope: Scope, execution: Execution) -> bool:
        """Nothing else carries this call id in the conversation."""
        return self._groups.get(scope) is execution

    def add_run(self, scope: Scope, execution: Execution) -> CallGroup | None:
        """Add a tool span. Returns its group, if it does not have its call id for itself."""
        if self._groups.setdefault(scope, execution) is execution:
            return None
        group = self.of(scope)
        group.runs.add(execution.moment, execution)
        return group

    def remove_run(self, scope: Scope, execution: Execution) -> CallGroup | None:
        if self._groups.get(scope) is execution:
            del self._groups[scope]
            return None
        group = self.of(scope)
        group.runs.remove(execution.moment)
        return group


class Everywhere:
    """Requests, tool spans and results of conversations that telemetry does not name, by call id, in order."""

    def __init__(self, mark: Callable[[Any], None]) -> None:
        self._mark = mark
        self._lines: dict[str, Timeline[Any] | Execution] = {}
        """A tool span that has its call id for itself stands for its timeline."""

    def put(self, call_id: str, entry: Any, sign: int) -> None:
        if sign > 0:
            self.add(call_id, entry)
        else:
            self.remove(call_id, entry)

    def add(self, call_id: str, entry: Any) -> None:
        found = self._lines.get(call_id)
        if found is None and isinstance(entry, Execution):
            self._lines[call_id] = entry
            return
        if isinstance(found, Timeline):
            line = found
        else:
            line = self._lines[call_id] = Timeline[Any]()
            if found is not None:
                line.add(found.moment, found)
        line.add(entry.moment, entry)
        self.touch(call_id, entry.moment)

    def remove(self, call_id: str, entry: Any) -> None:
        line = self._lines.get(call_id)
        if isinstance(line, Timeline):
            line.remove(entry.moment)
            self.touch(call_id, entry.moment)
            if not line:
                del self._lines[call_id]
        else:
            self._lines.pop(call_id, None)

    def touch(self, call_id: str | None, moment: Moment) -> None:
        """Mark the neighbours of what is, or was, at `moment`."""
        line = None if call_id is None else self._lines.get(call_id)
        if isinstance(line, Timeline):
            for neighbour in (line.before(moment), line.after(moment)):
                if neighbour is not None:
                    self._mark(neighbour)

    def is_alone(self, call_id: str, entry: Any) -> bool:
        """Nothing else carries this call id here."""
        return self._lines.get(call_id, entry) is entry

    def before(self, call_id: str, moment: Moment) -> Any:
        line = self._lines.get(call_id)
        return line.before(moment) if isinstance(line, Timeline) else None

    def after(self, call_id: str, moment: Moment) -> Any:
        line = self._lines.get(call_id)
        return line.after(moment) if isinstance(line, Timeline) else None
