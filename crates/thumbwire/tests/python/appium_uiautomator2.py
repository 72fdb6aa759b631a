"""Calls a real Appium server with its UiAutomator2 driver, at a virtual Android phone; prints a table of the calls.

Arguments: the URL of the Appium server, the phone's serial number, the port of its ADB server.
"""

import base64
import sys

from appium import webdriver
from appium.options.android import UiAutomator2Options
from appium.webdriver.common.appiumby import AppiumBy
from selenium.common.exceptions import (
    InvalidSelectorException,
    NoAlertPresentException,
    NoSuchElementException,
    StaleElementReferenceException,
)
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.actions import interaction
from selenium.webdriver.common.actions.action_builder import ActionBuilder
from selenium.webdriver.common.actions.pointer_input import PointerInput

from appium_calls import Calls, is_png

SERVER, SERIAL, ADB_PORT = sys.argv[1], sys.argv[2], int(sys.argv[3])
SETTINGS, NOTES, CONTACTS = "com.android.settings", "com.android.notes", "com.google.android.contacts"
XPATH, ID, DESCRIPTION = AppiumBy.XPATH, AppiumBy.ID, AppiumBy.ACCESSIBILITY_ID
CLASS, SELECTOR = AppiumBy.CLASS_NAME, AppiumBy.ANDROID_UIAUTOMATOR

calls = Calls()
call, raises, not_applicable = calls.call, calls.raises, calls.not_applicable

options = UiAutomator2Options().load_capabilities({
    "platformName": "Android", "appium:automationName": "UiAutomator2", "appium:udid": SERIAL,
    "appium:adbPort": ADB_PORT, "appium:suppressKillServer": True, "appium:appPackage": SETTINGS,
    "appium:appActivity": ".Settings", "appium:newCommandTimeout": 300,
})
d = webdriver.Remote(SERVER, options=options)
calls.passed("new session: installs and starts the server")

