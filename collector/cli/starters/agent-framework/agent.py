"""A support agent on agent-framework. It needs OPENAI_API_KEY; OPENAI_BASE_URL and OPENAI_MODEL are optional."""

import os

from agent_framework import Agent, AgentSession, Content, Message, tool
from agent_framework.observability import enable_instrumentation
from agent_framework.openai import OpenAIChatCompletionClient
from confirmation import is_yes, question
from orders import cancel_order, delete_account, get_order, refund_order
from service import serve

# The framework makes spans by itself. Arguments and results may be personal, and are left out unless this is true.
os.environ.setdefault("ENABLE_SENSITIVE_DATA", "true")
enable_instrumentation()

agent = Agent(
    OpenAIChatCompletionClient(
        os.environ.get("OPENAI_MODEL", "gpt-5-mini"), base_url=os.environ.get("OPENAI_BASE_URL")
    ),
    name="support",
    instructions="Help customers with their orders. Say it when something failed.",
    tools=[get_order, cancel_order, refund_order, tool(delete_account, approval_mode="always_require")],
)

sessions: dict[str, AgentSession] = {}
waiting: dict[str, list[Content]] = {}


async def answer(message: str, session: str) -> str:
    given: str | Message = message
    if session in waiting:
        approved = is_yes(message)
        given = Message("user", [each.to_function_approval_response(approved) for each in waiting.pop(session)])
    memory = sessions.setdefault(session, agent.create_session(session_id=session))
    result = await agent.run(given, session=memory)
    if result.user_input_requests:
        waiting[session] = result.user_input_requests
        return question(request.function_call.name for request in result.user_input_requests)
    return result.text


serve(answer)
