"""The lines of the terminal report: a test, its reasons, its timeline."""

from collections.abc import Iterator
from typing import Final

from rich.console import Console
from rich.text import Text

from collector.cli.glyphs import glyphs_of, writable
from collector.export.printable import printable
from collector.export.story import (
    Row,
    decided,
    deciding_turn,
    duration,
    execution_title,
    no_calls,
    score,
    span_of,
    timeline,
    trace,
    unhappy,
)
from evaluator.expectations.reason import Reason
from evaluator.harness.outcome import ClosedBy, ExecutionOutcome, TestOutcome, TurnOutcome
from evaluator.verdict import Status

STYLES: Final = {Status.PASSED: "green", Status.FAILED: "bold red", Status.ERROR: "bold yellow"}
NAME_COLUMN: Final = 44
BAR: Final = 24
EXECUTIONS_SHOWN: Final = 3


class Lines:
    """Makes the lines for one console. All of them are `Text`: nothing in a value is taken for markup."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._glyphs = glyphs_of(console)
        self._fixes: set[str] = set()
        """Those that were told."""

    def test(self, test: TestOutcome) -> Iterator[Text]:
        """One line for the test and, unless it passed, why and what was called."""
        yield self.headline(test)
        for reason in test.reasons:
            yield from self.reason(reason)
        if test.status is Status.PASSED:
            return
        shown = unhappy(test)[:EXECUTIONS_SHOWN]
        for execution in shown:
            if len(test.executions) > 1:
                yield self.text(f"      {execution_title(execution)}", "dim")
            for turn in execution.turns:
                yield from self._turn(turn, numbered=len(execution.turns) > 1, told=len(test.executions) == 1)
        left_out = len(unhappy(test)) - len(shown)
        if left_out:
            yield self.text(f"      and {left_out} more runs that did not pass", "dim")

    def headline(self, test: TestOutcome) -> Text:
        line = Text("  ")
        line.append_text(self.sign(test.status))
        name = printable(test.name, self._name_width())
        line.append(
            f" {writable(name, self._console):<{NAME_COLUMN}}", "" if test.status is Status.PASSED else "bold"
        )
        line.append(f" {duration(test.duration_ms):>8}", "cyan")
        for note in filter(None, (score(test), _early(test))):
            line.append(f"  {writable(note, self._console)}", "dim")
        return line

    def sign(self, status: Status) -> Text:
        sign = {Status.PASSED: self._glyphs.passed, Status.FAILED: self._glyphs.failed}.get(
            status, self._glyphs.error
        )
        return Text(sign, STYLES[status])

    def reason(self, reason: Reason) -> Iterator[Text]:
        style = "yellow" if reason.error else "red"
        line = self.text(f"      {reason.code}", style)
        line.append_text(self.text(f"  {printable(reason.text)}"))
        if reason.place is not None and reason.place.line is not None:
            line.append(f"  (line {reason.place.line})", "dim")
        yield line
        if not reason.certain:
            yield self.text("          as far as it was seen: the turn ended before more calls could come", "dim")
        if reason.nearest is not None and len(reason.nearest.differences) > 1:
            width = min(32, max(len(part.path) for part in reason.nearest.differences))
            for part in reason.nearest.differences:
                line = self.text(f"          {printable(part.path):<{width}}  ", "dim")
                line.append_text(self.text(printable(part.found), "red"))
                line.append_text(self.text(f"  expected {printable(part.expected)}"))
                yield line
        if reason.fix in self._fixes:
            yield self.text("          fix: as above", "dim")
        elif reason.fix:
            self._fixes.add(reason.fix)
            yield self.text(f"          fix: {printable(reason.fix)}", "bold")

    def text(self, text: str, style: str = "") -> Text:
        return Text(writable(text, self._console), style)

    def _turn(self, turn: TurnOutcome, *, numbered: bool, told: bool) -> Iterator[Text]:
        """`told`: when it was decided stands in the headline already."""
        if numbered:
            yield self.text(f"      turn {turn.index + 1}  {printable(turn.trigger, 60)}", "dim")
        rows, more = timeline(turn)
        start, end = span_of(rows)
        width = max((len(row.name) for row in rows), default=0)
        for row in rows:
            yield self._call(row, start, end, min(width, 30))
        if more:
            yield self.text(f"      {'':<{BAR}}  and {more} more calls", "dim")
        if turn.status is not Status.PASSED:
            sent = turn.decision.by is not ClosedBy.NOT_SENT
            facts = [
                "" if rows else no_calls(turn),
                "" if turn.reply is None else f"reply after {duration(turn.reply_ms or 0)}",
                "" if told and sent else decided(turn.decision),
                trace(turn),
            ]
            yield self.text(f"      {'; '.join(filter(None, facts))}", "dim")

    def _call(self, row: Row, start: float, end: float, width: int) -> Text:
        per_cell = (end - start) / BAR
        first = max(0, min(BAR - 1, int((row.start - start) / per_cell)))
        last = min(BAR, max(first + 1, round((row.end - start) / per_cell)))
        sign = self._glyphs.bar if row.end > row.start else self._glyphs.instant
        line = Text("      ")
        line.append(f"{' ' * first}{sign * (last - first)}".ljust(BAR), "red" if row.failed else "blue")
        line.append(f"  {row.when:>9}  ", "dim")
        line.append_text(self.text(f"{row.name:<{width}}", "bold"))
        line.append_text(self.text(f" {row.args}"))
        if row.outcome:
            line.append_text(self.text(f"  {row.outcome}", "red"))
        return line

    def _name_width(self) -> int:
        return max(NAME_COLUMN, self._console.width - 60) if self._console.is_terminal else 200


def _early(test: TestOutcome) -> str:
    """When the verdict was known, where that is worth a word: of a single execution, or of one ended early."""
    executions: tuple[ExecutionOutcome, ...] = test.executions
    if len(executions) != 1:
        early = sum(execution.ended_early for execution in executions)
        return f"{early} ended early" if early else ""
    turn = deciding_turn(executions[0])
    if turn is None or turn.decision.by is ClosedBy.NOT_SENT:
        return ""
    return decided(turn.decision)
