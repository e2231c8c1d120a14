"""What the harness is told of telemetry: a neutral view of each span, and what it did to items.

The harness attributes spans to tests with it and knows nothing of OTLP; `collector.pipeline` fills it in.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from evaluator.items import Call, Change, NotRecorded


def _nothing(_key: str) -> Any:
    return None


class Sighting(NamedTuple):
    """One span (or trace-contract record, which has no ids) that arrived. Times are ns.

    A tuple because one is made of every span that arrives.
    """

    trace_id: bytes
    span_id: bytes
    parent_id: bytes
    name: str
    role: str
    """`tool`, `model`, `agent`, `workflow`, `server`, `hello`, `turn` or `other`."""
    links: tuple[bytes, ...] = ()
    """The trace ids that the span links to."""
    context: Callable[[str], Any] = _nothing
    """The value of an attribute on the span, its scope or its resource; of a record, of its context."""
    start: int = 0
    end: int = 0
    declares: frozenset[str] | None = None
    """The tools that the agent says it has, where this span says so."""
    blind: NotRecorded | None = None
    """Of a model or agent span that does not show which tools were called: why."""
    asks: Sequence[Call] = ()
    """Of a model span: the calls that the model asked for and of which nothing says that they are held."""
    answers: Sequence[str] = ()
    """The ids of the calls of which this span shows what became."""
    framed: bool = False
    """A span of a framework that runs agents (and not of a model's client alone): a tool that it ran has a span."""


class Watcher(Protocol):
    """Is called in the event loop for every batch that arrives, after items were made of it."""

    def observe(self, sightings: Sequence[Sighting], changes: Sequence[Change]) -> None: ...
