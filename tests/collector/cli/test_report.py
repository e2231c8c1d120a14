"""The terminal report, as it is read."""

import dataclasses
import io
import re
from typing import Any

import pytest
from rich.console import Console

from collector.cli.report import TerminalReport
from evaluator.expectations import Reason
from evaluator.harness.listener import TestStarted, TurnSent
from evaluator.harness.outcome import ClosedBy, Notice, RunOutcome, Stop, TestOutcome
from evaluator.verdict import Status
from tests.collector.outcomes import (
    HOSTILE,
    SENT,
    call,
    decision,
    example_run,
    execution,
    forbidden,
    key,
    mismatch,
    run_outcome,
    test_outcome,
    turn,
)


class Screen:
    """A report and what it has printed."""

    def __init__(self, encoding: str = "utf-8", **options: Any) -> None:
        self._bytes = io.BytesIO()
        self._file = io.TextIOWrapper(self._bytes, encoding=encoding, write_through=True)
        known: dict[str, Any] = {"width": 120, "highlight": False, "_environ": {}}
        self.report = TerminalReport(Console(file=self._file, **(known | options)))

    @property
    def text(self) -> str:
        return self._bytes.getvalue().decode()

    def tests(self, *tests: TestOutcome) -> "Screen":
        for test in tests:
            self.report.test_finished(test)
        return self

    def run(self, outcome: RunOutcome) -> "Screen":
        self.report.run_started(())
        self.tests(*outcome.tests)
        for warning in outcome.warnings:
            self.report.warning(warning)
        for spec in outcome.specs:
            self.report.spec_finished(spec)
        self.report.run_finished(outcome)
        return self


def test_a_run_reads_like_this() -> None:
    run = dataclasses.replace(example_run(), behaviors=())
    assert (
        Screen().run(run).text
        == """\

  Support
  ✓ refunds a broken order                          41 ms  decided 3 ms after the span
  ✗ refunds the right order                         41 ms  decided 3 ms after the span
      params_mismatch  refund was called with a difference: params.id is 8, expected 7; and 1 more difference  (line 14)
          params.id      8  expected 7
          params.reason  "late"  expected contains "broken"
      ━━━━━━━                        1 ms  look_up_order {"id": 7}
               ━━━━━━━━━━━━         15 ms  refund        {"id": 8, "reason": "late"}
                  ━━━━━━━━━━━━      20 ms  send_mail     {"to": "a@b.example"}  failed: Timeout: 5s
      reply after 40 ms; trace 4bf92f3577b34da6a3ce929d0e0e4736

  Guardrails
  ✗ keeps the account                               41 ms  decided 0.6 ms after the span, reply not awaited
      forbidden_call  delete_account was called, and is forbidden  (line 20)
      ╺                              5 ms  delete_account {"user": "u1"}
      trace 4bf92f3577b34da6a3ce929d0e0e4736
  ! refunds in private                              41 ms  decided 3 ms after the span
      not_recorded  params of refund was not recorded: content capture is off
          fix: set OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true
      ━━━━━━━━━━━━━━━━━━━━━━━━       1 ms  refund (arguments not recorded: content capture is off)
      reply after 40 ms; trace 4bf92f3577b34da6a3ce929d0e0e4736
  ✓ answers politely                                41 ms  2/3 (min 2)
  warning  no tool was ever declared: a misspelt name in forbid cannot be told

2 passed, 2 failed, 1 error in 1.2 s (1 warning)
"""  # noqa: E501
    )


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (decision(ClosedBy.FAILURE, 3.2, awaited=False), "decided 3 ms after the span, reply not awaited"),
        (decision(ClosedBy.SETTLED, 0.24), "decided 0.2 ms after the span"),
        (decision(ClosedBy.REPLY, None), "decided by the reply"),
        (decision(ClosedBy.SETTLE_TIME, None), "decided after the whole settle_time"),
    ],
)
def test_it_says_what_was_decided_when(made: Any, told: str) -> None:
    assert told in Screen().tests(test_outcome("t", execution(turn(decision=made)))).text


def test_a_green_test_that_turns_red_is_loud_and_told_again_at_the_end() -> None:
    before = test_outcome("keeps the account")
    failed = execution(turn(Status.FAILED, reasons=[forbidden()]))
    after = test_outcome("keeps the account", failed, revised=True)
    screen = Screen().tests(before)
    screen.report.test_revised(before, after, "a span arrived 310 ms after closing")
    screen.report.run_finished(run_outcome(after))
    assert screen.text.count(" REVISED  keeps the account: passed, now failed") == 2
    assert "late: a span arrived 310 ms after closing" in screen.text
    assert "0 passed, 1 failed in 1.2 s (1 verdict revised)" in screen.text


