"""Every conformance case of the test spec format, run with the scripted agent (conformance/highbar/README.md).

What differs from highbar is in `differences.py`, with the reason. Wording is ours: of the texts that a case mentions,
those that are highbar's wording are not asked for.
"""

import asyncio
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from evaluator.language import Problem
from tests.conformance.conftest import SHARED
from tests.conformance.differences import DIFFERENCES
from tests.conformance.scripted import Case, Seen, is_about_finding, run_case, run_command, texts

WORDING = ("did you mean", "overlap", "…", "multi-turn (1 turns)")
WARNINGS = {
    "untagged_counted",
    "untagged_ignored",
    "undeclared",
    "late_now_fails",
    "teardown_failed",
}


@pytest.fixture(scope="module")
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        yield runner


def test_the_cases_are_there() -> None:
    if not SHARED.parent.exists():
        pytest.skip("the shared folder is not there")
    assert SHARED.exists()


def test_a_difference_says_why() -> None:
    assert all(difference.why and difference.expect for difference in DIFFERENCES.values())


def test_case(case: Case, runner: asyncio.Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    if is_about_finding(case):
        seen = run_command(case, tmp_path, monkeypatch)
    else:
        seen = runner.run(run_case(case, tmp_path))
    complaints = list(compare(expected(case), seen))
    assert not complaints, "\n".join([case["title"], *complaints, "--- seen:", seen.shown()])


def expected(case: Case) -> Mapping[str, Any]:
    if case["id"] in DIFFERENCES:
        return DIFFERENCES[case["id"]].expect
    by_seed = case.get("diverges", {}).get("by_seed")
    return by_seed if by_seed is not None else case["expect"]


def compare(expect: Mapping[str, Any], seen: Seen) -> Iterator[str]:
    if "spec_error" in expect:
        yield from compare_problem(expect["spec_error"], seen)
    elif seen.problems:
        yield f"the spec was refused: {seen.problems}"
    if "exit" in expect and seen.exit != expect["exit"]:
        yield f"exit {seen.exit}, expected {expect['exit']}"
    if "run_error" in expect and seen.command is None and seen.stops != [expect["run_error"]]:
        yield f"stopped by {seen.stops}, expected {expect['run_error']}"
    if "tests" in expect and seen.command is None:
        if len(seen.tests) != len(expect["tests"]):
            yield f"{len(seen.tests)} tests, expected {len(expect['tests'])}"
        for number, (wanted, test) in enumerate(zip(expect["tests"], seen.tests, strict=False)):
            for complaint in compare_test(wanted, test):
                yield f"test {number}: {complaint}"
    if "warnings" in expect and seen.warnings & WARNINGS != set(expect["warnings"]) & WARNINGS:
        yield f"warnings {sorted(seen.warnings)}, expected {expect['warnings']}"
    for name, content in expect.get("files", {}).items():
        if seen.files.get(name) != content.get("text"):
            yield f"{name} holds {seen.files.get(name)!r}, expected {content}"
    for text in expect.get("output_has", []) if seen.command is not None else []:
        if text not in seen.shown():
            yield f"does not show {text!r}"
    for text in expect.get("output_lacks", []):
        if text in seen.shown():
            yield f"shows {text!r}"
    if expect.get("port_free_after") and not seen.port_free:
        yield "the port is still taken"


def compare_problem(expect: Mapping[str, Any], seen: Seen) -> Iterator[str]:
    found = [problem for problem in seen.problems if meets_place(expect.get("path", ""), problem)]
    if not found:
        yield f"no problem at {expect.get('path')!r} but at {[problem.path for problem in seen.problems]}"
        return
    reasons = expect.get("reason", [])
    reasons = [reasons] if isinstance(reasons, str) else reasons
    alike = [problem for problem in found if not reasons or problem.code in reasons]
    if not alike:
        yield f"the problem is {[problem.code for problem in found]}, expected {reasons}"
    for text in [expect.get("key"), *expect.get("mentions", [])]:
        if text and not is_wording(text) and not any(text in str(problem) for problem in alike):
            yield f"no mention of {text!r}"


def meets_place(path: str, problem: Problem) -> bool:
    """A more exact place is as good: highbar names the mapping, spanbar the key in it."""
    if path in ("", "spec"):
        return True
    if path.startswith("line "):
        return problem.line == int(path.removeprefix("line "))
    return problem.path == path or problem.path.startswith((f"{path}.", f"{path}["))


def compare_test(expect: Mapping[str, Any], test: Any) -> Iterator[str]:
    if test.status != expect["status"]:
        yield f"{test.status}, expected {expect['status']}"
    codes = {reason.code for reason in test.reasons}
    allowed = [set(reasons) for reasons in expect.get("any_reasons", [expect.get("reasons", codes)])]
    if codes not in allowed:
        yield f"reasons {sorted(codes)}, expected {allowed}"
    shown = plain("\n".join(texts(test)))
    for text in expect.get("mentions", []):
        if not is_wording(text) and plain(text) not in shown:
            yield f"no mention of {text!r}"
    if "counts" in expect and [test.passed_runs, test.runs, test.min_pass] != expect["counts"]:
        yield f"counts {[test.passed_runs, test.runs, test.min_pass]}, expected {expect['counts']}"
    if "name" in expect and test.name != expect["name"]:
        yield f"is called {test.name!r}, expected {expect['name']!r}"


def is_wording(text: str) -> bool:
    return any(word in text for word in WORDING)


def plain(text: str) -> str:
    """Without quotes: how a value is quoted is wording."""
    return text.replace('"', "").replace("'", "")
