"""`never: M`: fail if any item matches."""

from evaluator.operators.any_match import AnyMatchMonitor
from evaluator.operators.monitor import Explanation
from evaluator.operators.wording import evidence, placed, times
from evaluator.verdict import Result


class NeverMonitor(AnyMatchMonitor):
    __slots__ = ()

    @property
    def result(self) -> Result:
        return Result.FAIL if self._matches else Result.PASS

    def explain(self) -> Explanation:
        first = self._matches.first
        if first is None:
            return (), f"no item matches {self._spec.match.text}"
        often = times(len(self._matches))
        return evidence(self._matches), f"{self._spec.match.text} matched {often}, first {placed(first)}"
