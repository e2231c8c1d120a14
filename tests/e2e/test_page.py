"""The live page in a real Chromium."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Locator, Page, expect

from collector.index import UnitKey, UnitKind
from evaluator.items import Change
from tests.collector.live.runs import play
from tests.collector.live.samples import Served, add, event, served, shell
from tests.e2e.browser import CHROMIUM, PATIENCE_MS, axe_source, chromium, opened, violations

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed (scripts/tools installs it)"),
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.xdist_group("browser"),
]

PHONE = {"viewport": {"width": 390, "height": 844}}
HOSTILE = "<img src=x onerror=document.title='owned'>\u202e\x1b[31m"

expect.set_options(timeout=PATIENCE_MS)


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with chromium() as found:
        yield found


@pytest.fixture(scope="session")
def axe() -> str:
    return axe_source()


def row(page: Page, text: str) -> Locator:
    return page.locator(".grid .body .row:visible", has_text=text)


def cell(page: Page, session: str, behavior: int) -> Locator:
    return row(page, session).locator(f'.cell[data-column="{behavior}"]')


async def test_states_change_while_items_arrive(browser: Browser) -> None:
    async with served() as room, opened(browser, room.receiver.http_url) as page:
        await expect(page.get_by_text("No session yet")).to_be_visible()
        await expect(page.locator("#connection-text")).to_have_text("Live")
        add(room.index, shell("ls"))
        await expect(cell(page, "s", 0)).to_have_attribute("aria-label", "no force push: passing, provisional")
        await expect(cell(page, "s", 1)).to_have_attribute("aria-label", "tests run: failing, provisional")
        add(room.index, event("test.run"))
        await expect(cell(page, "s", 1)).to_have_attribute("aria-label", "tests run: pass, final")
        add(room.index, shell("git push --force"))
        await expect(cell(page, "s", 0)).to_have_attribute("aria-label", "no force push: fail, final")
        await expect(page).to_have_title("(1 failing) spanbar")
        await expect(page.get_by_role("status")).to_contain_text("no force push: fail, in session s")
        room.index.close(UnitKey(UnitKind.SESSION, "s"))
        await expect(cell(page, "s", 2)).to_have_attribute("aria-label", "tests before push: pass, final")
        add(room.index, shell("git push", seq=-1))
        await expect(row(page, "s")).to_contain_text("reopened")


async def test_provisional_and_final_differ_in_word_and_shape_not_only_in_colour(browser: Browser) -> None:
    async with served() as room:
        add(room.index, event("test.run"))
        async with opened(browser, room.receiver.http_url) as page:
            provisional, final = cell(page, "s", 0), cell(page, "s", 1)
            await expect(provisional.locator(".word")).to_have_text("passing")
            await expect(final.locator(".word")).to_have_text("pass")
            assert await _border(provisional) == "dashed"
            assert await _border(final) == "solid"


async def test_it_reconnects_after_a_restart_and_shows_what_is_there_then(browser: Browser) -> None:
    async with served() as room:
        add(room.index, shell("ls", "before"))
        port = room.receiver.http_port
        opening = opened(browser, room.receiver.http_url, may_fail=True)
        page = await opening.__aenter__()
        await expect(row(page, "before")).to_be_visible()
    await expect(page.get_by_role("alert")).to_contain_text("Connection lost")
    await expect(row(page, "before")).to_be_visible()
    async with served(port=port) as again:
        add(again.index, shell("ls", "after"))
        await expect(page.locator("#connection-text")).to_have_text("Live")
        await expect(row(page, "after")).to_be_visible()
        await expect(row(page, "before")).to_have_count(0)
        await expect(page.locator("#banner")).to_be_hidden()
        await opening.__aexit__(None, None, None)


async def test_it_asks_for_the_token_and_keeps_it_over_a_restart(browser: Browser) -> None:
    async with served(token="sesame") as room:
        add(room.index, shell("ls"))
        port = room.receiver.http_port
        opening = opened(browser, room.receiver.http_url, may_fail=True)
        page = await opening.__aenter__()
        await page.get_by_role("textbox", name="Token").fill("guess")
        await page.get_by_role("button", name="Open").click()
        await expect(page.get_by_text("this is not the server's token")).to_be_visible()
        await page.get_by_role("textbox", name="Token").fill("sesame")
        await page.get_by_role("button", name="Open").click()
        await expect(row(page, "s")).to_be_visible()
    async with served(token="sesame", port=port) as again:
        add(again.index, shell("ls", "again"))
        await expect(row(page, "again")).to_be_visible()
        await opening.__aexit__(None, None, None)


async def test_a_token_in_the_address_opens_the_page_and_is_not_kept_there(browser: Browser) -> None:
    async with served(token="sesame") as room:
        add(room.index, shell("ls"))
        async with opened(browser, f"{room.receiver.http_url}/?token=sesame") as page:
            await expect(row(page, "s")).to_be_visible()
            assert "sesame" not in page.url


async def test_the_board_is_filtered_searched_and_sorted(browser: Browser) -> None:
    async with served() as room:
        add(room.index, shell("ls", "calm"), event("test.run", "calm"), shell("git push --force", "forced"))
        async with opened(browser, room.receiver.http_url) as page:
            await expect(page.locator(".body .row:visible")).to_have_count(2)
            await page.locator('[data-filter="fail"]').click()
            await expect(page.locator(".body .row:visible")).to_have_count(1)
            await expect(row(page, "forced")).to_be_visible()
            await page.locator('[data-filter="all"]').click()
            await page.keyboard.press("/")
            await page.keyboard.type("cal")
            await expect(row(page, "calm")).to_be_visible()
            await expect(row(page, "forced")).to_have_count(0)
            await page.keyboard.press("Escape")
            await page.get_by_label("Order").select_option("worst")
            await expect(page.locator(".body .row:visible").first).to_contain_text("forced")


async def test_a_session_shows_its_timeline_in_order_with_the_evidence_marked(browser: Browser) -> None:
    async with served() as room:
        add(room.index, shell("git push --force", seq=3), event("test.run", seq=2), shell("ls", seq=1))
        async with opened(browser, room.receiver.http_url) as page:
            await cell(page, "s", 0).click()
            lines = page.locator(".timeline .body .row:visible")
            await expect(lines).to_have_count(3)
            await expect(lines.locator(".seq")).to_have_text(["1", "2", "3"])
            await expect(lines.nth(2)).to_have_class("row evidence active")
            await expect(lines.nth(2).locator(".mark")).to_have_attribute(
                "aria-label", "evidence of no force push, fail, final"
            )
            await expect(page.locator(".result[aria-pressed=true]")).to_contain_text("matched once")
            await page.get_by_label("only evidence").check()
            await expect(lines).to_have_count(1)
            await page.get_by_label("only evidence").uncheck()
            await page.get_by_label("Find in the timeline").fill("test.")
            await expect(lines.locator(".name")).to_have_text(["test.run"])
            await page.get_by_label("Find in the timeline").fill("")
            await page.get_by_label("Kind of item").select_option("event")
            await expect(lines.locator(".name")).to_have_text(["test.run"])


async def test_a_timeline_grows_while_items_arrive(browser: Browser) -> None:
    async with served() as room:
        add(room.index, shell("ls", seq=1))
        async with opened(browser, f"{room.receiver.http_url}/#/sessions/s") as page:
            lines = page.locator(".timeline .body .row:visible")
            await expect(lines).to_have_count(1)
            add(room.index, shell("git push --force", seq=2), shell("ls", seq=0))
            await expect(lines.locator(".seq")).to_have_text(["0", "1", "2"])
            await expect(page.locator(".overall")).to_have_text("fail")
            await page.get_by_role("button", name="End session").click()
            await expect(page.locator(".title .facts-line")).to_contain_text("closed")


async def test_the_keyboard_is_enough(browser: Browser) -> None:
    async with served() as room:
        add(room.index, shell("ls", "one"), shell("git push --force", "two", seq=1), shell("ls", "two", seq=2))
        async with opened(browser, room.receiver.http_url) as page:
            await expect(row(page, "two")).to_be_visible()
            await page.keyboard.press("ArrowDown")
            await expect(row(page, "two")).to_have_attribute("aria-selected", "true")
            await page.keyboard.press("j")
            await expect(row(page, "one")).to_have_attribute("aria-selected", "true")
            await page.keyboard.press("Home")
            await page.keyboard.press("Enter")
            await expect(page.locator(".session h1")).to_have_text("two")
            await page.get_by_role("button", name="no force push").focus()
            await page.keyboard.press("Enter")
            await page.keyboard.press("n")
            await page.get_by_role("grid").focus()
            await page.keyboard.press("Enter")
            await expect(page.locator(".panel")).to_contain_text("git push --force")
            await page.keyboard.press("Escape")
            await expect(page.locator(".panel")).to_have_count(0)
            await page.keyboard.press("Escape")
            await page.keyboard.press("Escape")
            await expect(row(page, "two")).to_have_attribute("aria-selected", "true")
            await page.keyboard.press("?")
            await expect(page.get_by_role("dialog")).to_be_visible()


async def test_hostile_text_is_shown_and_does_nothing(browser: Browser) -> None:
    async with served() as room:
        attributes = {HOSTILE: HOSTILE, "huge": "x" * 3_000_000}
        add(room.index, shell(HOSTILE + "y" * 100_000, HOSTILE, attributes=attributes), event(HOSTILE, HOSTILE))
        async with opened(browser, room.receiver.http_url) as page:
            shown = row(page, "<img src=x onerror")
            await expect(shown).to_contain_text("[U+202E]␛[31m")
            await shown.click()
            line = page.locator(".timeline .body .row:visible").first
            await line.click()
            await expect(page.locator(".panel")).to_contain_text("… (shortened)")
            await expect(page.locator("img[src=x]")).to_have_count(0)
            assert "\u202e" not in await page.locator("body").inner_text()
            assert "owned" not in await page.title()


async def test_thousands_of_sessions_are_a_few_elements(browser: Browser) -> None:
    async with served() as room:
        add(room.index, *(shell("ls", f"session {number:04d}") for number in range(2_000)))
        async with opened(browser, room.receiver.http_url) as page:
            await expect(page.locator('[data-filter="all"] .number')).to_have_text("2,000")
            await expect(row(page, "session 1999")).to_be_visible()
            assert await page.locator(".body .row").count() < 80
            await page.keyboard.press("End")
            await expect(row(page, "session 0000")).to_be_visible()
            await expect(page.get_by_role("grid")).to_have_attribute("aria-rowcount", "2001")
            assert await page.locator(".body .row").count() < 80
            add(room.index, shell("git push --force", "session 0000"))
            await expect(cell(page, "session 0000", 0)).to_have_attribute("aria-label", "no force push: fail, final")


async def test_a_timeline_of_50_000_items_is_a_few_elements_and_requests(browser: Browser) -> None:
    async with served() as room:
        room.index.apply(Change(None, shell(f"echo {seq}", seq=seq)) for seq in range(50_000))
        async with opened(browser, f"{room.receiver.http_url}/#/sessions/s") as page:
            windows: list[str] = []
            page.on("request", lambda request: windows.append(request.url) if "/items?" in request.url else None)
            await expect(page.locator(".size")).to_have_text("50,000 items")
            await page.get_by_role("grid").focus()
            await page.keyboard.press("End")
            await expect(row(page, "echo 49999")).to_be_visible()
            await page.get_by_role("grid").evaluate("grid => { grid.scrollTop = grid.scrollHeight / 2 }")
            await expect(row(page, "echo 25000")).to_be_visible()
            assert await page.locator(".body .row").count() < 100
            assert len(windows) < 20
            await page.get_by_label("Find in the timeline").fill("echo 4999")
            await expect(page.locator(".size")).to_have_text("11 matches")


async def test_a_run_is_shown_as_it_goes_on(browser: Browser) -> None:
    async with served(run=True) as room, opened(browser, room.receiver.http_url) as page:
        assert room.live.run is not None
        play(room.live.run)
        await page.goto(f"{room.receiver.http_url}/#/run")
        await expect(row(page, "refund my order").locator(".verdict").first).to_have_attribute("aria-label", "failed")
        await expect(row(page, "stays polite").locator(".verdict")).to_have_attribute("aria-label", "running")
        await row(page, "refund my order").first.click()
        detail = page.get_by_role("region", name="The chosen test")
        await expect(detail).to_contain_text("refund was not called")
        await expect(detail.locator(".calls")).to_contain_text("lookup")
        play(room.live.run, to_the_end=True)
        await expect(row(page, "never run").locator(".verdict")).to_have_attribute("aria-label", "not run")
        await expect(page.locator(".facts-line").first).to_contain_text("finished")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [{}, PHONE], ids=["desk", "phone"])
async def test_axe_finds_nothing(browser: Browser, axe: str, scheme: str, size: dict[str, Any]) -> None:
    async with served(run=True) as room:
        await _one_of_everything(room)
        base = room.receiver.http_url
        async with opened(browser, f"{base}/#/sessions", color_scheme=scheme, **size) as page:
            await expect(row(page, "forced")).to_be_visible()
            found = {"board": await violations(page, axe)}
            await page.keyboard.press("?")
            found["keys"] = await violations(page, axe)
            await page.keyboard.press("Escape")
            await page.goto(f"{base}/#/sessions/forced/no%20force%20push")
            await expect(page.locator(".timeline .evidence")).to_have_count(2)
            found["session"] = await violations(page, axe)
            await page.locator(".timeline .evidence").first.click()
            await expect(page.locator(".panel")).to_contain_text("Arguments")
            found["item"] = await violations(page, axe)
            await page.goto(f"{base}/#/run/0.0.0")
            await expect(page.locator(".detail")).to_contain_text("refund was not called")
            found["run"] = await violations(page, axe)
            assert found == {where: [] for where in found}


@pytest.mark.parametrize("address", ["#/sessions", "#/sessions/forced", "#/run/0.0.0"])
async def test_nothing_is_wider_than_a_phone(browser: Browser, address: str) -> None:
    async with served(run=True) as room:
        await _one_of_everything(room)
        async with opened(browser, f"{room.receiver.http_url}/{address}", **PHONE) as page:
            await expect(page.locator(".body .row:visible").first).to_be_visible()
            wide = await page.evaluate(
                "() => [...document.querySelectorAll('main *')]"
                ".filter(e => e.checkVisibility() && e.getBoundingClientRect().right > innerWidth + 1"
                " && !e.closest('.unseen, .chips') && getComputedStyle(e).position !== 'absolute')"
                ".map(e => e.outerHTML.slice(0, 120))"
            )
            assert wide == []


async def _one_of_everything(room: Served) -> None:
    add(room.index, shell("git push --force", "forced", seq=1, turn=0), event("test.run", "forced", seq=2, turn=1))
    add(room.index, event("test.run", "calm"), shell("git push", "calm"), shell("ls", "open", job="a job"))
    room.index.close(UnitKey(UnitKind.SESSION, "calm"))
    assert room.live.run is not None
    play(room.live.run)


async def _border(within: Locator) -> Any:
    return await within.locator(".tile").evaluate("tile => getComputedStyle(tile).borderTopStyle")
