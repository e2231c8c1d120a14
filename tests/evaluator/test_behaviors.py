"""Evaluations: what is reported when, what is revised, units that cannot be seen, and the reasons that are given."""

from typing import Any

import pytest

from evaluator.behaviors import Program
from evaluator.items import Call, Change, Item, NotRecorded
from evaluator.verdict import Contract, Result, Severity
from tests.evaluator.operators.building import behaviors, evaluation, feed, item

HIDDEN = NotRecorded("content capture is off", "set CAPTURE=true")

NEVER = {"never": {"event": "a"}}
EVENTUALLY = {"eventually": {"event": "a"}}
BEFORE = {"before": {"first": {"event": "a"}, "then": {"event": "b"}}}
TESTED = {
    "each": {"tool": {"ops": "git.push"}},
    "requires_prior": {"event": "test.run", "where": {"status": "passed"}},
}


def at(seq: int | None, name: str = "a", **parts: Any) -> Item:
    return item("event", name, seq=seq, time=parts.pop("time", (seq or 0) * 10), **parts)


def push(seq: int, **parts: Any) -> Item:
    return item("tool", "Bash", tool_kind="shell", ops=["git.push"], seq=seq, time=seq * 10, **parts)


def test_a_unit_in_which_nothing_arrived_has_a_result_for_every_behavior() -> None:
    over = Program(behaviors(NEVER, EVENTUALLY, TESTED)).unit("session")
    assert [(one.verdict.result, one.verdict.final) for one in over.results] == [
        (Result.PASS, False),
        (Result.FAIL, False),
        (Result.NOT_APPLICABLE, False),
    ]
    assert over.close() == [0, 1, 2]
    assert all(one.verdict.final and one.final_at is None and not one.revised for one in over.results)


def test_apply_says_which_results_changed_and_nothing_else() -> None:
    over = Program(behaviors(NEVER, EVENTUALLY, BEFORE)).unit("session")
    assert over.apply(Change(None, at(1, "x"))) == ()
    assert over.apply(Change(None, at(2))) == [0, 1]
    assert over.apply(Change(None, at(3))) == ()
    assert over.apply(Change(None, at(4, "b"))) == [2]
    assert [one.final_at for one in over.results] == [2, 2, None]


def test_a_program_keeps_the_behaviors_of_each_kind_of_unit_apart() -> None:
    program = Program((*behaviors(NEVER), *behaviors(EVENTUALLY, BEFORE, unit="job")))
    assert [one.behavior for one in program.unit("session").results] == ["b0"]
    assert [one.name for one in program.of("job")] == ["b0", "b1"]
    assert program.unit("job").results[0].severity is Severity.ERROR


def test_a_program_names_the_attributes_that_it_reads() -> None:
    where = {"where": {"hangar.pr.merged_by": "bot", "status": "x", "input": {"regex": "y"}}}
    assert Program(behaviors({"never": where}, TESTED)).attributes == {"hangar.pr.merged_by"}


def test_a_late_item_that_breaks_the_contract_revises_a_final_result() -> None:
    over = feed(evaluation(BEFORE, Contract.ORDERED), [at(5, "b")])
    assert (over.results[0].verdict.result, over.results[0].final_at) == (Result.FAIL, 1)
    assert over.apply(Change(None, at(2, "a"))) == [0]
    (found,) = over.results
    assert (found.verdict.result, found.verdict.final, found.final_at, found.revised) == (Result.PASS, True, 2, True)


def test_what_arrives_after_closing_revises_what_it_changes() -> None:
    over = evaluation(EVENTUALLY)
    over.close()
    assert over.apply(Change(None, at(1))) == [0]
    (found,) = over.results
    assert (found.verdict.result, found.verdict.final, found.revised) == (Result.PASS, True, True)


def test_a_unit_that_is_opened_again_is_provisional_and_says_when_a_late_item_revises_it() -> None:
    over = evaluation(NEVER)
    over.close()
    assert over.reopen() == [0]
    (found,) = over.results
    assert (found.verdict.final, found.revised) == (False, False)
    over.apply(Change(None, at(1, "x")))
    assert over.close() == [0]
    assert not over.results[0].revised
    over.reopen()
    over.apply(Change(None, at(2)))
    assert over.results[0].revised
    assert over.results[0].final_at == 2


def test_an_item_that_is_taken_back_revises_what_rested_on_it() -> None:
    over = evaluation(NEVER)
    violation = at(1)
    over.apply(Change(None, violation))
    assert over.apply(Change(violation, None)) == [0]
    (found,) = over.results
    assert (found.verdict.result, found.verdict.final, found.final_at, found.revised) == (
        Result.PASS,
        False,
        None,
        True,
    )


