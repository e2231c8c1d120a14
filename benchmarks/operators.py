"""What deciding costs: `python benchmarks/operators.py [--json FILE]`.

Items of a made-up coding agent (shell, edit, read, MCP and web calls, approvals, events) are applied one by one to
evaluations. Only ratios within one run mean anything: absolute times drift with the machine. Every number is the
median of rounds in which the variants take turns.
"""

import argparse
import gc
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from evaluator.behaviors import Evaluation, Program
from evaluator.items import Change, Item, ItemKind
from evaluator.language.behaviors import parse_behaviors
from evaluator.verdict import Contract

COMMANDS = (
    "python -m pytest -q tests/unit/test_orders.py -k refund --maxfail=1",
    "git status --short && git diff --stat",
    "ls -la src/orders && cat src/orders/refund.py",
    "npm run build -- --mode production 2>&1 | tail -20",
    "rg -n 'def refund' src tests",
)

SLICE = 10_000
"""How many items of one variant are applied before it is the other one's turn."""

ATTRIBUTES = {"gen_ai.agent.name": "coder", "hangar.note": "none"}


def rules(number: int) -> list[dict[str, Any]]:
    """Behaviors of every operator and test: equality, globs, regexes. The first ten are of ten kinds."""
    made = []
    for n in range(number):
        kinds: tuple[dict[str, Any], ...] = (
            {"never": {"tool": {"kind": "shell"}, "input": rf"curl\s+https?://host{n}\."}},
            {"never": {"path": f"infra/area{n}/*"}},
            {"never": {"event": "steer", "where": {"hangar.steer.class": f"correction{n}"}}},
            {
                "each": {"tool": {"ops": "git.push"}, "where": {"mcp_server": f"m{n}"}},
                "requires_prior": {"event": "test.run", "where": {"status": f"passed{n}"}},
            },
            {"never": {"tool": {"mcp": {"server": f"server{n}", "tool": "merge"}}}},
            {"count": {"match": {"tool": {"kind": "web"}, "input": rf"example{n}\.org/.*\?token="}, "max": 3}},
            {
                "before": {
                    "first": {"event": f"plan{n}.approved"},
                    "then": {"tool": {"kind": "edit"}, "path": f"src/part{n}/*.py"},
                }
            },
            {"never": {"where": {"hangar.pr.merged_by": f"bot{n}"}}},
            {"order": [{"event": f"a{n}"}, {"event": f"b{n}"}, {"event": f"c{n}"}]},
            {"all": {"paths": {"from": ["diff.files"]}, "match": ["src/*", "tests/*", f"docs{n}/*"]}},
        )
        made.append(kinds[n % len(kinds)])
    return made


def program(asserts: list[dict[str, Any]], contract: Contract = Contract.ORDERED) -> Program:
    named = [{"name": f"rule {number}", "assert": one} for number, one in enumerate(asserts)]
    return Program(parse_behaviors(json.dumps({"behaviors": named}), "rules"), contract)


def items(number: int, sessions: int = 1) -> list[Item]:
    """Items in order, of sessions that take turns. In each, three of ten are shell, three read, two edit."""
    random = Random(7)
    made = []
    for time_ns in range(number):
        n = time_ns // sessions
        kind = ItemKind.TOOL
        parts: dict[str, Any] = {}
        match n % 20:
            case 0 | 5 | 10 | 13 | 16 | 18:
                parts = {"name": "Bash", "tool_kind": "shell", "input": random.choice(COMMANDS)}
                parts["ops"] = ("test",) if n % 3 else ()
            case 1 | 3 | 6 | 8 | 11 | 14:
                parts = {"name": "Read", "tool_kind": "read", "path": f"src/orders/file{n % 50}.py"}
            case 2 | 7 | 12 | 17:
                parts = {"name": "Edit", "tool_kind": "edit", "path": f"src/orders/file{n % 50}.py"}
            case 4:
                parts = {"name": "mcp__github__list", "tool_kind": "mcp", "mcp_server": "github", "mcp_tool": "list"}
            case 9:
                parts = {"name": "WebFetch", "tool_kind": "web", "input": "https://docs.example.com/guide?page=2"}
            case 15:
                kind, parts = ItemKind.EVENT, {"name": "file.change", "path": f"src/orders/file{n % 50}.py"}
            case _ if n % 1000 == 999:
                kind, parts = ItemKind.EVENT, {"name": "diff.files", "paths": ("src/a.py", "tests/test_a.py")}
            case _:
                kind, parts = ItemKind.EVENT, {"name": "turn.end"}
        name = parts.pop("name")
        made.append(
            Item(
                (b"t", time_ns, None),
                kind,
                name,
                session=str(time_ns % sessions),
                job=None,
                seq=n,
                time=time_ns,
                turn=n // 50,
                attributes=ATTRIBUTES,
                **parts,
            )
        )
    return made


