"""The official client hands goals to mobile_run_task: with progress, and one that it takes back."""

import json
import sys

import anyio
from mcp import Client, StdioServerParameters

job = json.load(sys.stdin)


async def task(arguments, script, cancel_after_a_round=False):
    server = StdioServerParameters(command=job["command"], args=job["args"] + ["--model", f"scripted:{script}"])
    seen, text, content = [], None, None
    async with Client(server, mode=job["mode"], read_timeout_seconds=120) as client:
        with anyio.CancelScope() as scope:

            async def progress(done, total, message):
                seen.append([done, total, message])
                if cancel_after_a_round:
                    scope.cancel()

            result = await client.call_tool("mobile_run_task", arguments, progress_callback=progress)
            text, content = result.content[0].text, result.structured_content
        # The phone is free for the next client as soon as the run has ended where nothing is half done.
        after = await client.call_tool("mobile_get_current_app", {})
    return {"progress": seen, "text": text, "structured": content, "after": after.structured_content}


async def main():
    whole = await task(job["task"], job["script"])
    taken_back = await task(job["task"], job["long_script"], cancel_after_a_round=True)
    print(json.dumps({"whole": whole, "taken_back": taken_back}))


anyio.run(main)
