"""The terminal report of a run: a line a test as soon as it is decided, and what runs now below."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Final

from rich.console import Console, ConsoleOptions, Group, RenderResult
from rich.text import Text

from collector.cli.glyphs import glyphs_of
from collector.cli.report_lines import STYLES, Lines
from collector.export.printable import printable
from collector.export.story import duration
from evaluator.harness.listener import Listener, TestStarted, TurnSent
from evaluator.harness.outcome import Notice, RunOutcome, SpecOutcome, Stop, TestKey, TestOutcome, TurnOutcome
from evaluator.language.spec import Spec
from evaluator.verdict import Result, Severity, Status

if TYPE_CHECKING:
    from rich.live import Live

RUNNING_SHOWN: Final = 8
"""How many of the tests that run at once are shown."""

FRAME: Final = 0.08
"""s that each frame of the spinner is shown."""

RECAP_FROM: Final = 12
"""In a run of this many tests, the ones that did not pass are named again at the end."""


class TerminalReport(Listener):
    """Prints the report. On a terminal the tests that run now are shown too; elsewhere only finished lines."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(highlight=False)
        self._lines = Lines(self._console)
        self._running = _Running(self._console)
        self._live: Live | None = None
        self._heading: tuple[Path, str] | None = None
        self._revised: list[tuple[TestOutcome, TestOutcome]] = []
        self._told: dict[TestKey, set[tuple[str, str]]] = {}
        """The reasons that were printed for each test: code and text."""
        self._stops_told: set[tuple[Path, Stop]] = set()

    def run_started(self, specs: Sequence[Spec]) -> None:
        if self._console.is_terminal and not self._console.is_dumb_terminal:
            # Only a terminal needs it.
            from rich.live import Live

            # Nothing else may be moved into the live area: an agent's output goes to its own log.
            self._live = Live(
                self._running,
                console=self._console,
                refresh_per_second=8,
                transient=True,
                redirect_stdout=False,
                redirect_stderr=False,
            )
            self._live.start()

    def spec_started(self, spec: Spec) -> None:
        self._print(self._lines.text(f"\n{_short(spec.path)}", "bold underline"))

    def agent_ready(self, spec: Spec, how: str, after_ms: float) -> None:
        self._print(self._lines.text(f"  agent {printable(how)} ({duration(after_ms)})", "dim"))

    def test_started(self, test: TestStarted) -> None:
        self._running.start(test)

    def turn_sent(self, turn: TurnSent) -> None:
        self._running.sent(turn)

    def turn_decided(self, turn: TurnSent, outcome: TurnOutcome) -> None:
        self._running.decided(turn)

    def test_finished(self, outcome: TestOutcome) -> None:
        self._running.finish(outcome.key)
        self._tell(outcome)

    def test_revised(self, before: TestOutcome, after: TestOutcome, why: str) -> None:
        self._revised.append((before, after))
        self._head(after)
        self._print(self._revision(before, after), self._lines.text(f"      late: {printable(why)}", "yellow"))
        if after.status is not Status.PASSED:
            self._tell(after)

    def warning(self, notice: Notice) -> None:
        line = self._lines.text("  warning  ", "bold yellow")
        line.append_text(self._lines.text(printable(notice.text), "yellow"))
        self._print(line)

    def spec_finished(self, outcome: SpecOutcome) -> None:
        if outcome.stop is None or (outcome.path, outcome.stop) in self._stops_told:
            return
        self._stops_told.add((outcome.path, outcome.stop))
        first, *rest = outcome.stop.text.splitlines() or [outcome.stop.code]
        line = self._lines.text("  stopped  ", "bold red")
        line.append_text(self._lines.text(f"{_short(outcome.path)}: {printable(first)}", "red"))
        self._print(line, *(self._lines.text(f"           {printable(more)}", "dim") for more in rest))

    def run_finished(self, outcome: RunOutcome) -> None:
        self.close()
        for spec in outcome.specs:
            # One that never began, or that an interruption ended, has not been told of.
            self.spec_finished(spec)
        self._print(*self._later(outcome))
        if outcome.behaviors:
            from collector.cli.behavior_report import report as report_behaviors

            self._print(self._lines.text("\nBehaviors", "bold"))
            report_behaviors(self._console, outcome.behaviors)
        self._print(Text(), *self._recap(outcome), *self._advice(outcome), self._summary(outcome))

    def live_at(self, url: str) -> None:
        self._print(self._lines.text(f"live at {url}/", "dim"))

    def wrote(self, path: Path) -> None:
        """A file was written, whose folder may be new: a misspelled one shows here."""
        if path != Path("-"):
            self._print(self._lines.text(f"wrote {_short(path)}", "dim"))

    def close(self) -> None:
        """Give the terminal back; also for a run that ends in an exception."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _tell(self, outcome: TestOutcome) -> None:
        self._told[outcome.key] = {(reason.code, reason.text) for reason in outcome.reasons}
        self._head(outcome)
        self._print(*self._lines.test(outcome))

    def _later(self, outcome: RunOutcome) -> Iterator[Text]:
        """What telemetry has added to a test since it was printed."""
        for test in outcome.tests:
            told = self._told.get(test.key)
            if told is None:
                continue
            for reason in test.reasons:
                if (reason.code, reason.text) not in told:
                    line = self._lines.text("  later  ", "bold red")
                    line.append_text(self._lines.text(f"{printable(test.name, 100)}: ", "bold"))
                    line.append_text(self._lines.text(f"{reason.code} {printable(reason.text)}", "red"))
                    yield line

    def _head(self, test: TestOutcome) -> None:
        """The suite's name above its tests; again where tests of several suites finish in turn."""
        heading = (test.spec, test.suite)
        if heading != self._heading:
            self._heading = heading
            self._print(self._lines.text(f"\n  {printable(test.suite, 200)}", "bold"))

    def _revision(self, before: TestOutcome, after: TestOutcome) -> Text:
        worse = before.status is Status.PASSED
        line = Text("  ")
        line.append_text(self._lines.text(" REVISED ", "bold white on red" if worse else "bold black on yellow"))
        line.append_text(
            self._lines.text(f" {printable(after.name, 200)}: {before.status}, now {after.status}", "bold")
        )
        return line

    def _recap(self, outcome: RunOutcome) -> Iterator[Text]:
        red = [test for test in outcome.tests if test.status is not Status.PASSED]
        if red and len(outcome.tests) >= RECAP_FROM:
            yield self._lines.text("Not passed:", "bold")
            for test in red:
                line = Text("  ")
                line.append_text(self._lines.sign(test.status))
                line.append_text(self._lines.text(f" {printable(test.suite, 60)}: {printable(test.name, 100)}"))
                yield line
            yield Text()
        for before, after in self._revised:
            yield self._revision(before, after)

    def _advice(self, outcome: RunOutcome) -> Iterator[Text]:
        """What shows more of an agent of which nothing is seen."""
        for spec in outcome.specs:
            if any(reason.code == "not_observed" for test in spec.tests for reason in test.reasons):
                yield self._lines.text(f"Look closer with: spanbar doctor {_short(spec.path)}", "bold")

    def _summary(self, outcome: RunOutcome) -> Text:
        counts = [(outcome.count(status), status) for status in (Status.PASSED, Status.FAILED, Status.ERROR)]
        line = Text()
        for count, status in counts:
            if not count and status is not Status.PASSED:
                continue
            word = (
                "error" if status is Status.ERROR and count == 1 else "errors" if status is Status.ERROR else status
            )
            line.append(", " if line else "").append(f"{count} {word}", STYLES[status] if count else "")
        for count, what, style in _unverified(outcome):
            line.append(f", {_plural(count, 'behavior')} {what}", style)
        line.append(f" in {duration((outcome.ended - outcome.started) / 1e6)}", "dim")
        notes = [
            *([_plural(len(outcome.stops), "spec") + " did not run to the end"] if outcome.stops else []),
            *([_plural(len(self._revised), "verdict") + " revised"] if self._revised else []),
            *([_plural(len(outcome.warnings), "warning")] if outcome.warnings else []),
            *(["interrupted"] if outcome.interrupted else []),
            *([f"{len(outcome.not_run)} not run"] if outcome.not_run else []),
        ]
        return line.append(f" ({'; '.join(notes)})" if notes else "", "yellow")

    def _print(self, *lines: Text) -> None:
        for line in lines:
            # Soft wrapping leaves long lines whole, so that they can be searched and copied.
            self._console.print(line, soft_wrap=True)


