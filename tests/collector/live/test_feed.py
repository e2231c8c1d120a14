import asyncio

import pytest

from collector.live.feed import Feed, Lapped, frame


def published(feed: Feed, count: int) -> None:
    for number in range(count):
        feed.publish("tick", {"n": number})


def test_a_reader_gets_the_events_after_its_last_one_in_order() -> None:
    feed = Feed(boot="b")
    published(feed, 3)
    assert feed.after(1, at_most=10_000) == (
        3,
        b'id: b-2\nevent: tick\ndata: {"n":1}\n\nid: b-3\nevent: tick\ndata: {"n":2}\n\n',
    )


def test_a_reader_gets_as_much_as_it_asked_for_and_goes_on_from_there() -> None:
    feed = Feed(boot="b")
    published(feed, 3)
    number, first = feed.after(0, at_most=1)
    assert (number, first.count(b"data:")) == (1, 1)
    assert feed.after(number, at_most=10_000)[0] == 3


def test_an_overtaken_reader_is_told() -> None:
    feed = Feed(events=2)
    published(feed, 5)
    assert feed.after(3, at_most=10_000)[0] == 5
    with pytest.raises(Lapped):
        feed.after(2, at_most=10_000)


def test_the_ring_is_bounded_in_bytes_too_and_keeps_the_newest() -> None:
    feed = Feed(size=1)
    feed.publish("big", "x" * 1000)
    feed.publish("big", "y" * 1000)
    assert feed.after(1, at_most=1)[1].count(b"y") == 1000
    with pytest.raises(Lapped):
        feed.after(0, at_most=1)


def test_only_ids_of_this_start_that_are_still_kept_can_be_resumed_from() -> None:
    feed = Feed(events=2, boot="b")
    published(feed, 5)
    assert [feed.number_of(f"b-{n}") for n in range(7)] == [None, None, None, 3, 4, 5, None]
    for foreign in ("a-4", "4", "b-", "b-x", "b-٤", "", "b--4"):
        assert feed.number_of(foreign) is None


def test_two_starts_never_share_an_id() -> None:
    assert Feed().boot != Feed().boot


async def test_news_comes_to_who_waits_for_it() -> None:
    feed = Feed()
    waiting = asyncio.create_task(feed.news(0, within=60))
    await asyncio.sleep(0)
    feed.publish("tick", {})
    assert await waiting is True


async def test_waiting_ends_without_news_when_the_time_is_over_or_the_feed_closes() -> None:
    feed = Feed()
    assert await feed.news(0, within=0.001) is False
    waiting = asyncio.create_task(feed.news(0, within=60))
    await asyncio.sleep(0)
    feed.close()
    assert await waiting is False


def test_a_line_end_in_the_data_cannot_begin_a_field() -> None:
    assert frame("e", "a\nid: 1\r\n\ndata: x") == b'event: e\ndata: "a\\nid: 1\\r\\n\\ndata: x"\n\n'
