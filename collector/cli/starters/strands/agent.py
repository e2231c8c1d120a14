"""A support agent on Strands. It needs OPENAI_API_KEY; OPENAI_BASE_URL and OPENAI_MODEL are optional."""

import os

from confirmation import is_yes, question
from orders import cancel_order, delete_account, get_order, refund_order
from service import serve
from strands import Agent, tool
from strands.models.openai import OpenAIModel
from strands.vended_interventions.hitl import HumanInTheLoop

# Strands makes spans by itself, with arguments and results, for the tracer provider that telemetry.py has set.
model = OpenAIModel(model_id=os.environ.get("OPENAI_MODEL", "gpt-5-mini"))
tools = [tool(function) for function in (get_order, cancel_order, refund_order, delete_account)]
agents: dict[str, Agent] = {}


def agent_of(session: str) -> Agent:
    """The agent of a session: it holds the conversation."""
    if session not in agents:
        agents[session] = Agent(
            model,
            name="support",
            system_prompt="Help customers with their orders. Say it when something failed.",
            tools=tools,
            interventions=[HumanInTheLoop(allowed_tools=["*", "!delete_account"])],
            trace_attributes={"session.id": session},
            callback_handler=None,
        )
    return agents[session]


waiting: dict[str, list[str]] = {}


async def answer(message: str, session: str) -> str:
    given: str | list = message
    if session in waiting:
        response = "yes" if is_yes(message) else "no"
        given = [{"interruptResponse": {"interruptId": each, "response": response}} for each in waiting.pop(session)]
    result = await agent_of(session).invoke_async(given)
    if result.stop_reason == "interrupt":
        waiting[session] = [interrupt.id for interrupt in result.interrupts]
        return question(content["toolUse"]["name"] for content in result.message["content"] if "toolUse" in content)
    return str(result)


serve(answer)
