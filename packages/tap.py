"""Taps by ref through the official MCP client for Python: `tap.py COMMAND…`, a command that starts the server."""
import asyncio
import os
import re
import sys

from mcp import Client, StdioServerParameters


async def main():
    server = StdioServerParameters(command=sys.argv[1], args=sys.argv[2:], env=dict(os.environ))
    async with Client(server, read_timeout_seconds=60) as client:
        tree = await client.call_tool("mobile_get_accessibility_tree", {})
        ref = re.search(r'"Maps" (e\d+)', tree.content[0].text)[1]
        tapped = await client.call_tool("mobile_tap_element", {"element_id": ref})
        assert not tapped.is_error and "Search here" in tapped.content[0].text, tapped
        print(f"{ref} tapped")


asyncio.run(main())
