"""What could not be checked is never a pass, and what fails for sure is a failure."""

from typing import Any

import pytest

from evaluator.expectations import Reason, TurnMonitor
from evaluator.harness.inventory import Inventory
from evaluator.harness.judgement import Evidence, Judge, Judgement
from evaluator.harness.regex import search
from evaluator.items import UNREADABLE_NAME, Call, Change, Item, ItemKind
from evaluator.language.spec import CallExpectation, Expect, Matcher, Place
from evaluator.verdict import Status

PLACE = Place("suites[0].tests[0].expect")
BLIND = Reason("not_observed", "no span came")
NO_REPLY = Reason("reply_status", "the agent answered 500")


def item(name: str) -> Item:
    call = Call(name, {})
    return Item((b"t", name.encode(), None), ItemKind.TOOL, name, None, None, None, 0, None, call=call)


def expect(
    *, calls: tuple[str, ...] | None = None, forbid: tuple[str, ...] = (), response: str | None = None
) -> Expect:
    entries = None
    if calls is not None:
        entries = tuple(
            CallExpectation((name,), None, None, False, Place(f"calls[{at}]")) for at, name in enumerate(calls)
        )
    matcher = None if response is None else Matcher((("contains", response),), PLACE)
    return Expect(entries, False, False, forbid, matcher, PLACE)


def judged(
    expected: Expect,
    called: tuple[str, ...] = (),
    *,
    declared: set[str] | None = None,
    suspects: tuple[str, ...] = (),
    **evidence: Any,
) -> Judgement:
    """The judgement of a turn that was answered `ok` and watched to its end, unless `evidence` says otherwise."""
    monitor = TurnMonitor(expected, search=search)
    items = [item(name) for name in called]
    for each in items:
        monitor.apply(Change(None, each))
    evidence = {"reply": "ok", "whole": True, **evidence}
    if evidence["reply"] is not None:
        monitor.reply(evidence["reply"])
    facts = Evidence(items=items, suspects=[item(name) for name in suspects], **evidence)
    return Judge(Inventory(declared, set(called)), search).judge(expected, monitor, facts)


def codes(judgement: Judgement) -> tuple[Status, list[str]]:
    return judgement.status, [reason.code for reason in judgement.reasons]


P, F, E = Status.PASSED, Status.FAILED, Status.ERROR


@pytest.mark.parametrize(
    ("expected", "evidence", "found"),
    [
        (expect(calls=("a",)), {"called": ("a",)}, (P, [])),
        (expect(calls=("a",)), {}, (F, ["missing_call"])),
        (expect(calls=("a",)), {"blind": BLIND}, (E, ["not_observed"])),
        (expect(forbid=("a",)), {"blind": BLIND}, (E, ["not_observed"])),
        (expect(calls=(), response="no"), {"blind": BLIND}, (F, ["response.contains", "not_observed"])),
        (expect(forbid=("a",)), {"unreadable": "x"}, (E, ["trace_unreadable"])),
        (expect(forbid=("a",)), {"reply": None, "problem": NO_REPLY}, (E, ["reply_status"])),
        (
            expect(forbid=("a",)),
            {"called": ("a",), "reply": None, "problem": NO_REPLY},
            (F, ["forbidden_call", "reply_status"]),
        ),
        # A turn that was ended early is not said to lack what might still have come.
        (
            expect(calls=("b",), forbid=("a",)),
            {"called": ("a",), "reply": None, "whole": False},
            (F, ["forbidden_call"]),
        ),
    ],
)
def test_what_is_missing_decides_between_error_and_failure(
    expected: Expect, evidence: dict[str, Any], found: tuple[Status, list[str]]
) -> None:
    assert codes(judged(expected, **evidence)) == found


@pytest.mark.parametrize(
    ("expected", "evidence", "found"),
    [
        (expect(forbid=("typo",)), {"declared": {"a"}}, (E, ["tool_not_observable"])),
        (expect(forbid=("typo",)), {"declared": None}, (P, [])),
        (expect(forbid=("typo",)), {"declared": set()}, (E, ["tool_not_observable"])),
        (expect(calls=("typo",)), {"declared": {"a"}}, (E, ["tool_not_observable"])),
        (expect(calls=("a",)), {"declared": {"a"}}, (F, ["missing_call"])),
        (expect(calls=("a", "typo")), {"declared": {"a"}}, (F, ["missing_call", "tool_not_observable"])),
        (expect(calls=("a",)), {"called": ("a",), "declared": {"b"}}, (P, [])),
        (
            expect(forbid=("a", "typo")),
            {"called": ("a",), "declared": {"a"}},
            (F, ["forbidden_call", "tool_not_observable"]),
        ),
        (
            expect(forbid=("typo",), response="no"),
            {"declared": {"a"}},
            (F, ["response.contains", "tool_not_observable"]),
        ),
    ],
)
def test_a_tool_that_the_agent_does_not_have_verifies_nothing(
    expected: Expect, evidence: dict[str, Any], found: tuple[Status, list[str]]
) -> None:
    assert codes(judged(expected, **evidence)) == found


@pytest.mark.parametrize(
    ("expected", "evidence", "found"),
    [
        (expect(calls=()), {"suspects": ("a",)}, (E, ["untagged_ambiguous"])),
        (expect(forbid=("a",)), {"suspects": ("a",)}, (E, ["untagged_ambiguous"])),
        (expect(forbid=("a",)), {"suspects": ("b",)}, (P, [])),
        (expect(calls=("a",)), {"suspects": ("a",)}, (E, ["untagged_ambiguous"])),
        (expect(calls=("a",)), {"suspects": ("b",)}, (F, ["missing_call"])),
        (expect(calls=("a",)), {"called": ("a",), "suspects": ("b",)}, (P, [])),
        # Each alone counts too: one is missing, the other must not be.
        (expect(calls=("a",), forbid=("b",)), {"suspects": ("a", "b")}, (E, ["untagged_ambiguous"])),
        (expect(forbid=("a",)), {"called": ("a",), "suspects": ("b",)}, (F, ["forbidden_call"])),
        (
            expect(forbid=("a",)),
            {"suspects": ("a",), "suspects_code": "late_untagged"},
            (E, ["late_untagged"]),
        ),
    ],
)
def test_a_call_of_nobody_is_an_error_where_it_would_change_the_result(
    expected: Expect, evidence: dict[str, Any], found: tuple[Status, list[str]]
) -> None:
    assert codes(judged(expected, **evidence)) == found


def test_a_behavior_that_failed_fails_the_turn() -> None:
    failure = Reason("behavior", "tests before every push")
    assert codes(judged(expect(forbid=("a",)), failures=[failure])) == (F, ["behavior"])


def test_a_turn_that_only_sets_the_scene_passes_with_its_reply() -> None:
    judge = Judge(Inventory(), search)
    assert judge.judge(None, None, Evidence(reply="ok", whole=True)).status is P
    assert judge.judge(None, None, Evidence(reply=None, whole=True, problem=NO_REPLY)).status is E


def test_a_near_name_is_offered() -> None:
    found = judged(expect(forbid=("delete_acount",)), declared={"delete_account", "get_order"})
    assert "did you mean 'delete_account'?" in found.reasons[0].text


@pytest.mark.parametrize(
    "expected", [expect(forbid=("delete",)), expect(calls=("refund",)), expect(calls=("lookup",))]
)
def test_a_call_whose_name_was_not_recorded_may_be_any(expected: Expect) -> None:
    judgement = judged(expected, ("lookup", UNREADABLE_NAME))
    assert judgement.status is Status.ERROR
    assert "trace_unreadable" in codes(judgement)[1]
