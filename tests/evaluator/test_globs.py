"""Globs mean what fnmatch and a real DuckDB's GLOB mean, and patterns that the two read differently are refused."""

from fnmatch import fnmatchcase
from random import Random

import duckdb
import pytest

from evaluator import globs
from evaluator.patterns import PatternSet

PIECES = ["*", "**", "?", "a", "b", "/", ".", "-", "é", "日", "[ab]", "[!ab]", "[a-c]", "[!a-c]", "[]a]", "[!]a]"]
PIECES += ["[a-]", "[-a]", "[[]", "[*]", "[?]", "[é]", "[^a]", "]", "^", "!", "{", "$", "+", "(", "|", "A", " "]
TEXTS = [
    "a",
    "b",
    "c",
    "ab",
    "/",
    ".",
    "-",
    "é",
    "日",
    "]",
    "[",
    "*",
    "?",
    "^",
    "!",
    "{",
    "$",
    "+",
    "(",
    "|",
    "A",
    " ",
]
TEXTS += ["\n", "\\", "x"]


def generated(count: int, seed: int) -> list[tuple[str, str]]:
    """Texts and patterns; half of the texts are made to be near their pattern."""
    random = Random(seed)
    made = []
    for _ in range(count):
        pieces = random.choices(PIECES, k=random.randint(1, 5))
        if random.random() < 0.5:
            text = "".join(random.choices(TEXTS, k=random.randint(0, 5)))
        else:
            text = "".join(
                random.choice(TEXTS) if piece[0] in "*?[" else piece for piece in pieces if random.random() < 0.95
            )
        made.append((text, "".join(pieces)))
    return made


def test_a_glob_matches_as_fnmatch_and_duckdb_agree() -> None:
    pairs = [(text, pattern) for text, pattern in generated(6000, seed=1) if not globs.problem(pattern)]
    assert len(pairs) > 5000
    with duckdb.connect() as database:
        database.execute("create table pairs (n integer, t varchar, p varchar)")
        database.executemany("insert into pairs values (?, ?, ?)", [(n, *pair) for n, pair in enumerate(pairs)])
        theirs = database.execute("select t, p, t glob p from pairs order by n").fetchall()
    disagreements = [
        (text, pattern, duck, fnmatchcase(text, pattern), globs.compiled(pattern)(text))
        for text, pattern, duck in theirs
        if not duck == fnmatchcase(text, pattern) == globs.compiled(pattern)(text)
    ]
    assert not disagreements
    assert 500 < sum(duck for _, _, duck in theirs) < 5000


@pytest.mark.parametrize("seed", range(3))
def test_the_regex_of_a_glob_finds_what_the_glob_matches(seed: int) -> None:
    for text, pattern in generated(2000, seed=seed):
        if not globs.problem(pattern):
            assert bool(PatternSet([globs.regex(pattern)]).search(text)) == fnmatchcase(text, pattern), (
                text,
                pattern,
            )


def test_what_a_match_starts_and_ends_with_is_in_every_match() -> None:
    for text, pattern in generated(4000, seed=9):
        if not globs.problem(pattern) and fnmatchcase(text, pattern):
            start, stop = globs.ends(pattern)
            assert text.startswith(start)
            assert text.endswith(stop)


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("", "empty glob"),
        ("src\\*", "backslash"),
        ("src/[ab", "the '[' at character 5 opens no class"),
        ("a[]", "the '[' at character 2 opens no class"),
        ("[!]", "the '[' at character 1 opens no class"),
        ("[z-a]", "the range z-a is empty"),
    ],
)
def test_a_glob_that_the_two_read_differently_is_refused(pattern: str, said: str) -> None:
    assert said in globs.problem(pattern)


@pytest.mark.parametrize("pattern", ["src/*", "*.py", "*", "a?b", "[!a-z]*", "[]]", "[[]x]", "docs/**"])
def test_a_glob_that_the_two_read_alike_is_taken(pattern: str) -> None:
    assert globs.problem(pattern) == ""


def test_a_long_text_does_not_make_a_glob_slow() -> None:
    assert not globs.compiled("*a*a*a*a*a*a*a*b")("a" * 20_000)