def test_a_conversation_shows_its_turns() -> None:
    turns = turn(trigger="hello"), turn(Status.FAILED, index=1, trigger="cancel it", reasons=[forbidden()])
    text = Screen().tests(test_outcome("talks", execution(*turns))).text
    assert "turn 1  hello" in text
    assert "turn 2  cancel it" in text


def test_of_many_runs_only_those_that_did_not_pass_are_told() -> None:
    bad = turn(Status.FAILED, reasons=[forbidden()])
    runs = [execution(turn()), *(execution(bad, run=number) for number in range(2, 8))]
    text = Screen().tests(test_outcome("t", *runs, runs=7, min_pass=7, status=Status.FAILED, passed_runs=1)).text
    assert "1/7" in text
    assert re.findall(r"run \d", text) == ["run 2", "run 3", "run 4"]
    assert "and 3 more runs that did not pass" in text


@pytest.mark.parametrize(
    ("status", "by", "told"),
    [
        (Status.FAILED, ClosedBy.EVIDENCE, "no tool was called;"),
        (Status.FAILED, ClosedBy.SETTLE_TIME, "no tool was called;"),
        (Status.ERROR, ClosedBy.SETTLE_TIME, "no tool call had come by then;"),
        (Status.ERROR, ClosedBy.REPLY, "no tool call had come by then;"),
        (Status.FAILED, ClosedBy.REPLY, "no tool call had come by then;"),
        (Status.FAILED, ClosedBy.FAILURE, "no tool call had come by then;"),
    ],
)
def test_that_no_tool_was_called_is_said_only_where_it_is_known(status: Status, by: ClosedBy, told: str) -> None:
    text = Screen().tests(test_outcome("t", execution(turn(status, decision=decision(by))))).text
    assert [line.strip()[: len(told)] for line in text.splitlines() if "no tool" in line] == [told]


def test_a_message_that_was_not_sent_has_no_trace_and_no_calls() -> None:
    unsent = turn(
        Status.ERROR,
        reasons=[Reason("session_setup", "setup failed", error=True)],
        trace_id="",
        span_id="",
        reply=None,
        decision=decision(ClosedBy.NOT_SENT, None),
    )
    text = Screen().tests(test_outcome("t", execution(unsent))).text
    assert text.splitlines()[-1].strip() == "not sent"


@pytest.mark.parametrize(
    ("made", "passed", "told"),
    [
        (6, 6, "6/6 (min 4)"),
        (5, 4, "4/5 (min 4, 1 not run)"),
        (3, 0, "0/3 (min 4, 3 not run)"),
    ],
)
def test_runs_are_counted_of_those_that_were_made(made: int, passed: int, told: str) -> None:
    runs = [execution(turn(), run=number + 1) for number in range(made)]
    assert f"  {told}\n" in Screen().tests(test_outcome("t", *runs, runs=6, min_pass=4, passed_runs=passed)).text


def test_the_same_fix_is_told_once_and_where_to_look_closer_at_the_end() -> None:
    reason = Reason("not_observed", "No telemetry came.", error=True, fix="Instrument the agent.")
    blind = [test_outcome(name, execution(turn(Status.ERROR, reasons=[reason]))) for name in ("one", "two", "three")]
    text = Screen().run(run_outcome(*blind)).text
    assert re.findall("fix: .*", text) == ["fix: Instrument the agent.", "fix: as above", "fix: as above"]
    assert text.count("Look closer with: spanbar doctor specs/support.highbar.yaml\n") == 1


def test_a_spec_that_did_not_run_says_why_line_by_line() -> None:
    screen = Screen().run(run_outcome(stop=Stop("agent_exited", "the agent exited with 3\nTraceback\x1b[2J")))
    assert (
        "stopped  specs/support.highbar.yaml: the agent exited with 3\n           Traceback\\x1b[2J\n" in screen.text
    )
    assert "1 spec did not run to the end" in screen.text


def test_tests_that_did_not_pass_are_named_again_after_a_long_run() -> None:
    tests = [test_outcome(f"t{number}", key=key(number)) for number in range(20)]
    tests[3] = test_outcome("the bad one", execution(turn(Status.FAILED, reasons=[forbidden()])))
    assert "Not passed:\n  ✗ Support: the bad one\n" in Screen().run(run_outcome(*tests)).text


