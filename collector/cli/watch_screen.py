"""What `spanbar watch` shows: a full screen for a terminal, and a line a result for everything else."""

from collections import deque
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Final

from rich.console import Console, ConsoleOptions, Group, RenderResult
from rich.table import Table
from rich.text import Text

from collector.cli.watch_stream import Event, Seen, View
from collector.export.printable import printable
from collector.export.story import duration

RESULTS: Final = {"p": "pass", "f": "fail", "n": "not_applicable", "u": "unknown", "e": "error"}
SIGNS: Final = {"pass": "✓", "fail": "✗", "not_applicable": "–", "unknown": "?", "error": "!"}
ASCII_SIGNS: Final = {"pass": "P", "fail": "F", "not_applicable": "-", "unknown": "?", "error": "!"}
STYLES: Final = {"pass": "green", "fail": "red", "not_applicable": "dim", "unknown": "yellow", "error": "magenta"}
STATUS: Final = {"passed": "pass", "failed": "fail", "error": "error", "not run": "not_applicable"}
SO_FAR: Final = {
    "pass": "passing",
    "fail": "failing",
    "not_applicable": "n/a so far",
    "unknown": "unknown so far",
    "error": "error so far",
}
WORST_FIRST: Final = ("fail", "error", "unknown", "pass", "not_applicable")
FAILURES_SHOWN: Final = 6
NAMES_SHOWN: Final = 12


def word(result: str, final: bool) -> str:
    shown = "n/a" if result == "not_applicable" else result
    return shown if final else SO_FAR[result]


class Screen:
    """Renders what was seen, as much of it as fits: what runs or failed first."""

    def __init__(self, seen: Seen, url: str, unicode: bool) -> None:
        self._seen = seen
        self._url = url
        self._signs = SIGNS if unicode else ASCII_SIGNS
        self._failures: deque[Text] = deque(maxlen=FAILURES_SHOWN)

    def heard(self, event: Event) -> None:
        """Keep final failures, for the list below the table."""
        if event.name == "result" and event.data["final"] and event.data["result"] == "fail":
            self._failures.appendleft(result_line(event.data))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        height = options.max_height
        failures = list(self._failures)
        room = max(3, height - 6 - (len(failures) + 1 if failures else 0))
        parts: list[Text | Table] = [self._head()]
        if self._seen.run is not None:
            parts += [self._progress(), self._tests(room - 1)]
        else:
            parts += [self._legend(), self._units(room)]
        if failures:
            parts += [Text("\nfinal failures, the newest first", "dim"), *failures]
        yield Group(*parts)

    def _head(self) -> Text:
        live = self._seen.connection == "live"
        text = Text.assemble(("spanbar ", "bold"), (printable(self._url), "dim"), "  ")
        text.append("● live" if live else f"○ {printable(self._seen.connection)}", "green" if live else "bold red")
        text.append("   q quits", "dim")
        text.no_wrap, text.overflow = True, "ellipsis"
        return text

    def _legend(self) -> Text:
        columns = self._columns()
        total = len(self._seen.units)
        text = Text(f"{total} session{'' if total == 1 else 's'}", "dim")
        for result in WORST_FIRST:
            number = sum(unit["verdict"]["result"] == result for unit in self._seen.units.values())
            if number:
                text.append(f"  {self._signs[result]} {number} {word(result, True)}", STYLES[result])
        text.append(f"   {self._signs['pass']} final  ({self._signs['pass']}) provisional", "dim")
        for number, name in enumerate(columns[:NAMES_SHOWN], 1):
            text.append(f"\n{number:>3} ", "bold").append(printable(name, 100))
        if len(columns) > NAMES_SHOWN:
            text.append(f"\n    and {len(columns) - NAMES_SHOWN} more behaviors", "dim")
        return text

    def _columns(self) -> list[str]:
        behaviors = self._seen.head.get("behaviors", {"sessions": []})
        return [column["name"] for column in behaviors["sessions"]]

    def _units(self, room: int) -> Table:
        columns = self._columns()
        table = Table(box=None, padding=(0, 1), header_style="dim", expand=False)
        table.add_column("")
        table.add_column("session", no_wrap=True, overflow="ellipsis", max_width=40)
        table.add_column("items", justify="right")
        table.add_column("state")
        for number in range(1, min(len(columns), NAMES_SHOWN) + 1):
            table.add_column(str(number), justify="center", no_wrap=True)
        sessions = [unit for (kind, _), unit in self._seen.units.items() if kind == "session"]
        sessions.sort(key=lambda unit: (unit["state"] == "closed", -unit["last_ms"]))
        room -= min(len(columns), NAMES_SHOWN) + 1
        for unit in sessions[: max(1, room)]:
            cells = [self._sign(RESULTS[c.lower()], c.isupper()) for c in unit["cells"][:NAMES_SHOWN]]
            verdict = unit["verdict"]
            table.add_row(
                self._sign(verdict["result"], verdict["final"]),
                Text(printable(unit["id"], 200)),
                str(unit["items"]),
                Text(unit["state"], "" if unit["state"] == "open" else "dim"),
                *cells,
            )
        if len(sessions) > room:
            table.add_row("", Text(f"and {len(sessions) - max(1, room)} more", "dim"))
        return table

    def _sign(self, result: str, final: bool) -> Text:
        sign = self._signs[result]
        return Text(f" {sign} ", f"bold {STYLES[result]}") if final else Text(f"({sign})", STYLES[result])

    def _progress(self) -> Text:
        run = self._seen.run or {}
        counts = ", ".join(f"{number} {status}" for status, number in run.get("counts", {}).items())
        return Text(f"run {run.get('status', '')}: {run.get('tests', 0)} tests, {counts}", "dim")

    def _tests(self, room: int) -> Table:
        table = Table(box=None, padding=(0, 1), show_header=False, expand=False)
        for test in _most_telling(self._seen.tests.values())[:room]:
            running = test["status"] == "running"
            result = STATUS.get(test["status"])
            sign = self._sign(result, True) if result is not None else Text(" ▸ " if running else "   ", "cyan")
            doing = test["doing"]["trigger"] if test["doing"] else test["revision"] or test["reason"] or ""
            took = duration(test["duration_ms"]) if test["duration_ms"] is not None else ""
            name = Text.assemble((printable(test["suite"], 60), "dim"), "  ", printable(test["name"], 100))
            table.add_row(sign, name, took, Text(printable(doing, 120), "dim"))
        return table


