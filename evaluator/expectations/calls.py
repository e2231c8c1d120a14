"""The calls of a turn, held against `function_calls` as they arrive."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evaluator.expectations.comparison import Comparison, compare
from evaluator.expectations.matchers import RegexSearch
from evaluator.expectations.matching import Matching
from evaluator.expectations.ordering import Slot, can_become_in_order, in_order
from evaluator.expectations.values import Fit
from evaluator.items import Call, Change, Item, ItemKind, NotRecorded
from evaluator.language.spec import CallExpectation

ItemId = tuple[Any, ...]

_UNREAD = NotRecorded("the telemetry of this call has no arguments or result that could be read")


@dataclass(frozen=True, slots=True)
class Tracked:
    """A call that happened, and how it compares with each entry that names it (by the entry's number)."""

    id: ItemId
    call: Call
    comparisons: dict[int, Comparison]

    def entries(self, at_least: Fit) -> tuple[int, ...]:
        """The entries that it fits, or with `Fit.UNKNOWN` may fit."""
        return tuple(entry for entry, found in self.comparisons.items() if found.fit >= at_least)


class Calls:
    """What was called so far, and what it comes to for the entries.

    Two maximum matchings are kept: one over what fits for sure, one over what may fit if values that were not
    recorded are what they should be. If the first gives every entry a call, they are all met whatever the unknown
    values are; if the second does not, they cannot be met whatever these are.
    """

    def __init__(
        self, entries: Sequence[CallExpectation], search: RegexSearch, *, ordered: bool, exclusive: bool
    ) -> None:
        self.entries = entries
        self.happened: dict[ItemId, Tracked] = {}
        self.held_back: dict[ItemId, Call] = {}
        """Calls that were asked for and have not run: suspended, denied or only requested."""
        self._count = Counter[str]()
        self._search = search
        self._ordered = ordered
        self._exclusive = exclusive
        self._matchings = {at_least: Matching[ItemId](len(entries)) for at_least in (Fit.YES, Fit.UNKNOWN)}
        self._ways: dict[Fit, tuple[ItemId, ...] | None] = {}

    def apply(self, change: Change) -> None:
        """Take what telemetry did to one item. An item that comes a second time replaces itself."""
        for item in change:
            if item is not None and item.kind is ItemKind.TOOL:
                self._forget(item.id)
        if change.new is not None and change.new.kind is ItemKind.TOOL:
            self._add(change.new)

    def in_time_order(self) -> list[Tracked]:
        """The calls by their start, then end; the same for every order of arrival."""
        return sorted(self.happened.values(), key=_by_time)

    def named(self, name: str) -> list[Call]:
        return [tracked.call for tracked in self.in_time_order() if tracked.call.name == name]

    def called(self, name: str) -> bool:
        return self._count[name] > 0

    @property
    def fit(self) -> Fit:
        """Whether the entries are met if nothing more is called."""
        if self.too_many:
            return Fit.NO
        if not self._matchings[Fit.UNKNOWN].complete or not self._in_order(Fit.UNKNOWN):
            return Fit.NO
        sure = self._matchings[Fit.YES].complete and self._in_order(Fit.YES)
        return Fit.YES if sure else Fit.UNKNOWN

    @property
    def too_many(self) -> bool:
        """Whether there are more calls than there may be."""
        return (self._exclusive or not self.entries) and len(self.happened) > len(self.entries)

    @property
    def lost(self) -> bool:
        """Whether no further call can make the entries met: something is there that must not be."""
        if self.too_many or not self._exclusive:
            return self.too_many
        if self._matchings[Fit.UNKNOWN].matched < len(self.happened):
            return True
        return self._ordered and not can_become_in_order(len(self.entries), self._slots(Fit.UNKNOWN))

    def way(self, at_least: Fit) -> tuple[ItemId, ...] | None:
        """The calls of the entries in order of time, or None where no choice of calls is in order."""
        if at_least not in self._ways:
            found = in_order(len(self.entries), self._slots(at_least))
            ids = [tracked.id for tracked in self.in_time_order()]
            self._ways[at_least] = None if found is None else tuple(ids[number] for number in found)
        return self._ways[at_least]

    def canonical(self, at_least: Fit) -> Matching[ItemId]:
        """A maximum matching that does not depend on the order of arrival."""
        fits = ((tracked.id, tracked.entries(at_least)) for tracked in self.in_time_order())
        return Matching[ItemId].canonical(len(self.entries), fits)

    def _in_order(self, at_least: Fit) -> bool:
        return not self._ordered or self.way(at_least) is not None

    def _slots(self, at_least: Fit) -> list[Slot]:
        return [
            Slot(
                number,
                tracked.call.started,
                max(tracked.call.started, tracked.call.ended),
                frozenset(tracked.entries(at_least)),
            )
            for number, tracked in enumerate(self.in_time_order())
        ]

    def _add(self, item: Item) -> None:
        call = item.call or Call(item.name, _UNREAD, _UNREAD, started=item.time, ended=item.time)
        if not call.status.happened:
            self.held_back[item.id] = call
            return
        comparisons = {
            number: compare(entry, call, self._search)
            for number, entry in enumerate(self.entries)
            if call.name in entry.names
        }
        tracked = self.happened[item.id] = Tracked(item.id, call, comparisons)
        self._count[call.name] += 1
        for at_least, matching in self._matchings.items():
            matching.add(item.id, tracked.entries(at_least))
        # More calls never take a way away; only where there is none yet can one have come up.
        self._ways = {at_least: way for at_least, way in self._ways.items() if way is not None}

    def _forget(self, item: ItemId) -> None:
        self.held_back.pop(item, None)
        tracked = self.happened.pop(item, None)
        if tracked is not None:
            self._count[tracked.call.name] -= 1
            for matching in self._matchings.values():
                matching.remove(item)
            self._ways.clear()


def _by_time(tracked: Tracked) -> tuple[int, int, str, str]:
    return (tracked.call.started, tracked.call.ended, tracked.call.name, repr(tracked.id))
