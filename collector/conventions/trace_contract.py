"""Trace-contract records: the lines that highbar's SDK writes, one JSON object each.

`tool` is a call; `tools`, `turn` and `hello` say which tools there are, that a message was handled, and that the SDK
is at work.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from collector.conventions.payload import tool_name
from collector.conventions.reading import ToolFacts
from evaluator.items import CallStatus, NotRecorded

NAME: Final = "trace-contract"
_FAR: Final = 9_000_000_000
"""Seconds from the epoch that are no time: ns of 64 bits end there."""
NO_ARGUMENTS: Final = NotRecorded("the record has no args", 'write "args" in the trace-contract record')


@dataclass(slots=True, eq=False)
class RecordReading:
    role: str
    context: Mapping[str, Any]
    start: int
    end: int
    tool: ToolFacts | None = None
    declares: frozenset[str] | None = None


def read(record: Mapping[str, Any]) -> RecordReading:
    """What one record says. Times are ns; a call without its own times has the record's."""
    kind = record.get("type")
    context = record.get("context")
    at = record.get("ts")
    start, end = _ns(record.get("started_at", at)), _ns(record.get("ended_at", at))
    reading = RecordReading("other", context if isinstance(context, Mapping) else {}, start, end)
    if kind in ("hello", "turn", "tool"):
        reading.role = str(kind)
    if kind == "tools" and isinstance(record.get("names"), list):
        reading.declares = frozenset(str(name) for name in record["names"])
    if kind == "tool":
        reading.tool = _call(record)
    return reading


def session_of(context: Mapping[str, Any]) -> str:
    """What keeps the records of one conversation together, as they have no trace: the test's id, else the context."""
    test = context.get("test")
    return str(test) if test is not None else json.dumps(context, sort_keys=True) if context else NAME


def _call(record: Mapping[str, Any]) -> ToolFacts:
    args, error = record.get("args"), record.get("error")
    failed = bool(error)
    return ToolFacts(
        name=tool_name(record.get("fn")),
        args=args if isinstance(args, Mapping) else NO_ARGUMENTS,
        result=record.get("result"),
        error=str(error) if failed else None,
        status=CallStatus.ERROR if failed else CallStatus.OK,
        name_from="fn",
        args_from="args",
        result_from="result",
        error_from="error" if failed else "",
        source="trace-contract",
    )


def _ns(seconds: Any) -> int:
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        return 0
    if not -_FAR < seconds < _FAR:  # a NaN is not either
        return 0
    return round(seconds * 1_000_000_000)
