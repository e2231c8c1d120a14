import asyncio
import json
import os
import shlex
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from collector.cli.event_loop import loop_factory
from collector.index import Index
from collector.live.alarms import WAITING, Alarm
from collector.live.board import Board
from collector.live.feed import Feed
from tests.collector.live.samples import add, event, program, shell
from tests.waiting import until


def command(code: str, *arguments: object) -> str:
    return shlex.join([sys.executable, "-c", code, *map(str, arguments)])


def heard_by(alarm: Alarm) -> Index:
    index = Index(program())
    Board(index, Feed()).listen(alarm.heard)
    return index


class Target:
    """An HTTP server that notes what is posted to it and answers with `status`."""

    def __init__(self) -> None:
        self.bodies: list[Any] = []
        self.status = 200
        self.url = ""

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(int(line.split(b":")[1]) for line in head.lower().split(b"\r\n") if b"content-length" in line)
        self.bodies.append(json.loads(await reader.readexactly(length)))
        writer.write(f"HTTP/1.1 {self.status} X\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".encode())
        await writer.drain()
        writer.close()


@pytest.fixture
async def target() -> AsyncIterator[Target]:
    found = Target()
    server = await asyncio.start_server(found.handle, "127.0.0.1", 0)
    found.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/stop"
    async with server:
        yield found


async def test_a_command_gets_the_result_on_its_standard_input(tmp_path: Path) -> None:
    told = tmp_path / "told.json"
    alarm = Alarm(command("import sys; open(sys.argv[1], 'w').write(sys.stdin.read())", told))
    add(heard_by(alarm), shell("git push --force"))
    await until(lambda: alarm.delivered)
    result = json.loads(told.read_text("utf-8"))
    assert (result["unit"]["id"], result["behavior"], result["result"]) == ("s", "no force push", "fail")
    assert result["evidence"][0]["name"] == "bash"


async def test_a_url_gets_the_result_as_the_body_of_a_post(target: Target) -> None:
    alarm = Alarm(target.url)
    add(heard_by(alarm), shell("git push --force"))
    await until(lambda: alarm.delivered)
    await alarm.stop(within=10)
    assert [body["behavior"] for body in target.bodies] == ["no force push"]


async def test_what_is_provisional_or_passes_rings_nothing() -> None:
    alarm = Alarm("unused")
    rung: list[Any] = []
    alarm.ring = rung.append  # type: ignore[method-assign]
    index = heard_by(alarm)
    add(index, shell("ls"), event("test.run"), shell("git push"))
    assert rung == []
    index.close_all()
    assert rung == []


async def test_it_rings_once_for_a_result_however_often_it_happens() -> None:
    alarm = Alarm("unused")
    rung: list[Any] = []
    alarm.ring = rung.append  # type: ignore[method-assign]
    index = heard_by(alarm)
    add(index, shell("git push --force"), shell("git push --force"))
    index.close_all()
    assert [payload["behavior"] for payload in rung] == ["no force push", "tests run", "tests before push"]


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import sys; sys.stderr.write('no such agent'); sys.exit(3)", "exit code 3: no such agent"),
        ("import time; time.sleep(60)", "took longer than 0.5 s"),
    ],
)
async def test_a_command_that_fails_is_logged_and_counted(
    code: str, said: str, caplog: pytest.LogCaptureFixture
) -> None:
    alarm = Alarm(command(code), patience=0.5 if "sleep" in code else 60)
    add(heard_by(alarm), shell("git push --force"))
    await until(lambda: alarm.failed)
    assert (alarm.delivered, said in caplog.text) == (0, True)


LOOPS = [asyncio.new_event_loop, loop_factory()]
"""Those of the tests and of `spanbar serve`."""


@pytest.mark.parametrize("loop", LOOPS, ids=["asyncio", "as served"])
def test_a_command_that_takes_too_long_is_killed_with_all_that_it_started(loop: Any, tmp_path: Path) -> None:
    started = tmp_path / "started"

    async def ring() -> None:
        alarm = Alarm(f"sh -c 'sleep 4321 & echo $! > {started}; wait'", patience=1)
        alarm.ring({"behavior": "b"})
        await until(lambda: alarm.failed)
        await until(lambda: not alive(int(started.read_text())))

    with asyncio.Runner(loop_factory=loop) as runner:
        runner.run(ring())


@pytest.mark.parametrize("loop", LOOPS, ids=["asyncio", "as served"])
def test_what_a_command_leaves_in_the_background_is_not_waited_for(loop: Any, tmp_path: Path) -> None:
    started = tmp_path / "started"

    async def ring() -> Alarm:
        alarm = Alarm(f"sh -c 'sleep 4322 & echo $! > {started}; exit 0'", patience=60)
        alarm.ring({"behavior": "b"})
        await until(lambda: alarm.delivered, limit=50)
        return alarm

    with asyncio.Runner(loop_factory=loop) as runner:
        alarm = runner.run(ring())
    left = int(started.read_text())
    assert alive(left)
    os.kill(left, signal.SIGKILL)
    assert (alarm.delivered, alarm.failed) == (1, 0)


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


async def test_a_target_that_is_not_there_or_refuses_is_logged_and_counted(
    target: Target, caplog: pytest.LogCaptureFixture
) -> None:
    target.status = 500
    for number, address in enumerate([target.url, "http://127.0.0.1:1/", "/no/such/command"]):
        alarm = Alarm(address)
        add(heard_by(alarm), shell("git push --force"))
        await until(lambda alarm=alarm: alarm.failed)
        await alarm.stop(within=10)
        assert caplog.text.count("was not told of") == number + 1
    assert "answered 500" in caplog.text


async def test_deliveries_are_bounded_and_what_is_over_is_counted() -> None:
    alarm = Alarm(command("import sys; sys.stdin.read()"), at_once=1)
    for number in range(WAITING + 5):
        alarm.ring({"behavior": str(number)})
    assert len(alarm._running) == 1
    assert alarm.dropped == 4
    await alarm.stop(within=0)
    assert alarm.delivered + alarm.failed + alarm.dropped == WAITING + 5


def test_a_command_that_does_not_read_its_standard_input_does_not_hold_up_the_others() -> None:
    async def deliver() -> Alarm:
        alarm = Alarm(command("import sys; sys.stdin.close(); sys.exit(0)"), at_once=1)
        for _ in range(3):
            alarm.ring({"behavior": "b", "long": "x" * 1_000_000})
        await alarm.stop(within=60)
        return alarm

    # As `spanbar serve` has it: its event loop is another one than that of the tests.
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        alarm = runner.run(deliver())
    assert alarm.delivered + alarm.failed == 3
    assert alarm.dropped == 0


async def test_whatever_goes_wrong_with_one_delivery_the_next_one_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*arguments: object, **options: object) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr(asyncio, "create_subprocess_exec", broken)
    alarm = Alarm("unused", at_once=1)
    for _ in range(3):
        alarm.ring({"behavior": "b"})
    await until(lambda: alarm.failed == 3)


async def test_stopping_waits_for_what_is_under_way(tmp_path: Path) -> None:
    told = tmp_path / "told"
    alarm = Alarm(command("import sys; open(sys.argv[1], 'a').write('x')", told), at_once=1)
    for _ in range(3):
        alarm.ring({"behavior": "b"})
    await alarm.stop(within=60)
    assert (told.read_text("utf-8"), alarm.delivered) == ("xxx", 3)


def test_an_empty_command_is_refused() -> None:
    with pytest.raises(ValueError, match="empty"):
        Alarm("  ")
