"""OTLP JSON, rule by rule."""

import math
from typing import Any

import orjson
import pytest

from collector.receiver.decoded import TOO_DEEP, Malformed
from collector.receiver.json_usual import usual_traces
from collector.receiver.otlp_json import decode_logs_json, decode_traces_json
from collector.telemetry import LogRecord, Span

TRACE_ID, SPAN_ID = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
PLACE = "resourceSpans[0].scopeSpans[0].spans[0]"


def request(**fields: Any) -> bytes:
    """A request of one span that has these fields besides its ids."""
    span = {"traceId": TRACE_ID, "spanId": SPAN_ID, **fields}
    return orjson.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]})


def decode(body: bytes) -> Span:
    [span] = decode_traces_json(body).batch.spans
    return span


def attribute(value: Any) -> Any:
    """What an attribute's value in JSON decodes to."""
    return decode(request(attributes=[{"key": "k", "value": value}])).attributes["k"]


VALUES = {
    "text": ({"stringValue": "x"}, "x"),
    "empty text": ({"stringValue": ""}, ""),
    "true": ({"boolValue": True}, True),
    "false": ({"boolValue": False}, False),
    "an integer as a number": ({"intValue": 42}, 42),
    "an integer as text": ({"intValue": "42"}, 42),
    "a negative integer as text": ({"intValue": "-7"}, -7),
    "an integral float": ({"intValue": 3.0}, 3),
    "the largest integer": ({"intValue": "9223372036854775807"}, 2**63 - 1),
    "the smallest integer": ({"intValue": -(2**63)}, -(2**63)),
    "a double": ({"doubleValue": 1.5}, 1.5),
    "a double without a fraction": ({"doubleValue": 2}, 2.0),
    "a double as text": ({"doubleValue": "1e3"}, 1000.0),
    "infinity": ({"doubleValue": "Infinity"}, math.inf),
    "negative infinity": ({"doubleValue": "-Infinity"}, -math.inf),
    "bytes": ({"bytesValue": "AP8="}, b"\x00\xff"),
    "bytes without padding": ({"bytesValue": "AP8"}, b"\x00\xff"),
    "bytes in the URL alphabet": ({"bytesValue": "-_8="}, b"\xfb\xff"),
    "no bytes": ({"bytesValue": ""}, b""),
    "a list": ({"arrayValue": {"values": [{"intValue": 1}, {"stringValue": "x"}, {}]}}, [1, "x", None]),
    "an empty list": ({"arrayValue": {}}, []),
    "a mapping": ({"kvlistValue": {"values": [{"key": "a", "value": {"boolValue": True}}]}}, {"a": True}),
    "an empty mapping": ({"kvlistValue": {}}, {}),
    "nothing": ({}, None),
    "null": (None, None),
    "a null text": ({"stringValue": None}, None),
    "an unknown kind beside a known": ({"stringValue": "x", "colour": "red"}, "x"),
    "only an unknown kind": ({"colour": "red"}, None),
}


@pytest.mark.parametrize(("value", "expected"), VALUES.values(), ids=VALUES)
def test_a_value_is_read(value: Any, expected: Any) -> None:
    found = attribute(value)

    assert found == expected
    assert type(found) is type(expected)


def test_nan_is_read() -> None:
    assert math.isnan(attribute({"doubleValue": "NaN"}))


