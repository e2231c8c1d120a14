"""Values over the limit: they are not kept, and nothing that might rest on them passes."""

from typing import Any

import pytest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord as ProtobufLog
from opentelemetry.proto.trace.v1.trace_pb2 import Span as ProtobufSpan
from opentelemetry.proto.trace.v1.trace_pb2 import Status

from collector.assembly import Assembly
from collector.index import Index, UnitKey, UnitKind
from collector.pipeline import Pipeline
from collector.receiver.protobuf import decode_logs, decode_traces
from collector.telemetry import Batch, LogRecord, Resource, Scope, Span, SpanEvent
from evaluator.behaviors import Program
from evaluator.items import NotRecorded
from evaluator.language.behaviors import parse_behaviors
from evaluator.verdict import Result
from tests.collector.receiver import otlp_building as otlp

BEHAVIORS = """
behaviors:
  - name: never deletes
    assert: {never: {tool: {kind: shell}, input: 'rm -rf'}}
  - name: never secret
    assert: {never: {where: {note: {regex: secret}}}}
  - name: calls
    assert: {eventually: {tool: {kind: shell}}}
"""
LIMIT = 1_000
LONG = "x" * (LIMIT + 1)


def span(number: int, session: str | None = "s", *, parent: int = 0, trace: int = 1, **attributes: Any) -> Span:
    known = {"gen_ai.tool.name": "bash", "hangar.tool.kind": "shell", "hangar.seq": number}
    if session is not None:
        known["hangar.session.id"] = session
    return Span(
        trace.to_bytes(16, "big"),
        number.to_bytes(8, "big"),
        parent.to_bytes(8, "big") if parent else b"",
        "tool.call",
        1,
        number,
        number + 1,
        known | {key.replace("_", "."): value for key, value in attributes.items()},
        Resource(),
        Scope(),
    )


def received(*batches: Batch) -> Pipeline:
    pipeline = Pipeline(Index(Program(parse_behaviors(BEHAVIORS, "b"))), Assembly(), value_limit=LIMIT)
    for batch in batches:
        pipeline.receive(batch)
    pipeline.index.close_all()
    return pipeline


def results(pipeline: Pipeline, session: str = "s") -> dict[str, Result]:
    unit = pipeline.index.units[UnitKey(UnitKind.SESSION, session)]
    return {each.behavior: each.verdict.result for each in unit.results}


def test_what_fits_is_kept_and_judged() -> None:
    pipeline = received(Batch([span(1, note="x" * LIMIT)]))
    assert results(pipeline) == {
        "never deletes": Result.PASS,
        "never secret": Result.PASS,
        "calls": Result.PASS,
    }
    assert pipeline.oversize is not None
    assert pipeline.oversize.taken == 0


@pytest.mark.parametrize(
    "attributes",
    [
        {"note": LONG},
        {"note": ["x" * 600, "x" * 600]},
        {"note": {"a": {"b": LONG}}},
        {"note": b"x" * (LIMIT + 1)},
        {"gen_ai_tool_name": LONG},
        {"hangar_tool_input": LONG},
        {"gen_ai_tool_call_arguments": f'{{"command": "{LONG}"}}'},
        {"gen_ai_tool_call_result": LONG},
    ],
    ids=lambda attributes: next(iter(attributes)),
)
def test_a_session_that_lost_a_value_passes_nothing_that_it_could_change(attributes: dict[str, Any]) -> None:
    pipeline = received(Batch([span(1), span(2, **attributes)]))
    # That there was a call at all is seen.
    assert results(pipeline) == {
        "never deletes": Result.UNKNOWN,
        "never secret": Result.UNKNOWN,
        "calls": Result.PASS,
    }
    assert _largest(pipeline) <= LIMIT
    (unit,) = pipeline.index.sessions()
    assert unit.cut == "a value in it was larger than the limit of 1000 bytes"


def test_an_input_keeps_its_beginning_which_is_all_that_patterns_see() -> None:
    pipeline = received(Batch([span(1, hangar_tool_input="rm -rf /" + LONG)]))
    assert results(pipeline)["never deletes"] is Result.FAIL


def test_a_value_that_was_taken_out_is_not_recorded_and_says_why() -> None:
    pipeline = received(Batch([span(1, note=LONG)]))
    (unit,) = pipeline.index.sessions()
    (item,) = unit.own.values()
    assert item.attributes["note"] == NotRecorded(
        "it was cut by the limit: 1001 bytes, at most 1000 are kept", "raise --max-value"
    )


