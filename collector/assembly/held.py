"""Held calls without a call id: a tool span that shows no result, and the one in a later trace that does.

Approval means two traces in every framework (corpus/CONVENTIONS.md, section 3, point 9). Where no id ties them, the
name, the arguments and the conversation do (5.1, step 8).
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from collector.assembly.timeline import Timeline
from collector.conventions.payload import as_text
from evaluator.items import NotRecorded

if TYPE_CHECKING:
    from collector.assembly.executions import Execution

HeldKey = tuple[str, str]
"""The session, or "" where telemetry names none, and the tool's name."""


class HeldGroup:
    """Calls of one tool in one conversation. They are put in order only once one of them looks held."""

    __slots__ = ("by_arguments", "members", "open")

    def __init__(self) -> None:
        self.members: dict[Execution, bool] = {}
        """The calls, and whether each looked held when it was added."""
        self.open = 0
        self.by_arguments: dict[str, Timeline[Execution]] | None = None


class HeldCalls:
    def __init__(self, mark: Callable[[Any], None]) -> None:
        self._mark = mark
        self._groups: dict[HeldKey, HeldGroup] = {}
        self.sessions: dict[str, int] = {}
        """How many calls look held, by session (or ""), where any does."""

    def add(self, key: HeldKey, execution: "Execution", is_open: bool) -> None:
        group = self._groups.get(key)
        if group is None:
            group = self._groups[key] = HeldGroup()
        group.members[execution] = is_open
        group.open += is_open
        if is_open:
            self.sessions[key[0]] = self.sessions.get(key[0], 0) + 1
        if group.by_arguments is not None:
            self._put(group.by_arguments, execution)
        elif group.open:
            group.by_arguments = {}
            for member in group.members:
                self._put(group.by_arguments, member)

    def remove(self, key: HeldKey, execution: "Execution") -> None:
        group = self._groups[key]
        was_open = group.members.pop(execution)
        group.open -= was_open
        if was_open:
            self.sessions[key[0]] -= 1
            if not self.sessions[key[0]]:
                del self.sessions[key[0]]
        if not group.members:
            del self._groups[key]
        if group.by_arguments is not None:
            timeline = group.by_arguments[_arguments(execution)]
            timeline.remove(execution.moment)
            self._mark_before(timeline, execution)

    def resumption(self, key: HeldKey, execution: "Execution") -> "Execution | None":
        """The call, in another trace, that took up this one."""
        group = self._groups.get(key)
        if group is None or group.by_arguments is None:
            return None
        following = group.by_arguments[_arguments(execution)].after(execution.moment)
        if following is None or following.is_open or following.node.trace_id == execution.node.trace_id:
            return None
        return following

    def _put(self, by_arguments: "dict[str, Timeline[Execution]]", execution: "Execution") -> None:
        timeline = by_arguments.setdefault(_arguments(execution), Timeline())
        timeline.add(execution.moment, execution)
        self._mark_before(timeline, execution)

    def _mark_before(self, timeline: "Timeline[Execution]", execution: "Execution") -> None:
        earlier = timeline.before(execution.moment)
        if earlier is not None:
            self._mark(earlier)


def _arguments(execution: "Execution") -> str:
    args = execution.facts.args
    return "" if isinstance(args, NotRecorded) else as_text(args, sort_keys=True)
