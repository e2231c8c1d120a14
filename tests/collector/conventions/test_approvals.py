"""Calls held for an approval, as agents of `spanbar init` report them: recorded with `spanbar run --record`."""

from pathlib import Path
from typing import Any

from collector.assembly import Assembly
from collector.receiver.files import read
from collector.telemetry import Batch
from evaluator.items import Item, ItemKind

PAYLOADS = Path(__file__).parent / "payloads"
APPROVED, DENIED = "35ead284d8476d77b115dce6e7fbc30e", "e4248ad3be01dd429fe1534418b9e895"


def told(payload: str, session: str, *, traces: int = 2) -> list[tuple[ItemKind, str | None, str]]:
    """Kind, status and tool of the items of one session, of its first traces only."""
    assembly, items, seen = Assembly(), dict[tuple[Any, ...], Item](), dict[bytes, None]()
    spans = [span for batch in read(PAYLOADS / payload) for span in batch.spans]
    mine = {span.trace_id for span in spans if span.attributes.get("session.id") == session}
    for span in sorted(spans, key=lambda span: span.end):
        if span.trace_id not in mine:
            continue
        seen[span.trace_id] = None
        if len(seen) > traces:
            break
        for change in assembly.add(Batch(spans=[span])).changes:
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
