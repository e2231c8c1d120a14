"""Claimed calls without a name, and rules that claim nothing: nothing passes that might rest on them."""

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from collector.assembly import Assembly
from collector.cli import main
from collector.index import Index
from collector.mapping import parse_mapping
from collector.pipeline import Pipeline
from collector.telemetry import Batch, LogRecord, Span
from evaluator.behaviors import Program
from evaluator.items import UNREADABLE_NAME
from evaluator.language.behaviors import parse_behaviors
from tests.collector.mapping.test_mapping import event, items
from tests.collector.telemetry import span

MAPPING = """
mapping:
  name: shop
  session: app.session
  calls:
    - {where: {name: "step *"}, tool: app.tool, call_id: app.call}
  approvals:
    - {where: {in: logs, name: gate}, status: verdict, tool: app.tool, call_id: app.call}
"""
BEHAVIORS = """
behaviors:
  - {name: no refund, assert: {never: {tool: {}, where: {name: refund}}}}
"""


def step(**attributes: Any) -> Span:
    return span("step refund", {"app.session": "s", "app.call": "c"} | attributes)


def judged(*records: Span | LogRecord) -> list[tuple[str, str]]:
    pipeline = Pipeline(Index(Program(parse_behaviors(BEHAVIORS, "b"))), Assembly(parse_mapping(MAPPING, "m")))
    spans = [record for record in records if isinstance(record, Span)]
    pipeline.receive(Batch(spans, [record for record in records if isinstance(record, LogRecord)]))
    pipeline.index.close_all()
    verdicts = [result.verdict for unit in pipeline.index.units.values() for result in unit.results]
    return [(verdict.result.value, verdict.reason) for verdict in verdicts]


@pytest.mark.parametrize("given", [{}, {"app.tool": ""}, {"app.tool": ["refund"]}])
def test_a_call_whose_name_cannot_be_read_may_be_any(given: dict[str, Any]) -> None:
    assert [item.name for item in items(step(**given), file=MAPPING)] == [UNREADABLE_NAME]
    [(result, reason)] = judged(step(**given))
    assert result == "unknown"
    assert "there is no app.tool, where the mapping shop looks for its name" in reason


def test_another_record_of_the_call_may_name_it() -> None:
    gate = event("gate", 5, {"app.session": "s", "app.call": "c", "verdict": "go", "app.tool": "refund"})
    assert [item.name for item in items(step(), gate, file=MAPPING)] == ["approval", "refund"]
    assert [result for result, _ in judged(step(), gate)] == ["fail"]


def test_a_rule_that_claimed_nothing_is_named() -> None:
    claims = parse_mapping(MAPPING, "m")
    assembly = Assembly(claims)
    assert claims.idle() == [
        "mapping shop: the rule calls[0] claimed nothing of 0 spans and 0 log records",
        "mapping shop: the rule approvals[0] claimed nothing of 0 log records",
    ]
    assembly.add(Batch([step(), span("work")]))
    assert claims.idle() == ["mapping shop: the rule approvals[0] claimed nothing of 0 log records"]
    assembly.add(Batch(logs=[event("gate", 5, {"verdict": "go"}), event("door", 5, {})]))
    assert claims.idle() == []


@pytest.mark.parametrize("verb", ["check", "explain"])
def test_verbs_warn_of_a_rule_that_claimed_nothing(verb: str, tmp_path: Path) -> None:
    (tmp_path / "m.yaml").write_text(MAPPING)
    (tmp_path / "b.yaml").write_text(BEHAVIORS)
    (tmp_path / "t.jsonl").write_text('{"v":1,"type":"tool","ts":1,"fn":"lookup","args":{},"context":{"test":"t"}}\n')
    behaviors = [str(tmp_path / "b.yaml")] if verb == "check" else []
    ran = CliRunner().invoke(
        main, [verb, "--mapping", str(tmp_path / "m.yaml"), *behaviors, str(tmp_path / "t.jsonl")]
    )
    assert "warning  mapping shop: the rule calls[0] claimed nothing of 0 spans" in ran.output
