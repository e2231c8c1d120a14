"""The findings of `spanbar doctor`: what one message showed of an agent's telemetry, and what fixes each gap."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from collector.cli.explanation import Arrived
from collector.export.story import duration
from evaluator.expectations.reason import Reason
from evaluator.harness.clock import ticks
from evaluator.harness.listener import Listener, TurnSent
from evaluator.harness.outcome import Notice, RunOutcome, TurnOutcome
from evaluator.harness.sighting import Sighting
from evaluator.items import Change
from evaluator.language.spec import Spec

INSTRUMENT_SERVER = (
    "instrument the agent's HTTP server, so that it continues the traceparent header: for FastAPI "
    "FastAPIInstrumentor.instrument_app(app), for Node @opentelemetry/instrumentation-http"
)
INSTRUMENT_AGENT = (
    "instrument the agent's framework (docs/frameworks.md), or start from: spanbar init --framework NAME"
)
DECLARE = "send gen_ai.tool.definitions on the agent's or the model's spans, so that a typo in `forbid` is an error"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at. `ok` None: worth knowing, and neither right nor wrong."""

    ok: bool | None
    text: str
    fix: str = ""


@dataclass(slots=True)
class Examination(Listener):
    """Watches one message and what arrives for it: a `Listener` of the run and a `Watcher` of its telemetry."""

    arrived: Arrived
    ready: str = ""
    sent: TurnSent | None = None
    outcome: TurnOutcome | None = None
    notices: list[Notice] = field(default_factory=list)
    batches: int = 0
    mine: list[Sighting] = field(default_factory=list)
    others: list[Sighting] = field(default_factory=list)
    _sent_at: float = 0.0
    _first_at: float | None = None
    _last_at: float = 0.0

    def agent_ready(self, spec: Spec, how: str, after_ms: float) -> None:
        self.ready = f"{how} ({duration(after_ms)})"

    def turn_sent(self, turn: TurnSent) -> None:
        self.sent = turn
        self._sent_at = ticks()

    def run_finished(self, outcome: RunOutcome) -> None:
        turns = [turn for test in outcome.tests for execution in test.executions for turn in execution.turns]
        self.outcome = turns[0] if turns else None

    def warning(self, notice: Notice) -> None:
        self.notices.append(notice)

    def observe(self, sightings: Sequence[Sighting], changes: Sequence[Change]) -> None:
        self.arrived.see(sightings)
        if self.sent is None or not sightings:
            return
        trace_id = bytes.fromhex(self.sent.trace_id)
        for sighting in sightings:
            own = trace_id in (sighting.trace_id, *sighting.links) or sighting.context("test") == self.sent.test_id
            (self.mine if own else self.others).append(sighting)
        self.batches += 1
        self._last_at = ticks()
        self._first_at = self._first_at or self._last_at

    def findings(self, calls: int) -> Iterator[Finding]:
        """What there is to say, in the order in which things must work."""
        yield Finding(True, f"the agent answers: {self.ready}")
        outcome = self.outcome
        if outcome is None:
            yield Finding(False, "no message could be sent")
            return
        yield self._reply(outcome)
        if not self.mine and not self.others:
            reason = self._obstacle(outcome) if outcome.reply_ms is not None else None
            yield Finding(False, reason.text if reason else "no span arrived", reason.fix if reason else "")
            return
        yield Finding(True, f"telemetry arrived: {self._flow(outcome)}")
        yield from self._context(outcome)
        yield from self._meaning(calls)

    def _reply(self, outcome: TurnOutcome) -> Finding:
        if outcome.reply_ms is None:
            reason = self._obstacle(outcome)
            return Finding(False, reason.text, reason.fix) if reason else Finding(False, "the agent did not reply")
        return Finding(True, f"it replied to the message after {duration(outcome.reply_ms)}")

    @staticmethod
    def _obstacle(outcome: TurnOutcome) -> Reason | None:
        return next((reason for reason in outcome.reasons if reason.error), None)

    def _flow(self, outcome: TurnOutcome) -> str:
        replied = self._sent_at + (outcome.reply_ms or 0.0) / 1000
        first, last = ((at - replied) * 1000 for at in (self._first_at or self._last_at, self._last_at))
        count = len(self.mine) + len(self.others)
        noun = "record" if self.arrived.records else "span"
        return (
            f"{count} {noun}{'' if count == 1 else 's'} in {self.batches} request{'' if self.batches == 1 else 's'}, "
            f"the first {_relative(first)}, the last {_relative(last)}"
        )

    def _context(self, outcome: TurnOutcome) -> Iterator[Finding]:
        entry = [each for each in self.mine if each.parent_id == bytes.fromhex(outcome.span_id)]
        servers = [each.name for each in entry if each.role != "tool"]
        if servers:
            yield Finding(True, f"the message's trace is continued: {servers[0]!r} is the entry span")
        elif any(each.role == "turn" for each in self.mine):
            yield Finding(True, "the agent's trace file says which test each record is of")
        elif self.mine:
            text = "spans of the message's trace arrived, and none is the agent's entry span: a turn is over only"
            yield Finding(None, f"{text} `settle_time` after its reply", INSTRUMENT_SERVER)
        if self.others and not self.mine:
            names = ", ".join(dict.fromkeys(repr(each.name) for each in self.others[:5]))
            text = f"the message's trace is not continued: the spans that arrived are of other traces ({names})"
            yield Finding(False, text, INSTRUMENT_SERVER)

    def _meaning(self, calls: int) -> Iterator[Finding]:
        arrived = self.arrived
        meant = [role for role in ("tool", "model", "agent", "workflow") if arrived.roles[role]]
        if calls:
            yield Finding(True, f"{calls} tool call{'' if calls == 1 else 's'} for this message (below)")
        elif meant:
            yield Finding(None, "no tool call for this message; try one that needs a tool: --message TEXT")
        elif not arrived.records:
            yield Finding(False, "no span says anything of tools, models or agents", INSTRUMENT_AGENT)
        if not arrived.declared:
            yield Finding(None, "the agent does not say which tools it has", DECLARE)


def _relative(ms: float) -> str:
    return f"{duration(ms)} after the reply" if ms >= 0 else f"{duration(-ms)} before the reply"
