"""How many runs must pass."""

import pytest

from evaluator.harness.testrun import needed


@pytest.mark.parametrize(
    ("min_pass", "runs", "count"),
    [
        (None, 3, 3),
        (1, 3, 1),
        (3, 3, 3),
        (1.0, 3, 3),
        (0.5, 3, 2),
        (0.7, 10, 7),
        (0.1, 10, 1),
        (0.01, 2, 1),
        (0.3, 1, 1),
        (0.29, 100, 29),
    ],
)
def test_min_pass_is_a_number_or_a_fraction_that_is_rounded_up(
    min_pass: int | float | None, runs: int, count: int
) -> None:
    assert needed(min_pass, runs) == count
