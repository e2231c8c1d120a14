"""Monitors against the reference: the same results for every order of arrival, batching, revision and retraction.

`SPANBAR_EXAMPLES=1000000 pytest tests/evaluator/operators/test_operator_properties.py -k do_not_depend` runs more of
them; a million were run (docs/behaviors.md).
"""

import os
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.behaviors import Program
from evaluator.items import Change
from evaluator.verdict import Contract
from tests.evaluator.operators import reference
from tests.evaluator.operators.building import behaviors
from tests.evaluator.operators.sessions import ASSERTS, deliver, random_item

EXAMPLES = int(os.environ.get("SPANBAR_EXAMPLES", "20000"))
SHARDS = 8
THIRDS = tuple(behaviors(*ASSERTS[third::3]) for third in range(3))
PROGRAMS = {(third, contract): Program(THIRDS[third], contract) for third in range(3) for contract in Contract}


def check(seed: int) -> None:
    """One example: a random unit, delivered in a random way, and a third of the behaviors."""
    random = Random(seed)
    third, contract = random.randrange(3), random.choice(list(Contract))
    doubts = random.random() < 0.25
    items = [random_item(random, doubts=doubts) for _ in range(random.choice([0, 1, 2, 3, 4, 6, 9]))]
    over = PROGRAMS[third, contract].unit("session")
    here = deliver(random, over, items, detours=random.random() < 0.6)
    expected = [reference.result(behavior.assertion, here) for behavior in THIRDS[third]]
    for stage in ("open", "closed", "open again")[: random.choice([2, 2, 2, 3])]:
        for behavior, found, result in zip(THIRDS[third], over.results, expected, strict=True):
            assert found.verdict.result is result, (seed, stage, behavior.assertion, here)
            assert found.verdict.reason
            if stage == "closed":
                assert found.verdict.final
        over.close() if stage == "open" else over.reopen()


@pytest.mark.parametrize("shard", range(SHARDS))
def test_results_do_not_depend_on_how_items_arrive(shard: int) -> None:
    for seed in range(shard, EXAMPLES, SHARDS):
        check(seed)


@given(st.integers(min_value=0))
@settings(max_examples=200, deadline=None)
def test_results_equal_the_reference(seed: int) -> None:
    check(seed)


@pytest.mark.parametrize("seed", range(300))
def test_apply_names_every_behavior_whose_result_changes(seed: int) -> None:
    random = Random(seed)
    over = PROGRAMS[seed % 3, Contract.ORDERED].unit("session")

    def states() -> list[tuple[object, ...]]:
        return [(found.verdict.result, found.verdict.final, found.revised) for found in over.results]

    for _ in range(12):
        before = states()
        positions = over.apply(Change(None, random_item(random)))
        changed = [position for position, (old, new) in enumerate(zip(before, states(), strict=True)) if old != new]
        assert set(changed) <= set(positions)
