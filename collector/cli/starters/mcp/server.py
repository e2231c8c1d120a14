"""The MCP server with the tools of the agent. The agent starts it and talks to it over stdin and stdout."""

from mcp.server import MCPServer
from orders import cancel_order, get_order, refund_order
from telemetry import provider

server = MCPServer("orders")
for function in (get_order, cancel_order, refund_order):
    server.add_tool(function)

if __name__ == "__main__":
    server.run()
    provider.shutdown()
