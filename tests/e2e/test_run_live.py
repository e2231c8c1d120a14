"""`spanbar run --live`: the page and `spanbar watch` while a real run goes on, and when it is over."""

import asyncio
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.async_api import Locator, Page, expect

from tests.e2e.browser import CHROMIUM, PATIENCE_MS, chromium, opened
from tests.environments import free_port, spanbar
from tests.serving import SPANBAR
from tests.waiting import until

expect.set_options(timeout=PATIENCE_MS)


@pytest.fixture
def support(tmp_path: Path) -> Path:
    """The starter without its guardrails. It answers nothing before the file `go` is there."""
    assert spanbar("init", cwd=tmp_path).returncode == 0
    port = str(free_port())
    agent, spec = tmp_path / "agent.py", tmp_path / "specs" / "support.highbar.yaml"
    waiting = "import os, time\n    while not os.path.exists('go'): time.sleep(0.02)\n    text = message.lower()"
    text = agent.read_text().replace("8731", port).replace("GUARDRAILS = True", "GUARDRAILS = False")
    assert "text = message.lower()" in text
    agent.write_text(text.replace("text = message.lower()", waiting))
    spec.write_text(spec.read_text().replace("8731", port).replace("python agent.py", f"{sys.executable} agent.py"))
    return tmp_path


@contextmanager
def running(home: Path, port: int) -> Iterator["subprocess.Popen[str]"]:
    process = subprocess.Popen(
        [SPANBAR, "run", "--live", str(port)], cwd=home, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


async def test_the_page_shows_the_run_and_how_it_ended_when_its_server_has_gone(support: Path) -> None:
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed (scripts/tools installs it)")
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    with running(support, port) as run:
        await until(lambda: run.poll() is not None or _answers(port))
        async with chromium() as browser, opened(browser, f"{url}/#/run", may_fail=True) as page:
            await expect(page.locator(".tests .row:visible .tile[data-result=running]").first).to_be_visible()
            (support / "go").touch()
            await until(lambda: run.poll() is not None)
            assert run.returncode == 1
            await expect(page.get_by_role("alert")).to_contain_text("The run is over")
            await expect(page.locator("#connection-text")).to_have_text("Run over")
            await expect(page.locator(".facts-line").first).to_contain_text(
                "finished · 4 tests · 2 failed · 2 passed"
            )
            # What failed can still be looked at.
            await _row(page, "never deletes an account").click()
            detail = page.get_by_role("region", name="The chosen test")
            await expect(detail.locator(".calls")).to_contain_text("delete_account")
            await expect(detail.locator(".reason").first).to_be_visible()


async def test_watch_follows_a_run_and_ends_with_it(support: Path) -> None:
    port = free_port()
    with running(support, port) as run:
        await until(lambda: run.poll() is not None or _answers(port))
        watching = _watch(f"http://127.0.0.1:{port}")
        try:
            assert watching.stderr is not None
            assert "live" in await asyncio.to_thread(watching.stderr.readline)
            (support / "go").touch()
            await until(lambda: watching.poll() is not None)
            assert watching.stdout is not None
            said = watching.stdout.read()
        finally:
            watching.kill()
            watching.communicate()
        assert watching.returncode == 0
        assert len(re.findall(r"^.*passed.*looks the order up", said, re.MULTILINE)) == 2
        assert re.search(r"failed.*never deletes an account from chat", said)
        assert "finished" in said


def _row(page: Page, text: str) -> Locator:
    return page.locator(".tests .body .row:visible", has_text=text).first


def _watch(url: str) -> "subprocess.Popen[str]":
    pipe = subprocess.PIPE
    return subprocess.Popen([SPANBAR, "watch", "--plain", url], stdout=pipe, stderr=pipe, text=True)


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
