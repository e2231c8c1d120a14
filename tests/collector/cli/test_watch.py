"""`spanbar watch`: its screen from events, and as a process against a server."""

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from rich.console import Console

from collector.cli.watch import watch
from collector.cli.watch_screen import Screen, plain_lines
from collector.cli.watch_stream import Event, Seen
from collector.live.feed import Feed
from collector.live.runboard import RunBoard
from tests.collector.live.runs import play
from tests.collector.live.samples import BEHAVIORS
from tests.serving import SPANBAR, send, serving, shell, span

HEAD = {"behaviors": {"sessions": [{"name": "no force push", "severity": "error"}], "jobs": []}}


def unit(session: str, cells: str, **more: Any) -> dict[str, Any]:
    result = {"f": "fail", "p": "pass", "u": "unknown"}[cells[0].lower()]
    known = {
        "kind": "session",
        "id": session,
        "state": "open",
        "items": 3,
        "last_ms": 1.7e12,
        "cells": cells,
        "verdict": {"result": result, "final": cells.isupper()},
    }
    return known | more


def result(session: str, **more: Any) -> dict[str, Any]:
    known = {
        "unit": {"kind": "session", "id": session},
        "behavior": "no force push",
        "result": "fail",
        "final": True,
        "revised": False,
        "reason": "matched once",
        "cells": "F",
        "verdict": {"result": "fail", "final": True},
        "at_ms": 1.7e12,
    }
    return known | more


def shown(*events: Event, width: int = 100, height: int = 24, encoding: str = "utf-8") -> str:
    seen = Seen(connection="live")
    screen = Screen(seen, "http://127.0.0.1:4318", unicode=encoding == "utf-8")
    for event in events:
        seen.apply(event)
        screen.heard(event)
    console = Console(width=width, height=height, color_system=None)
    with console.capture() as capture:
        console.print(screen)
    return capture.get()


def start(*units: dict[str, Any]) -> list[Event]:
    return [Event("reset", HEAD), Event("units", {"units": list(units)}), Event("synced", {})]


def test_provisional_and_final_look_different_without_colour() -> None:
    text = shown(*start(unit("a", "p"), unit("b", "P")))
    assert "(✓)  a" in text
    assert " ✓   b" in text


def test_a_terminal_without_unicode_gets_letters() -> None:
    text = shown(*start(unit("a", "p"), unit("b", "F")), encoding="ascii")
    assert "(P)  a" in text
    assert " F   b" in text


def test_a_final_failure_is_listed_with_its_reason() -> None:
    text = shown(*start(unit("a", "p")), Event("result", result("a")))
    assert "session a  no force push  matched once" in text


def test_it_fits_the_terminal_whatever_there_is() -> None:
    units = [unit(f"session-{number}", "p") for number in range(500)]
    text = shown(*start(*units), *[Event("result", result(f"session-{n}")) for n in range(20)], height=20)
    assert len(text.splitlines()) <= 20
    assert "more" in text


def test_hostile_text_does_not_reach_the_terminal() -> None:
    text = shown(*start(unit("\x1b[2J\u202e[red]x[/red]\r", "p")))
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "[red]x[/red]" in text


def test_what_was_there_stays_until_the_new_snapshot_is_whole() -> None:
    seen = Seen()
    for event in start(unit("old", "p")):
        seen.apply(event)
    again = start(unit("new", "p"))
    for event in again[:-1]:
        seen.apply(event)
        assert [id for _, id in seen.units] == ["old"]
    seen.apply(again[-1])
    assert [id for _, id in seen.units] == ["new"]


def test_a_run_shows_what_runs_and_what_failed_first() -> None:
    feed = Feed()
    board = RunBoard(feed)
    play(board)
    events = [Event("reset", HEAD), *(Event(*event) for event in board.snapshot()), Event("synced", {})]
    text = shown(*events)
    assert "run running: 3 tests" in text
    assert text.index("stays polite") < text.index("refund was not called") < text.index("never run")


def test_a_result_is_a_line() -> None:
    (line,) = plain_lines(Event("result", result("a", final=False, revised=True, reason="x\ny")))
    assert line.endswith("failing (revised) session a  no force push  x\\ny")


def test_it_follows_a_server_through_a_restart(tmp_path: Path) -> None:
    behaviors = tmp_path / "behaviors.yaml"
    behaviors.write_text(BEHAVIORS, "utf-8")
    with serving(behaviors) as server:
        port = server.port()
        watching = _watch(server.url)
        try:
            assert watching.stderr is not None
            assert "live" in watching.stderr.readline()
            send(server.url, shell(1, "git push --force", "first"))
            assert "session first" in _line_with(watching, "no force push")
            server.stop()
            with serving(behaviors, http_port=port) as again:
                while "live" not in watching.stderr.readline():
                    pass
                send(again.url, span(1, "test.run", "second"))
                assert "session second" in _line_with(watching, "tests run")
        finally:
            watching.kill()
            watching.wait()


def test_a_server_that_wants_a_token_is_said() -> None:
    with serving("--token", "sesame") as server:
        watching = _watch(server.url)
        _, complaint = watching.communicate(timeout=60)
        assert (watching.returncode, "SPANBAR_TOKEN" in complaint) == (2, True)


@pytest.mark.parametrize("url", ["127.0.0.1:4318", "ftp://x"])
def test_what_is_no_url_is_refused(url: str) -> None:
    answer = CliRunner().invoke(watch, [url])
    assert (answer.exit_code, "is not a URL" in answer.stderr) == (2, True)


def _watch(url: str) -> subprocess.Popen[str]:
    environ = {key: value for key, value in os.environ.items() if key != "SPANBAR_TOKEN"}
    return subprocess.Popen(
        [SPANBAR, "watch", url],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        bufsize=1,
        env={**environ, "PYTHONUNBUFFERED": "1"},
    )


def _line_with(watching: subprocess.Popen[str], text: str) -> str:
    assert watching.stdout is not None
    for line in watching.stdout:
        if text in line:
            return line
    raise AssertionError("the watching ended")
