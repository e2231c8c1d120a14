"""OpenInference: `openinference.span.kind` (corpus/CONVENTIONS.md, rows 3, 7, 8, 13, 16, 17, 19 to 21).

What the instrumentations of single frameworks put into `input.value` and `output.value` is unwrapped in
`collector.conventions.wrappings`.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from collector.conventions import genai, langchain, strands
from collector.conventions.definitions import declared
from collector.conventions.exceptions import NO_TEXT, failure, suspension
from collector.conventions.messages import after_last, shown, text_or_none
from collector.conventions.payload import (
    HIDDEN,
    REDACTED,
    arguments,
    as_text,
    decoded,
    identifier,
    lost,
    missing_result,
    tool_name,
)
from collector.conventions.reading import Asked, Reading, Role, Shown, ToolFacts, unreadable
from collector.conventions.switches import OPENINFERENCE
from collector.conventions.wrappings import unwrap_arguments, unwrap_result
from collector.telemetry import Attributes, Span
from evaluator.items import CallStatus, Json, NotRecorded

NAME: Final = "openinference"
KIND: Final = "openinference.span.kind"

FINAL_ANSWER: Final = "the final answer, not a tool call"

ROLES: Final[Mapping[str, Role]] = {"LLM": Role.MODEL, "AGENT": Role.AGENT}
CREW: Final = NotRecorded(
    "a CrewAI agent whose model is asked in text (ReAct) calls tools without a span",
    "use a model with native function calling",
)
"""An agent span of CrewAI is no proof that calls would be seen; only a tool span is."""
_IDS: Final = ("tool_call.id", "tool.call_id", "tool.id", "gen_ai.tool.call.id")


def read(span: Span) -> Reading | None:
    attributes = span.attributes
    kind = attributes.get(KIND)
    if kind == "TOOL" or (kind == "AGENT" and "tool.name" in attributes):
        reading = Reading(NAME, Role.TOOL, _tool(span))
    elif kind == "LLM":
        reading = Reading(NAME, Role.MODEL)
        _messages(span, reading)
    elif not isinstance(kind, str):
        reading = unreadable(NAME, KIND)
    else:
        reading = Reading(NAME, ROLES.get(kind, Role.OTHER), agent=text_or_none(attributes.get("agent.name")))
        reading.declares = _tool_names(attributes)
        if kind == "AGENT" and "crew_key" in attributes:
            reading.blind = CREW
        if span.name.startswith(langchain.MIDDLEWARE) and suspension(span):
            reading.holds = langchain.awaiting(attributes.get("input.value"))
    _session(attributes, reading)
    return reading


def _tool(span: Span) -> ToolFacts:
    attributes = span.attributes
    name, name_from = attributes.get("tool.name"), "tool.name"
    if name is None:
        name, name_from = attributes.get("gen_ai.tool.name"), "gen_ai.tool.name"
    value, output = attributes.get("input.value"), attributes.get("output.value")
    absent = lost(span, OPENINFERENCE) if value is None or output is None else OPENINFERENCE
    args, args_from = arguments(value, absent), "input.value"
    if not isinstance(args, NotRecorded):
        args = unwrap_arguments(args, attributes)
    elif value is not None and value != REDACTED:
        args = unwrap_arguments({}, attributes, value) or args
    result, failed, call_id = _output(output, attributes, absent)
    error, error_from = failure(span)
    if error is None and failed:
        error, error_from = (as_text(result) if not isinstance(result, NotRecorded) else NO_TEXT), "output.value"
    if output is None:
        result = missing_result(absent, failed=error is not None, has_args=value is not None)
    facts = ToolFacts(
        name=tool_name(span.name if name is None else name),
        args=args,
        result=result,
        error=error,
        status=CallStatus.OK if error is None else CallStatus.ERROR,
        call_id=call_id,
        name_from=name_from if name is not None else "span name",
        args_from=args_from if value is not None else "",
        result_from="output.value" if output is not None else "",
        error_from=error_from,
        held=_held(span) if output is None else "",
        bare=None if isinstance(args, Mapping) or value == REDACTED else value,
        unfinished=value is not None and output is None and error is None and value != REDACTED,
    )
    # openai-agents, whose spans have the tool's own name, ends the span of a call that waits like any other.
    facts.answered = span.name == facts.name
    if name is None or (span.name.startswith(("handoff to ", "handoff_to_")) and isinstance(args, NotRecorded)):
        facts.phantom = genai.HANDOFF
    elif facts.name == "final_answer" and span.name == "FinalAnswerTool":
        facts.phantom = FINAL_ANSWER
    if facts.held:
        genai.hold(facts, facts.held)
    return facts


def _held(span: Span) -> str:
    if strands.KEY in span.attributes and strands.is_held(span.attributes):
        return strands.HELD
    return suspension(span)


def _output(output: Json, attributes: Attributes, absent: NotRecorded) -> tuple[Json | NotRecorded, bool, str | None]:
    """The result, whether it says that the call failed, and the call's id."""
    call_id = next((value for key in _IDS if (value := identifier(attributes.get(key))) is not None), None)
    if output is None:
        return absent, False, call_id
    if output == REDACTED:
        return HIDDEN, False, call_id
    if attributes.get("output.mime_type") == "text/plain":
        return output, False, call_id
    found = output if not isinstance(output, str) or output[:1] not in '{["' else decoded(output)
    result, failed, inner_id = unwrap_result(found)
    return result, failed, call_id or inner_id


