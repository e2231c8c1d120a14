"""Claude Code: events in log records, and the spans of its beta tracing.

From its documentation ("Monitoring", as of 2026-08) and from what version 2.1.197 sends. A record has the short name
of its event in `event.name` (`tool_result`) and the full one as its body (`claude_code.tool_result`).
"""

from collections.abc import Mapping
from typing import Final

from collector.conventions.payload import arguments, decoded, identifier, tool_name
from collector.conventions.reading import Reading, Role, ToolFacts
from collector.conventions.reports import CallReport, Report, began, decision_of
from collector.telemetry import STATUS_ERROR, Attributes, LogRecord, Span
from evaluator.items import CallStatus, Json, NotRecorded

NAME: Final = "claude-code"
PREFIX: Final = "claude_code"
SPANS: Final = tuple(
    f"claude_code.{name}"
    for name in ("interaction", "llm_request", "tool", "tool.execution", "tool.blocked_on_user", "hook")
)

CAUSE: Final = "Claude Code hides tool details unless it is told to log them"
DETAILS: Final = NotRecorded(CAUSE, "OTEL_LOG_TOOL_DETAILS=1")
CONTENT: Final = NotRecorded(
    "Claude Code reports what tools gave back only in its traces",
    "OTEL_LOG_TOOL_CONTENT=1 CLAUDE_CODE_ENHANCED_TELEMETRY_BETA=1 OTEL_TRACES_EXPORTER=otlp",
)
CUT: Final = NotRecorded("Claude Code cuts arguments of more than 512 characters in its events")
REDACTED: Final = "<REDACTED>"
HIDDEN_MCP: Final = "mcp_tool"
"""What stands for the name of every MCP tool where tool details are not logged."""


def read_log(log: LogRecord, name: str) -> Reading:
    """What a log record of this agent says; `name` is the full name of its event."""
    attributes = log.attributes
    report = Report(NAME, name, log.time, attributes, _whole(attributes.get("event.sequence")))
    prompt = attributes.get("prompt.id")
    report.prompt = None if prompt is None else str(prompt)
    event = name.rpartition(".")[2]
    if event == "user_prompt":
        # In a trace the record belongs to the span of the interaction, which starts the same turn.
        report.turn_key = turn_key(log.trace_id, log.span_id) if log.span_id else report.prompt
    elif event == "tool_result":
        report.call = _result(attributes, log.time)
    elif event == "tool_decision":
        report.call = _decision(attributes)
    return Reading(NAME, Role.OTHER, report=report)


def read_span(span: Span) -> Reading:
    """What one of `SPANS` says."""
    attributes = span.attributes
    report = Report(NAME, "", span.start, attributes)
    match span.name:
        case "claude_code.interaction":
            report.turn_key = turn_key(span.trace_id, span.span_id)
            return Reading(NAME, Role.AGENT, report=report)
        case "claude_code.llm_request":
            return Reading(NAME, Role.MODEL)
        case "claude_code.tool":
            report.call = _asked(span)
            return Reading(NAME, Role.TOOL, report=report)
        case "claude_code.tool.execution":
            report.call = _run(span)
        case "claude_code.tool.blocked_on_user":
            decision, decider = decision_of(attributes.get("decision")), str(attributes.get("source") or "")
            report.call = CallReport(None, of_parent=True, decision=decision, decider=decider)
        case _:
            return Reading(NAME, Role.OTHER)
    return Reading(NAME, Role.OTHER, report=report)


def turn_key(trace_id: bytes, span_id: bytes) -> str:
    return (trace_id + span_id).hex()


def _result(attributes: Attributes, time: int) -> CallReport:
    failed = str(attributes.get("success")).lower() == "false"
    error, error_from = _first(attributes, "error", "error_type")
    facts = _facts(attributes)
    if failed:
        facts.status = CallStatus.ERROR
        facts.error, facts.error_from = (DETAILS, "") if error is None else (str(error), error_from)
    return CallReport(
        _id(attributes),
        facts,
        ran=True,
        started=began(time, attributes.get("duration_ms")),
        ended=time,
        columns=_columns(facts.name, _parameters(attributes)),
    )


def _decision(attributes: Attributes) -> CallReport:
    facts = _facts(attributes)
    return CallReport(
        _id(attributes),
        facts,
        decision=decision_of(attributes.get("decision")),
        decider=str(attributes.get("source") or ""),
        columns=_columns(facts.name, _parameters(attributes)),
    )


