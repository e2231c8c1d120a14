"""`--json`: what a run or a check found, as one JSON document. Keys are only ever added."""

import json
import os
import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from collector.export.plain import gaps, plain
from collector.export.story import plausible
from evaluator.expectations.reason import NearestMiss, Reason
from evaluator.harness.outcome import (
    ExecutionOutcome,
    Notice,
    RunOutcome,
    SpecOutcome,
    TestOutcome,
    TurnOutcome,
    UnitBehaviors,
)
from evaluator.items import Call, Item
from evaluator.verdict import BehaviorResult, Result, Status

VERSION: Final = 1

Document = dict[str, Any]


def run_document(outcome: RunOutcome) -> Document:
    """The document of `spanbar run`."""
    return {
        "version": VERSION,
        "summary": _summary(outcome),
        "tests": [_test(test) for test in outcome.tests],
        "behaviors": [behavior for unit in outcome.behaviors for behavior in _unit(unit)],
        "warnings": [_notice(warning) for warning in outcome.warnings],
        "stops": [stop for spec in outcome.specs for stop in _stop(spec)],
    }


def behaviors_document(units: Iterable[UnitBehaviors]) -> Document:
    """The document of `spanbar check`: the same, with no tests in it."""
    behaviors = [behavior for unit in units for behavior in _unit(unit)]
    return {"version": VERSION, "summary": _behavior_counts(behaviors), "tests": [], "behaviors": behaviors}


def write_document(document: Document, path: Path) -> None:
    """Write to `path`, or to the standard output for `-`. A file is there whole or not at all. Raises OSError."""
    text = json.dumps(document, ensure_ascii=False, indent=2) + "\n"
    # A lone surrogate has no UTF-8; its escape means the same inside a JSON text.
    write_report(text.encode("utf-8", "backslashreplace"), path)


def write_report(data: bytes, path: Path) -> None:
    """Write a report to `path` (`-`: the standard output), in one step; its folder is made. Raises OSError."""
    if path == Path("-"):
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    if path.exists() and not path.is_file():
        path.write_bytes(data)  # a pipe or a device cannot be replaced
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        partial.write_bytes(data)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _summary(outcome: RunOutcome) -> Document:
    behaviors = [behavior for unit in outcome.behaviors for behavior in _unit(unit)]
    return {
        "total": len(outcome.tests),
        "passed": outcome.count(Status.PASSED),
        "failed": outcome.count(Status.FAILED),
        "errored": outcome.count(Status.ERROR),
        "not_run": len(outcome.not_run),
        "revised": sum(test.revised for test in outcome.tests),
        "variations": sum(test.phrasings - 1 for test in outcome.tests),
        "exit_status": int(outcome.exit_status),
        "interrupted": outcome.interrupted,
        "started": _moment(outcome.started),
        "duration_ms": _ms(outcome.ended - outcome.started),
        **_behavior_counts(behaviors),
    }


def _behavior_counts(behaviors: Sequence[Document]) -> Document:
    counts = {result.value: 0 for result in Result}
    for behavior in behaviors:
        counts[behavior["result"]] += 1
    return {"behaviors": counts}


def _test(test: TestOutcome) -> Document:
    return {
        "spec": str(test.spec),
        "suite": test.suite,
        "name": test.name,
        "status": test.status.value,
        "duration_ms": _round(test.duration_ms),
        "runs": test.runs,
        "min_pass": test.min_pass,
        "passed_runs": test.passed_runs,
        "phrasings": test.phrasings,
        "revised": test.revised,
        "reasons": [_reason(reason) for reason in test.reasons],
        "executions": [_execution(execution) for execution in test.executions],
    }


def _execution(execution: ExecutionOutcome) -> Document:
    return {
        "trace_id": execution.trace_ids[0] if execution.turns else None,
        "trace_ids": list(execution.trace_ids),
        "test_id": execution.test_id,
        "phrasing": execution.phrasing,
        "run": execution.run,
        "status": execution.status.value,
        "started": _moment(execution.started),
        "decided_ms": _round(execution.decided_ms),
        "ended_early": execution.ended_early,
        "revised": execution.revised,
        "reasons": [_reason(reason) for reason in execution.reasons],
        "calls": [_call(call, turn.sent) for turn in execution.turns for call in turn.calls],
        "turns": [_turn(turn) for turn in execution.turns],
    }


