"""The monitor of one turn: calls and a reply go in, a verdict comes out (SEMANTICS.md, section 5)."""

from collections.abc import Iterator
from dataclasses import dataclass

from evaluator.expectations.calls import Calls
from evaluator.expectations.comparison import Comparison, comparison, matcher_findings
from evaluator.expectations.explanation import Explanation
from evaluator.expectations.matchers import RegexSearch, RegexTimeout
from evaluator.expectations.reason import Mask, Reason
from evaluator.expectations.values import Fit
from evaluator.items import Call, Change
from evaluator.language.spec import Expect
from evaluator.verdict import Status


@dataclass(frozen=True, slots=True)
class TurnVerdict:
    """What a turn comes to now.

    `status` is what it is if nothing more arrives; before the reply, what was asked of the reply is left out.
    `final`: nothing that may still arrive changes the status (only taking something back would).
    """

    status: Status
    final: bool
    reasons: tuple[Reason, ...] = ()
    """Most basic first; empty when it passes. The last ones may not be `certain` while the turn is not closed."""
    evidence: tuple[Call, ...] = ()
    """The calls that decided it: those that met the entries, or those that the reasons speak of."""
    calls: tuple[Call, ...] = ()
    """All calls of the turn that happened, by their start."""


class TurnMonitor:
    """Judges one turn while its calls arrive, in any order.

    A failure is final as soon as nothing that may still arrive can cure it; a pass only when the reply is there
    and the turn is closed. What was not recorded makes the verdict an error where it would decide it.
    """

    def __init__(self, expect: Expect, *, search: RegexSearch, mask: Mask = str) -> None:
        """`mask` takes secrets out of the texts of reasons, before they are clipped."""
        self._expect = expect
        self._mask = mask
        self._search = _Patience(search)
        entries = expect.calls or ()
        self._calls = Calls(entries, self._search, ordered=expect.ordered, exclusive=expect.exclusive)
        self._reply: str | None = None
        self._answer = Comparison()
        self._closed = False

    def apply(self, change: Change) -> None:
        """Take what telemetry did to an item of this turn, also after closing. Items but tool calls are ignored."""
        self._calls.apply(change)

    def reply(self, text: str) -> None:
        """The reply is there; `text` is "" for one without text that nothing is asked of."""
        self._reply = text
        if self._expect.response is not None:
            found = matcher_findings(self._expect.response, text, "response", self._search)
            self._answer = comparison([*found])

    def close(self) -> None:
        """The evidence is whole: no call is still to come."""
        self._closed = True

    @property
    def final(self) -> bool:
        """As `verdict.final`, without the cost of finding the reasons."""
        if self._closed:
            return True
        return self._lost_anyway() or (not self._search.slow and self._expect.calls is not None and self._calls.lost)

    @property
    def lost_by_calls(self) -> bool:
        """Whether it fails for good whatever the reply says."""
        return self._calls_are_wrong() or (
            not self._search.slow and self._expect.calls is not None and self._calls.lost
        )

    @property
    def settled(self) -> bool:
        """All that is asked for is there; only something unexpected could still change the verdict."""
        return self.final or (self._reply is not None and self.status is Status.PASSED)

    @property
    def status(self) -> Status:
        """As `verdict.status`, without the cost of finding the reasons."""
        if self._lost_anyway():
            return Status.FAILED
        if self._search.slow:
            return Status.ERROR
        fit = self._answer.fit
        if self._expect.calls is not None:
            fit = min(fit, self._calls.fit)
        if fit is Fit.NO:
            return Status.FAILED
        unanswered = self._closed and self._reply is None
        return Status.ERROR if fit is Fit.UNKNOWN or unanswered else Status.PASSED

    @property
    def verdict(self) -> TurnVerdict:
        status = self.status
        calls = tuple(tracked.call for tracked in self._calls.in_time_order())
        if status is Status.PASSED:
            return TurnVerdict(status, self.final, (), tuple(self._met()), calls)
        explanation = Explanation(
            self._expect, self._calls, self._answer, self._reply, self._search.slow, self._mask, self._closed
        )
        reasons = explanation.failures() if status is Status.FAILED else explanation.gaps()
        evidence = dict.fromkeys(id(call) for reason in reasons for call in reason.calls)
        return TurnVerdict(status, self.final, reasons, tuple(call for call in calls if id(call) in evidence), calls)

    def _met(self) -> Iterator[Call]:
        """The calls that met the entries, entry by entry."""
        if not self._expect.calls:
            return
        ids = self._calls.way(Fit.YES) if self._expect.ordered else self._calls.canonical(Fit.YES).held()
        for call_id in ids or ():
            if call_id is not None:
                yield self._calls.happened[call_id].call

    def _lost_anyway(self) -> bool:
        """Whether it fails, once and for all, whatever a regex that took too long would have found."""
        return self._calls_are_wrong() or self._answer.fit is Fit.NO

    def _calls_are_wrong(self) -> bool:
        too_many = self._expect.calls is not None and self._calls.too_many
        return too_many or self._forbidden_called()

    def _forbidden_called(self) -> bool:
        return any(map(self._calls.called, self._expect.forbid))


class _Patience:
    """A search that does not try a pattern again that has taken too long: a turn waits once for it, not per value."""

    def __init__(self, search: RegexSearch) -> None:
        self._search = search
        self.slow: set[str] = set()

    def __call__(self, pattern: str, text: str) -> bool:
        if pattern in self.slow:
            raise RegexTimeout(pattern)
        try:
            return self._search(pattern, text)
        except RegexTimeout:
            self.slow.add(pattern)
            raise
