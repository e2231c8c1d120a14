"""Results of behaviors as `gen_ai.evaluation.result` events, on spans and as log records.

Source of the names: the OpenTelemetry semantic conventions for generative AI, event `gen_ai.evaluation.result`. The
score label is the result's name (pass, fail, not_applicable, unknown, error); there is no numeric score.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from opentelemetry.proto.logs.v1.logs_pb2 import (
    SEVERITY_NUMBER_ERROR,
    SEVERITY_NUMBER_INFO,
    SEVERITY_NUMBER_WARN,
    LogRecord,
    SeverityNumber,
)
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from collector.export.otlp import ERROR, OK, UNSET, Attributes, SpanId, event, log, span
from evaluator.items import Item
from evaluator.verdict import BehaviorResult, Result, Severity

EVENT: Final = "gen_ai.evaluation.result"
UNVERIFIED: Final = frozenset({Result.FAIL, Result.UNKNOWN, Result.ERROR})
LINKS: Final = 32
"""Evidence beyond this many spans is counted in `spanbar.evidence.spans` and not linked."""


@dataclass(frozen=True, slots=True)
class Evaluated:
    """One behavior's result over one unit, and its place among the results exported before.

    `revision` is 0 for the first result and counts up with each that takes the place of an earlier one; `amends` is
    the span of that one.
    """

    unit_kind: str
    unit_id: str
    result: BehaviorResult
    time: int
    revision: int = 0
    amends: SpanId | None = None


def result_attributes(evaluated: Evaluated) -> dict[str, bool | int | str | None]:
    """The attributes of the event, of the log record and of the result's span."""
    result = evaluated.result
    verdict = result.verdict
    return {
        "gen_ai.evaluation.name": result.behavior,
        "gen_ai.evaluation.score.label": verdict.result.value,
        "gen_ai.evaluation.explanation": verdict.reason or None,
        "error.type": "cannot_be_checked" if verdict.result is Result.ERROR else None,
        "spanbar.behavior.severity": result.severity.value,
        "spanbar.result.final": verdict.final,
        "spanbar.result.revised": result.revised or evaluated.revision > 0,
        "spanbar.result.revision": evaluated.revision,
        "spanbar.unit.kind": evaluated.unit_kind,
        "spanbar.unit.id": evaluated.unit_id,
        "session.id": evaluated.unit_id if evaluated.unit_kind == "session" else None,
    }


def result_event(evaluated: Evaluated) -> Span.Event:
    return event(EVENT, evaluated.time, result_attributes(evaluated))


def result_span(evaluated: Evaluated, id: SpanId, parent: bytes) -> Span:
    """The result's own span: it carries the event, and links to the spans that are evidence and to what it amends."""
    verdict = evaluated.result.verdict
    evidence = evidence_spans(verdict.evidence)
    links: list[tuple[SpanId, Attributes]] = [(each, {"spanbar.link": "evidence"}) for each in evidence[:LINKS]]
    if evaluated.amends is not None:
        links.append((evaluated.amends, {"spanbar.link": "amends"}))
    return span(
        id,
        f"behavior {evaluated.result.behavior}",
        (evaluated.time, evaluated.time),
        {"spanbar.span": "result", "spanbar.evidence.spans": len(evidence), **result_attributes(evaluated)},
        parent=parent,
        links=links,
        events=[result_event(evaluated)],
        status=span_status(evaluated.result),
    )


def result_log(evaluated: Evaluated, id: SpanId) -> LogRecord:
    """The event as a log record, on the last span that is evidence, where the agent's own trace shows it.

    Without evidence it is on the result's span `id`, which its attributes name in either case.
    """
    result = evaluated.result
    evidence = evidence_spans(result.verdict.evidence)
    own = {"spanbar.result.trace_id": id.trace.hex(), "spanbar.result.span_id": id.span.hex()}
    return log(
        EVENT,
        evaluated.time,
        {**result_attributes(evaluated), **own},
        at=evidence[-1] if evidence else id,
        severity=_severity(result),
        body=f"{result.behavior}: {result.verdict.result}"
        + (f" ({result.verdict.reason})" if result.verdict.reason else ""),
    )


def unit_span(
    kind: str,
    unit: str,
    id: SpanId,
    times: tuple[int, int],
    evaluated: Sequence[Evaluated],
    *,
    parent: bytes = b"",
    amends: SpanId | None = None,
    extra: Attributes | None = None,
) -> Span:
    """A session or a job, with every result as an event on it."""
    return span(
        id,
        f"{kind} {unit}",
        times,
        {
            "spanbar.span": kind,
            "spanbar.unit.kind": kind,
            "spanbar.unit.id": unit,
            "session.id": unit if kind == "session" else None,
            **(extra or {}),
        },
        parent=parent,
        links=[(amends, {"spanbar.link": "amends"})] if amends is not None else (),
        events=[result_event(each) for each in evaluated],
        status=_unit_status([each.result for each in evaluated]),
    )


def _unit_status(results: Sequence[BehaviorResult]) -> tuple["Status.StatusCode.ValueType", str]:
    """The first error; ok only if something was verified and nothing is open, not even a warning."""
    statuses = [span_status(result) for result in results]
    error = next((status for status in statuses if status[0] == ERROR), None)
    if error is not None:
        return error
    verified = any(result.verdict.result is Result.PASS for result in results)
    open_ones = any(result.verdict.result in UNVERIFIED or not result.verdict.final for result in results)
    return (OK, "") if verified and not open_ones else (UNSET, "")


def span_status(result: BehaviorResult) -> tuple["Status.StatusCode.ValueType", str]:
    """An error for what counts against the exit code, ok for what was verified, unset for the rest."""
    verdict = result.verdict
    if verdict.result in UNVERIFIED and result.severity is Severity.ERROR:
        return ERROR, verdict.reason or verdict.result.value
    return (OK, "") if verdict.result is Result.PASS and verdict.final else (UNSET, "")


def evidence_spans(items: Sequence[Item]) -> tuple[SpanId, ...]:
    """The spans that the items are of, each once, in order. Items of a trace file without ids have none."""
    found: dict[SpanId, None] = {}
    for item in items:
        trace, spanned = item.id[:2] if len(item.id) >= 2 else (b"", b"")
        if isinstance(trace, bytes) and isinstance(spanned, bytes) and len(trace) == 16 and len(spanned) == 8:
            found[SpanId(trace, spanned)] = None
    return tuple(found)


def _severity(result: BehaviorResult) -> "SeverityNumber.ValueType":
    if result.verdict.result not in UNVERIFIED:
        return SEVERITY_NUMBER_INFO
    return SEVERITY_NUMBER_ERROR if result.severity is Severity.ERROR else SEVERITY_NUMBER_WARN
