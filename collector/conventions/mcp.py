"""The Model Context Protocol, client and server: `mcp.method.name` (corpus/CONVENTIONS.md, rows 27, 28 and 31)."""

from typing import Final

from collector.conventions import genai
from collector.conventions.payload import tool_name
from collector.conventions.reading import Reading, Role, unreadable
from collector.conventions.switches import MCP
from collector.telemetry import Span

NAME: Final = "mcp"
KEY: Final = "mcp.method.name"


def read(span: Span) -> Reading:
    """A call of a tool; every other method is protocol. `mcp.session.id` is a transport's and no conversation's."""
    method = span.attributes.get(KEY)
    if not isinstance(method, str):
        return unreadable(NAME, KEY)
    if method != "tools/call":
        return Reading(NAME, Role.OTHER)
    facts = genai.read_tool(span, absent=MCP)
    if facts.name_from == "span name":
        facts.name = tool_name(span.name.partition("tools/call ")[2])
    # The id of a JSON-RPC request is its connection's; the model knows nothing of it.
    facts.kind = "mcp"
    facts.unfinished = False
    return Reading(NAME, Role.TOOL, facts)
