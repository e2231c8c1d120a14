"""Whose telemetry is it: spans and calls are handed to the message they belong to (SEMANTICS.md, section 5)."""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from evaluator.harness import clock
from evaluator.harness.inventory import Inventory
from evaluator.harness.placeholders import Scope, as_text, fill
from evaluator.harness.sighting import Sighting
from evaluator.items import Change, Item, ItemKind, Json

REMEMBERED_SPANS: Final = 50_000
"""Spans of traces that no message started are kept up to this number, to find what their children inherit."""


class Correlation:
    """The keys of `agent.correlate`, and what they must be."""

    def __init__(self, correlate: Mapping[str, str | int | float]) -> None:
        self.keys = tuple(sorted(correlate))
        self._templates = [correlate[key] for key in self.keys]

    def expected(self, scope: Scope) -> tuple[str, ...]:
        """The value of each key for one message. Raises PlaceholderError."""
        return tuple(_plain(fill(template, scope)) for template in self._templates)

    def found(self, chain: Sequence[Sighting]) -> tuple[str | None, ...]:
        """The value of each key on the first span of the chain that has it, or None."""
        return tuple(self._first(key, chain) for key in self.keys)

    @staticmethod
    def _first(key: str, chain: Sequence[Sighting]) -> str | None:
        values = (sighting.context(key) for sighting in chain)
        return next((_plain(value) for value in values if value is not None), None)


class Claimant(Protocol):
    """A message that was sent, as the owner of telemetry."""

    trace_id: bytes
    test_id: str
    """The same for all messages of one execution."""
    correlation: tuple[str, ...]
    sent: int
    """ns since the epoch."""

    @property
    def accepting_until(self) -> float | None:
        """Until when (ticks) a call that names no test may be this one's; None while the turn is open."""

    def saw(self, sighting: Sighting, *, in_own_trace: bool) -> None: ...

    def apply(self, change: Change) -> None: ...

    def suspect(self, change: Change) -> None:
        """A call that may be this one's or another's: nothing tells."""


@dataclass(slots=True)
class _Owner:
    claimant: Claimant | None = None
    suspects: tuple[Claimant, ...] = ()

    @property
    def unknown(self) -> bool:
        return self.claimant is None


@dataclass(slots=True)
class _Placement:
    item: Item
    owner: _Owner
    after: int
    """How many messages had been sent when the item first arrived."""


@dataclass(slots=True)
class _ForeignTrace:
    """A trace that no message started."""

    spans: dict[bytes, Sighting] = field(default_factory=dict)
    unplaced: set[tuple[object, ...]] = field(default_factory=set)
    """Ids of items that no message owns yet; an ancestor that arrives late may tell."""


