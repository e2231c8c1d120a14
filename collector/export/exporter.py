"""The exporter of results: what `--export URL` does, for `run`, `check` and `serve`.

A span cannot be taken back once it is exported. A result that changes after it was final is exported again as a span
of its own, one revision up, with a link to the span that it amends; the newest revision counts.
"""

import asyncio
import os
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from time import time_ns
from typing import Final, NamedTuple

from collector.export.destination import destination
from collector.export.evaluation import Evaluated, result_log, result_span, unit_span
from collector.export.otlp import Attributes, SpanId, Telemetry, requests
from collector.export.sender import Counts, Retrying, Sender
from collector.export.spans import run_telemetry
from evaluator.harness.outcome import RunOutcome
from evaluator.items import Item
from evaluator.verdict import BehaviorResult

GATHER: Final = 0.02
"""Seconds for which results that come close together wait for each other, to share a request."""

REMEMBERED: Final = 100_000
"""Results and units whose last exported state is kept, to know what a new one amends."""


class Unit(NamedTuple):
    """A session or a job: `kind` is `session` or `job`. `collector.index.UnitKey` will do as it is."""

    kind: str
    id: str


@dataclass(frozen=True, slots=True)
class _Exported:
    revision: int
    state: tuple[object, ...]
    id: SpanId


class ResultExporter:
    """Exports results to an OTLP endpoint. Belongs to one event loop; its methods return at once but for `close`.

    `url` None goes by the `OTEL_EXPORTER_OTLP_*` variables alone. `resource` adds attributes to the resource.
    Raises DestinationError when `url` or a variable cannot be understood.
    """

    def __init__(
        self,
        url: str | None,
        *,
        headers: Mapping[str, str] | None = None,
        environ: Mapping[str, str] | None = None,
        resource: Attributes | None = None,
        retrying: Retrying | None = None,
        now: Callable[[], int] = time_ns,
        random_bytes: Callable[[int], bytes] = os.urandom,
    ) -> None:
        target = destination(url, os.environ if environ is None else environ, headers=headers)
        self._sender = Sender(target, retrying=retrying)
        self._resource = resource or {}
        self._now = now
        self._random = random_bytes
        # Ids of units and results come from this and their names, so that nothing need be kept to find them again,
        # and two spanbars that judge the same session do not write the same span.
        self._seed = random_bytes(16)
        self._exported: OrderedDict[tuple[str, ...], _Exported] = OrderedDict()
        self._gathered = Telemetry()
        self._flush: asyncio.TimerHandle | None = None

    @property
    def name(self) -> str:
        """Where it exports to, as shown to people."""
        return self._sender.destination.name

    @property
    def counts(self) -> Counts:
        """Requests by what became of them."""
        return self._sender.counts

    async def start(self) -> None:
        """Raises OSError or ssl.SSLError when TLS files cannot be used."""
        await self._sender.start()

    def run_finished(self, outcome: RunOutcome, *, verb: str = "run") -> None:
        """Export a whole run. For recorded files, an outcome that has behaviors only and `verb` `check`."""
        self._gathered.extend(run_telemetry(outcome, self._random, verb))
        self._send()

    def behavior_result(self, unit: tuple[str, str], result: BehaviorResult, items: Sequence[Item] = ()) -> bool:
        """Export a result that is final, or one that a unit ended with; False if it was exported as it is before.

        `items` are the unit's; the evidence itself is the verdict's.
        """
        kind, id = str(unit[0]), unit[1]
        key = (kind, id, result.behavior)
        place = self._revise(key, (result.verdict.result, result.verdict.final))
        if place is None:
            return False
        mine, before = place
        evaluated = Evaluated(kind, id, result, self._now(), mine.revision, before.id if before is not None else None)
        self._gathered.spans.append(result_span(evaluated, mine.id, self._id((kind, id), 0).span))
        self._gathered.logs.append(result_log(evaluated, mine.id))
        self._soon()
        return True

    def unit_closed(
        self, unit: tuple[str, str], results: Sequence[BehaviorResult], items: Sequence[Item], cut: str | None = None
    ) -> bool:
        """Export the span of a unit that ended, or ended again; `cut` says why it is not whole.

        `items` are in order: the span lasts from the first to the last. Spans of results hang below its first one.
        False if it was exported with the same results before.
        """
        kind, id = str(unit[0]), unit[1]
        labels = tuple((each.behavior, each.verdict.result) for each in results)
        place = self._revise((kind, id), (labels, len(items), cut))
        if place is None:
            return False
        mine, before = place
        now = self._now()
        times = (min((item.time for item in items), default=now), max((item.time for item in items), default=now))
        self._gathered.spans.append(
            unit_span(
                kind,
                id,
                mine.id,
                times,
                [Evaluated(kind, id, each, now) for each in results],
                amends=before.id if before is not None else None,
                extra={
                    "spanbar.unit.items": len(items),
                    "spanbar.unit.cut": cut,
                    "spanbar.result.revision": mine.revision,
                },
            )
        )
        self._soon()
        return True

    async def close(self, within: float) -> None:
        """Send what is there and give it `within` seconds to be delivered; `counts` then says what was not."""
        self._send()
        await self._sender.close(within)

    def _revise(self, key: tuple[str, ...], state: tuple[object, ...]) -> tuple[_Exported, _Exported | None] | None:
        before = self._exported.get(key)
        if before is not None and before.state == state:
            return None
        revision = before.revision + 1 if before is not None else 0
        mine = _Exported(revision, state, self._id(key, revision))
        self._exported[key] = mine
        self._exported.move_to_end(key)
        if len(self._exported) > REMEMBERED:
            self._exported.popitem(last=False)
        return mine, before

    def _id(self, key: tuple[str, ...], revision: int) -> SpanId:
        """The same for the same arguments: all that concerns one unit is in one trace."""
        trace = blake2b("\0".join(key[:2]).encode("utf-8", "replace"), key=self._seed, digest_size=16)
        text = "\0".join((*key, str(revision)))
        return SpanId(
            trace.digest(), blake2b(text.encode("utf-8", "replace"), key=self._seed, digest_size=8).digest()
        )

    def _soon(self) -> None:
        if self._flush is None:
            self._flush = asyncio.get_running_loop().call_later(GATHER, self._send)

    def _send(self) -> None:
        if self._flush is not None:
            self._flush.cancel()
            self._flush = None
        gathered, self._gathered = self._gathered, Telemetry()
        for signal, body in requests(gathered, self._resource):
            self._sender.offer(signal, body)
