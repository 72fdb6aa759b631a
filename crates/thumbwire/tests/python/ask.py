"""The official client passes the questions of mobile_run_task on to its user: during the call (legacy) and between requests (auto)."""

import json
import sys
from contextlib import asynccontextmanager

import anyio
from mcp import Client, StdioServerParameters, types
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client

job = json.load(sys.stdin)


@asynccontextmanager
async def connected(target, answer):
    options = {"mode": target["mode"], "read_timeout_seconds": 120, "elicitation_callback": answer}
    if "command" in target:
        server = StdioServerParameters(command=target["command"], args=target["args"], env=target["env"])
        async with Client(server, **options) as client:
            yield client
    else:
        headers = {"Authorization": f"Bearer {target['token']}"}
        async with create_mcp_http_client(headers=headers) as http:
            server = streamable_http_client(target["url"], http_client=http)
            async with Client(server, **options) as client:
                yield client


async def visit(target):
    forms = []

    async def answer(context, params):
        forms.append([params.message, params.model_dump(by_alias=True, exclude_none=True)["requestedSchema"]])
        return types.ElicitResult(**target["answer"])

    async with connected(target, answer) as client:
        done = await client.call_tool("mobile_run_task", {"goal": "Send the link"})
    return {"forms": forms, "actions": (done.structured_content or {}).get("actions"), "text": done.content[0].text}


async def main():
    print(json.dumps([await visit(target) for target in job["targets"]]))


anyio.run(main)