WRONG_VALUES = {
    "a number as text": ({"stringValue": 1}, "stringValue: expected text, found a number (1)"),
    "text as a boolean": ({"boolValue": "true"}, 'boolValue: expected true or false, found text ("true")'),
    "a boolean as an integer": ({"intValue": True}, "intValue: expected an integer"),
    "a fraction as an integer": ({"intValue": 1.5}, "intValue: expected an integer"),
    "an integer past 64 bits": ({"intValue": "9223372036854775808"}, "intValue: expected an integer between"),
    "a huge integer": ({"intValue": 10**30}, "intValue: expected an integer between"),
    "thousands of digits": ({"intValue": "9" * 10_000}, "intValue: expected an integer"),
    "words as an integer": ({"intValue": "many"}, "intValue: expected an integer"),
    "digits of another script": ({"intValue": "٣"}, "intValue: expected an integer"),
    "words as a double": ({"doubleValue": "many"}, "doubleValue: expected a number"),
    "another spelling of infinity": ({"doubleValue": "inf"}, "doubleValue: expected a number"),
    "a boolean as a double": ({"doubleValue": True}, "doubleValue: expected a number"),
    "bytes that are not base64": ({"bytesValue": "***"}, "bytesValue: expected base64"),
    "bytes of one digit": ({"bytesValue": "A"}, "bytesValue: expected base64"),
    "a bare text": ("x", "value: expected an object"),
    "two values": ({"stringValue": "x", "intValue": 1}, "intValue: expected one value, and stringValue"),
    "a bare list": ({"arrayValue": [1]}, "arrayValue: expected an object"),
    "a list of bare texts": ({"arrayValue": {"values": ["x"]}}, "arrayValue.values[0]: expected an object"),
    "a mapping of mappings": ({"kvlistValue": {"values": {"a": 1}}}, "kvlistValue.values: expected a list"),
    "deep inside": (
        {"kvlistValue": {"values": [{"key": "a", "value": {"arrayValue": {"values": [{}, {"boolValue": 1}]}}}]}},
        "kvlistValue.values[0].value.arrayValue.values[1].boolValue: expected true or false",
    ),
}


def dumped(value: Any) -> bytes:
    """As `orjson.dumps`, also of integers past 64 bits."""
    import json

    return json.dumps(value).encode()


@pytest.mark.parametrize(("value", "message"), WRONG_VALUES.values(), ids=WRONG_VALUES)
def test_a_wrong_value_is_refused_with_its_place(value: Any, message: str) -> None:
    span = {"traceId": TRACE_ID, "spanId": SPAN_ID, "attributes": [{"key": "k", "value": value}]}
    body = dumped({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]})

    with pytest.raises(Malformed) as raised:
        decode_traces_json(body)

    assert f"{PLACE}.attributes[0].{'' if message.startswith('value') else 'value.'}{message}" in str(raised.value)


WRONG_FIELDS = {
    "an enum by name": ({"kind": "SPAN_KIND_CLIENT"}, "kind: expected the number of an enum value"),
    "an enum as text": ({"kind": "3"}, "kind: expected the number of an enum value"),
    "a status by name": ({"status": {"code": "STATUS_CODE_ERROR"}}, "code: expected the number of an enum value"),
    "a name that is a number": ({"name": 5}, "name: expected text, found a number (5)"),
    "a time that is text": ({"startTimeUnixNano": "noon"}, "startTimeUnixNano: expected an integer"),
    "a negative time": ({"endTimeUnixNano": -1}, "endTimeUnixNano: expected an integer between 0 and"),
    "attributes as a mapping": ({"attributes": {"k": "v"}}, "attributes: expected a list, found an object"),
    "events as text": ({"events": "e"}, 'events: expected a list, found text ("e")'),
    "an event that is text": ({"events": ["e"]}, 'events[0]: expected an object, found text ("e")'),
    "an event's time": ({"events": [{}, {"timeUnixNano": []}]}, "events[1].timeUnixNano: expected an integer"),
    "an id that is a number": ({"traceId": 7}, "traceId: expected text, found a number (7)"),
    "flags past 32 bits": ({"flags": 2**32}, "flags: expected an integer between 0 and 4294967295"),
    "a status that is a number": ({"status": 2}, "status: expected an object, found a number (2)"),
}


@pytest.mark.parametrize(("fields", "message"), WRONG_FIELDS.values(), ids=WRONG_FIELDS)
def test_a_wrong_field_is_refused_with_its_place(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(Malformed) as raised:
        decode_traces_json(request(**fields))

    assert str(raised.value).startswith(f"{PLACE}.")
    assert message in str(raised.value)


BAD_IDS = {
    "a short trace id": ({"traceId": "abcd"}, "trace id has 2 bytes, not 16"),
    "an id in base64": ({"traceId": "CvdlGRbNQ92ESOshHIAxnA=="}, "expected 32 hex digits"),
    "an odd digit": ({"spanId": SPAN_ID[:-1]}, "expected 16 hex digits"),
    "blanks between digits": ({"spanId": "b7 ad 6b 71 69 20 33 31"}, "expected 16 hex digits"),
    "a span id of zeros": ({"spanId": "0" * 16}, "span id is all zeros"),
    "no trace id": ({"traceId": ""}, "trace id has 0 bytes"),
    "a long parent id": ({"parentSpanId": TRACE_ID}, "parent span id has 16 bytes, not 8 or none"),
}


@pytest.mark.parametrize(("ids", "reason"), BAD_IDS.values(), ids=BAD_IDS)
def test_a_span_with_a_wrong_id_is_left_out_and_the_others_are_taken(ids: dict[str, str], reason: str) -> None:
    good = {"traceId": TRACE_ID, "spanId": SPAN_ID, "name": "good"}
    spans = [good, {**good, "name": "bad", **ids}, good]

    decoded = decode_traces_json(orjson.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}))

    assert [span.name for span in decoded.batch.spans] == ["good", "good"]
    assert decoded.rejected == 1
    assert "number 2 of the request" in decoded.reason
    assert reason in decoded.reason


