"""Reading telemetry from files: every format, told apart by content, and every kind of damage."""

import gzip
import json
import re
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from opentelemetry.proto.metrics.v1.metrics_pb2 import Metric, ResourceMetrics, ScopeMetrics

from collector.receiver import files
from collector.receiver.files import FileProblem, read
from collector.receiver.intake import Signal
from collector.receiver.wire import fields, signal_of
from collector.telemetry import Batch
from tests.collector.receiver.otlp_building import (
    batch_logs,
    batch_spans,
    log_requests,
    logs_request,
    plain_logs,
    plain_spans,
    span,
    text,
    to_json,
    trace_requests,
    traces_request,
)

CORPUS = Path(__file__).parents[3] / ".." / "shared" / "corpus"
unhurried = settings(max_examples=50, deadline=None)

TRACES = traces_request(span("one"), span("two", 2))
MORE_TRACES = traces_request(span("three", 3))
LOGS = logs_request(LogRecord(event_name="an event", time_unix_nano=1))
METRICS = ExportMetricsServiceRequest(
    resource_metrics=[ResourceMetrics(scope_metrics=[ScopeMetrics(metrics=[Metric(name="m", gauge={})])])]
)
RECORD = json.dumps({"v": 1, "type": "tool", "ts": 1.5, "fn": "get_order"}).encode()


@pytest.fixture
def write(tmp_path: Path) -> Callable[[bytes], Path]:
    def write(content: bytes) -> Path:
        path = tmp_path / "telemetry"
        path.write_bytes(content)
        return path

    return write


Write = Callable[[bytes], Path]


def contents(path: Path) -> list[str]:
    """What the file carries, in order: names of spans, of log events and of recorded functions."""
    found: list[str] = []
    for batch in read(path):
        found += [span.name for span in batch.spans]
        found += [record.event_name for record in batch.logs]
        found += [record["fn"] for record in batch.records]
    return found


def delimited(*bodies: bytes) -> bytes:
    return b"".join(len(body).to_bytes(4, "big") + body for body in bodies)


traces, more, logs, metrics = (r.SerializeToString() for r in (TRACES, MORE_TRACES, LOGS, METRICS))
FORMATS = {
    "a request of traces": (traces, ["one", "two"]),
    "a request of logs": (logs, ["an event"]),
    "requests of traces one after another": (traces + more, ["one", "two", "three"]),
    "requests of traces and of logs": (traces + logs + more, ["one", "two", "an event", "three"]),
    "metrics": (metrics, []),
    "metrics between traces": (traces + metrics + more, ["one", "two", "three"]),
    "length-delimited requests": (delimited(traces, more), ["one", "two", "three"]),
    "length-delimited logs": (delimited(logs), ["an event"]),
    "length-delimited, an empty one first": (delimited(b"", traces), ["one", "two"]),
    "a line of JSON": (to_json(TRACES), ["one", "two"]),
    "lines of JSON": (to_json(TRACES) + b"\n" + to_json(LOGS) + b"\n", ["one", "two", "an event"]),
    "lines with blank ones between": (b"\n \n" + to_json(TRACES) + b"\r\n\r\n", ["one", "two"]),
    "lines with metrics": (to_json(METRICS) + b"\n" + to_json(LOGS), ["an event"]),
    "lines after a byte order mark": (b"\xef\xbb\xbf" + to_json(TRACES), ["one", "two"]),
    "a line with an empty request": (b"{}\n" + to_json(LOGS), ["an event"]),
    "trace-contract lines": (RECORD + b"\n" + RECORD, ["get_order", "get_order"]),
    "lines of both kinds": (RECORD + b"\n" + to_json(TRACES), ["get_order", "one", "two"]),
    "an empty file": (b"", []),
    "a file of blanks": (b"\n\n  \n", []),
}


