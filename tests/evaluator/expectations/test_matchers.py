"""Each matcher on each kind of value; the conformance cases have more."""

import re
from typing import Any

import pytest

from evaluator.expectations.matchers import meets
from evaluator.expectations.values import Fit
from evaluator.items import NotRecorded
from tests.evaluator.expectations.building import MATCHERS, search

GONE = NotRecorded("content capture is off")


@pytest.mark.parametrize(
    ("op", "operand", "value", "holds"),
    [
        ("equals", "a", "a", True),
        ("equals", {"contains": "x"}, {"contains": "x"}, True),
        ("contains", "ell", "hello", True),
        ("contains", "04", 1042, True),
        ("contains", 4, "1042", True),
        ("contains", "true", True, True),
        ("contains", True, "it is true", True),
        ("contains", None, "None null", False),
        ("not_contains", None, "text", False),
        ("contains", ["a"], "['a']", False),
        ("contains", 2, [1, 2.0], True),
        ("contains", 1, [True], False),
        ("contains", None, [None], True),
        ("contains", "te", ["tea"], False),
        ("contains", {"a": 1}, [{"a": 1, "b": 2}], False),
        ("icontains", "STRASSE", "Hauptstraße", True),
        ("icontains", "ΟΔΟΣ", "οδος", True),
        ("icontains", "TEA", ["Tea"], True),
        ("icontains", "TE", ["Tea"], False),
        ("not_contains", "x", ["a"], True),
        ("not_contains", "a", [["a"]], True),
        ("not_icontains", "A", ["a"], False),
        ("matches", "^2$", 2.0, False),
        ("matches", "a$", "a\n", True),
        ("not_matches", "x", ["a"], False),
        ("not_matches", "x", "a", True),
    ],
)
def test_a_matcher(op: str, operand: Any, value: Any, holds: bool) -> None:
    assert meets(op, operand, value, search) is Fit.of(holds)


@pytest.mark.parametrize("op", sorted(MATCHERS - {"equals"}))
@pytest.mark.parametrize("value", [None, {}, {"a": "a"}])
def test_what_has_no_text_form_meets_neither_a_matcher_nor_its_negation(op: str, value: Any) -> None:
    assert meets(op, "a", value, search) is Fit.NO


@pytest.mark.parametrize("op", sorted(MATCHERS))
def test_what_was_not_recorded_can_be_held_against_no_matcher(op: str) -> None:
    assert meets(op, "a", GONE, search) is Fit.UNKNOWN


@pytest.mark.parametrize(("op", "fit"), [("contains", Fit.UNKNOWN), ("not_contains", Fit.UNKNOWN)])
def test_a_list_with_an_item_that_was_not_recorded(op: str, fit: Fit) -> None:
    assert meets(op, "a", ["b", GONE], search) is fit


def test_a_list_in_which_the_item_is_found_does_not_need_the_rest() -> None:
    assert meets("contains", "b", ["b", GONE], search) is Fit.YES
    assert meets("not_contains", "b", ["b", GONE], search) is Fit.NO


def test_the_search_is_python_s() -> None:
    with pytest.raises(re.error):
        meets("matches", "(", "text", search)
