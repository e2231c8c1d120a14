"""A support agent on pydantic-ai. It needs OPENAI_API_KEY; OPENAI_BASE_URL and OPENAI_MODEL are optional."""

import os

from confirmation import is_yes, question
from orders import RefundRefused, cancel_order, delete_account, get_order, refund_order
from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, ModelRetry, Tool
from pydantic_ai.messages import ModelMessage
from pydantic_ai.models.instrumented import InstrumentationSettings
from service import serve
from telemetry import provider

# Spans carry arguments and results. What they say may be personal: include_content=False leaves it out.
content = os.environ.get("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "").upper() != "NO_CONTENT"
Agent.instrument_all(InstrumentationSettings(tracer_provider=provider, include_content=content))

agent = Agent(
    f"openai:{os.environ.get('OPENAI_MODEL', 'gpt-5-mini')}",
    name="support",
    instructions="Help customers with their orders. Say it when something failed.",
    tools=[get_order, cancel_order, Tool(delete_account, requires_approval=True)],
    output_type=[str, DeferredToolRequests],
)


@agent.tool_plain(name="refund_order")
def refund(order_id: str, amount: float) -> dict[str, str]:
    """Pay money back for an order."""
    try:
        return refund_order(order_id, amount)
    except RefundRefused as refused:  # told to the model; any other exception ends the run
        raise ModelRetry(str(refused)) from refused


histories: dict[str, list[ModelMessage]] = {}
waiting: dict[str, DeferredToolRequests] = {}


async def answer(message: str, session: str) -> str:
    prompt: str | None = message
    approvals = None
    if session in waiting:
        calls = waiting.pop(session).approvals
        prompt, approvals = (
            None,
            DeferredToolResults(approvals={call.tool_call_id: is_yes(message) for call in calls}),
        )
    result = await agent.run(
        prompt,
        message_history=histories.get(session),
        deferred_tool_results=approvals,
        conversation_id=session,
    )
    histories[session] = result.all_messages()
    if isinstance(result.output, DeferredToolRequests):
        waiting[session] = result.output
        return question(call.tool_name for call in result.output.approvals)
    return result.output


serve(answer)
