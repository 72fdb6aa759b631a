"""`langchain-mcp-adapters`: the tools of a server as LangChain's, over one connection for all calls."""

from job import run
from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_mcp_adapters.tools import load_mcp_tools


def connection(target):
    if "command" in target:
        return {"transport": "stdio", "command": target["command"], "args": target["args"], "env": target["env"]}
    headers = {"Authorization": f"Bearer {target['token']}"}
    return {"transport": "streamable_http", "url": target["url"], "headers": headers}


async def visit(target, calls):
    client = MultiServerMCPClient({"phone": connection(target)})
    async with client.session("phone") as session:
        tools = {tool.name: tool for tool in await load_mcp_tools(session)}
        seen = []
        for name, arguments in calls:
            call = {"type": "tool_call", "id": "1", "name": name, "args": arguments}
            message = await tools[name].ainvoke(call)
            parts = message.content
            parts = [{"type": "text", "text": parts}] if isinstance(parts, str) else parts
            images = [part for part in parts if part["type"] == "image"]
            structured = (message.artifact or {}).get("structured_content")
            seen.append(
                {
                    "error": message.status == "error",
                    "texts": [part["text"] for part in parts if part["type"] == "text"],
                    "images": [part["mime_type"] for part in images],
                    "structured": structured,
                }
            )
        return {"tools": list(tools), "calls": seen}


run(visit)
