"""What the clients' scripts share: which servers to reach, what to call there, and how to tell it.

Standard input holds {"targets": [{"surface", "url"?, "token"?, "command"?, "args"?, "mode"?}], "calls": {surface:
[[tool, arguments]]}}. Standard output gets, for each target, {"tools": [name], "calls": [{"error", "texts", "images",
"structured"}]}.
"""

import asyncio
import base64
import json
import sys


def blocks(content):
    """The parts of a result: its texts, and of each image its type and first bytes."""
    texts = [part.text for part in content if part.type == "text"]
    pictures = [part for part in content if part.type == "image"]
    mime = lambda part: getattr(part, "mime_type", None) or part.mimeType
    return texts, [[mime(part), base64.b64decode(part.data)[:8].hex()] for part in pictures]


def told(error, content, structured):
    texts, images = blocks(content)
    return {"error": error, "texts": texts, "images": images, "structured": structured}


def run(visit):
    """Visits each target by `visit(target, calls)`, one after the other."""

    async def all():
        job = json.load(sys.stdin)
        return [await visit(one, job["calls"][one["surface"]]) for one in job["targets"]]

    print(json.dumps(asyncio.run(all())))
