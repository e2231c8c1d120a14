"""`before: {first: A, then: B}`: the first A precedes the first B."""

from collections.abc import Iterator

from evaluator.items import Item
from evaluator.language.assertion import Before
from evaluator.operators.monitor import Explanation, Monitor
from evaluator.operators.occurrences import Occurrences
from evaluator.operators.precedence import precedes
from evaluator.operators.wording import placed
from evaluator.verdict import Result


class BeforeMonitor(Monitor):
    """Role 0 is `first`, role 1 is `then`."""

    __slots__ = ("_first", "_spec", "_then")

    def __init__(self, spec: Before) -> None:
        self._spec = spec
        self._first = Occurrences()
        self._then = Occurrences()

    def feed(self, item: Item, role: int = 0) -> bool:
        return (self._then if role else self._first).add(item)

    def retract(self, item: Item, role: int = 0) -> None:
        (self._then if role else self._first).remove(item)

    def fed(self) -> Iterator[tuple[Item, int]]:
        return ((item, role) for role, matches in enumerate((self._first, self._then)) for item in matches)

    @property
    def result(self) -> Result:
        first, then = self._first.first, self._then.first
        if then is None:
            return Result.NOT_APPLICABLE
        return Result.PASS if first is not None and precedes(first, then) else Result.FAIL

    @property
    def passed_by(self) -> bool:
        # What comes after everything becomes neither the first `then` nor a `first` that precedes it.
        return self._then.first is not None

    def explain(self) -> Explanation:
        wanted = self._spec.first.text
        first, then = self._first.first, self._then.first
        if then is None:
            return (), f"no item matches {self._spec.then.text}"
        if first is None:
            return (then,), f"{placed(then)}, and no item matches {wanted}"
        if precedes(first, then):
            return (first, then), f"{placed(first)} precedes {placed(then)}"
        return (
            then,
            first,
        ), f"{placed(then)}, and the first match of {wanted} is {placed(first)}: it does not precede it"