def _turn(turn: TurnOutcome) -> Document:
    return {
        "index": turn.index,
        "name": turn.name,
        "trigger": turn.trigger,
        "trace_id": turn.trace_id,
        "span_id": turn.span_id,
        "status": turn.status.value,
        "reasons": [_reason(reason) for reason in turn.reasons],
        "calls": [_call(call, turn.sent) for call in turn.calls],
        "reply": turn.reply,
        "reply_ms": _round(turn.reply_ms),
        "decision": {
            "by": turn.decision.by.value,
            "at_ms": _round(turn.decision.at_ms),
            "lag_ms": _round(turn.decision.lag_ms),
            "span": turn.decision.span or None,
            "reply_awaited": turn.decision.reply_awaited,
        },
    }


def _reason(reason: Reason) -> Document:
    return {
        "code": reason.code,
        "text": reason.text,
        "error": reason.error,
        "certain": reason.certain,
        "fix": reason.fix or None,
        "path": reason.place.path if reason.place is not None else None,
        "line": reason.place.line if reason.place is not None else None,
        "nearest": None if reason.nearest is None else _nearest(reason.nearest),
    }


def _nearest(nearest: NearestMiss) -> Document:
    return {
        "call": call_document(nearest.call),
        "differences": [
            {"path": part.path, "expected": part.expected, "found": part.found} for part in nearest.differences
        ],
    }


def _call(call: Call, sent: int) -> Document:
    return {**call_document(call), "start_ms": _ms(call.started - sent) if plausible(call) else None}


def call_document(call: Call) -> Document:
    """A call, whole. What was not recorded is null, and `not_recorded` has its cause and fix by key."""
    return {
        "name": call.name,
        "args": plain(call.args),
        "failed": call.failed,
        "result": plain(call.result),
        "error": plain(call.error),
        "call_id": call.call_id,
        "status": call.status.value,
        "source": call.source,
        "convention": call.convention,
        "agent": call.agent,
        "trace_id": call.trace_id.hex() or None,
        "span_id": call.span_id.hex() or None,
        "duration_ms": _ms(call.ended - call.started) if plausible(call) else None,
        "not_recorded": gaps(args=call.args, result=call.result, error=call.error),
    }


def _unit(unit: UnitBehaviors) -> list[Document]:
    return [
        {
            "name": result.behavior,
            "unit": {"kind": unit.kind, "id": unit.id},
            **_behavior(result),
            "evidence": [item_document(item) for item in result.verdict.evidence],
        }
        for result in unit.results
    ]


def _behavior(result: BehaviorResult) -> Document:
    return {
        "severity": result.severity.value,
        "result": result.verdict.result.value,
        "final_at": result.final_at,
        "revised": result.revised,
        "reason": result.verdict.reason,
    }


def item_document(item: Item) -> Document:
    """An item as evidence: what it is and where in the order. `time` is a text of ns, as OTLP JSON has it."""
    trace_id, span_id = (*item.id, None, None)[:2]
    return {
        "kind": item.kind.value,
        "name": item.name,
        "session": item.session,
        "job": item.job,
        "seq": item.seq,
        "turn": item.turn,
        "time": str(item.time),
        "trace_id": trace_id.hex() if isinstance(trace_id, bytes) else None,
        "span_id": span_id.hex() if isinstance(span_id, bytes) else None,
        "status": item.status,
        "path": item.known_path,
        "ops": list(item.known_ops),
    }


def _notice(notice: Notice) -> Document:
    return {"code": notice.code, "text": notice.text}


def _stop(spec: SpecOutcome) -> list[Document]:
    return [] if spec.stop is None else [{"spec": str(spec.path), "code": spec.stop.code, "text": spec.stop.text}]


def _moment(ns: int) -> str:
    """ns since the epoch as ISO 8601 in UTC, with microseconds."""
    return (
        datetime.fromtimestamp(ns // 1_000_000_000, UTC).replace(microsecond=ns % 1_000_000_000 // 1000).isoformat()
    )


def _ms(ns: int) -> float:
    return round(ns / 1e6, 3)


def _round(ms: float | None) -> float | None:
    return None if ms is None else round(ms, 3)
