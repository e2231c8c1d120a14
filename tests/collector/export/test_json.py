"""The `--json` document: the keys of DESIGN.md, readable by every JSON reader whatever values it holds."""

import json
import math
from pathlib import Path
from typing import Any

import orjson
import pytest

from collector.export.json import behaviors_document, run_document, write_document
from evaluator.verdict import Result, Status
from tests.collector.outcomes import (
    CAPTURE_OFF,
    HOSTILE,
    behaviors,
    call,
    example_run,
    execution,
    run_outcome,
    test_outcome,
    turn,
)


def read_back(document: Any, path: Path) -> Any:
    write_document(document, path)
    orjson.loads(path.read_bytes().replace(b"\\ud800", b""))
    return json.loads(path.read_bytes())


def test_it_has_the_keys_that_were_promised() -> None:
    document = run_document(example_run())
    assert document["version"] == 1
    assert document.keys() >= {"version", "summary", "tests", "behaviors"}
    test = document["tests"][0]
    assert test.keys() >= {
        "suite", "name", "status", "duration_ms", "runs", "min_pass", "passed_runs", "reasons", "executions",
    }  # fmt: skip
    assert test["executions"][0].keys() >= {
        "trace_id", "test_id", "status", "decided_ms", "ended_early", "calls",
    }  # fmt: skip
    assert document["behaviors"][0].keys() >= {
        "name", "unit", "result", "final_at", "revised", "reason", "evidence",
    }  # fmt: skip


def test_the_summary_counts_tests_and_says_how_the_run_exits() -> None:
    summary = run_document(example_run())["summary"]
    assert {key: summary[key] for key in ("total", "passed", "failed", "errored", "exit_status")} == {
        "total": 5,
        "passed": 2,
        "failed": 2,
        "errored": 1,
        "exit_status": 1,
    }


def test_a_reason_has_its_code_its_place_and_the_nearest_miss() -> None:
    (reason,) = run_document(example_run())["tests"][1]["reasons"]
    assert (reason["code"], reason["path"], reason["line"]) == (
        "params_mismatch",
        "suites[0].tests[1].expect.function_calls[0]",
        14,
    )
    assert reason["nearest"]["call"]["args"] == {"id": 8, "reason": "late"}
    assert reason["nearest"]["differences"][0] == {"path": "params.id", "expected": "7", "found": "8"}


def test_times_of_calls_count_from_the_message() -> None:
    made = run_document(example_run())["tests"][1]["executions"][0]["calls"][1]
    assert (made["name"], made["start_ms"], made["duration_ms"]) == ("refund", 15.0, 18.0)


def test_an_execution_that_was_never_sent_has_no_trace() -> None:
    unsent = execution(status=Status.ERROR)
    assert run_document(run_outcome(test_outcome("t", unsent)))["tests"][0]["executions"][0]["trace_id"] is None


def test_what_was_not_recorded_is_null_with_its_cause() -> None:
    made = execution(turn(calls=(call("refund", CAPTURE_OFF),)))
    (found,) = run_document(run_outcome(test_outcome("t", made)))["tests"][0]["executions"][0]["calls"]
    assert found["args"] is None
    assert found["not_recorded"] == {"args": {"cause": CAPTURE_OFF.cause, "fix": CAPTURE_OFF.fix}}


def test_a_check_has_the_same_behaviors_as_a_run() -> None:
    unit = behaviors(Result.PASS, Result.FAIL)
    assert behaviors_document([unit])["behaviors"] == run_document(run_outcome(behaviors=(unit,)))["behaviors"]


def deep() -> Any:
    value: Any = 1
    for _ in range(5000):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (2**60, 2**60),
        (2.5, 2.5),
        (math.nan, "nan"),
        (math.inf, "inf"),
        (HOSTILE, HOSTILE),
        ([{"a": CAPTURE_OFF}], [{"a": None}]),
        pytest.param(10**9000, "1" + "0" * 9000, id="digits"),
    ],
)
def test_every_value_can_be_written_and_read(value: Any, written: Any, tmp_path: Path) -> None:
    made = execution(turn(calls=(call("t", {"value": value}),)))
    document = read_back(run_document(run_outcome(test_outcome("t", made))), tmp_path / "run.json")
    assert document["tests"][0]["executions"][0]["calls"][0]["args"] == {"value": written}


def test_a_value_nested_without_end_is_cut(tmp_path: Path) -> None:
    made = execution(turn(calls=(call("t", {"value": deep()}),)))
    write_document(run_document(run_outcome(test_outcome("t", made))), tmp_path / "run.json")
    assert "(nested too deeply to show)" in (tmp_path / "run.json").read_text()


def test_a_dash_is_the_standard_output(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    write_document(behaviors_document([]), Path("-"))
    assert json.loads(capfdbinary.readouterr().out)["version"] == 1


def test_a_report_that_cannot_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(OSError, match="taken"):
        write_document(behaviors_document([]), tmp_path / "taken" / "run.json")
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]
