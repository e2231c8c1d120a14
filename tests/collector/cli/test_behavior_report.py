"""The table of behaviors by unit: names stay whole, and no result falls off its edge."""

import io

import pytest
from rich.console import Console

from collector.cli.behavior_report import report
from evaluator.harness.outcome import UnitBehaviors
from evaluator.verdict import BehaviorResult, Result, Severity, Verdict

NAMES = ("tests are run before every push", "no secrets")
FEW = (Result.PASS, Result.NOT_APPLICABLE)


def table(units: int, width: int, results: tuple[Result, ...]) -> list[str]:
    """The lines of the table of `units` sessions, whose results of the first behavior take turns."""

    def of(number: int) -> UnitBehaviors:
        found = (results[number % len(results)], Result.PASS)
        behaviors = (
            BehaviorResult(name, Severity.WARN, Verdict(result, True, (), "why"))
            for name, result in zip(NAMES, found, strict=True)
        )
        return UnitBehaviors("session", f"s{number}", tuple(behaviors), ())

    out = io.StringIO()
    report(Console(file=out, width=width), [of(number) for number in range(units)])
    return out.getvalue().split("\n\n")[0].splitlines()


@pytest.mark.parametrize("units", [1, 2, 3, 40])
def test_names_are_on_one_line_on_a_usual_terminal(units: int) -> None:
    lines = table(units, 80, FEW)
    assert all(any(line.lstrip().startswith(name) for line in lines) for name in NAMES)


def test_results_that_no_unit_has_take_no_room() -> None:
    [_, heads, *_] = table(6, 80, FEW)
    assert heads.split() == ["behavior", "✓", "pass", "·", "not", "applicable"]


@pytest.mark.parametrize("width", [40, 60, 80, 100])
def test_every_result_is_counted_at_any_width(width: int) -> None:
    text = "\n".join(table(10, width, tuple(Result)))
    assert all(sign in text for sign in "✓✗·?!")
    assert max(map(len, text.splitlines())) <= width
    first = next(line for line in text.splitlines() if "tests" in line)
    assert [int(word) for word in first.split() if word.isdigit()] == [2, 2, 2, 2, 2]
