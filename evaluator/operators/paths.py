"""`all` and `any` over paths: those of `file.change` events and of the delivered files (`diff.files`)."""

from collections.abc import Iterator
from typing import ClassVar, Final

from evaluator import globs
from evaluator.items import Item
from evaluator.operators.monitor import Monitor
from evaluator.operators.occurrences import Occurrences

DELIVERED: Final = "diff.files"


class PathsMonitor(Monitor):
    """What `all` and `any` share: the items that have paths, and those of them that decide the result.

    One path decides: of `any` one that matches, of `all` one that does not.
    """

    __slots__ = ("_deciding", "_matches", "_others")

    decisive: ClassVar[bool]
    """Whether the path that decides is one that matches."""

    def __init__(self, patterns: tuple[str, ...]) -> None:
        self._matches = globs.any_of(patterns)
        self._deciding = Occurrences()
        self._others = Occurrences()

    def feed(self, item: Item, role: int = 0) -> bool:
        if item.name == DELIVERED:
            found = self._of(item)
            return found is not None and found.add(item)
        return (self._deciding if self._decides(item.known_path) else self._others).add(item)

    def retract(self, item: Item, role: int = 0) -> None:
        found = self._of(item)
        if found is not None:
            found.remove(item)

    def fed(self) -> Iterator[tuple[Item, int]]:
        return ((item, 0) for matches in (self._deciding, self._others) for item in matches)

    def _of(self, item: Item) -> Occurrences | None:
        """Where an item belongs, by its paths; None when it has none."""
        if item.name != DELIVERED:
            return self._deciding if self._decides(item.known_path) else self._others
        if not item.paths:
            return None
        return self._deciding if any(self._decides(path) for path in item.paths) else self._others

    def _decides(self, path: str | None) -> bool:
        # A file outside the checkout has no path in the repository, and matches no glob.
        return (path is not None and self._matches(path)) is self.decisive

    @property
    def decided(self) -> bool:
        return bool(self._deciding)

    def deciding_path(self, item: Item) -> str:
        """The first path of an item that decides, in words."""
        paths = (item.paths or ()) if item.name == DELIVERED else (item.known_path,)
        path = next(path for path in paths if self._decides(path))
        return "a file outside the checkout" if path is None else path
