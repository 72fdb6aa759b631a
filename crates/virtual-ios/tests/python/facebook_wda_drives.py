"""facebook-wda drives the virtual iPhone: python facebook_wda_drives.py http://127.0.0.1:8100

Prints how many results it checked, and those that are not as expected.
"""

import sys

import wda

CALLS = 0
FAILURES = []


def check(what, found, expected=True):
    global CALLS
    CALLS += 1
    if callable(expected):
        if not expected(found):
            FAILURES.append(f"{what}: {found!r}")
    elif found != expected:
        FAILURES.append(f"{what}: {found!r}, not {expected!r}")


def fails(what, call, error):
    global CALLS
    CALLS += 1
    try:
        found = call()
    except error:
        return
    FAILURES.append(f"{what} returned {found!r}")


def server(c):
    check("ready", c.is_ready())
    check("status", c.status()["os"]["name"], "iOS")
    check("scale", c.scale, 2)
    check("window size", tuple(c.window_size()), (414, 896))
    check("orientation", c.orientation, "PORTRAIT")
    check("locked", c.locked(), False)
    check("device", c.device_info()["model"], "iPhone")
    check("info", c.info["isSimulator"], False)
    check("healthcheck", c.healthcheck()["value"], None)
    picture = c.screenshot()
    check("screenshot", picture.size, (828, 1792))


def home(c):
    c.home()
    check("home screen", c.app_current()["bundleId"], "com.apple.springboard")
    icons = c(type="Icon").find_elements()
    check("icons", len(icons) > 5)
    c(label="Notes", type="Icon").click()
    check("Notes by its icon", c.app_current()["bundleId"], "com.apple.mobilenotes")
    c.home()
    check("home again", c(label="Settings", className="XCUIElementTypeIcon").exists)


def settings(c):
    s = c.session("com.apple.Preferences")
    check("session's app", s.bundle_id, "com.apple.Preferences")
    check("current app", s.app_current()["name"], "Settings")
    check("state", s.app_state("com.apple.Preferences")["value"], 4)
    check("not running", s.app_state("com.example.shop")["value"], 1)
    check("not installed", s.app_state("com.example.nothing")["value"], 0)
    fails("launch of nothing", lambda: s.app_launch("com.example.nothing"), wda.WDAError)
    check("XML", "XCUIElementTypeNavigationBar" in s.source())
    check("JSON", s.source("json")["type"], "Application")
    check("accessible", s.source(accessible=True)["type"], "Application")
    check("by name", s(name="Network & internet").exists)
    check("by label", s(label="Apps", type="Cell").exists)
    check("by part", s(labelContains="nternet", type="Cell").count(), 1)
    check("by regex", s(nameMatches="Connected.*", type="Cell").count(), 1)
    check("by value", s(value="14 apps").get().label, "Apps")
    check("by class chain", s(classChain="**/XCUIElementTypeCell[`label BEGINSWITH 'App'`]").get().label, "Apps")
    check("by predicate", s(predicate='type == "XCUIElementTypeCell" AND value CONTAINS[c] "BLUETOOTH"').get().label, "Connected devices")
    check("by XPath", s(xpath='//Cell[@label="Apps"]').get().value, "14 apps")
    check("by XPath", s.xpath("//XCUIElementTypeTable//XCUIElementTypeCell[2]").exists)
    check("child", s(type="Table").child(type="Cell", label="Apps").exists)
    check("by index", s(type="Cell", index=2).get().label, "Connected devices")
    check("missing", s(label="No such thing").exists, False)
    fails("missing", lambda: s(label="No such thing").get(timeout=0.1), wda.WDAElementNotFoundError)
    cell = s(label="Network & internet", type="Cell").get()
    check("type", cell.className, "XCUIElementTypeCell")
    check("label", cell.label, "Network & internet")
    check("text", cell.text, "Network & internet")
    check("value", cell.value, "Wi-Fi, mobile, airplane mode")
    check("displayed", cell.displayed)
    check("visible", cell.visible)
    check("enabled", cell.enabled)
    check("accessible", cell.accessible)
    check("selected", cell.selected(), False)
    check("bounds", cell.bounds, lambda rect: rect.width > 300 and rect.height > 30)
    cell.click()
    check("inside", s(type="NavigationBar", name="Network & internet").exists)
    fails("stale", cell.click, wda.WDAStaleElementReferenceError)
    check("switch", s(type="Switch").get().value in ("0", "1"))
    back = s(type="NavigationBar").child(type="Button")
    check("back button", back.exists)
    back.click()
    check("back", s(label="Apps", type="Cell").wait(timeout=3) is not None)
    before = s(type="Cell").get().bounds
    s.swipe_up()
    check("swiped", not s(label="Network & internet", type="Cell").exists or s(type="Cell").get().bounds != before)
    s.swipe_down()
    check("swiped back", s(label="Apps", type="Cell").exists)
    s(type="Table").get().scroll("down", 0.5)
    s(type="Table").get().scroll("up", 1.0)
    s.swipe(200, 700, 200, 300, 0.1)
    s.swipe(0.5, 0.3, 0.5, 0.8)
    check("dragged back", s(label="Apps", type="Cell").exists)
    s.close()