def applied(over: Program, changes: list[Change]) -> float:
    """Nanoseconds an item, in one session."""
    apply = over.unit("session").apply
    start = time.process_time_ns()
    for change in changes:
        apply(change)
    return (time.process_time_ns() - start) / len(changes)


def applied_by_session(over: Program, changes: list[Change]) -> Iterator[int]:
    """Nanoseconds of each `SLICE` of items, each in the unit of its session."""
    units: dict[str | None, Evaluation] = {}
    for begin in range(0, len(changes), SLICE):
        start = time.process_time_ns()
        for change in changes[begin : begin + SLICE]:
            session = change.new.session  # type: ignore[union-attr]
            unit = units.get(session)
            if unit is None:
                unit = units[session] = over.unit("session")
            unit.apply(change)
        yield time.process_time_ns() - start


def medians(variants: dict[str, Callable[[], float]], rounds: int) -> dict[str, float]:
    """The median of each variant; they take turns, so that a slow moment of the machine is no one's."""
    found: dict[str, list[float]] = {name: [] for name in variants}
    for _ in range(rounds):
        for name, measure in variants.items():
            gc.collect()
            found[name].append(measure())
    return {name: statistics.median(times) for name, times in found.items()}


def by_behaviors(rounds: int) -> Iterator[tuple[str, float]]:
    """1, 10, 100 and 1,000 behaviors over the same items; "1" is the mean of ten programs of one behavior each."""
    changes = [Change(None, item) for item in items(20_000)]
    singles = [program([rule]) for rule in rules(10)]
    variants: dict[str, Callable[[], float]] = {
        "1": lambda: statistics.mean(applied(single, changes) for single in singles)
    }
    for number in (10, 100, 1000):
        over = program(rules(number))
        applied(over, changes)
        variants[str(number)] = lambda over=over: applied(over, changes)  # type: ignore[misc]
    yield from medians(variants, rounds).items()


def by_length(rounds: int, longest: int) -> Iterator[tuple[str, float]]:
    """100 behaviors over a session of 1,000 items (many times), and over longer ones; the last stretch counts."""
    over = program([*rules(96), *MATCHING])
    every = [Change(None, item) for item in items(longest)]
    variants: dict[str, Callable[[], float]] = {}
    for length in (1_000, 100_000, 1_000_000):
        if length > longest:
            continue
        pieces = [every[start : start + length] for start in range(0, min(longest, 100_000), length)]
        variants[f"{length:,}"] = lambda pieces=pieces: statistics.mean(applied(over, piece) for piece in pieces)  # type: ignore[misc]
    yield from medians(variants, rounds).items()


MATCHING: list[dict[str, Any]] = [
    {"each": {"tool": {"kind": "edit"}}, "requires_prior": {"tool": {"kind": "read"}}, "within": {"seq": 50}},
    {"count": {"match": {"tool": {"kind": "shell"}}, "min": 1}},
    {"before": {"first": {"tool": {"kind": "read"}}, "then": {"tool": {"kind": "edit"}}}},
    {"all": {"paths": {"from": ["file.change"]}, "match": ["src/*", "tests/*"]}},
]
"""Behaviors that many items match."""


def by_sessions(rounds: int, longest: int) -> Iterator[tuple[str, float]]:
    """100 behaviors over 10 and over 10,000 sessions that come mixed, 100 items of each at least.

    They take turns slice by slice, so that both have the same share of slow moments; the median ratio counts.
    """
    over = program([*rules(96), *MATCHING])
    few, many = ([Change(None, item) for item in items(longest, sessions)] for sessions in (10, 10_000))
    costs = []
    for _ in range(rounds):
        gc.collect()
        turns = list(zip(applied_by_session(over, few), applied_by_session(over, many), strict=True))
        costs.append([sum(times) / longest for times in zip(*turns, strict=True)])
    cost = statistics.median(of_few for of_few, _ in costs)
    yield "10", cost
    yield "10,000", cost * statistics.median(of_many / of_few for of_few, of_many in costs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--longest", type=int, default=1_000_000, help="items of the longest session")
    parser.add_argument("--json", type=Path, help="write the numbers to this file")
    options = parser.parse_args()
    gc.freeze()
    report: dict[str, dict[str, float]] = {}
    for title, measured in (
        ("behaviors", by_behaviors(options.rounds)),
        ("items of a session", by_length(options.rounds, options.longest)),
        ("sessions", by_sessions(options.rounds, options.longest)),
    ):
        found = report[title] = dict(measured)
        least = next(iter(found.values()))
        print(f"\n{title:>20} {'ns an item':>12} {'items/s':>12} {'ratio':>7}")
        for name, cost in found.items():
            print(f"{name:>20} {cost:12.0f} {1e9 / cost:12,.0f} {cost / least:7.2f}")
    if options.json:
        options.json.write_text(json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    main()
