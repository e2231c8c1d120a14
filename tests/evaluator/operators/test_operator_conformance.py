"""Every case of conformance/operators.json, as items: the result, and the arrival at which it is final."""

import json
from pathlib import Path
from typing import Any

import pytest

from evaluator.verdict import Contract
from tests.evaluator.operators.building import evaluation, feed, item

CASES = Path(__file__).parents[3] / ".." / "shared" / "conformance" / "operators.json"

if not CASES.parent.parent.exists():
    pytest.skip("the conformance cases are not here", allow_module_level=True)


@pytest.mark.parametrize("case", json.loads(CASES.read_text()), ids=lambda case: case["id"])
def test_a_case_has_its_result_and_is_final_when_it_says(case: dict[str, Any]) -> None:
    for contract in Contract:
        over = feed(evaluation(case["assert"], contract), [item(**one) for one in case["items"]])
        over.close()
        (found,) = over.results
        assert found.verdict.result == case["result"]
        assert found.verdict.final
        assert found.verdict.reason
        if f"final_{contract}" in case:
            assert found.final_at == case[f"final_{contract}"]
            assert not found.revised