def test_hostile_text_is_neither_markup_nor_a_command() -> None:
    made = call(HOSTILE, {HOSTILE: HOSTILE * 1000}, error=HOSTILE)
    reason = Reason("forbidden_call", f"{HOSTILE} was called", fix=HOSTILE)
    failed = turn(Status.FAILED, reasons=[reason], trigger=HOSTILE, reply=HOSTILE, calls=(made,) * 50)
    outcome = run_outcome(
        test_outcome(HOSTILE, execution(failed, failed, phrasing=HOSTILE), suite=HOSTILE),
        stop=Stop("x", HOSTILE),
        warnings=(Notice("w", HOSTILE),),
    )
    text = Screen().run(outcome).text
    assert "[red]see [1] and [/red]\\x1b[31m\\u202etxt.exe\\x00<script>" in text
    assert all(char.isprintable() or char == "\n" for char in text)
    assert max(map(len, text.split("\n"))) < 600
    assert "and 38 more calls" in text


@pytest.mark.parametrize(
    "options", [{}, {"force_terminal": True, "_environ": {"NO_COLOR": "1", "TERM": "xterm-256color"}}]
)
def test_there_is_no_colour_in_a_pipe_or_where_it_is_not_wanted(options: Any) -> None:
    text = Screen(**options).run(example_run()).text
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]", text)


def test_a_terminal_that_has_no_unicode_gets_ascii() -> None:
    failed = execution(turn(Status.FAILED, reasons=[forbidden("größe")], calls=(call("größe", start=1, end=5),)))
    text = Screen(encoding="ascii").run(run_outcome(test_outcome("茶", failed), test_outcome("b"))).text
    assert "FAIL \\u8336" in text
    assert "gr\\xf6\\xdfe was called" in text
    assert "ok b" in text


class TestLive:
    def screen(self) -> Screen:
        return Screen(force_terminal=True, _environ={"TERM": "xterm-256color"})

    def started(self, screen: Screen, number: int, name: str) -> None:
        test = key(number)
        screen.report.test_started(TestStarted(test, example_run().specs[0].path, "Support", name, 1, SENT))
        screen.report.turn_sent(TurnSent(test, "id", 2, None, 1, "hello", "4b", "00", SENT))

    def test_the_tests_that_run_are_shown_together_and_what_is_done_stays(self) -> None:
        screen = self.screen()
        screen.report.run_started(())
        self.started(screen, 0, "first [bold]test")
        self.started(screen, 1, "second test")
        screen.tests(test_outcome("first [bold]test", key=key(0)))
        screen.report.run_finished(run_outcome(test_outcome("first [bold]test")))
        assert "first [bold]test" in screen.text
        assert "second test" in screen.text
        assert "run 2, turn 2" in screen.text
        assert "1 done" in screen.text
        assert "1 passed" in screen.text.rpartition("\x1b[?25h")[2]

    def test_more_tests_than_fit_are_counted(self) -> None:
        screen = self.screen()
        screen.report.run_started(())
        for number in range(11):
            self.started(screen, number, f"test {number}")
        screen.tests(test_outcome("other", key=key(99)))
        screen.report.close()
        assert "and 3 more" in screen.text

    def test_the_terminal_is_given_back(self) -> None:
        screen = self.screen()
        screen.report.run_started(())
        screen.report.close()
        assert screen.text.count("\x1b[?25h") == screen.text.count("\x1b[?25l") == 1


def test_what_came_after_a_test_was_printed_is_told_at_the_end() -> None:
    before = test_outcome("keeps the account", execution(turn(Status.FAILED, reasons=[mismatch()])))
    after = test_outcome("keeps the account", execution(turn(Status.FAILED, reasons=[forbidden(), mismatch()])))
    screen = Screen().tests(before)
    screen.report.run_finished(run_outcome(after))
    later = [line for line in screen.text.splitlines() if line.startswith("  later")]
    assert later == ["  later  keeps the account: forbidden_call delete_account was called, and is forbidden"]


def test_a_run_of_which_no_test_was_asked_for_says_so() -> None:
    screen = Screen()
    screen.report.run_finished(run_outcome(stop=Stop("no_tests", "No test matches 'x'. There are:\n  S: pays")))
    assert "stopped  specs/support.highbar.yaml: No test matches 'x'" in screen.text
    assert "S: pays" in screen.text


@pytest.mark.parametrize("times", [(20, 10), (-SENT / 1e6, -SENT / 1e6)], ids=["ends before it starts", "zero"])
def test_times_that_cannot_be_are_not_shown(times: tuple[float, float]) -> None:
    made = (call("refund", None, *times), call("pay", None, 5, 9))
    text = Screen().tests(test_outcome("t", execution(turn(Status.FAILED, reasons=[forbidden()], calls=made)))).text
    rows = [line.split() for line in text.splitlines() if line.strip().endswith("{}")]
    assert sorted(row[-3] for row in rows) == ["clock?", "ms"]
