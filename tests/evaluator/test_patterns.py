"""Regexes are those that Python's re and RE2 both take, and mean what a real DuckDB (RE2) means by them."""

import json
import re
from random import Random

import duckdb
import pytest

from evaluator import patterns
from evaluator.patterns import PatternSet

ATOMS = [
    "a",
    "b",
    "é",
    ".",
    r"\d",
    r"\w",
    r"\s",
    r"\W",
    "[ab]",
    "[^a]",
    "[a-z]",
    r"\.",
    "(?:ab|b)",
    "(a)",
    r"\b",
    "^",
    "$",
]
SUFFIXES = ["", "", "", "*", "+", "?", "{2}", "{1,2}", "*?"]
TEXTS = ["a", "b", "é", "ab", ".", "1", "٣", " ", "\n", "-", "_", "Z", "ſ", "\u00a0"]


def generated(count: int) -> list[tuple[str, str]]:
    random = Random(3)
    made = []
    while len(made) < count:
        pattern = "".join(random.choice(ATOMS) + random.choice(SUFFIXES) for _ in range(random.randint(1, 4)))
        pattern = random.choice(["", "", "(?i)", "(?s)"]) + pattern
        if not patterns.problem(pattern):
            made.append(("".join(random.choices(TEXTS, k=random.randint(0, 5))), pattern))
    return made


def test_a_regex_is_found_where_duckdb_finds_it() -> None:
    pairs = generated(6000)
    with duckdb.connect() as database:
        database.execute("create table pairs (n integer, t varchar, p varchar)")
        database.executemany("insert into pairs values (?, ?, ?)", [(n, *pair) for n, pair in enumerate(pairs)])
        theirs = database.execute("select t, p, regexp_matches(t, p) from pairs order by n").fetchall()
    assert [row for row in theirs if bool(PatternSet([row[1]]).search(row[0])) != row[2]] == []
    assert 1000 < sum(found for _, _, found in theirs) < 5500


def test_many_patterns_together_find_what_each_finds_alone() -> None:
    pairs = generated(400)
    together = PatternSet([pattern for _, pattern in pairs])
    for text, _ in pairs:
        alone = [n for n, (_, pattern) in enumerate(pairs) if PatternSet([pattern]).search(text)]
        assert sorted(together.search(text)) == alone


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("(", "Python's re refuses it: missing )"),
        ("a**", "Python's re refuses it: multiple repeat"),
        (r"\pL", "Python's re refuses it: bad escape"),
        (r"a\z", "Python's re refuses it: bad escape"),
        ("(?=a)", "no lookaround"),
        ("(?<!a)b", "no lookaround"),
        (r"(a)\1", "RE2 refuses it: invalid escape sequence: \\1"),
        (r"a\Z", "RE2 refuses it"),
        ("a*+", "RE2 refuses it: bad repetition operator"),
        ("a{1001}", "RE2 refuses it: invalid repetition size"),
        ("(?x)a b", "RE2 refuses it"),
        ("a{,3}", "write {0,3}"),
        ("[[:alpha:]]", "write the class out"),
    ],
)
def test_a_regex_outside_the_common_subset_is_refused_with_the_reason(pattern: str, said: str) -> None:
    assert said in patterns.problem(pattern)


@pytest.mark.parametrize(
    "pattern", ["a", "^$", r"rm\s+-rf\b", "(?i)secret", "(?P<n>a)", r"a\{,3}", r"[\[:x:]", "x{0,5}"]
)
def test_a_regex_of_the_common_subset_is_taken(pattern: str) -> None:
    assert patterns.problem(pattern) == ""


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [(r"\d", "٣", False), (r"^\w$", "é", False), ("a$", "a\n", False), (r"\s", "\u00a0", False), ("^.$", "é", True)],
)
def test_re2_fixes_the_meaning_where_the_two_differ(pattern: str, text: str, found: bool) -> None:
    assert bool(PatternSet([pattern]).search(text)) is found
    assert bool(re.search(pattern, text)) is True


def test_a_text_that_is_no_unicode_is_searched_all_the_same() -> None:
    assert PatternSet(["b$"]).search(json.loads('"\\ud800 b"')) == [0]


def test_a_set_that_does_not_fit_its_memory_still_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "_MEMORY", 20_000)
    many = [f"needle{n}[a-z]{{1,9}}end" for n in range(20)]
    assert PatternSet(many).search("a needle7abcend") == [7]
    assert PatternSet(many).search("a needle7abc") == []


def test_a_hostile_pattern_takes_no_time() -> None:
    assert PatternSet(["(a+)+$"]).search("a" * 50_000 + "b") == []
