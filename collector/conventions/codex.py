"""OpenAI Codex CLI: events in log records, and the same events, without content, on its spans.

From its documentation ("Observability and telemetry" of its configuration, as of 2026-10) and from what version 0.171
sends. The `event_name` of a record is a place in its source; the name of the event is the attribute `event.name`.
"""

import re
from collections.abc import Mapping
from typing import Final

from collector.conventions.payload import arguments, decoded, identifier, tool_name
from collector.conventions.reading import Reading, Role, ToolFacts
from collector.conventions.reports import DENIED, CallReport, Report, began, decision_of
from collector.telemetry import Attributes
from evaluator.items import CallStatus, Json, NotRecorded

NAME: Final = "codex"
PREFIX: Final = "codex"

IN_LOGS: Final = NotRecorded(
    "the traces of Codex carry no arguments and no results",
    "set exporter in the [otel] table of its config.toml: the log events carry them",
)
UNTOLD: Final = NotRecorded("a decision of Codex carries neither arguments nor a result, and no result has come")
_STREAMING: Final = frozenset({"codex.sse_event", "codex.websocket_event", "codex.websocket_request"})
"""One record for each piece of each answer: not kept, but for failures and the end of an answer."""

_REFUSED: Final = (
    "approval policy is",
    "exec command rejected by user",
    "patch rejected by user",
    "rejected by user",
    "command rejected",
    "patch rejected",
)
"""How the output begins of a call that Codex refused without asking anyone."""
_REJECTED: Final = 'CreateProcess { message: "Rejected('
"""What stands in the output when its policy, or the user, refused a command just before it would have run."""
_UNKNOWN: Final = ("unsupported call", "unsupported custom tool call", "failed to parse function arguments")
"""How it begins of a call that there is no tool for: it was asked for and never ran."""

_EXITED: Final = re.compile(r"^(?:Process exited with code|Exit code:) (\d+)$", re.MULTILINE)


def read(attributes: Attributes, name: str, time: int, place: str) -> Reading | None:
    """What the event of a log record says; None when it is one that is not kept.

    `place` is the trace and span that the record is in, "" for none.
    """
    unimportant = attributes.get("event.kind") != "response.completed" and "error.message" not in attributes
    if name in _STREAMING and unimportant:
        return None
    reading, report = _reading(attributes, name, time)
    if name == "codex.user_prompt":
        report.turn_key = place or str(attributes.get("event.timestamp") or time)
    elif name == "codex.tool_result":
        report.call = _result(attributes, time)
    elif name == "codex.tool_decision":
        report.call = CallReport(
            _id(attributes),
            ToolFacts(tool_name(attributes.get("tool_name")), UNTOLD, UNTOLD, name_from="tool_name"),
            decision=decision_of(attributes.get("decision")),
            decider=str(attributes.get("source") or ""),
        )
    return reading


def read_in_trace(attributes: Attributes, name: str, time: int, place: str) -> Reading | None:
    """What the same event on a span says, where it stands without content. Log records say most of them as well, so
    only calls and turns are taken from there, which are joined with what the records say."""
    reading, report = _reading(attributes, "", time)
    if name == "codex.user_prompt":
        report.turn_key = place
    elif name == "codex.tool_result" and _id(attributes) is not None:
        report.call = _result(attributes, time)
    else:
        return None
    return reading


def _reading(attributes: Attributes, name: str, time: int) -> tuple[Reading, Report]:
    conversation = attributes.get("conversation.id")
    report = Report(NAME, name, time, attributes)
    session = None if conversation is None else str(conversation)
    return Reading(NAME, Role.OTHER, session=session, session_from="conversation.id", report=report), report


def _result(attributes: Attributes, time: int) -> CallReport:
    name, output = tool_name(attributes.get("tool_name")), attributes.get("output")
    said = attributes.get("arguments")
    args: Mapping[str, Json] | NotRecorded = IN_LOGS
    if said is not None:
        args = {"input": said} if isinstance(said, str) and not said.lstrip().startswith("{") and said else arguments(
            said or "{}", IN_LOGS
        )  # fmt: skip
    facts = ToolFacts(name, args, IN_LOGS if output is None else decoded(output), call_id=_id(attributes))
    facts.name_from, facts.args_from, facts.result_from = "tool_name", "arguments", "output"
    text = output if isinstance(output, str) else ""
    failed = str(attributes.get("success")).lower() == "false"
    decision, ran = "", True
    if failed and (text.startswith(_REFUSED) or _REJECTED in text[:200]):
        decision, ran = DENIED, False
    elif failed and text.startswith(_UNKNOWN):
        ran = False
    if failed or _exit_code(facts.result, text):
        facts.status, facts.error_from = CallStatus.ERROR, "output"
        facts.error = text if text else NotRecorded("the event says that the call failed and not how")
    return CallReport(
        _id(attributes),
        facts,
        ran=ran,
        never_ran=not ran,
        started=began(time, attributes.get("duration_ms")),
        ended=time,
        decision=decision,
        decider="policy" if decision else "",
        columns=_columns(attributes, name),
    )


def _exit_code(result: Json | NotRecorded, text: str) -> int:
    """The exit status of a command, which `success` does not tell; 0 where the output has none."""
    if isinstance(result, Mapping) and isinstance(result.get("metadata"), Mapping):
        code = result["metadata"].get("exit_code")
        return code if isinstance(code, int) else 0
    found = _EXITED.search(text[:500])
    return int(found.group(1)) if found is not None else 0


def _columns(attributes: Attributes, name: str) -> dict[str, Json]:
    server = attributes.get("mcp_server")
    return {"hangar.tool.kind": "mcp", "hangar.mcp.server": server, "hangar.mcp.tool": name} if server else {}


def _id(attributes: Attributes) -> str | None:
    return identifier(attributes.get("call_id"))
