from typing import Any

from collector.index import Index
from collector.live.feed import Feed
from collector.live.livetest import in_full, line
from collector.live.runboard import RunBoard
from evaluator.harness.outcome import TestKey
from evaluator.items import Call, Change, Item, ItemKind
from evaluator.verdict import Status
from tests.collector.live.runs import play
from tests.collector.outcomes import SENT, execution, test_outcome, turn


def board(*, to_the_end: bool = False) -> RunBoard:
    run = RunBoard(Feed())
    play(run, to_the_end=to_the_end)
    return run


def statuses(run: RunBoard) -> dict[str, str]:
    return {test.name: test.status for test in run.tests.values()}


def test_every_test_is_there_from_the_start() -> None:
    assert statuses(board()) == {"refund my order": "failed", "stays polite": "running", "never run": "waiting"}


def test_a_test_that_the_run_did_not_get_to_is_not_run_and_not_passed() -> None:
    run = board(to_the_end=True)
    assert statuses(run) == {"refund my order": "failed", "stays polite": "passed", "never run": "not run"}
    assert run.summary()["status"] == "finished"
    assert run.summary()["counts"] == {"failed": 1, "passed": 1, "not run": 1}


def test_a_finished_test_tells_why_with_its_conversation() -> None:
    test = in_full(board().tests[TestKey(0, 0, 0)])
    assert test["reason"] == "refund was not called"
    assert test["reasons"][0] | {"fix": ""} == {
        "code": "missing_call",
        "text": "refund was not called",
        "fix": "",
        "error": False,
        "line": 6,
        "path": "suites[0].tests[0].expect",
    }
    (execution_shown,) = test["all_executions"]
    (turn_shown,) = execution_shown["turns"]
    assert (turn_shown["status"], turn_shown["calls"][0]["name"]) == ("failed", "lookup")


def test_a_running_test_shows_its_calls_as_they_arrive() -> None:
    index, run = Index(), board()
    index.listen(run.seen)
    item = _call_in("c" * 32)
    index.apply([Change(None, item)])
    test = run.tests[TestKey(0, 0, 1)]
    assert line(test)["doing"] == {"turn": 0, "run": 1, "trigger": "refund my order", "calls": 1}
    assert in_full(test)["all_executions"][0]["turns"][0]["calls"][0]["args"] == '{"id":7}'
    index.apply([Change(item, None)])
    assert line(test)["doing"]["calls"] == 0


def test_a_call_of_another_trace_is_not_shown() -> None:
    index, run = Index(), board()
    index.listen(run.seen)
    index.apply([Change(None, _call_in("d" * 32))])
    assert line(run.tests[TestKey(0, 0, 1)])["doing"]["calls"] == 0


def test_a_revision_is_said_and_changes_the_status() -> None:
    run = board(to_the_end=True)
    key = TestKey(0, 0, 1)
    before = test_outcome("stays polite", execution(turn(), test_id="test-1"), key=key)
    failed = execution(turn(Status.FAILED), test_id="test-1", revised=True)
    run.test_revised(
        before, test_outcome("stays polite", failed, key=key, revised=True), "a forbidden call came late"
    )
    shown = line(run.tests[key])
    assert (shown["status"], shown["revision"]) == ("failed", "passed became failed: a forbidden call came late")


def test_whoever_comes_late_gets_the_same_as_who_was_there() -> None:
    feed = Feed()
    run = RunBoard(feed)
    play(run, to_the_end=True)
    told: dict[str, Any] = {}
    for name, data in run.snapshot():
        if name == "tests":
            told.update({test["key"]: test for test in data["tests"]})
    assert told == {".".join(map(str, key)): line(test) for key, test in run.tests.items()}


def _call_in(trace: str) -> Item:
    trace_id = bytes.fromhex(trace)
    call = Call("refund", {"id": 7}, started=SENT, ended=SENT + 1, trace_id=trace_id, span_id=b"s" * 8)
    return Item((trace_id, b"s" * 8, None), ItemKind.TOOL, "refund", "s", None, None, SENT, None, call=call)
