"""What a turn comes to: its monitor's verdict, and everything that may keep it from being verified."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from evaluator.expectations import TurnMonitor
from evaluator.expectations.matchers import RegexSearch
from evaluator.expectations.reason import Reason, listed, unverifiable
from evaluator.harness.inventory import Inventory
from evaluator.items import UNREADABLE_NAME, Call, CallStatus, Change, Item, ItemKind, NotRecorded
from evaluator.language.spec import Expect
from evaluator.verdict import Status

_TELL: Final = "Let the agent carry on the traceparent header where it makes these calls, or set agent.correlate."
_NAMELESS: Final = "A tool was called, and its span does not say which: it may be any tool."
_TOOL_SPANS: Final = "Instrument what runs the tools, so that calls have spans of their own (docs/frameworks.md)."
_NO_MESSAGE: Final = NotRecorded("its messages were not recorded")
_NAME_IT: Final = (
    "Set gen_ai.tool.name, a text, on the span; if it was dropped, raise OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT."
)


@dataclass(frozen=True, slots=True)
class Judgement:
    status: Status
    reasons: tuple[Reason, ...] = ()

    def advised(self, fix: str) -> "Judgement":
        """The same with `fix` for what is wrong with the reply."""
        about = (reason.code.startswith("response.") and not reason.fix for reason in self.reasons)
        told = (replace(reason, fix=fix) if yes else reason for reason, yes in zip(self.reasons, about, strict=True))
        return Judgement(self.status, tuple(told))


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known of a turn when it is judged."""

    reply: str | None
    """The reply's text; None if there is no reply, "" for one without text."""
    whole: bool
    """The turn was watched to its end: what has not come does not come any more."""
    problem: Reason | None = None
    """Why there is no reply, if it was awaited."""
    blind: Reason | None = None
    """Why its calls cannot be seen, if the turn is about calls and they cannot."""
    unreadable: str = ""
    """What could not be read of its telemetry."""
    failures: Sequence[Reason] = ()
    """Behaviors that failed for good."""
    items: Collection[Item] = ()
    """The turn's own calls."""
    asked: Collection[Call] = ()
    """Calls that a model asked for, and nothing shows whether they ran, or, without a name, which they are."""
    suspects: Collection[Item] = ()
    """Calls that may be this turn's or another's."""
    suspects_code: str = "untagged_ambiguous"

    @property
    def has_nameless(self) -> bool:
        """A call was made, and telemetry does not name the tool: it may be any."""
        return any(item.name == UNREADABLE_NAME for item in (*self.items, *self.suspects))

    def obstacles(self) -> tuple[Reason, ...]:
        """What keeps the turn from being watched to its end."""
        if self.problem is not None:
            return (self.problem,)
        unread = f"Telemetry of this test could not be read: {self.unreadable}"
        found = (unverifiable("trace_unreadable", unread) if self.unreadable else None, self.blind)
        return tuple(reason for reason in found if reason is not None)


