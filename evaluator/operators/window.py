"""Windows: whether an item is satisfied by one that precedes it and is near enough (`each`, `within`)."""

from abc import ABC, abstractmethod
from enum import IntEnum
from typing import Any

from sortedcontainers import SortedDict

from evaluator.items import Item
from evaluator.language.assertion import Within
from evaluator.operators.precedence import group_of
from evaluator.operators.timeline import Earliest, Timeline


class Standing(IntEnum):
    """How an item stands that requires a prior one. Of several pairs the highest counts."""

    FAILED = 0
    UNKNOWN = 1
    """An item precedes it, and how far before it cannot be computed."""
    SATISFIED = 2


class Window(ABC):
    """The prior items, and which later ones they satisfy. This one asks for nothing but order."""

    __slots__ = ("priors",)

    def __init__(self) -> None:
        self.priors = Timeline()

    def add(self, prior: Item) -> None:
        self.priors.add(prior)

    def remove(self, prior: Item) -> None:
        self.priors.remove(prior)

    @abstractmethod
    def pair(self, prior: Item, item: Item) -> Standing:
        """What a prior item means for one that it precedes."""

    @abstractmethod
    def judge(self, item: Item) -> Standing:
        """How an item stands with all priors that there are."""

    @property
    def lasting_doubt(self) -> bool:
        """Whether no item that comes after everything here can fail any more, because a pair of it is unknown."""
        return False

    def witness(self, item: Item) -> Item | None:
        """The prior item that comes nearest, for the reason: by seq, else the latest by time."""
        return self.priors.by_position(item) or self.priors.last_by_clock(item)

    def distance(self, prior: Item, item: Item) -> str:
        """How far before, in words; "" where it cannot be said."""
        return ""


class Unbounded(Window):
    __slots__ = ()

    def pair(self, prior: Item, item: Item) -> Standing:
        return Standing.SATISFIED

    def judge(self, item: Item) -> Standing:
        return Standing.FAILED if self.priors.before(item) is None else Standing.SATISFIED


class SeqWindow(Window):
    """At most `most` positions of one session's log before."""

    __slots__ = ("_most",)

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def pair(self, prior: Item, item: Item) -> Standing:
        if group_of(prior) is None or group_of(prior) != group_of(item):
            return Standing.UNKNOWN
        return Standing.SATISFIED if self._near(prior, item) else Standing.FAILED

    def judge(self, item: Item) -> Standing:
        nearest = self.priors.by_position(item)
        if nearest is not None and self._near(nearest, item):
            return Standing.SATISFIED
        return Standing.FAILED if self.priors.by_clock(item) is None else Standing.UNKNOWN

    def _near(self, prior: Item, item: Item) -> bool:
        """Of two items that have a seq."""
        return (item.seq or 0) - (prior.seq or 0) <= self._most

    @property
    def lasting_doubt(self) -> bool:
        return None in self.priors.groups or len(self.priors.groups) > 1

    def distance(self, prior: Item, item: Item) -> str:
        if item.seq is None or prior.seq is None or item.session != prior.session:
            return ""
        return f"{_plural(item.seq - prior.seq, 'position')} before; allowed {self._most}"


class TurnWindow(Window):
    """At most `most` turns of one session before."""

    __slots__ = ("_loose", "_most", "_sessions", "_turns")

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most
        self._turns: dict[str, Any] = {}
        """By session and turn, the priors of that turn."""
        self._sessions = Earliest(lambda item: item.session)
        """The priors that have a turn."""
        self._loose = Timeline()
        """The priors whose turn or session is not known."""

    def add(self, prior: Item) -> None:
        super().add(prior)
        if prior.session is None or prior.turn is None:
            self._loose.add(prior)
            return
        self._sessions.add(prior)
        turns = self._turns.setdefault(prior.session, SortedDict())
        if prior.turn not in turns:
            turns[prior.turn] = Timeline()
        turns[prior.turn].add(prior)

    def remove(self, prior: Item) -> None:
        super().remove(prior)
        if prior.session is None or prior.turn is None:
            self._loose.remove(prior)
            return
        self._sessions.remove(prior)
        turns = self._turns[prior.session]
        turns[prior.turn].remove(prior)
        if not turns[prior.turn]:
            del turns[prior.turn]

    def pair(self, prior: Item, item: Item) -> Standing:
        if prior.session is None or prior.session != item.session or prior.turn is None or item.turn is None:
            return Standing.UNKNOWN
        return Standing.SATISFIED if item.turn - prior.turn <= self._most else Standing.FAILED

    def judge(self, item: Item) -> Standing:
        if item.session is None or item.turn is None:
            return Standing.FAILED if self.priors.before(item) is None else Standing.UNKNOWN
        turns = self._turns.get(item.session)
        if turns and any(turns[turn].before(item) for turn in turns.irange(item.turn - self._most)):
            return Standing.SATISFIED
        elsewhere = self._sessions.outside(item.session)
        if (elsewhere is not None and elsewhere.time < item.time) or self._loose.before(item):
            return Standing.UNKNOWN
        return Standing.FAILED

    @property
    def lasting_doubt(self) -> bool:
        return bool(self._loose) or len(self._sessions.runs) > 1

    def distance(self, prior: Item, item: Item) -> str:
        if item.turn is None or prior.turn is None or item.session != prior.session:
            return ""
        return f"{_plural(item.turn - prior.turn, 'turn')} before; allowed {self._most}"


def window(within: Within | None) -> Window:
    """An empty window."""
    if within is None:
        return Unbounded()
    return SeqWindow(within.most) if within.unit == "seq" else TurnWindow(within.most)


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
