"""What decoding one request yields, whatever encoding it came in, and the ids that a span must have."""

from dataclasses import dataclass, field
from typing import Final

from collector.telemetry import Batch
from evaluator.items import NotRecorded

TRACE_ID, SPAN_ID = 16, 8
"""Lengths of ids in bytes (OTLP: any other length is invalid, and so is an id of zeros)."""
NO_TRACE: Final = bytes(TRACE_ID)
NO_SPAN: Final = bytes(SPAN_ID)

NESTING: Final = 32
"""How deep lists and mappings may be nested in one value, in every encoding."""
TOO_DEEP: Final = NotRecorded(f"the attribute's value is nested deeper than {NESTING} levels")


class Malformed(ValueError):
    """A body that is not what its content type says. The text says where and why."""


@dataclass(slots=True)
class Decoded:
    """The spans, log records or trace-contract records of a request, and what of it had to be rejected."""

    batch: Batch = field(default_factory=Batch)
    rejected: int = 0
    reason: str = ""
    """Why the first rejected span, record or line was rejected, and where it was; "" if none was."""

    def reject(self, reason: str) -> None:
        self.rejected += 1
        if not self.reason:
            self.reason = reason


def event_name(attribute: object) -> str:
    """The name that an `event.name` attribute gives: how it was sent before OTLP had a field for it."""
    return attribute if isinstance(attribute, str) else ""


def span_id_problem(trace_id: bytes, span_id: bytes, parent_id: bytes) -> str:
    """Why a span with these ids is to be rejected."""
    if len(trace_id) != TRACE_ID:
        return f"its trace id has {len(trace_id)} bytes, not {TRACE_ID}"
    if trace_id == NO_TRACE:
        return "its trace id is all zeros"
    if len(span_id) != SPAN_ID:
        return f"its span id has {len(span_id)} bytes, not {SPAN_ID}"
    if span_id == NO_SPAN:
        return "its span id is all zeros"
    return f"its parent span id has {len(parent_id)} bytes, not {SPAN_ID} or none"


def span_ids_are_valid(trace_id: bytes, span_id: bytes, parent_id: bytes) -> bool:
    return (
        len(trace_id) == TRACE_ID
        and len(span_id) == SPAN_ID
        and (not parent_id or len(parent_id) == SPAN_ID)
        and trace_id != NO_TRACE
        and span_id != NO_SPAN
    )


def log_id_problem(trace_id: bytes, span_id: bytes) -> str:
    """Why a log record with these ids is to be rejected; "" if it is not. It may lack either."""
    if trace_id and len(trace_id) != TRACE_ID:
        return f"its trace id has {len(trace_id)} bytes, not {TRACE_ID} or none"
    if span_id and len(span_id) != SPAN_ID:
        return f"its span id has {len(span_id)} bytes, not {SPAN_ID} or none"
    return ""
