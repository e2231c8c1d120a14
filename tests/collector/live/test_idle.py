import asyncio

from collector.index import Index, UnitKey, UnitKind
from collector.live.idle import IdleCloser
from tests.collector.live.samples import add, event
from tests.waiting import until


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def open_sessions(index: Index) -> list[str]:
    return [unit.key.id for unit in index.sessions() if not unit.closed]


def test_a_session_is_closed_when_nothing_came_for_the_whole_time() -> None:
    index, clock = Index(), Clock()
    closer = IdleCloser(index, 10, clock)
    add(index, event("e", "early"))
    clock.now += 6
    add(index, event("e", "late"))
    clock.now += 4
    closer.close_idle()
    assert open_sessions(index) == ["late"]


def test_every_item_gives_it_the_whole_time_again() -> None:
    index, clock = Index(), Clock()
    closer = IdleCloser(index, 10, clock)
    for _ in range(5):
        add(index, event("e"))
        clock.now += 9
        closer.close_idle()
    assert open_sessions(index) == ["s"]


def test_a_session_that_was_opened_again_is_closed_again() -> None:
    index, clock = Index(), Clock()
    closer = IdleCloser(index, 10, clock)
    for _ in range(2):
        add(index, event("e"))
        clock.now += 10
        closer.close_idle()
        assert open_sessions(index) == []


def test_a_session_that_ended_or_has_gone_is_left_alone() -> None:
    index, clock = Index(), Clock()
    closer = IdleCloser(index, 10, clock)
    add(index, event("e", "ended"))
    index.close(UnitKey(UnitKind.SESSION, "ended"))
    clock.now += 20
    closer.close_idle()
    assert not closer._last


async def test_it_goes_on_by_itself_until_it_is_cancelled() -> None:
    index = Index()
    running = asyncio.create_task(IdleCloser(index, 0.01).run())
    await asyncio.sleep(0)
    add(index, event("e"))
    await until(lambda: not open_sessions(index))
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert not index._listeners
