"""Spans and calls belong to the message that made them, whatever says so and whenever it arrives."""

from collections.abc import Mapping
from itertools import permutations
from typing import Any

import pytest

from evaluator.harness import clock
from evaluator.harness.attribution import Attribution, Correlation
from evaluator.harness.inventory import Inventory
from evaluator.harness.sighting import Sighting
from evaluator.items import Call, CallStatus, Change, Item, ItemKind

MINE, OTHERS, FOREIGN = b"m" * 16, b"o" * 16, b"f" * 16


class Message:
    """A claimant that keeps what it is given."""

    def __init__(self, trace_id: bytes, test_id: str, correlation: tuple[str, ...] = ()) -> None:
        self.trace_id = trace_id
        self.test_id = test_id
        self.correlation = correlation or (test_id,)
        self.sent = clock.now()
        self.accepting_until: float | None = None
        self.calls: list[str] = []
        self.suspects: list[str] = []
        self.spans: list[str] = []

    def saw(self, sighting: Sighting, *, in_own_trace: bool) -> None:
        self.spans.append(sighting.name)

    def apply(self, change: Change) -> None:
        _note(self.calls, change)

    def suspect(self, change: Change) -> None:
        _note(self.suspects, change)


def _note(names: list[str], change: Change) -> None:
    if change.old is not None:
        names.remove(change.old.name)
    if change.new is not None:
        names.append(change.new.name)


class World:
    """Two messages, of which the second is another test's, and what tells their spans apart."""

    def __init__(self, correlate: Mapping[str, str] | None = None) -> None:
        self.inventory = Inventory()
        correlation = Correlation({"test": "x"} if correlate is None else correlate)
        self.attribution = Attribution(correlation, self.inventory)
        self.mine, self.others = Message(MINE, "mine"), Message(OTHERS, "others")
        for message in (self.mine, self.others):
            self.attribution.expect(message)

    def arrive(self, *spans: tuple[Sighting, Change | None]) -> None:
        changes = [change for _, change in spans if change is not None]
        self.attribution.observe([sighting for sighting, _ in spans], changes)


def span(
    name: str,
    trace: bytes = FOREIGN,
    *,
    id: str = "s",
    parent: str = "",
    links: tuple[bytes, ...] = (),
    attributes: Mapping[str, Any] | None = None,
    tool: bool = False,
    status: CallStatus = CallStatus.OK,
) -> tuple[Sighting, Change | None]:
    ids = (trace, id.encode().ljust(8), parent.encode().ljust(8) if parent else b"")
    own, now = attributes or {}, clock.now()
    sighting = Sighting(*ids, name, "tool" if tool else "other", links, own.get, now, now)
    call = Call(name, {}, started=now, ended=now, trace_id=trace, span_id=ids[1], status=status)
    item = Item((trace, ids[1], None), ItemKind.TOOL, name, None, None, None, now, None, attributes=own, call=call)
    return sighting, Change(None, item) if tool else None


def call(name: str = "pay", **facts: Any) -> tuple[Sighting, Change | None]:
    return span(name, tool=True, **facts)


def test_a_call_in_the_trace_of_a_message_is_its_own() -> None:
    world = World()
    world.arrive(call(trace=MINE))
    assert (world.mine.calls, world.others.calls) == (["pay"], [])


def test_a_call_that_links_to_a_message_is_its_own() -> None:
    world = World()
    world.arrive(call(links=(MINE,)))
    assert world.mine.calls == ["pay"]


def test_a_call_below_a_span_that_links_to_a_message_is_its_own_in_every_order_of_arrival() -> None:
    spans = [
        span("consume", id="a", links=(MINE,)),
        span("work", id="b", parent="a"),
        call(id="c", parent="b"),
    ]
    for order in permutations(spans):
        world = World()
        for each in order:
            world.arrive(each)
        assert (world.mine.calls, world.mine.suspects, world.others.suspects) == (["pay"], [], [])


def test_a_call_below_a_span_that_links_to_two_tests_may_be_either_s() -> None:
    world = World()
    world.arrive(call(links=(MINE, OTHERS)))
    assert (world.mine.calls, world.mine.suspects, world.others.suspects) == ([], ["pay"], ["pay"])


@pytest.mark.parametrize("value", ["42", 42, 42.0])
def test_a_call_with_the_correlation_of_a_message_is_its_own(value: object) -> None:
    world = World()
    message = Message(b"n" * 16, "third", ("42",))
    world.attribution.expect(message)
    world.arrive(call(attributes={"test": value}))
    assert message.calls == ["pay"]


