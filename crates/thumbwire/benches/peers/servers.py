"""The servers that are compared: how each is started, and which of its calls does the same as the others'."""
import glob
import json
import os

from mcp import Http, Pair, Stdio, free_port

SETTINGS, TEXT = "com.android.settings", "hello there"
X, Y = 540, 150  # the title of Settings: a tap there does nothing
UFO_DATA = {
    "capture_screenshot", "get_ui_tree", "get_device_info", "get_mobile_app_target_info",
    "get_app_window_controls_target_info",
}
OURS = ("thumbwire", "thumbwire, quiet", "thumbwire android", "thumbwire ufo")


def start(name, thumbwire, folder, phone):
    """Starts the server with this name on the phone."""
    at = lambda *parts: os.path.join(folder, *parts)
    env = {"ANDROID_ADB_SERVER_PORT": str(phone.adb_port), "ANDROID_SERIAL": phone.serial}
    no_adb = {"ANDROID_ADB_SERVER_PORT": "1"}  # ours reaches the phone without an adb server
    module = lambda path: at("npm", "node_modules", path)
    ours = lambda name, *more: Stdio(name, [thumbwire, "serve", "--device", phone.serial, *more], no_adb)
    node = lambda name, path, *more, env=env: Stdio(name, [at("node-bin/node"), module(path), *more], env)

    def ufo(name, argv, base, env):
        data = Http(name, argv, base, env)
        return Pair(data, Http(name, None, base + 1), UFO_DATA)

    ports = lambda first: ["--data-port", str(first), "--action-port", str(first + 1)]
    # Pictures as the peers send them.
    whole = ("--screenshot-size", "full", "--screenshot-format", "png")
    port = free_port(2)
    our_ufo = [thumbwire, "serve", "--ufo", "--device", phone.serial, *ports(port)]
    its_server = at("src/UFO/ufo/client/mcp/http_servers/mobile_mcp_server.py")
    its_ufo = [at("ufo/bin/python"), its_server, "--host", "localhost", *ports(port)]
    jaye = at("src/android-mcp-server")
    legacy = {**env, "MOBILEMCP_LEGACY_ROBOT": "1"}  # its way over adb: its app for the phone is no Android program here
    own_home = {**env, "HOME": at("agent-device-home")}
    all_of_them = {
        "thumbwire": lambda: ours("thumbwire"),
        "thumbwire, quiet": lambda: ours("thumbwire-quiet", "--observe", "off", *whole),
        "thumbwire android": lambda: ours("thumbwire-android", "--toolset", "android"),
        "thumbwire ufo": lambda: ufo("thumbwire-ufo", our_ufo, port, no_adb),
        "mobile-mcp": lambda: node("mobile-mcp", "@mobilenext/mobile-mcp/lib/index.js", env=legacy),
        "claude-in-mobile": lambda: node("claude-in-mobile", "claude-in-mobile/bin.mjs"),
        "agent-device": lambda: node("agent-device", "agent-device/bin/agent-device.mjs", "mcp", env=own_home),
        "droidmind": lambda: Stdio("droidmind", [at("droidmind/bin/droidmind"), "--transport", "stdio"], env),
        "jaye773": lambda: Stdio("jaye773", [at("jaye773/bin/python"), "main.py"], env, jaye),
        "ufo": lambda: ufo("ufo", its_ufo, port, {**env, "PYTHONPATH": at("src/UFO")}),
        "scrcpy-mcp": lambda: Stdio("scrcpy-mcp", [at("node-bin/node"), at("src/scrcpy-mcp/dist/index.js")], env),
    }
    return all_of_them[name]()


def installed(folder):
    """The names of ours and of the peers that are in the folder."""
    peers = {
        "mobile-mcp": "npm/node_modules/@mobilenext/mobile-mcp", "claude-in-mobile": "npm/node_modules/claude-in-mobile",
        "agent-device": "npm/node_modules/agent-device", "droidmind": "droidmind/bin/droidmind",
        "jaye773": "jaye773/bin/python", "ufo": "ufo/bin/python", "scrcpy-mcp": "src/scrcpy-mcp/dist/index.js",
    }
    return [*OURS, *(name for name, file in peers.items() if os.path.exists(os.path.join(folder, file)))]


def versions(folder):
    """Name → version of each installed peer."""
    found = {}
    for name in ("mobile-mcp", "claude-in-mobile", "agent-device"):
        path = "@mobilenext/mobile-mcp" if name == "mobile-mcp" else name
        package = os.path.join(folder, "npm/node_modules", path, "package.json")
        if os.path.exists(package):
            with open(package) as file:
                found[name] = json.load(file)["version"]
    for path in glob.glob(os.path.join(folder, "droidmind/lib/*/site-packages/droidmind-*.dist-info")):
        found["droidmind"] = path.rsplit("droidmind-", 1)[1].removesuffix(".dist-info")
    sources = {"jaye773": "android-mcp-server", "ufo": "UFO", "scrcpy-mcp": "scrcpy-mcp"}
    for name, source in sources.items():
        commit = os.path.join(folder, "src", source, "COMMIT")
        if os.path.exists(commit):
            with open(commit) as file:
                found[name] = "commit " + file.read().strip()[:8]
    return found