def test_a_revision_that_changes_no_match_changes_no_result_but_the_evidence() -> None:
    over = evaluation(NEVER)
    violation = at(1)
    over.apply(Change(None, violation))
    assert over.results[0].verdict.evidence == (violation,)
    later = violation._replace(status="seen")
    assert not over.apply(Change(violation, later))
    assert over.results[0].verdict.evidence == (later,)
    assert not over.results[0].revised


def test_taking_back_what_never_came_is_an_error() -> None:
    over = evaluation(NEVER)
    with pytest.raises(ValueError, match="was never fed"):
        over.apply(Change(at(1), None))


@pytest.mark.parametrize(
    ("assertion", "items", "seen", "blind"),
    [
        (NEVER, [at(1, "x")], Result.PASS, Result.PASS),
        ({"never": {"tool": {}}}, [], Result.PASS, Result.UNKNOWN),
        ({"never": {"tool": {}}}, [push(1)], Result.FAIL, Result.FAIL),
        ({"never": {"path": "x"}}, [], Result.PASS, Result.UNKNOWN),
        ({"eventually": {"tool": {}}}, [], Result.FAIL, Result.UNKNOWN),
        ({"eventually": {"tool": {}}}, [push(1)], Result.PASS, Result.PASS),
        ({"count": {"match": {"tool": {}}, "max": 1}}, [push(1)], Result.PASS, Result.UNKNOWN),
        ({"count": {"match": {"tool": {}}, "max": 1}}, [push(1), push(2)], Result.FAIL, Result.FAIL),
        (TESTED, [], Result.NOT_APPLICABLE, Result.UNKNOWN),
        (TESTED, [at(1, "test.run", status="passed"), push(2)], Result.PASS, Result.UNKNOWN),
    ],
)
def test_where_tool_calls_cannot_be_seen_only_what_no_call_can_change_is_known(
    assertion: dict[str, Any], items: list[Item], seen: Result, blind: Result
) -> None:
    over = feed(evaluation(assertion), items)
    assert over.results[0].verdict.result is seen
    assert over.blind("no tool span arrived") == ([] if blind is seen else [0])
    assert over.results[0].verdict.result is blind
    if blind is not seen:
        assert over.results[0].verdict.reason == "tool calls of this unit cannot be seen: no tool span arrived"
    over.close()
    assert over.results[0].verdict.result is blind
    assert over.results[0].verdict.final
    over.blind(None)
    assert over.results[0].verdict.result is seen


def test_a_unit_of_which_items_were_dropped_passes_only_what_nothing_can_change() -> None:
    over = feed(Program(behaviors(NEVER, {"eventually": {"event": "b"}}, BEFORE)).unit("session"), [at(1, "b")])
    assert over.cut("more than 10 items") == [0, 2]
    assert [one.verdict.result for one in over.results] == [Result.UNKNOWN, Result.PASS, Result.UNKNOWN]
    assert over.results[0].verdict.reason == "not all of this unit is here: more than 10 items"
    over.close()
    assert over.results[0].verdict.result is Result.UNKNOWN


