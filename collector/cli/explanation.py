"""What telemetry says, told to a person: what arrived, each call with where it was read, and what is missing."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from rich.console import Console
from rich.text import Text

from collector.assembly import Assembly
from collector.assembly.explained import ExplainedCall, Ignored, Layer
from collector.cli.seen_items import SeenItems, columns_of, line_of, seen_document
from collector.export.json import call_document
from collector.export.printable import printable
from collector.telemetry import Batch, LogRecord, Span
from evaluator.expectations.values import show
from evaluator.harness.sighting import Sighting
from evaluator.items import CallStatus, Item, NotRecorded

SHOWN: Final = 50
"""How many calls, and how many ignored spans, are told; the JSON has all."""

VALUE: Final = 160
"""How many code points of a value are shown."""

SIGNS: Final = {
    CallStatus.OK: ("✓", "green"),
    CallStatus.ERROR: ("✗", "red"),
    CallStatus.SUSPENDED: ("⏸", "yellow"),
    CallStatus.DENIED: ("⊘", "yellow"),
    CallStatus.REQUESTED: ("?", "yellow"),
}
NO_CALLS: Final = (
    "no tool call was found. Calls are found on spans of OpenTelemetry GenAI (gen_ai.operation.name=execute_tool), "
    "OpenInference, Traceloop, MCP and the frameworks of docs/frameworks.md; instrument the agent with one of them, "
    "or describe its spans with --mapping (docs/mapping.md)"
)
SPEAKING: Final = ("tool", "model", "agent", "workflow", "turn")
"""Roles of spans and records that show that a convention is at work."""
NOTHING: Final = "nothing arrived: no span, no log record, no trace-contract record"


@dataclass(slots=True)
class Arrived:
    """What came in, before anything is made of it."""

    spans: int = 0
    logs: int = 0
    records: int = 0
    traces: set[bytes] = field(default_factory=set)
    services: set[str] = field(default_factory=set)
    scopes: Counter[str] = field(default_factory=Counter)
    roles: Counter[str] = field(default_factory=Counter)
    others: Counter[str] = field(default_factory=Counter)
    """Names of the spans that no convention reads."""
    log_names: Counter[str] = field(default_factory=Counter)
    declared: set[str] = field(default_factory=set)

    def take(self, batch: Batch) -> None:
        self.spans += len(batch.spans)
        self.logs += len(batch.logs)
        self.records += len(batch.records)
        spans_and_logs: list[Span | LogRecord] = [*batch.spans, *batch.logs]
        for each in spans_and_logs:
            self.traces.add(each.trace_id)
            self.scopes[each.scope.name] += 1
            self.services.add(str(each.resource.attributes.get("service.name") or "unnamed"))
        for log in batch.logs:
            self.log_names[log.event_name or "without a name"] += 1

    def see(self, sightings: Iterable[Sighting]) -> None:
        for sighting in sightings:
            self.roles[sighting.role] += 1
            if sighting.role == "other":
                self.others[sighting.name] += 1
            self.declared |= sighting.declares or set()


@dataclass(frozen=True, slots=True)
class Missing:
    """Something that the telemetry does not show, of how many calls, and the one line that makes it visible."""

    what: str
    fix: str
    names: tuple[str, ...]


def missing(calls: Iterable[ExplainedCall]) -> list[Missing]:
    """What was not recorded, each cause once."""
    found: dict[tuple[str, str], list[str]] = {}
    for explained in calls:
        call = explained.call
        if not call.status.happened:
            continue
        for part, value in (("arguments", call.args), ("result", call.result), ("error text", call.error)):
            unfailed = part == "result" and call.failed
            if isinstance(value, NotRecorded) and not unfailed:
                found.setdefault((f"{part} not recorded: {value.cause}", value.fix), []).append(call.name)
    return [Missing(what, fix, tuple(dict.fromkeys(names))) for (what, fix), names in found.items()]


def document(assembly: Assembly, arrived: Arrived, items: SeenItems) -> dict[str, Any]:
    """The JSON document of `spanbar explain`: `calls` in order, the `items` that behaviors see, and what else there
    is to know."""
    calls = assembly.calls()
    return {
        "version": 1,
        "calls": [_call_document(explained) for explained in calls],
        "items": [seen_document(item) for item in items.in_order()],
        "ignored": [_ignored_document(ignored) for ignored in assembly.ignored()],
        "missing": [
            {"what": each.what, "fix": each.fix or None, "calls": list(each.names)} for each in missing(calls)
        ],
        "arrived": {
            "spans": arrived.spans,
            "logs": arrived.logs,
            "records": arrived.records,
            "traces": len(arrived.traces),
            "services": sorted(arrived.services),
            "scopes": dict(arrived.scopes.most_common()),
            "roles": dict(arrived.roles.most_common()),
            "declared_tools": sorted(arrived.declared),
        },
    }


def tell(console: Console, assembly: Assembly, arrived: Arrived, items: SeenItems) -> None:
    """Print the explanation."""
    for line in _arrival(arrived):
        _print(console, line)
    calls = assembly.calls()
    _print(console, _heading("Calls", len(calls)))
    seen = items.of_calls(each.call for each in calls)
    for number, (explained, item) in enumerate(zip(calls[:SHOWN], seen, strict=False), 1):
        for line in _call(number, explained, item):
            _print(console, line)
    if len(calls) > SHOWN:
        _print(console, Text(f"  and {len(calls) - SHOWN} more: --json FILE has them all", "dim"))
    if not calls:
        _print(console, Text(f"  {_no_calls(arrived)}", "yellow"))
    _others(console, items.others())
    told = {layer.span_id for explained in calls for layer in explained.layers}
    _ignored(console, [each for each in assembly.ignored() if each.span_id not in told])
    _missing(console, missing(calls))


def _no_calls(arrived: Arrived) -> str:
    if not (arrived.spans or arrived.logs or arrived.records):
        return NOTHING
    return "no tool was called" if any(arrived.roles[role] for role in SPEAKING) else NO_CALLS


def _arrival(arrived: Arrived) -> Iterator[Text]:
    parts = [(arrived.spans, "span"), (arrived.logs, "log record"), (arrived.records, "trace-contract record")]
    counted = [f"{count} {noun}{'' if count == 1 else 's'}" for count, noun in parts if count]
    line = Text("\nArrived  ", "bold")
    line.append(", ".join(counted) or "nothing", "not bold")
    if arrived.traces:
        line.append(f" in {len(arrived.traces)} trace{'' if len(arrived.traces) == 1 else 's'}", "not bold")
    yield line
    if arrived.services:
        yield Text(f"  from      {_listed(sorted(arrived.services))}", "dim")
    if arrived.scopes:
        yield Text(f"  scopes    {_counted(arrived.scopes)}", "dim")
    if arrived.roles:
        yield Text(f"  read as   {_counted(arrived.roles)}", "dim")
    if arrived.others:
        yield Text(f"  no meaning for tests: {_counted(arrived.others)}", "dim")
    if arrived.log_names:
        yield Text(f"  logs      {_counted(arrived.log_names)}", "dim")
    if arrived.declared:
        yield Text(f"  tools the agent says it has: {_listed(sorted(arrived.declared))}", "dim")


def _call(number: int, explained: ExplainedCall, item: Item | None) -> Iterator[Text]:
    call = explained.call
    sign, style = SIGNS[call.status]
    line = Text(f"  {number:>3} ")
    line.append(f"{sign} {printable(call.name, VALUE)}", f"bold {style}")
    facts = [call.status.value, f"{(call.ended - call.started) / 1e6:.1f} ms", f"by {call.convention or 'messages'}"]
    facts += [f"session {printable(explained.session, VALUE)}"] if explained.session else []
    facts += [f"id {printable(call.call_id, VALUE)}"] if call.call_id else []
    line.append(f"  {', '.join(facts)}", "dim")
    yield line
    yield _part("name", call.name, explained.name_from)
    yield _part("args", call.args, explained.args_from)
    if call.status.happened and not call.failed:
        yield _part("result", call.result, explained.result_from)
    if call.failed:
        yield _part("error", call.error, explained.error_from)
    if item is not None and (columns := columns_of(item)):
        yield Text(f"        seen   {columns}", "dim")
    if explained.held_by:
        yield Text(f"        held: {printable(explained.held_by)}", "yellow")
    if len(explained.layers) > 1:
        shown = " > ".join(f"{_layer(layer)} ({layer.convention})" for layer in explained.layers)
        yield Text(f"        one call, {_layers(explained.layers)}: {shown}", "dim")


def _layer(layer: Layer) -> str:
    if layer.source != "log":
        return layer.span_id.hex()
    return f"log record of span {layer.span_id.hex()}" if layer.span_id else "log record"


def _layers(layers: Sequence[Layer]) -> str:
    logs = sum(layer.source == "log" for layer in layers)
    counted = ((len(layers) - logs, "span"), (logs, "log record"))
    return " and ".join(f"{count} {noun}{'' if count == 1 else 's'}" for count, noun in counted if count)


def _part(label: str, value: Any, source: str) -> Text:
    line = Text(f"        {label:<7}")
    if isinstance(value, NotRecorded):
        line.append(f"not recorded: {printable(value.cause)}", "yellow")
        return line
    line.append(printable(value if isinstance(value, str) else show(value), VALUE))
    line.append(f"  from {printable(source, VALUE)}" if source else "", "dim")
    return line


def _others(console: Console, items: Sequence[Item]) -> None:
    if not items:
        return
    _print(console, _heading("Other items that behaviors see", len(items)))
    for item in items[:SHOWN]:
        _print(console, Text(f"  {line_of(item)}"))
    if len(items) > SHOWN:
        _print(console, Text(f"  and {len(items) - SHOWN} more", "dim"))


def _ignored(console: Console, ignored: Sequence[Ignored]) -> None:
    if not ignored:
        return
    _print(console, _heading("Looks like a call and is none", len(ignored)))
    for each in ignored[:SHOWN]:
        _print(console, Text(f"  {printable(each.name, VALUE)}: {printable(each.reason)}", "dim"))
    if len(ignored) > SHOWN:
        _print(console, Text(f"  and {len(ignored) - SHOWN} more", "dim"))


def _missing(console: Console, found: Sequence[Missing]) -> None:
    if not found:
        return
    _print(console, _heading("Missing", len(found)))
    for each in found:
        _print(console, Text(f"  {printable(each.what)} ({_listed(each.names)})", "yellow"))
        if each.fix:
            _print(console, Text(f"    fix: {printable(each.fix)}", "bold"))


def _call_document(explained: ExplainedCall) -> dict[str, Any]:
    layers = [
        {
            "convention": layer.convention,
            "trace_id": layer.trace_id.hex() or None,
            "span_id": layer.span_id.hex() or None,
            "source": layer.source,
        }
        for layer in explained.layers
    ]
    return {
        **call_document(explained.call),
        "session": explained.session,
        "layers": layers,
        "from": {
            "name": explained.name_from or None,
            "args": explained.args_from or None,
            "result": explained.result_from or None,
            "error": explained.error_from or None,
        },
        "held_by": explained.held_by or None,
    }


def _ignored_document(ignored: Ignored) -> dict[str, Any]:
    return {
        "name": ignored.name,
        "reason": ignored.reason,
        "convention": ignored.convention,
        "trace_id": ignored.trace_id.hex() or None,
        "span_id": ignored.span_id.hex() or None,
    }


def _heading(title: str, count: int) -> Text:
    return Text(f"\n{title} ({count})", "bold")


def _counted(counts: Counter[str]) -> str:
    return _listed([f"{name or 'unnamed'} ×{count}" for name, count in counts.most_common()])


def _listed(names: Sequence[str], most: int = 8) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(printable(name, 60) for name in names[:most]) + more


def _print(console: Console, line: Text) -> None:
    console.print(line, soft_wrap=True)
