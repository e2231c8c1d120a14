"""`before` and `order` where matches are in doubt: what the items that may be the first matches allow."""

from abc import abstractmethod
from collections.abc import Iterable
from itertools import pairwise

from evaluator.items import Item
from evaluator.operators.extents import Extents
from evaluator.operators.monitor import Monitor
from evaluator.operators.possible import PossibleFirsts
from evaluator.operators.uncertain import Cause, UncertainMonitor
from evaluator.verdict import Result


class UncertainSequence(UncertainMonitor):
    """Exact: each result that some choice of the doubtful matches gives is found, and no other.

    The first matches of different roles do not depend on one another, so a choice is one possible first match for
    each role. A chain that passes is looked for role by role, from the extents of what the chains so far reach. A
    doubtful match that comes in order costs the same however many there are; what else changes the possible first
    matches has them looked through again when the result is next asked for.
    """

    __slots__ = ("_extents", "_firsts", "_reached", "_results")

    def __init__(self, certain: Monitor, roles: int, cause: Cause) -> None:
        super().__init__(certain, roles, cause)
        self._firsts = tuple(PossibleFirsts() for _ in range(roles))
        self._extents: tuple[Extents, ...] = ()
        """By role, of all possible first matches."""
        self._reached: tuple[Extents, ...] = ()
        """By role, of the possible first matches at which a chain can end that is in order up to there."""
        self._results: frozenset[Result] | None = None
        """What is possible. None: not known, it must be looked through again."""
        for item, role in certain.fed():
            self._firsts[role].feed(item)

    def feed(self, item: Item, role: int = 0) -> bool:
        self._certain.feed(item, role)
        changed = self._firsts[role].feed(item)
        if changed:
            self._results = None
        return changed

    def retract(self, item: Item, role: int = 0) -> None:
        self._certain.retract(item, role)
        self._firsts[role].retract(item)
        self._results = None

    def doubt(self, item: Item, role: int) -> None:
        firsts = self._firsts[role]
        widened = firsts.doubt(item)
        if self._results is None or len(self._results) > 1:
            return  # a further doubt takes no result away
        if widened:
            self._results = None
        elif firsts.admits(item):
            self._extents[role].add(item)
            self._reach(role, (item,))
            self._results = self._possible()

    def retract_doubt(self, item: Item, role: int) -> None:
        self._firsts[role].retract_doubt(item)
        self._results = None

    def doubtful(self, role: int) -> Item | None:
        return self._firsts[role].doubtful

    @property
    def agreed(self) -> Result | None:
        if self._results is None:
            self._extents = tuple(Extents() for _ in self._firsts)
            self._reached = tuple(Extents() for _ in self._firsts)
            for extents, firsts in zip(self._extents, self._firsts, strict=True):
                for item in firsts:
                    extents.add(item)
            self._reach(0, self._firsts[0])
            self._results = self._possible()
        return next(iter(self._results)) if len(self._results) == 1 else None

    def _reach(self, role: int, items: Iterable[Item]) -> None:
        """Go on with chains to these possible first matches of a role, and from there."""
        changed = False
        for item in items:
            if role == 0 or self._reached[role - 1].any_precedes(item):
                changed |= self._reached[role].add(item)
        if changed and role + 1 < len(self._firsts):
            self._reach(role + 1, self._firsts[role + 1])

    @property
    def _may_break(self) -> bool:
        """Whether of two neighbours both may be there and not in order."""
        return any(not one.all_precede(other) for one, other in pairwise(self._extents))

    @abstractmethod
    def _possible(self) -> frozenset[Result]:
        """Each result that some choice gives."""


class UncertainBefore(UncertainSequence):
    __slots__ = ()

    def _possible(self) -> frozenset[Result]:
        first, then = self._firsts
        found = set()
        if then.may_be_missing:
            found.add(Result.NOT_APPLICABLE)
        if self._reached[1]:
            found.add(Result.PASS)
        if self._may_break or (first.may_be_missing and self._extents[1]):
            found.add(Result.FAIL)
        return frozenset(found)

    @property
    def passed_by(self) -> bool:
        # What comes after everything becomes neither the first `then` nor a `first` that precedes it.
        return self.agreed is not None and not self._firsts[1].may_be_missing


class UncertainOrder(UncertainSequence):
    __slots__ = ()

    def _possible(self) -> frozenset[Result]:
        found = set()
        if self._reached[-1]:
            found.add(Result.PASS)
        if self._may_break or any(firsts.may_be_missing for firsts in self._firsts):
            found.add(Result.FAIL)
        return frozenset(found)

    @property
    def passed_by(self) -> bool:
        if self.agreed is not Result.FAIL:
            return self.agreed is Result.PASS
        # Where a chain may be in order up to its end, and nothing else may be there, later items may complete it.
        for role in reversed(range(self._roles)):
            if self._reached[role]:
                return False
            if not self._firsts[role].may_be_missing:
                return True
        return False
