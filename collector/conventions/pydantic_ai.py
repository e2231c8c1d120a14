"""pydantic-ai, all formats of its instrumentation (corpus/CONVENTIONS.md, rows 1 and 2)."""

from collections.abc import Mapping
from typing import Final

from collector.conventions import genai
from collector.conventions.exceptions import suspension
from collector.conventions.messages import asked_by_events, mappings, shown_by_events, text_or_none
from collector.conventions.payload import decoded
from collector.conventions.reading import Reading, Role
from collector.conventions.switches import PYDANTIC_AI
from collector.telemetry import Span

NAME: Final = "pydantic-ai"


def read(span: Span) -> Reading | None:
    attributes = span.attributes
    operation = attributes.get(genai.OPERATION)
    if operation == "execute_tool" or (operation is None and _is_tool(span)):
        return _tool(span)
    if operation is None and span.name == "agent run":
        operation = "invoke_agent"
    reading = genai.read_operation(span, NAME, operation, PYDANTIC_AI)
    if reading is None:
        return None
    if reading.role is Role.AGENT:
        reading.agent = reading.agent or text_or_none(attributes.get("agent_name"))
        reading.holds = _awaiting(attributes.get("final_result"))
    elif "events" in attributes:  # the first format: one attribute with all messages as events
        events = decoded(attributes.get("events"))
        if isinstance(events, list):
            reading.asked, reading.shown = tuple(asked_by_events(events)), tuple(shown_by_events(events))
            reading.blind = None
    return reading


def _is_tool(span: Span) -> bool:
    attributes = span.attributes
    return "tool_arguments" in attributes or (span.name == "running tool" and "gen_ai.tool.name" in attributes)


def _tool(span: Span) -> Reading:
    facts = genai.read_tool(
        span,
        absent=PYDANTIC_AI,
        args_keys=("gen_ai.tool.call.arguments", "tool_arguments"),
        result_keys=("gen_ai.tool.call.result", "tool_response"),
    )
    deferral = span.attributes.get("pydantic_ai.tool.deferral.name")
    held = f"pydantic_ai.tool.deferral.name={deferral}" if deferral else suspension(span)
    if held:
        genai.hold(facts, held)
    # A call that ran has a result or an error in every version; what was held says so itself.
    facts.unfinished = False
    return Reading(NAME, Role.TOOL, facts)


def _awaiting(final_result: object) -> tuple[str, ...]:
    """The ids of the calls that a run ended with waiting for an approval (DeferredToolRequests)."""
    if not isinstance(final_result, str) or '"approvals"' not in final_result:
        return ()
    requests = decoded(final_result)
    approvals = mappings(requests.get("approvals") if isinstance(requests, Mapping) else None)
    return tuple(str(call["tool_call_id"]) for call in approvals if "tool_call_id" in call)
