"""`any: {paths: {from: [...]}, match: G}`: at least one path matches one of the globs."""

from evaluator.language.assertion import AnyPath
from evaluator.operators.monitor import Explanation
from evaluator.operators.paths import PathsMonitor
from evaluator.operators.wording import evidence, where
from evaluator.verdict import Result


class AnyPathMonitor(PathsMonitor):
    __slots__ = ("_spec",)

    decisive = True

    def __init__(self, spec: AnyPath) -> None:
        super().__init__(spec.globs)
        self._spec = spec

    @property
    def result(self) -> Result:
        if self._deciding:
            return Result.PASS
        return Result.FAIL if self._others else Result.NOT_APPLICABLE

    def explain(self) -> Explanation:
        globs = " or ".join(self._spec.globs)
        first = self._deciding.first
        if first is not None:
            return (first,), f"{self.deciding_path(first)}, of {first.name} at {where(first)}, matches {globs}"
        if self._others:
            return evidence(self._others), f"no path matches {globs}"
        return (), f"no paths of {' or '.join(self._spec.sources)}"