def typing(c):
    s = c.session("com.apple.mobilenotes")
    s(label="New note").click()
    fields = s(className="XCUIElementTypeTextView")
    field = (fields if fields.exists else s(className="XCUIElementTypeTextField")).get()
    field.set_text("Hello ")
    s.send_keys("wörld 😀")
    check("typed", field.value, "Hello wörld 😀")
    check("keyboard", s(type="Keyboard").exists)
    check("keys", s(type="Key", label="q").exists)
    s(type="Key", label="q").click()
    check("tapped key", field.value, lambda text: text.lower() == "hello wörld 😀q")
    field.clear_text()
    check("cleared", field.value, lambda text: "Hello" not in (text or ""))
    c.set_clipboard("pasted")
    check("clipboard", c.get_clipboard(), lambda text: text in ("pasted", b"pasted"))
    s.close()
    fails("no field", lambda: c.session("com.apple.Preferences").send_keys("x"), wda.WDAError)


def gestures(c):
    s = c.session("com.apple.Maps")
    s.tap(200, 400)
    s.double_tap(200, 400)
    s.tap_hold(200, 450, 0.7)
    s.click(0.5, 0.5)
    s.click(150, 350, 0.6)
    check("size", s(type="Application").get().bounds, lambda rect: rect.width == 414) if s(type="Application").exists else None
    s(type="Window").get().pinch(2, 1)
    s(type="Window").get().pinch(0.5, -1)
    s(type="Window").get().tap_hold(0.6)
    check("still there", s.app_current()["bundleId"], "com.apple.Maps")
    check("terminated", s.app_terminate("com.apple.Maps")["value"], True)
    check("gone", s.app_current()["bundleId"], "com.apple.springboard")
    s.app_activate("com.apple.Preferences")
    check("activated", s.app_current()["bundleId"], "com.apple.Preferences")
    s.deactivate(0.1)
    check("in front again", s.app_current()["bundleId"], "com.apple.Preferences")
    check("list", len(s.app_list()) > 0)
    s.press("volumeUp")
    s.press("home")
    fails("unknown button", lambda: s.press("back"), Exception)
    check("battery", 0 <= s.battery_info()["level"] <= 1)
    settings = s.appium_settings()
    check("settings", "snapshotMaxDepth" in settings)
    check("set", s.appium_settings({"snapshotMaxDepth": 60})["snapshotMaxDepth"], 60)
    s.open_url("https://example.com/")
    check("browser", s.app_current()["bundleId"], "com.google.chrome.ios")
    fails("unknown scheme", lambda: s.open_url("nobody://x"), wda.WDAError)
    s.orientation = "LANDSCAPE"
    check("turned", s.orientation, "LANDSCAPE")
    check("turned size", tuple(s._unsafe_window_size()), lambda size: size[0] > size[1])
    s.orientation = "PORTRAIT"
    check("upright", s.orientation, "PORTRAIT")
    s.lock()
    check("locked", s.locked())
    s.unlock()
    check("unlocked", s.locked(), False)
    check("no alert", s.alert.exists, False)
    fails("no alert", lambda: s.alert.text, wda.WDAError)


if __name__ == "__main__":
    client = wda.Client(sys.argv[1])
    for step in (server, home, settings, typing, gestures):
        step(client)
    print(f"{CALLS} checks")
    sys.exit("\n".join(FAILURES) or 0)
