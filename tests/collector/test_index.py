"""Units of the index: which items are in which, whatever the order and however they are revised."""

import random

import pytest

from collector.index import JOBS_OF_SESSION, Index, Limits, Unit, UnitKey, UnitKind, Update
from collector.order import in_order
from evaluator.items import Change, Item, ItemKind


def event(number: int, *, session: str | None = "s", job: str | None = None, seq: int | None = None) -> Item:
    return Item((b"t", b"s", number), ItemKind.EVENT, f"e{number}", session, job, seq, number * 10, None)


def added(*items: Item) -> list[Change]:
    return [Change(None, item) for item in items]


def names(index: Index, kind: str, id: str) -> list[str]:
    return [item.name for item in index.items_in_order(index.units[UnitKey(UnitKind(kind), id)])]


def test_an_item_is_in_the_unit_of_its_session() -> None:
    index = Index()
    index.apply(added(event(1), event(2, session="other")))
    assert names(index, "session", "s") == ["e1"]
    assert names(index, "session", "other") == ["e2"]


def test_a_job_has_the_items_of_its_sessions_and_those_that_name_no_session() -> None:
    index = Index()
    index.apply(added(event(1, job="j"), event(2), event(3, session=None, job="j"), event(4, session="b", job="j")))
    assert names(index, "job", "j") == ["e1", "e2", "e3", "e4"]
    assert names(index, "session", "s") == ["e1", "e2", "e3"]
    assert names(index, "session", "b") == ["e3", "e4"]


@pytest.mark.parametrize("seed", range(20))
def test_units_are_the_same_for_every_order_of_arrival(seed: int) -> None:
    chance = random.Random(seed)
    items = [
        event(number, session=chance.choice(["a", "b", None]), job=chance.choice(["j", "k", None]))
        for number in range(30)
    ]
    items = [item if item.session or item.job else item._replace(job="j") for item in items]
    forward, shuffled = Index(), Index()
    forward.apply(added(*items))
    chance.shuffle(items)
    shuffled.apply(added(*items))
    assert _contents(shuffled) == _contents(forward)


@pytest.mark.parametrize("seed", range(20))
def test_taking_items_back_leaves_what_the_others_alone_would_have_made(seed: int) -> None:
    chance = random.Random(seed)
    items = [event(n, session=chance.choice(["a", "b", None]), job=chance.choice(["j", "k"])) for n in range(20)]
    gone = chance.sample(items, 12)
    index, rest = Index(), Index()
    index.apply(added(*items))
    index.apply([Change(item, None) for item in gone])
    rest.apply(added(*(item for item in items if item not in gone)))
    assert _contents(index) == _contents(rest)


def test_an_item_whose_session_becomes_known_moves_there() -> None:
    index = Index()
    item = event(1, session="trace")
    index.apply([*added(item), Change(item, item._replace(session="real"))])
    assert list(index.units) == [UnitKey(UnitKind.SESSION, "real")]


def test_an_item_after_the_end_opens_its_session_again() -> None:
    index = Index()
    index.apply(added(event(1)._replace(name="session.end")))
    unit = index.units[UnitKey(UnitKind.SESSION, "s")]
    assert unit.closed
    index.apply(added(event(2)))
    assert not unit.closed
    assert unit.reopened == 1


def test_past_the_limit_of_sessions_the_oldest_finished_goes_first() -> None:
    index = Index(limits=Limits(sessions=2))
    index.apply(added(event(1, session="a"), event(2, session="b")))
    index.close(UnitKey(UnitKind.SESSION, "b"))
    index.apply(added(event(3, session="c")))
    assert [key.id for key in index.units] == ["a", "c"]


def test_an_evicted_session_that_comes_back_is_known_not_to_be_whole() -> None:
    index = Index(limits=Limits(sessions=1))
    index.apply(added(event(1, session="a"), event(2, session="b"), event(3, session="a")))
    assert index.units[UnitKey(UnitKind.SESSION, "a")].cut is not None


def test_past_the_limit_of_items_room_is_made() -> None:
    index = Index(limits=Limits(items=10))
    for number in range(50):
        index.apply(added(event(number, session=f"s{number // 5}")))
    assert index.items <= 10
    assert index.evicted >= 8


def test_a_unit_past_its_own_limit_is_cut_and_counts_what_it_drops() -> None:
    index = Index(limits=Limits(session_items=2))
    index.apply(added(event(1), event(2), event(3), event(4)))
    unit = index.units[UnitKey(UnitKind.SESSION, "s")]
    assert (len(unit.own), unit.dropped) == (2, 2)
    assert unit.cut == "it has more items than the limit of 2"


def test_past_the_limit_of_bytes_room_is_made_of_what_is_finished_and_oldest() -> None:
    index = Index(limits=Limits(bytes=1_000))
    for number, session in enumerate("abc"):
        index.apply(added(event(number, session=session)), share=300)
    index.close(UnitKey(UnitKind.SESSION, "b"))
    index.apply(added(event(4, session="d")), share=300)
    assert [unit.key.id for unit in index.sessions()] == ["a", "c", "d"]
    index.apply(added(event(5, session="e")), share=500)
    assert [unit.key.id for unit in index.sessions()] == ["d", "e"]
    assert (index.bytes, index.evicted) == (800, 3)


def test_a_unit_that_is_larger_than_the_limit_of_bytes_is_cut_and_grows_no_more() -> None:
    index = Index(limits=Limits(bytes=1_000))
    index.apply(added(*(event(number) for number in range(5))), share=300)
    (unit,) = index.sessions()
    assert unit.cut == "it is larger than the limit of 1000 bytes"
    assert (len(unit.own), unit.dropped, index.bytes) == (4, 1, 1_200)


