"""Suites, tests and turns."""

import math
import os
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Final

from evaluator.language.document import Entry, ListNode, MapNode, Node, ScalarNode
from evaluator.language.expect import read_expect
from evaluator.language.placeholders import check_trigger
from evaluator.language.review import Review, is_absent, quoted
from evaluator.language.spec import Place, Suite, Test, Turn

SUITE_KEYS: Final = ("name", "tests")
TEST_KEYS: Final = ("trigger", "expect", "turns", "name", "variations", "runs", "min_pass")
TURN_KEYS: Final = ("trigger", "expect", "name")
BEHAVIORS: Final = "x-behaviors"
"""The one `x-` key that is read: behavior files that must hold of the suite's or the test's sessions."""


class Suites:
    """Reads the suites of one file.

    `directory` is where the spec lies; `default_runs` is how often a test runs that does not say so.
    """

    def __init__(self, review: Review, directory: Path, default_runs: int) -> None:
        self.review = review
        self.directory = directory
        self.default_runs = default_runs

    def read(self, node: Node) -> tuple[Suite, ...]:
        if is_absent(node):
            self.review.problem(node, "empty", "there are no tests: add a suite with tests")
            return ()
        items = self.review.items(node, "suites", empty="there are no tests: add a suite with tests")
        suites = [self.suite(item) for item in items or ()]
        return tuple(suite for suite in suites if suite is not None)

    def suite(self, node: Node) -> Suite | None:
        entries = self.review.mapping(node, SUITE_KEYS)
        if entries is None:
            return None
        if "name" not in entries:
            self.review.missing(node, "name", "a suite needs a name")
        name = self.review.text(entries["name"].value, "the name of the suite") if "name" in entries else None
        if "tests" not in entries:
            self.review.missing(node, "tests", "the suite has no tests", code="empty")
            return None
        items = self.review.items(entries["tests"].value, "tests", empty="the suite has no tests")
        behaviors = self.behaviors(node)
        tests = [self.test(item, behaviors) for item in items or ()]
        return Suite(name or "", tuple(test for test in tests if test is not None), Place(node.path, node.line))

    def test(self, node: Node, behaviors: tuple[Path, ...]) -> Test | None:
        entries = self.review.mapping(node, TEST_KEYS)
        if entries is None:
            return None
        conversation = "turns" in entries
        turns = self.conversation(node, entries) if conversation else self.single(node, entries)
        runs = self.runs(entries)
        variations = 0
        if "variations" in entries and not is_absent(entries["variations"].value):
            variations = self.review.whole(entries["variations"].value, least=0) or 0
        if conversation and variations:
            self.exclusive(entries, "variations", "variations are of one trigger; turns have none")
        return Test(
            turns,
            conversation,
            name=self.name(entries),
            variations=variations,
            runs=runs,
            min_pass=self.min_pass(entries, self.default_runs if runs is None else runs),
            behaviors=tuple(dict.fromkeys((*behaviors, *self.behaviors(node)))),
            place=Place(node.path, node.line),
        )

    def single(self, node: Node, entries: Mapping[str, Entry]) -> tuple[Turn, ...]:
        if "trigger" not in entries:
            self.review.missing(node, "trigger", "a test needs a trigger, the message to send, or turns")
        elif "expect" not in entries:
            message = "asserts nothing: add expect (function_calls: [] checks that no tool is called)"
            self.review.missing(node, "expect", message, code="asserts_nothing")
        return (self.turn(node, entries, first=True),)

    def conversation(self, node: Node, entries: Mapping[str, Entry]) -> tuple[Turn, ...]:
        if "trigger" in entries:
            self.exclusive(entries, "trigger", "a test has a trigger or turns, not both")
        if "expect" in entries:
            self.exclusive(entries, "expect", "with turns, each turn has its own expect")
        items = self.review.items(entries["turns"].value, "turns", empty="turns needs at least one turn")
        turns = []
        expecting = False
        for index, item in enumerate(items or ()):
            inner = self.review.mapping(item, TURN_KEYS, "a mapping such as {trigger: hello}")
            if inner is None:
                expecting = True  # What it was to expect is not known.
                continue
            if "trigger" not in inner:
                self.review.missing(item, "trigger", "a turn needs a trigger, the message to send")
            expecting = expecting or "expect" in inner
            turns.append(self.turn(item, inner, first=index == 0))
        if turns and not expecting:
            self.review.problem(node, "asserts_nothing", "asserts nothing: no turn has an expect")
        return tuple(turns)

    def turn(self, node: Node, entries: Mapping[str, Entry], *, first: bool) -> Turn:
        trigger = None
        if "trigger" in entries:
            value = entries["trigger"].value
            trigger = self.review.text(value, "the message to send")
            if trigger is not None and isinstance(value, ScalarNode):
                check_trigger(self.review, value, trigger, first=first)
        expect = read_expect(self.review, entries["expect"].value) if "expect" in entries else None
        return Turn(trigger or "", expect, self.name(entries), Place(node.path, node.line))

    def name(self, entries: Mapping[str, Entry]) -> str | None:
        if "name" not in entries or is_absent(entries["name"].value):
            return None
        return self.review.any_text(entries["name"].value, "a name") or None

    def runs(self, entries: Mapping[str, Entry]) -> int | None:
        if "runs" not in entries:
            return None
        return self.review.whole(entries["runs"].value, least=1, wrong="bad_number", low="bad_number")

    def min_pass(self, entries: Mapping[str, Entry], runs: int) -> int | float | None:
        if "min_pass" not in entries:
            return None
        node = entries["min_pass"].value
        value = node.value if isinstance(node, ScalarNode) else None
        if type(value) is int and value >= 1:
            if value > runs:
                message = f"min_pass is {value}, and the test runs {runs} time{'s' if runs > 1 else ''}: see runs"
                self.review.problem(node, "min_pass_over_runs", message)
            return value
        if type(value) is float and 0 < value <= 1:
            return value
        needed = "must be a whole number of at least 1 (runs) or a fraction of them, above 0 and at most 1"
        self.review.problem(node, "bad_number", f"{needed}, not {quoted(node)}")
        return None

    def exclusive(self, entries: Mapping[str, Entry], key: str, message: str) -> None:
        self.review.problem(entries[key].key, "exclusive_keys", message)

    def behaviors(self, node: Node) -> tuple[Path, ...]:
        """The files that `x-behaviors` of a suite or a test names, from where the spec lies."""
        value = node.get(BEHAVIORS) if isinstance(node, MapNode) else None
        if value is None:
            return ()
        paths = []
        nodes = value.items if isinstance(value, ListNode) else (value,)
        for item in nodes:
            name = self.review.text(item, "the path of a behavior file")
            if name is None:
                continue
            path = Path(os.path.normpath((self.directory / name).absolute()))
            if path.is_file():
                paths.append(path)
            else:
                self.review.problem(item, "unreadable", f"there is no file {quoted(item)} (from where the spec lies)")
        return tuple(paths)


def least_passes(min_pass: int | float | None, runs: int) -> int:
    """How many of `runs` must pass: all by default; a fraction of them is rounded up, exactly (0.7 of 10 is 7)."""
    if min_pass is None:
        return runs
    if isinstance(min_pass, float):
        return math.ceil(Decimal(str(min_pass)) * runs)
    return min_pass
