"""Whether an agent is observed at all, and how long its telemetry takes to come."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol

from evaluator.expectations.reason import Reason, unverifiable
from evaluator.harness import clock
from evaluator.harness.attribution import Attribution
from evaluator.harness.outcome import Notice
from evaluator.harness.telemetry import Misdirected
from evaluator.language.spec import Agent

BLIND_WAIT: Final = 10.0
"""Seconds that the first test which sees nothing of an attached agent waits on, to tell late from never."""

BATCH_INTERVAL_MS: Final = 5_000
"""How often an SDK with its defaults sends spans: a delay that was seen once may be this long the next time."""

_FASTER: Final = "Start the agent with OTEL_BSP_SCHEDULE_DELAY=100 to have its spans within a tenth of a second."


class Watched(Protocol):
    """The state of a turn that decides how long to wait for it."""

    @property
    def replied(self) -> float | None:
        """ticks; when the reply came or the request was given up."""

    @property
    def first_seen(self) -> float | None:
        """ticks; when the first span of this turn came."""

    @property
    def needs_calls(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class Mark:
    """How much had arrived when a message was sent, or when its turn was closed."""

    foreign: int
    misdirected: int


class Observation:
    """What is known about an agent's telemetry. `notify` is told once when it comes later than `settle_time`."""

    def __init__(
        self,
        agent: Agent,
        attribution: Attribution,
        notify: Callable[[Notice], None],
        wait: float,
        misdirected: Callable[[], Misdirected],
    ) -> None:
        self._agent = agent
        self._misdirected = misdirected
        self.log = ""
        """The path of the log of an agent that was started."""
        self._attribution = attribution
        self._notify = notify
        self._wait = wait if agent.start is None else 0.0
        self._blind_until: float | None = None
        self.settle = agent.settle_time / 1000
        """Seconds after a reply that telemetry is waited for, where nothing says that it is whole."""
        self.seen = 0
        """Turns of which anything was seen."""
        self._entries = False
        self._no_entries = False
        self.late_by: float | None = None
        """Seconds after its reply at which the first span of a turn came, if that was later than `settle`."""

    def mark(self) -> Mark:
        return Mark(self._attribution.foreign, self._misdirected().requests)

    def deadline(self, turn: Watched) -> float | None:
        """Until when (ticks) the turn is waited for; None before its reply."""
        replied, seen = turn.replied, turn.first_seen
        if replied is None:
            return None
        end = replied + self.settle
        if seen is not None and seen > end:
            # The batch that brought the first span brings the others of the same moment.
            return seen + min(self.settle, 0.5)
        if turn.needs_calls and seen is None and self.seen == 0 and self._wait:
            if self._blind_until is None:
                self._blind_until = end + self._wait
            return max(end, self._blind_until)
        return end

    def may_settle(self, *, incomplete: bool) -> bool:
        """Whether a turn without an entry span need not be waited for, once all is there that it asks for.

        Not if this agent sends entry spans: then one is still to come. Until that is known, an `incomplete` turn, one
        whose spans name parents that have not arrived, is waited for.
        """
        return not self._entries and (self._no_entries or not incomplete)

    @property
    def may_enter(self) -> bool:
        """Whether this agent sends entry spans, or may: no turn of it was seen to have none."""
        return self._entries or not self._no_entries

    def entered(self) -> None:
        """An entry span came."""
        self._entries = True

    def settled_without_entry(self) -> None:
        """`settle_time` passed, and no entry span came."""
        self._no_entries = True

    def saw(self, turn: Watched) -> None:
        """The first span of a turn came."""
        self.seen += 1
        replied = turn.replied
        delay = clock.ticks() - replied if replied is not None else 0.0
        if delay <= self.settle or self.late_by is not None:
            return
        self.late_by = delay
        came = f"The agent's spans came {delay:.1f} s after its reply"
        if self._agent.settle_time_given:
            text = f"{came}, later than settle_time, {self._agent.settle_time} ms. {self._remedy()}"
        else:
            self.settle = self._needed_ms() / 1000
            text = f"{came}: the rest of the run waits up to {self.settle:g} s for them. {_FASTER}"
        self._notify(Notice("late_telemetry", text))

    def misdirection(self) -> Notice | None:
        """What to tell where telemetry came to a wrong path, and other telemetry to the right one."""
        requests, last = self._misdirected()
        if not requests or not self.seen:
            return None
        text = f"A request with telemetry came to {last}, and what it holds is not seen: {_PATHS}. {_APPEND}"
        return Notice("misdirected", text)

    def lost_since(self, mark: Mark) -> str:
        """What came to a wrong path after a message was sent: calls of it may be among that. "" if nothing did."""
        requests, last = self._misdirected()
        return f"a request came to {last}: {_PATHS}" if requests > mark.misdirected else ""

    def not_observed(self, mark: Mark, until: Mark | None, collides: bool) -> Reason:
        """Why nothing shows that an instrumented agent handled a message, with the line that fixes it.

        `mark` and `until`: what had arrived when the message was sent, and when its turn was closed, if it was.
        """
        waited = f"within {self.settle:g} s of its reply"
        if collides:
            return unverifiable(
                "correlate_collision",
                "Spans and records carry the same agent.correlate values for this test and for another, so nothing "
                "shows whose they are.",
                fix="Correlate by something that differs between tests: correlate: {test: '{{test.id}}'}",
            )
        if self.late_by is not None and self._agent.settle_time_given:
            text = f"No span of this message came {waited}; this agent's come after {self.late_by:.1f} s."
            return unverifiable("not_observed", text, fix=self._remedy())
        requests, last = self._misdirected()
        if requests > mark.misdirected:
            text = f"No telemetry came {waited}, but a request came to {last}: {_PATHS}."
            return unverifiable("not_observed", text, fix=_APPEND)
        foreign = (until or self.mark()).foreign - mark.foreign
        if foreign:
            last = self._attribution.foreign_name
            text = (
                f"{foreign} span{'s' if foreign > 1 else ''} came (the last: {last!r}), but none of this message's "
                "trace: the agent does not carry on the traceparent header it is sent."
            )
            return unverifiable("not_observed", text, fix=_PROPAGATE)
        if self.seen:
            text = (
                f"No span of this message came {waited}, although other messages of this run were seen: this path "
                "of the agent is not instrumented, or its trace was not sampled."
            )
            return unverifiable(
                "not_observed", text, fix="Instrument this path, and set OTEL_TRACES_SAMPLER=always_on."
            )
        if self._attribution.received:
            text = "The agent sent telemetry before, but no span of any message of this run: it was not sampled, or "
            return unverifiable("not_observed", text + "this path is not instrumented.", fix=_PROPAGATE)
        return unverifiable("not_observed", f"No telemetry came at all {waited}.", fix=self._export())

    def _needed_ms(self) -> int:
        delay = (self.late_by or 0.0) * 1000
        return round(max(delay * 1.2, BATCH_INTERVAL_MS) + 500)

    def _remedy(self) -> str:
        return f"Set agent.settle_time: {self._needed_ms()}, or better: {_FASTER}"

    def _export(self) -> str:
        if self._agent.start is None:
            return (
                "Start the agent with OTEL_EXPORTER_OTLP_ENDPOINT set to where spanbar listens, and instrument it; "
                "an endpoint that is set in its code wins."
            )
        log = f" What its exporter complains of is in its log, {self.log}." if self.log else ""
        return (
            "Instrument the agent with OpenTelemetry, and set neither endpoint nor schedule_delay_millis in code: "
            "they win over OTEL_EXPORTER_OTLP_ENDPOINT (OTLP/HTTP and gRPC) and OTEL_BSP_SCHEDULE_DELAY, which it "
            f"gets.{log}"
        )


_PATHS: Final = "OTLP/HTTP is at /v1/traces"
_APPEND: Final = (
    "Append /v1/traces to the endpoint that the exporter is given in code, or leave its endpoint to the environment "
    "(OTEL_EXPORTER_OTLP_ENDPOINT)."
)
_PROPAGATE: Final = (
    "Instrument the web framework (for FastAPI: FastAPIInstrumentor.instrument_app(app)), or set agent.correlate "
    "to an attribute that the spans carry."
)
