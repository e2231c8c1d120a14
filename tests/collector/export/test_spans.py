"""The tree of a run, as protobuf messages."""

import random
from typing import Any

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from collector.export.otlp import Telemetry
from collector.export.spans import run_telemetry
from evaluator.harness.outcome import Notice, RunOutcome, Stop, UnitBehaviors
from evaluator.verdict import Result, Severity
from evaluator.verdict import Status as Outcome
from tests.collector.export.outcomes import (
    MISSING,
    SPEC,
    T0,
    S,
    event_item,
    execution,
    result,
    run_outcome,
    test_outcome,
    turn,
)

PASSING = test_outcome(0, "refunds an order", execution(1, turn(1)), execution(2, turn(2), turn(3, index=1)))
FAILING = test_outcome(1, "refuses a stranger", execution(1, turn(4, Outcome.FAILED)))


def exported(outcome: RunOutcome, verb: str = "run") -> Telemetry:
    return run_telemetry(outcome, random.Random(1).randbytes, verb)


def only(telemetry: Telemetry, kind: str, **having: Any) -> Span:
    (span,) = [span for span in telemetry.spans if having.items() <= plain(span).items() and of(span) == kind]
    return span


def plain(carrier: Any) -> dict[str, Any]:
    return {each.key: _plain(each.value) for each in carrier.attributes}


def _plain(value: Any) -> Any:
    kind = value.WhichOneof("value")
    return [_plain(each) for each in value.array_value.values] if kind == "array_value" else getattr(value, kind)


def of(span: Span) -> Any:
    return plain(span)["spanbar.span"]


def targets(span: Span, kind: str) -> list[bytes]:
    return [link.span_id for link in span.links if plain(link)["spanbar.link"] == kind]


def test_a_run_is_one_trace_of_run_suite_test_and_execution() -> None:
    telemetry = exported(run_outcome(PASSING, FAILING))
    run, suite = only(telemetry, "run"), only(telemetry, "suite")
    tests = [span for span in telemetry.spans if of(span) == "test"]
    executions = [span for span in telemetry.spans if of(span) == "execution"]
    assert run.parent_span_id == b""
    assert suite.parent_span_id == run.span_id
    assert [test.parent_span_id for test in tests] == [suite.span_id] * 2
    assert [each.parent_span_id for each in executions] == [tests[0].span_id] * 2 + [tests[1].span_id]
    assert {span.trace_id for span in (run, suite, *tests, *executions)} == {run.trace_id}


def test_a_message_is_the_span_that_the_agent_was_sent_as_its_parent() -> None:
    telemetry = exported(run_outcome(PASSING))
    messages = [span for span in telemetry.spans if of(span) == "message"]
    assert [(span.trace_id.hex(), span.span_id.hex()) for span in messages] == [
        (f"{number:032x}", f"{number:016x}") for number in (1, 2, 3)
    ]
    assert [span.parent_span_id for span in messages] == [b""] * 3


def test_messages_and_their_test_link_to_each_other_across_the_traces() -> None:
    telemetry = exported(run_outcome(FAILING))
    message, test, run = only(telemetry, "message"), only(telemetry, "test"), only(telemetry, "execution")
    assert targets(message, "test") == [test.span_id]
    assert targets(message, "execution") == [run.span_id]
    assert targets(run, "message") == [message.span_id]
    assert {link.trace_id for link in message.links} == {test.trace_id}
    assert run.links[0].trace_id == message.trace_id


def test_a_message_that_was_never_sent_has_ids_of_its_own() -> None:
    from dataclasses import replace

    unsent = replace(turn(1, Outcome.ERROR), trace_id="", span_id="")
    message = only(exported(run_outcome(test_outcome(0, "t", execution(1, unsent)))), "message")
    assert (len(message.trace_id), len(message.span_id)) == (16, 8)


def test_names_and_statuses_are_those_of_the_semantic_conventions() -> None:
    telemetry = exported(run_outcome(PASSING, FAILING))
    failing = {"test.case.name": "refuses a stranger"}
    assert plain(only(telemetry, "run"))["test.suite.run.status"] == "failure"
    assert (
        plain(only(telemetry, "suite")).items()
        >= {
            "test.suite.name": "refunds",
            "test.suite.run.status": "failure",
            "spanbar.spec": str(SPEC),
        }.items()
    )
    for kind in ("test", "execution", "message"):
        attributes = plain(only(telemetry, kind, **failing))
        assert (attributes["test.suite.name"], attributes["test.case.result.status"]) == ("refunds", "fail")
    assert (
        plain(only(telemetry, "test", **{"test.case.name": "refunds an order"}))["test.case.result.status"] == "pass"
    )


