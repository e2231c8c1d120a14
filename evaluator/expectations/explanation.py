"""Says why a turn failed or cannot be judged: one sentence a reason, most basic first (HIGHBAR.md, section 5)."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from evaluator.expectations.calls import Calls, Tracked
from evaluator.expectations.comparison import Comparison, Unknown
from evaluator.expectations.matchers import RegexTimeout
from evaluator.expectations.matching import Matching
from evaluator.expectations.reason import Mask, NearestMiss, Reason, listed, masked, shown
from evaluator.expectations.values import Fit, show
from evaluator.items import Call, CallStatus, NotRecorded
from evaluator.language.spec import CallExpectation, Expect

_SLOW_FIX: Final = "write the pattern without one repetition inside another, such as (a+)+"
_HELD: Final = {
    CallStatus.SUSPENDED: "is held and has not run",
    CallStatus.DENIED: "was denied and did not run",
    CallStatus.REQUESTED: "was asked for by the model, and nothing shows that it ran",
}


@dataclass(frozen=True, slots=True)
class Explanation:
    """The reasons of a turn as it is now."""

    expect: Expect
    calls: Calls
    answer: Comparison
    reply: str | None
    slow: Iterable[str]
    """The patterns that took too long on a value."""
    mask: Mask
    closed: bool

    def failures(self) -> tuple[Reason, ...]:
        """Why it failed. What a later call could cure is there too, and not certain, while the turn is open."""
        return (*self._forbidden(), *self._function_calls(), *self._response())

    def gaps(self) -> tuple[Reason, ...]:
        """Why it cannot be judged."""
        found = [*self._slow(), *self._entry_gaps(), *self._gap_reasons(self.answer.unknowns, "the reply", None)]
        if not found:
            found = [
                Reason("reply_missing", "the turn ended before its reply arrived", self.expect.place, error=True)
            ]
        return tuple({(reason.code, reason.text): reason for reason in found}.values())

    def _slow(self) -> Iterator[Reason]:
        for pattern in sorted(self.slow):
            yield Reason(
                "regex_timeout", self.mask(str(RegexTimeout(pattern))), self.expect.place, error=True, fix=_SLOW_FIX
            )

    def _forbidden(self) -> Iterator[Reason]:
        for name in dict.fromkeys(self.expect.forbid):
            called = tuple(self.calls.named(name))
            if called:
                text = f"{self._name(name)} was called{_times(called)}, and is forbidden"
                yield Reason("forbidden_call", text, self.expect.place, calls=called)

    def _function_calls(self) -> Iterator[Reason]:
        if self.expect.calls is None:
            return
        called = [tracked.call for tracked in self.calls.in_time_order()]
        if not self.expect.calls:
            if called:
                names = listed([self._name(call.name) for call in called], "and")
                text = f"no call is allowed, and {names} {_was(called)} called"
                yield Reason("calls_not_allowed", text, self.expect.place, calls=tuple(called))
            return
        matching = self.calls.canonical(Fit.UNKNOWN)
        if self.calls.lost and not self.closed:
            yield from self._lost(matching)
        elif not matching.complete:
            held = matching.held()
            for number, entry in enumerate(self.expect.calls):
                if held[number] is None:
                    yield from self._entry(number, entry, matching)
        else:
            yield from self._order_and_rest(matching)

    def _lost(self, matching: Matching[tuple[object, ...]]) -> Iterator[Reason]:
        """What no later call can cure, of a turn that is not over."""
        beyond = self._beyond(set(matching.held()))
        if beyond:
            yield self._unexpected(beyond)
        else:
            yield self._disorder(matching, certain=True)

    def _order_and_rest(self, matching: Matching[tuple[object, ...]]) -> Iterator[Reason]:
        way = self.calls.way(Fit.UNKNOWN) if self.expect.ordered else None
        if self.expect.ordered and way is None:
            yield self._disorder(matching, certain=self.closed)
        beyond = self._beyond(set(way or matching.held()))
        if self.expect.exclusive and beyond:
            yield self._unexpected(beyond)

    def _beyond(self, used: set[tuple[object, ...] | None]) -> list[Call]:
        return [tracked.call for tracked in self.calls.in_time_order() if tracked.id not in used]

    def _unexpected(self, beyond: list[Call]) -> Reason:
        names = listed([self._name(call.name) for call in beyond], "and")
        text = f"{names} {_was(beyond)} called beyond the listed calls, and the list is exclusive"
        return Reason("unexpected_call", text, self.expect.place, calls=tuple(beyond))

    def _disorder(self, matching: Matching[tuple[object, ...]], *, certain: bool) -> Reason:
        happened = self.calls.happened
        held = [happened[call_id].call for call_id in matching.held() if call_id is not None]
        pair = next((pair for pair in pairwise(held) if pair[1].started < pair[0].ended), None)
        if pair is None:
            # Only the calls that are there now are in line; the way is blocked by what lies between them.
            text = f"{listed([self._name(call.name) for call in held], 'and')} cannot be in the listed order any more"
            return Reason("out_of_order", text, self.expect.place, calls=tuple(held), certain=certain)
        first, second = pair
        how = "came before it" if second.ended <= first.started else "overlaps it"
        text = (
            f"{self._name(second.name)} must start after {self._name(first.name)} has ended, but {how}: it started "
            f"{_span(first.ended - second.started)} earlier"
        )
        return Reason("out_of_order", text, self.expect.place, calls=pair, certain=certain)

    def _entry(self, number: int, entry: CallExpectation, matching: Matching[tuple[object, ...]]) -> Iterator[Reason]:
        """Why an entry has no call, from the most basic reason on."""
        named = [tracked for tracked in self.calls.in_time_order() if number in tracked.comparisons]
        names = listed([self._name(name) for name in entry.names], "or")
        failed = [tracked.call for tracked in named if tracked.call.failed]
        if not named:
            yield self._reason("missing_call", f"{names} was not called; {self._called_instead(entry)}", entry, [])
        elif entry.error is False and len(failed) == len(named):
            every = "" if len(failed) == 1 else f" all {len(failed)} times"
            text = f"{names} was called and failed{every}: {self._errors(failed)}"
            yield self._reason("call_failed", text, entry, failed)
        elif any(number in tracked.entries(Fit.UNKNOWN) for tracked in named):
            yield self._too_few(number, entry, matching, failed)
        else:
            yield from self._nearest(number, entry, named, set(matching.held()))

    def _too_few(
        self, number: int, entry: CallExpectation, matching: Matching[tuple[object, ...]], failed: list[Call]
    ) -> Reason:
        rivals, fitting = matching.rivals(number)
        assert self.expect.calls is not None
        names = listed(
            [self._name(name) for rival in sorted(rivals) for name in self.expect.calls[rival].names], "or"
        )
        text = f"{len(rivals)} calls to {names} are asked for, and only {len(fitting)} of those made will do"
        if failed:
            text += f"; {len(failed)} failed: {self._errors(failed)}"
        calls = [self.calls.happened[call_id].call for call_id in fitting]
        return self._reason("too_few_calls", text, entry, calls)

    def _nearest(
        self, number: int, entry: CallExpectation, named: list[Tracked], used: set[tuple[object, ...] | None]
    ) -> Iterator[Reason]:
        free = [tracked for tracked in named if tracked.id not in used] or named
        nearest = min(free, key=lambda tracked: len(tracked.comparisons[number].differences))
        differences = nearest.comparisons[number].differences
        for area in ("error", "params", "result"):
            here = tuple(masked(difference, self.mask) for difference in differences if difference.area == area)
            if not here:
                continue
            what = f"{here[0].path} is {here[0].found}, expected {here[0].expected}"
            more = "" if len(here) == 1 else f"; and {len(here) - 1} more difference{'s' if len(here) > 2 else ''}"
            which = "" if len(named) == 1 else f" (the nearest of {len(named)} calls)"
            text = f"{self._name(nearest.call.name)} was called with a difference{which}: {what}{more}"
            miss = NearestMiss(nearest.call, here)
            yield Reason(f"{area}_mismatch", text, entry.place, miss, calls=(nearest.call,), certain=self.closed)

    def _called_instead(self, entry: CallExpectation) -> str:
        held = [call for call in self.calls.held_back.values() if call.name in entry.names]
        if held:
            return f"{self._name(held[0].name)} {_HELD[held[0].status]}"
        called = [self._name(tracked.call.name) for tracked in self.calls.in_time_order()]
        return f"called: {listed(called, 'and')}" if called else "no tool was called"

    def _response(self) -> Iterator[Reason]:
        if self.expect.response is None or self.reply is None:
            return
        for difference in self.answer.differences:
            part = masked(difference, self.mask)
            op = difference.expected.partition(" ")[0]
            text = f"the reply does not meet {part.expected}: it is {part.found}"
            yield Reason(f"response.{op}", text, self.expect.response.place)

    def _entry_gaps(self) -> Iterator[Reason]:
        """What could not be compared, of the entries that no call meets for sure."""
        held = self.calls.canonical(Fit.YES).held()
        in_doubt = [number for number, call in enumerate(held) if call is None] or range(len(held))
        for number in in_doubt:
            entry = self.calls.entries[number]
            for tracked in self.calls.in_time_order():
                found = tracked.comparisons.get(number)
                if found is not None and found.fit is Fit.UNKNOWN:
                    yield from self._gap_reasons(found.unknowns, self._name(tracked.call.name), tracked.call, entry)
                    break

    def _gap_reasons(
        self, unknowns: Iterable[Unknown], subject: str, call: Call | None, entry: CallExpectation | None = None
    ) -> Iterator[Reason]:
        place = entry.place if entry is not None else self.expect.place
        for unknown in unknowns:
            if unknown.code == "regex_timeout":
                continue
            where = subject if unknown.path == "response" else f"{unknown.path} of {subject}"
            text = self.mask(f"{where} was not recorded: {unknown.cause}")
            calls = (call,) if call is not None else ()
            yield Reason(unknown.code, text, place, error=True, fix=unknown.fix, calls=calls, certain=self.closed)

    def _reason(self, code: str, text: str, entry: CallExpectation, calls: list[Call]) -> Reason:
        return Reason(code, text, entry.place, calls=tuple(calls), certain=self.closed)

    def _errors(self, failed: list[Call]) -> str:
        return listed([shown(_error_text(call), self.mask) for call in failed], "and")

    def _name(self, name: str) -> str:
        return shown(name if name.isprintable() and name.strip() == name != "" else show(name), self.mask)


def _error_text(call: Call) -> str:
    if call.error is None or isinstance(call.error, NotRecorded):
        return "(no error text)"
    return call.error


def _times(calls: tuple[Call, ...]) -> str:
    return "" if len(calls) == 1 else f" {len(calls)} times"


def _was(calls: list[Call]) -> str:
    return "was" if len({call.name for call in calls}) == 1 else "were"


def _span(ns: int) -> str:
    """A length of time, given in ns, in the unit that suits it."""
    if ns < 1_000_000:
        return f"{ns / 1000:.3g} us"
    return f"{ns / 1e6:.3g} ms" if ns < 1_000_000_000 else f"{ns / 1e9:.3g} s"
