"""A real Chromium, and what every page in it must keep to: no error on its console, no request to anywhere else."""

import json
import shutil
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from playwright.async_api import Browser, Page, Request, async_playwright

CHROMIUM: Final = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
AXE: Final = "4.14.1"
CACHE: Final = Path(__file__).parents[2] / ".cache"
PATIENCE_MS: Final = 30_000

FLAGS: Final = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--no-first-run",
]


@asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        try:
            yield browser
        finally:
            await browser.close()


@asynccontextmanager
async def opened(browser: Browser, url: str, *, may_fail: bool = False, **context: Any) -> AsyncIterator[Page]:
    """The page at `url`. At the end: nothing was wrong on its console, and it asked only its own server.

    `may_fail`: the server goes away or refuses on purpose, which the browser itself writes to the console.
    """
    where = await browser.new_context(**context)
    page = await where.new_page()
    page.set_default_timeout(PATIENCE_MS)
    problems: list[str] = []
    asked: list[str] = []
    page.on(
        "console", lambda message: problems.append(message.text) if message.type in ("error", "warning") else None
    )
    page.on("pageerror", lambda error: problems.append(str(error)))

    def note(request: Request) -> None:
        asked.append(urlsplit(request.url).netloc)

    page.on("request", note)
    try:
        await page.goto(url)
        yield page
    finally:
        await where.close()
    if may_fail:
        problems = [problem for problem in problems if not problem.startswith("Failed to load resource")]
    assert not problems
    assert set(asked) == {urlsplit(url).netloc}


def axe_source() -> str:
    """axe-core, from npm, kept in the cache of the work tree."""
    source = CACHE / f"axe-{AXE}" / "node_modules" / "axe-core" / "axe.min.js"
    if not source.exists():
        command = [
            "npm",
            "install",
            "--no-audit",
            "--no-fund",
            "--prefix",
            str(CACHE / f"axe-{AXE}"),
            f"axe-core@{AXE}",
        ]
        subprocess.run(command, check=True, capture_output=True, timeout=300)
    return source.read_text("utf-8")


async def violations(page: Page, axe: str) -> list[str]:
    """What axe finds wrong with the page as it is, best practices included: one line each."""
    await page.evaluate(axe)
    found = await page.evaluate("async () => (await axe.run(document, {resultTypes: ['violations']})).violations")
    return [
        f"{each['id']}: {each['help']}: {json.dumps([node['html'][:160] for node in each['nodes'][:3]])}"
        for each in found
    ]
