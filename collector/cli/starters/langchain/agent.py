"""A support agent on LangChain. It needs OPENAI_API_KEY; OPENAI_BASE_URL and OPENAI_MODEL are optional."""

import os

from confirmation import is_yes, question
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware, ToolCallRequest, ToolErrorMiddleware
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from openinference.instrumentation.langchain import LangChainInstrumentor
from orders import RefundRefused, cancel_order, delete_account, get_order, refund_order
from service import serve
from telemetry import provider

# Spans carry arguments and results. OPENINFERENCE_HIDE_INPUTS=true and ..._OUTPUTS=true leave them out.
LangChainInstrumentor().instrument(tracer_provider=provider)


def refused(error: Exception, request: ToolCallRequest) -> str | None:
    """What the model is told of a failed call; None ends the run with the error."""
    return f"Refused: {error}" if isinstance(error, RefundRefused) else None


agent = create_agent(
    ChatOpenAI(model=os.environ.get("OPENAI_MODEL", "gpt-5-mini")),
    name="support",
    system_prompt="Help customers with their orders. Say it when something failed.",
    tools=[get_order, cancel_order, refund_order, delete_account],
    middleware=[HumanInTheLoopMiddleware({"delete_account": True}), ToolErrorMiddleware(refused)],
    checkpointer=InMemorySaver(),
)


async def answer(message: str, session: str) -> str:
    config = {"configurable": {"thread_id": session}}
    given: dict | Command = {"messages": [{"role": "user", "content": message}]}
    waiting = (await agent.aget_state(config)).interrupts
    if waiting:
        decision = {"type": "approve" if is_yes(message) else "reject"}
        actions = [action for interrupt in waiting for action in interrupt.value["action_requests"]]
        given = Command(resume={"decisions": [decision] * len(actions)})
    result = await agent.ainvoke(given, config)
    if "__interrupt__" in result:
        asked = [interrupt.value["action_requests"] for interrupt in result["__interrupt__"]]
        return question(action["name"] for actions in asked for action in actions)
    return result["messages"][-1].text


serve(answer)
