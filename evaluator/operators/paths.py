"""`all` and `any` over paths: those of `file.change` events and of the delivered files (`diff.files`)."""

from collections.abc import Callable, Iterator

from evaluator import globs
from evaluator.items import Item
from evaluator.operators.monitor import Monitor
from evaluator.operators.occurrences import Occurrences
from evaluator.verdict import Contract

DELIVERED = "diff.files"


class PathsMonitor(Monitor):
    """What `all` and `any` share: the items that have paths, and those of them that decide the result."""

    __slots__ = ("_deciding", "_globs", "_others")

    def __init__(self, patterns: tuple[str, ...], contract: Contract) -> None:
        super().__init__(contract)
        self._globs = tuple(globs.compiled(pattern) for pattern in patterns)
        self._deciding = Occurrences()
        self._others = Occurrences()

    def decides(self, item: Item) -> bool:
        """Whether an item alone decides the result."""
        raise NotImplementedError

    def matches(self, path: str | None) -> bool:
        """Whether a path matches one of the globs; a file outside the checkout has none and does not."""
        return path is not None and any(matches(path) for matches in self._globs)

    def feed(self, item: Item, role: int = 0) -> None:
        if paths_of(item):
            (self._deciding if self.decides(item) else self._others).add(item)

    def retract(self, item: Item, role: int = 0) -> None:
        if paths_of(item):
            (self._deciding if self.decides(item) else self._others).remove(item)

    def fed(self) -> Iterator[tuple[Item, int]]:
        return ((item, 0) for matches in (self._deciding, self._others) for item in matches)

    @property
    def decided(self) -> bool:
        return bool(self._deciding)

    @property
    def applicable(self) -> bool:
        """Whether there is any path."""
        return bool(self._deciding or self._others)

    def chosen(self, item: Item, wanted: Callable[[str | None], bool]) -> str:
        """The first path of an item that is wanted, in words."""
        path = next(path for path in paths_of(item) if wanted(path))
        return "a file outside the checkout" if path is None else path


def paths_of(item: Item) -> tuple[str | None, ...]:
    """The paths of an item: None for a file that has no path in the repository."""
    return (item.paths or ()) if item.name == DELIVERED else (item.path,)