def test_correlation_is_inherited_from_an_ancestor_that_comes_later() -> None:
    world = World()
    world.arrive(call(id="b", parent="a"))
    assert world.mine.suspects == ["pay"]
    world.arrive(span("handle", id="a", attributes={"test": "mine"}))
    assert (world.mine.calls, world.mine.suspects, world.others.suspects) == (["pay"], [], [])
    assert not world.attribution.ignored


def test_a_call_with_another_value_is_nobody_s() -> None:
    world = World()
    world.arrive(call(attributes={"test": "of another run"}))
    assert (world.mine.suspects, world.others.suspects) == ([], [])


def test_a_call_without_anything_is_suspected_of_every_open_message() -> None:
    world = World()
    world.arrive(call())
    assert (world.mine.suspects, world.others.suspects) == (["pay"], ["pay"])


def test_a_call_that_came_before_the_message_is_not_suspected_of_it_when_more_becomes_known_of_it() -> None:
    world = World()
    sighting, change = call()
    assert change is not None
    world.arrive((sighting, change))
    late = Message(b"l" * 16, "late")
    world.attribution.expect(late)
    world.arrive((sighting, Change(change.new, change.new)))
    assert (world.mine.suspects, late.suspects) == (["pay"], [])


@pytest.mark.parametrize("behind", [50_000_000, 60_000_000_000], ids=["50 ms", "60 s"])
def test_a_clock_that_is_behind_clears_no_call_of_suspicion(behind: int) -> None:
    world = World()
    early = call()
    world.mine.sent += behind
    world.arrive(early)
    assert world.mine.suspects == ["pay"]


def test_a_call_is_not_suspected_of_a_message_that_is_settled() -> None:
    world = World()
    world.mine.accepting_until = clock.ticks() - 1
    world.arrive(call())
    assert (world.mine.suspects, world.others.suspects) == ([], ["pay"])


@pytest.mark.parametrize(
    ("attributes", "suspected"),
    [({"tenant": "t1"}, ["pay"]), ({"tenant": "t2"}, []), ({"test": "mine"}, ["pay"]), ({"test": "others"}, [])],
)
def test_with_two_keys_one_that_is_missing_leaves_it_open_and_one_that_differs_does_not(
    attributes: Mapping[str, str], suspected: list[str]
) -> None:
    attribution = Attribution(Correlation({"test": "x", "tenant": "x"}), Inventory())
    mine = Message(MINE, "mine", ("t1", "mine"))
    attribution.expect(mine)
    sighting, change = call(attributes=attributes)
    attribution.observe([sighting], [change] if change is not None else [])
    assert (mine.calls, mine.suspects) == ([], suspected)


def test_the_same_correlation_of_two_tests_says_nothing() -> None:
    world = World()
    first, second = Message(b"1" * 16, "first", ("same",)), Message(b"2" * 16, "second", ("same",))
    world.attribution.expect(first)
    assert not world.attribution.collides(first)
    world.arrive(call("early", id="1", attributes={"test": "same"}))
    world.attribution.expect(second)
    assert world.attribution.collides(second)
    world.arrive(call("later", id="2", attributes={"test": "same"}))
    assert (first.calls, first.suspects, second.suspects) == (["early"], ["later"], ["later"])


def test_a_call_of_a_conversation_belongs_to_the_last_turn_that_was_sent_before_it() -> None:
    world = World()
    first, second = Message(b"1" * 16, "talk"), Message(b"2" * 16, "talk")
    second.sent = clock.now() + 10_000_000_000
    for message in (first, second):
        world.attribution.expect(message)
    world.arrive(call(attributes={"test": "talk"}))
    assert (first.calls, second.calls) == (["pay"], [])


@pytest.mark.parametrize("status", [CallStatus.REQUESTED, CallStatus.SUSPENDED, CallStatus.DENIED])
def test_a_call_that_has_not_happened_is_not_given_to_anyone(status: CallStatus) -> None:
    world = World()
    world.arrive(call(trace=MINE, status=status))
    assert (world.mine.calls, world.inventory.called) == ([], set())


def test_a_call_that_is_taken_back_is_taken_from_its_message() -> None:
    world = World()
    _, added = call(trace=MINE)
    assert added is not None
    world.attribution.observe([], [added])
    world.attribution.observe([], [Change(added.new, None)])
    assert world.mine.calls == []
