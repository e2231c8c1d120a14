"""The face that every operator has: a `Monitor` of one behavior over one unit.

A monitor is fed the items that match its matchers, with the number of the matcher (its role: 0 is the first one
that the operator has, and so on). What is fed can be taken back. The result after closing depends only on the items
that are there then, never on how they came.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Final

from evaluator.items import Item
from evaluator.verdict import Result

EVIDENCE: Final = 10
"""How many items a verdict has as evidence, at most."""

Explanation = tuple[tuple[Item, ...], str]
"""The evidence, in order, and one sentence why."""


class Monitor(ABC):
    """An incremental evaluator of one operator over one unit.

    The cost of `feed` does not grow with the unit, as long as items come in order.
    """

    __slots__ = ()

    @abstractmethod
    def feed(self, item: Item, role: int = 0) -> bool:
        """Take an item that matches; it may belong anywhere in the order. Whether the verdict may have changed."""

    @abstractmethod
    def retract(self, item: Item, role: int = 0) -> None:
        """Take back an item that was fed in this role. Raises ValueError when it was not."""

    @property
    @abstractmethod
    def result(self) -> Result:
        """The result if nothing else arrived."""

    @property
    def decided(self) -> bool:
        """Whether no item at all can change the result, wherever in the order it belongs."""
        return False

    @property
    def passed_by(self) -> bool:
        """Whether no item that everything here precedes can change the result."""
        return False

    @abstractmethod
    def explain(self) -> Explanation:
        """The items that decide the result as it is, and why."""

    @abstractmethod
    def fed(self) -> Iterator[tuple[Item, int]]:
        """Every item that is here, with its role, in any order."""

    def replace(self, old: Item, new: Item, role: int = 0) -> None:
        """Exchange an item for a later version of it that is at the same place in the order."""
        self.retract(old, role)
        self.feed(new, role)

    @classmethod
    def common(cls, variants: Sequence["Monitor"]) -> Result | None:
        """The result that holds whatever is in doubt, from a monitor for each extreme; None if there is none.

        The first one assumes that nothing in doubt matches, the last one that all of it does.
        """
        results = {variant.result for variant in variants}
        return results.pop() if len(results) == 1 else None
