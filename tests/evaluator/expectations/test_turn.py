"""One turn: what fails it, what only later calls could cure, what cannot be known."""

from typing import Any

import pytest

from evaluator.expectations import RegexTimeout, TurnMonitor
from evaluator.items import CallStatus, Change, NotRecorded
from evaluator.verdict import Status
from tests.evaluator.expectations.building import arrival, call, codes, expect, instant, item, judged, search

CAPTURE_OFF = NotRecorded("content capture is off", "set OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true")
REFUND = {"name": "refund", "params": {"id": 7}}


def said(monitor: TurnMonitor) -> str:
    return "\n".join(reason.text for reason in monitor.verdict.reasons)


class TestEarlyEnd:
    @pytest.mark.parametrize(
        ("keys", "calls"),
        [
            ({"forbid": ["refund"]}, [call("refund")]),
            ({"forbid": ["refund"]}, [call("refund", error="denied")]),
            ({"function_calls": []}, [call("look_up")]),
            ({"function_calls": ["a"], "exclusive": True}, [call("b")]),
            ({"function_calls": ["a"], "exclusive": True}, [call("a"), call("a", started=5)]),
            ({"function_calls": ["a", "b"], "exclusive": True}, [call("a"), call("a", started=5)]),
            (
                {"function_calls": ["a", "b"], "exclusive": True, "ordered": True},
                [call("b"), call("a", started=5)],
            ),
        ],
    )
    def test_what_no_later_call_can_cure_is_final_before_the_reply(self, keys: Any, calls: Any) -> None:
        verdict = judged(expect(**keys), *calls, reply=None, close=False).verdict
        assert (verdict.status, verdict.final) == (Status.FAILED, True)

    @pytest.mark.parametrize(
        ("keys", "calls"),
        [
            ({"function_calls": ["a"]}, []),
            ({"function_calls": ["a"]}, [call("a", error="timeout")]),
            ({"function_calls": [REFUND]}, [call("refund", {"id": 8})]),
            ({"function_calls": ["a", "b"], "ordered": True}, [call("b"), call("a", started=5)]),
            ({"function_calls": ["a", "b"], "exclusive": True}, [call("b")]),
            ({"function_calls": ["a", "b"], "exclusive": True, "ordered": True}, [call("b", started=5)]),
        ],
    )
    def test_what_a_later_call_can_cure_is_not_final_before_closing(self, keys: Any, calls: Any) -> None:
        monitor = judged(expect(**keys), *calls, close=False)
        assert (monitor.verdict.status, monitor.verdict.final) == (Status.FAILED, False)
        assert not any(reason.certain for reason in monitor.verdict.reasons)
        monitor.close()
        assert (monitor.verdict.status, monitor.verdict.final) == (Status.FAILED, True)
        assert all(reason.certain for reason in monitor.verdict.reasons)

    def test_a_wrong_reply_is_final_at_once(self) -> None:
        monitor = judged(expect(response={"contains": "done"}), reply="sorry", close=False)
        assert (monitor.status, monitor.final) == (Status.FAILED, True)

    def test_a_right_reply_waits_for_closing(self) -> None:
        monitor = judged(expect(response={"contains": "done"}, forbid=["refund"]), reply="done", close=False)
        assert (monitor.status, monitor.final, monitor.settled) == (Status.PASSED, False, True)

    def test_a_turn_that_was_closed_without_a_reply_is_no_pass(self) -> None:
        monitor = judged(expect(forbid=["refund"]), reply=None)
        assert (monitor.status, codes(monitor)) == (Status.ERROR, ["reply_missing"])

    def test_nothing_is_settled_while_something_asked_for_is_missing(self) -> None:
        monitor = judged(expect(function_calls=["a"]), close=False)
        assert not monitor.settled
        monitor.apply(arrival(call("a")))
        assert monitor.settled


