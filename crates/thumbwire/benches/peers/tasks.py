"""Two tasks that a script does with each server as a model would: look, choose an element, act. The phone has the last
word on whether they are done: its settings and its files, since a look would need the accessibility service that a
server may hold."""
import re

from mcp import failed, text

FILES, FOLDER = "com.android.documentsui", "Bills 'paid' $HOME & more"


class Driver:
    """One server, with its calls and bytes counted. An element is (name, x, y, whether checked, ref)."""

    def __init__(self, server, phone):
        self.server, self.device = server, {"device": phone.serial}
        self.calls = self.bytes = 0

    def call(self, tool, **arguments):
        answer = self.server.call(tool, arguments)
        self.calls += 1
        self.bytes += self.server.size
        if failed(answer):
            raise LookupError(f"{tool}: {text(answer)[:200]}")
        return text(answer)


class Thumbwire(Driver):
    """By what the replies say of the screen: no look of its own."""

    screen = ()

    def act(self, tool, **arguments):
        reply = self.call(tool, **arguments)
        # A reply starts with `Screen:` if it has the whole list, and otherwise has only the lines that changed.
        known = {} if "\nScreen: " in reply else dict(self.screen)
        for line in reply.splitlines():
            for ref in re.findall(r" (e\d+)\b", line):
                known[ref] = line
        self.screen = tuple(known.items())
        return reply

    def ref(self, words):
        for ref, line in self.screen:
            if words in line:
                return ref
        raise LookupError(f"{words!r} is not on the screen")

    def settings(self):
        self.act("mobile_launch_app", bundle_id="com.android.settings")
        self.act("mobile_scroll", direction="down")
        self.act("mobile_scroll", direction="up")
        self.act("mobile_tap_element", element_id=self.ref("Connected devices"))
        return "[off]" in self.act("mobile_tap_element", element_id=self.ref("Use Bluetooth"))

    def folder(self):
        self.act("mobile_launch_app", bundle_id=FILES)
        self.act("mobile_tap_element", element_id=self.ref("New folder"))
        self.act("mobile_type", text=FOLDER)
        return FOLDER in self.act("mobile_tap_element", element_id=self.ref('"OK"'))


class WithLooks(Driver):
    """Looks before and after each act, as a server without replies of the screen needs it."""

    def find(self, words):
        return self.named(words, self.look())

    def named(self, words, screen):
        for element in screen:
            if element[0] == words:
                return element
        raise LookupError(f"{words!r} is not on the screen")

    def settings(self):
        self.launch("com.android.settings")
        self.look()
        self.swipe("up")
        self.look()
        self.swipe("down")
        self.tap(self.find("Connected devices"))
        is_on = lambda screen: any(it[3] for it in screen)
        before = self.look()
        self.tap(self.named("Use Bluetooth", before))
        return is_on(before) and not is_on(self.look())

    def folder(self):
        self.launch(FILES)
        self.tap(self.find("New folder"))
        self.write(FOLDER)
        self.tap(self.find("OK"))
        return any(it[0] == FOLDER for it in self.look())


class MobileMcp(WithLooks):
    def launch(self, app):
        self.call("mobile_launch_app", packageName=app, **self.device)

    def look(self):
        found = []
        for line in self.call("mobile_list_elements_on_screen", **self.device).splitlines():
            at = re.search(r"at=(-?\d+),(-?\d+) size=(\d+)x(\d+)", line)
            if at:
                x, y, width, height = map(int, at.groups())
                names = dict(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', line))
                name = names.get("text") or names.get("label") or names.get("id", "")
                found.append((name, x + width // 2, y + height // 2, "[checked]" in line))
        return found

    def tap(self, element):
        self.call("mobile_click_on_screen_at_coordinates", x=element[1], y=element[2], **self.device)

    def swipe(self, direction):
        self.call("mobile_swipe_on_screen", direction=direction, **self.device)

    def write(self, words):
        self.call("mobile_type_keys", text=words, submit=False, **self.device)


class ClaudeInMobile(WithLooks):
    def of(self, tool, **arguments):
        return self.call(tool, platform="android", **arguments)

    def launch(self, app):
        self.of("app", action="launch", package=app)

    def look(self):
        found = []
        for line in self.of("ui", action="tree").splitlines():
            at = re.search(r"@ \((-?\d+), (-?\d+)\)", line)
            if at:
                names = dict(re.findall(r'(\w+)="([^"]*)"', line))
                name = (names.get("text") or names.get("desc") or names.get("id", "")).replace("&amp;", "&")
                found.append((name, int(at[1]), int(at[2]), "(checked" in line or ", checked" in line))
        return found

    def tap(self, element):
        self.of("input", action="tap", x=element[1], y=element[2])

    def swipe(self, direction):
        self.of("input", action="swipe", direction=direction)

    def write(self, words):
        self.of("input", action="text", text=words)


DRIVERS = {"thumbwire": Thumbwire, "mobile-mcp": MobileMcp, "claude-in-mobile": ClaudeInMobile}
RESET = {
    "settings": "settings put global bluetooth_on 1; am force-stop com.android.settings; input keyevent 3",
    "folder": f"am force-stop {FILES}; rm -rf /sdcard/Bills*; input keyevent 3",
}


def is_done(task, phone):
    """What the phone itself says."""
    if task == "settings":
        return phone.shell("settings get global bluetooth_on").strip() == "0"
    return FOLDER in phone.shell("ls /sdcard").splitlines()