def calls(name, phone):
    """Operation → (tool, arguments), or a list of such calls where the server needs several."""
    device, serial, android = {"device": phone.serial}, {"serial": phone.serial}, {"platform": "android"}
    if name in ("thumbwire", "thumbwire, quiet"):
        return {
            "tap": ("mobile_tap", {"x": X, "y": Y}),
            "press a key": ("mobile_press_key", {"key": "volume_up"}),
            "type": ("mobile_type_keys", {"text": TEXT}),
            "list the elements": ("mobile_get_accessibility_tree", {}),
            "take a screenshot": ("mobile_take_screenshot", {}),
            "list the apps": ("mobile_list_apps", {}),
            "launch an app": ("mobile_launch_app", {"bundle_id": SETTINGS}),
        }
    if name == "mobile-mcp":
        return {
            "tap": ("mobile_click_on_screen_at_coordinates", {**device, "x": X, "y": Y}),
            "press a key": ("mobile_press_button", {**device, "button": "VOLUME_UP"}),
            "type": ("mobile_type_keys", {**device, "text": TEXT, "submit": False}),
            "list the elements": ("mobile_list_elements_on_screen", device),
            "take a screenshot": ("mobile_take_screenshot", device),
            "list the apps": ("mobile_list_apps", device),
            "launch an app": ("mobile_launch_app", {**device, "packageName": SETTINGS}),
        }
    if name in ("jaye773", "thumbwire android"):
        params = lambda **fields: {"params": fields}
        return {
            "tap": ("tap_screen", params(x=X, y=Y)),
            "press a key": ("press_key", params(keycode="VOLUME_UP")),
            "type": ("input_text", params(text=TEXT)),
            "list the elements": ("list_screen_elements", {}),
            "whole tree": ("get_ui_layout", params()),
            "find by text": ("find_elements", params(text="Battery")),
            "take a screenshot": ("take_screenshot", params()),
        }
    if name in ("ufo", "thumbwire ufo"):
        fresh = {"force_refresh": True}
        return {
            "tap": ("tap", {"x": X, "y": Y}),
            "press a key": ("press_key", {"key_code": "KEYCODE_VOLUME_UP"}),
            "type": ("type_text", {"text": TEXT, "control_id": "4", "control_name": "Note"}),
            "list the elements": ("get_app_window_controls_target_info", fresh),
            "whole tree": ("get_ui_tree", {}),
            "take a screenshot": ("capture_screenshot", {}),
            "list the apps": ("get_mobile_app_target_info", fresh),
            "launch an app": ("launch_app", {"package_name": SETTINGS}),
        }
    if name == "scrcpy-mcp":
        return {
            "tap": ("tap", {"x": X, "y": Y}),
            "press a key": ("key_event", {"keycode": "VOLUME_UP"}),
            "type": ("input_text", {"text": TEXT}),
            "whole tree": ("ui_dump", {}),
            "find by text": ("ui_find_element", {"text": "Battery"}),
            "take a screenshot": ("screenshot", {}),
            "list the apps": ("app_list", {}),
            "launch an app": ("app_start", {"packageName": SETTINGS}),
        }
    if name == "claude-in-mobile":
        of = lambda tool, action, **more: (tool, {**android, "action": action, **more})
        return {
            "tap": of("input", "tap", x=X * 2 // 5, y=Y * 2 // 5),  # in pixels of its scaled pictures
            "press a key": of("input", "key", key="VOLUME_UP"),
            "type": of("input", "text", text=TEXT),
            "list the elements": of("ui", "tree"),
            "take a screenshot": of("screen", "capture"),
            "launch an app": of("app", "launch", package=SETTINGS),
        }
    if name == "droidmind":
        return {
            "tap": ("android-ui", {**serial, "action": "tap", "x": X, "y": Y}),
            "press a key": ("android-ui", {**serial, "action": "press_key", "keycode": 24}),
            "type": ("android-ui", {**serial, "action": "input_text", "text": TEXT}),
            "take a screenshot": ("android-screenshot", serial),
            "list the apps": ("android-app", {**serial, "action": "list_packages"}),
            "launch an app": ("android-app", {**serial, "action": "start_app", "package": SETTINGS}),
        }
    return {  # agent-device
        "tap": ("press", {**android, "target": {"kind": "point", "x": X, "y": Y}}),
        "type": ("type", {**android, "text": TEXT}),
        "take a screenshot": ("screenshot", android),
        "list the apps": ("apps", android),
        "launch an app": ("open", {**android, "app": SETTINGS}),
    }
