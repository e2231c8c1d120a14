"""Compiled modules say what the way in Python says, or nothing, of whatever they are given."""

import os
import subprocess
import sys
from dataclasses import fields
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span as WireSpan

from collector.assembly import plain
from collector.assembly.columns import COLUMN_KEYS
from collector.assembly.tree import Context
from collector.compiled import are_all_compiled
from collector.receiver import protobuf
from collector.receiver.decoded import Decoded, Malformed
from collector.receiver.schema import TracesRequest
from collector.telemetry import Resource, Scope, Span

pytestmark = pytest.mark.skipif(
    not are_all_compiled(), reason="nothing is compiled here: no compiler, or SPANBAR_PURE"
)

TEXTS = st.text(max_size=6) | st.sampled_from(["ok", "x" * 97, "y" * 130, "z" * 20_000])
SCALARS = st.one_of(
    st.builds(lambda value: AnyValue(string_value=value), TEXTS),
    st.builds(lambda value: AnyValue(bool_value=value), st.booleans()),
    st.builds(lambda value: AnyValue(int_value=value), st.integers(-(2**63), 2**63 - 1)),
    st.builds(lambda value: AnyValue(double_value=value), st.floats()),
    st.builds(lambda value: AnyValue(bytes_value=value), st.binary(max_size=4)),
    st.just(AnyValue()),
)


def listed(values: list[AnyValue]) -> AnyValue:
    value = AnyValue()
    value.array_value.values.extend(values)
    return value


def mapped(pairs: dict[str, AnyValue]) -> AnyValue:
    value = AnyValue()
    value.kvlist_value.values.extend(KeyValue(key=key, value=each) for key, each in pairs.items())
    return value


def nested(levels: int) -> AnyValue:
    return AnyValue(int_value=1) if levels == 0 else listed([nested(levels - 1)])


VALUES = st.recursive(
    SCALARS,
    lambda inner: st.builds(listed, st.lists(inner, max_size=3)) | st.builds(mapped, st.dictionaries(TEXTS, inner)),
    max_leaves=6,
)
KEYS = st.sampled_from(["a", "gen_ai.tool.name", "hangar.seq", "k" * 100, "\u00e4"])
ATTRIBUTES = st.lists(st.builds(lambda key, value: KeyValue(key=key, value=value), KEYS, VALUES), max_size=5)
IDS = st.sampled_from([b"", b"\0" * 8, b"\1" * 8, b"12345678", b"short"])
NUMBERS = st.integers(0, 2**64 - 1)


@st.composite
def wire_spans(draw: Any) -> WireSpan:
    span = WireSpan(
        trace_id=draw(st.sampled_from([b"\1" * 16, b"\1" * 16, b"\2" * 16, b"\0" * 16, b""])),
        span_id=draw(IDS),
        parent_span_id=draw(IDS),
        name=draw(TEXTS),
        kind=draw(st.integers(0, 5)),
        start_time_unix_nano=draw(NUMBERS),
        end_time_unix_nano=draw(NUMBERS),
        attributes=draw(ATTRIBUTES),
        dropped_attributes_count=draw(st.sampled_from([0, 1, 2**32 - 1])),
        dropped_events_count=draw(st.sampled_from([0, 3])),
        flags=draw(st.sampled_from([0, 1, 0x301, 2**32 - 1])),
        trace_state=draw(st.sampled_from(["", "a=b"])),
        dropped_links_count=draw(st.sampled_from([0, 1])),
    )
    if draw(st.booleans()):
        span.status.code = draw(st.sampled_from([0, 1, 2]))
        span.status.message = draw(TEXTS)
    for _ in range(draw(st.integers(0, 2))):
        span.events.add(name=draw(TEXTS), time_unix_nano=draw(NUMBERS), attributes=draw(ATTRIBUTES))
    for _ in range(draw(st.integers(0, 1))):
        span.links.add(trace_id=draw(IDS), span_id=draw(IDS), attributes=draw(ATTRIBUTES))
    return span


@st.composite
def requests(draw: Any) -> bytes:
    request = ExportTraceServiceRequest()
    for _ in range(draw(st.integers(0, 2))):
        group = request.resource_spans.add()
        group.resource.attributes.extend(draw(ATTRIBUTES))
        group.schema_url = draw(st.sampled_from(["", "https://opentelemetry.io/schemas/1.30.0"]))
        for _ in range(draw(st.integers(0, 2))):
            scoped = group.scope_spans.add()
            if draw(st.booleans()):
                scoped.scope.name, scoped.scope.version = draw(TEXTS), draw(TEXTS)
                scoped.scope.attributes.extend(draw(ATTRIBUTES))
            scoped.spans.extend(draw(st.lists(wire_spans(), max_size=3)))
    return request.SerializeToString()


@st.composite
def damaged(draw: Any) -> bytes:
    """A request with some of its bytes changed, left out, or there twice."""
    body = bytearray(draw(requests()))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(body)))
        end = draw(st.integers(start, min(len(body), start + 12)))
        body[start:end] = draw(st.binary(max_size=3) | st.just(bytes(body[start:end]) * 2))
    return bytes(body)


def said(spans: list[Span]) -> list[str]:
    """All that spans have, their values with their types; NaN equals NaN."""

    def shown(value: Any) -> str:
        return repr(value.attributes if isinstance(value, Resource) else value)

    return [repr([shown(getattr(span, field.name)) for field in fields(Span)]) for span in spans]


def in_python(body: bytes) -> Decoded:
    decoded = Decoded()
    protobuf._read_spans(TracesRequest.FromString(body), decoded)
    return decoded


