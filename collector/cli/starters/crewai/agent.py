"""A support agent on CrewAI. It needs OPENAI_API_KEY; OPENAI_BASE_URL and OPENAI_MODEL are optional."""

import os

os.environ.setdefault("CREWAI_DISABLE_TELEMETRY", "true")  # what CrewAI sends to its makers; not the spans below

from crewai import LLM, Agent, Crew, Task
from crewai.tools import tool
from openinference.instrumentation import using_session
from openinference.instrumentation.crewai import CrewAIInstrumentor
from orders import cancel_order, get_order, refund_order
from service import serve
from telemetry import provider

# Spans carry arguments and results. OPENINFERENCE_HIDE_INPUTS=true and ..._OUTPUTS=true leave them out.
CrewAIInstrumentor().instrument(tracer_provider=provider)

llm = LLM(f"openai/{os.environ.get('OPENAI_MODEL', 'gpt-5-mini')}", base_url=os.environ.get("OPENAI_BASE_URL"))
tools = [tool(function.__name__)(function) for function in (get_order, cancel_order, refund_order)]


def crew() -> Crew:
    """A crew for one message: agents and tasks keep state, and messages come at the same time."""
    agent = Agent(
        role="support",
        goal="Help customers with their orders. Say it when something failed.",
        backstory="You work for an online store.",
        llm=llm,
        tools=tools,
    )
    task = Task(description="{message}", expected_output="A short answer to the customer", agent=agent)
    return Crew(name="support", agents=[agent], tasks=[task])


async def answer(message: str, session: str) -> str:
    with using_session(session):
        return str(await crew().kickoff_async({"message": message}))


serve(answer)
