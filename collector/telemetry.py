"""Decoded telemetry: the spans and log records that the receivers hand on, whatever they came as.

Ids are raw bytes (16 and 8; `b""` where there is none), times are ns since the epoch. Attribute values are plain:
None, bool, int, float, str, bytes, list or dict of them. Mappings of attributes may decode lazily; they are
read-only and their values do not change.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Value = Any
Attributes = Mapping[str, Value]

STATUS_UNSET, STATUS_OK, STATUS_ERROR = 0, 1, 2
KIND_UNSPECIFIED, KIND_INTERNAL, KIND_SERVER, KIND_CLIENT, KIND_PRODUCER, KIND_CONSUMER = range(6)

FLAG_HAS_IS_REMOTE, FLAG_IS_REMOTE = 0x100, 0x200
"""Bits of `Span.flags`: whether it is known that the parent is remote, and whether it is."""


@dataclass(slots=True, eq=False)
class Resource:
    attributes: Attributes = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Scope:
    name: str = ""
    version: str = ""
    attributes: Attributes = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class SpanEvent:
    name: str
    time: int
    attributes: Attributes = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Link:
    trace_id: bytes
    span_id: bytes
    attributes: Attributes = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Span:
    trace_id: bytes
    span_id: bytes
    parent_id: bytes
    name: str
    kind: int
    start: int
    end: int
    attributes: Attributes
    resource: Resource
    scope: Scope
    flags: int = 0
    status: int = STATUS_UNSET
    status_message: str = ""
    events: Sequence[SpanEvent] = ()
    links: Sequence[Link] = ()
    dropped_attributes: int = 0
    dropped_events: int = 0


@dataclass(slots=True, eq=False)
class LogRecord:
    time: int
    """The record's own time, or when it was observed if it has none."""
    event_name: str
    """The event's name: the field, else the `event.name` attribute, else ""."""
    body: Value
    attributes: Attributes
    resource: Resource
    scope: Scope
    trace_id: bytes = b""
    span_id: bytes = b""
    severity: int = 0


@dataclass(slots=True)
class Batch:
    """What one request, or one piece of a file, carried: in the order in which it was written."""

    spans: list[Span] = field(default_factory=list)
    logs: list[LogRecord] = field(default_factory=list)
    records: list[dict[str, Any]] = field(default_factory=list)
    """Lines of a trace-contract file, as they are (JSON objects)."""
    size: int = 0
    """Bytes of the body that it was read from, after decompression; 0 where nobody says."""
