"""Any OTLP request decodes to what a plain decoder reads, in either encoding; no bytes crash a decoder."""

from collections.abc import Callable
from contextlib import suppress

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from collector.receiver.decoded import Decoded, Malformed
from collector.receiver.json_usual import usual_traces
from collector.receiver.otlp_json import decode_logs_json, decode_traces_json, parse_object, traces_of
from collector.receiver.protobuf import decode_logs, decode_traces
from collector.receiver.records import decode_lines
from tests.collector.receiver.otlp_building import (
    batch_logs,
    batch_spans,
    log_requests,
    plain_logs,
    plain_spans,
    to_json,
    trace_requests,
)

unhurried = settings(max_examples=50, deadline=None)
DECODERS = [decode_traces, decode_logs, decode_traces_json, decode_logs_json, decode_lines]


@unhurried
@given(trace_requests)
def test_spans_are_those_of_a_plain_decoder(request: ExportTraceServiceRequest) -> None:
    expected = plain_spans(request)

    assert batch_spans(decode_traces(request.SerializeToString()).batch) == expected
    assert batch_spans(decode_traces_json(to_json(request)).batch) == expected


@unhurried
@given(log_requests)
def test_log_records_are_those_of_a_plain_decoder(request: ExportLogsServiceRequest) -> None:
    expected = plain_logs(request)

    assert batch_logs(decode_logs(request.SerializeToString()).batch) == expected
    assert batch_logs(decode_logs_json(to_json(request)).batch) == expected


def look_at(decoded: Decoded) -> None:
    """Decode all that is lazy."""
    batch_spans(decoded.batch)
    batch_logs(decoded.batch)


@pytest.mark.parametrize("decode", DECODERS)
@unhurried
@given(body=st.binary(max_size=200))
def test_no_bytes_crash_a_decoder(decode: Callable[[bytes], Decoded], body: bytes) -> None:
    with suppress(Malformed):
        look_at(decode(body))


@unhurried
@given(request=trace_requests, data=st.data())
def test_a_damaged_request_does_not_crash(request: ExportTraceServiceRequest, data: st.DataObject) -> None:
    for body, decode in ((request.SerializeToString(), decode_traces), (to_json(request), decode_traces_json)):
        damaged = bytearray(body)
        for _ in range(data.draw(st.integers(1, 4))):
            if damaged:
                damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
        with suppress(Malformed):
            look_at(decode(bytes(damaged)))


@unhurried
@given(trace_requests)
def test_usual_json_is_read_the_fast_way_to_the_same_spans(request: ExportTraceServiceRequest) -> None:
    body = to_json(request)

    usual = usual_traces(body)

    if usual is not None:
        careful = traces_of(parse_object(body))
        assert careful.rejected == 0
        assert batch_spans(usual.batch) == batch_spans(careful.batch)


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**63), 2**64 - 1), st.floats(), st.text(max_size=4)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=4), inner, max_size=3)),
    max_leaves=4,
)


def places(node: object) -> list[tuple[object, object]]:
    """Every (container, key) of a document."""
    if isinstance(node, dict):
        found: list[tuple[object, object]] = [(node, key) for key in node]
        return found + [place for value in node.values() for place in places(value)]
    if isinstance(node, list):
        found = [(node, index) for index in range(len(node))]
        return found + [place for value in node for place in places(value)]
    return []


@unhurried
@given(request=trace_requests, data=st.data())
def test_a_wrong_type_anywhere_in_json_does_not_crash(
    request: ExportTraceServiceRequest, data: st.DataObject
) -> None:
    document = orjson.loads(to_json(request))
    found = places(document)
    if found:
        container, key = data.draw(st.sampled_from(found))
        container[key] = data.draw(json_values)  # type: ignore[index]
    body = orjson.dumps(document)
    usual = usual_traces(body)
    with suppress(Malformed):
        careful = traces_of(parse_object(body))
        look_at(careful)
        assert usual is None or batch_spans(usual.batch) == batch_spans(careful.batch)
        return
    assert usual is None