def _messages(span: Span, reading: Reading) -> None:
    attributes = span.attributes
    asked = tuple(_asked(attributes))
    reading.asked = asked
    reading.shown = tuple(_shown(attributes))
    names: set[str] = set()
    position = 0
    while (schema := attributes.get(f"llm.tools.{position}.tool.json_schema")) is not None:
        names |= declared(f"[{schema}]" if isinstance(schema, str) else [schema]) or frozenset()
        position += 1
    if position:
        reading.declares = frozenset(names)
    if not asked and "llm.output_messages.0.message.role" not in attributes:
        reading.blind = lost(span, OPENINFERENCE)


def _asked(attributes: Attributes) -> Iterator[Asked]:
    message = 0
    while f"llm.output_messages.{message}.message.role" in attributes:
        yield from _calls(attributes, f"llm.output_messages.{message}.message")
        message += 1


def _calls(attributes: Attributes, message: str) -> Iterator[Asked]:
    position = 0
    while True:
        prefix = f"{message}.tool_calls.{position}.tool_call"
        name = attributes.get(f"{prefix}.function.name")
        if name is None:
            return
        # An empty mapping of arguments is left out by the instrumentations.
        given = attributes.get(f"{prefix}.function.arguments")
        args = {} if given is None else arguments(given, OPENINFERENCE)
        yield Asked(tool_name(name), args, identifier(attributes.get(f"{prefix}.id")), message)
        position += 1


def _shown(attributes: Attributes) -> Iterator[Shown]:
    prefixes: list[str] = []
    # openai-agents leaves number 0 to the instructions, also if there are none.
    number = 0 if "llm.input_messages.0.message.role" in attributes else 1
    while f"llm.input_messages.{number}.message.role" in attributes:
        prefixes.append(f"llm.input_messages.{number}.message")
        number += 1
    for prefix in after_last(prefixes, lambda each: f"{each}.tool_calls.0.tool_call.function.name" in attributes):
        call_id = attributes.get(f"{prefix}.tool_call_id")
        if call_id is not None:
            content = attributes.get(f"{prefix}.content")
            if content is None:
                content = attributes.get(f"{prefix}.contents.0.message_content.text", OPENINFERENCE)
            yield shown(str(call_id), decoded(content), f"{prefix}.content")


def _tool_names(attributes: Attributes) -> frozenset[str] | None:
    names = attributes.get("smolagents.tools_names")
    if isinstance(names, list):
        return frozenset(str(name) for name in names)
    crew = attributes.get("crew_agents")
    if crew is not None:
        agents = decoded(crew)
        if isinstance(agents, list):
            return frozenset(str(name) for agent in agents for name in _listed(agent))
    return None


def _listed(agent: Any) -> list[Any]:
    names = agent.get("tools_names") if isinstance(agent, Mapping) else None
    return names if isinstance(names, list) else []


def _session(attributes: Attributes, reading: Reading) -> None:
    metadata = attributes.get("metadata")
    if metadata is None:
        return
    fields = decoded(metadata)
    if isinstance(fields, Mapping):
        for key in ("session_id", "thread_id"):
            if fields.get(key) is not None:
                reading.session, reading.session_from = str(fields[key]), f"metadata: {key}"
                return
