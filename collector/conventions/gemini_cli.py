"""Gemini CLI and what is made from it (Qwen Code): events in log records.

From the documentation ("Observability with OpenTelemetry" of Gemini CLI and "Telemetry" of Qwen Code) and from what
Gemini CLI sends. One event tells of a call when it is over, with the decision on it; its spans, with
`gen_ai.operation.name` = `tool_call`, say less and are left alone.
"""

from collections.abc import Mapping
from typing import Final

from collector.conventions.logs import DETAILS
from collector.conventions.messages import text_or_none
from collector.conventions.payload import arguments, decoded, tool_name
from collector.conventions.reading import Reading, Role, ToolFacts
from collector.conventions.reports import DENIED, CallReport, Report, began, decision_of
from collector.telemetry import Attributes
from evaluator.items import CallStatus, Json, NotRecorded

GEMINI: Final = "gemini-cli"
QWEN: Final = "qwen-code"

NO_ARGUMENTS: Final = NotRecorded("the event carries no function_args")
NO_RESULT: Final = NotRecorded("the events of this agent never carry what a tool gave back")
NO_ERROR: Final = NotRecorded("the event says that the call failed and not how")

_REFUSED: Final = frozenset({"policy_violation", "execution_denied"})
_NEVER_RAN: Final = frozenset({"tool_not_registered", "invalid_tool_params"})


def repeats(attributes: Attributes, name: str) -> bool:
    """Whether a record says in the words of GenAI what events of Gemini CLI say as well: its calls count once."""
    return name == DETAILS and "installation.id" in attributes


def read(attributes: Attributes, name: str, time: int) -> Reading:
    """What an event says."""
    convention = QWEN if name.startswith("qwen") else GEMINI
    report = Report(convention, name, time, attributes)
    event = name.rpartition(".")[2]
    if event == "user_prompt":
        # A resumed conversation repeats the prompt's id, so only the moment tells its turns apart.
        report.turn_key = str(attributes.get("event.timestamp") or time)
    elif event == "tool_call":
        report.call = _call(attributes, time)
    return Reading(convention, Role.OTHER, report=report)


def _call(attributes: Attributes, time: int) -> CallReport:
    name = tool_name(attributes.get("function_name"))
    error_type = text_or_none(attributes.get("error_type") or attributes.get("error.type"))
    failed = str(attributes.get("success")).lower() == "false" or _exited_badly(attributes)
    facts = ToolFacts(name, arguments(attributes.get("function_args"), NO_ARGUMENTS), NO_RESULT)
    facts.name_from, facts.args_from = "function_name", "function_args"
    if failed:
        error = attributes.get("error") or attributes.get("error.message") or error_type
        facts.status, facts.error_from = CallStatus.ERROR, "error"
        facts.error = NO_ERROR if error is None else str(error)
    decision = decision_of(attributes.get("decision"))
    decider = str(attributes.get("decision") or "")
    if error_type in _REFUSED:
        decision, decider = DENIED, "policy"
    ran = decision != DENIED and error_type not in _NEVER_RAN
    return CallReport(
        None,
        facts,
        ran=ran,
        never_ran=not ran,
        started=began(time, attributes.get("duration_ms")),
        ended=time,
        decision=decision,
        decider=decider,
        columns=_columns(attributes, name),
    )


def _exited_badly(attributes: Attributes) -> bool:
    """A shell command that failed: the call itself succeeded, as it says."""
    found = decoded(attributes.get("metadata"))
    return isinstance(found, Mapping) and (found.get("isError") is True or bool(found.get("exitCode")))


def _columns(attributes: Attributes, name: str) -> dict[str, Json]:
    if attributes.get("tool_type") != "mcp":
        return {}
    server = attributes.get("mcp_server_name")
    tool = name.removeprefix(f"mcp_{server}_").removeprefix(f"{server}__")
    return {"hangar.tool.kind": "mcp", "hangar.mcp.server": server, "hangar.mcp.tool": tool}
