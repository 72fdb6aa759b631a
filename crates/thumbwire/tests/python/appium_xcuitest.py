"""Calls a real Appium server with its XCUITest driver, at a virtual iPhone; prints a table of the calls.

Arguments: the URL of the Appium server, the URL of the phone's WebDriverAgent, its version of iOS.
"""

import sys

from appium import webdriver
from appium.options.ios import XCUITestOptions
from appium.webdriver.common.appiumby import AppiumBy
from selenium.common.exceptions import (
    NoAlertPresentException,
    NoSuchElementException,
    StaleElementReferenceException,
    WebDriverException,
)
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.actions import interaction
from selenium.webdriver.common.actions.action_builder import ActionBuilder
from selenium.webdriver.common.actions.pointer_input import PointerInput

from appium_calls import Calls, is_png

SERVER, WDA = sys.argv[1], sys.argv[2]
SETTINGS, NOTES, SPRINGBOARD = "com.apple.Preferences", "com.apple.mobilenotes", "com.apple.springboard"
BROWSER = "com.google.chrome.ios"
XPATH, ID, CLASS = AppiumBy.XPATH, AppiumBy.ACCESSIBILITY_ID, AppiumBy.CLASS_NAME
PREDICATE, CHAIN = AppiumBy.IOS_PREDICATE, AppiumBy.IOS_CLASS_CHAIN

calls = Calls()
call, raises, not_applicable = calls.call, calls.raises, calls.not_applicable

options = XCUITestOptions().load_capabilities({
    "platformName": "iOS", "appium:automationName": "XCUITest", "appium:udid": "00008110-000A1B2C3D4E5F60",
    "appium:deviceName": "Virtual iPhone", "appium:platformVersion": sys.argv[3], "appium:webDriverAgentUrl": WDA,
    "appium:newCommandTimeout": 300,
})
d = webdriver.Remote(SERVER, options=options)
calls.passed("new session: through webDriverAgentUrl")

