"""What the protobuf decoder does beyond what a plain decoder does: ids, laziness, values that are not well-formed."""

import pytest
from google.protobuf.message import DecodeError
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from collector.receiver import values
from collector.receiver.decoded import TOO_DEEP, Malformed
from collector.receiver.protobuf import decode_logs, decode_traces
from collector.receiver.values import MALFORMED, decode_value, read_attributes
from tests.collector.receiver.otlp_building import SPAN_ID, TRACE_ID, logs_request, span, text, traces_request

BAD_IDS = {
    "a trace id of 15 bytes": ({"trace_id": bytes(range(15))}, "trace id has 15 bytes, not 16"),
    "a trace id of 17 bytes": ({"trace_id": bytes(range(17))}, "trace id has 17 bytes, not 16"),
    "a trace id as hex text": ({"trace_id": b"0102030405060708090a0b0c0d0e0f10"}, "trace id has 32 bytes, not 16"),
    "no trace id": ({"trace_id": b""}, "trace id has 0 bytes, not 16"),
    "a trace id of zeros": ({"trace_id": bytes(16)}, "trace id is all zeros"),
    "a span id of 16 bytes": ({"span_id": bytes(range(16))}, "its span id has 16 bytes, not 8"),
    "no span id": ({"span_id": b""}, "its span id has 0 bytes, not 8"),
    "a span id of zeros": ({"span_id": bytes(8)}, "its span id is all zeros"),
    "a parent id of 4 bytes": ({"parent_span_id": b"abcd"}, "parent span id has 4 bytes, not 8 or none"),
}


@pytest.mark.parametrize(("ids", "reason"), BAD_IDS.values(), ids=BAD_IDS)
def test_a_span_with_a_wrong_id_is_left_out_and_the_others_are_taken(ids: dict[str, bytes], reason: str) -> None:
    request = traces_request(span("first"), span("wrong", 2, **ids), span("last", 3))

    decoded = decode_traces(request.SerializeToString())

    assert [s.name for s in decoded.batch.spans] == ["first", "last"]
    assert decoded.rejected == 1
    assert reason in decoded.reason
    assert "span 2 ('wrong')" in decoded.reason


def test_all_rejected_spans_are_counted_and_the_first_is_explained() -> None:
    request = traces_request(span("one", span_id=b"1"), span("two", span_id=b"22"))

    decoded = decode_traces(request.SerializeToString())

    assert decoded.rejected == 2
    assert "'one'" in decoded.reason


def test_a_parent_id_of_zeros_is_no_parent() -> None:
    [decoded] = decode_traces(traces_request(span(parent_span_id=bytes(8))).SerializeToString()).batch.spans

    assert decoded.parent_id == b""


@pytest.mark.parametrize("ids", [{"trace_id": b"short"}, {"span_id": b"short"}])
def test_a_log_record_with_a_wrong_id_is_left_out(ids: dict[str, bytes]) -> None:
    request = logs_request(LogRecord(event_name="good"), LogRecord(event_name="bad", **ids))

    decoded = decode_logs(request.SerializeToString())

    assert [record.event_name for record in decoded.batch.logs] == ["good"]
    assert decoded.rejected == 1
    assert "log record 2" in decoded.reason


def test_a_log_record_with_ids_of_zeros_has_none() -> None:
    request = logs_request(LogRecord(trace_id=bytes(16), span_id=bytes(8)))

    [record] = decode_logs(request.SerializeToString()).batch.logs

    assert (record.trace_id, record.span_id) == (b"", b"")


def test_a_log_record_without_a_name_has_that_of_its_attribute() -> None:
    attribute = KeyValue(key="event.name", value=text("gen_ai.choice"))

    [record] = decode_logs(logs_request(LogRecord(attributes=[attribute])).SerializeToString()).batch.logs

    assert record.event_name == "gen_ai.choice"


def test_a_log_record_without_a_time_has_the_time_it_was_observed() -> None:
    [record] = decode_logs(logs_request(LogRecord(observed_time_unix_nano=7)).SerializeToString()).batch.logs

    assert record.time == 7


@pytest.mark.parametrize("decode", [decode_traces, decode_logs])
@pytest.mark.parametrize("body", [b"\xff", b"\x0a\x05abc", b"{}", b"\x0a\x02\x12\x10"], ids=repr)
def test_a_body_that_is_not_protobuf_is_malformed(decode, body) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(Malformed, match=f"body of {len(body)} bytes is not a protobuf Export"):
        decode(body)


def test_a_cut_request_is_malformed_wherever_it_is_cut_but_between_resources() -> None:
    body = traces_request(span(attributes=[KeyValue(key="k", value=text("v"))])).SerializeToString()

    for end in range(1, len(body)):
        with pytest.raises(Malformed):
            decode_traces(body[:end])


def test_an_empty_request_carries_nothing() -> None:
    decoded = decode_traces(b"")

    assert (decoded.batch.spans, decoded.rejected) == ([], 0)


def test_requests_one_after_another_are_one() -> None:
    one, two = (traces_request(span(name)).SerializeToString() for name in ("one", "two"))

    assert [s.name for s in decode_traces(one + two).batch.spans] == ["one", "two"]


