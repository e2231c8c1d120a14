"""The conformance cases about calls, matchers and expect keys, judged by the monitor alone."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from evaluator.expectations import TurnMonitor
from evaluator.items import Call, CallStatus
from tests.evaluator.expectations.building import arrival, expect, search

CASES = Path(__file__).parents[3].parent / "shared" / "conformance" / "highbar" / "cases.json"
AREAS = {"function-calls", "matchers", "expect-keys"}

BETTER = {
    "m-contains-true": ("passed", set(), "the text form of true is JSON's, as in a reply"),
    "m-contains-true-capital": ("failed", {"params_mismatch"}, "the text form of true is JSON's"),
    "m-contains-true-operand": ("failed", {"params_mismatch"}, "the text form of true is JSON's"),
    "m-contains-null-operand": ("failed", {"params_mismatch"}, "null has no text form"),
    "m-contains-list-operand-on-text": ("failed", {"params_mismatch"}, "a list has no text form"),
    "m-matches-bool": ("passed", set(), "the text form of true is JSON's"),
    "params-list-matcher-is-literal": ("passed", set(), "a matcher in a list applies to its element"),
    "result-empty-vs-text": ("failed", {"result_mismatch"}, "the result is no mapping, and the reason says so"),
}
"""What is met as the case's `improve` asks, by id: status, reasons and why."""


def _cases() -> list[dict[str, Any]]:
    if not CASES.exists():
        return []
    cases = json.loads(CASES.read_text(encoding="utf-8"))
    return [case for case in cases if case["area"] in AREAS and "tests" in _wanted(case)]


def _wanted(case: dict[str, Any]) -> dict[str, Any]:
    return (case.get("diverges") or {}).get("by_seed") or case["expect"]


def _spec(case: dict[str, Any]) -> Any:
    return case["spec"] if "spec" in case else yaml.safe_load(case["yaml"].replace("@", ""))


def _call(made: dict[str, Any]) -> Call:
    error = made.get("error") or None
    if isinstance(error, dict | list):
        error = json.dumps(error)
    return Call(
        name=made["name"],
        args=made["args"],
        result=made.get("result"),
        error=error,
        started=made["start_ms"] * 1_000_000,
        ended=made["end_ms"] * 1_000_000,
        status=CallStatus.OK if error is None else CallStatus.ERROR,
    )


def _judge(test: dict[str, Any], script: dict[str, Any]) -> TurnMonitor:
    monitor = TurnMonitor(expect(**test["expect"]), search=search)
    behaviours = script["when"].get(test["trigger"]) or script["when"]["*"]
    for number, made in enumerate(behaviours[0].get("calls", ())):
        monitor.apply(arrival(_call(made), number))
    monitor.reply(behaviours[0]["reply"]["json"]["reply"])
    monitor.close()
    return monitor


@pytest.mark.skipif(not CASES.exists(), reason="the shared conformance cases are not beside this repository")
def test_there_are_cases() -> None:
    assert len(_cases()) > 150


@pytest.mark.parametrize("case", _cases(), ids=lambda case: case["id"])
def test_the_monitor_meets(case: dict[str, Any]) -> None:
    tests = [test for suite in _spec(case)["suites"] for test in suite["tests"]]
    for test, wanted in zip(tests, _wanted(case)["tests"], strict=True):
        status, reasons = wanted["status"], set(wanted.get("reasons", ()))
        if case["id"] in BETTER:
            status, reasons, _ = BETTER[case["id"]]
        verdict = _judge(test, case["script"]).verdict
        assert verdict.final
        assert (verdict.status.value, {reason.code for reason in verdict.reasons}) == (status, reasons)
        said = " ".join(reason.text for reason in verdict.reasons)
        assert not [word for word in wanted.get("mentions", ()) if word.strip("'") not in said]
