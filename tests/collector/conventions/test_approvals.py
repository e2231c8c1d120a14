"""Calls held for an approval, as agents of `spanbar init` report them: recorded with `spanbar run --record`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from collector.assembly import Assembly
from collector.receiver.files import read
from collector.telemetry import Batch
from evaluator.items import Change, Item, ItemKind

PAYLOADS = Path(__file__).parent / "payloads"
APPROVED, DENIED = "35ead284d8476d77b115dce6e7fbc30e", "e4248ad3be01dd429fe1534418b9e895"


def changes_of(payload: str, session: str, *, traces: int = 2) -> Iterator[Change]:
    """What the spans of one session, as they end, change; of its first traces only."""
    assembly, seen = Assembly(), dict[bytes, None]()
    spans = [span for batch in read(PAYLOADS / payload) for span in batch.spans]
    mine = {span.trace_id for span in spans if span.attributes.get("session.id") == session}
    for span in sorted(spans, key=lambda span: span.end):
        if span.trace_id not in mine:
            continue
        seen[span.trace_id] = None
        if len(seen) > traces:
            return
        yield from assembly.add(Batch(spans=[span])).changes


def told(payload: str, session: str, *, traces: int = 2) -> list[tuple[ItemKind, str | None, str]]:
    """Kind, status and tool of the items in the end."""
    items = dict[tuple[Any, ...], Item]()
    for change in changes_of(payload, session, traces=traces):
        if change.old is not None:
            del items[change.old.id]
        if change.new is not None:
            items[change.new.id] = change.new
    ordered = sorted(items.values(), key=lambda item: (item.time, item.kind))
    return [(item.kind, item.status, item.call.name) for item in ordered if item.call is not None]


def test_a_denied_call_of_openai_agents_has_not_happened() -> None:
    assert told("openai_agents_approval.jsonl", DENIED) == [(ItemKind.APPROVAL, "denied", "delete_account")]


def test_an_approved_call_of_openai_agents_has_happened_once() -> None:
    assert told("openai_agents_approval.jsonl", APPROVED) == [
        (ItemKind.APPROVAL, "allowed", "delete_account"),
        (ItemKind.TOOL, "ok", "delete_account"),
    ]


def test_a_call_of_openai_agents_that_waits_for_an_answer_has_not_happened() -> None:
    asked = told("openai_agents_approval.jsonl", DENIED, traces=1)
    assert asked == [(ItemKind.APPROVAL, "suspended", "delete_account")]


def test_a_denied_call_of_strands_has_not_happened() -> None:
    denied = told("strands_approval.jsonl", "ca232f977b0fa42d4c95cc4c369ad3c9")
    assert denied == [(ItemKind.APPROVAL, "denied", "delete_account")]


def test_an_approved_call_of_strands_has_happened_once() -> None:
    approved = told("strands_approval.jsonl", "587da7a72fcc2e60238259ca3241b781")
    assert [item for item in approved if item[0] is ItemKind.TOOL] == [(ItemKind.TOOL, "ok", "delete_account")]


@pytest.mark.parametrize(
    ("payload", "session"),
    [("openai_agents_approval.jsonl", DENIED), ("strands_approval.jsonl", "ca232f977b0fa42d4c95cc4c369ad3c9")],
)
def test_at_no_moment_is_a_denied_call_taken_for_one_that_ran(payload: str, session: str) -> None:
    kinds = {change.new.kind for change in changes_of(payload, session) if change.new is not None}
    assert kinds == {ItemKind.APPROVAL}
