"""The event stream, over a real connection where the connection matters."""

import asyncio
from collections.abc import Iterator
from typing import Any

from collector.index import UnitKey, UnitKind
from collector.live.feed import Feed
from collector.live.stream import EventStream
from tests.collector.live.samples import add, event, listening, results_of, served, shell
from tests.waiting import until

KEY = UnitKey(UnitKind.SESSION, "s")


async def test_a_new_reader_is_told_everything_as_it_is_and_then_what_changes() -> None:
    async with served() as room:
        add(room.index, shell("ls"), event("test.run", "other"))
        async with listening(room.client) as stream:
            start = await stream.until("synced")
            assert [sent.name for sent in start] == ["reset", "units", "synced"]
            assert start[0].data["why"] == "first"
            assert [column["name"] for column in start[0].data["behaviors"]["sessions"]] == [
                "no force push",
                "tests run",
                "tests before push",
            ]
            assert {unit["id"]: unit["cells"] for unit in start[1].data["units"]} == {"s": "pfn", "other": "pPn"}
            add(room.index, shell("git push --force"))
            seen = await stream.until("result", lambda data: data["behavior"] == "tests before push")
            assert list(results_of(seen)) == [
                ("no force push", "fail", True),
                ("tests before push", "fail", False),
            ]
            assert seen[-1].data["cells"] == "Fff"


async def test_a_result_is_sent_without_waiting_for_anything_else() -> None:
    async with served() as room, listening(room.client) as stream:
        await stream.until("synced")
        before = room.live.feed.published
        add(room.index, shell("git push --force"))
        assert room.live.feed.published > before
        failed = (await stream.until("result"))[-1]
        assert failed.data["unit"] == {"kind": "session", "id": "s"}
        assert failed.data["evidence"][0]["name"] == "bash"
        assert failed.data["evidence_total"] == 1
        assert "matched once" in failed.data["reason"]


async def test_a_reader_that_comes_back_gets_exactly_what_it_missed() -> None:
    async with served() as room:
        add(room.index, shell("ls"))
        async with listening(room.client) as stream:
            await stream.until("synced")
            add(room.index, event("test.run"))
            await stream.until("result")
            last = stream.last_id
        add(room.index, shell("git push --force"))
        room.index.close(KEY)
        async with listening(room.client, last) as stream:
            missed = await stream.until(
                "result", lambda data: data["behavior"] == "tests before push" and data["final"]
            )
        assert list(results_of(missed)) == [
            ("no force push", "fail", True),
            ("tests before push", "pass", False),
            ("tests before push", "pass", True),
        ]
        assert all(sent.name != "reset" for sent in missed)


async def test_a_gap_is_said_and_followed_by_everything() -> None:
    async with served() as room:
        add(room.index, shell("ls"))
        room.live.feed._events = 3
        async with listening(room.client) as stream:
            await stream.until("synced")
            last = stream.last_id
        for number in range(10):
            room.live.feed.publish("gone", {"unit": {"kind": "session", "id": f"x{number}"}, "why": "test"})
        async with listening(room.client, last) as stream:
            start = await stream.until("synced")
        assert start[0].data["why"] == "gap"
        assert [unit["id"] for unit in start[1].data["units"]] == ["s"]


async def test_an_id_of_another_start_is_a_restart() -> None:
    async with served() as room:
        async with listening(room.client, "earlier-17") as stream:
            assert (await stream.next()).data["why"] == "restart"
        response = room.client.stream("GET", "/api/v1/events", params={"last_event_id": room.live.feed.id_of(0)})
        async with response as answered:
            add(room.index, shell("ls"))
            lines = answered.aiter_lines()
            found = [await anext(lines) for _ in range(4)]
        assert "event: reset" not in found


async def test_a_snapshot_that_breaks_off_is_not_resumed_from_its_middle() -> None:
    async with served() as room:
        for number in range(250):
            add(room.index, shell("ls", f"s{number}"))
        async with listening(room.client) as stream:
            start = await stream.until("synced")
        assert sum(len(sent.data["units"]) for sent in start if sent.name == "units") == 250
        assert [sent.id for sent in start[:-1]] == [None] * (len(start) - 1)
        assert start[-1].id == room.live.feed.id_of(room.live.feed.published)


