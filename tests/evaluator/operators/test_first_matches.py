"""First matches where clocks disagree with seqs, where items share a place, and where matches are in doubt."""

from itertools import permutations
from typing import Any

import pytest

from evaluator.behaviors import Program
from evaluator.items import Change, Item, NotRecorded
from evaluator.operators.possible import PossibleFirsts
from evaluator.verdict import Contract, Result
from tests.evaluator.operators import reference
from tests.evaluator.operators.building import behaviors, evaluation, feed, item

HIDDEN = {"hangar.note": NotRecorded("content capture is off")}
SECRET = {"hangar.note": "secret"}

A = {"event": "a"}
B = {"event": "b"}
NOTED_A = {"event": "a", "where": {"hangar.note": "secret"}}
NOTED_B = {"event": "b", "where": {"hangar.note": "secret"}}
BEFORE = {"before": {"first": A, "then": B}}
NOTED_THEN = {"before": {"first": A, "then": NOTED_B}}


def at(name: str, seq: int | None, time: int, session: str | None = "s1", **parts: Any) -> Item:
    return item(name=name, seq=seq, time=time, session=session, **parts)


def test_the_first_of_matches_at_one_time_is_the_same_in_every_order_of_arrival() -> None:
    items = [at("a", None, 10, None), at("a", None, 10), at("a", 3, 10, "s2"), at("b", 2, 20, "s2")]
    for arriving in permutations(items):
        verdict = feed(evaluation(BEFORE), arriving).results[0].verdict
        assert (verdict.result, verdict.evidence) == (Result.PASS, (items[1], items[3]))


DOUBTS: list[tuple[str, dict[str, Any], list[Item], Result]] = [
    (
        "one of two doubtful matches holds back the sure one by its late clock, the other one is late",
        NOTED_THEN,
        [
            at("a", None, 30),
            at("b", 6, 30, attrs=SECRET),
            at("b", 1, 40, attrs=HIDDEN),
            at("b", 3, 30, "s2", attrs=HIDDEN),
        ],
        Result.UNKNOWN,
    ),
    (
        "a doubtful match with a late clock cannot be the first, and lets another one be it",
        NOTED_THEN,
        [
            at("a", 2, 15),
            at("b", 5, 10, "s2", attrs=SECRET),
            at("b", 4, 40, "s2", attrs=HIDDEN),
            at("b", 1, 20, "s3", attrs=SECRET),
        ],
        Result.UNKNOWN,
    ),
    (
        "only a doubtful match in the middle of those of the list would be in order",
        {"order": [A, NOTED_B, {"event": "c"}]},
        [at("a", 2, 20), at("c", 5, 50), *(at("b", seq, seq * 10, attrs=HIDDEN) for seq in (1, 3, 6))],
        Result.UNKNOWN,
    ),
    (
        "each pair of neighbours can be in order, all three together cannot",
        {"order": [NOTED_A, NOTED_B, {"event": "c"}]},
        [
            at("a", 4, 40, attrs=SECRET),
            at("b", 5, 50, attrs=SECRET),
            at("b", 1, 10, attrs=HIDDEN),
            at("c", 3, 30),
        ],
        Result.FAIL,
    ),
    (
        "doubtful matches are on the same side of all others",
        NOTED_THEN,
        [at("a", 1, 10), at("b", 3, 30, attrs=SECRET), at("b", 2, 20, attrs=HIDDEN)],
        Result.PASS,
    ),
    (
        "nothing sure is there to be preceded",
        NOTED_THEN,
        [at("a", 1, 10), at("b", 2, 20, attrs=HIDDEN)],
        Result.UNKNOWN,
    ),
]


@pytest.mark.parametrize(("assertion", "items", "result"), [case[1:] for case in DOUBTS], ids=[c[0] for c in DOUBTS])
def test_a_result_is_known_exactly_if_every_choice_of_doubtful_matches_gives_it(
    assertion: dict[str, Any], items: list[Item], result: Result
) -> None:
    (behavior,) = behaviors(assertion)
    assert reference.result(behavior.assertion, items) is result
    for arriving in permutations(items):
        assert feed(evaluation(assertion), arriving).results[0].verdict.result is result


def test_the_reason_of_an_unknown_names_a_doubtful_match_that_matters() -> None:
    late = at("a", 9, 90, attrs=HIDDEN)
    deciding = at("b", 1, 10, attrs=HIDDEN)
    over = feed(
        evaluation({"before": {"first": NOTED_A, "then": NOTED_B}}),
        [at("a", 2, 20, attrs=SECRET), late, deciding, at("b", 3, 30, attrs=SECRET)],
    )
    assert over.results[0].verdict.result is Result.UNKNOWN
    assert over.results[0].verdict.evidence == (deciding,)


ORDER = {"order": [A, NOTED_B, {"event": "c"}]}


@pytest.mark.parametrize(
    ("assertion", "items", "result", "final"),
    [
        (ORDER, [at("a", 1, 10), at("b", 2, 20, attrs=HIDDEN)], Result.FAIL, False),
        (ORDER, [at("b", 1, 10, attrs=HIDDEN)], Result.FAIL, False),
        (ORDER, [at("b", 1, 10, attrs=SECRET), at("b", 2, 20, attrs=HIDDEN)], Result.FAIL, True),
        (ORDER, [at("c", 1, 10), at("b", 2, 20, attrs=HIDDEN)], Result.FAIL, True),
        (NOTED_THEN, [at("b", 1, 10, attrs=HIDDEN), at("b", 2, 20, attrs=SECRET)], Result.FAIL, True),
        (NOTED_THEN, [at("b", 1, 10, attrs=HIDDEN)], Result.UNKNOWN, False),
    ],
)
def test_in_an_ordered_unit_a_result_in_spite_of_doubts_is_final_when_no_later_item_can_change_it(
    assertion: dict[str, Any], items: list[Item], result: Result, final: bool
) -> None:
    verdict = feed(evaluation(assertion, Contract.ORDERED), items).results[0].verdict
    assert (verdict.result, verdict.final) == (result, final)


def test_doubtful_matches_that_come_in_order_are_not_looked_through_again(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[int] = []
    through = PossibleFirsts.__iter__
    monkeypatch.setattr(PossibleFirsts, "__iter__", lambda self: looked.append(1) or through(self))
    over = Program(behaviors({"before": {"first": NOTED_A, "then": B}}), Contract.ORDERED).unit("session")
    over.apply(Change(None, at("b", 1, 10)))
    for seq in range(2, 50):
        over.apply(Change(None, at("a", seq, seq * 10, attrs=HIDDEN)))
        assert over.results[0].verdict.result is Result.FAIL
    assert len(looked) <= 4