def test_a_span_that_makes_no_item_cuts_its_session_all_the_same() -> None:
    def model() -> Span:
        made = span(2)
        made.name, made.attributes = "chat", {"hangar.session.id": "s", "gen_ai.input.messages": LONG}
        return made

    assert results(received(Batch([span(1), model()])))["never deletes"] is Result.UNKNOWN
    assert results(received(Batch([model()]), Batch([span(1)])))["never deletes"] is Result.UNKNOWN


def test_the_session_is_cut_also_when_it_is_named_later() -> None:
    large = span(2, None, parent=1, note=LONG)
    pipeline = received(Batch([large]), Batch([span(1)]))
    assert results(pipeline)["never secret"] is Result.UNKNOWN


def test_what_is_shared_by_spans_concerns_all_of_them() -> None:
    one, other = span(1), span(2, "other", trace=2)
    one.resource = other.resource = Resource({"process.command_line": LONG})
    pipeline = received(Batch([one, other]))
    assert results(pipeline, "s")["never secret"] is Result.UNKNOWN
    assert results(pipeline, "other")["never secret"] is Result.UNKNOWN


def test_events_bodies_and_records_have_the_same_limit() -> None:
    with_event = span(1)
    with_event.events = [SpanEvent("note", 1, {"note": LONG})]
    log = LogRecord(1, "note", LONG, {"hangar.session.id": "log"}, Resource(), Scope())
    record = {"v": 1, "type": "tool", "ts": 1.0, "fn": "bash", "args": {"command": LONG}, "context": {"test": "t"}}
    pipeline = received(Batch([with_event], [log], [record]))
    for session in ("s", "log", "t"):
        assert results(pipeline, session)["never secret"] is Result.UNKNOWN


def test_other_sessions_are_whole() -> None:
    pipeline = received(Batch([span(1, note=LONG), span(2, "other", trace=2)]), Batch([span(3, "third", trace=3)]))
    assert results(pipeline, "other")["never secret"] is Result.PASS
    assert results(pipeline, "third")["never secret"] is Result.PASS


def test_a_body_that_is_smaller_than_the_limit_is_not_looked_into() -> None:
    # Its size says that nothing in it is too large; that it lies here shows that nobody looks.
    pipeline = received(Batch([span(1, note=LONG)], size=LIMIT))
    assert results(pipeline)["never secret"] is Result.PASS


@pytest.mark.parametrize("lengths", [{}, {"status": 2_000}, {"name": 2_000}, {"value": 2_000}, {"event": 2_000}])
def test_spans_in_protobuf_are_looked_into_like_others(lengths: dict[str, int]) -> None:
    def text(part: str) -> AnyValue:
        return AnyValue(string_value="x" * lengths.get(part, 10))

    session = KeyValue(key="hangar.session.id", value=AnyValue(string_value="s"))
    tool = KeyValue(key="gen_ai.tool.name", value=AnyValue(string_value="bash"))
    spans = [
        otlp.span(
            "x" * lengths.get("name", 10) if number == 1 else "other",
            number,
            attributes=[session, tool, KeyValue(key="note", value=text("value"))],
            status=Status(code=2, message=text("status").string_value),
            events=[ProtobufSpan.Event(name="e", attributes=[KeyValue(key="k", value=text("event"))])],
            links=[ProtobufSpan.Link(trace_id=b"t" * 16, span_id=b"s" * 8)],
        )
        for number in range(1, 20)
    ]
    body = otlp.traces_request(*spans).SerializeToString()
    assert len(body) > LIMIT
    batch = decode_traces(body).batch
    batch.size = len(body)
    pipeline = received(batch)
    (unit,) = pipeline.index.sessions()
    assert (unit.cut is not None) is bool(lengths)
    assert max(len(span.status_message) for span in batch.spans) <= LIMIT


def test_logs_in_protobuf_are_looked_into_like_others() -> None:
    session = KeyValue(key="hangar.session.id", value=AnyValue(string_value="s"))
    body = AnyValue(string_value=LONG)
    logs = otlp.logs_request(ProtobufLog(event_name="note", attributes=[session], body=body)).SerializeToString()
    pipeline = received(decode_logs(logs).batch)
    assert results(pipeline)["never secret"] is Result.UNKNOWN


def _largest(pipeline: Pipeline) -> int:
    (unit,) = pipeline.index.sessions()
    texts = [item.name for item in unit.own.values()]
    texts += [text for item in unit.own.values() for text in item.attributes.values() if isinstance(text, str)]
    return max(map(len, texts))