class Attribution:
    """A `Watcher` for the messages of one spec."""

    def __init__(self, correlation: Correlation, inventory: Inventory) -> None:
        self._correlation = correlation
        self._inventory = inventory
        self._by_trace: dict[bytes, Claimant] = {}
        self._by_correlation: dict[tuple[str, ...], list[Claimant]] = {}
        self._recent: list[tuple[int, Claimant]] = []
        """With how many messages were sent before each."""
        self._foreign: OrderedDict[bytes, _ForeignTrace] = OrderedDict()
        self._remembered = 0
        self._placements: dict[tuple[object, ...], _Placement] = {}
        self.received = 0
        """Spans and records so far, whoever sent them."""
        self.foreign = 0
        """Those of them that no message owns."""
        self.foreign_name = ""
        """The name of the last of these."""
        self.ignored: dict[tuple[object, ...], Item] = {}
        """Calls that belong to no message as far as anyone can tell."""
        self.after: Callable[[], None] | None = None
        """Called after each batch."""

    def expect(self, claimant: Claimant) -> None:
        """The message is about to be sent."""
        self._recent.append((len(self._by_trace), claimant))
        self._by_trace[claimant.trace_id] = claimant
        if self._correlation.keys:
            self._by_correlation.setdefault(claimant.correlation, []).append(claimant)

    def collides(self, claimant: Claimant) -> bool:
        """Whether a message of another execution has the same correlation."""
        alike = self._by_correlation.get(claimant.correlation, ())
        return any(other.test_id != claimant.test_id for other in alike)

    def _accepting(self, after: int) -> Iterator[Claimant]:
        """The messages that what arrived `after` so many of them, and has no name, may belong to.

        They are open, or were closed less than a settle time ago. When it arrived decides, by the order of events
        in this process: the clock that stamped a call may be any machine's.
        """
        now = clock.ticks()
        self._recent = [
            (number, each)
            for number, each in self._recent
            if each.accepting_until is None or each.accepting_until > now
        ]
        return (each for number, each in self._recent if number < after)

    def observe(self, sightings: Sequence[Sighting], changes: Sequence[Change]) -> None:
        touched: dict[bytes, None] = {}
        for sighting in sightings:
            self.received += 1
            self._inventory.saw(sighting)
            claimant = self._by_trace.get(sighting.trace_id)
            if claimant is not None:
                claimant.saw(sighting, in_own_trace=True)
            else:
                self._observe_foreign(sighting)
                touched[sighting.trace_id] = None
        for change in changes:
            self._observe_change(change)
        for trace_id in touched:
            self._place_again(trace_id)
        if self.after is not None:
            self.after()

    def _observe_foreign(self, sighting: Sighting) -> None:
        if sighting.trace_id:
            self._remember(sighting)
        owner = self._owner(self._chain(sighting), sighting.start, len(self._by_trace))
        if owner.claimant is not None:
            owner.claimant.saw(sighting, in_own_trace=False)
        elif sighting.role != "hello" and (sighting.trace_id or sighting.declares is None):
            self.foreign += 1
            self.foreign_name = sighting.name or sighting.role

    def _observe_change(self, change: Change) -> None:
        old, new = change
        before = self._placements.pop(old.id, None) if old is not None else None
        if new is not None and before is None:
            before = self._placements.pop(new.id, None)
        if new is None or new.kind is not ItemKind.TOOL or new.call is None or not new.call.status.happened:
            if before is not None:
                self._move(before, None)
            return
        self._inventory.called.add(new.call.name)
        self._move(before, self._place(new, before.after if before is not None else len(self._by_trace)))

    def _place(self, item: Item, after: int) -> _Placement:
        call = item.call
        if call is None:
            raise ValueError("only calls are placed")
        claimant = self._by_trace.get(call.trace_id)
        if claimant is not None:
            return _Placement(item, _Owner(claimant), after)
        trace = self._foreign.get(call.trace_id)
        seen = trace.spans.get(call.span_id) if trace is not None else None
        own = Sighting(call.trace_id, call.span_id, b"", call.name, "tool", context=item.attributes.get)
        chain = [own] if seen is None else [own, *self._chain(seen)]
        owner = self._owner(chain, call.started, after)
        if trace is not None and owner.unknown:
            trace.unplaced.add(item.id)
        return _Placement(item, owner, after)

    def _move(self, before: _Placement | None, after: _Placement | None) -> None:
        """Take an item from the messages that had it, and give it to those that have it now."""
        if before is not None and after is not None and before.owner.claimant is after.owner.claimant:
            owner = after.owner.claimant
            if owner is not None:
                self._placements[after.item.id] = after
                owner.apply(Change(before.item, after.item))
                return
        if before is not None:
            self.ignored.pop(before.item.id, None)
            for claimant, give in _parties(before.owner):
                give(claimant, Change(before.item, None))
        if after is not None:
            self._placements[after.item.id] = after
            if after.owner.suspects:
                self.ignored[after.item.id] = after.item
            for claimant, give in _parties(after.owner):
                give(claimant, Change(None, after.item))

    def _place_again(self, trace_id: bytes) -> None:
        trace = self._foreign.get(trace_id)
        if trace is None or not trace.unplaced:
            return
        pending, trace.unplaced = trace.unplaced, set()
        for item_id in pending:
            before = self._placements.get(item_id)
            if before is None:
                continue
            after = self._place(before.item, before.after)
            if after.owner.claimant is not None:
                self._move(before, after)

    def _owner(self, chain: Sequence[Sighting], started: int, after: int) -> _Owner:
        """Of the span that the chain begins with; its ancestors, as far as they have arrived, follow."""
        for sighting in chain:
            linked = {id(owner): owner for link in sighting.links if (owner := self._by_trace.get(link))}
            if len(linked) == 1:
                return _Owner(next(iter(linked.values())))
            if linked:
                return _Owner(suspects=tuple(linked.values()))
        found = self._correlation.found(chain)
        if found and None not in found:
            alike = self._by_correlation.get(tuple(str(value) for value in found), ())
            return self._among(alike, started, after)
        return _Owner(suspects=tuple(self._possible(found, after)))

    def _among(self, alike: Sequence[Claimant], started: int, after: int) -> _Owner:
        """Of the messages with the found correlation; of one conversation, the last one sent before the call."""
        if len({claimant.test_id for claimant in alike}) > 1:
            return _Owner(suspects=tuple(claimant for claimant in self._accepting(after) if claimant in alike))
        if not alike:
            return _Owner()
        before = [claimant for claimant in alike if claimant.sent <= started]
        return _Owner(before[-1] if before else alike[-1])

    def _possible(self, found: Sequence[str | None], after: int) -> Iterator[Claimant]:
        """The messages that a call may belong to that does not say it all."""
        for claimant in self._accepting(after):
            expected = claimant.correlation
            if any(value is not None and value != expected[at] for at, value in enumerate(found)):
                continue
            yield claimant

    def _chain(self, sighting: Sighting) -> list[Sighting]:
        trace = self._foreign.get(sighting.trace_id)
        chain, seen = [sighting], {sighting.span_id}
        while trace is not None and sighting.parent_id and sighting.parent_id not in seen:
            parent = trace.spans.get(sighting.parent_id)
            if parent is None:
                break
            chain.append(parent)
            seen.add(parent.span_id)
            sighting = parent
        return chain

    def _remember(self, sighting: Sighting) -> None:
        trace = self._foreign.setdefault(sighting.trace_id, _ForeignTrace())
        self._remembered += sighting.span_id not in trace.spans
        trace.spans[sighting.span_id] = sighting
        while self._remembered > REMEMBERED_SPANS and len(self._foreign) > 1:
            _, oldest = self._foreign.popitem(last=False)
            self._remembered -= len(oldest.spans)


def _parties(owner: _Owner) -> Iterable[tuple[Claimant, Callable[[Claimant, Change], None]]]:
    if owner.claimant is not None:
        return [(owner.claimant, _apply)]
    return [(claimant, _suspect) for claimant in owner.suspects]


def _apply(claimant: Claimant, change: Change) -> None:
    claimant.apply(change)


def _suspect(claimant: Claimant, change: Change) -> None:
    claimant.suspect(change)


def _plain(value: Json) -> str:
    """42, 42.0 and "42" are the same correlation value."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return as_text(value)