class TestRevision:
    def test_a_late_forbidden_call_turns_a_pass_red(self) -> None:
        monitor = judged(expect(forbid=["refund"]))
        assert monitor.status is Status.PASSED
        monitor.apply(arrival(call("refund")))
        assert (monitor.status, monitor.final) == (Status.FAILED, True)

    def test_a_call_that_turns_out_not_to_have_happened_is_taken_back(self) -> None:
        monitor = judged(expect(forbid=["refund"]), call("refund"))
        monitor.apply(Change(item(call("refund")), item(call("refund", status=CallStatus.DENIED))))
        assert monitor.status is Status.PASSED

    def test_arguments_that_arrive_late_decide(self) -> None:
        bare, full = call("refund", CAPTURE_OFF), call("refund", {"id": 7})
        monitor = judged(expect(function_calls=[REFUND]), bare)
        assert monitor.status is Status.ERROR
        monitor.apply(Change(item(bare), item(full)))
        assert monitor.status is Status.PASSED

    def test_the_same_item_twice_is_one_call(self) -> None:
        monitor = judged(expect(function_calls=["a"], exclusive=True))
        monitor.apply(arrival(call("a"), 1))
        monitor.apply(arrival(call("a"), 1))
        assert monitor.status is Status.PASSED

    def test_a_call_that_takes_on_another_id_is_still_one_call(self) -> None:
        monitor = judged(expect(function_calls=["a"], exclusive=True), call("a"))
        monitor.apply(Change(item(call("a"), 0), item(call("a"), 9)))
        assert monitor.status is Status.PASSED


class TestNotRecorded:
    @pytest.mark.parametrize(
        ("entry", "made"),
        [
            ({"name": "t", "params": {"id": 7}}, call("t", CAPTURE_OFF)),
            ({"name": "t", "params": {"id": 7}}, call("t", {"id": CAPTURE_OFF})),
            ({"name": "t", "params": {"id": {"not_contains": "7"}}}, call("t", {"id": CAPTURE_OFF})),
            ({"name": "t", "result": {}}, call("t", result=CAPTURE_OFF)),
            ({"name": "t", "result": {"ok": True}}, call("t", result={"ok": CAPTURE_OFF})),
            ({"name": "t", "error": {"contains": "x"}}, call("t", error=CAPTURE_OFF)),
        ],
    )
    def test_what_needs_a_value_that_was_not_recorded_is_an_error(self, entry: Any, made: Any) -> None:
        monitor = judged(expect(function_calls=[entry]), made)
        (reason,) = monitor.verdict.reasons
        assert (monitor.status, reason.code, reason.error) == (Status.ERROR, "not_recorded", True)
        assert "content capture is off" in reason.text
        assert reason.fix == CAPTURE_OFF.fix

    @pytest.mark.parametrize(
        ("entry", "made"),
        [
            ("t", call("t", CAPTURE_OFF, result=CAPTURE_OFF)),
            ({"name": "t", "params": {}}, call("t", CAPTURE_OFF)),
            ({"name": "t", "params": {"id": 7}}, call("t", {"id": 7, "note": CAPTURE_OFF})),
            ({"name": "t", "error": True}, call("t", error=CAPTURE_OFF)),
        ],
    )
    def test_what_does_not_need_it_passes(self, entry: Any, made: Any) -> None:
        assert judged(expect(function_calls=[entry]), made).status is Status.PASSED

    def test_a_difference_elsewhere_decides_all_the_same(self) -> None:
        entry = {"name": "t", "params": {"id": 7, "note": "x"}}
        monitor = judged(expect(function_calls=[entry]), call("t", {"id": 8, "note": CAPTURE_OFF}))
        assert codes(monitor) == ["params_mismatch"]

    def test_another_call_that_fits_for_sure_decides(self) -> None:
        calls = call("refund", CAPTURE_OFF), call("refund", {"id": 7}, 5)
        assert judged(expect(function_calls=[REFUND]), *calls).status is Status.PASSED

    def test_a_call_too_many_fails_whatever_its_arguments_are(self) -> None:
        calls = call("refund", CAPTURE_OFF), call("refund", {"id": 7}, 5)
        monitor = judged(expect(function_calls=[REFUND], exclusive=True), *calls)
        assert (monitor.status, codes(monitor)) == (Status.FAILED, ["unexpected_call"])

    def test_an_order_that_hangs_on_it_is_an_error(self) -> None:
        entries = [{"name": "t", "params": {"n": 1}}, {"name": "u"}]
        calls = call("t", CAPTURE_OFF, 0), call("u", None, 5), call("t", {"n": 1}, 10)
        monitor = judged(expect(function_calls=entries, ordered=True), *calls)
        assert (monitor.status, codes(monitor)) == (Status.ERROR, ["not_recorded"])


