"""`spanbar watch`: the live verdicts of a server, in the terminal."""

import asyncio
import contextlib
import os
import sys
from collections.abc import Callable, Iterator

import click
from rich.console import Console
from rich.live import Live

from collector.cli.watch_screen import Screen, plain_lines
from collector.cli.watch_stream import Event, Refused, Seen, Stream

REFRESH = 0.125
"""s between two drawings of the screen."""


@click.command()
@click.argument("url", default="http://127.0.0.1:4318")
@click.option("--token", envvar="SPANBAR_TOKEN", help="The server's bearer token.  [env: SPANBAR_TOKEN]")
@click.option("--plain", is_flag=True, help="A line for each change, as where the output is not a terminal.")
def watch(url: str, token: str | None, plain: bool) -> None:
    """Show the verdicts of the `spanbar serve` or `spanbar run --live` at URL while they form.

    It reconnects when the server comes back, and ends with the run that it watches.
    """
    if not url.startswith(("http://", "https://")):
        raise click.UsageError(f"{url!r} is not a URL such as http://127.0.0.1:4318")
    console = Console(highlight=False)
    full_screen = console.is_terminal and not console.is_dumb_terminal and not plain
    try:
        asyncio.run(_on_screen(url, token, console) if full_screen else _in_lines(url, token))
    except Refused as refused:
        click.echo(f"spanbar watch: {refused}", err=True)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)


async def _in_lines(url: str, token: str | None) -> None:
    def tell(state: str) -> None:
        click.echo(f"{url}: {state}", err=True)

    seen = Seen()
    told: dict[str, str] = {}
    async for event in Stream(url, token, tell).events():
        seen.apply(event)
        for line in plain_lines(_news(event, told)):
            click.echo(line)
        if seen.over and event.name in ("run", "synced"):
            return


def _news(event: Event, told: dict[str, str]) -> Event:
    """The event without the tests whose status was told before: a snapshot repeats them."""
    if event.name != "tests":
        return event
    changed = [test for test in event.data["tests"] if told.get(test["key"]) != test["status"]]
    told.update((test["key"], test["status"]) for test in changed)
    return Event("tests", {"tests": changed})


async def _on_screen(url: str, token: str | None, console: Console) -> None:
    seen = Seen()
    screen = Screen(seen, url, console.encoding.lower().startswith("utf"))

    def note(state: str) -> None:
        seen.connection = state

    async def read() -> None:
        async for event in Stream(url, token, note).events():
            seen.apply(event)
            screen.heard(event)
            if seen.over:
                return

    async def draw(live: Live) -> None:
        while True:
            live.update(screen, refresh=True)
            await asyncio.sleep(REFRESH)

    quitting = asyncio.Event()
    with _keys(quitting.set), Live(screen, console=console, screen=True, auto_refresh=False) as live:
        tasks = [asyncio.create_task(read()), asyncio.create_task(draw(live)), asyncio.create_task(quitting.wait())]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
    console.print(screen)
    for task in done:
        task.result()


@contextlib.contextmanager
def _keys(quit: Callable[[], None]) -> Iterator[None]:
    """Call `quit` when q is pressed. Where there is no Unix terminal, only Ctrl-C ends the watching."""
    if not sys.stdin.isatty() or sys.platform == "win32":
        yield
        return
    import termios
    import tty

    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    loop = asyncio.get_running_loop()

    def pressed() -> None:
        if os.read(descriptor, 64) in (b"q", b"Q", b""):
            quit()

    tty.setcbreak(descriptor)
    loop.add_reader(descriptor, pressed)
    try:
        yield
    finally:
        loop.remove_reader(descriptor)
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
