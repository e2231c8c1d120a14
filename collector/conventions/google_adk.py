"""Google ADK, both schemas of its telemetry: `gcp.vertex.agent.*` (corpus/CONVENTIONS.md, rows 11 and 12)."""

from collections.abc import Iterator, Mapping
from typing import Final

from collector.conventions import genai
from collector.conventions.definitions import declared
from collector.conventions.messages import after_last, is_denial, mappings, shown
from collector.conventions.payload import arguments, decoded, identifier, tool_name
from collector.conventions.reading import Asked, Reading, Role, Shown, ToolFacts
from collector.conventions.switches import ADK_OLD, GENAI
from collector.conventions.wrappings import unwrap_result
from collector.telemetry import Span
from evaluator.items import CallStatus, Json, NotRecorded

NAME: Final = "google-adk"
REQUEST: Final = "gcp.vertex.agent.llm_request"
RESPONSE: Final = "gcp.vertex.agent.llm_response"
ARGUMENTS: Final = "gcp.vertex.agent.tool_call_args"
MERGED: Final = "(merged tools)"

CONFIRMATION: Final = "This tool call requires confirmation"
"""How the result of a call that waits for a person begins."""


def read(span: Span) -> Reading | None:
    attributes = span.attributes
    if attributes.get(genai.OPERATION) == "execute_tool":
        reading: Reading | None = Reading(NAME, Role.TOOL, _tool(span))
    elif span.name == "call_llm":
        reading = Reading(NAME, Role.MODEL)
        reading.asked = tuple(_asked(decoded(attributes.get(RESPONSE))))
        _read_request(decoded(attributes.get(REQUEST)), reading)
    else:
        reading = genai.read_operation(span, NAME, attributes.get(genai.OPERATION), GENAI)
    if reading is not None:
        session = attributes.get("gcp.vertex.agent.session_id")
        if session is not None:
            reading.session, reading.session_from = str(session), "gcp.vertex.agent.session_id"
    return reading


def _tool(span: Span) -> ToolFacts:
    attributes = span.attributes
    facts = genai.read_tool(
        span,
        absent=ADK_OLD if ARGUMENTS in attributes else GENAI,
        args_keys=("gen_ai.tool.call.arguments", ARGUMENTS),
        result_keys=("gen_ai.tool.call.result", "gcp.vertex.agent.tool_response"),
    )
    if facts.name == MERGED:
        facts.phantom = "merged: ADK shows the results of parallel calls a second time"
    elif attributes.get("gen_ai.tool.type") == "TransferToAgentTool":
        facts.phantom = genai.HANDOFF
    result, said = facts.result, None
    if isinstance(result, Mapping):
        said = result.get("error")
        if result.get("result") == "<not specified>":
            facts.result = NotRecorded("the call failed")
        else:
            facts.result = unwrap_result(result)[0]
    if isinstance(said, str) and said.startswith(CONFIRMATION):
        genai.hold(facts, f"result: {said}")
    elif is_denial(said):
        facts.status, facts.error = CallStatus.DENIED, None
    # A call that waited for a person looks like one that ran, and the resumed one has its id.
    facts.unfinished = facts.call_id is not None and isinstance(result, NotRecorded) and facts.error is None
    return facts


def _asked(response: Json) -> Iterator[Asked]:
    content = response.get("content") if isinstance(response, Mapping) else None
    for call in _parts(content, "function_call"):
        args = arguments(call.get("args", {}), ADK_OLD)
        yield Asked(tool_name(call.get("name")), args, identifier(call.get("id")), RESPONSE)


def _read_request(request: Json, reading: Reading) -> None:
    if not isinstance(request, Mapping):
        return
    reading.shown = tuple(_shown(request.get("contents")))
    config = request.get("config")
    if isinstance(config, Mapping) and config.get("tools") is not None:
        reading.declares = declared(config["tools"])


def _shown(contents: Json) -> Iterator[Shown]:
    messages = list(mappings(contents))
    for content in after_last(messages, lambda each: any(True for _ in _parts(each, "function_call"))):
        for reply in _parts(content, "function_response"):
            if reply.get("id") is not None:
                yield shown(str(reply["id"]), unwrap_result(reply.get("response"))[0], REQUEST)


def _parts(content: Json, kind: str) -> Iterator[Mapping[str, Json]]:
    for part in mappings(content.get("parts") if isinstance(content, Mapping) else None):
        found = part.get(kind)
        if isinstance(found, Mapping):
            yield found
