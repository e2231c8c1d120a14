"""The one way in: a batch becomes items, items change the index, and watchers see both (DESIGN.md, rule 4).

Live requests, recorded files and tests all come through `Pipeline.receive`, in one event loop.
"""

from collections.abc import Callable, Sequence
from typing import Final

from collector.assembly import Assembly
from collector.export.marker import without_own_output
from collector.index import Index, UnitKey, UnitKind, Update
from collector.oversize import Oversize
from collector.suspects import Suspects, named_in
from collector.telemetry import Batch
from evaluator.harness.sighting import Watcher

USUAL: Final = 2_048
"""Bytes a span in a request of which no span need be weighed: each counts for an equal share."""


class Pipeline:
    """`value_limit`: bytes of the largest value that is kept; None is no limit."""

    def __init__(self, index: Index, assembly: Assembly | None = None, *, value_limit: int | None = None) -> None:
        self.index = index
        self.assembly = assembly or Assembly()
        self.oversize = Oversize(value_limit) if value_limit is not None else None
        self.suspects = Suspects()
        self._watchers: list[Watcher] = []
        self._followers: list[Callable[[Sequence[bytes]], None]] = []
        self._listeners: list[Callable[[str], None]] = []
        self._emptied: list[str] = []
        """Sessions whose last item turned out to be another's."""
        if self.assembly.visibility is not None:
            index.listen(self._follow_evictions)

    def watch(self, watcher: Watcher) -> Callable[[], None]:
        """Show every batch to `watcher` after the index has it. Returns what stops that."""
        self._watchers.append(watcher)
        return lambda: self._watchers.remove(watcher)

    def follow(self, follower: Callable[[Sequence[bytes]], None]) -> None:
        """Tell `follower` after each batch of which traces it had something new (see `Assembled.touched`)."""
        self._followers.append(follower)

    def on_unreadable(self, listener: Callable[[str], None]) -> None:
        """Tell `listener` why (a clause), whenever there is no telling what some telemetry stands for."""
        self._listeners.append(listener)

    def receive(self, batch: Batch) -> None:
        batch = without_own_output(batch)
        if self.oversize is not None:
            self.oversize.take_out(batch)
        assembled = self.assembly.add(batch, sight=bool(self._watchers))
        for seen, present, unseen in assembled.sights:  # before items that may close what they are about
            if present:
                self.index.blind(seen, unseen)
            else:
                self.index.withdraw(seen)
        self.index.apply(assembled.changes, share=_share(batch))
        self._open_emptied()
        if assembled.unread:
            self.index.cut_open(assembled.unread)
        for session, job, cause, _ in assembled.losses:
            if session is not None:
                self.index.cut(UnitKey(UnitKind.SESSION, session), cause)
            if job is not None:
                self.index.cut(UnitKey(UnitKind.JOB, job), cause)
        if self.oversize is not None:
            for unit in self.oversize.units(batch, assembled.changes, self.assembly):
                self.index.cut(unit, self.oversize.cause)
        for unit, cause in self.suspects.units(batch, assembled.changes, self.assembly):
            self.index.cut(unit, cause)
        for watcher in self._watchers:
            watcher.observe(assembled.sightings, assembled.changes)
        for follower in self._followers:
            follower(assembled.touched)
        for cause in {loss.cause for loss in assembled.losses if loss.unreadable} | {assembled.unread} - {""}:
            for listener in self._listeners:
                listener(cause)

    def lose(self, batch: Batch, cause: str) -> None:
        """The batch, or a part of it, could not be taken: what it names, now or later, is not whole."""
        for trace in {span.trace_id for span in batch.spans} | {log.trace_id for log in batch.logs}:
            self.suspects.add(trace, cause)
        for unit in set(named_in(batch)):
            self.index.cut(unit, cause)

    def _follow_evictions(self, update: Update) -> None:
        kind, session = update.unit.key
        if not update.evicted or kind is not UnitKind.SESSION or self.assembly.visibility is None:
            return
        if update.unit.cut is None:
            self._emptied.append(session)
        else:
            self.assembly.visibility.drop(session)

    def _open_emptied(self) -> None:
        """A session without items that has spans of its own is one all the same."""
        while self._emptied:
            session = self._emptied.pop()
            visibility = self.assembly.visibility
            sight = None if visibility is None else visibility.last(session)
            if sight is not None and sight.present:
                self.index.blind(session, sight.unseen)


def _share(batch: Batch) -> int:
    """Bytes that each item of the batch counts for; 0 where they may differ so much that each is to be weighed."""
    number = len(batch.spans) + len(batch.logs) + len(batch.records)
    return batch.size // number if 0 < batch.size <= USUAL * number else 0
