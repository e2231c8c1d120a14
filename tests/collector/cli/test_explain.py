"""`spanbar explain` over recorded payloads: each call once, with where it was read, and what is missing."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from collector.cli.explain import explain
from tests.collector.corpus import CORPUS, IGNORED, Recording, recordings

pytestmark = pytest.mark.skipif(not CORPUS.exists(), reason="the corpus is not beside this checkout")


def explained(*paths: Path) -> dict[str, Any]:
    ran = CliRunner().invoke(explain, [*map(str, paths), "--json", "-"])
    assert ran.exit_code == 0, ran.output
    document: dict[str, Any] = json.loads(ran.stdout)
    return document


def told(path: str) -> str:
    ran = CliRunner().invoke(explain, [str(CORPUS / path)])
    assert ran.exit_code == 0, ran.output
    return ran.stdout


@pytest.mark.parametrize("recording", list(recordings()), ids=str)
def test_every_recording_has_the_calls_that_it_is_expected_to_have(recording: Recording) -> None:
    calls = [call for call in explained(*recording.paths)["calls"] if call["name"] not in IGNORED]
    found = [(call["name"], call["failed"]) for call in calls]
    expected = [(call["name"], call["failed"]) for call in recording.expected["calls"]]
    if recording.expected["unordered"]:
        found.sort()
        expected.sort()
    assert found == expected


def test_a_call_is_told_with_its_parts_and_where_they_came_from() -> None:
    (call,) = explained(CORPUS / "pydantic-ai" / "one_tool.otlp")["calls"]
    assert call["name"] == "get_order"
    assert call["args"] == {"order_id": "A-1001"}
    assert call["status"] == "ok"
    assert call["from"]["args"] == "gen_ai.tool.call.arguments"
    assert call["source"] == "tool-span"


def test_what_is_not_recorded_is_null_with_its_cause_and_its_fix() -> None:
    document = explained(CORPUS / "google-adk" / "one_tool.nocontent.otlp")
    (call,) = document["calls"]
    assert call["args"] is None
    assert call["not_recorded"]["args"]["cause"] == "content capture is off"
    assert "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT" in document["missing"][0]["fix"]


def test_the_layers_of_one_call_are_told_as_one_call() -> None:
    text = told("pydantic-ai-mcp/one_tool.otlp")
    assert "Calls (1)" in text
    assert "one call, 4 spans" in text


def test_a_held_call_that_was_resumed_is_one_call_and_the_attempt_is_named_as_none() -> None:
    text = told("google-adk/approval.otlp")
    assert "Calls (1)" in text
    assert "it was held, and is the call that span" in text


def test_spans_without_any_meaning_for_agents_say_what_to_do(tmp_path: Path) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.write_text("")
    ran = CliRunner().invoke(explain, [str(empty)])
    assert "nothing arrived" in ran.stdout


@pytest.mark.parametrize(("others", "code"), [([CORPUS / "pydantic-ai" / "one_tool.otlp"], 1), ([], 2)])
def test_what_cannot_be_read_is_told_after_what_can(tmp_path: Path, others: list[Path], code: int) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_text("{not json\n")
    ran = CliRunner().invoke(explain, [str(bad), *map(str, others)])
    assert ran.exit_code == code
    assert ("Calls (1)" in ran.stdout) is bool(others)
    assert f"{bad}: line 1" in ran.stderr
