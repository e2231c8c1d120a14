"""What readers are shown of units, results and items: plain JSON values. docs/openapi.json describes them.

Times named `*_ms` are ms since the epoch with fractions (durations, where the name says so). Arguments, results and
attributes are JSON texts, so that no reader rounds their numbers.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from collector.index import Unit, UnitKind
from collector.live.encoding import encode, text
from evaluator.items import CLIP, Item, NotRecorded
from evaluator.verdict import BehaviorResult, Result

View = dict[str, Any]

EVIDENCE_SHOWN: Final = 20
"""How many items of evidence an event or a list carries; a unit's own view carries them all."""

TEXT_SHOWN: Final = 256 * 1024
"""How many characters of one argument, result or attribute text are sent to a reader."""

LETTERS: Final = {
    Result.PASS: "p",
    Result.FAIL: "f",
    Result.NOT_APPLICABLE: "n",
    Result.UNKNOWN: "u",
    Result.ERROR: "e",
}
"""The letter of a result in `cells`; upper case once it is final."""


WORST_FIRST: Final = (Result.FAIL, Result.ERROR, Result.UNKNOWN, Result.PASS, Result.NOT_APPLICABLE)


def letter(result: BehaviorResult) -> str:
    code = LETTERS[result.verdict.result]
    return code.upper() if result.verdict.final else code


def ms(ns: int) -> float:
    """ns to ms; microseconds survive."""
    return round(ns / 1e6, 3)


def item_id(item: Item) -> str:
    """The text form of an item's id: hex of its bytes, and its other parts, joined by dots."""
    return _id_text(item.id)


def _id_text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, tuple):
        return ".".join(_id_text(part) for part in value if part is not None)
    return str(value)


def unit_ref(unit: Unit) -> View:
    return {"kind": unit.key.kind.value, "id": unit.key.id}


def evidence(item: Item) -> View:
    return {
        "id": item_id(item),
        "kind": item.kind.value,
        "name": item.name,
        "session": item.session,
        "seq": item.seq,
        "turn": item.turn,
        "time_ms": ms(item.time),
    }


def result(outcome: BehaviorResult, *, shown: int | None = EVIDENCE_SHOWN) -> View:
    """One behavior's result. `evidence_total` says how many items there are beyond those shown."""
    items = outcome.verdict.evidence
    return {
        "behavior": outcome.behavior,
        "severity": outcome.severity.value,
        "result": outcome.verdict.result.value,
        "final": outcome.verdict.final,
        "final_at": outcome.final_at,
        "revised": outcome.revised,
        "reason": outcome.verdict.reason,
        "evidence": [evidence(item) for item in items[:shown]],
        "evidence_total": len(items),
    }


def overall(cells: str, *, closed: bool) -> View:
    """The worst result of these cells: fail, error, unknown, pass, not_applicable.

    Final when nothing that may still arrive can change it: all are final, or one has finally failed. Without any
    cell the result is unknown, because nothing was checked, and final once the unit is closed.
    """
    if not cells:
        return {"result": Result.UNKNOWN.value, "final": closed}
    lowered = cells.lower()
    worst = next(result for result in WORST_FIRST if LETTERS[result] in lowered)
    return {"result": worst.value, "final": cells.isupper() or LETTERS[Result.FAIL].upper() in cells}


def linked(unit: Unit) -> View:
    """The jobs of a session, or the sessions of a job."""
    name = "jobs" if unit.key.kind is UnitKind.SESSION else "sessions"
    return {name: sorted(unit.links)[:100]}


def item(shown: Item, position: int, marks: Sequence[str]) -> View:
    """One line of a timeline. `marks` names the behaviors that have the item as evidence."""
    call = shown.call
    return {
        "position": position,
        "id": item_id(shown),
        "kind": shown.kind.value,
        "name": shown.name,
        "session": shown.session,
        "seq": shown.seq,
        "turn": shown.turn,
        "time_ms": ms(shown.time),
        "duration_ms": round((call.ended - call.started) / 1e6, 3) if call is not None and call.ended else None,
        "status": _status(shown),
        "tool_kind": shown.tool_kind,
        "ops": list(shown.known_ops),
        "path": shown.known_path if shown.known_path is not None else ", ".join((shown.paths or ())[:5]) or None,
        "input": _input(shown),
        "output": _output(shown),
        "error": _clip(_recorded(call.error)) if call is not None else None,
        "marks": list(marks),
    }


def item_in_full(shown: Item, position: int, marks: Sequence[str]) -> View:
    """Everything about an item. Texts are JSON, at most `TEXT_SHOWN` characters each."""
    call = shown.call
    view = item(shown, position, marks)
    view["columns"] = {
        name: _value(value) if isinstance(value, NotRecorded) else value
        for name in ("op", "mcp_server", "mcp_tool", "skill", "trusted", "total", "complete", "job")
        if (value := getattr(shown, name)) is not None
    }
    if shown.paths:
        view["columns"]["paths"] = list(shown.paths[:1000])
    view["attributes"] = {str(key): _shorten(_as_text(value)) for key, value in shown.attributes.items()}
    if call is not None:
        view["call"] = {
            "call_id": call.call_id,
            "convention": call.convention,
            "source": call.source,
            "agent": call.agent,
            "trace_id": call.trace_id.hex(),
            "span_id": call.span_id.hex(),
            "args": _value(call.args),
            "result": _value(call.result),
            "error": _value(call.error),
        }
    return view


def found(shown: Item, needle: str) -> bool:
    """Whether a casefolded text is in what a line of the timeline shows."""
    haystack = (shown.name, shown.status, shown.known_path, _input(shown), _output(shown), *shown.known_ops)
    return any(needle in value.casefold() for value in haystack if value)


def marks(results: Iterable[BehaviorResult]) -> Mapping[tuple[Any, ...], list[str]]:
    """The behaviors by the ids of the items that are their evidence."""
    by_item: dict[tuple[Any, ...], list[str]] = {}
    for outcome in results:
        for each in outcome.verdict.evidence:
            by_item.setdefault(each.id, []).append(outcome.behavior)
    return by_item


def _status(shown: Item) -> str | None:
    if shown.status is not None:
        return shown.status
    return shown.call.status.value if shown.call is not None else None


def _input(shown: Item) -> str | None:
    if shown.input is not None:
        return _clip(shown.input)
    if shown.call is None or isinstance(shown.call.args, NotRecorded):
        return None
    return _clip(_as_text(shown.call.args))


def _output(shown: Item) -> str | None:
    if shown.output is not None:
        return _clip(shown.output)
    if shown.call is None or shown.call.result is None or isinstance(shown.call.result, NotRecorded):
        return None
    return _clip(_as_text(shown.call.result))


def _recorded(value: str | NotRecorded | None) -> str | None:
    return f"not recorded: {value.cause}" if isinstance(value, NotRecorded) else value


def _value(value: Any) -> View:
    if isinstance(value, NotRecorded):
        return {"recorded": False, "cause": value.cause, "fix": value.fix}
    pretty = value if isinstance(value, str) else text(value)
    return {"recorded": True, "text": _shorten(pretty), "characters": len(pretty)}


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else encode(value).decode()


def _clip(value: str | None) -> str | None:
    return value[:CLIP] if value is not None else None


def _shorten(value: str) -> str:
    return value if len(value) <= TEXT_SHOWN else value[:TEXT_SHOWN] + " … (shortened)"