class TestSlowRegex:
    def stuck(self, pattern: str, text: str) -> bool:
        self.asked = [*getattr(self, "asked", []), text]
        if pattern == "slow":
            raise RegexTimeout(pattern)
        return search(pattern, text)

    def monitor(self, **keys: Any) -> TurnMonitor:
        return TurnMonitor(expect(**keys), search=self.stuck)

    @pytest.mark.parametrize("first", [0, 1])
    def test_it_makes_the_test_an_error_that_names_the_pattern_whatever_else_fits(self, first: int) -> None:
        monitor = self.monitor(function_calls=[{"name": "t", "params": {"q": {"matches": "slow"}}}, "t"])
        monitor.apply(arrival(call("t", {"q": "x"}), first))
        monitor.apply(arrival(call("t", {"q": 5}), 1 - first))
        monitor.reply("ok")
        monitor.close()
        assert (monitor.status, codes(monitor)) == (Status.ERROR, ["regex_timeout"])
        assert "'slow'" in said(monitor)

    def test_it_is_tried_once_a_turn(self) -> None:
        monitor = self.monitor(function_calls=[{"name": "t", "params": {"q": {"matches": "slow"}}}])
        for number in range(5):
            monitor.apply(arrival(call("t", {"q": f"{number}"}), number))
        assert self.asked == ["0"]

    def test_on_the_reply_it_is_an_error_too(self) -> None:
        monitor = self.monitor(response={"matches": "slow"})
        monitor.reply("ok")
        monitor.close()
        assert (monitor.status, codes(monitor)) == (Status.ERROR, ["regex_timeout"])

    def test_a_forbidden_call_still_fails(self) -> None:
        monitor = self.monitor(response={"matches": "slow"}, forbid=["refund"])
        monitor.apply(arrival(call("refund")))
        monitor.reply("ok")
        monitor.close()
        assert (monitor.status, codes(monitor)) == (Status.FAILED, ["forbidden_call"])