@pytest.mark.parametrize(("content", "expected"), FORMATS.values(), ids=FORMATS)
@pytest.mark.parametrize("encode", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_a_file_is_read_whatever_its_format(
    write: Write, encode: Callable[[bytes], bytes], content: bytes, expected: list[str]
) -> None:
    assert contents(write(encode(content))) == expected


def test_members_of_gzip_are_read_one_after_another(write: Write) -> None:
    assert contents(write(gzip.compress(traces) + gzip.compress(more))) == ["one", "two", "three"]


def test_a_request_that_begins_like_a_line_with_a_brace_is_told_from_text(write: Write) -> None:
    resource = traces_request(span("x" * 40)).resource_spans[0]
    resource.schema_url = "u" * (123 - resource.ByteSize() - 2)
    body = ExportTraceServiceRequest(resource_spans=[resource]).SerializeToString()

    assert body.startswith(b"\n{")
    assert contents(write(body)) == ["x" * 40]


def test_a_large_request_is_read_in_pieces(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_PIECE", 500)
    path = write(b"".join(traces_request(span(str(n), n + 1)).SerializeToString() for n in range(100)))

    batches = list(read(path))

    assert len(batches) > 5
    assert [span.name for batch in batches for span in batch.spans] == [str(n) for n in range(100)]


def test_reading_is_lazy(write: Write) -> None:
    batches = read(write(to_json(TRACES) + b"\n{broken"))

    assert [span.name for span in next(batches).spans] == ["one", "two"]
    with pytest.raises(FileProblem, match="line 2"):
        next(batches)


DAMAGED = {
    "a broken line": (RECORD + b"\n{broken\n", "line 2: the body is not JSON"),
    "a cut last line": (to_json(TRACES) + b"\n" + to_json(TRACES)[:-9], "line 2: the body is not JSON"),
    "a line that is no object": (b"[1]\n", "line 1: the body is a JSON list"),
    "a pretty-printed object": (b'{\n  "resourceSpans": []\n}', "line 1: a JSON text of several lines; expected"),
    "a line of something else": (b'{"level": "info"}', "line 1: the object is neither an OTLP request"),
    "a wrong type in a line": (b'{"resourceSpans": 5}', "line 1: resourceSpans: expected a list"),
    "a cut request": (traces[:-3], "byte 0: the file is cut: 3 of the next"),
    "a cut second request": (traces + more[:-3], f"byte {len(traces)}: the file is cut: 3 of the next"),
    "a cut length-delimited request": (delimited(traces)[:-3], "byte 0: the file is cut: 3 of the next"),
    "a cut length": (delimited(traces) + b"\0\0", f"byte {len(traces) + 4}: expected the length of a request"),
    "another field": (traces + b"\x12\x01a", f"byte {len(traces)}: expected a resource (field 1)"),
    "damage inside": (traces.replace(b"two", b"\xff\xff\xff"), "byte 0: the body of"),
    "a claimed length of gigabytes": (b"\n\xff\xff\xff\xff\x07", "byte 0: the file is cut: 2147483647 of the next"),
    "a length past protobuf's limit": (b"\n\xff\xff\xff\xff\x0f", "byte 0: expected a resource"),
    "an endless length": (b"\n" + b"\xff" * 12, "byte 0: expected a resource"),
    "an image": (b"\x89PNG\r\n\x1a\n", "byte 0: the file begins with b'\\x89PNG"),
    "prose": (b"hello", "byte 0: the file begins with b'hello'"),
    "zstd": (b"\x28\xb5\x2f\xfd1234", "byte 0: the file is compressed with zstd"),
    "zstd after a length": (b"\0\0\0\x08\x28\xb5\x2f\xfd1234", "byte 0: the file is compressed with zstd"),
    "a span with a wrong id": (
        traces_request(span("bad", trace_id=b"x")).SerializeToString(),
        "byte 0: 1 left out; the first, span 1 ('bad'): its trace id has 1 bytes",
    ),
}


@pytest.mark.parametrize(("content", "message"), DAMAGED.values(), ids=DAMAGED)
def test_damage_is_a_problem_with_its_place(write: Write, content: bytes, message: str) -> None:
    path = write(content)

    with pytest.raises(FileProblem) as raised:
        list(read(path))

    assert str(raised.value).startswith(f"{path}: {message}")


def tolerated(path: Path) -> tuple[list[str], list[FileProblem]]:
    """The names of the spans that can be read, and the problems."""
    problems: list[FileProblem] = []
    return [span.name for batch in read(path, problems.append) for span in batch.spans], problems


LINES = [to_json(traces_request(span(f"{n}", n + 1))) + b"\n" for n in range(5000)]


def test_of_a_cut_gzip_file_all_is_read_that_comes_out(write: Write) -> None:
    compressed = gzip.compress(b"".join(LINES))[:-2000]
    names, (problem,) = tolerated(write(compressed))
    whole = zlib.decompressobj(31).decompress(compressed).count(b"\n")
    assert names == [f"{n}" for n in range(whole)]
    assert problem.place == f"line {whole + 1}"
    assert f"at its byte {len(compressed)}: its end is missing. What is before it was read" in problem.message


def test_of_a_damaged_gzip_member_what_is_before_the_damage_is_read_and_the_members_after_it(write: Write) -> None:
    first, second, third = (gzip.compress(b"".join(lines)) for lines in (LINES[:5], LINES[5:4000], LINES[4000:]))
    damaged = bytearray(second)
    damaged[len(second) // 2 : len(second) // 2 + 40] = b"\xff" * 40
    names, (*_, problem) = tolerated(write(first + bytes(damaged) + third))
    assert names[:1_000] == [f"{n}" for n in range(1_000)]
    assert names[names.index("4000") :] == [f"{n}" for n in range(4000, 5000)]
    place = int(re.findall(r"at its byte (\d+)", problem.message)[0])
    assert len(first) + len(second) // 2 <= place < len(first) + len(second)


def test_a_wrong_sum_at_the_end_of_a_gzip_member_is_a_problem_after_all_of_it(write: Write) -> None:
    content = bytearray(gzip.compress(traces * 100))
    content[-6] ^= 0xFF
    names, (problem,) = tolerated(write(bytes(content)))
    assert len(names) == 200
    assert "incorrect data check" in problem.message


def test_a_line_that_may_be_cut_says_where_the_file_ends(write: Write) -> None:
    content = to_json(TRACES) + b"\n" + to_json(TRACES)[:-9]
    _, (problem,) = tolerated(write(content))
    assert problem.message.endswith(f"The file ends in this line, at byte {len(content)}: it may be cut")


def test_what_is_no_gzip_after_a_member_is_a_problem(write: Write) -> None:
    names, (problem,) = tolerated(write(gzip.compress(traces) + b"and more"))
    assert (names, "incorrect header check" in problem.message) == (["one", "two"], True)


def test_zeros_after_a_gzip_member_are_padding(write: Write) -> None:
    assert tolerated(write(gzip.compress(traces) + bytes(70_000) + gzip.compress(more))) == (
        ["one", "two", "three"],
        [],
    )


def test_of_a_cut_request_the_whole_spans_are_read(write: Write) -> None:
    request = traces_request(*(span(f"{n}", n + 1) for n in range(100))).SerializeToString()
    names, (problem,) = tolerated(write(traces + request[: len(request) // 2]))
    assert names[:2] == ["one", "two"]
    assert names[2:] == [f"{n}" for n in range(len(names) - 2)]
    assert 40 < len(names) < 60
    assert f"byte {len(traces)}: the file is cut" in str(problem)


def test_one_damaged_resource_takes_none_of_its_neighbours_along(write: Write) -> None:
    names, (problem,) = tolerated(write(traces + more.replace(b"three", b"\xff" * 5) + traces))
    assert names == ["one", "two", "one", "two"]
    assert problem.place == f"byte {len(traces)}"


def test_a_file_that_is_not_there_is_a_problem(tmp_path: Path) -> None:
    with pytest.raises(FileProblem, match="No such file"):
        list(read(tmp_path / "none"))


def test_a_directory_is_a_problem(tmp_path: Path) -> None:
    with pytest.raises(FileProblem, match="directory"):
        list(read(tmp_path))


def test_how_far_the_file_was_read_is_told(write: Write) -> None:
    positions: list[int] = []
    path = write(delimited(traces, b"x" * 0, more))

    list(read(path, on_position=positions.append))

    assert len(positions) == 2
    assert positions == sorted(positions)
    assert positions[-1] == path.stat().st_size


def test_problems_of_lines_can_be_taken_and_reading_goes_on(write: Write) -> None:
    problems: list[FileProblem] = []
    path = write(b"{broken\n" + to_json(TRACES) + b"\n{broken\n" + RECORD)

    batches = list(read(path, problems.append))

    assert [problem.place for problem in problems] == ["line 1", "line 3"]
    assert [len(batch.spans) + len(batch.records) for batch in batches] == [2, 1]


@unhurried
@given(request=trace_requests)
def test_resources_of_any_traces_are_told_to_be_traces(request: ExportTraceServiceRequest) -> None:
    for resource in request.resource_spans:
        expected = Signal.TRACES if any(scope.spans for scope in resource.scope_spans) else None
        assert signal_of(resource.SerializeToString()) is expected


@unhurried
@given(request=log_requests)
def test_resources_of_any_logs_are_told_to_be_logs(request: ExportLogsServiceRequest) -> None:
    for resource in request.resource_logs:
        records = [record for scope in resource.scope_logs for record in scope.log_records if record.ByteSize()]
        assert signal_of(resource.SerializeToString()) is (Signal.LOGS if records else None)


def only_problems(path: Path) -> None:
    with suppress(FileProblem):
        for batch in read(path):
            batch_spans(batch)
            batch_logs(batch)


@unhurried
@given(content=st.binary(max_size=300))
def test_no_bytes_crash_reading(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "bytes"
    path.write_bytes(content)
    only_problems(path)


@unhurried
@given(content=st.sampled_from([content for content, _ in FORMATS.values() if content]), data=st.data())
def test_no_damage_crashes_reading(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, data: st.DataObject
) -> None:
    damaged = bytearray(content)
    for _ in range(data.draw(st.integers(1, 4))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.getbasetemp() / "damaged"
    path.write_bytes(damaged)
    only_problems(path)


LEAVES = {
    "a span with nothing but its ids": (TRACES.resource_spans[0], span(""), Signal.TRACES),
    "a metric with nothing but its name": (METRICS.resource_metrics[0], Metric(name="m"), Signal.METRICS),
    "a metric with a name of 16 bytes": (
        METRICS.resource_metrics[0],
        Metric(name="m" * 16, gauge={"data_points": [{"as_int": 1}]}),
        Signal.METRICS,
    ),
    "a log record with nothing but its body": (LOGS.resource_logs[0], LogRecord(body=text("b")), Signal.LOGS),
}


@pytest.mark.parametrize(("name", "leaf", "signal"), [(n, leaf, s) for n, (_, leaf, s) in LEAVES.items()])
def test_the_barest_leaves_are_told_apart(name: str, leaf: object, signal: Signal) -> None:
    body = leaf.SerializeToString()  # type: ignore[attr-defined]
    scope = b"\x12" + bytes([len(body)]) + body

    assert signal_of(b"\x12" + bytes([len(scope)]) + scope) is signal


def test_fields_are_walked_over_every_wire_type() -> None:
    buffer = b"\x08\x96\x01" + b"\x11" + bytes(8) + b"\x1a\x02hi" + b"\x25" + bytes(4)

    assert [(f.number, f.wire_type, buffer[f.start : f.end]) for f in fields(buffer, 0, len(buffer))] == [
        (1, 0, b"\x96\x01"),
        (2, 1, bytes(8)),
        (3, 2, b"hi"),
        (4, 5, bytes(4)),
    ]


@pytest.mark.skipif(not CORPUS.exists(), reason="the corpus is not in this checkout")
def test_every_file_of_the_corpus_reads_as_a_plain_decoder_reads_it() -> None:
    paths = sorted(CORPUS.glob("*/*.otlp"))
    assert len(paths) > 100
    for path in paths:
        batch = Batch()
        for part in read(path):
            batch.spans += part.spans
            batch.logs += part.logs
        if path.name.endswith(".logs.otlp"):
            assert batch.spans == []
            assert batch_logs(batch) == plain_logs(ExportLogsServiceRequest.FromString(path.read_bytes()))
        else:
            assert batch.logs == []
            assert batch_spans(batch) == plain_spans(ExportTraceServiceRequest.FromString(path.read_bytes()))
