"""Behaviors by unit, for people: a table, then each that does not pass with its reason and its evidence."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from collector.export.printable import printable
from evaluator.harness.outcome import UnitBehaviors
from evaluator.items import Item, ItemKind
from evaluator.verdict import BehaviorResult, Result, Severity

COLUMN: Final = 20
"""Characters that a unit's column takes; where not all units fit beside the names, results are counted instead."""

NAME: Final = 20
"""Characters that a name needs beside results that are written out; with less, these are signs with a legend."""

COUNT: Final = 5
"""Digits of a count."""

PADDING: Final = 4
"""Characters around a column."""

SHOWN: Final = 40
"""How many results that do not pass are told in full."""

EVIDENCE: Final = 5
"""How many items of evidence are listed for one result."""

WIDTH: Final = 100
"""How many characters of an item's input are shown."""

STYLES: Final = {
    Result.PASS: ("✓", "green"),
    Result.FAIL: ("✗", "bold red"),
    Result.NOT_APPLICABLE: ("·", "dim"),
    Result.UNKNOWN: ("?", "yellow"),
    Result.ERROR: ("!", "bold yellow"),
}


def report(console: Console, units: Sequence[UnitBehaviors]) -> None:
    """Print the table of behaviors by unit and what is to say of those that do not pass."""
    if not units:
        return
    longest = max((len(name) for name in _names(units)), default=0)
    fits = min(longest, console.width - COLUMN) + len(units) * COLUMN <= console.width
    console.print(_matrix(units) if fits else _counts(units, longest, console.width))
    told = [(unit, result) for unit in units for result in unit.results if not _fine(result)]
    for unit, result in told[:SHOWN]:
        console.print()
        for line in _story(unit, result):
            console.print(line, soft_wrap=True)
    if len(told) > SHOWN:
        console.print(f"\n[dim]and {len(told) - SHOWN} more that do not pass: --json FILE has them all[/dim]")


def label(result: Result) -> Text:
    sign, style = STYLES[result]
    return Text(f"{sign} {result.value.replace('_', ' ')}", style=style)


def describe(item: Item) -> str:
    """An item in one line: what it is, where in the order, and of a tool call what it was given."""
    parts = [_title(item)]
    if item.session is not None:
        parts.append(f"session {item.session}")
    if item.seq is not None:
        parts.append(f"seq {item.seq}")
    if item.turn is not None:
        parts.append(f"turn {item.turn}")
    if item.known_path is not None:
        parts.append(item.known_path)
    if item.status is not None:
        parts.append(item.status)
    if item.input is not None:
        parts.append(repr(item.input if len(item.input) <= WIDTH else item.input[:WIDTH] + "…"))
    return ", ".join(parts)


def _title(item: Item) -> str:
    if item.kind is ItemKind.TOOL:
        return f"call of {item.name}" + (f" ({', '.join(item.known_ops)})" if item.known_ops else "")
    if item.kind is ItemKind.APPROVAL:
        return "approval" + (f" of {', '.join(item.known_ops)}" if item.known_ops else "")
    return f"event {item.name}"


def _fine(result: BehaviorResult) -> bool:
    return result.verdict.result in (Result.PASS, Result.NOT_APPLICABLE) and not result.revised


def _matrix(units: Sequence[UnitBehaviors]) -> Table:
    table = Table("behavior", box=None, padding=(0, 2), header_style="dim")
    for unit in units:
        table.add_column(Text(f"{unit.kind} {_short(unit.id)}", overflow="fold"))
    for name in _names(units):
        cells = (_find(unit, name) for unit in units)
        table.add_row(Text(name), *(label(cell.verdict.result) if cell else Text("") for cell in cells))
    return table


def _counts(units: Sequence[UnitBehaviors], longest: int, width: int) -> Table:
    """How many units have each result, of those that any has. Names are whole where there is room for the longest."""
    named = {
        name: Counter(cell.verdict.result for unit in units if (cell := _find(unit, name))) for name in _names(units)
    }
    shown = [result for result in Result if any(counted[result] for counted in named.values())]
    heads = [label(result) for result in shown]
    table = Table(box=None, padding=(0, 2), header_style="dim", title_justify="left", title_style="dim")
    table.title = Text(f"{len(units)} units")
    room = width - sum(len(head) + PADDING for head in heads) - PADDING
    if room < min(longest, NAME):
        table.title.append(": ").append(Text(", ").join(heads))
        heads = [Text(*STYLES[result]) for result in shown]
        room = width - len(heads) * (COUNT + PADDING) - PADDING
    table.add_column("behavior", min_width=min(longest, room))
    for head in heads:
        table.add_column(head, justify="right", no_wrap=True)
    for name, counted in named.items():
        table.add_row(Text(name), *(str(counted[result]) if counted[result] else "" for result in shown))
    return table


def _story(unit: UnitBehaviors, result: BehaviorResult) -> Iterable[str]:
    sign, style = STYLES[result.verdict.result]
    warn = " [dim](warn)[/dim]" if result.severity is Severity.WARN else ""
    revised = " [bold yellow]revised[/bold yellow]" if result.revised else ""
    yield (
        f"[{style}]{sign} {result.verdict.result}[/{style}] [bold]{escape(result.behavior)}[/bold]{warn}{revised}"
        f" [dim]in {unit.kind} {escape(printable(unit.id))}[/dim]"
    )
    yield f"  {escape(printable(result.verdict.reason))}"
    evidence = result.verdict.evidence
    for item in evidence[:EVIDENCE]:
        yield f"  [dim]·[/dim] {escape(printable(describe(item)))}"
    if len(evidence) > EVIDENCE:
        yield f"  [dim]· and {len(evidence) - EVIDENCE} more[/dim]"


def _names(units: Sequence[UnitBehaviors]) -> list[str]:
    return list(dict.fromkeys(result.behavior for unit in units for result in unit.results))


def _find(unit: UnitBehaviors, name: str) -> BehaviorResult | None:
    return next((result for result in unit.results if result.behavior == name), None)


def _short(id: str) -> str:
    return printable(id if len(id) <= 12 else id[:8] + "…")