def _most_telling(tests: Iterable[View]) -> list[View]:
    order = ("running", "failed", "error", "passed", "waiting", "not run")
    return sorted(tests, key=lambda test: order.index(test["status"]))


def result_line(data: View) -> Text:
    """A result on one line: when, what, of which unit, which behavior, why."""
    result = data["result"]
    said = word(result, data["final"]) + (" (revised)" if data["revised"] else "")
    at = datetime.fromtimestamp(data["at_ms"] / 1000).strftime("%H:%M:%S")
    return Text.assemble(
        (at, "dim"),
        "  ",
        (f"{said:<15}", f"{'bold ' if data['final'] else ''}{STYLES[result]}"),
        f" {data['unit']['kind']} {printable(data['unit']['id'], 80)}  ",
        (printable(data["behavior"], 120), "bold"),
        (f"  {printable(data['reason'], 300)}", "dim") if data["reason"] else "",
    )


def plain_lines(event: Event) -> Iterator[str]:
    """What an event says, for logs: results that changed, tests that are decided, notices of the stream."""
    if event.name == "result":
        yield result_line(event.data).plain
    elif event.name == "tests":
        for test in event.data["tests"]:
            if test["status"] in ("passed", "failed", "error"):
                why = test["revision"] or test["reason"]
                took = f" ({duration(test['duration_ms'])})" if test["duration_ms"] is not None else ""
                because = f"  {printable(why, 300)}" if why else ""
                name = f"{printable(test['suite'], 80)} / {printable(test['name'], 200)}"
                yield f"{test['status']:<7} {name}{took}{because}"
    elif event.name == "run" and event.data["status"] in ("finished", "interrupted"):
        counts = ", ".join(f"{number} {status}" for status, number in event.data["counts"].items())
        yield f"run {event.data['status']}: {counts}"
    elif event.name == "gone":
        unit = event.data["unit"]
        yield f"gone    {unit['kind']} {printable(unit['id'], 80)}: {printable(event.data['why'], 200)}"