def one(*attributes: KeyValue) -> bytes:
    request = ExportTraceServiceRequest()
    spans = request.resource_spans.add().scope_spans.add().spans
    spans.add(trace_id=b"\1" * 16, span_id=b"\1" * 8, name="tool.call", attributes=attributes)
    return request.SerializeToString()


@settings(max_examples=150, deadline=None)
@given(requests())
@example(one(KeyValue(key="deep", value=nested(31))))
@example(one(KeyValue(key="deep", value=nested(32))))
@example(one(KeyValue(key="deep", value=nested(33))))
@example(one(KeyValue(key="deep", value=listed([nested(31), AnyValue(bytes_value=b"b")]))))
@example(one(KeyValue(key="twice", value=AnyValue(int_value=1)), KeyValue(key="twice")))
def test_spans_are_those_that_python_reads(body: bytes) -> None:
    expected = in_python(body)
    found = protobuf._compiled.spans(body)
    if expected.rejected:
        assert found is None
    else:
        assert said(found) == said(expected.batch.spans)


@settings(max_examples=400, deadline=None)
@given(damaged() | st.binary(max_size=40))
@example(one(KeyValue(key="text", value=AnyValue(string_value="x"))).replace(b"text", b"t\xff\xfft"))
@example(one(KeyValue(key="text", value=AnyValue(string_value="xyz"))).replace(b"xyz", b"x\xffz"))
@example(one().replace(b"tool.call", b"tool\xffcall"))
@example(b"\x8a\x80\x80\x80\x80\x00\x00")
@example(b"\x0a\x80\x80\x80\x80\x80\x00")
def test_of_damaged_requests_nothing_is_read_that_python_does_not(body: bytes) -> None:
    found = protobuf._compiled.spans(body)
    if found is None:
        return
    expected = in_python(body)
    assert not expected.rejected
    assert said(found) == said(expected.batch.spans)


def test_a_usual_request_is_read_in_one_go() -> None:
    assert protobuf._compiled.spans(one(KeyValue(key="a", value=AnyValue(string_value="b")))) is not None
    with pytest.raises(Malformed):
        protobuf.decode_traces(b"\x0a\x05")


def test_recurring_attributes_share_their_values_and_are_forgotten_in_time() -> None:
    spans = [protobuf._compiled.spans(one(KeyValue(key="a", value=AnyValue(string_value="b" * 40))))[0] for _ in "12"]
    assert spans[0].attributes["a"] is spans[1].attributes["a"]
    for number in range(40_000):
        (span,) = protobuf._compiled.spans(one(KeyValue(key="n", value=AnyValue(int_value=number))))
        assert span.attributes == {"n": number}


JSON_LIKE = st.sampled_from(
    ["{}", '{"a": 1}', "[1", "true", "7", '"q"', "__REDACTED__", "null", "-1", "\0", "", "cut..."]
)
ATTRIBUTE = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 2**70), st.floats(allow_nan=False), TEXTS, JSON_LIKE,
    st.lists(TEXTS, max_size=2), st.lists(st.integers(), max_size=2), st.just({"a": 1}),
)  # fmt: skip
NAMES = st.sampled_from(["Bash", "Edit", "mcp__github__push", "mcp__", "mcp", " ", "", "\u2003", "lookup", "Read"])
PLAIN = st.fixed_dictionaries(
    {"gen_ai.tool.name": NAMES | ATTRIBUTE},
    optional=dict.fromkeys(
        (*COLUMN_KEYS, "gen_ai.tool.call.arguments", "gen_ai.tool.call.result", "other"), ATTRIBUTE
    ),
)
USUAL = {
    "gen_ai.tool.name": "Bash", "hangar.session.id": "s", "hangar.seq": 1, "hangar.turn": 2,
    "hangar.tool.kind": "shell", "hangar.shell.ops": ["test"],
    "hangar.tool.input": "make", "hangar.tool.output": "ok",
}  # fmt: skip


def plain_span(attributes: dict[str, Any]) -> Span:
    return Span(b"\1" * 16, b"\1" * 8, b"", "tool.call", 1, 5, 9, attributes, Resource(), Scope())


@settings(max_examples=400, deadline=None)
@given(PLAIN, st.sampled_from([Context(hangar="s"), Context(job="j"), Context(), Context(session="x", job="j")]))
def test_items_are_those_that_python_makes(attributes: dict[str, Any], context: Context) -> None:
    span = plain_span(attributes)
    compiled, plain_compiled = plain._item(span, span.trace_id, context), plain._compiled
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plain, "_compiled", None)
        expected = plain._item(span, span.trace_id, context)
    assert plain._compiled is plain_compiled
    assert repr(compiled) == repr(expected)
    assert compiled == expected


def test_a_usual_call_is_made_in_one_go() -> None:
    span = plain_span(USUAL)
    item = plain._compiled.item(USUAL, span.trace_id, span.span_id, 5, 9, "s", None)
    assert type(item) is plain.Item
    assert type(item.call) is plain.Call
    assert item.attributes is USUAL
    assert plain._compiled.item({**USUAL, "hangar.seq": 1.0}, span.trace_id, span.span_id, 5, 9, "s", None) is None


def test_all_goes_in_python_where_that_is_wanted() -> None:
    asked = "from collector.compiled import are_all_compiled; print(are_all_compiled())"
    for pure, answer in (("", "True"), ("1", "False")):
        environ = os.environ | {"SPANBAR_PURE": pure}
        ran = subprocess.run([sys.executable, "-c", asked], env=environ, capture_output=True, text=True, check=True)
        assert ran.stdout.strip() == answer
