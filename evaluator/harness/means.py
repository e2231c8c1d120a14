"""What the executions of one spec work with."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from evaluator.harness.attribution import Correlation
from evaluator.harness.client import AgentClient
from evaluator.harness.hooks import Hooks
from evaluator.harness.listener import Listener
from evaluator.harness.masking import Masking
from evaluator.harness.outcome import Notice
from evaluator.harness.telemetry import TraceFile
from evaluator.harness.turn import Surroundings


@dataclass(frozen=True, slots=True)
class Means:
    around: Surroundings
    client: AgentClient
    hooks: Hooks
    correlation: Correlation
    masking: Masking
    listener: Listener
    notify: Callable[[Notice], None]
    trace_files: Sequence[TraceFile]
    agent_state: Callable[[bool], Awaitable[str]]
    """Sentences about the agent that was started: whether it is gone, and its log. True: it looks as if it were."""
    watched: bool
    """Behaviors judge every test."""
