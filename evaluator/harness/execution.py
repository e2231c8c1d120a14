"""One execution of a test: session setup, the messages of its turns, teardown."""

import asyncio
import dataclasses
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from evaluator.expectations.reason import Reason, shown, unverifiable
from evaluator.harness import clock
from evaluator.harness.client import Envelope, HeaderError, Message
from evaluator.harness.hooks import HookError
from evaluator.harness.listener import TurnSent
from evaluator.harness.means import Means
from evaluator.harness.outcome import ClosedBy, Decision, ExecutionOutcome, Notice, TestKey, TurnOutcome
from evaluator.harness.placeholders import PlaceholderError, Scope, fill_previous, uses_previous
from evaluator.harness.reply import Reply
from evaluator.harness.turn import LiveTurn
from evaluator.items import Call, Json
from evaluator.language.spec import Test, Turn
from evaluator.verdict import Status


@dataclass(slots=True)
class _Sent:
    """A turn of this execution: one that was sent, or the one that could not be."""

    turn: Turn
    event: TurnSent
    live: LiveTurn | None
    obstacle: Reason | None = None

    @property
    def status(self) -> Status:
        return self.live.judgement.status if self.live is not None else Status.ERROR

    @property
    def reasons(self) -> tuple[Reason, ...]:
        if self.live is not None:
            return self.live.reasons
        return (self.obstacle,) if self.obstacle is not None else ()