def _facts(attributes: Attributes) -> ToolFacts:
    """The call of an event. `tool_input` has the arguments, cut; `tool_parameters` the whole command."""
    name = tool_name(attributes.get("tool_name"))
    parameters = _parameters(attributes)
    given, given_from = attributes.get("tool_input"), "tool_input"
    args: Mapping[str, Json] | NotRecorded = DETAILS
    if given is not None:
        args = arguments(given, DETAILS)
        if isinstance(args, Mapping):
            args = {key: CUT if _is_cut(value) else value for key, value in args.items()}
            if "full_command" in parameters and "command" in args:
                args = {**args, "command": parameters["full_command"]}
        elif "full_command" in parameters:
            args, given_from = {"command": parameters["full_command"]}, "tool_parameters"
    elif "full_command" in parameters:
        args = {"command": parameters["full_command"]}
        args.update((key, parameters[key]) for key in ("description", "timeout") if key in parameters)
        given_from = "tool_parameters"
    args_from = given_from if isinstance(args, Mapping) else ""
    return ToolFacts(name, args, CONTENT, call_id=_id(attributes), name_from="tool_name", args_from=args_from)


def _asked(span: Span) -> CallReport:
    """The span around a call: the time that it waited for a permission is part of it, and it may never have run."""
    attributes = span.attributes
    facts = ToolFacts(tool_name(attributes.get("tool_name")), DETAILS, CONTENT, call_id=_id(attributes))
    facts.name_from = "tool_name"
    for key, argument in (("full_command", "command"), ("file_path", "file_path"), ("skill_name", "skill")):
        if key in attributes:
            facts.args, facts.args_from = {argument: attributes[key]}, key
    for event in span.events:
        if event.name == "tool.output":
            key = "output" if "output" in event.attributes else "content"
            if key == "output" or facts.name in ("Read", "NotebookRead"):
                facts.result = decoded(event.attributes.get(key))
                facts.result_from = f"event tool.output, {key}"
    skill = {"skill_name": attributes["skill_name"]} if "skill_name" in attributes else {}
    return CallReport(_id(attributes), facts, columns=_columns(facts.name, skill))


def _run(span: Span) -> CallReport:
    """The span of the execution itself, which is there only when the tool ran."""
    attributes = span.attributes
    facts = ToolFacts("", DETAILS, CONTENT, call_id=_id(attributes))
    if span.status == STATUS_ERROR or str(attributes.get("success")).lower() == "false":
        error, error_from = _first(attributes, "error")
        facts.status = CallStatus.ERROR
        facts.error, facts.error_from = (
            (str(error), error_from) if error is not None else (span.status_message or DETAILS, "status message")
        )
    return CallReport(_id(attributes), facts, ran=True, started=span.start, ended=span.end)


def _columns(name: str, parameters: Mapping[str, Json]) -> dict[str, Json]:
    if name == HIDDEN_MCP:
        return {"hangar.tool.kind": "mcp", "hangar.mcp.server": DETAILS, "hangar.mcp.tool": DETAILS}
    if name == "Skill":
        return {"gen_ai.skill.name": parameters.get("skill_name", DETAILS)}
    columns: dict[str, Json] = {}
    if "mcp_server_name" in parameters:
        columns["hangar.tool.kind"] = "mcp"
        columns["hangar.mcp.server"] = parameters["mcp_server_name"]
        columns["hangar.mcp.tool"] = parameters.get("mcp_tool_name")
    return columns


def _parameters(attributes: Attributes) -> Mapping[str, Json]:
    found = decoded(attributes.get("tool_parameters"))
    return found if isinstance(found, Mapping) else {}


def _is_cut(value: Json) -> bool:
    """Whether a value ends as Claude Code marks what it cut: `…[905 chars]`."""
    return isinstance(value, str) and value.endswith(" chars]") and "…[" in value[-24:]


def _first(attributes: Attributes, *keys: str) -> tuple[Json, str]:
    for key in keys:
        value = attributes.get(key)
        if value is not None and value != REDACTED:
            return value, key
    return None, ""


def _id(attributes: Attributes) -> str | None:
    return identifier(attributes.get("tool_use_id"))


def _whole(value: Json) -> int | None:
    """An integer; the events write some of theirs as text."""
    try:
        return None if value is None or isinstance(value, bool) else int(value)
    except (TypeError, ValueError, OverflowError):  # the last for an infinite one
        return None
