"""The official MCP client for Python, second generation. A result that does not fit its outputSchema raises there."""

from contextlib import asynccontextmanager

from job import run, told
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client


@asynccontextmanager
async def connected(target):
    if "command" in target:
        server = StdioServerParameters(command=target["command"], args=target["args"], env=target["env"])
        async with Client(server, mode=target["mode"], read_timeout_seconds=60) as client:
            yield client
    else:
        headers = {"Authorization": f"Bearer {target['token']}"}
        async with create_mcp_http_client(headers=headers) as http:
            server = streamable_http_client(target["url"], http_client=http)
            async with Client(server, mode=target["mode"], read_timeout_seconds=60) as client:
                yield client


async def visit(target, calls):
    async with connected(target) as client:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        results = [await client.call_tool(tool, arguments) for tool, arguments in calls]
        seen = [told(one.is_error, one.content, one.structured_content) for one in results]
        return {"tools": tools, "calls": seen}


run(visit)