def test_what_failed_has_an_error_status_and_says_why() -> None:
    telemetry = exported(run_outcome(PASSING, FAILING))
    test = only(telemetry, "test", **{"test.case.name": "refuses a stranger"})
    assert (test.status.code, test.status.message) == (Status.STATUS_CODE_ERROR, MISSING.text)
    (event,) = test.events
    assert (event.name, plain(event)) == (
        "spanbar.reason",
        {"spanbar.code": MISSING.code, "spanbar.text": MISSING.text, "spanbar.fix": MISSING.fix},
    )
    passed = only(telemetry, "test", **{"test.case.name": "refunds an order"})
    assert (passed.status.code, list(passed.events)) == (Status.STATUS_CODE_OK, [])


def test_times_span_what_is_below() -> None:
    telemetry = exported(run_outcome(PASSING, FAILING))
    suite = only(telemetry, "suite")
    assert (suite.start_time_unix_nano, suite.end_time_unix_nano) == (T0 + 1 * S, T0 + 5 * S)
    message = only(telemetry, "message", **{"spanbar.test.id": "test-1", "test.case.name": "refuses a stranger"})
    assert (message.start_time_unix_nano, message.end_time_unix_nano) == (T0 + 4 * S, T0 + 5 * S)


@pytest.mark.parametrize(("stop", "status"), [(None, "success"), (Stop("agent_exited", "it exited"), "aborted")])
def test_a_run_is_a_success_only_if_everything_ran_and_passed(stop: Stop | None, status: str) -> None:
    run = only(exported(run_outcome(PASSING, stop=stop)), "run")
    assert plain(run)["test.suite.run.status"] == status
    assert run.status.code == (Status.STATUS_CODE_OK if stop is None else Status.STATUS_CODE_ERROR)


def test_a_spec_that_did_not_run_is_in_the_tree_with_the_reason() -> None:
    telemetry = exported(run_outcome(stop=Stop("not_ready", "the agent was not ready in 30 s")))
    spec = only(telemetry, "spec")
    assert spec.parent_span_id == only(telemetry, "run").span_id
    assert (spec.status.code, spec.status.message) == (Status.STATUS_CODE_ERROR, "the agent was not ready in 30 s")


def test_a_suite_that_a_stop_cut_off_is_never_a_success() -> None:
    suite = only(exported(run_outcome(PASSING, stop=Stop("agent_exited", "it exited"))), "suite")
    assert plain(suite)["test.suite.run.status"] == "aborted"
    assert suite.status.code == Status.STATUS_CODE_ERROR


def test_warnings_of_the_run_are_events_on_it() -> None:
    run = only(exported(run_outcome(PASSING, warnings=(Notice("late", "3 spans came late"),))), "run")
    assert [(event.name, plain(event)["spanbar.text"]) for event in run.events] == [
        ("spanbar.warning", "3 spans came late")
    ]


def test_behaviors_are_below_the_run_with_an_event_a_span_and_a_log_record_each() -> None:
    evidence = event_item("test.run", 3)
    unit = UnitBehaviors("session", "s-1", (result(Result.FAIL, evidence), result(Result.PASS, name="never force")))
    telemetry = exported(run_outcome(behaviors=(unit,)), verb="check")
    run, session = only(telemetry, "run"), only(telemetry, "session")
    results = [span for span in telemetry.spans if of(span) == "result"]
    assert run.name == "spanbar check"
    assert session.parent_span_id == run.span_id
    assert [span.parent_span_id for span in results] == [session.span_id] * 2
    names = ["tests before push", "never force"]
    for carriers in (session.events, [span.events[0] for span in results], telemetry.logs):
        assert [plain(each)["gen_ai.evaluation.name"] for each in carriers] == names
        assert [plain(each)["gen_ai.evaluation.score.label"] for each in carriers] == ["fail", "pass"]
        assert [plain(each)["gen_ai.evaluation.explanation"] for each in carriers] == ["it is fail", "it is pass"]
    assert targets(results[0], "evidence") == [evidence.id[1]]


@pytest.mark.parametrize(
    ("results", "code"),
    [
        ([result(Result.PASS), result(Result.NOT_APPLICABLE)], Status.STATUS_CODE_OK),
        ([result(Result.PASS), result(Result.FAIL)], Status.STATUS_CODE_ERROR),
        ([result(Result.PASS), result(Result.UNKNOWN)], Status.STATUS_CODE_ERROR),
        ([result(Result.PASS), result(Result.ERROR)], Status.STATUS_CODE_ERROR),
        ([result(Result.PASS), result(Result.UNKNOWN, severity=Severity.WARN)], Status.STATUS_CODE_UNSET),
        ([result(Result.PASS), result(Result.FAIL, severity=Severity.WARN)], Status.STATUS_CODE_UNSET),
        ([result(Result.NOT_APPLICABLE)], Status.STATUS_CODE_UNSET),
        ([], Status.STATUS_CODE_UNSET),
    ],
)
def test_a_unit_is_ok_only_if_something_was_verified_and_nothing_is_open(results: list[Any], code: int) -> None:
    telemetry = exported(run_outcome(behaviors=(UnitBehaviors("session", "s-1", tuple(results)),)))
    assert only(telemetry, "session").status.code == code
