"""Regexes mean what Python's `re` says, and none of them hangs a run."""

import re
import threading

import pytest

from evaluator.expectations import RegexTimeout
from evaluator.harness.regex import search

FOR_EVER = ("^(a+)+$", "a" * 60 + "b")


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        (r"l+o", "hello", True),
        (r"^l", "hello", False),
        (r"a$", "a\n", True),
        (r"a.b", "a\nb", False),
        (r"(?s)a.b", "a\nb", True),
        (r"^\w+$", "Größe茶", True),
        (r"^(?!.*secret).*$", "open", True),
        (r"(a)\1", "aa", True),
        (r"(?P<x>a)(?P=x)", "ab", False),
        (r"(a|\n)*\ud800", "a\n\ud800", True),
        (r"(x+x+)+y", "x" * 12, False),
        (r"needle", "hay " * 100_000 + "needle", True),
    ],
)
def test_a_search_finds_what_python_finds(pattern: str, text: str, found: bool) -> None:
    assert search(pattern, text) is found
    assert (re.search(pattern, text) is not None) is found


def test_a_pattern_that_backtracks_for_ever_is_given_up_and_named() -> None:
    with pytest.raises(RegexTimeout, match=re.escape(FOR_EVER[0])):
        search(*FOR_EVER)


def test_the_next_search_works_after_one_was_given_up() -> None:
    with pytest.raises(RegexTimeout):
        search(*FOR_EVER)
    assert search(FOR_EVER[0], "aaa")


def test_a_search_in_another_thread_is_bounded_too() -> None:
    raised: list[RegexTimeout] = []

    def run() -> None:
        try:
            search(*FOR_EVER)
        except RegexTimeout as timeout:
            raised.append(timeout)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(timeout=60)
    assert [timeout.pattern for timeout in raised] == [FOR_EVER[0]]


def test_what_is_no_regex_is_refused() -> None:
    with pytest.raises(re.error):
        search("(", "text")