def test_items_that_are_large_are_weighed_each() -> None:
    index = Index(limits=Limits(bytes=1_000_000))
    large = event(1)._replace(attributes={"text": "x" * 10_000, "list": ["y" * 5_000]})
    index.apply(added(large, event(2, session="other")))
    of_large, of_small = (unit.bytes for unit in index.sessions())
    assert 15_000 < of_large < 17_000
    assert of_small < 1_000


def test_bytes_are_given_back_with_the_items() -> None:
    index = Index(limits=Limits(bytes=10_000))
    items = [event(number, job="j") for number in range(3)]
    index.apply(added(*items), share=100)
    index.apply([Change(items[0], items[0]._replace(session="moved"))], share=50)
    assert index.bytes == 250
    index.apply([Change(item, None) for item in (items[0]._replace(session="moved"), *items[1:])])
    assert (index.bytes, index.items, index.units) == (0, 0, {})


def test_an_item_that_comes_again_after_its_trace_was_forgotten_is_one_item() -> None:
    index = Index()
    updates: list[Update] = []
    index.apply(added(event(1)))
    index.close(UnitKey(UnitKind.SESSION, "s"))
    index.listen(updates.append)
    index.apply(added(event(1)))
    assert (index.items, updates) == (1, [])
    index.apply(added(event(1)._replace(name="told better")))
    assert (index.items, names(index, "session", "s")) == (1, ["told better"])


def test_what_shares_items_with_a_unit_that_is_cut_is_not_whole_either_whenever_they_meet() -> None:
    before, after = Index(), Index()
    before.apply(added(event(1, job="j")))
    before.cut(UnitKey(UnitKind.SESSION, "s"), "something is missing")
    after.cut(UnitKey(UnitKind.SESSION, "s"), "something is missing")
    after.apply(added(event(1, job="j")))
    for index in (before, after):
        assert index.units[UnitKey(UnitKind.SESSION, "s")].cut == "something is missing"
        assert index.units[UnitKey(UnitKind.JOB, "j")].cut == "session s is not whole: something is missing"


def test_a_session_that_joins_a_job_which_lost_items_of_its_own_is_not_whole() -> None:
    index = Index()
    index.cut(UnitKey(UnitKind.JOB, "j"), "something is missing")
    index.apply(added(event(1, job="j")))
    assert index.units[UnitKey(UnitKind.SESSION, "s")].cut == "job j is not whole: something is missing"


def test_a_session_whose_job_lacks_items_of_another_session_is_whole() -> None:
    index = Index()
    index.cut(UnitKey(UnitKind.SESSION, "other"), "something is missing")
    index.apply(added(event(1, session="other", job="j"), event(2, job="j")))
    assert index.units[UnitKey(UnitKind.JOB, "j")].cut is not None
    assert index.units[UnitKey(UnitKind.SESSION, "s")].cut is None


def test_a_session_that_turns_out_to_be_that_of_a_remembered_trace_is_not_whole_either() -> None:
    index = Index()
    trace = b"t" * 16
    index.remember([UnitKey(UnitKind.SESSION, trace.hex())], "it is gone")
    index.apply(added(event(1, session="named", job="j")._replace(id=(trace, b"s", 1)), event(2, session="other")))
    cuts = {key.id: unit.cut for key, unit in index.units.items()}
    assert cuts == {"named": "it is gone", "j": "session named is not whole: it is gone", "other": None}


def test_listeners_hear_of_every_change_until_they_stop() -> None:
    index = Index()
    heard: list[Update] = []
    stop = index.listen(heard.append)
    index.apply(added(event(1)))
    stop()
    index.apply(added(event(2)))
    assert [update.change for update in heard] == [Change(None, event(1))]


def test_in_order_numbered_items_keep_their_seq_and_others_come_by_time() -> None:
    items = [event(1, seq=2), event(2, seq=1), event(3)]
    assert [item.name for item in in_order(items)] == ["e2", "e1", "e3"]


def _contents(index: Index) -> dict[UnitKey, list[str]]:
    return {key: sorted(item.name for item in index._items_of(unit)) for key, unit in _nonempty(index)}


def _nonempty(index: Index) -> list[tuple[UnitKey, Unit]]:
    return sorted(index.units.items())


def test_an_item_over_the_limit_that_is_the_first_to_name_a_job_cuts_the_job() -> None:
    index = Index(limits=Limits(session_items=1))
    index.apply(added(event(1), event(2, job="j"), event(3, session="b", job="j")))
    assert index.units[UnitKey(UnitKind.JOB, "j")].cut is not None


def test_a_session_that_names_too_many_jobs_is_cut_with_all_of_them() -> None:
    index = Index()
    items = [event(number, job=f"j{number}") for number in range(JOBS_OF_SESSION + 1)]
    index.apply(added(*items[:-1]))
    assert all(unit.cut is None for unit in index.units.values())
    index.apply(added(items[-1]))
    index.apply(added(event(-1, session="b", job=items[-1].job)))
    uncut = {key.id for key, unit in index.units.items() if unit.cut is None}
    assert uncut == {"b"}
    assert len(index.units[UnitKey(UnitKind.SESSION, "s")].links) == JOBS_OF_SESSION
    index.apply([Change(item, None) for item in items])
    assert {key.id for key in index.units} == {"b", items[-1].job}