REASONS: list[tuple[dict[str, Any], list[Item], Result, str, list[int]]] = [
    (
        TESTED | {"within": {"seq": 10}},
        [at(12, "test.run", status="passed"), push(41)],
        Result.FAIL,
        "Bash (git.push) at seq 41, last test.run (passed) at seq 12, 29 positions before; allowed 10",
        [1, 0],
    ),
    (
        TESTED | {"within": {"turns": 1}},
        [at(1, "test.run", status="passed", turn=2), push(9, turn=5)],
        Result.FAIL,
        "Bash (git.push) at seq 9, last test.run (passed) at seq 1, 3 turns before; allowed 1",
        [1, 0],
    ),
    (
        TESTED,
        [push(41)],
        Result.FAIL,
        "Bash (git.push) at seq 41, and nothing that matches {event: test.run, where: {status: passed}} precedes it",
        [0],
    ),
    (
        TESTED | {"within": {"seq": 10}},
        [at(None, "test.run", status="passed", time=5_000_000), push(41)._replace(time=6_000_000)],
        Result.UNKNOWN,
        "Bash (git.push) at seq 41, last test.run (passed) at 1970-01-01 00:00:00.005;"
        " how far before cannot be computed: test.run (passed) has no seq",
        [1, 0],
    ),
    (TESTED, [at(1, "test.run", status="passed"), push(2)], Result.PASS, "", [1]),
    (NEVER, [at(4), at(2), at(9)], Result.FAIL, "{event: a} matched 3 times, first a at seq 2", [1, 0, 2]),
    (NEVER, [], Result.PASS, "no item matches {event: a}", []),
    (EVENTUALLY, [at(3)], Result.PASS, "{event: a} matched a at seq 3", [0]),
    (
        {"count": {"match": {"event": "a"}, "max": 1}},
        [at(1), at(2)],
        Result.FAIL,
        "{event: a} matched 2 times, at most 1 allowed; first a at seq 1",
        [0, 1],
    ),
    (
        {"count": {"match": {"event": "a"}, "min": 1}},
        [],
        Result.FAIL,
        "no item matches {event: a}, at least 1 needed",
        [],
    ),
    (BEFORE, [at(1, "b")], Result.FAIL, "b at seq 1, and no item matches {event: a}", [0]),
    (BEFORE, [at(1), at(2, "b")], Result.PASS, "a at seq 1 precedes b at seq 2", [0, 1]),
    (
        BEFORE,
        [at(1, "b"), at(2)],
        Result.FAIL,
        "b at seq 1, and the first match of {event: a} is a at seq 2: it does not precede it",
        [0, 1],
    ),
    (
        {"order": [{"event": "a"}, {"event": "b"}, {"event": "c"}]},
        [at(1, "a"), at(3, "b"), at(2, "c")],
        Result.FAIL,
        "c at seq 2 is the first match of number 3 of the order, and b at seq 3, of number 2, does not precede it",
        [1, 2],
    ),
    (
        {"order": [{"event": "a"}, {"event": "b"}]},
        [at(1)],
        Result.FAIL,
        "no item matches {event: b}, number 2 of the order",
        [0],
    ),
    (
        {"all": {"paths": {"from": ["file.change"]}, "match": ["src/*", "docs/*"]}},
        [at(1, "file.change", path="src/a"), at(2, "file.change", path="setup.py")],
        Result.FAIL,
        "setup.py, of file.change at seq 2, does not match src/* or docs/*",
        [1],
    ),
    (
        {"all": {"paths": {"from": ["file.change"]}, "match": "*"}},
        [at(1, "file.change")],
        Result.FAIL,
        "a file outside the checkout, of file.change at seq 1, does not match *",
        [0],
    ),
    (
        {"any": {"paths": {"from": ["diff.files"]}, "match": "*.md"}},
        [at(1, "diff.files", paths=["a.py", "b.md"])],
        Result.PASS,
        "b.md, of diff.files at seq 1, matches *.md",
        [0],
    ),
    (
        {"never": {"tool": {}, "input": "rm -rf"}},
        [push(7, call=Call("Bash", HIDDEN))],
        Result.UNKNOWN,
        "Bash (git.push) at seq 7 may match or not: its input was not recorded:"
        " content capture is off; set CAPTURE=true",
        [0],
    ),
]


@pytest.mark.parametrize(("assertion", "items", "result", "reason", "evidence"), REASONS)
def test_a_verdict_says_why_in_one_sentence_with_its_evidence(
    assertion: dict[str, Any], items: list[Item], result: Result, reason: str, evidence: list[int]
) -> None:
    over = feed(evaluation(assertion), items)
    verdict = over.results[0].verdict
    assert verdict.result is result
    assert verdict.evidence == tuple(items[position] for position in evidence)
    if reason:
        assert verdict.reason == reason


SECRET = {"tool": {}, "input": "secret"}


def call(seq: int, args: Any = HIDDEN) -> Item:
    return item("tool", "Bash", seq=seq, time=seq * 10, call=Call("Bash", args))