class Judge:
    """Judges the turns of one spec. What fails for sure is failed, whatever else could not be checked."""

    def __init__(self, inventory: Inventory, search: RegexSearch) -> None:
        self._inventory = inventory
        self._search = search
        self.over = False
        """Nothing comes any more: what no telemetry has shown by now, none will."""

    def judge(self, expect: Expect | None, monitor: TurnMonitor | None, evidence: Evidence) -> Judgement:
        """The judgement of a turn that ends now. A turn whose evidence is whole closes its monitor."""
        obstacles = evidence.obstacles()
        if expect is None or monitor is None:
            return _combined((), evidence.failures, obstacles)
        if expect.about_calls and evidence.has_nameless:
            obstacles = (*obstacles, unverifiable("trace_unreadable", _NAMELESS, expect.place, fix=_NAME_IT))
        gaps = list(self._inventory.gaps(expect))
        unseen = [reason for _, reason in gaps]
        if obstacles or not evidence.whole:
            # Not closed: that a call is missing cannot be said of a turn that was not watched to its end.
            failed, unsure = _final(monitor)
            return _combined(failed, evidence.failures, (*unsure, *obstacles, *(unseen if failed else ())))
        monitor.close()
        found = monitor.verdict
        entries = {entry.place.path for entry, _ in gaps if entry is not None}
        kept = [reason for reason in found.reasons if not _is_missing(reason, entries)]
        if found.status is Status.ERROR:
            return _combined((), evidence.failures, (*kept, *unseen))
        if self.over and found.status is Status.PASSED and expect.about_calls and not self._inventory.speaks:
            unseen.append(self._inventory.blindness(expect))
        judged = _combined(kept, evidence.failures, unseen)
        return self._with_suspects(self._with_asked(judged, expect, evidence), expect, evidence)

    def _with_asked(self, judged: Judgement, expect: Expect, evidence: Evidence) -> Judgement:
        """An error where calls that the model asked for, and that may have run, would change the result."""
        if not evidence.asked or not expect.about_calls or judged.status is Status.ERROR or evidence.failures:
            return judged
        for call in evidence.asked:
            if call.name == UNREADABLE_NAME and not any(reason.certain for reason in judged.reasons):
                why = call.args if isinstance(call.args, NotRecorded) else _NO_MESSAGE
                text = f"The model asked for tools, and no span shows which or whether they ran: {why.cause}."
                return Judgement(Status.ERROR, (unverifiable("trace_unreadable", text, expect.place, fix=why.fix),))
        items = [_as_made(call, position) for position, call in enumerate(evidence.asked)]
        passes = judged.status is Status.PASSED
        if not any(self._passes(expect, evidence, more) is not passes for more in _choices(items)):
            return judged
        names = listed([repr(item.name) for item in items], "and")
        text = (
            f"The model asked for {names}, and nothing shows whether it ran. If it did, this would "
            f"{'fail' if passes else 'pass'}."
        )
        reason = unverifiable("trace_unreadable", text, expect.place, calls=tuple(evidence.asked), fix=_TOOL_SPANS)
        return Judgement(Status.ERROR, (reason,))

    def _with_suspects(self, judged: Judgement, expect: Expect, evidence: Evidence) -> Judgement:
        """An error where calls that may or may not be this turn's would change its result."""
        suspects = evidence.suspects
        if not suspects or judged.status is Status.ERROR or evidence.failures:
            return judged
        passes = judged.status is Status.PASSED
        if not any(self._passes(expect, evidence, more) is not passes for more in _choices(suspects)):
            return judged
        names = listed([repr(item.name) for item in suspects], "and")
        reason = unverifiable(
            evidence.suspects_code,
            f"Calls to {names} say of no test that they are its own. If they are this one's, it would "
            f"{'fail' if passes else 'pass'}.",
            expect.place,
            calls=tuple(item.call for item in suspects if item.call is not None),
            fix=_TELL,
        )
        return Judgement(Status.ERROR, (reason,))

    def _passes(self, expect: Expect, evidence: Evidence, more: Collection[Item]) -> bool:
        monitor = TurnMonitor(expect, search=self._search)
        for item in (*evidence.items, *more):
            monitor.apply(Change(None, item))
        monitor.reply(evidence.reply or "")
        monitor.close()
        return monitor.status is Status.PASSED


def _as_made(call: Call, position: int) -> Item:
    """The item that the call would be if it had run."""
    made = call._replace(status=CallStatus.OK)
    return Item(
        (b"", b"", position, "asked"), ItemKind.TOOL, call.name, None, None, None, call.started, None, call=made
    )


def _choices(suspects: Collection[Item]) -> Iterator[Collection[Item]]:
    """All of them, and each alone: one may be missing where another must not be."""
    yield suspects
    if len(suspects) > 1:
        yield from ((item,) for item in suspects)


def _final(monitor: TurnMonitor) -> tuple[tuple[Reason, ...], tuple[Reason, ...]]:
    """What is sure already of a turn that was not watched to its end: the failures, or what could not be checked."""
    if not monitor.final:
        return (), ()
    found = monitor.verdict
    certain = tuple(reason for reason in found.reasons if reason.certain)
    return (certain, ()) if found.status is Status.FAILED else ((), certain)


def _is_missing(reason: Reason, entries: Collection[str]) -> bool:
    return reason.code == "missing_call" and reason.place is not None and reason.place.path in entries


def _combined(failed: Sequence[Reason], failures: Sequence[Reason], unsure: Sequence[Reason]) -> Judgement:
    if failed or failures:
        return Judgement(Status.FAILED, (*failed, *failures, *unsure))
    return Judgement(Status.ERROR, tuple(unsure)) if unsure else Judgement(Status.PASSED)
