"""A span is `ok` only for what was verified: a provisional pass is not."""

import pytest

from collector.export.evaluation import span_status
from collector.export.otlp import ERROR, OK, UNSET
from evaluator.verdict import BehaviorResult, Result, Severity, Verdict


@pytest.mark.parametrize(
    ("result", "final", "severity", "expected"),
    [
        (Result.PASS, True, Severity.ERROR, OK),
        (Result.PASS, False, Severity.ERROR, UNSET),
        (Result.FAIL, True, Severity.ERROR, ERROR),
        (Result.FAIL, False, Severity.ERROR, ERROR),
        (Result.UNKNOWN, True, Severity.ERROR, ERROR),
        (Result.FAIL, True, Severity.WARN, UNSET),
        (Result.NOT_APPLICABLE, True, Severity.ERROR, UNSET),
    ],
)
def test_the_status_of_a_result(result: Result, final: bool, severity: Severity, expected: int) -> None:
    assert span_status(BehaviorResult("b", severity, Verdict(result, final)))[0] == expected
