"""The one way in: a batch becomes items, items change the index, and watchers see both (DESIGN.md, rule 4).

Live requests, recorded files and tests all come through `Pipeline.receive`, in one event loop.
"""

from collections.abc import Callable

from collector.assembly import Assembly
from collector.export.marker import without_own_output
from collector.index import Index
from collector.telemetry import Batch
from evaluator.harness.sighting import Watcher


class Pipeline:
    def __init__(self, index: Index, assembly: Assembly | None = None) -> None:
        self.index = index
        self.assembly = assembly or Assembly()
        self._watchers: list[Watcher] = []

    def watch(self, watcher: Watcher) -> Callable[[], None]:
        """Show every batch to `watcher` after the index has it. Returns what stops that."""
        self._watchers.append(watcher)
        return lambda: self._watchers.remove(watcher)

    def receive(self, batch: Batch) -> None:
        assembled = self.assembly.add(without_own_output(batch), sight=bool(self._watchers))
        self.index.apply(assembled.changes)
        for watcher in self._watchers:
            watcher.observe(assembled.sightings, assembled.changes)
