"""What the harness asks of whoever receives telemetry; `collector` provides it."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

from evaluator.expectations.reason import Reason
from evaluator.harness.outcome import TestKey, UnitBehaviors
from evaluator.harness.sighting import Watcher


@dataclass(frozen=True, slots=True)
class Endpoints:
    """Where an agent sends telemetry. `http` has no path: `/v1/traces`, `/v1/logs` and `/v1/metrics` hang below."""

    http: str
    grpc: str | None = None

    @property
    def traces(self) -> str:
        return f"{self.http}/v1/traces"


class Misdirected(NamedTuple):
    """Requests with telemetry that came to a path where none is taken, so far."""

    requests: int
    last: str
    """The method and path of the last of them."""


class TraceFile(Protocol):
    """A trace file that is followed while it grows."""

    async def drain(self) -> None:
        """Take in, before returning, every whole record that is in the file now."""

    async def stop(self) -> None:
        """Drain once more and follow it no longer."""


class Telemetry(Protocol):
    """The receiver of a run: its ports are taken before the run begins."""

    @property
    def endpoints(self) -> Endpoints: ...

    @property
    def misdirected(self) -> Misdirected: ...

    async def serve(self) -> None:
        """Take in what is sent, and what has been sent since the ports were taken.

        Called once an agent has been started or is looked for; after the first time it does nothing. Getting ready
        may take as long as an agent takes to start, so both are done at once.
        """

    def watch(self, watcher: Watcher) -> Callable[[], None]:
        """Show every batch to `watcher`, in the event loop. Returns what stops that."""

    def follow(self, path: Path, *, from_end: bool) -> TraceFile:
        """Take in what is written to `path` from now on; with `from_end`, what is there already is skipped."""

    def on_unreadable(self, listener: Callable[[str], None]) -> Callable[[], None]:
        """Call `listener` with one sentence for each request or record that could not be read or was rejected."""


class Executions(Protocol):
    """The running executions of tests, as behaviors see them."""

    def fail_by_behavior(self, trace_ids: Collection[bytes], reason: Reason) -> None:
        """A behavior failed for good over a unit that has items of these traces: fail the executions that sent them.

        A turn that is still running ends at once. Traces that no execution sent are ignored.
        """

    def test_of(self, trace_id: bytes) -> TestKey | None:
        """The test whose message began the trace."""

    def unseen(self, trace_id: bytes) -> Reason | None:
        """At the end: why nothing shows that a call in the trace of a message would have been seen, or None."""


class Behaviors(Protocol):
    """The behaviors that are evaluated over what the tests make the agent do."""

    def begin(self, executions: Executions) -> None:
        """Before the first message is sent."""

    def end(self) -> tuple[UnitBehaviors, ...]:
        """Every test is over and confirmed: close what is open, and say what it all came to."""