class TestReasons:
    @pytest.mark.parametrize(
        ("keys", "calls", "text"),
        [
            ({"function_calls": ["a"]}, [], "a was not called; no tool was called"),
            ({"function_calls": [{"name": ["a", "b"]}]}, [call("c")], "a or b was not called; called: c"),
            (
                {"function_calls": ["a"]},
                [call("a", status=CallStatus.SUSPENDED)],
                "a was not called; a is held and has not run",
            ),
            ({"function_calls": ["a"]}, [call("a", error="Timeout: 5s")], "a was called and failed: Timeout: 5s"),
            (
                {"function_calls": ["a"]},
                [call("a", error="Timeout"), call("a", started=3, error="refused")],
                "a was called and failed all 2 times: Timeout and refused",
            ),
            (
                {"function_calls": ["a", "a"]},
                [call("a")],
                "2 calls to a are asked for, and only 1 of those made will do",
            ),
            (
                {"function_calls": [REFUND]},
                [call("refund", {"id": 8})],
                "refund was called with a difference: params.id is 8, expected 7",
            ),
            ({"forbid": ["a"]}, [call("a"), call("a", started=4)], "a was called 2 times, and is forbidden"),
            (
                {"function_calls": []},
                [call("b"), call("a", started=4)],
                "no call is allowed, and b and a were called",
            ),
            (
                {"function_calls": ["a"], "exclusive": True},
                [call("a"), call("c", started=4)],
                "c was called beyond the listed calls, and the list is exclusive",
            ),
            (
                {"function_calls": ["a", "b"], "ordered": True},
                [call("a", ended=20_000_000), call("b", started=10_000_000, ended=30_000_000)],
                "b must start after a has ended, but overlaps it: it started 10 ms earlier",
            ),
            (
                {"function_calls": ["a", "b"], "ordered": True},
                [call("b", ended=5), call("a", started=1000, ended=3000)],
                "b must start after a has ended, but came before it: it started 3 us earlier",
            ),
            ({"response": {"contains": "done"}}, [], 'the reply does not meet contains "done": it is "ok"'),
            (
                {"function_calls": [{"name": "t", "result": {}}]},
                [call("t", result="text")],
                't was called with a difference: result is "text", expected a mapping',
            ),
        ],
    )
    def test_a_reason_is_one_plain_sentence(self, keys: Any, calls: Any, text: str) -> None:
        assert said(judged(expect(**keys), *calls)) == text

    def test_of_several_calls_the_nearest_is_shown_with_only_what_differs(self) -> None:
        entry = {"name": "t", "params": {"a": 1, "b": 2, "c": 3}}
        far, near = call("t", {"a": 9, "b": 9, "c": 3}), call("t", {"a": 1, "b": 2, "c": 4}, 5)
        (reason,) = judged(expect(function_calls=[entry]), far, near).verdict.reasons
        assert reason.nearest is not None
        assert reason.nearest.call is near
        assert [(part.path, part.expected, part.found) for part in reason.nearest.differences] == [
            ("params.c", "3", "4")
        ]

    def test_a_call_that_another_entry_needs_is_no_near_miss(self) -> None:
        entries = [{"name": "t", "params": {"a": 1}}, {"name": "t", "params": {"a": 2, "b": 1}}]
        calls = call("t", {"a": 1, "b": 1}), call("t", {"a": 3}, 5)
        (reason,) = judged(expect(function_calls=entries), *calls).verdict.reasons
        assert reason.nearest is not None
        assert reason.nearest.call is calls[1]

    def test_the_most_basic_comes_first(self) -> None:
        keys: Any = {"function_calls": ["a"], "forbid": ["x"], "response": {"equals": "", "contains": "no"}}
        assert codes(judged(expect(**keys), call("x"))) == [
            "forbidden_call",
            "missing_call",
            "response.equals",
            "response.contains",
        ]

    def test_order_and_exclusive_are_not_looked_at_while_a_call_is_missing(self) -> None:
        keys: Any = {"function_calls": ["a", "b"], "ordered": True, "exclusive": True}
        assert codes(judged(expect(**keys), call("b"), call("c", started=5))) == ["missing_call"]

    def test_a_turn_ended_early_says_what_ended_it(self) -> None:
        monitor = judged(expect(function_calls=["a"], exclusive=True), call("c"), reply=None, close=False)
        assert codes(monitor) == ["unexpected_call"]

    def test_secrets_are_masked_before_a_value_is_clipped(self) -> None:
        secret = "s3cret-value"
        monitor = TurnMonitor(
            expect(response={"equals": "ok"}), search=search, mask=lambda text: text.replace(secret, "${KEY}")
        )
        monitor.reply("x" * 295 + secret)
        assert "s3c" not in said(monitor)

    def test_a_tool_name_with_control_characters_is_quoted(self) -> None:
        assert said(judged(expect(forbid=["a\nb"]), call("a\nb"))) == '"a\\nb" was called, and is forbidden'

    def test_a_passed_turn_names_the_calls_that_met_it(self) -> None:
        first, second = instant("b", at=5), instant("a", at=5)
        verdict = judged(expect(function_calls=["a", "b"], ordered=True), first, second, call("c")).verdict
        assert verdict.evidence == (second, first)
        assert len(verdict.calls) == 3