try:
    find, finds = d.find_element, d.find_elements

    def mobile(script, **args):
        return d.execute_script(f"mobile: {script}", args)

    def cell(label):
        return find(PREDICATE, f"type == 'XCUIElementTypeCell' AND label == '{label}'")

    # The session and the screen.
    call("activate app", lambda: d.activate_app(SETTINGS))
    call("capabilities", lambda: d.capabilities["platformName"], lambda it: it.lower() == "ios")
    call("page source", lambda: d.page_source, lambda xml: "<XCUIElementTypeNavigationBar" in xml)
    call("source as JSON", lambda: mobile("source", format="json"), lambda it: '"type"' in str(it) or "type" in it)
    call("source as description", lambda: mobile("source", format="description"), lambda it: "Application" in it)
    call("screenshot", d.get_screenshot_as_base64, is_png)
    call("window size", d.get_window_size, {"width": 414, "height": 896})
    call("window rect", d.get_window_rect, lambda it: it["width"] == 414)
    call("viewport rect", lambda: mobile("viewportRect"), lambda it: it["width"] == 828)
    call("viewport screenshot", lambda: mobile("viewportScreenshot"), is_png)
    call("screen info", lambda: mobile("deviceScreenInfo"), lambda it: it["scale"] == 2)
    call("orientation", lambda: d.orientation, "PORTRAIT")
    call("active app", lambda: mobile("activeAppInfo"), lambda it: it["bundleId"] == SETTINGS)
    call("battery info", lambda: mobile("batteryInfo"), lambda it: 0 < it["level"] <= 1)
    call("current context", lambda: d.current_context, "NATIVE_APP")
    call("settings", d.get_settings, lambda it: it["useJSONSource"] is False)
    call("update settings", lambda: d.update_settings({"snapshotMaxDepth": 60}))
    call("updated settings", lambda: d.get_settings()["snapshotMaxDepth"], 60)
    call("implicit wait", lambda: d.implicitly_wait(0))

    # Finding.
    apps = call("find by predicate", lambda: cell("Apps"))
    call("find by class", lambda: finds(CLASS, "XCUIElementTypeCell"), lambda it: len(it) > 5)
    call("find by class chain", lambda: find(CHAIN, "**/XCUIElementTypeCell[`label BEGINSWITH 'Netw'`]").text,
         lambda it: it.startswith("Network & internet") or it.startswith("Wi-Fi"))
    call("find by accessibility id", lambda: find(ID, "Apps").get_attribute("label"), "Apps")
    call("find by name", lambda: find(AppiumBy.NAME, "Apps").get_attribute("label"), "Apps")
    call("find by id", lambda: find(AppiumBy.ID, "Apps").get_attribute("label"), "Apps")
    call("find by XPath", lambda: find(XPATH, "//XCUIElementTypeCell[@label='Apps']").get_attribute("value"), "14 apps")
    call("find by XPath with axes",
         lambda: find(XPATH, "//XCUIElementTypeCell[@label='Apps']/preceding-sibling::*[1]").get_attribute("label"),
         "Connected devices")
    call("find several by predicate", lambda: finds(PREDICATE, "label CONTAINS '&' AND visible == 1"), lambda it: len(it) > 1)
    table = call("find the table", lambda: find(CLASS, "XCUIElementTypeTable"))
    call("find in an element", lambda: table.find_element(ID, "Apps").get_attribute("label"), "Apps")
    call("find several in an element", lambda: table.find_elements(CLASS, "XCUIElementTypeCell"), lambda it: len(it) > 5)
    call("find nothing", lambda: finds(ID, "no such"), [])
    raises("find one that is missing", lambda: find(ID, "no such"), NoSuchElementException)
    # The driver takes any error of a search for "nothing found".
    raises("malformed XPath", lambda: find(XPATH, "//*["), NoSuchElementException)
    raises("malformed predicate", lambda: find(PREDICATE, "label ~~ 1"), NoSuchElementException)

    # Elements.
    call("tag name", lambda: apps.tag_name, "XCUIElementTypeCell")
    call("attribute type", lambda: apps.get_attribute("type"), "XCUIElementTypeCell")
    call("attribute value", lambda: apps.get_attribute("value"), "14 apps")
    call("attribute visible", lambda: apps.get_attribute("visible"), "true")
    call("is displayed", lambda: apps.is_displayed(), True)
    call("is enabled", lambda: apps.is_enabled(), True)
    call("is selected", lambda: apps.is_selected(), False)
    call("rect", lambda: apps.rect, lambda it: it["width"] > 300)
    call("location", lambda: apps.location, lambda it: it["y"] > 0)
    call("size", lambda: apps.size, lambda it: it["height"] > 30)
    call("element screenshot", lambda: apps.screenshot_as_base64, is_png)
    call("click", lambda: cell("Network & internet").click())
    raises("element of the former screen", lambda: apps.click(),
           (StaleElementReferenceException, NoSuchElementException))
    switch = call("find a switch", lambda: find(CLASS, "XCUIElementTypeSwitch"))
    was = call("value of a switch", lambda: switch.get_attribute("value"), lambda it: it in ("0", "1"))
    call("click a switch", lambda: switch.click())
    call("switched", lambda: find(CLASS, "XCUIElementTypeSwitch").get_attribute("value"), lambda it: it != was)
    call("back", d.back)
    call("screen after back", lambda: cell("Apps").is_displayed(), True)
    raises("no alert", lambda: d.switch_to.alert.text, NoAlertPresentException)

    # Keys, orientation, lock.
    call("press button home", lambda: mobile("pressButton", name="home"))
    call("home is in front", lambda: mobile("activeAppInfo")["bundleId"], SPRINGBOARD)
    call("press button volume", lambda: mobile("pressButton", name="volumeup"))
    raises("press button that is none", lambda: mobile("pressButton", name="anykey"), WebDriverException)
    call("lock", lambda: d.lock())
    call("is locked", d.is_locked, True)
    call("unlock", d.unlock)
    call("is unlocked", d.is_locked, False)

    # Apps.
    call("launch app", lambda: mobile("launchApp", bundleId=NOTES))
    call("query app state", lambda: d.query_app_state(NOTES), 4)
    call("query state of another", lambda: d.query_app_state(SETTINGS), lambda it: it in (2, 3))
    call("terminate app", lambda: d.terminate_app(SETTINGS), True)
    call("terminated", lambda: d.query_app_state(SETTINGS), 1)
    raises("launch nothing", lambda: mobile("launchApp", bundleId="com.example.nothing"), WebDriverException)

    # Typing.
    call("new note", lambda: find(ID, "New note").click())
    field = call("find a field", lambda: finds(PREDICATE, "type IN {'XCUIElementTypeTextField', 'XCUIElementTypeTextView'}")[0])
    call("click a field", lambda: field.click())
    call("send keys", lambda: field.send_keys("Milk"))
    call("typed text", lambda: field.get_attribute("value"), "Milk")
    call("send more keys", lambda: field.send_keys(" & é✓😀"))
    call("longer text", lambda: field.get_attribute("value"), "Milk & é✓😀")
    call("active element", lambda: d.switch_to.active_element.get_attribute("value"), "Milk & é✓😀")
    call("mobile: keys", lambda: mobile("keys", keys=["!"]))
    call("mobile: keys with shift", lambda: mobile("keys", keys=["XCUIKeyboardKeyDelete", {"key": "a", "modifierFlags": 2}]))
    call("text after keys", lambda: field.get_attribute("value"), "Milk & é✓😀A")
    call("clear", lambda: field.clear())
    call("cleared", lambda: field.get_attribute("value"), lambda it: "Milk" not in (it or ""))
    call("keyboard is shown", d.is_keyboard_shown, True)
    call("tap a key", lambda: find(PREDICATE, "type == 'XCUIElementTypeKey' AND label ==[c] 'q'").click())
    call("typed key", lambda: field.get_attribute("value"), lambda it: it.lower() == "q")
    call("hide keyboard", lambda: mobile("hideKeyboard", keys=["done", "return"]))
    call("set clipboard", lambda: d.set_clipboard_text("clip ✓"))
    call("get clipboard", d.get_clipboard_text, "clip ✓")

    # Gestures.
    call("activate settings", lambda: d.activate_app(SETTINGS))
    call("swipe", lambda: mobile("swipe", direction="up"))
    call("scroll", lambda: mobile("scroll", direction="up"))
    call("swipe in an element", lambda: mobile("swipe", direction="up", elementId=find(CLASS, "XCUIElementTypeTable").id))
    call("scroll to a predicate", lambda: mobile("scroll", elementId=find(CLASS, "XCUIElementTypeTable").id,
         direction="up", predicateString="label == 'Network & internet'"))
    call("scrolled into view", lambda: cell("Network & internet").get_attribute("visible"), "true")
    call("drag", lambda: mobile("dragFromToForDuration", fromX=200, fromY=700, toX=200, toY=400, duration=0.5))
    call("drag with velocity", lambda: mobile("dragFromToWithVelocity", fromX=200, fromY=400, toX=200, toY=700,
         pressDuration=0.1, holdDuration=0.1, velocity=400))
    call("tap", lambda: mobile("tap", x=200, y=cell("Apps").rect["y"] + 10))
    call("inside after tap", lambda: find(CLASS, "XCUIElementTypeNavigationBar").get_attribute("name"), "Apps")
    call("back after tap", d.back)
    call("touch and hold", lambda: mobile("touchAndHold", elementId=cell("Apps").id, duration=0.8))
    call("activate settings again", lambda: (d.terminate_app(SETTINGS), d.activate_app(SETTINGS)))
    call("double tap", lambda: mobile("doubleTap", x=200, y=120))
    call("two finger tap", lambda: mobile("twoFingerTap", elementId=find(CLASS, "XCUIElementTypeWindow").id))
    call("several taps", lambda: mobile("tapWithNumberOfTaps", elementId=find(CLASS, "XCUIElementTypeWindow").id,
         numberOfTaps=2, numberOfTouches=1))
    call("pinch", lambda: mobile("pinch", scale=0.5, velocity=-1.0))
    call("press force", lambda: mobile("forcePress", x=200, y=120, pressure=0.5, duration=0.2))
    call("rotate with two fingers", lambda: mobile("rotateElement", elementId=find(CLASS, "XCUIElementTypeWindow").id,
         rotation=1.0, velocity=1.0))

    def actions():
        finger = ActionBuilder(d, mouse=PointerInput(interaction.POINTER_TOUCH, "finger"))
        finger.pointer_action.move_to_location(200, 600).pointer_down().pause(0.1).move_to_location(200, 300).pointer_up()
        finger.perform()

    call("activate settings a third time", lambda: (d.terminate_app(SETTINGS), d.activate_app(SETTINGS)))
    call("W3C actions of a finger", actions)
    call("release actions", lambda: ActionChains(d).reset_actions())
    call("landscape", lambda: setattr(d, "orientation", "LANDSCAPE"))
    call("size in landscape", d.get_window_size, {"width": 896, "height": 414})
    call("portrait", lambda: setattr(d, "orientation", "PORTRAIT"))
    call("deep link", lambda: mobile("deepLink", url="https://example.com/"))
    call("browser is in front", lambda: mobile("activeAppInfo")["bundleId"], BROWSER)
    call("background", lambda: d.background_app(0))

    not_applicable("device info, device time", "comes from the phone's services over USB")
    not_applicable("installed apps, install, remove", "come from the phone's services over USB")
    not_applicable("push and pull file", "come from the phone's services over USB")
    not_applicable("logs", "come from the phone's services over USB")
    not_applicable("shake, touch id, permissions", "simulators only")
    not_applicable("contexts", "the driver looks for web pages over USB")
finally:
    call("delete session", d.quit)

calls.finish()
