"""A support agent on openai-agents. It needs OPENAI_API_KEY; OPENAI_BASE_URL and OPENAI_MODEL are optional."""

import os

from agents import Agent, Runner, RunState, SQLiteSession, function_tool, trace
from confirmation import is_yes, question
from openinference.instrumentation import using_session
from openinference.instrumentation.openai_agents import OpenAIAgentsInstrumentor
from orders import cancel_order, delete_account, get_order, refund_order
from service import serve
from telemetry import provider

# Spans carry arguments and results. OPENINFERENCE_HIDE_INPUTS=true and ..._OUTPUTS=true leave them out.
OpenAIAgentsInstrumentor().instrument(tracer_provider=provider)

agent = Agent(
    name="support",
    model=os.environ.get("OPENAI_MODEL", "gpt-5-mini"),
    instructions="Help customers with their orders. Say it when something failed.",
    tools=[
        function_tool(get_order),
        function_tool(cancel_order),
        function_tool(refund_order),
        function_tool(delete_account, needs_approval=True),
    ],
)

sessions: dict[str, SQLiteSession] = {}
waiting: dict[str, RunState] = {}


async def answer(message: str, session: str) -> str:
    memory = sessions.setdefault(session, SQLiteSession(session))
    given: str | RunState = message
    if session in waiting:
        given = state = waiting.pop(session)
        for item in state.get_interruptions():
            (state.approve if is_yes(message) else state.reject)(item)
    # A trace for each message: without it a run that goes on after an approval would leave no spans.
    with using_session(session), trace("support", group_id=session):
        result = await Runner.run(agent, given, session=memory)
    if result.interruptions:
        waiting[session] = result.to_state()
        return question(item.name for item in result.interruptions)
    return result.final_output


serve(answer)
