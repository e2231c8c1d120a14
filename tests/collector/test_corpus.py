"""Every recorded payload gives the calls that its `expected.json` says."""

import random
from typing import Any

import pytest

from collector.assembly import Assembly
from collector.telemetry import Batch
from evaluator.items import Item, ItemKind, NotRecorded
from tests.collector.corpus import CORPUS, IGNORED, Recording, recordings

pytestmark = pytest.mark.skipif(not CORPUS.exists(), reason="the corpus is not beside this checkout")


def calls_after(batches: list[Batch]) -> list[Item]:
    assembly, items = Assembly(), {}
    for batch in batches:
        for old, new in assembly.add(batch).changes:
            if old is not None:
                assert items.pop(old.id) == old
            if new is not None:
                assert new.id not in items
                items[new.id] = new
    found = [item for item in items.values() if item.kind is ItemKind.TOOL and item.name not in IGNORED]
    return sorted(found, key=lambda item: item.time)


def one_by_one(batch: Batch, seed: int, copies: int = 1) -> list[Batch]:
    pieces = [Batch(spans=[span]) for span in batch.spans] + [Batch(logs=[log]) for log in batch.logs]
    pieces *= copies
    random.Random(seed).shuffle(pieces)
    return pieces


def as_expected(item: Item) -> dict[str, Any]:
    assert item.call is not None
    args = None if isinstance(item.call.args, NotRecorded) else dict(item.call.args)
    return {"name": item.name, "args": args, "failed": item.call.failed}


def check(recording: Recording, items: list[Item]) -> None:
    expected = recording.expected
    # What was cut or redacted stands in expected.json as the text that was left of it.
    calls = [{**call, "args": None if isinstance(call["args"], str) else call["args"]} for call in expected["calls"]]
    found = [as_expected(item) for item in items]
    if str(recording) == "openai-otel-v2/one_tool.default":
        # Its only content is the tool's name. expected.json calls that `{}`; not recorded is not `{}`.
        calls = [{**call, "args": None} for call in calls]
    if expected["unordered"]:
        found.sort(key=repr)
        calls.sort(key=repr)
    assert found == calls
    if "session" in expected:
        assert {item.session for item in items} == {expected["session"]}


@pytest.mark.parametrize("recording", list(recordings()), ids=str)
def test_whole_recordings_give_the_expected_calls(recording: Recording) -> None:
    check(recording, calls_after([recording.batch()]))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("recording", list(recordings()), ids=str)
def test_single_spans_in_any_order_give_the_expected_calls(recording: Recording, seed: int) -> None:
    check(recording, calls_after(one_by_one(recording.batch(), seed)))


@pytest.mark.parametrize("recording", list(recordings()), ids=str)
def test_what_is_delivered_twice_counts_once(recording: Recording) -> None:
    check(recording, calls_after(one_by_one(recording.batch(), seed=7, copies=2)))
