"""The support agent on pydantic-ai, with a FunctionModel in place of a model."""

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from service import RefundRefused, cancel_order, delete_account, get_order, refund_order, serve

from rules import next_step


def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    said, results = "", []
    for message in messages:
        for part in message.parts:
            if isinstance(part, UserPromptPart):
                said, results = str(part.content), []
            elif isinstance(part, ToolReturnPart):
                results.append((part.tool_name, str(part.content)))
    step = next_step(said, results)
    if step.calls:
        return ModelResponse(parts=[ToolCallPart(name, arguments) for name, arguments in step.calls])
    return ModelResponse(parts=[TextPart(step.text)])


agent = Agent(FunctionModel(model), name="support")
for tool in (get_order, cancel_order, refund_order, delete_account):
    agent.tool_plain(tool)
Agent.instrument_all()


async def answer(message: str) -> str:
    try:
        return (await agent.run(message)).output
    except RefundRefused as error:
        return f"That failed: {error}"


serve(answer)
