"""`--export` and `--forward` of a server: results and telemetry on their way out."""

from collections.abc import Sequence
from typing import Final

from collector.export.exporter import ResultExporter
from collector.export.sender import Counts
from collector.index import Index, Unit, Update
from collector.live.board import Board
from evaluator.verdict import BehaviorResult

STOPPED: Final = "spanbar stopped before it had ended"


class ResultExports:
    """Exports each result when it is final or revised, and each unit when it ends."""

    def __init__(self, exporters: Sequence[ResultExporter]) -> None:
        self._exporters = exporters
        self._index: Index | None = None

    def follow(self, index: Index, board: Board) -> None:
        self._index = index
        board.listen(self._result)
        index.listen(self._updated)

    async def start(self) -> None:
        """Raises OSError or ssl.SSLError when TLS files cannot be used."""
        for exporter in self._exporters:
            await exporter.start()

    def export_open(self, index: Index) -> None:
        """Export the units that have not ended, with their results as they stand: provisional, and marked so."""
        for unit in index.units.values():
            if unit.closed:
                continue
            for outcome in unit.results:
                if not outcome.verdict.final:
                    self._result_of(unit, outcome)
            self._ended(index, unit, unit.cut or STOPPED)

    async def close(self, within: float) -> None:
        for exporter in self._exporters:
            await exporter.close(within / len(self._exporters))

    def outcomes(self) -> dict[str, int]:
        """Requests by what became of them."""
        return outcomes([exporter.counts for exporter in self._exporters])

    def problems(self) -> list[str]:
        """What was not delivered, a line for each destination."""
        return [
            f"{exporter.name}: {exporter.counts.lost} requests of results were not delivered: "
            f"{exporter.counts.last_error}"
            for exporter in self._exporters
            if exporter.counts.lost
        ]

    def _result(self, unit: Unit, outcome: BehaviorResult) -> None:
        if outcome.verdict.final:
            self._result_of(unit, outcome)

    def _result_of(self, unit: Unit, outcome: BehaviorResult) -> None:
        for exporter in self._exporters:
            exporter.behavior_result(unit.key, outcome)

    def _updated(self, update: Update) -> None:
        unit = update.unit
        ended = unit.closed and update.change is None and not update.evicted
        if (ended or (update.evicted and unit.cut is not None)) and self._index is not None:
            self._ended(self._index, unit, unit.cut)

    def _ended(self, index: Index, unit: Unit, cut: str | None) -> None:
        items = index.items_in_order(unit)
        for exporter in self._exporters:
            exporter.unit_closed(unit.key, unit.results, items, cut)


def outcomes(counts: Sequence[Counts]) -> dict[str, int]:
    """Requests of several senders, by what became of them."""
    return {
        "delivered": sum(each.delivered for each in counts),
        "failed": sum(each.failed for each in counts),
        "dropped": sum(each.dropped for each in counts),
        "pending": sum(each.pending for each in counts),
    }
