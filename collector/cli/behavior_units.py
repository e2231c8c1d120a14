"""Behaviors on the command line: files of them, and what the index says of them at the end."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from collector.cli.endings import NothingRan
from collector.index import Index, Unit
from evaluator.harness.outcome import TestKey, UnitBehaviors
from evaluator.items import Item
from evaluator.language.problem import SpecProblems
from evaluator.verdict import BehaviorResult, Result

if TYPE_CHECKING:
    from collector.assembly import Assembly
    from evaluator.language.assertion import Behavior


def load_behaviors(paths: Sequence[Path]) -> "tuple[Behavior, ...]":
    """The behaviors of all files. Every problem of every file is printed, and then nothing runs (exit 2)."""
    if not paths:
        return ()
    # Loading the language of behaviors takes long beside a short run that has none.
    from evaluator.language.behaviors import read_behaviors

    behaviors: list[Behavior] = []
    problems: list[str] = []
    for path in dict.fromkeys(paths):
        try:
            behaviors += read_behaviors(path)
        except SpecProblems as found:
            problems += map(str, found.problems)
    if problems:
        raise BadFiles(problems)
    return tuple(behaviors)


class BadFiles(NothingRan):
    """Files that cannot be used; each problem is a line."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))

    def show(self, file: object = None) -> None:
        click.echo(self.message, err=True)


def blind(index: Index, assembly: "Assembly") -> None:
    """Tell the index of which sessions tool calls cannot be seen."""
    for session, why in assembly.blind().items():
        index.blind(session, why)


def behavior_units(
    index: Index,
    tests: Callable[[Unit], tuple[TestKey, ...]] = lambda unit: (),
    relevant: Callable[[Unit, BehaviorResult], bool] = lambda unit, result: True,
) -> tuple[UnitBehaviors, ...]:
    """The results of each unit, sessions first, by id: an order that does not depend on arrival."""
    units = sorted(index.units.values(), key=lambda unit: (unit.key.kind != "session", unit.key.id))
    notes = _notes(index)
    found = []
    for unit in units:
        items = index.items_in_order(unit) if notes else ()
        results = tuple(_noted(result, notes, items) for result in unit.results if relevant(unit, result))
        found.append(UnitBehaviors(unit.key.kind.value, unit.key.id, results, tests(unit)))
    return tuple(found)


_Notes = dict[str, Callable[[Iterable[Item]], str]]


def _notes(index: Index) -> _Notes:
    if index.program is None:
        return {}
    from evaluator.clipped import clipped_of

    return clipped_of(index.program.behaviors)


def _noted(result: BehaviorResult, notes: _Notes, items: Iterable[Item]) -> BehaviorResult:
    """The result, with a word in its reason about texts that a regex could not look through."""
    note = notes.get(result.behavior)
    verdict = result.verdict
    if note is None or verdict.result not in (Result.PASS, Result.FAIL) or not (said := note(items)):
        return result
    return replace(result, verdict=replace(verdict, reason=f"{verdict.reason}; {said}"))


def misnamed(behaviors: "Sequence[Behavior]", index: Index, assembly: "Assembly") -> list[str]:
    """A warning for each tool that behaviors name and that there seems not to be, after all was taken in."""
    if not behaviors:
        return []
    from evaluator.named_tools import NamedTools, shown_by

    named = NamedTools(behaviors)
    if not named:
        return []
    seen = {shown_by(item) for unit in index.units.values() for item in unit.own.values()}
    return named.unfounded(assembly.declared, {name for name in seen if name is not None})
