"""Every case of conformance/operators.json as OTLP through the receiver: one request an item, the same results."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from collector.index import Index, UnitKey, UnitKind
from collector.pipeline import Pipeline
from collector.receiver import Receiver
from evaluator.behaviors import Program
from evaluator.verdict import Contract
from tests.collector.receiver.otlp_building import span, traces_request
from tests.evaluator.operators.building import behaviors

CASES = Path(__file__).parents[2] / ".." / "shared" / "conformance" / "operators.json"

if not CASES.parent.parent.exists():
    pytest.skip("the conformance cases are not here", allow_module_level=True)

EPOCH = 1_700_000_000_000_000_000
"""Cases count their nanoseconds from here: 0 is no time in OTLP."""

ATTRIBUTES = {
    "session": "hangar.session.id",
    "seq": "hangar.seq",
    "turn": "hangar.turn",
    "tool_kind": "hangar.tool.kind",
    "ops": "hangar.shell.ops",
    "path": "hangar.file.repo_path",
    "input": "hangar.tool.input",
    "output": "hangar.tool.output",
    "mcp_server": "hangar.mcp.server",
    "mcp_tool": "hangar.mcp.tool",
    "skill": "gen_ai.skill.name",
    "total": "hangar.test.total",
    "paths": "hangar.diff.files",
}
STATUS = {"approval": "hangar.approval.status", "test.run": "hangar.test.status"}


def any_value(value: Any) -> AnyValue:
    match value:
        case bool():
            return AnyValue(bool_value=value)
        case int():
            return AnyValue(int_value=value)
        case list():
            return AnyValue(array_value=ArrayValue(values=[any_value(one) for one in value]))
    return AnyValue(string_value=value)


def key_values(attributes: dict[str, Any]) -> list[KeyValue]:
    return [KeyValue(key=key, value=any_value(value)) for key, value in attributes.items()]


def as_span(one: dict[str, Any], number: int, job: str | None) -> Span:
    """The span that carries an item: a tool call, approval or test run itself, any other event as an event of one."""
    attributes = {key: one[part] for part, key in ATTRIBUTES.items() if one.get(part) is not None}
    if one.get("status") is not None:
        attributes[STATUS.get(one["name"], "hangar.status")] = one["status"]
    if job is not None:
        attributes["hangar.job.id"] = job
    attributes |= one.get("attrs", {})
    time = {"start_time_unix_nano": EPOCH + one["time"], "end_time_unix_nano": EPOCH + one["time"] + 1}
    if one["kind"] == "tool":
        return span(
            "tool.call", number, attributes=key_values(attributes | {"gen_ai.tool.name": one["name"]}), **time
        )
    if one["kind"] == "approval" or one["name"] == "test.run":
        return span(one["name"], number, attributes=key_values(attributes), **time)
    event = Span.Event(name=one["name"], time_unix_nano=EPOCH + one["time"], attributes=key_values(attributes))
    return span("turn", number, events=[event], **time)


@pytest.mark.parametrize("contract", Contract)
@pytest.mark.parametrize("one_case", json.loads(CASES.read_text()), ids=lambda one: one["id"])
async def test_a_case_over_otlp_has_its_result_and_is_final_when_it_says(
    one_case: dict[str, Any], contract: Contract
) -> None:
    sessions = {one["session"] for one in one_case["items"]} or {"s1"}
    job = "j1" if len(sessions) > 1 else None
    key = UnitKey(UnitKind.JOB, "j1") if job else UnitKey(UnitKind.SESSION, *sessions)
    index = Index(Program(behaviors(one_case["assert"], unit=key.kind.value), contract))
    receiver = Receiver(Pipeline(index).receive)
    await receiver.start()
    try:
        async with httpx.AsyncClient() as client:
            for number, one in enumerate(one_case["items"], 1):
                request = traces_request(as_span(one, number, job))
                headers = {"content-type": "application/x-protobuf"}
                reply = await client.post(receiver.traces_url, content=request.SerializeToString(), headers=headers)
                assert reply.status_code == 200
    finally:
        await receiver.stop()
    index.open("s1")
    index.close_all()
    (found,) = index.units[key].results
    assert found.verdict.result == one_case["result"], found.verdict.reason
    if f"final_{contract}" in one_case:
        assert found.final_at == one_case[f"final_{contract}"]
        assert not found.revised
