"""Lines of JSON: trace-contract records, and OTLP requests as the Collector's file exporter writes them."""

from typing import Any, Final

from collector.receiver.decoded import Decoded, Malformed
from collector.receiver.json_usual import usual_traces
from collector.receiver.otlp_json import logs_of, parse_object, traces_of

_TRACES: Final = b'{"resourceSpans":'
"""How a line begins that the Collector's file exporter writes of traces."""


def decode_line(line: bytes) -> Decoded:
    """What one line carries: an OTLP request (told by its key), else a trace-contract record. Raises `Malformed`."""
    if line.startswith(_TRACES) and (usual := usual_traces(line)) is not None:
        return usual
    document = parse_object(line)
    if "resourceSpans" in document:
        return traces_of(document)
    if "resourceLogs" in document:
        return logs_of(document)
    decoded = Decoded()
    if document and "resourceMetrics" not in document:  # an empty object is an empty request
        decoded.batch.records.append(_record(document))
    return decoded


def decode_lines(body: bytes) -> Decoded:
    """What all lines carry. A line that is malformed is rejected, with its number; blank ones are skipped."""
    decoded = Decoded()
    for number, line in enumerate(body.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            part = decode_line(line)
        except Malformed as malformed:
            decoded.reject(f"line {number}: {malformed}")
            continue
        decoded.batch.spans += part.batch.spans
        decoded.batch.logs += part.batch.logs
        decoded.batch.records += part.batch.records
        for _ in range(part.rejected):
            decoded.reject(f"line {number}: {part.reason}")
    return decoded


def _record(document: dict[str, Any]) -> dict[str, Any]:
    kind = document.get("type")
    if type(kind) is not str:
        raise Malformed(
            "the object is neither an OTLP request (resourceSpans, resourceLogs, resourceMetrics) nor a "
            'trace-contract record (an object with a text "type")'
        )
    return document
