"""Random units: items of several sessions and of their job, with and without seq and turn, arriving in any order."""

from collections.abc import Sequence
from random import Random
from typing import Any

from evaluator.behaviors import Evaluation
from evaluator.items import Change, Item, ItemKind, NotRecorded
from tests.evaluator.operators.building import item

A, B, C = {"event": "a"}, {"event": "b"}, {"where": {"name": {"in": ["a", "c"]}}}
SECRET = {"input": "secret"}
TESTED = {"event": "b", "where": {"hangar.note": "secret"}}
NOTED_A, NOTED = A | {"where": {"hangar.note": "secret"}}, {"where": {"hangar.note": {"not": "other"}}}

ASSERTS: tuple[dict[str, Any], ...] = (
    {"never": A},
    {"never": SECRET},
    {"eventually": B},
    {"eventually": SECRET},
    {"count": {"match": C, "max": 2}},
    {"count": {"match": SECRET, "min": 1}},
    {"count": {"match": SECRET, "min": 2, "max": 2}},
    {"count": {"match": {"tool": {}}, "min": 1, "max": 3}},
    {"before": {"first": A, "then": B}},
    {"before": {"first": C, "then": A}},
    {"before": {"first": SECRET, "then": B}},
    {"before": {"first": A, "then": TESTED}},
    {"order": [A, B]},
    {"order": [A, B, {"event": "c"}]},
    {"order": [C, A, B]},
    {"each": B, "requires_prior": A},
    {"each": A, "requires_prior": C},
    {"each": TESTED, "requires_prior": SECRET},
    {"each": B, "requires_prior": A, "within": {"seq": 2}},
    {"each": C, "requires_prior": A, "within": {"seq": 1}},
    {"each": B, "requires_prior": A, "within": {"seq": 0}},
    {"each": B, "requires_prior": A, "within": {"turns": 0}},
    {"each": B, "requires_prior": C, "within": {"turns": 1}},
    {"each": TESTED, "requires_prior": A, "within": {"turns": 2}},
    {"all": {"paths": {"from": ["file.change"]}, "match": "src/*"}},
    {"all": {"paths": {"from": ["file.change", "diff.files"]}, "match": ["src/*", "*.md"]}},
    {"any": {"paths": {"from": ["diff.files", "file.change"]}, "match": "*.md"}},
    {"never": NOTED_A},
    {"count": {"match": TESTED, "min": 1, "max": 2}},
    {"before": {"first": NOTED_A, "then": TESTED}},
    {"before": {"first": TESTED, "then": A}},
    {"order": [A, TESTED]},
    {"order": [TESTED, NOTED_A, {"event": "c"}]},
    {"order": [NOTED_A, TESTED, NOTED]},
    {"each": NOTED, "requires_prior": NOTED_A},
    {"each": TESTED, "requires_prior": NOTED_A, "within": {"seq": 1}},
)
"""Every operator, over matchers that overlap and over values that may not have been recorded."""

HIDDEN = NotRecorded("content capture is off")


def random_item(random: Random, *, doubts: bool = False) -> Item:
    """An item; with `doubts`, its attribute may not have been recorded."""
    kind = random.choice(["event"] * 8 + ["tool", "approval"])
    name = random.choice(["a", "a", "b", "b", "c", "x", "file.change", "diff.files"])
    parts: dict[str, Any] = {
        "session": random.choice(["s1", "s1", "s1", "s2", None]),
        "seq": random.choice([None, 1, 2, 3, 4, 5, 6]),
        "time": random.choice([10, 20, 30, 40, 50]),
        "turn": random.choice([None, 1, 2, 3, 4]),
    }
    if name == "file.change":
        parts["path"] = random.choice([None, "src/a.py", "src/b.py", "README.md", "setup.py"])
    if name == "diff.files":
        parts["paths"] = random.choice([[], ["src/a.py"], ["src/a.py", "README.md"], ["setup.py"]])
    if random.random() < (0.5 if doubts else 0.3):
        parts["attrs"] = {"hangar.note": random.choice(["secret", "other"] + [HIDDEN] * doubts)}
    if random.random() < 0.3:
        parts["input"] = random.choice(["a secret", "nothing"])
    return item(kind, name, **parts)


def moved(random: Random, old: Item) -> Item:
    """Another version of an item: the same, at another place, or another item altogether."""
    choice = random.random()
    if choice < 0.3:
        return old._replace(status="seen")
    if choice < 0.6:
        return old._replace(seq=random.choice([None, 1, 3, 5]), time=random.choice([10, 30, 50]))
    if choice < 0.8:
        return old._replace(name=random.choice(["a", "b", "c"]), kind=ItemKind.EVENT)
    return random_item(random)._replace(id=old.id)


def deliver(random: Random, over: Evaluation, items: Sequence[Item], *, detours: bool = True) -> list[Item]:
    """Apply the items in a random order; the items that are there in the end.

    With `detours` some are revised, some taken back, some revised to what they are (a delivery repeated), and some
    come as something else first and are put right later.
    """
    items = list(items)
    random.shuffle(items)
    here: dict[object, Item] = {}
    for one in items:
        arriving = moved(random, one) if detours and random.random() < 0.1 else one
        over.apply(Change(None, arriving))
        here[one.id] = arriving
        while detours and here and random.random() < 0.25:
            old = random.choice(list(here.values()))
            new = random.choice([None, old, moved(random, old)])
            over.apply(Change(old, new))
            if new is None:
                del here[old.id]
            else:
                here[old.id] = new
    return list(here.values())
