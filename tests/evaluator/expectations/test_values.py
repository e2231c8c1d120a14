"""Equality as JSON has it, and the text of values."""

import datetime
from typing import Any

import pytest

from evaluator.expectations.values import Fit, clip, equal, show, text_form
from evaluator.items import NotRecorded

GONE = NotRecorded("content capture is off")
HUGE = 10**6000 + 7


@pytest.mark.parametrize(
    ("expected", "actual", "fit"),
    [
        (1, 1, Fit.YES),
        (2, 2.0, Fit.YES),
        (True, True, Fit.YES),
        (True, 1, Fit.NO),
        (1, True, Fit.NO),
        (0, False, Fit.NO),
        ("1", 1, Fit.NO),
        (None, None, Fit.YES),
        (None, False, Fit.NO),
        (None, {}, Fit.NO),
        (2**53 + 1, 2**53 + 1, Fit.YES),
        (2**53 + 1, float(2**53), Fit.NO),
        pytest.param(HUGE, HUGE, Fit.YES, id="digits"),
        pytest.param(HUGE, HUGE + 1, Fit.NO, id="digits-off-by-one"),
        ("é", "e\u0301", Fit.NO),
        ([1, [2]], [1, [2.0]], Fit.YES),
        ([1, 2], [2, 1], Fit.NO),
        ([1], [1, 1], Fit.NO),
        ([1], [True], Fit.NO),
        ({"a": 1}, {"a": 1}, Fit.YES),
        ({"a": 1}, {"a": 1, "b": 2}, Fit.NO),
        ({"a": {"b": 0}}, {"a": {"b": False}}, Fit.NO),
        ({}, [], Fit.NO),
        (datetime.date(2024, 5, 1), "2024-05-01", Fit.NO),
        ({"a": 1}, GONE, Fit.UNKNOWN),
        ({}, GONE, Fit.UNKNOWN),
        (None, GONE, Fit.UNKNOWN),
        ({"a": 1, "b": 2}, {"a": 1, "b": GONE}, Fit.UNKNOWN),
        ({"a": 1, "b": 2}, {"a": 9, "b": GONE}, Fit.NO),
        ([1, 2], [GONE, 3], Fit.NO),
    ],
)
def test_equality(expected: Any, actual: Any, fit: Fit) -> None:
    assert equal(expected, actual) is fit


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a", "a"),
        (1042, "1042"),
        (2.0, "2.0"),
        (1e21, "1e+21"),
        (True, "true"),
        (False, "false"),
        (None, None),
        ([], None),
        ({}, None),
    ],
)
def test_the_text_form(value: Any, text: str | None) -> None:
    assert text_form(value) == text


def test_a_number_longer_than_python_writes_has_all_its_digits() -> None:
    assert text_form(HUGE) == "1" + "0" * 5999 + "7"
    assert text_form(-HUGE) == "-1" + "0" * 5999 + "7"


def test_a_value_is_shown_on_one_line_whatever_is_in_it() -> None:
    assert show({"a": "x\ny\x1b[31m", "b": GONE}) == '{"a": "x\\ny\\u001b[31m", "b": "(not recorded)"}'


def test_a_value_nested_without_end_is_shown_as_such() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    assert show(deep) == "(nested too deeply to show)"


def test_a_huge_number_inside_a_value_is_no_trouble() -> None:
    assert show(HUGE).endswith("7")
    assert show([HUGE]) == "(holds a number too long to show)"


def test_clipping_says_how_much_is_left_out() -> None:
    assert clip("x" * 300) == "x" * 300
    assert clip("x" * 307) == "x" * 300 + "… (7 more characters)"
