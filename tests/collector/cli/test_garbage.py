"""The cyclic garbage collector of `check`, `run` and `serve`."""

import asyncio
import gc
from collections.abc import Iterator

import pytest

from collector.cli import garbage
from collector.cli.garbage import collect_when_quiet, loading, no_collection, young_collection
from tests.waiting import until


@pytest.fixture
def full_passes() -> Iterator[list[int]]:
    passes: list[int] = []

    def note(phase: str, info: dict[str, int]) -> None:
        if phase == "start" and info["generation"] == 2:
            passes.append(1)

    gc.callbacks.append(note)
    yield passes
    gc.callbacks.remove(note)


def test_nothing_is_collected_while_files_are_read() -> None:
    with no_collection():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_what_was_kept_meanwhile_is_not_walked_over_at_the_end(full_passes: list[int]) -> None:
    with no_collection():
        kept: list[list[int]] = [[] for _ in range(10 * gc.get_threshold()[0])]
        assert gc.get_count()[0] >= len(kept)
    assert gc.get_count()[0] < gc.get_threshold()[0]
    assert (full_passes, gc.get_freeze_count()) == ([], 0)


def test_what_was_loaded_is_not_looked_at_again() -> None:
    gc.unfreeze()
    with loading():
        assert not gc.isenabled()
    assert gc.isenabled()
    assert gc.get_freeze_count() > 0


def test_only_what_is_new_is_collected_in_a_server_and_nothing_stays_frozen() -> None:
    before = gc.get_threshold()
    with young_collection():
        assert gc.get_freeze_count() > 0
        assert gc.get_threshold() == (garbage.YOUNG, garbage.NEVER, garbage.NEVER)
    assert (gc.get_freeze_count(), gc.get_threshold()) == (0, before)


async def test_old_garbage_is_collected_once_after_requests_have_ended(
    monkeypatch: pytest.MonkeyPatch, full_passes: list[int]
) -> None:
    monkeypatch.setattr(garbage, "QUIET", 0.001)
    requests = 0
    looks = 0

    def count() -> int:
        nonlocal looks
        looks += 1
        return requests

    with young_collection():
        full_passes.clear()
        task = asyncio.create_task(collect_when_quiet(count))
        await until(lambda: looks > 5)
        assert full_passes == []  # nothing has come

        requests = 1
        await until(lambda: bool(full_passes))
        looks = 0
        await until(lambda: looks > 5)
        assert len(full_passes) == 1
        task.cancel()
