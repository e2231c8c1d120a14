"""JUnit XML: valid by the schema, whatever the names and values are, and red where the run is."""

import dataclasses
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import pytest
import xmlschema

from collector.export.junit import junit_xml, write_junit
from evaluator.harness.outcome import NotRun, RunOutcome, SpecOutcome, Stop
from evaluator.verdict import Result, Severity, Status
from tests.collector.outcomes import (
    HOSTILE,
    behaviors,
    example_run,
    execution,
    forbidden,
    run_outcome,
    test_outcome,
    turn,
)

SCHEMA = xmlschema.XMLSchema(Path(__file__).parents[2] / "data" / "junit.xsd")


def report(outcome: RunOutcome) -> Element:
    text = junit_xml(outcome)
    SCHEMA.validate(text.decode())
    return ElementTree.fromstring(text)


def cases(outcome: RunOutcome) -> dict[str, Element]:
    return {case.get("name", ""): case for case in report(outcome).iter("testcase")}


def attribute(element: Element | None, name: str) -> Any:
    assert element is not None
    return element.get(name)


def test_the_schema_refuses_what_is_no_report() -> None:
    assert not SCHEMA.is_valid("<testsuites><testsuite name='a' tests='1' failures='0'/></testsuites>")
    assert not SCHEMA.is_valid("<testsuites><testcase name='t'/></testsuites>")


def test_a_failed_test_is_a_failure_with_its_code_and_its_story() -> None:
    failure = cases(example_run())["refunds the right order"].find("failure")
    assert attribute(failure, "type") == "params_mismatch"
    assert attribute(failure, "message").startswith("refund was called with a difference: params.id is 8")
    assert failure is not None
    story = failure.text or ""
    assert "(line 14)" in story
    assert 'params.reason: "late", expected contains "broken"' in story
    assert 'send_mail {"to": "a@b.example"}  failed: Timeout: 5s' in story
    assert "trace 4bf92f3577b34da6a3ce929d0e0e4736" in story


def test_a_test_that_could_not_be_verified_is_an_error_with_the_way_out() -> None:
    error = cases(example_run())["refunds in private"].find("error")
    assert attribute(error, "type") == "not_recorded"
    assert error is not None
    assert "fix: set OTEL_" in (error.text or "")


def test_a_test_that_passed_has_no_result_element() -> None:
    case = cases(example_run())["refunds a broken order"]
    assert [child.tag for child in case] == ["system-out"]


def test_the_runs_that_failed_of_a_test_that_passed_are_flaky() -> None:
    flaky = cases(example_run())["answers politely"].find("flakyFailure")
    assert (attribute(flaky, "type"), attribute(flaky, "message")) == ("forbidden_call", "run 2: failed")


def test_the_counts_are_those_of_the_run() -> None:
    root = report(example_run())
    assert {key: root.get(key) for key in ("tests", "failures", "errors")} == {
        "tests": "9",
        "failures": "3",
        "errors": "2",
    }


@pytest.mark.parametrize(
    ("result", "severity", "tag"),
    [
        (Result.FAIL, Severity.ERROR, "failure"),
        (Result.UNKNOWN, Severity.ERROR, "error"),
        (Result.ERROR, Severity.ERROR, "error"),
        (Result.NOT_APPLICABLE, Severity.ERROR, "skipped"),
        (Result.FAIL, Severity.WARN, "skipped"),
    ],
)
def test_a_behavior_is_a_test_case(result: Result, severity: Severity, tag: str) -> None:
    case = cases(run_outcome(behaviors=(behaviors(result, severity=severity),)))["rule 0"]
    assert [child.tag for child in case] == [tag]


def test_a_spec_that_did_not_run_makes_the_report_red() -> None:
    root = report(run_outcome(stop=Stop("agent_exited", "the agent exited with 3:\nTraceback\x1b[0m")))
    assert root.get("errors") == "1"
    assert "Traceback\\x1b[0m" in (next(root.iter("error")).text or "")


def test_tests_of_one_name_can_be_told_apart() -> None:
    assert list(cases(run_outcome(test_outcome("t"), test_outcome("t")))) == ["t", "t #2"]


def test_hostile_text_stays_text() -> None:
    failed = execution(turn(Status.FAILED, reasons=[forbidden(HOSTILE)], trigger=HOSTILE, reply=HOSTILE))
    test = test_outcome(HOSTILE, failed, suite=HOSTILE)
    behavior = dataclasses.replace(behaviors(Result.FAIL), id=HOSTILE)
    root = report(run_outcome(test, behaviors=(behavior,)))
    name = next(root.iter("testcase")).get("name", "")
    assert name.startswith("[red]see [1] and [/red]\\x1b[31m\\u202etxt.exe\\x00<script>")
    assert all(char.isprintable() for char in name)


def test_a_run_of_nothing_is_a_report(tmp_path: Path) -> None:
    path = tmp_path / "new" / "report.xml"
    write_junit(run_outcome(), path)
    assert SCHEMA.is_valid(path.read_text(encoding="utf-8"))


def test_an_interrupted_run_is_red_and_tests_that_were_not_begun_are_skipped() -> None:
    spec = SpecOutcome(Path("a.highbar.yaml"), (), not_run=(NotRun("S", "later"),))
    found = cases(dataclasses.replace(run_outcome(), specs=(spec,), interrupted=True))
    assert found["later"].find("skipped") is not None
    assert found["(the run ended)"].find("error") is not None
