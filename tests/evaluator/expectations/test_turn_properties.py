"""A monitor against the reference: any order, any revisions, and a final verdict that nothing changes."""

from itertools import combinations_with_replacement, product

from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.expectations import TurnMonitor
from evaluator.items import Call, CallStatus, Change, NotRecorded
from evaluator.language.spec import Expect
from evaluator.verdict import Status
from tests.evaluator.expectations import reference
from tests.evaluator.expectations.building import arrival, expect, item, search

NAMES = ["a", "b"]
NOWHERE = NotRecorded("content capture is off")


@st.composite
def made_calls(draw: st.DrawFn, *, latest: int = 4) -> Call:
    started = draw(st.integers(0, latest))
    return Call(
        draw(st.sampled_from([*NAMES, "c"])),
        draw(st.sampled_from([{"n": 1}, {"n": 2}, {"n": 2}, NOWHERE])),
        started=started,
        ended=started + draw(st.integers(0, 2)),
        status=draw(st.sampled_from([CallStatus.OK, CallStatus.OK, CallStatus.OK, CallStatus.ERROR])),
    )


@st.composite
def entries(draw: st.DrawFn) -> dict[str, object]:
    keys: dict[str, object] = {"name": draw(st.sampled_from(["a", "a", "b", ["a", "b"]]))}
    if draw(st.booleans()):
        keys["params"] = {"n": draw(st.sampled_from([1, 2]))}
    if draw(st.integers(0, 4)) == 0:
        keys["error"] = True
    return keys


@st.composite
def expectations(draw: st.DrawFn, *, most: int = 3) -> Expect:
    wanted = draw(st.one_of(st.none(), st.lists(entries(), max_size=most)))
    if wanted is None:
        return expect(forbid=["c"])
    return expect(
        function_calls=wanted,
        ordered=bool(wanted) and draw(st.booleans()),
        exclusive=bool(wanted) and draw(st.booleans()),
        forbid=["c"] if draw(st.integers(0, 3)) == 0 else [],
        response={"contains": "ok"} if draw(st.booleans()) else None,
    )


@given(expectations(), st.lists(made_calls(), max_size=5), st.sampled_from(["ok", "no"]), st.data())
@settings(max_examples=800, deadline=None)
def test_every_order_of_arrival_gives_what_trying_everything_gives(
    asked: Expect, calls: list[Call], reply: str, data: st.DataObject
) -> None:
    monitor = TurnMonitor(asked, search=search)
    events = data.draw(st.permutations([*enumerate(calls), "reply"]))
    for event in events:
        if isinstance(event, str):
            monitor.reply(reply)
        else:
            monitor.apply(arrival(event[1], event[0]))
        if data.draw(st.booleans()):
            monitor.verdict.reasons  # noqa: B018 - asking in between must change nothing
    monitor.close()
    fits = asked.response is None or reply == "ok"
    assert monitor.verdict.status is reference.status(asked, calls, reply_fits=fits)
    assert monitor.verdict.final


@given(expectations(), st.lists(st.tuples(st.integers(0, 3), st.one_of(st.none(), made_calls())), max_size=10))
@settings(max_examples=400, deadline=None)
def test_revised_and_taken_back_calls_leave_what_the_last_ones_alone_would(
    asked: Expect, edits: list[tuple[int, Call | None]]
) -> None:
    monitor = TurnMonitor(asked, search=search)
    monitor.reply("ok")
    there: dict[int, Call] = {}
    for number, call in edits:
        old = item(there.pop(number), number) if number in there else None
        if call is not None:
            there[number] = call
        monitor.apply(Change(old, None if call is None else item(call, number)))
        assert monitor.status is reference.status(asked, list(there.values()), reply_fits=True)


@given(expectations(), st.lists(made_calls(), max_size=4), st.permutations(range(4)))
@settings(max_examples=300, deadline=None)
def test_the_reasons_do_not_depend_on_the_order_of_arrival(
    asked: Expect, calls: list[Call], order: list[int]
) -> None:
    monitors = TurnMonitor(asked, search=search), TurnMonitor(asked, search=search)
    for number, call in enumerate(calls):
        monitors[0].apply(arrival(call, number))
    for number in order:
        if number < len(calls):
            monitors[1].apply(arrival(calls[number], number))
    for monitor in monitors:
        monitor.reply("no")
        monitor.close()
    assert monitors[0].verdict == monitors[1].verdict


@given(expectations(), st.lists(made_calls(), max_size=5), st.sampled_from(["ok", "no", None]))
@settings(max_examples=400, deadline=None)
def test_a_verdict_that_is_no_pass_has_reasons_and_a_pass_has_none(
    asked: Expect, calls: list[Call], reply: str | None
) -> None:
    monitor = TurnMonitor(asked, search=search)
    for number, call in enumerate(calls):
        monitor.apply(arrival(call, number))
    if reply is not None:
        monitor.reply(reply)
    for _ in range(2):
        verdict = monitor.verdict
        assert bool(verdict.reasons) is (verdict.status is not Status.PASSED)
        assert all(reason.error for reason in verdict.reasons) or verdict.status is Status.FAILED
        assert not verdict.final or any(reason.certain for reason in verdict.reasons) or not verdict.reasons
        monitor.close()


LATER = [
    Call(name, {"n": n}, started=started, ended=started + length, status=status)
    for name, n, started, length, status in product(
        NAMES, (1, 2), range(4), (0, 1), (CallStatus.OK, CallStatus.ERROR)
    )
]


def can_still_pass(asked: Expect, calls: list[Call]) -> bool:
    """Whether some calls of a small world, added to those that are there, give anything but a failure."""
    missing = len(asked.calls or ())
    return any(
        reference.status(asked, [*calls, *more], reply_fits=True) is not Status.FAILED
        for count in range(missing + 1)
        for more in combinations_with_replacement(LATER, count)
    )


@given(expectations(most=2), st.lists(made_calls(latest=2), max_size=3))
@settings(max_examples=150, deadline=None)
def test_a_failure_is_final_exactly_when_no_further_call_can_cure_it(asked: Expect, calls: list[Call]) -> None:
    monitor = TurnMonitor(asked, search=search)
    for number, call in enumerate(calls):
        monitor.apply(arrival(call, number))
    assert monitor.final is not can_still_pass(asked, calls)
    assert monitor.verdict.final is monitor.final


@given(expectations(), st.lists(made_calls(), max_size=4))
@settings(max_examples=300, deadline=None)
def test_a_pass_is_never_final_before_the_turn_is_closed(asked: Expect, calls: list[Call]) -> None:
    monitor = TurnMonitor(asked, search=search)
    for number, call in enumerate(calls):
        monitor.apply(arrival(call, number))
    monitor.reply("ok")
    assert monitor.status is Status.FAILED or not monitor.final
