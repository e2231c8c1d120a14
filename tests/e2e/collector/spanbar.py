"""A spanbar in this process: receiver, pipeline, index and behaviors, and what a backend would keep of it."""

from collections import Counter
from pathlib import Path

from collector.index import Index, UnitKey, UnitKind
from collector.journal import Journal
from collector.pipeline import Pipeline
from collector.receiver import Receiver
from collector.telemetry import Batch, LogRecord, Span
from evaluator.behaviors import Program
from evaluator.language.behaviors import read_behaviors
from evaluator.verdict import Contract, Result

BEHAVIORS = Path(__file__).with_name("pushes.yaml")


class Spanbar:
    """Also stands for a tracing backend, which is another OTLP receiver."""

    def __init__(self, journal: Path | None = None) -> None:
        self.spans: list[Span] = []
        self.logs: list[LogRecord] = []
        self.index = Index(Program(read_behaviors(BEHAVIORS), Contract.ANY))
        self.pipeline = Pipeline(self.index)
        self._ports: tuple[int, int] = (0, 0)
        self._receiver: Receiver | None = None
        self._journal = Journal(journal) if journal is not None else None
        if self._journal is not None:
            self._journal.follow(self.index)

    async def start(self) -> None:
        """Again after `stop`: on the same ports, with what it had."""
        http, grpc = self._ports
        self._receiver = Receiver(self._take, http_port=http, grpc_port=grpc)
        await self._receiver.start()
        assert self._receiver.grpc_port is not None
        self._ports = (self._receiver.http_port, self._receiver.grpc_port)

    async def stop(self) -> None:
        if self._receiver is not None:
            await self._receiver.stop()
            self._receiver = None

    async def succeeded(self, journal: Path) -> "Spanbar":
        """Another process in its place: at the same ports, with nothing of what it had but the journal."""
        await self.stop()
        if self._journal is not None:
            self._journal.close()
        successor = Spanbar(journal)
        successor._ports = self._ports
        await successor.start()
        return successor

    @property
    def http_url(self) -> str:
        return f"http://127.0.0.1:{self._ports[0]}"

    @property
    def grpc(self) -> str:
        """`host:port`, as Collector configurations have it."""
        return f"127.0.0.1:{self._ports[1]}"

    def _take(self, batch: Batch) -> None:
        self.spans.extend(batch.spans)
        self.logs.extend(batch.logs)
        self.pipeline.receive(batch)

    @property
    def span_ids(self) -> set[bytes]:
        return {span.span_id for span in self.spans}

    def sessions(self) -> dict[str, Counter[str]]:
        """How often each session has an item of each name."""
        return {
            unit.key.id: Counter(item.name for item in self.index.items_in_order(unit))
            for unit in self.index.sessions()
        }

    def results(self) -> dict[str, dict[str, Result]]:
        """By session and behavior, once nothing more is expected."""
        self.index.close_all()
        return {
            key.id: {each.behavior: each.verdict.result for each in unit.results}
            for key, unit in self.index.units.items()
            if key.kind is UnitKind.SESSION
        }

    def result(self, session: str) -> dict[str, Result]:
        unit = self.index.units[UnitKey(UnitKind.SESSION, session)]
        return {each.behavior: each.verdict.result for each in unit.results}
