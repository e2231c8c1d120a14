"""One message and what comes of it: telemetry, a reply, and a verdict (SEMANTICS.md, section 5)."""

import asyncio
import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from evaluator.expectations import TurnMonitor
from evaluator.expectations.matchers import RegexSearch
from evaluator.expectations.reason import Mask, Reason, unverifiable
from evaluator.harness import clock
from evaluator.harness.attribution import Attribution
from evaluator.harness.judgement import Evidence, Judge, Judgement
from evaluator.harness.observation import Mark, Observation
from evaluator.harness.outcome import ClosedBy, Decision
from evaluator.harness.reply import STREAMED, Reply
from evaluator.harness.sighting import Sighting
from evaluator.items import UNREADABLE_NAME, Call, Change, Item
from evaluator.language.spec import Expect
from evaluator.verdict import Status

ENTRIES: Final = frozenset({"server", "agent", "workflow"})
"""Roles of a span that ends after what the agent did for the message."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the turns of one spec share."""

    attribution: Attribution
    observation: Observation
    judge: Judge
    search: RegexSearch
    mask: Mask


class LiveTurn:
    """A turn from before its message is sent until the end of the run. A `Claimant` of telemetry.

    `needs_calls`: its verdict, or the next turn's message, depends on calls; `enough`: whether the calls so far are
    all that the next message needs. `on_late` is called with the turn whenever telemetry, or a behavior, adds to it
    after it was closed.
    """

    def __init__(
        self,
        around: Surroundings,
        expect: Expect | None,
        *,
        trace_id: bytes,
        span_id: bytes,
        test_id: str,
        correlation: tuple[str, ...],
        needs_calls: bool,
        enough: Callable[[tuple[Call, ...]], bool],
        on_late: Callable[["LiveTurn"], None],
    ) -> None:
        self.trace_id = trace_id
        self.span_id = span_id
        self.test_id = test_id
        self.correlation = correlation
        self.needs_calls = needs_calls
        self.expect = expect
        self.sent = clock.now()
        self.reply: Reply | None = None
        self.replied: float | None = None
        self.first_seen: float | None = None
        self.decision: Decision | None = None
        self.ended = 0
        self.judgement = Judgement(Status.ERROR)
        self.closed_as: Status | None = None
        """The status when the verdict was first known."""
        self.woken = asyncio.Event()
        """Set by whatever may decide the turn."""
        self._around = around
        self._enough = enough
        self._on_late = on_late
        self._monitor = TurnMonitor(expect, search=around.search, mask=around.mask) if expect is not None else None
        self._mark = around.observation.mark()
        self._until: Mark | None = None
        self._began = clock.ticks()
        self._items: dict[tuple[object, ...], Item] = {}
        self._suspects: dict[tuple[object, ...], Item] = {}
        self._late_suspects = False
        self._shows_tools = False
        """A tool span is there: a call that ran would have one too."""
        self._framed = False
        """A framework's span is there: a call that ran would have a span, or a result that a model was shown."""
        self._asked: list[Call] = []
        """What models asked for."""
        self._answered: set[str] = set()
        """The ids of calls of which telemetry shows what became."""
        self._failures: list[Reason] = []
        self._unreadable = ""
        self._spans: set[bytes] = set()
        self._missing: set[bytes] = set()
        """Parents that spans of this turn name and that have not arrived."""
        self._entry = False
        self._whole = False
        self._last: tuple[float, str] | None = None
        """When the latest telemetry of this turn came (ticks), and the span's name."""
        self._closed_at: float | None = None
        """In ticks."""

    @property
    def accepting_until(self) -> float | None:
        if self.decision is None:
            return None
        return (self.replied or self._began) + self._around.observation.settle

    @property
    def incomplete(self) -> bool:
        """Whether spans of it name parents that have not come, although it was watched to the end of its reply."""
        return bool(self._missing) and self.reply is not None and self.reply.problem is None

    def works_on(self, end: float) -> bool:
        """Whether its telemetry still came shortly before `end` (ticks), where nothing more is waited for.

        What came once the turn was closed shows work beside the reply. A turn that only `settle_time` closed may have
        had its spans from a slow exporter.
        """
        observation = self._around.observation
        if self._last is None or self._closed_at is None or self._last[0] < end - observation.settle / 2:
            return False
        if self._last[0] > self._closed_at:
            return True
        waited_out = self.decision is not None and self.decision.by is ClosedBy.SETTLE_TIME
        replied = self.replied or self._began
        return waited_out and observation.late_by is None and self._last[0] > replied + observation.settle / 2

    @property
    def reply_ms(self) -> float | None:
        answered = self.replied is not None and self.reply is not None and self.reply.problem is None
        return (self.replied - self._began) * 1000 if answered and self.replied is not None else None

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """Why it does not pass. A pass that telemetry broke after it was known says so."""
        judged = self.judgement
        if self.closed_as is not Status.PASSED or judged.status is not Status.FAILED:
            return judged.reasons
        return tuple(
            dataclasses.replace(reason, code="late_call", text=f"Passed at first and now fails: {reason.text}")
            for reason in judged.reasons
        )

    @property
    def calls(self) -> tuple[Call, ...]:
        """The calls of this turn that happened, by their end."""
        calls = [item.call for item in self._items.values() if item.call is not None]
        return tuple(sorted(calls, key=lambda call: (call.ended, call.started, call.name)))

    # What arrives

    def saw(self, sighting: Sighting, *, in_own_trace: bool) -> None:
        if sighting.role == "hello":
            return
        self._shows_tools = self._shows_tools or sighting.role == "tool"
        self._framed = self._framed or sighting.framed
        self._asked.extend(sighting.asks)
        self._answered.update(sighting.answers)
        self._last = (clock.ticks(), sighting.name)
        if sighting.span_id:
            self._spans.add(sighting.span_id)
            self._missing.discard(sighting.span_id)
            parent = sighting.parent_id
            if parent and parent != self.span_id and parent not in self._spans:
                self._missing.add(parent)
        if sighting.role == "turn" or (sighting.role in ENTRIES and self._enters(sighting, in_own_trace)):
            self._entry = True
            self._around.observation.entered()
        if self.first_seen is None:
            self.first_seen = clock.ticks()
            self._around.observation.saw(self)
        self._wake()

    def apply(self, change: Change) -> None:
        old, new = change
        if old is not None:
            self._items.pop(old.id, None)
        if new is not None:
            self._items[new.id] = new
            # Named after the span that brought it, if one did: a record of a file has no name.
            self._last = (clock.ticks(), (self._last[1] if self._last is not None else "") or new.name)
            if self.first_seen is None:
                self.first_seen = clock.ticks()
                self._around.observation.saw(self)
        if self._monitor is not None:
            self._monitor.apply(change)
        self._wake()

    def suspect(self, change: Change) -> None:
        old, new = change
        if old is not None:
            self._suspects.pop(old.id, None)
        if new is not None:
            self._suspects[new.id] = new
            self._late_suspects = self._late_suspects or self.decision is not None
        self._wake()

    def fail(self, reason: Reason) -> None:
        """A behavior failed for good."""
        self._failures.append(reason)
        self._wake()

    def unreadable(self, what: str) -> None:
        """Telemetry came that may be this turn's and cannot be read."""
        self._unreadable = self._unreadable or what
        self._wake()

    def answered(self, reply: Reply) -> None:
        self.reply = reply
        self.replied = clock.ticks()
        if self._monitor is not None and reply.problem is None:
            self._monitor.reply(reply.text or "")
        self.woken.set()

    def _enters(self, sighting: Sighting, in_own_trace: bool) -> bool:
        return sighting.parent_id == self.span_id if in_own_trace else not (sighting.parent_id or sighting.links)

    def _wake(self) -> None:
        self.woken.set()
        if self.decision is not None:
            self._on_late(self)

    # When it ends

    async def until_decided(self) -> None:
        """Returns when the verdict is known, and makes it."""
        while (cause := self._cause()) is None:
            self.woken.clear()
            try:
                async with asyncio.timeout(self._patience()):
                    await self.woken.wait()
            except TimeoutError:
                continue
        self._close(cause)

    def _patience(self) -> float | None:
        deadline = self._around.observation.deadline(self)
        if deadline is not None and self._more_to_tell():
            deadline = min(deadline, self._told_by())
        return None if deadline is None else max(0.0, deadline - clock.ticks())

    def _cause(self) -> ClosedBy | None:
        monitor = self._monitor
        failed = self._failures or (monitor is not None and monitor.final and monitor.status is not Status.PASSED)
        if failed and not self._more_to_tell():
            return ClosedBy.FAILURE
        if self.reply is None:
            return None
        if self.reply.problem is not None or not self.needs_calls:
            return ClosedBy.REPLY
        # A parent that was named and has not come is a span to come, and its other children come before it.
        if self._entry and not self._missing:
            return ClosedBy.EVIDENCE
        if not self._entry and self.first_seen is not None and self._settled():
            return ClosedBy.SETTLED
        deadline = self._around.observation.deadline(self)
        return ClosedBy.SETTLE_TIME if deadline is not None and clock.ticks() >= deadline else None

    def _more_to_tell(self) -> bool:
        """Whether only the reply is wrong so far, and the spans on their way may show wrong calls as well.

        All that is wrong is told at once, then, and the same in every run; it takes no longer than a pass. An agent
        that sends no entry spans is not waited for: nothing would say that its spans are complete.
        """
        about_calls = self.expect is not None and self.expect.about_calls
        if self._failures or self._monitor is None or not about_calls or self._monitor.lost_by_calls:
            return False
        if self.reply is None or self._monitor.status is Status.PASSED or not self._around.observation.may_enter:
            return False
        return clock.ticks() < self._told_by()

    def _told_by(self) -> float:
        """Until when (ticks) a turn whose reply is wrong waits for what else is."""
        return (self.replied or self._began) + self._around.observation.settle

    def _settled(self) -> bool:
        if not self._around.observation.may_settle(incomplete=bool(self._missing)):
            return False
        return (self._monitor is None or self._monitor.settled) and self._enough(self.calls)

    def _close(self, cause: ClosedBy) -> None:
        now = clock.ticks()
        decided_by_span = cause in (ClosedBy.FAILURE, ClosedBy.EVIDENCE, ClosedBy.SETTLED) and self._last is not None
        arrived, span = self._last if decided_by_span and self._last is not None else (None, "")
        if arrived is not None and self.replied is not None and self.replied > arrived:
            arrived, span = None, ""
        self._closed_at = now
        self._until = self._around.observation.mark()
        self._whole = cause is not ClosedBy.FAILURE
        if cause is ClosedBy.SETTLE_TIME and not self._entry and self.first_seen is not None:
            self._around.observation.settled_without_entry()
        self.judge()
        self.decision = Decision(
            by=cause,
            at_ms=(now - self._began) * 1000,
            lag_ms=None if arrived is None else (clock.ticks() - arrived) * 1000,
            span=span,
            reply_awaited=self.reply is not None,
        )
        self.closed_as = self.judgement.status
        self.ended = clock.now()

    def give_up(self) -> None:
        """The request was cancelled: no reply comes any more."""
        self.replied = clock.ticks()

    def confirm(self) -> None:
        """Nothing comes any more: a turn whose failure was final has shown the rest of what is wrong with it."""
        self._whole = self._whole or self.reply is not None
        self.judge()

    def judge(self) -> None:
        """Make the judgement from what is known now."""
        reply = self.reply
        whole = self._whole or (reply is not None and self._entry and not self._missing)
        blind = whole and self.expect is not None and self.expect.about_calls and self.first_seen is None
        evidence = Evidence(
            reply=(reply.text or "") if reply is not None and reply.problem is None else None,
            whole=whole,
            problem=reply.problem if reply is not None else None,
            blind=self._blind() if blind else None,
            unreadable=(self._unreadable if blind else self._lost()) if self.needs_calls else "",
            failures=self._failures,
            items=self._items.values(),
            asked=self._unheard(),
            suspects=tuple(self._suspects.values()),
            suspects_code="late_untagged" if self._late_suspects else "untagged_ambiguous",
        )
        judged = self._around.judge.judge(self.expect, self._monitor, evidence)
        self.judgement = judged.advised(STREAMED) if reply is not None and reply.streamed else judged

    def _unheard(self) -> tuple[Call, ...]:
        """The calls that a model asked for and of which nothing shows whether they ran."""
        if self._shows_tools or not self._asked:
            return ()
        made = [item.call for item in self._items.values() if item.call is not None]
        known, names = self._answered | {call.call_id for call in made}, {call.name for call in made}

        def may_have_run(call: Call) -> bool:
            if call.name == UNREADABLE_NAME:
                return not made
            return not self._framed and (
                call.name not in names if call.call_id is None else call.call_id not in known
            )

        return tuple(filter(may_have_run, self._asked))

    def unseen(self) -> Reason | None:
        """Why what this turn made the agent do is not known, or not as a whole; None where it is."""
        if self.first_seen is None:
            return self._blind()
        if lost := self._lost():
            return unverifiable("trace_unreadable", f"Telemetry of it could not be read: {lost}")
        return None

    def _lost(self) -> str:
        return self._unreadable or self._around.observation.lost_since(self._mark)

    def _blind(self) -> Reason:
        if self._unreadable:
            return unverifiable("not_observed", "Nothing that came and could be read is of this message.")
        return self._around.observation.not_observed(self._mark, self._until, self._around.attribution.collides(self))
