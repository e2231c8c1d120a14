"""The support agent on openai-agents, instrumented by OpenInference; its model is behind OPENAI_BASE_URL."""

from agents import Agent, Runner, function_tool
from openinference.instrumentation.openai_agents import OpenAIAgentsInstrumentor
from service import cancel_order, delete_account, get_order, provider, refund_order, serve

OpenAIAgentsInstrumentor().instrument(tracer_provider=provider)

agent = Agent(
    name="support",
    instructions="Help with orders.",
    tools=[function_tool(tool) for tool in (get_order, cancel_order, refund_order, delete_account)],
)


async def answer(message: str) -> str:
    return (await Runner.run(agent, message)).final_output


serve(answer)
