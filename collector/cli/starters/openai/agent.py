"""A support agent on the OpenAI SDK, its loop written by hand. It needs OPENAI_API_KEY; OPENAI_BASE_URL and
OPENAI_MODEL are optional."""

import json
import os

from openai import AsyncOpenAI
from openai.types.chat import ChatCompletionMessageFunctionToolCall
from opentelemetry import trace
from opentelemetry.instrumentation.genai.openai import OpenAIInstrumentor
from opentelemetry.trace import Status, StatusCode
from orders import RefundRefused, cancel_order, get_order, refund_order
from service import serve
from telemetry import provider

# Spans carry arguments and results. What they say may be personal: NO_CONTENT leaves it out.
CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
content = os.environ.setdefault(CAPTURE, "SPAN_AND_EVENT").upper() != "NO_CONTENT"
OpenAIInstrumentor().instrument(tracer_provider=provider)

client = AsyncOpenAI()
tracer = trace.get_tracer("support")
TOOLS = {function.__name__: function for function in (get_order, cancel_order, refund_order)}
ORDER = {"type": "string", "description": "The number of the order"}
AMOUNT = {"type": "number", "description": "How much, in euros"}
PARAMETERS = {
    "get_order": {"order_id": ORDER},
    "cancel_order": {"order_id": ORDER},
    "refund_order": {"order_id": ORDER, "amount": AMOUNT},
}
DEFINITIONS = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": TOOLS[name].__doc__,
            "parameters": {"type": "object", "properties": properties, "required": list(properties)},
        },
    }
    for name, properties in PARAMETERS.items()
]


def execute(call: ChatCompletionMessageFunctionToolCall) -> str:
    """Run a tool in a span of its own, as the OpenTelemetry GenAI conventions say: the client's instrumentation sees
    what the model asks for, and nothing of what the tools do."""
    name = call.function.name
    attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": name,
        "gen_ai.tool.call.id": call.id,
    }
    if content:
        attributes["gen_ai.tool.call.arguments"] = call.function.arguments
    with tracer.start_as_current_span(f"execute_tool {name}", attributes=attributes) as span:
        try:
            result = json.dumps(TOOLS[name](**json.loads(call.function.arguments)))
        except RefundRefused as error:
            span.record_exception(error)
            span.set_attribute("error.type", type(error).__name__)
            span.set_status(Status(StatusCode.ERROR, str(error)))
            return json.dumps({"error": str(error)})
        if content:
            span.set_attribute("gen_ai.tool.call.result", result)
        return result


conversations: dict[str, list] = {}
INSTRUCTIONS = {"role": "system", "content": "Help customers with their orders. Say it when something failed."}


async def answer(message: str, session: str) -> str:
    messages = conversations.setdefault(session, [INSTRUCTIONS])
    messages.append({"role": "user", "content": message})
    with tracer.start_as_current_span("invoke_agent support") as span:
        span.set_attributes({"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "support"})
        span.set_attribute("gen_ai.conversation.id", session)
        while True:
            completion = await client.chat.completions.create(
                model=os.environ.get("OPENAI_MODEL", "gpt-5-mini"), messages=messages, tools=DEFINITIONS
            )
            reply = completion.choices[0].message
            messages.append(reply.model_dump(exclude_none=True))
            if not reply.tool_calls:
                return reply.content or ""
            for call in reply.tool_calls:
                messages.append({"role": "tool", "tool_call_id": call.id, "content": execute(call)})


serve(answer)
