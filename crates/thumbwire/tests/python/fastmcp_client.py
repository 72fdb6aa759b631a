"""The client of `fastmcp`. It reads structured content into typed data by the outputSchema."""

from fastmcp import Client
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
from job import run, told


async def visit(target, calls):
    if "command" in target:
        transport = StdioTransport(target["command"], target["args"], env=target["env"], keep_alive=False)
    else:
        headers = {"Authorization": f"Bearer {target['token']}"}
        transport = StreamableHttpTransport(target["url"], headers=headers)
    async with Client(transport, timeout=60) as client:
        tools = [tool.name for tool in await client.list_tools()]
        seen = []
        for tool, arguments in calls:
            result = await client.call_tool(tool, arguments, raise_on_error=False)
            told_it = told(result.is_error, result.content, result.structured_content)
            assert result.is_error or not result.structured_content or result.data is not None, tool
            seen.append(told_it)
        return {"tools": tools, "calls": seen}


run(visit)