@pytest.mark.parametrize(
    ("assertion", "items", "expected"),
    [
        ({"never": SECRET}, [call(1)], Result.UNKNOWN),
        ({"never": SECRET}, [call(1), call(2, {"x": "secret"})], Result.FAIL),
        ({"eventually": SECRET}, [call(1)], Result.UNKNOWN),
        ({"eventually": SECRET}, [call(1), call(2, {"x": "secret"})], Result.PASS),
        ({"count": {"match": SECRET, "max": 2}}, [call(1), call(2)], Result.PASS),
        ({"count": {"match": SECRET, "max": 1}}, [call(1), call(2)], Result.UNKNOWN),
        ({"count": {"match": SECRET, "min": 3}}, [call(1), call(2)], Result.FAIL),
        ({"count": {"match": SECRET, "min": 1, "max": 1}}, [call(1), call(2)], Result.UNKNOWN),
        ({"before": {"first": SECRET, "then": {"event": "a"}}}, [call(1), at(2)], Result.UNKNOWN),
        ({"before": {"first": SECRET, "then": {"event": "a"}}}, [at(2), call(3)], Result.FAIL),
        (
            {"before": {"first": SECRET, "then": {"event": "a"}}},
            [call(1, {"x": "secret"}), at(2), call(0)],
            Result.PASS,
        ),
        ({"before": {"first": {"event": "a"}, "then": SECRET}}, [at(1), call(2)], Result.UNKNOWN),
        ({"order": [{"event": "a"}, SECRET, {"event": "b"}]}, [at(1), call(2), at(3, "b")], Result.UNKNOWN),
        ({"order": [{"event": "a"}, SECRET, {"event": "b"}]}, [at(3), call(4), at(1, "b")], Result.FAIL),
        ({"order": [{"event": "a"}, {"event": "b"}, SECRET]}, [at(3), at(1, "b"), call(4)], Result.FAIL),
        ({"order": [SECRET, {"event": "b"}]}, [at(1, "b"), call(4)], Result.FAIL),
        ({"each": {"event": "b"}, "requires_prior": SECRET}, [call(1), at(2, "b")], Result.UNKNOWN),
        ({"each": {"event": "b"}, "requires_prior": SECRET}, [at(1, "b"), call(2)], Result.FAIL),
        ({"each": SECRET, "requires_prior": {"event": "a"}}, [at(1), call(2)], Result.UNKNOWN),
        ({"each": SECRET, "requires_prior": {"event": "a"}}, [at(1), call(2), call(3, {"x": "secret"})], Result.PASS),
    ],
)
def test_a_match_that_nobody_can_tell_makes_the_result_unknown_unless_it_is_the_same_either_way(
    assertion: dict[str, Any], items: list[Item], expected: Result
) -> None:
    over = feed(evaluation(assertion), items)
    over.close()
    assert over.results[0].verdict.result is expected


def test_a_value_that_arrives_later_settles_the_doubt() -> None:
    over = evaluation({"never": SECRET})
    hidden = call(1)
    over.apply(Change(None, hidden))
    assert over.results[0].verdict.result is Result.UNKNOWN
    assert not over.results[0].verdict.final
    shown = hidden._replace(call=Call("Bash", {"x": "fine"}))
    assert over.apply(Change(hidden, shown)) == [0]
    over.close()
    (found,) = over.results
    assert (found.verdict.result, found.revised) == (Result.PASS, False)


def test_an_unknown_of_what_was_not_recorded_is_final_only_at_closing() -> None:
    over = feed(evaluation({"never": SECRET}, Contract.ORDERED), [call(1)])
    assert not over.results[0].verdict.final
    over.close()
    assert over.results[0].verdict.final
    assert over.results[0].final_at is None


def test_a_command_that_nobody_can_tell_the_ops_of_makes_never_unknown_with_the_reason() -> None:
    over = Program(behaviors({"never": {"tool": {"ops": "git.push"}}})).unit("session")
    over.apply(Change(None, item("tool", "Bash", tool_kind="shell", seq=1)._replace(ops=HIDDEN)))
    over.close()
    verdict = over.results[0].verdict
    assert verdict.result is Result.UNKNOWN
    assert "its ops was not recorded: content capture is off; set CAPTURE=true" in verdict.reason


WINDOW = {"each": {"event": "b"}, "requires_prior": {"event": "a"}, "within": {"seq": 3}}
TURNS = WINDOW | {"within": {"turns": 3}}


@pytest.mark.parametrize(
    ("assertion", "items", "final"),
    [
        (WINDOW, [at(1), at(None, "b", time=20)], False),
        (WINDOW, [at(None, time=10), at(2, "b")], True),
        (WINDOW, [at(1), at(1, session="s2", time=15), at(None, "b", time=20)], True),
        (WINDOW, [at(1, session="s2"), at(2, "b", time=20)], False),
        (TURNS, [at(1, turn=1), at(2, "b")], False),
        (TURNS, [at(1), at(2, "b", turn=2)], True),
        (TURNS, [at(1, turn=1), at(1, turn=1, session="s2", time=15), at(2, "b", time=20)], True),
    ],
)
def test_an_unknown_is_final_under_ordered_once_every_later_item_would_have_an_unknown_pair_too(
    assertion: dict[str, Any], items: list[Item], final: bool
) -> None:
    over = feed(evaluation(assertion, Contract.ORDERED), items)
    assert over.results[0].verdict.result is Result.UNKNOWN
    assert over.results[0].verdict.final is final
