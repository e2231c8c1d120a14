"""Switches: the one line that makes arguments and results visible (corpus/CONVENTIONS.md, section 4).

How a span is read depends on its attributes alone. Only this advice looks at the scope too, because instrumentations
that write the same attributes are switched on differently.
"""

from typing import Final

from collector.telemetry import Span
from evaluator.items import NotRecorded

CAUSE: Final = "content capture is off"
GENAI: Final = NotRecorded(CAUSE, "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_AND_EVENT")
ADK_OLD: Final = NotRecorded(CAUSE, "unset ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS")
PYDANTIC_AI: Final = NotRecorded(CAUSE, "InstrumentationSettings(include_content=True), the default")
OPENINFERENCE: Final = NotRecorded(CAUSE, "unset OPENINFERENCE_HIDE_INPUTS and OPENINFERENCE_HIDE_OUTPUTS")
TRACELOOP: Final = NotRecorded(CAUSE, "unset TRACELOOP_TRACE_CONTENT, or set it to true")
VERCEL_AI: Final = NotRecorded(CAUSE, "experimental_telemetry: { isEnabled: true } without recordInputs: false")
VERCEL_AI_7: Final = NotRecorded(CAUSE, "registerTelemetry(new OpenTelemetry()) without recordInputs: false")
MCP: Final = NotRecorded(
    "MCP instrumentations record no arguments and no results",
    "instrument the agent that calls the MCP server as well",
)
OPENAI_V2: Final = NotRecorded(CAUSE, "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true")
MASTRA: Final = NotRecorded(CAUSE, "remove the span processor that takes input and output out (SensitiveDataFilter)")
STRANDS: Final = NotRecorded(CAUSE, "take gen_ai.tool.message and gen_ai.choice out of the redaction list")
AGENT_FRAMEWORK: Final = NotRecorded(
    CAUSE,
    "ENABLE_SENSITIVE_DATA=true OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental",
)
COPILOT_CHAT: Final = NotRecorded(CAUSE, "COPILOT_OTEL_CAPTURE_CONTENT=true")
COPILOT: Final = NotRecorded(CAUSE, "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true")

_BY_SERVICE: Final = {"copilot-chat": COPILOT_CHAT, "github-copilot": COPILOT}
_BY_SCOPE: Final = (
    ("agent_framework", AGENT_FRAMEWORK),
    ("opentelemetry.instrumentation.openai_v2", OPENAI_V2),
    ("opentelemetry.instrumentation.openai_agents", OPENAI_V2),
    ("gen_ai", VERCEL_AI_7),
    ("pydantic-ai", PYDANTIC_AI),
)


def switch_of(span: Span) -> NotRecorded:
    """What makes the content of a GenAI span visible."""
    name = span.scope.name
    service = span.resource.attributes.get("service.name")
    if isinstance(service, str) and service in _BY_SERVICE:
        return _BY_SERVICE[service]
    return next((switch for prefix, switch in _BY_SCOPE if name.startswith(prefix)), GENAI)


def is_instrumentation(span: Span) -> bool:
    """Whether the span is of an instrumentation that is known to have a switch, and is not made by hand."""
    name, service = span.scope.name, span.resource.attributes.get("service.name")
    known = ("opentelemetry.instrumentation.", "opentelemetry.util.genai", *(prefix for prefix, _ in _BY_SCOPE))
    return name.startswith(known) or (isinstance(service, str) and service in _BY_SERVICE)
