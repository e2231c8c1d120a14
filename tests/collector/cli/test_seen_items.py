"""What `explain` shows of items: those that are no calls, and of calls what behaviors see of them."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from collector.cli.explain import explain
from tests.collector.cli.test_check import lines
from tests.serving import shell, span

SPANS = (
    span(1, "approval", "s", hangar_approval_status="allowed", hangar_job_id="j"),
    shell(2, "git push", "s", hangar_turn=3, hangar_job_id="j"),
    span(3, "test.run", "s", hangar_test_status="passed"),
)


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    (tmp_path / "t.jsonl").write_bytes(lines(*SPANS))
    return tmp_path / "t.jsonl"


def test_a_call_is_told_with_what_behaviors_see_of_it_and_other_items_after_the_calls(trace: Path) -> None:
    told = CliRunner().invoke(explain, [str(trace)]).stdout.splitlines()
    assert "        seen   kind shell; seq 2; turn 3; ops git.push; job j" in told
    others = told.index("Other items that behaviors see (2)")
    assert told[others + 1 : others + 3] == [
        "  approval, session s, seq 1, allowed, job j",
        "  event test.run, session s, seq 3, passed",
    ]


def test_the_document_has_all_items_in_order_with_their_columns(trace: Path) -> None:
    document = json.loads(CliRunner().invoke(explain, ["--json", "-", str(trace)]).stdout)
    assert [item["kind"] for item in document["items"]] == ["approval", "tool", "event"]
    assert [call["name"] for call in document["calls"]] == ["bash"]
    call = document["items"][1]
    assert (call["ops"], call["input"], call["tool_kind"], call["job"]) == (["git.push"], "git push", "shell", "j")


def test_what_is_not_known_of_a_call_has_its_cause(tmp_path: Path) -> None:
    attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "Bash"}
    bare = span(1, "execute_tool Bash", "s")
    bare["attributes"] = [{"key": key, "value": {"stringValue": value}} for key, value in attributes.items()]
    (tmp_path / "t.jsonl").write_bytes(lines(bare))
    told = CliRunner().invoke(explain, [str(tmp_path / "t.jsonl")]).stdout
    assert "        seen   kind shell; ops not known: the span has no gen_ai.tool.call.arguments" in told
    document = json.loads(CliRunner().invoke(explain, ["--json", "-", str(tmp_path / "t.jsonl")]).stdout)
    assert set(document["items"][0]["not_recorded"]) == {"ops", "input", "output"}


def test_a_log_record_among_the_layers_of_a_call_is_named_as_one(tmp_path: Path) -> None:
    (tmp_path / "m.yaml").write_text(
        "mapping: {name: shop, calls: [{where: {name: step}, tool: tool, call_id: call}],"
        " approvals: [{where: {name: gate}, status: verdict, call_id: call}]}"
    )
    step = span(1, "step", "s", tool="refund", call="c")
    values = {"call": "c", "verdict": "go", "hangar.session.id": "s"}
    attributes = [{"key": key, "value": {"stringValue": value}} for key, value in values.items()]
    log = {"eventName": "gate", "timeUnixNano": "5", "attributes": attributes}
    record = json.dumps({"resourceLogs": [{"scopeLogs": [{"logRecords": [log]}]}]}).encode()
    (tmp_path / "t.jsonl").write_bytes(lines(step) + record + b"\n")
    told = CliRunner().invoke(explain, ["--mapping", str(tmp_path / "m.yaml"), str(tmp_path / "t.jsonl")]).stdout
    assert "one call, 1 span and 1 log record: log record (shop) > 0000000000000001 (shop)" in told