def _unverified(outcome: RunOutcome) -> Iterator[tuple[int, str, str]]:
    """How many results of behaviors are no pass, by what they are; those that only warn come last."""
    words = {Result.FAIL: "failed", Result.UNKNOWN: "unknown", Result.ERROR: "in error"}
    found = [result for unit in outcome.behaviors for result in unit.results if result.verdict.result in words]
    counting = [result.verdict.result for result in found if result.severity is Severity.ERROR]
    for result, word in words.items():
        if count := counting.count(result):
            yield count, word, STYLES[Status.FAILED]
    if warning := len(found) - len(counting):
        yield warning, "warned", "yellow"


@dataclass(slots=True)
class _Test:
    name: str
    since: float
    doing: str = ""


class _Running:
    """The tests that run now, as the live area of a terminal shows them."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._tests: dict[TestKey, _Test] = {}
        self._done = 0
        self._spinner = glyphs_of(console).spinner

    def start(self, test: TestStarted) -> None:
        self._tests[test.key] = _Test(printable(test.name, 60), monotonic())

    def sent(self, turn: TurnSent) -> None:
        test = self._tests.get(turn.key)
        if test is not None:
            run = f"run {turn.run}, " if turn.run > 1 else ""
            test.doing = f"{run}turn {turn.index + 1}" if turn.index else run.rstrip(", ")

    def decided(self, turn: TurnSent) -> None:
        test = self._tests.get(turn.key)
        if test is not None:
            test.doing = "decided"

    def finish(self, key: TestKey) -> None:
        self._done += self._tests.pop(key, None) is not None

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        # Called by the thread that refreshes the screen: look at the tests once.
        tests = tuple(self._tests.values())
        if not tests:
            return
        lines = [
            Text("  ").append_text(self._frame()).append_text(self._line(test)) for test in tests[:RUNNING_SHOWN]
        ]
        if len(tests) > RUNNING_SHOWN:
            lines.append(Text(f"    and {len(tests) - RUNNING_SHOWN} more", "dim"))
        yield Group(*lines, Text(f"  {self._done} done", "dim"))

    def _frame(self) -> Text:
        return Text(self._spinner[int(monotonic() / FRAME) % len(self._spinner)], "cyan")

    @staticmethod
    def _line(test: _Test) -> Text:
        line = Text(f" {test.name}  {duration((monotonic() - test.since) * 1000)}", no_wrap=True, overflow="ellipsis")
        return line.append(f"  {test.doing}" if test.doing else "", "dim")


def _short(path: Path) -> str:
    """A path as people know it: from the current directory if it lies below."""
    return printable(os.path.relpath(path) if path.is_absolute() and path.is_relative_to(Path.cwd()) else str(path))


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
