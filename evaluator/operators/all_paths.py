"""`all: {paths: {from: [...]}, match: G}`: every path matches one of the globs."""

from evaluator.language.assertion import AllPaths
from evaluator.operators.monitor import Explanation
from evaluator.operators.paths import PathsMonitor
from evaluator.operators.wording import evidence, where
from evaluator.verdict import Result


class AllPathsMonitor(PathsMonitor):
    __slots__ = ("_spec",)

    decisive = False

    def __init__(self, spec: AllPaths) -> None:
        super().__init__(spec.globs)
        self._spec = spec

    @property
    def result(self) -> Result:
        if self._deciding:
            return Result.FAIL
        return Result.PASS if self._others else Result.NOT_APPLICABLE

    def explain(self) -> Explanation:
        globs = " or ".join(self._spec.globs)
        first = self._deciding.first
        if first is not None:
            path = self.deciding_path(first)
            return evidence(self._deciding), f"{path}, of {first.name} at {where(first)}, does not match {globs}"
        if self._others:
            return evidence(self._others), f"every path matches {globs}"
        return (), f"no paths of {' or '.join(self._spec.sources)}"
