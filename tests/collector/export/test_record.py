"""Recorded requests read back as they were received."""

import json
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from collector.export.otlp_json import request_from_json, request_to_json
from collector.export.record import Recorder
from collector.receiver import Received, Signal
from collector.receiver.files import read
from collector.telemetry import Batch
from tests.collector.receiver.otlp_building import (
    batch_logs,
    batch_spans,
    log_requests,
    plain_logs,
    plain_spans,
    span,
    text,
    to_json,
    trace_requests,
    traces_request,
)

PROTOBUF, JSON, LINES = "application/x-protobuf", "application/json", "application/x-ndjson"
unhurried = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def recorded(path: Path, *received: Received) -> Batch:
    """What reading the recording of these requests gives."""
    with Recorder(path) as recorder:
        for each in received:
            recorder(each)
    assert (recorder.recorded, recorder.failed, recorder.problem) == (len(received), 0, None)
    batch = Batch()
    for part in read(path):
        batch.spans += part.spans
        batch.logs += part.logs
        batch.records += part.records
    return batch


@unhurried
@given(request=trace_requests)
@pytest.mark.parametrize("content_type", [PROTOBUF, JSON])
def test_any_spans_read_back_as_they_were(tmp_path: Path, content_type: str, request: Any) -> None:
    body = request.SerializeToString() if content_type == PROTOBUF else to_json(request)

    batch = recorded(tmp_path / "record", Received(Signal.TRACES, content_type, body))

    assert batch_spans(batch) == plain_spans(request)


@unhurried
@given(request=log_requests)
@pytest.mark.parametrize("content_type", [PROTOBUF, JSON])
def test_any_log_records_read_back_as_they_were(tmp_path: Path, content_type: str, request: Any) -> None:
    body = request.SerializeToString() if content_type == PROTOBUF else to_json(request)

    batch = recorded(tmp_path / "record", Received(Signal.LOGS, content_type, body))

    assert batch_logs(batch) == plain_logs(request)


def test_each_request_is_a_line_in_the_order_of_arrival(tmp_path: Path) -> None:
    path = tmp_path / "record"
    names = ["one", "two", "three"]

    recorded(
        path,
        *(Received(Signal.TRACES, PROTOBUF, traces_request(span(name)).SerializeToString()) for name in names),
    )

    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["name"] for line in lines] == names


def test_what_is_not_decoded_is_recorded_as_well(tmp_path: Path) -> None:
    duplicates = [KeyValue(key="k", value=text("first")), KeyValue(key="k", value=text("last"))]
    link = Span.Link(trace_id=b"t" * 16, span_id=b"s" * 8, trace_state="a=b", flags=1)
    request = traces_request(span(attributes=duplicates, trace_state="x=y", links=[link], dropped_links_count=3))
    request.resource_spans[0].schema_url = "a schema"

    document = request_to_json("traces", request.SerializeToString())

    assert ExportTraceServiceRequest.FromString(request_from_json("traces", document)) == request


def test_text_that_is_not_utf_8_is_recorded_with_its_place_kept(tmp_path: Path) -> None:
    body = traces_request(span(attributes=[KeyValue(key="k", value=text("a~b"))])).SerializeToString()

    batch = recorded(tmp_path / "record", Received(Signal.TRACES, PROTOBUF, body.replace(b"~", b"\xff")))

    assert dict(batch.spans[0].attributes) == {"k": "a\ufffdb"}


def test_pretty_json_becomes_one_line_and_keeps_the_line_breaks_in_its_texts(tmp_path: Path) -> None:
    request = traces_request(span("two\nlines"))
    pretty = orjson.dumps(orjson.loads(to_json(request)), option=orjson.OPT_INDENT_2)

    batch = recorded(tmp_path / "record", Received(Signal.TRACES, JSON, pretty))

    assert [span.name for span in batch.spans] == ["two\nlines"]
    assert (tmp_path / "record").read_bytes().count(b"\n") == 1