@pytest.mark.parametrize("write", [str.lower, str.upper])
def test_ids_are_hex_of_any_case(write: Any) -> None:
    span = decode(request(traceId=write(TRACE_ID), spanId=write(SPAN_ID), parentSpanId=write(SPAN_ID)))

    assert (span.trace_id.hex(), span.span_id.hex(), span.parent_id.hex()) == (TRACE_ID, SPAN_ID, SPAN_ID)


@pytest.mark.parametrize("time", [1764500000123456789, "1764500000123456789"], ids=["number", "text"])
def test_times_are_exact_as_numbers_and_as_text(time: Any) -> None:
    assert decode(request(startTimeUnixNano=time)).start == 1764500000123456789


def test_unknown_fields_are_ignored_everywhere() -> None:
    document = orjson.loads(request(name="n", colour="red", events=[{"name": "e", "mood": {}}]))
    document["resourceSpans"][0] |= {"unknown": 1, "schemaUrl": "u"}
    document["more"] = []

    span = decode(orjson.dumps(document))

    assert (span.name, [event.name for event in span.events]) == ("n", ["e"])


def test_null_is_as_good_as_absent() -> None:
    absent = dict.fromkeys(("parentSpanId", "name", "kind", "attributes", "events", "links", "status", "flags"))

    span = decode(request(**absent))

    assert (span.parent_id, span.name, span.kind, span.attributes, span.status) == (b"", "", 0, {}, 0)


def test_of_duplicate_keys_the_last_counts() -> None:
    pairs = [{"key": "k", "value": {"stringValue": "first"}}, {"key": "k", "value": {"stringValue": "last"}}]

    assert decode(request(attributes=pairs)).attributes == {"k": "last"}


NOT_REQUESTS = {
    "no JSON": (b"<html>", "the body is not JSON"),
    "nothing": (b"", "the body is not JSON"),
    "not a number": (b'{"a": NaN}', "the body is not JSON"),
    "a list": (b"[]", "the body is a JSON list, expected an object"),
    "a text": (b'"x"', "the body is a JSON str, expected an object"),
    "bytes that are not UTF-8": (b'{"a": "\xff"}', "the body is not JSON"),
    "objects by the thousands, one in another": (b'{"a":' * 50_000, "the body is not JSON"),
    "a mapping of resources": (b'{"resourceSpans": {}}', "resourceSpans: expected a list, found an object"),
    "a resource that is text": (b'{"resourceSpans": ["r"]}', "resourceSpans[0]: expected an object"),
    "the names of the .proto files": (b'{"resource_spans": []}', "resource_spans: OTLP JSON has lowerCamelCase"),
}


@pytest.mark.parametrize(("body", "message"), NOT_REQUESTS.values(), ids=NOT_REQUESTS)
def test_what_is_not_a_request_is_malformed(body: bytes, message: str) -> None:
    with pytest.raises(Malformed) as raised:
        decode_traces_json(body)

    assert message in str(raised.value)


def test_an_empty_request_carries_nothing() -> None:
    assert decode_traces_json(b"{}").batch.spans == []
    assert decode_logs_json(b'{"resourceLogs": []}').batch.logs == []


