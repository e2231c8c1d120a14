"""`count: {match: M, min: N, max: N}`: pass if the number of matches is in range."""

from collections.abc import Iterator, Sequence

from evaluator.items import Item
from evaluator.language.assertion import Count
from evaluator.operators.monitor import Explanation, Monitor
from evaluator.operators.occurrences import Occurrences
from evaluator.operators.wording import evidence, placed, times
from evaluator.verdict import Result


class CountMonitor(Monitor):
    __slots__ = ("_matches", "_spec")

    def __init__(self, spec: Count) -> None:
        self._spec = spec
        self._matches = Occurrences()

    def feed(self, item: Item, role: int = 0) -> bool:
        self._matches.add(item)
        size = len(self._matches)
        return size == self._spec.least or size - 1 == self._spec.most

    def retract(self, item: Item, role: int = 0) -> None:
        self._matches.remove(item)

    def fed(self) -> Iterator[tuple[Item, int]]:
        return ((item, 0) for item in self._matches)

    @property
    def result(self) -> Result:
        return Result.PASS if self._enough and not self._over else Result.FAIL

    @property
    def _enough(self) -> bool:
        return len(self._matches) >= (self._spec.least or 0)

    @property
    def _over(self) -> bool:
        return self._spec.most is not None and len(self._matches) > self._spec.most

    @property
    def decided(self) -> bool:
        return self._over or (self._spec.most is None and self._enough)

    @classmethod
    def common(cls, variants: Sequence[Monitor]) -> Result | None:
        # Too few without what is in doubt and too many with it: some number in between may be right.
        few, *_, many = (variant for variant in variants if isinstance(variant, CountMonitor))
        return None if not few._enough and many._over else super().common(variants)

    def explain(self) -> Explanation:
        size, first = len(self._matches), self._matches.first
        said = f"{self._spec.match.text} matched {times(size)}, {allowed(self._spec)}"
        if first is None:
            return (), f"no item matches {self._spec.match.text}, {allowed(self._spec)}"
        return evidence(self._matches), f"{said}; first {placed(first)}"


def allowed(spec: Count) -> str:
    """The range in words."""
    if spec.most is None:
        return f"at least {spec.least} needed"
    if spec.least is None:
        return f"at most {spec.most} allowed"
    if spec.least == spec.most:
        return f"exactly {spec.least} needed"
    return f"{spec.least} to {spec.most} needed"