async def test_other_changes_of_a_unit_are_gathered() -> None:
    async with served() as room, listening(room.client) as stream:
        await stream.until("synced")
        for _ in range(50):
            add(room.index, shell("ls"))
        seen = await stream.until("units", lambda data: data["units"][0]["items"] == 50)
        assert len(seen) <= 4


async def test_an_evicted_unit_is_gone() -> None:
    async with served() as room:
        add(room.index, only := shell("ls"))
        async with listening(room.client) as stream:
            await stream.until("synced")
            room.index.apply([_taken_back(only)])
            assert (await stream.until("gone"))[-1].data["unit"] == {"kind": "session", "id": "s"}


async def test_the_stream_says_goodbye_when_the_server_stops() -> None:
    async with served() as room, listening(room.client) as stream:
        await stream.until("synced")
        add(room.index, shell("git push --force"))
        stopping = asyncio.create_task(room.live.stop())
        seen = await stream.until("bye")
        await stopping
        assert ("no force push", "fail", True) in list(results_of(seen))


async def test_readers_are_counted_and_bounded() -> None:
    async with served() as room:
        async with listening(room.client) as stream:
            await stream.until("synced")
            assert room.live.board.readers == 1
        await until(lambda: room.live.board.readers == 0)
        room.live.board.readers = 64
        refused = await room.get("/api/v1/events", 503)
        assert refused["error"]["code"] == "too_many_readers"


class Client:
    """An ASGI client that takes `takes` messages and then nothing more."""

    def __init__(self, takes: int) -> None:
        self.takes = takes
        self.got: list[bytes] = []
        self.ended = False

    async def send(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            return
        if len(self.got) >= self.takes:
            await asyncio.Event().wait()
        self.got.append(message["body"])
        self.ended = not message["more_body"]

    async def receive(self) -> Any:
        await asyncio.Event().wait()


def _stream(feed: Feed, *, patience: float = 60, heartbeat: float = 60, last: str | None = None) -> EventStream:
    def nothing() -> Iterator[tuple[str, Any]]:
        return iter(())

    return EventStream(
        feed, last, head=dict, snapshot=nothing, beat=lambda: {"now": 1}, heartbeat=heartbeat, patience=patience
    )


async def test_a_client_that_takes_nothing_is_disconnected_without_holding_events() -> None:
    feed = Feed(events=4)
    client = Client(takes=3)
    running = asyncio.create_task(_stream(feed, patience=0.05)({}, client.receive, client.send))
    await until(lambda: len(client.got) == 3)
    for _ in range(1000):
        feed.publish("tick", {})
    await asyncio.wait_for(running, 60)
    assert not client.ended
    assert len(feed._ring) == 4


async def test_a_client_that_the_ring_overtook_is_disconnected() -> None:
    feed = Feed(events=4)
    hold = asyncio.Event()
    client = Client(takes=1000)
    take = client.send

    async def slowly(message: Any) -> None:
        await take(message)
        if b"event: tick" in message.get("body", b""):
            await hold.wait()

    running = asyncio.create_task(_stream(feed)({}, client.receive, slowly))
    await until(lambda: len(client.got) == 3)
    feed.publish("tick", {})
    await until(lambda: len(client.got) == 4)
    for _ in range(100):
        feed.publish("tick", {})
    hold.set()
    await asyncio.wait_for(running, 60)
    assert not client.ended


async def test_silence_is_filled_with_beats() -> None:
    client = Client(takes=1000)
    running = asyncio.create_task(_stream(Feed(), heartbeat=0.01)({}, client.receive, client.send))
    await until(lambda: client.got.count(b'event: beat\ndata: {"now":1}\n\n') >= 2)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


def _taken_back(item: Any) -> Any:
    from evaluator.items import Change

    return Change(item, None)