def test_of_duplicate_keys_the_last_counts() -> None:
    attributes = [KeyValue(key="k", value=text("first")), KeyValue(key="k", value=text("last"))]

    [decoded] = decode_traces(traces_request(span(attributes=attributes)).SerializeToString()).batch.spans

    assert dict(decoded.attributes) == {"k": "last"}


def test_attributes_are_a_mapping() -> None:
    attributes = [KeyValue(key="a", value=text("x")), KeyValue(key="b", value=AnyValue(int_value=-1))]
    request = traces_request(span(attributes=attributes))

    [decoded] = decode_traces(request.SerializeToString()).batch.spans

    assert decoded.attributes == {"a": "x", "b": -1}
    assert (len(decoded.attributes), "a" in decoded.attributes, "c" in decoded.attributes) == (2, True, False)
    assert (decoded.attributes["b"], decoded.attributes.get("c"), decoded.attributes.get("c", 3)) == (-1, None, 3)
    with pytest.raises(KeyError, match="c"):
        decoded.attributes["c"]


def test_spans_of_a_scope_share_their_resource_and_scope() -> None:
    first, second = decode_traces(
        traces_request(span(), span(number=2), resource={"service.name": "s"}).SerializeToString()
    ).batch.spans

    assert first.resource is second.resource
    assert first.scope is second.scope
    assert first.resource.attributes["service.name"] == "s"


def nested(depth: int) -> AnyValue:
    value = text("core")
    for level in range(depth):
        if level % 2:
            value = AnyValue(array_value={"values": [value]})
        else:
            value = AnyValue(kvlist_value={"values": [KeyValue(key="k", value=value)]})
    return value


def test_values_nest_up_to_the_limit_and_are_not_recorded_past_it() -> None:
    assert decode_value(nested(2).SerializeToString()) == [{"k": "core"}]
    assert decode_value(nested(values.NESTING).SerializeToString()) is not TOO_DEEP
    assert decode_value(nested(values.NESTING + 1).SerializeToString()) is TOO_DEEP


def test_nesting_by_the_thousands_is_not_recorded_and_does_not_crash() -> None:
    raw = b""
    for _ in range(5_000):
        inner = b"\x0a" + _varint(len(raw)) + raw
        raw = b"\x2a" + _varint(len(inner)) + inner

    assert decode_value(raw) is TOO_DEEP


def _varint(number: int) -> bytes:
    out = b""
    while number > 0x7F:
        out += bytes([number & 0x7F | 0x80])
        number >>= 7
    return out + bytes([number])


def test_text_that_is_not_utf_8_keeps_its_place() -> None:
    assert decode_value(b"\x0a\x03a\xffb") == "a\ufffdb"


@pytest.mark.parametrize("raw", [b"\x0a\x05abc", b"\xff", b"\x2a\x03\x0a\x05a"], ids=repr)
def test_a_value_that_is_not_well_formed_is_not_recorded(raw: bytes) -> None:
    assert decode_value(raw) is MALFORMED


def test_recurring_values_are_kept_within_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(values, "_RECURRING_COUNT", 10)
    raws = [KeyValue(key=f"k{n}", value=AnyValue(int_value=n)).SerializeToString() for n in range(100)]

    assert read_attributes(raws + raws) == {f"k{n}": n for n in range(100)}
    assert len(values._pair_of.__self__) <= 10  # type: ignore[attr-defined]
    assert len(values._keys) <= 10


@pytest.mark.parametrize("size", [0, 1, 125, 126, 127, 128, 129, 16_381, 16_384, 70_000])
def test_texts_and_keys_of_any_length_are_read(size: int) -> None:
    raw = KeyValue(key="k" * size, value=text("v" * size)).SerializeToString()

    assert read_attributes([raw]) == {"k" * size: "v" * size}


@pytest.mark.parametrize(
    "raw", [b"\x0a", b"\x0a\x05ab", b"\x0a\x01k\x12", b"\x0a\x01k\x12\x03a", b"\x0a\x01\xff\x12\x00"]
)
def test_what_is_no_attribute_is_an_error(raw: bytes) -> None:
    with pytest.raises(DecodeError):
        read_attributes([raw])


def test_an_attribute_in_an_unusual_form_is_read() -> None:
    assert read_attributes([b"\x12\x03\x0a\x01v\x0a\x01k", b"\x0a\x01a", b"\x12\x02\x18\x07"]) == {
        "k": "v",
        "a": None,
        "": 7,
    }


def test_a_structure_is_decoded_anew_so_that_nobody_shares_it() -> None:
    raw = AnyValue(array_value={"values": [text("x")]}).SerializeToString()

    assert decode_value(raw) == decode_value(raw)
    assert decode_value(raw) is not decode_value(raw)


def test_links_and_events_are_read() -> None:
    link = Span.Link(trace_id=TRACE_ID, span_id=SPAN_ID)
    event = Span.Event(name="e", time_unix_nano=5, attributes=[KeyValue(key="k", value=text("v"))])

    [decoded] = decode_traces(traces_request(span(links=[link], events=[event])).SerializeToString()).batch.spans

    assert [(link.trace_id, link.span_id) for link in decoded.links] == [(TRACE_ID, SPAN_ID)]
    assert [(e.name, e.time, e.attributes["k"]) for e in decoded.events] == [("e", 5, "v")]
