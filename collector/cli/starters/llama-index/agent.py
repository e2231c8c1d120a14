"""A support agent on LlamaIndex. It needs OPENAI_API_KEY; OPENAI_BASE_URL and OPENAI_MODEL are optional."""

import os

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.workflow import Context
from llama_index.llms.openai import OpenAI
from openinference.instrumentation import using_session
from openinference.instrumentation.llama_index import LlamaIndexInstrumentor
from orders import cancel_order, get_order, refund_order
from service import serve
from telemetry import provider

# Spans carry arguments and results. OPENINFERENCE_HIDE_INPUTS=true and ..._OUTPUTS=true leave them out.
LlamaIndexInstrumentor().instrument(tracer_provider=provider)

agent = FunctionAgent(
    name="support",
    llm=OpenAI(os.environ.get("OPENAI_MODEL", "gpt-5-mini"), api_base=os.environ.get("OPENAI_BASE_URL")),
    system_prompt="Help customers with their orders. Say it when something failed.",
    tools=[get_order, cancel_order, refund_order],
)

conversations: dict[str, Context] = {}


async def answer(message: str, session: str) -> str:
    conversation = conversations.setdefault(session, Context(agent))
    with using_session(session):
        return str(await agent.run(message, ctx=conversation))


serve(answer)
