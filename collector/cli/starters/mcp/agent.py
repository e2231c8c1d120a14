"""A support agent on pydantic-ai with the tools of an MCP server (server.py, which it starts).

It needs OPENAI_API_KEY; OPENAI_BASE_URL and OPENAI_MODEL are optional.
"""

import os

from fastmcp.client.transports import PythonStdioTransport
from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.messages import ModelMessage
from pydantic_ai.models.instrumented import InstrumentationSettings
from service import serve
from telemetry import provider

# MCP itself records no arguments and no results: they are on the spans of the agent that calls the server.
content = os.environ.get("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "").upper() != "NO_CONTENT"
Agent.instrument_all(InstrumentationSettings(tracer_provider=provider, include_content=content))

# The server gets the environment, so that it exports its spans too.
tools = MCPToolset(PythonStdioTransport("server.py", env=dict(os.environ)), init_timeout=60)
agent = Agent(
    f"openai:{os.environ.get('OPENAI_MODEL', 'gpt-5-mini')}",
    name="support",
    instructions="Help customers with their orders. Say it when something failed.",
    toolsets=[tools],
)

histories: dict[str, list[ModelMessage]] = {}


async def answer(message: str, session: str) -> str:
    result = await agent.run(message, message_history=histories.get(session), conversation_id=session)
    histories[session] = result.all_messages()
    return result.output


serve(answer)