def test_of_trace_contract_lines_the_readable_are_recorded(tmp_path: Path) -> None:
    record = {"v": 1, "type": "tool", "ts": 1, "fn": "f"}
    body = json.dumps(record).encode() + b"\n{broken\n\n" + json.dumps(record).encode()

    batch = recorded(tmp_path / "record", Received(Signal.TRACES, LINES, body))

    assert batch.records == [record, record]


def test_metrics_are_recorded_and_skipped_in_reading(tmp_path: Path) -> None:
    request = ExportMetricsServiceRequest(
        resource_metrics=[
            {"scope_metrics": [{"metrics": [{"name": "m", "gauge": {"data_points": [{"as_int": 1}]}}]}]}
        ]
    )

    batch = recorded(tmp_path / "record", Received(Signal.METRICS, PROTOBUF, request.SerializeToString()))

    assert batch == Batch()
    assert b'"asInt":"1"' in (tmp_path / "record").read_bytes()


@pytest.mark.parametrize(("append", "expected"), [(False, ["two"]), (True, ["one", "two"])])
def test_a_recording_begins_anew_or_goes_on(tmp_path: Path, append: bool, expected: list[str]) -> None:
    path = tmp_path / "record"
    for name, appends in (("one", False), ("two", append)):
        with Recorder(path, append=appends) as recorder:
            recorder(Received(Signal.TRACES, PROTOBUF, traces_request(span(name)).SerializeToString()))

    assert [span.name for batch in read(path) for span in batch.spans] == expected


def test_a_request_is_in_the_file_at_once(tmp_path: Path) -> None:
    with Recorder(tmp_path / "record") as recorder:
        recorder(Received(Signal.TRACES, JSON, b"{}"))
        assert (tmp_path / "record").read_bytes() == b"{}\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
def test_a_full_disk_is_told_and_does_not_disturb_receiving() -> None:
    with Recorder(Path("/dev/full")) as recorder:
        recorder(Received(Signal.TRACES, JSON, b"{}"))

    assert (recorder.recorded, recorder.failed) == (0, 1)
    assert recorder.problem is not None
    assert "1 received request(s) could not be recorded: [Errno 28]" in recorder.problem


def test_a_file_that_cannot_be_opened_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        Recorder(tmp_path)


def test_the_folder_of_a_recording_is_made(tmp_path: Path) -> None:
    Recorder(tmp_path / "new" / "record").close()
    assert (tmp_path / "new" / "record").exists()


@unhurried
@given(request=trace_requests)
def test_any_spans_survive_the_way_to_json_and_back(request: ExportTraceServiceRequest) -> None:
    document = orjson.loads(orjson.dumps(request_to_json("traces", request.SerializeToString())))

    again = ExportTraceServiceRequest.FromString(request_from_json("traces", document))

    assert plain_spans(again) == plain_spans(request)


@unhurried
@given(request=log_requests)
def test_any_log_records_survive_the_way_to_json_and_back(request: ExportLogsServiceRequest) -> None:
    document = orjson.loads(orjson.dumps(request_to_json("logs", request.SerializeToString())))

    again = ExportLogsServiceRequest.FromString(request_from_json("logs", document))

    assert plain_logs(again) == plain_logs(request)


def test_a_document_that_is_no_request_is_refused() -> None:
    with pytest.raises(ValueError, match="resourceSpans"):
        request_from_json("traces", {"resourceSpans": 1})


def test_exact_integers_and_bytes_survive() -> None:
    values = [AnyValue(int_value=-(2**63)), AnyValue(int_value=2**63 - 1), AnyValue(bytes_value=b"\x00\xff")]
    attributes = [KeyValue(key=str(index), value=value) for index, value in enumerate(values)]

    document = request_to_json("traces", traces_request(span(attributes=attributes)).SerializeToString())

    [found] = document["resourceSpans"][0]["scopeSpans"][0]["spans"]
    assert [attribute["value"] for attribute in found["attributes"]] == [
        {"intValue": "-9223372036854775808"},
        {"intValue": "9223372036854775807"},
        {"bytesValue": "AP8="},
    ]
