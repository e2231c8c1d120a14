"""`eventually: M`: pass if any item matches."""

from evaluator.operators.any_match import AnyMatchMonitor
from evaluator.operators.monitor import Explanation
from evaluator.operators.wording import placed
from evaluator.verdict import Result


class EventuallyMonitor(AnyMatchMonitor):
    __slots__ = ()

    @property
    def result(self) -> Result:
        return Result.PASS if self._matches else Result.FAIL

    def explain(self) -> Explanation:
        first = self._matches.first
        if first is None:
            return (), f"no item matches {self._spec.match.text}"
        return (first,), f"{self._spec.match.text} matched {placed(first)}"
