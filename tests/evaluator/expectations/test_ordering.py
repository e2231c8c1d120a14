"""Calls in the listed order, also where some have no length and share an instant."""

import pytest

from evaluator.expectations.ordering import Slot, can_become_in_order, in_order

Call = tuple[int, int, set[int]]
"""Started, ended, the entries that it fits."""


def slots(calls: list[Call]) -> list[Slot]:
    return [Slot(number, started, ended, frozenset(fits)) for number, (started, ended, fits) in enumerate(calls)]


@pytest.mark.parametrize(
    ("size", "calls", "way"),
    [
        (2, [(0, 1, {0}), (2, 3, {1})], (0, 1)),
        (2, [(2, 3, {0}), (0, 1, {1})], None),
        (2, [(0, 10, {0}), (10, 20, {1})], (0, 1)),
        (2, [(0, 20, {0}), (10, 30, {1})], None),
        (2, [(0, 30, {0}), (2, 6, {0}), (10, 20, {1})], (1, 2)),
        (2, [(5, 5, {0, 1}), (5, 5, {0})], (1, 0)),
        (3, [(5, 5, {1}), (5, 5, {0, 2}), (5, 5, {0})], (2, 0, 1)),
        (2, [(5, 5, {0, 1})], None),
        (3, [(0, 5, {0}), (5, 5, {1}), (5, 9, {2})], (0, 1, 2)),
        (3, [(5, 5, {0}), (0, 5, {1}), (5, 5, {2})], None),
        (2, [(3, 3, {0}), (5, 5, {0, 1})], (0, 1)),
        (2, [(0, 5, {0}), (5, 5, {0}), (5, 5, {1})], (1, 2)),
    ],
)
def test_the_way_through_the_entries(size: int, calls: list[Call], way: tuple[int, ...] | None) -> None:
    assert in_order(size, slots(calls)) == way


@pytest.mark.parametrize(
    ("size", "calls", "possible"),
    [
        (2, [(0, 1, {1})], True),
        (2, [(0, 1, {0}), (2, 3, {1})], True),
        (2, [(2, 3, {0}), (0, 1, {1})], False),
        (3, [(0, 2, {0}), (1, 3, {2})], False),
        (3, [(0, 1, {0, 1}), (1, 2, {1})], True),
        (2, [(5, 5, {1}), (5, 5, {0})], True),
        (2, [(5, 5, {1}), (5, 5, {1})], False),
        (1, [(0, 1, set())], False),
    ],
)
def test_whether_calls_can_still_get_into_order(size: int, calls: list[Call], possible: bool) -> None:
    assert can_become_in_order(size, slots(calls)) is possible
