"""A support agent on smolagents. It needs OPENAI_API_KEY; OPENAI_BASE_URL and OPENAI_MODEL are optional."""

import asyncio
import os

from openinference.instrumentation import using_session
from openinference.instrumentation.smolagents import SmolagentsInstrumentor
from orders import cancel_order, get_order, refund_order
from service import serve
from smolagents import LogLevel, OpenAIModel, ToolCallingAgent, tool
from telemetry import provider

# Spans carry arguments and results. OPENINFERENCE_HIDE_INPUTS=true and ..._OUTPUTS=true leave them out.
SmolagentsInstrumentor().instrument(tracer_provider=provider)

model = OpenAIModel(os.environ.get("OPENAI_MODEL", "gpt-5-mini"), api_base=os.environ.get("OPENAI_BASE_URL"))
tools = [tool(function) for function in (get_order, cancel_order, refund_order)]
agents: dict[str, ToolCallingAgent] = {}


def agent_of(session: str) -> ToolCallingAgent:
    """The agent of a session: it holds the conversation."""
    if session not in agents:
        agents[session] = ToolCallingAgent(
            tools,
            model,
            instructions="Help customers with their orders. Say it when something failed.",
            max_steps=8,
            verbosity_level=LogLevel.OFF,
        )
    return agents[session]


async def answer(message: str, session: str) -> str:
    with using_session(session):
        return str(await asyncio.to_thread(agent_of(session).run, message, reset=False))


serve(answer)