class Execution:
    """One run of one phrasing. `phrasing` is the message of a test with variations, None in any other.

    `on_revised` is called when late telemetry changes the status of an execution that is over.
    """

    def __init__(
        self,
        means: Means,
        key: TestKey,
        test: Test,
        name: str,
        *,
        run: int,
        phrasing: str | None,
        on_revised: Callable[[], None],
    ) -> None:
        self.test_id = os.urandom(16).hex()
        self.run_number = run
        self.phrasing = phrasing
        self._means = means
        self._key = key
        self._test = test
        self._on_revised = on_revised
        self._scope = Scope(self.test_id, name)
        self._sent: list[_Sent] = []
        self._known: Status | None = None
        """The status that was last reported; None while it runs."""
        self._first: Status | None = None
        self._started = clock.now()
        self._ended = 0
        self._decided_ms = 0.0
        self._revision: asyncio.Handle | None = None

    # Running

    async def run(self) -> None:
        """Returns when its verdict is known."""
        began = clock.ticks()
        try:
            session = await self._means.hooks.setup(self._scope)
        except (HookError, PlaceholderError) as error:
            self._not_sent(0, self._trigger(0), unverifiable("session_setup", self._shown(error)))
        else:
            self._scope = dataclasses.replace(self._scope, session=session)
            began = clock.ticks()
            try:
                await self._converse(session.get("headers") or {})
            finally:
                self._decided_ms = (clock.ticks() - began) * 1000
                await self._tear_down()
        self._ended = clock.now()
        self._known = self._first = self.status
        self._means.listener.execution_finished(self._key, self.outcome())

    async def _converse(self, headers: Mapping[str, Json]) -> None:
        for index in range(len(self._test.turns)):
            await self._take_turn(index, headers)
            if self._sent[-1].status is not Status.PASSED:
                return

    async def _take_turn(self, index: int, headers: Mapping[str, Json]) -> None:
        turn, message = self._test.turns[index], self._trigger(index)
        envelope = Envelope(os.urandom(16), os.urandom(8), self.test_id)
        try:
            message = fill_previous(message, self._calls(), self.test_id)
        except PlaceholderError as error:
            return self._not_sent(index, message, unverifiable("template_missing", self._shown(error), turn.place))
        scope = dataclasses.replace(self._scope, message=message)
        try:
            request = self._means.client.request(scope, envelope, headers)
            correlation = self._means.correlation.expected(scope)
        except PlaceholderError as error:
            return self._not_sent(index, message, unverifiable("placeholder_missing", self._shown(error)))
        except HeaderError as error:
            return self._not_sent(index, message, unverifiable("bad_header", self._shown(error)))
        live = self._live(index, envelope, correlation)
        sent = _Sent(turn, self._event(index, message, live), live)
        self._sent.append(sent)
        self._means.around.attribution.expect(live)
        self._means.listener.turn_sent(sent.event)
        await self._until_decided(live, request)
        self._means.listener.turn_decided(sent.event, self._turn_outcome(sent))
        return None

    async def _until_decided(self, live: LiveTurn, message: Message) -> None:
        async with asyncio.TaskGroup() as tasks:
            asking = tasks.create_task(self._ask(live, message))
            await live.until_decided()
            asking.cancel()
        if live.reply is None:
            live.give_up()

    async def _ask(self, live: LiveTurn, message: Message) -> None:
        needed = live.expect is not None and live.expect.response is not None
        reply = await self._means.client.send(message, needed=needed)
        if reply.problem is not None:
            state = await self._means.agent_state(reply.problem.code == "reply_unreachable")
            text = " ".join(filter(None, (self._shown(reply.problem.text), state)))
            reply = Reply(problem=dataclasses.replace(reply.problem, text=text))
        for file in self._means.trace_files:
            # What the agent wrote before it answered is in the file now.
            await file.drain()
        live.answered(reply)

    async def _tear_down(self) -> None:
        try:
            await self._means.hooks.teardown(self._scope)
        except (HookError, PlaceholderError) as error:
            self._means.notify(Notice("teardown_failed", f"{self._scope.test_name}: {error}"))

    def _live(self, index: int, envelope: Envelope, correlation: tuple[str, ...]) -> LiveTurn:
        turn = self._test.turns[index]
        later = [later.trigger for later in self._test.turns[index + 1 :] if uses_previous(later.trigger)]
        about_calls = turn.expect is not None and turn.expect.about_calls
        following = self._test.turns[index + 1].trigger if index + 1 < len(self._test.turns) else ""
        return LiveTurn(
            self._means.around,
            turn.expect,
            trace_id=envelope.trace_id,
            span_id=envelope.span_id,
            test_id=self.test_id,
            correlation=correlation,
            needs_calls=about_calls or bool(later) or bool(self._test.behaviors) or self._means.watched,
            enough=lambda calls: self._can_fill(following, calls),
            on_late=self._late,
        )

    def _can_fill(self, trigger: str, calls: Sequence[Call]) -> bool:
        """Whether the next message can be written with these calls of the current turn."""
        try:
            fill_previous(trigger, [*self._calls(but_last=True), *calls], self.test_id)
        except PlaceholderError:
            return False
        return True

    def _not_sent(self, index: int, message: str, reason: Reason) -> None:
        self._sent.append(_Sent(self._test.turns[index], self._event(index, message, None), None, reason))

    # Revising

    def fail(self, trace_ids: Collection[bytes], reason: Reason) -> None:
        """Fail the turns that were sent with one of these traces."""
        for turn in self.turns():
            if turn.trace_id in trace_ids:
                turn.fail(reason)

    def turns(self) -> list[LiveTurn]:
        """The turns that were sent so far."""
        return [sent.live for sent in self._sent if sent.live is not None]

    def confirm(self) -> None:
        """Nothing comes any more."""
        for turn in self.turns():
            if turn.decision is not None:
                turn.confirm()
        self._report_revision()

    def _late(self, turn: LiveTurn) -> None:
        """A batch may bring many spans of a turn: it is judged again once, after the last of them."""
        if self._revision is None:
            self._revision = asyncio.get_running_loop().call_soon(self._revise)

    def _revise(self) -> None:
        self._revision = None
        for turn in self.turns():
            if turn.decision is not None:
                turn.judge()
        self._report_revision()

    def _report_revision(self) -> None:
        if self._known is not None and self.status is not self._known:
            self._known = self.status
            self._on_revised()

    # What it came to

    @property
    def over(self) -> bool:
        return self._known is not None

    @property
    def status(self) -> Status:
        """That of the first turn that does not pass; an error if turns after it were not sent although it passes."""
        for sent in self._sent:
            if sent.status is not Status.PASSED:
                return sent.status
        return Status.PASSED if len(self._sent) == len(self._test.turns) else Status.ERROR

    @property
    def reasons(self) -> tuple[Reason, ...]:
        for sent in self._sent:
            if sent.status is not Status.PASSED:
                return tuple(self._of_turn(sent.event.index, reason) for reason in sent.reasons)
        if len(self._sent) == len(self._test.turns) or not self.over:
            return ()
        text = "passes now, with calls that came late; the turns after it were not sent."
        return (self._of_turn(len(self._sent) - 1, Reason("late_call", text)),)

    def outcome(self) -> ExecutionOutcome:
        turns = tuple(self._turn_outcome(sent) for sent in self._sent)
        return ExecutionOutcome(
            self.test_id,
            self.phrasing and self._means.masking.text(self.phrasing),
            self.run_number,
            self.status,
            self.reasons,
            turns,
            self._started,
            self._ended or clock.now(),
            self._decided_ms,
            ended_early=any(not turn.decision.reply_awaited for turn in turns),
            revised=self._first is not None and self.status is not self._first,
        )

    def _turn_outcome(self, sent: _Sent) -> TurnOutcome:
        masking, event, live = self._means.masking, sent.event, sent.live
        cause = ClosedBy.NOT_SENT if live is None else ClosedBy.INTERRUPTED
        undecided = Decision(cause, 0.0, None, "", reply_awaited=True)
        text = live.reply.text if live is not None and live.reply is not None else None
        return TurnOutcome(
            event.index,
            sent.turn.name and masking.text(sent.turn.name),
            event.trigger,
            event.trace_id,
            event.span_id,
            sent.status,
            tuple(masking.reason(reason) for reason in sent.reasons),
            tuple(masking.call(call) for call in live.calls) if live is not None else (),
            None if text is None else masking.text(text),
            live.reply_ms if live is not None else None,
            event.sent,
            (live.ended or clock.now()) if live is not None else event.sent,
            (live.decision if live is not None else None) or undecided,
        )

    def _of_turn(self, index: int, reason: Reason) -> Reason:
        """The masked reason; in a conversation it says which turn it is about."""
        reason = self._means.masking.reason(reason)
        if not self._test.conversation:
            return reason
        turn = self._sent[index]
        label = self._shown(turn.turn.name or turn.event.trigger)
        prefix = f"turn {index + 1}/{len(self._test.turns)} ({label})"
        return dataclasses.replace(reason, text=f"{prefix}: {reason.text}")

    def _calls(self, *, but_last: bool = False) -> list[Call]:
        """The calls of the turns so far, turn by turn and by their end."""
        turns = self._sent[:-1] if but_last else self._sent
        return [call for sent in turns if sent.live is not None for call in sent.live.calls]

    def _trigger(self, index: int) -> str:
        return self._test.turns[index].trigger if self.phrasing is None else self.phrasing

    def _event(self, index: int, message: str, live: LiveTurn | None) -> TurnSent:
        masking = self._means.masking
        return TurnSent(
            self._key,
            self.test_id,
            self.run_number,
            self.phrasing and masking.text(self.phrasing),
            index,
            masking.text(message),
            live.trace_id.hex() if live is not None else "",
            live.span_id.hex() if live is not None else "",
            live.sent if live is not None else clock.now(),
        )

    def _shown(self, what: object) -> str:
        return shown(str(what), self._means.masking.text)
