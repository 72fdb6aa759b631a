"""Fixtures of pytest: a fresh virtual phone for each test, and the MCP tools that use it."""
import json
import os
import shutil
import subprocess
import sysconfig
from contextlib import ExitStack
from dataclasses import dataclass

import pytest


class ToolError(AssertionError):
    """What a tool says that could not do what was asked."""


@dataclass(frozen=True)
class VirtualPhone:
    address: str
    """HOST:PORT of its adbd, which is its serial once adb is connected; of an iPhone, that of its WebDriverAgent."""
    serial: str
    is_ios: bool = False


def pytest_configure(config):
    config.addinivalue_line("markers", "virtual_phone(*options): options of `thumbwire phone` for the phone of this test")


def program():
    """The program: `$THUMBWIRE`, the one of this Python, or the one of the path."""
    found = os.environ.get("THUMBWIRE") or shutil.which("thumbwire", path=sysconfig.get_path("scripts")) or shutil.which("thumbwire")
    if not found:
        pytest.fail("thumbwire is not installed: `pip install thumbwire`, or name the program in THUMBWIRE")
    return found


@pytest.fixture
def virtual_phone(request):
    """A virtual phone that only this test uses."""
    marker = request.node.get_closest_marker("virtual_phone")
    options = list(marker.args) if marker else []
    command = [program(), "phone", "--json", "--listen", "127.0.0.1:0", *options]
    # The pipe's end ends neither, so the phone is stopped by a signal.
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            line = process.stdout.readline()
            if not line:
                pytest.fail(process.stderr.read().strip() or "thumbwire phone ended without a word")
            [phone] = json.loads(line)
            yield VirtualPhone(phone["address"], phone["serial"], "--ios" in options)
        finally:
            process.terminate()


@pytest.fixture
def phone_tools(virtual_phone):
    """Calls an MCP tool on the test's phone: `phone_tools("mobile_tap", x=540, y=1180)`."""
    try:
        from anyio.from_thread import start_blocking_portal
        from mcp import Client, StdioServerParameters
    except ImportError as error:
        pytest.fail(f"phone_tools needs an MCP client ({error}): pip install 'pytest-thumbwire[mcp]'", pytrace=False)

    address = f"http://{virtual_phone.address}" if virtual_phone.is_ios else virtual_phone.address
    server = StdioServerParameters(command=program(), args=["serve", "--device", address])
    with ExitStack() as stack:
        portal = stack.enter_context(start_blocking_portal())
        client = stack.enter_context(portal.wrap_async_context_manager(Client(server)))

        def call(tool, **arguments):
            result = portal.call(client.call_tool, tool, arguments)
            text = "\n".join(part.text for part in result.content if part.type == "text")
            if result.is_error:
                raise ToolError(text)
            return text

        yield call