def nested(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {"stringValue": "core"}
    for _ in range(depth):
        value = {"arrayValue": {"values": [value]}}
    return value


def test_values_nest_up_to_the_limit_and_are_not_recorded_past_it() -> None:
    assert attribute(nested(2)) == [["core"]]
    assert attribute(nested(32)) is not TOO_DEEP
    assert attribute(nested(33)) is TOO_DEEP
    assert attribute(nested(60)) is TOO_DEEP


@pytest.mark.parametrize(
    ("escaped", "expected"),
    [
        (r"cut \ud83d", "cut \ufffd"),
        (r"\udc00!", "\ufffd!"),
        (r"\ud83d\ude00", "\U0001f600"),
        (r"\\ud83d", r"\ud83d"),
    ],
)
def test_half_of_a_surrogate_pair_is_replaced_and_whole_ones_are_kept(escaped: str, expected: str) -> None:
    lone = r"\udbff"
    body = request(name="NAME", attributes=[{"key": "lone", "value": {"stringValue": "LONE"}}])

    span = decode(body.replace(b"NAME", escaped.encode()).replace(b"LONE", lone.encode()))

    assert (span.name, span.attributes["lone"]) == (expected, "\ufffd")


def log(**fields: Any) -> LogRecord:
    [record] = decode_logs_json(
        orjson.dumps({"resourceLogs": [{"scopeLogs": [{"logRecords": [fields]}]}]})
    ).batch.logs
    return record


def test_a_log_record_is_read() -> None:
    record = log(
        observedTimeUnixNano="9", severityNumber=9, body={"kvlistValue": {"values": []}}, traceId=TRACE_ID, spanId=""
    )

    assert (record.time, record.severity, record.body, record.trace_id.hex()) == (9, 9, {}, TRACE_ID)


def test_the_name_of_an_event_is_its_field_or_its_attribute() -> None:
    attributes = [{"key": "event.name", "value": {"stringValue": "attribute"}}]

    assert log(eventName="field", attributes=attributes).event_name == "field"
    assert log(attributes=attributes).event_name == "attribute"


def test_a_wrong_log_record_is_refused_with_its_place() -> None:
    with pytest.raises(
        Malformed, match=r"^resourceLogs\[0\]\.scopeLogs\[0\]\.logRecords\[0\]\.body\.intValue: expec"
    ):
        log(body={"intValue": "x"})


USUAL = """{"resourceSpans":[
{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"s"}}]},"scopeSpans":[
{"scope":{"name":"n"},"spans":[{"traceId":"0102030405060708090a0b0c0d0e0f10","spanId":"0102030405060708",
"parentSpanId":"","name":"execute_tool f","kind":1,"startTimeUnixNano":"1764500000000000000","endTimeUnixNano":7,
"attributes":[{"key":"i","value":{"intValue":"-9223372036854775808"}},{"key":"b","value":{"boolValue":false}},
{"key":"d","value":{"doubleValue":1}},{"key":"none","value":{}},{"key":"a","value":{"arrayValue":{}}},
{"key":"m","value":{"kvlistValue":{"values":[{"key":"k","value":{"stringValue":""}}]}}}],
"status":{"code":2},"events":[{"name":"e"}],"unknown":[1]}]}]}]}"""


def test_what_exporters_usually_write_is_read_the_fast_way() -> None:
    decoded = usual_traces(USUAL.encode())

    assert decoded is not None
    [span] = decoded.batch.spans
    assert (span.start, span.end, span.status, span.events[0].name) == (1764500000000000000, 7, 2, "e")
    assert span.attributes == {"i": -(2**63), "b": False, "d": 1.0, "none": None, "a": [], "m": {"k": ""}}
    assert type(span.attributes["d"]) is float


@pytest.mark.parametrize(
    ("usual", "unusual"),
    [
        ('"kind":1', '"kind":null'),
        ('"kind":1', '"kind":"SPAN_KIND_INTERNAL"'),
        ('"0102030405060708"', '"0102030405060700 "'),
        ('"endTimeUnixNano":7', '"endTimeUnixNano":-7'),
        ('"endTimeUnixNano":7', '"endTimeUnixNano":"1_0"'),
        ('"intValue":"-9223372036854775808"', '"intValue":"9223372036854775808"'),
        ('{"boolValue":false}', '{"boolValue":false,"stringValue":"x"}'),
        ('{"arrayValue":{}}', '{"arrayValue":{},"stringValue":"x"}'),
        ('{"arrayValue":{}}', '{"arrayValue":{"values":7}}'),
        ('"name":"e"', '"name":"\\ud800"'),
    ],
)
def test_what_is_unusual_is_left_to_the_careful_way(usual: str, unusual: str) -> None:
    assert usual in USUAL

    assert usual_traces(USUAL.replace(usual, unusual).encode()) is None
