"""What `spanbar serve` runs: the rooms put together, from the first byte received to the last result exported."""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from collector.assembly import Assembly
from collector.cli.exporting import ResultExports, outcomes
from collector.cli.garbage import collect_when_quiet
from collector.cli.misnamed_tools import MisnamedTools
from collector.export.forward import Forwarder
from collector.export.metrics import MetricsExporter
from collector.export.record import Recorder
from collector.index import Index, Limits, Unit, Update
from collector.journal import Journal
from collector.live.alarms import Alarm
from collector.live.app import Live
from collector.live.idle import IdleCloser
from collector.mapping import Claims
from collector.metrics import Histogram, Metric, single
from collector.pipeline import Pipeline
from collector.receiver import Received, Receiver
from collector.receiver.http import ELSEWHERE
from collector.retention import Retention
from collector.telemetry import Batch
from evaluator.behaviors import Program
from evaluator.language.assertion import Behavior
from evaluator.verdict import BehaviorResult, Contract

DRAIN: Final = 2.0
"""s that requests under way have when the server stops; who gets no answer in time sends again elsewhere."""

LAST_WORDS: Final = 2.5
"""s after that for exports, forwards and on-fail deliveries. Together below the 5 s in which it must be gone."""

LONGEST_CAUSE: Final = 300

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that `spanbar serve` can be told. `idle` is in s; ports 0 take free ones."""

    behaviors: Sequence[Behavior]
    contract: Contract
    host: str
    http_port: int
    grpc_port: int
    token: str | None
    idle: float
    limits: Limits
    value_limit: int
    """Bytes of the largest value that is kept."""
    on_fail: Sequence[Alarm]
    exports: ResultExports | None
    metrics_exporters: Sequence[MetricsExporter]
    forwarders: Sequence[Forwarder]
    recorder: Recorder | None
    journal: Journal | None = None
    mapping: Claims | None = None


class Serving:
    """`start`, then `stop` once. Belongs to one event loop."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.index = Index(Program(settings.behaviors, settings.contract), limits=settings.limits)
        assembly = Assembly(settings.mapping, watched=True)
        self.pipeline = Pipeline(self.index, assembly, value_limit=settings.value_limit)
        self.live = Live(
            self.index,
            token=settings.token,
            unready=lambda: self._unready,
            metrics=self.metrics,
            about={"idle_s": settings.idle, "contract": settings.contract.value},
        )
        self.receiver = Receiver(
            self.pipeline.receive,
            host=settings.host,
            http_port=settings.http_port,
            grpc_port=settings.grpc_port,
            app=self.live.app,
            token=settings.token,
            raw=self._pass_on if settings.forwarders or settings.recorder is not None else None,
            on_loss=self._lose,
            on_misdirected=self._misdirected,
        )
        if settings.journal is not None:
            settings.journal.follow(self.index)
            for trace, cause in self.index.gone_traces():
                self.pipeline.suspects.add(trace, cause)
        for alarm in settings.on_fail:
            self.live.board.listen(alarm.heard)
        if settings.exports is not None:
            settings.exports.follow(self.index, self.live.board)
        self.live.board.listen(self._count)
        self.index.listen(self._measure)
        MisnamedTools(settings.behaviors, assembly).follow(self.index)
        self._idle = IdleCloser(self.index, settings.idle)
        self._retention = Retention(self.pipeline.assembly, 2 * settings.idle, self.pipeline.suspects)
        self._retention.follow(self.index)
        self.pipeline.follow(self._retention.observe)
        self._tasks: list[asyncio.Task[None]] = []
        self._unready: str | None = "it is starting"
        self._losing = False
        """Whether it was logged that telemetry was lost."""
        self._results: Counter[tuple[str, str]] = Counter()
        self._delay = Histogram("spanbar_verdict_delay_seconds", "From the end of a span to the result it changed.")

    async def start(self) -> None:
        """Raises `OSError` when a port or a TLS file cannot be had."""
        if self.settings.exports is not None:
            await self.settings.exports.start()
        for forwarder in self.settings.forwarders:
            await forwarder.start()
        for exporter in self.settings.metrics_exporters:
            await exporter.start(self.metrics)
        await self.live.__aenter__()
        counters = self.receiver.counters
        keeping = (self._idle.run(), self._retention.run(), collect_when_quiet(lambda: counters.requests))
        self._tasks = [asyncio.create_task(each) for each in keeping]
        await self.receiver.start()
        self._unready = None

    async def stop(self) -> None:
        """Answer the requests under way, export the results as they stand, and end within five seconds."""
        self._unready = "it is stopping"
        await self.live.stop()
        try:
            async with asyncio.timeout(DRAIN):
                await self.receiver.stop()
        except TimeoutError:
            _log.warning("requests were still under way after %g s; their senders got no answer", DRAIN)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.live.__aexit__(None, None, None)
        last = [alarm.stop(LAST_WORDS) for alarm in self.settings.on_fail]
        last += [forwarder.close(LAST_WORDS) for forwarder in self.settings.forwarders]
        if self.settings.exports is not None:
            self.settings.exports.export_open(self.index)
            last.append(self.settings.exports.close(LAST_WORDS))
        last += [exporter.close(LAST_WORDS) for exporter in self.settings.metrics_exporters]
        await asyncio.gather(*last)
        if self.settings.recorder is not None:
            self.settings.recorder.close()
        if self.settings.journal is not None:
            self.settings.journal.close()

    def problems(self) -> list[str]:
        """What could not be delivered, a line each."""
        lost = [
            f"on-fail {a.target}: {a.failed + a.dropped} not told"
            for a in self.settings.on_fail
            if a.failed + a.dropped
        ]
        lost += [
            f"{exporter.name}: {exporter.counts.lost} requests of metrics were not delivered: "
            f"{exporter.counts.last_error}"
            for exporter in self.settings.metrics_exporters
            if exporter.counts.lost
        ]
        problems = [forwarder.problem for forwarder in self.settings.forwarders]
        if self.settings.recorder is not None:
            problems.append(self.settings.recorder.problem)
        if self.settings.journal is not None:
            problems.append(self.settings.journal.problem)
        lost += [problem for problem in problems if problem is not None]
        return lost + (self.settings.exports.problems() if self.settings.exports is not None else [])

    def _lose(self, cause: str, batch: Batch | None) -> None:
        """Whose the lost telemetry was, nobody knows in general: no session that is open now is whole."""
        cause = f"some telemetry could not be read: {cause[:LONGEST_CAUSE]}"
        if not self._losing:
            self._losing = True
            _log.warning("%s; what is open is not whole. Further losses are only counted", cause)
        self.index.cut_open(cause)
        if batch is not None:
            self.pipeline.lose(batch, cause)

    def _misdirected(self, request: str) -> None:
        if self.receiver.counters.misdirected == 1:
            _log.warning("a request came to %s: %s. Further ones are only counted", request, ELSEWHERE)

    def _pass_on(self, received: Received) -> None:
        if self.settings.recorder is not None:
            self.settings.recorder(received)
        for forwarder in self.settings.forwarders:
            forwarder(received)

    def metrics(self) -> Iterator[Metric | Histogram]:
        received = self.receiver.counters
        kinds = {"span": received.spans, "log": received.logs, "record": received.records}
        yield Metric(
            "spanbar_received_total",
            "Spans, log records and trace-contract records that were accepted.",
            "counter",
            {(("kind", kind),): value for kind, value in kinds.items()},
        )
        yield single("spanbar_received_bytes_total", "Bytes of accepted bodies.", "counter", received.bytes)
        yield single(
            "spanbar_requests_total", "Export requests, refused ones included.", "counter", received.requests
        )
        yield single(
            "spanbar_requests_refused_total", "Export requests that were refused.", "counter", received.refused
        )
        yield single(
            "spanbar_lost_requests_total",
            "Export requests of which all or a part could not be taken: what was open then is cut.",
            "counter",
            received.losses,
        )
        yield single(
            "spanbar_misdirected_requests_total",
            "Requests with OTLP to a path where none is taken.",
            "counter",
            received.misdirected,
        )
        yield single("spanbar_rejected_total", "Records left out of accepted requests.", "counter", received.rejected)
        yield single(
            "spanbar_dropped_metrics_total",
            "Metric requests accepted and dropped.",
            "counter",
            received.dropped_metrics,
        )
        yield from self._index_metrics()
        yield from self._delivery_metrics()
        yield self._delay

    def _index_metrics(self) -> Iterator[Metric]:
        states = Counter((unit.key.kind.value, "closed" if unit.closed else "open") for unit in self._units())
        yield Metric(
            "spanbar_units",
            "Sessions and jobs that are kept.",
            "gauge",
            {(("kind", kind), ("state", state)): number for (kind, state), number in states.items()},
        )
        yield single("spanbar_items", "Items that are kept.", "gauge", self.index.items)
        kept = self._retention
        yield single("spanbar_kept_records", "Spans and log records that are kept.", "gauge", kept.records)
        yield single(
            "spanbar_forgotten_records_total",
            "Spans and log records that were forgotten to make room: what was open of them is cut.",
            "counter",
            kept.forgotten,
        )
        yield single("spanbar_kept_bytes", "Bytes of items that are kept, about.", "gauge", self.index.bytes)
        if self.pipeline.oversize is not None:
            taken = self.pipeline.oversize.taken
            yield single("spanbar_values_cut_total", "Values that were larger than the limit.", "counter", taken)
        yield single("spanbar_units_evicted_total", "Units evicted to make room.", "counter", self.index.evicted)
        dropped = sum(unit.dropped for unit in self._units())
        yield single("spanbar_items_over_limit", "Items of kept units that were not kept.", "gauge", dropped)
        yield Metric(
            "spanbar_results_total",
            "Results that became final, by behavior and result.",
            "counter",
            {(("behavior", name), ("result", result)): n for (name, result), n in self._results.items()},
        )
        yield single("spanbar_stream_readers", "Open event streams.", "gauge", self.live.board.readers)
        yield single("spanbar_stream_events_total", "Events published.", "counter", self.live.feed.published)

    def _delivery_metrics(self) -> Iterator[Metric]:
        if self.settings.on_fail:
            told = {
                "delivered": sum(alarm.delivered for alarm in self.settings.on_fail),
                "failed": sum(alarm.failed for alarm in self.settings.on_fail),
                "dropped": sum(alarm.dropped for alarm in self.settings.on_fail),
            }
            yield _outcomes("spanbar_on_fail_total", "Deliveries of --on-fail.", told)
        if self.settings.exports is not None:
            exported = self.settings.exports.outcomes()
            yield _outcomes("spanbar_export_requests_total", "Requests of --export.", exported)
        if self.settings.forwarders:
            passed_on = outcomes([forwarder.counts for forwarder in self.settings.forwarders])
            yield _outcomes("spanbar_forward_requests_total", "Requests of --forward.", passed_on)

    def _units(self) -> Sequence[Unit]:
        return tuple(self.index.units.values())

    def _count(self, unit: Unit, outcome: BehaviorResult) -> None:
        if outcome.verdict.final:
            self._results[outcome.behavior, outcome.verdict.result.value] += 1

    def _measure(self, update: Update) -> None:
        item = update.change.new if update.change is not None else None
        if update.results and item is not None:
            ended = item.call.ended if item.call is not None and item.call.ended else item.time
            self._delay.observe((time.time_ns() - ended) / 1e9)


def _outcomes(name: str, help: str, counts: dict[str, int]) -> Metric:
    return Metric(name, help, "counter", {(("outcome", outcome),): n for outcome, n in counts.items()})
