"""A result is called final exactly at the first arrival after which no allowed continuation changes it: brute force.

Under `any` a continuation is any items at all, before and after everything. Under `ordered` everything that is here
precedes what arrives later. The universe of items is small, and has every match, a place before, among and after
those of the unit, with and without a seq and a turn, in the unit's session and out of it.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from random import Random
from typing import Any

import pytest

from evaluator.items import Change, Item, NotRecorded
from evaluator.verdict import Contract, Result
from tests.evaluator.operators import reference
from tests.evaluator.operators.building import behaviors, evaluation, item

UNITS = int(os.environ.get("SPANBAR_UNITS", "40"))

A, B, EITHER = {"event": "a"}, {"event": "b"}, {"where": {"name": {"in": ["a", "c"]}}}
SHOWN = {"where": {"hangar.note": "secret"}}
HIDDEN = NotRecorded("content capture is off")

CASES: tuple[tuple[dict[str, Any], int], ...] = (
    ({"never": A}, 1),
    ({"eventually": A}, 1),
    ({"count": {"match": A, "max": 1}}, 2),
    ({"count": {"match": A, "min": 2}}, 2),
    ({"count": {"match": A, "min": 1, "max": 2}}, 3),
    ({"before": {"first": A, "then": B}}, 2),
    ({"before": {"first": EITHER, "then": A}}, 2),
    ({"order": [A, B]}, 2),
    ({"order": [EITHER, B]}, 2),
    ({"each": B, "requires_prior": A}, 2),
    ({"each": A, "requires_prior": EITHER}, 2),
    ({"each": B, "requires_prior": A, "within": {"seq": 1}}, 2),
    ({"each": B, "requires_prior": A, "within": {"seq": 0}}, 2),
    ({"each": B, "requires_prior": A, "within": {"turns": 1}}, 2),
    ({"all": {"paths": {"from": ["file.change"]}, "match": "src/*"}}, 1),
    ({"any": {"paths": {"from": ["file.change"]}, "match": "src/*"}}, 1),
    ({"never": A | SHOWN}, 1),
    ({"count": {"match": A | SHOWN, "max": 1}}, 2),
    ({"before": {"first": A | SHOWN, "then": B}}, 2),
    ({"before": {"first": A, "then": B | SHOWN}}, 2),
    ({"order": [A, B | SHOWN]}, 2),
    ({"order": [A | SHOWN, B]}, 2),
    ({"each": B, "requires_prior": A | SHOWN}, 2),
    ({"each": B | SHOWN, "requires_prior": A}, 2),
)
"""Behaviors, with how many further items it can take to change a result that is not final."""


def names_of(assertion: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Items of every kind that the behavior tells apart, without their places."""
    if "all" in assertion or "any" in assertion:
        paths = [{"path": "src/a"}, {"path": "docs/b"}, {"path": None}]
        return [{"name": "x"}, *({"name": "file.change"} | path for path in paths)]
    named = [{"name": name} for name in ("a", "b", "c", "x")]
    if "hangar.note" not in str(assertion):
        return named
    return [one | {"attrs": {"hangar.note": note}} for one in named[:2] for note in ("secret", HIDDEN)] + named[3:]


def unit(random: Random, names: Sequence[dict[str, Any]]) -> list[Item]:
    """A few items in any order of arrival, also orders that break the contract."""
    return [
        item(
            **random.choice(names),
            session=random.choice(["s1", "s1", "s1", "s2", None]),
            seq=random.choice([None, 4, 5, 6]),
            time=random.choice([40, 50, 60]),
            turn=random.choice([None, 4, 5, 6]),
        )
        for _ in range(random.choice([1, 2, 3, 4]))
    ]


def universe(assertion: Mapping[str, Any], names: Sequence[dict[str, Any]], steps: int) -> list[Item]:
    """Items that may still arrive: before (0), among (5, 50) and, in as many steps, far after those of `unit`."""
    if assertion.keys() & {"before", "order", "each"}:
        turns = [None, 0, 99] if "turns" in assertion.get("within", {}) else [None]
        far = [(99 + step, 900 + step) for step in range(steps)]
        places = [
            *product(["s1", "s2", None], [None, 0, 5], [0, 50], turns),
            *((session, seq, time, turn) for session in ("s1", "s2", None) for seq, time in far for turn in turns),
            *((session, None, time, turn) for session in ("s1", None) for _, time in far for turn in turns),
        ]
    else:  # places do not matter
        places = [("s1", None, time, None) for time in (0, *range(900, 900 + steps))]
    return [
        item(**name, session=session, seq=seq, time=time, turn=turn)
        for session, seq, time, turn in places
        for name in names
        if name["name"] != "x"
    ]


def allowed(contract: Contract, here: Sequence[Item], later: Item) -> bool:
    return contract is Contract.ANY or all(reference.precedes(one, later) for one in here)


def continuations(contract: Contract, here: list[Item], more: list[Item], most: int) -> Iterator[list[Item]]:
    """The unit after up to `most` further items, shortest first."""
    shells = [here]
    for _ in range(most):
        shells = [
            [*shell, later]
            for shell in shells
            for later in more
            if later not in shell and allowed(contract, shell, later)
        ]
        yield from shells


@pytest.mark.parametrize("contract", Contract)
@pytest.mark.parametrize(("assertion", "most"), CASES, ids=[str(case[0]) for case in CASES])
def test_a_result_is_final_exactly_when_nothing_can_change_it(
    assertion: dict[str, Any], most: int, contract: Contract
) -> None:
    (behavior,) = behaviors(assertion)
    names = names_of(assertion)
    more = universe(assertion, names, most)
    random = Random(str(assertion))
    for _ in range(UNITS if most < 3 and "turns" not in str(assertion) else UNITS // 4):
        over = evaluation(assertion, contract)
        here: list[Item] = []
        final_at = None
        for number, arriving in enumerate(unit(random, names), 1):
            over.apply(Change(None, arriving))
            here.append(arriving)
            result = reference.result(behavior.assertion, here)
            (found,) = over.results
            assert found.verdict.result is result
            changed = next(
                (
                    after
                    for after in continuations(contract, here, more, most)
                    if reference.result(behavior.assertion, after) is not result
                ),
                None,
            )
            if HIDDEN in (one.attributes.get("hangar.note") for one in here) and result is Result.UNKNOWN:
                changed = here  # what was not recorded may yet be told
            assert found.verdict.final == (changed is None), (here, changed)
            final_at = (final_at or number) if found.verdict.final else None
            if found.verdict.final and not found.revised:
                assert found.final_at == final_at
