"""A trace-contract file followed as it grows."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from collector.receiver.files import FileProblem
from collector.receiver.following import Following, follow
from collector.telemetry import Batch
from tests.waiting import until


def line(name: str) -> bytes:
    return json.dumps({"v": 1, "type": "tool", "ts": 1, "fn": name}).encode() + b"\n"


class Seen:
    """What a following handed on."""

    def __init__(self, path: Path, *, from_end: bool = False) -> None:
        self.batches: list[Batch] = []
        self.problems: list[FileProblem] = []
        self.following = Following(path, self.batches.append, self.problems.append, from_end=from_end)

    @property
    def names(self) -> list[str]:
        return [record["fn"] for batch in self.batches for record in batch.records]


def append(path: Path, content: bytes) -> None:
    with path.open("ab") as file:
        file.write(content)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "traces.jsonl"


def test_a_file_that_is_not_there_yet_carries_nothing(path: Path) -> None:
    seen = Seen(path)
    seen.following.drain()
    assert seen.names == []

    append(path, line("a"))
    seen.following.drain()
    assert seen.names == ["a"]


def test_each_line_is_handed_on_once(path: Path) -> None:
    seen = Seen(path)
    for name in "abc":
        append(path, line(name))
        seen.following.drain()
        seen.following.drain()

    assert seen.names == ["a", "b", "c"]
    assert len(seen.batches) == 3


def test_a_line_waits_for_its_end(path: Path) -> None:
    seen = Seen(path)
    append(path, line("a") + line("b")[:10])
    seen.following.drain()
    assert seen.names == ["a"]

    append(path, line("b")[10:])
    seen.following.drain()
    assert seen.names == ["a", "b"]


def test_closing_takes_a_last_line_without_its_end(path: Path) -> None:
    seen = Seen(path)
    append(path, line("a") + line("b").rstrip())
    seen.following.close()

    assert seen.names == ["a", "b"]
    assert seen.problems == []


def test_closing_says_that_the_last_line_is_cut(path: Path) -> None:
    seen = Seen(path)
    append(path, line("a") + line("b")[:10])
    seen.following.close()

    assert [problem.place for problem in seen.problems] == ["line 2"]


def test_a_bad_line_is_told_with_its_number_and_the_others_are_taken(path: Path) -> None:
    seen = Seen(path)
    append(path, line("a") + b"broken\n")
    seen.following.drain()
    append(path, b"\n" + line("b") + b"broken\n")
    seen.following.drain()

    assert seen.names == ["a", "b"]
    assert [problem.place for problem in seen.problems] == ["line 2", "line 5"]


def test_a_file_that_was_cut_is_read_from_its_start(path: Path) -> None:
    seen = Seen(path)
    append(path, line("a") + line("b"))
    seen.following.drain()
    path.write_bytes(line("c"))
    seen.following.drain()

    assert seen.names == ["a", "b", "c"]


def test_a_file_that_was_replaced_is_read_from_its_start(path: Path) -> None:
    seen = Seen(path)
    append(path, line("a"))
    seen.following.drain()
    other = path.with_name("other")
    other.write_bytes(line("b") + line("c"))
    other.replace(path)
    seen.following.drain()

    assert seen.names == ["a", "b", "c"]


@pytest.mark.parametrize("before", [line("old"), line("old") + line("new")[:5]], ids=["whole", "cut"])
def test_from_the_end_only_what_is_appended_is_taken(path: Path, before: bytes) -> None:
    append(path, before)
    seen = Seen(path, from_end=True)
    append(path, (line("old") + line("new"))[len(before) :])
    seen.following.drain()

    assert seen.names == ["new"]


def test_a_line_longer_than_one_read_is_taken(path: Path) -> None:
    seen = Seen(path)
    name = "x" * 3_000_000
    append(path, line(name))
    seen.following.drain()

    assert seen.names == [name]


@asynccontextmanager
async def background(task: asyncio.Task[None]) -> AsyncIterator[None]:
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def test_what_is_appended_arrives_by_itself(path: Path) -> None:
    batches: list[Batch] = []
    problems: list[FileProblem] = []
    async with background(asyncio.create_task(follow(path, batches.append, problems.append))):
        for number in range(5):
            append(path, line(str(number)))
            await until(lambda: sum(len(batch.records) for batch in batches) == number + 1)  # noqa: B023

    assert [record["fn"] for batch in batches for record in batch.records] == ["0", "1", "2", "3", "4"]
    assert problems == []


async def test_a_directory_that_is_not_there_yet_is_made(tmp_path: Path) -> None:
    seen = Seen(tmp_path / "new" / "traces.jsonl")
    async with background(asyncio.create_task(seen.following.run())):
        await until((tmp_path / "new").exists)
        append(tmp_path / "new" / "traces.jsonl", line("a"))
        await until(lambda: seen.names == ["a"])


async def test_draining_by_hand_and_by_itself_hands_each_line_on_once(path: Path) -> None:
    seen = Seen(path)
    async with background(asyncio.create_task(seen.following.run())):
        for number in range(50):
            append(path, line(str(number)))
            seen.following.drain()
            await asyncio.sleep(0)

    assert seen.names == [str(number) for number in range(50)]
