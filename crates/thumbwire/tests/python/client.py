"""Drives `thumbwire serve` with the official MCP client for Python and prints what it saw as JSON.

Arguments: the binary, then the client's connect mode ("auto" begins with 2026-07-28, "legacy" with initialize).
"""

import asyncio
import base64
import json
import sys

from mcp import Client, StdioServerParameters


async def main(binary: str, mode: str) -> None:
    server = StdioServerParameters(command=binary, args=["serve", "--device", "virtual"])
    async with Client(server, mode=mode, read_timeout_seconds=60) as phone:
        tools = [tool.name for tool in (await phone.list_tools()).tools]
        await phone.call_tool("mobile_launch_app", {"bundle_id": "com.google.android.apps.maps"})
        tree = (await phone.call_tool("mobile_get_accessibility_tree", {})).content[0].text
        picture = (await phone.call_tool("mobile_take_screenshot", {})).content[0]
        tapped = await phone.call_tool("mobile_tap_element", {"text": "Search here"})
        missing = await phone.call_tool("mobile_launch_app", {"bundle_id": "com.example.nope"})
        seen = {
            "tools": tools,
            "tree": tree,
            "picture": [picture.mime_type, base64.b64decode(picture.data)[:8].hex()],
            "tapped": [tapped.is_error, tapped.content[0].text],
            "missing": [missing.is_error, missing.content[0].text],
        }
        print(json.dumps(seen))


asyncio.run(main(*sys.argv[1:]))
