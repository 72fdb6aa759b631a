"""Uses the phone in the chat as a person does, in headless Chromium: `phone_app.py URL FOLDER`, where URL is a page of
`app_host.mjs`. Keeps pictures of it in FOLDER. Prints, as its last line, what was seen."""

import json
import pathlib
import statistics
import sys
import time

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from browser import open_browser

url, folder = sys.argv[1], pathlib.Path(sys.argv[2])
driver = open_browser(900, 900)

# A number for what the canvas shows.
DRAWN = """const c = document.getElementById('screen'); if (!c || c.width === 300 || !c.checkVisibility()) return 0;
const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data; let h = 1;
for (let i = 0; i < d.length; i += 4) h = (h * 31 + d[i] + d[i + 1] * 3 + d[i + 2] * 7) | 0; return h;"""


def until(condition, what):
    return WebDriverWait(driver, 60, 0.02).until(lambda _: condition(), what)


def in_app(script, *values):
    driver.switch_to.frame("app")
    try:
        return driver.execute_script(script, *values)
    finally:
        driver.switch_to.default_content()


def on_host(script, *values):
    return driver.execute_script(script, *values)


def call(name, **arguments):
    return driver.execute_async_script(
        "const [params, done] = arguments; window.call(params).then(done)", {"name": name, "arguments": arguments}
    )


def front():
    return json.dumps(call("mobile_get_current_app")["structuredContent"])


def contexts():
    return on_host("return window.seen.contexts")


def follows(act, what):
    """Acts; waits until the picture is another one. Returns how long it took."""
    before, began = in_app(DRAWN), time.monotonic()
    act()
    until(lambda: in_app(DRAWN) not in (0, before), what)
    return time.monotonic() - began


def tapped(text):
    """Lets the model tap an element; returns where it is."""
    element = call("mobile_tap_element", text=text)["structuredContent"]
    return element["x"], element["y"]


def pointer(*moves):
    """Pointer moves on the picture: places in the phone's coordinates, "down", "up", or seconds to pause."""
    driver.switch_to.frame("app")
    try:
        canvas = driver.find_element(By.ID, "screen")
        size = driver.execute_script("return [size.width, size.height]")
        actions = ActionChains(driver, duration=20)
        for move in moves:
            if move == "down":
                actions.click_and_hold()
            elif move == "up":
                actions.release()
            elif isinstance(move, float):
                actions.pause(move)
            else:
                box = canvas.rect
                shares = [at / most - 0.5 for at, most in zip(move, size)]
                actions.move_to_element_with_offset(canvas, round(shares[0] * box["width"]), round(shares[1] * box["height"]))
        actions.perform()
    finally:
        driver.switch_to.default_content()


def click(name):
    driver.switch_to.frame("app")
    driver.find_element(By.ID, name).click()
    driver.switch_to.default_content()


try:
    driver.set_script_timeout(60)
    driver.get(url)
    until(lambda: in_app(DRAWN), "the app shows the phone")
    assert in_app("return document.getElementById('status').textContent") == ""
    height = on_host("return document.getElementById('app').clientHeight")
    assert 300 < height <= 640, height

    # A tap on an app's icon starts it, and the model is told.
    size = in_app("return [size.width, size.height]")
    maps = tapped("Maps")
    until(lambda: "maps" in front(), "the icon is the one of Maps")
    follows(lambda: click("home"), "the button Home works")
    until(lambda: "maps" not in front(), "Home leaves Maps")
    follows(lambda: pointer(maps, "down", "up"), "the picture follows a tap")
    until(lambda: "maps" in front(), "a tap on the icon opens Maps")
    until(lambda: contexts() and "tapped (" in contexts()[-1], "the model is told of the tap")
    told = contexts()[-1]
    assert "pressed home" in told and "look again" in told, told

    # Text, which the model is not told, goes where the field is.
    tapped("Search here")
    click("type")
    driver.switch_to.frame("app")
    driver.find_element(By.ID, "keyboard").send_keys("geheim ä€😀")
    driver.switch_to.default_content()
    screen = lambda: json.dumps(call("mobile_get_accessibility_tree"), ensure_ascii=False)
    until(lambda: "geheim ä€😀" in screen(), "the text is in the field")
    until(lambda: "typed text" in contexts()[-1], "the model is told of the typing")
    assert not any("geheim" in context for context in contexts()), contexts()

    # Drag and long press.
    count = len(contexts())
    middle, above = (size[0] // 2, size[1] // 2), (size[0] // 2, size[1] // 4)
    pointer(middle, "down", above, "up")
    until(lambda: "swiped from" in contexts()[-1], "a drag is a swipe")
    pointer(middle, "down", 0.7, "up")
    until(lambda: " long" in contexts()[-1], "holding is a long press")

    # The delay until the picture follows the buttons.
    delays = []
    for _ in range(5):
        delays.append(follows(lambda: click("home"), "Home is drawn"))
        delays.append(follows(lambda: pointer(maps, "down", "up"), "Maps is drawn"))

    # What the host says about colors and room.
    driver.save_screenshot(str(folder / "light.png"))
    light = in_app("return getComputedStyle(document.body).backgroundColor")
    on_host("window.bridge.setHostContext({ theme: 'dark', containerDimensions: { maxHeight: 420 } })")
    until(lambda: in_app("return getComputedStyle(document.body).backgroundColor") != light, "the app becomes dark")
    until(lambda: on_host("return document.getElementById('app').clientHeight") <= 440, "the app becomes smaller")
    driver.save_screenshot(str(folder / "dark.png"))

    # A screen that stays is asked for rarely.
    time.sleep(4)
    calls = lambda: on_host("return window.seen.calls.filter(name => name === 'mobile_phone_picture').length")
    before = calls()
    time.sleep(4)
    idle = calls() - before
    assert 1 <= idle <= 6, idle

    errors = [entry["message"] for entry in driver.get_log("browser") if entry["level"] == "SEVERE" and "favicon" not in entry["message"]]
    assert not errors, errors
    print(json.dumps({"shows": True, "follows_ms": round(statistics.median(delays) * 1000), "asked_while_idle": idle, "told": told}))
finally:
    driver.quit()
