"""The quick start of Python's uiautomator2 on a virtual Android phone; exit status 1 if a step does not do what it says.

Arguments: the phone's serial number, the port of its ADB server.
"""

import sys

import adbutils
import uiautomator2 as u2

SERIAL, PORT = sys.argv[1], int(sys.argv[2])
SETTINGS, NOTES, CONTACTS = "com.android.settings", "com.android.notes", "com.google.android.contacts"
failed = []


def check(step, good):
    print("passed" if good else "failed", step, sep="  ", flush=True)
    if not good:
        failed.append(step)


def refused(step, do, kind, part=""):
    try:
        do()
        check(step, False)
    except kind as error:
        check(step, part in str(error))


d = u2.connect(adbutils.AdbClient(port=PORT).device(SERIAL))
check("connect, info", d.info["sdkInt"] == 34 and d.info["displayWidth"] == 1080)
check("window_size", d.window_size() == (1080, 2400))
d.app_start(SETTINGS, stop=True)
check("app_start, app_current", d.app_current()["package"] == SETTINGS)
check("app_wait", d.app_wait(SETTINGS, timeout=5) > 0)
check("app_info", d.app_info(SETTINGS)["versionName"] != "")
check("exists", bool(d(text="Apps").exists) and not d(text="no such").exists)
check("count", d(className="android.widget.TextView").count > 5)
check("dump_hierarchy", "Network &amp; internet" in d.dump_hierarchy())
d(text="Apps").click()
check("click by text", d(text="Connected devices").wait_gone(timeout=3))
d.press("back")
check("press", d(text="Connected devices").wait(timeout=3))
d.xpath('//*[@text="Apps"]').click()
check("xpath", d(text="Connected devices").wait_gone(timeout=3))
d.press("back")
check("screenshot", d.screenshot().size == (1080, 2400))
d.app_start(CONTACTS, stop=True)
people = d(scrollable=True)
check("scroll.toEnd", people.scroll.toEnd())
check("scroll.to", people.scroll.to(text="Tom Patel"))
check("scroll.toBeginning", people.scroll.toBeginning())
first = d(className="android.widget.TextView").info_list()
d.swipe(500, 1800, 500, 600)
check("swipe", d(className="android.widget.TextView").info_list() != first)
d.app_start(NOTES, stop=True)
d(description="New note").click()
field = d(className="android.widget.EditText")
check("wait", field.wait(timeout=3))
field.set_text("Milk & ✓")
check("set_text, get_text", field.get_text() == "Milk & ✓")
field.clear_text()
field.click()
d.send_keys("héllo")
check("send_keys", field.get_text() == "héllo")
d.clear_text()
check("clear_text", field.get_text() != "héllo")
d.clipboard = "clip ✓"
check("clipboard", d.clipboard == "clip ✓")
d.orientation = "l"
check("orientation left", d.orientation == "left")
d.orientation = "n"
check("orientation natural", d.orientation == "natural")
d.open_notification()
d.press("back")
d.screen_off()
check("screen_off", not d.info["screenOn"])
d.screen_on()
check("screen_on", d.info["screenOn"])
d.unlock()
check("no toast", d.last_toast is None)
with d.session(SETTINGS) as session:
    check("session", session.running())
refused("click on nothing", lambda: d(text="no such").click(timeout=0.5), u2.UiObjectNotFoundError)
refused("info of nothing", lambda: d(text="no such").info, u2.UiObjectNotFoundError)
refused("unknown method", lambda: d.jsonrpc.makeToast("x", 1), Exception, "not implemented by this phone")
d.stop_uiautomator()
check("stop_uiautomator", not d._check_alive())
sys.exit(bool(failed))
