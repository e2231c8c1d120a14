"""A support agent on Google ADK. It needs GOOGLE_API_KEY; GOOGLE_GEMINI_BASE_URL and GEMINI_MODEL are optional."""

import os

from confirmation import is_yes, question
from google.adk.agents import LlmAgent
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.adk.tools import BaseTool, FunctionTool, ToolContext
from google.genai.types import Content, FunctionCall, FunctionResponse, Part
from orders import RefundRefused, cancel_order, delete_account, get_order, refund_order
from service import serve

# ADK makes spans by itself. Arguments and results may be personal, and are left out unless this says so.
os.environ.setdefault("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "SPAN_AND_EVENT")


def refused(tool: BaseTool, args: dict, tool_context: ToolContext, error: Exception) -> dict | None:
    """What the model is told of a failed call; None ends the run with the error."""
    return {"error": str(error)} if isinstance(error, RefundRefused) else None


agent = LlmAgent(
    name="support",
    model=os.environ.get("GEMINI_MODEL", "gemini-flash-latest"),
    instruction="Help customers with their orders. Say it when something failed.",
    tools=[get_order, cancel_order, refund_order, FunctionTool(delete_account, require_confirmation=True)],
    on_tool_error_callback=refused,
)
runner = Runner(app_name="support", agent=agent, session_service=InMemorySessionService(), auto_create_session=True)
CONFIRMATION = "adk_request_confirmation"
waiting: dict[str, list[FunctionCall]] = {}


async def answer(message: str, session: str) -> str:
    parts = [Part(text=message)]
    if session in waiting:
        confirmed = {"confirmed": is_yes(message)}
        parts = [
            Part(function_response=FunctionResponse(id=call.id, name=call.name, response=confirmed))
            for call in waiting.pop(session)
        ]
    reply = ""
    content = Content(role="user", parts=parts)
    async for event in runner.run_async(user_id="customer", session_id=session, new_message=content):
        asked = [call for call in event.get_function_calls() if call.name == CONFIRMATION]
        if asked:
            waiting[session] = asked
        if event.is_final_response() and event.content:
            reply = "".join(part.text or "" for part in event.content.parts)
    if session in waiting:
        return question(call.args["originalFunctionCall"]["name"] for call in waiting[session])
    return reply


serve(answer)