try:
    find, finds = d.find_element, d.find_elements

    def mobile(name, **args):
        return d.execute_script(f"mobile: {name}", args)

    # The session and the screen.
    call("capabilities", lambda: d.capabilities["deviceApiLevel"], 34)
    call("page source", lambda: d.page_source, lambda xml: "<android.widget." in xml)
    call("screenshot", d.get_screenshot_as_base64, is_png)
    call("window size", d.get_window_size, {"width": 1080, "height": 2400})
    call("window rect", d.get_window_rect, lambda it: it["width"] == 1080)
    call("orientation", lambda: d.orientation, "PORTRAIT")
    call("current package", lambda: d.current_package, SETTINGS)
    call("current activity", lambda: d.current_activity, lambda it: it.endswith(".Settings"))
    call("contexts", lambda: d.contexts, lambda it: it[0] == "NATIVE_APP")
    call("current context", lambda: d.current_context, "NATIVE_APP")
    call("device time", lambda: d.device_time, lambda it: it.startswith("20"))
    call("settings", d.get_settings, lambda it: it["enableMultiWindows"] is False)
    call("update settings", lambda: d.update_settings({"waitForIdleTimeout": 100}))
    call("updated settings", lambda: d.get_settings()["waitForIdleTimeout"], 100)
    call("implicit wait", lambda: d.implicitly_wait(0))
    call("battery info", lambda: mobile("batteryInfo"), lambda it: 0 < it["level"] <= 1)
    call("device info", lambda: mobile("deviceInfo"), lambda it: it["apiVersion"] == "34")
    call("system bars", lambda: d.get_system_bars(), lambda it: it["statusBar"]["height"] > 0)
    call("display density", lambda: d.get_display_density(), 420)
    call("list windows", lambda: mobile("listWindows"), lambda it: len(it) >= 2)

    # Finding.
    app = call("find by XPath", lambda: find(XPATH, "//*[@text='Apps']"))
    call("find by class", lambda: finds(CLASS, "android.widget.TextView"), lambda it: len(it) > 5)
    call("find by UiSelector", lambda: find(SELECTOR, 'new UiSelector().textStartsWith("Netw")').text,
         "Network & internet")
    call("find by UiSelector with regex", lambda: find(SELECTOR, 'new UiSelector().textMatches("Sys.*")').text, "System")
    call("find by XPath with axes", lambda: find(XPATH, "//*[@text='Apps']/following-sibling::*").text,
         lambda it: it.endswith("apps"))
    call("find several by XPath", lambda: finds(XPATH, "//android.widget.TextView[contains(@text,'&')]"),
         lambda it: len(it) >= 2)
    call("find nothing", lambda: finds(XPATH, "//*[@text='no such']"), [])
    raises("find one that is missing", lambda: find(DESCRIPTION, "no such"), NoSuchElementException)
    raises("malformed XPath", lambda: find(XPATH, "//*["), InvalidSelectorException)
    raises("unknown method of UiSelector", lambda: find(SELECTOR, "new UiSelector().colour(1)"), InvalidSelectorException)

    # Elements.
    call("text", lambda: app.text, "Apps")
    call("attribute class", lambda: app.get_attribute("class"), "android.widget.TextView")
    call("attribute bounds", lambda: app.get_attribute("bounds"), lambda it: it.startswith("["))
    call("is displayed", lambda: app.is_displayed(), True)
    call("is enabled", lambda: app.is_enabled(), True)
    call("is selected", lambda: app.is_selected(), False)
    call("rect", lambda: app.rect, lambda it: it["width"] > 0)
    call("location", lambda: app.location, lambda it: it["y"] > 0)
    call("size", lambda: app.size, lambda it: it["height"] > 0)
    call("element screenshot", lambda: app.screenshot_as_base64, is_png)
    call("click", lambda: app.click())
    raises("element of the former screen", lambda: find(XPATH, "//*[@text='Connected devices']").text, NoSuchElementException)
    raises("stale element", lambda: app.rect and app.get_attribute("nothing"), Exception)
    call("back", d.back)
    call("screen after back", lambda: find(XPATH, "//*[@text='Connected devices']").is_displayed(), True)
    raises("no alert", lambda: d.switch_to.alert.text, NoAlertPresentException)

    # Keys, notifications, orientation, lock.
    call("press keycode home", lambda: d.press_keycode(3))
    call("home is in front", lambda: d.current_package, "com.android.launcher3")
    call("open notifications", d.open_notifications)
    call("press keycode back", lambda: d.press_keycode(4))
    call("lock", d.lock)
    call("is locked", d.is_locked, True)
    call("unlock", d.unlock)
    call("is unlocked", d.is_locked, False)

    # Apps.
    call("is installed", lambda: d.is_app_installed(NOTES), True)
    call("activate app", lambda: d.activate_app(NOTES))
    call("query app state", lambda: d.query_app_state(NOTES), 4)
    call("start activity", lambda: mobile("startActivity", intent=f"{SETTINGS}/.Settings"))
    call("terminate app", lambda: d.terminate_app(SETTINGS), True)
    call("activate app again", lambda: d.activate_app(NOTES))

    # Typing.
    call("find by accessibility id", lambda: find(DESCRIPTION, "New note").click())
    field = call("find by id", lambda: finds(CLASS, "android.widget.EditText")[0])
    call("send keys", lambda: field.send_keys("Milk"))
    call("typed text", lambda: field.text, "Milk")
    call("send more keys", lambda: field.send_keys(" & é✓"))
    call("longer text", lambda: field.text, "Milk & é✓")
    call("active element", lambda: d.switch_to.active_element.text, "Milk & é✓")
    call("clear", lambda: field.clear())
    call("replace value", lambda: mobile("replaceElementValue", elementId=field.id, text="Bread"))
    call("replaced text", lambda: field.text, "Bread")
    call("keyboard is shown", d.is_keyboard_shown, True)
    call("hide keyboard", d.hide_keyboard)
    call("set clipboard", lambda: d.set_clipboard_text("clip ✓"))
    call("press paste", lambda: d.press_keycode(279))

    # Gestures.
    call("activate contacts", lambda: d.activate_app(CONTACTS))
    people = call("find a list", lambda: find(SELECTOR, "new UiSelector().scrollable(true)"))
    call("scroll gesture", lambda: mobile("scrollGesture", elementId=people.id, direction="down", percent=0.3), True)
    call("fling gesture", lambda: mobile("flingGesture", elementId=people.id, direction="up"), lambda it: it in (True, False))
    call("swipe gesture", lambda: mobile("swipeGesture", left=100, top=600, width=800, height=1200, direction="up", percent=0.7))
    call("swipe", lambda: d.swipe(500, 900, 500, 1700, 300))
    call("scroll into view", lambda: find(SELECTOR,
         'new UiScrollable(new UiSelector().scrollable(true)).scrollIntoView(new UiSelector().textStartsWith("Tom"))').text,
         "Tom Patel")
    call("mobile: scroll", lambda: mobile("scroll", strategy=SELECTOR, selector='new UiSelector().textStartsWith("A")'))
    call("tap", lambda: d.tap([(540, 1300)]))
    call("back from a contact", d.back)
    call("click gesture", lambda: mobile("clickGesture", x=540, y=1300))
    call("press back", lambda: mobile("pressKey", keycode=4))
    call("long click gesture", lambda: mobile("longClickGesture", x=540, y=1300, duration=700))
    call("double click gesture", lambda: mobile("doubleClickGesture", x=540, y=160))
    call("drag gesture", lambda: mobile("dragGesture", startX=540, startY=1500, endX=540, endY=900))
    call("pinch open gesture", lambda: mobile("pinchOpenGesture", left=200, top=800, width=600, height=600, percent=0.5))
    call("pinch close gesture", lambda: mobile("pinchCloseGesture", left=200, top=800, width=600, height=600, percent=0.5))

    def actions():
        finger = ActionBuilder(d, mouse=PointerInput(interaction.POINTER_TOUCH, "finger"))
        finger.pointer_action.move_to_location(540, 1600).pointer_down().pause(0.1).move_to_location(540, 900).pointer_up()
        finger.perform()

    call("W3C actions of a finger", actions)
    call("release actions", lambda: ActionChains(d).reset_actions())
    call("landscape", lambda: setattr(d, "orientation", "LANDSCAPE"))
    call("size in landscape", d.get_window_size, {"width": 2400, "height": 1080})
    call("portrait", lambda: setattr(d, "orientation", "PORTRAIT"))

    # Files and the log.
    call("push file", lambda: d.push_file("/sdcard/Download/a.txt", base64.b64encode(b"hi").decode()))
    call("pull file", lambda: base64.b64decode(d.pull_file("/sdcard/Download/a.txt")), b"hi")
    call("log types", lambda: d.log_types, lambda it: "logcat" in it)
    call("logcat", lambda: d.get_log("logcat"), lambda it: len(it) > 0)
    call("network connection", lambda: d.network_connection, lambda it: it in range(7))

    not_applicable("get clipboard", "since Android 10 it needs an input method of Appium Settings, whose code does not run here")
    not_applicable("geolocation", "the phone has no location")
    not_applicable("fingerprint", "emulators only")
    not_applicable("send SMS, GSM call", "emulators only")
    not_applicable("web context", "the browser of the phone has no DevTools")
finally:
    call("delete session", d.quit)

calls.finish()
