"""The example of the Mobile MCP server specification with another command and model: an agent by `langgraph` over the
tools of a server on stdio. The model is a script: it calls the tools in order, then answers with what it read last.

Arguments: the browser's id and the id of its address field on this phone, then the server's command.
"""

import asyncio
import json
import sys

from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_mcp_adapters.client import MultiServerMCPClient
from langgraph.prebuilt import create_react_agent


class Scripted(GenericFakeChatModel):
    """A model that follows a script, whatever tools there are."""

    def bind_tools(self, tools, **_):
        return self


def asks(number, tool, **arguments):
    call = {"type": "tool_call", "id": str(number), "name": tool, "args": arguments}
    return AIMessage(content="", tool_calls=[call])


async def main(browser, address_field, command, *args):
    client = MultiServerMCPClient(
        {
            "mobile": {
                "command": command,
                "args": list(args),
                "transport": "stdio",
                "env": {"APPIUM_SERVER": "http://localhost:4723", "LOG_LEVEL": "INFO"},
            }
        }
    )

    tools = await client.get_tools()
    script = [
        asks(1, "mobile_launch_app", bundle_id=browser),
        asks(
            2,
            "mobile_type",
            text="yahoo.co.jp",
            element_id=address_field,
            clear=True,
            submit=True,
        ),
        asks(3, "mobile_get_accessibility_tree"),
        asks(4, "mobile_launch_app", bundle_id="com.example.nope"),
        AIMessage(content="done"),
    ]
    agent = create_react_agent(Scripted(messages=iter(script)), tools)

    response = await agent.ainvoke(
        {"messages": ["デバイスでChromeを起動してyahoo.co.jpを開いてください"]}
    )
    said = [message for message in response["messages"] if message.type == "tool"]
    told = [[one.name, one.status, one.content[0]["text"] if one.content else ""] for one in said]
    print(json.dumps({"tools": len(tools), "told": told}))


asyncio.run(main(*sys.argv[1:]))
