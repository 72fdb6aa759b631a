"""Opens the page of a run in headless Chromium: `report.py PAGE FOLDER KIND`, where KIND is `rounds` or `steps`. Keeps pictures of the
page in FOLDER. Prints, as its last line, what was seen."""

import json
import pathlib
import sys

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from browser import check_logs, open_browser

page, folder, kind = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]), sys.argv[3]
driver = open_browser(1440, 1000)


def shown():
    return driver.execute_script(
        "return [...document.querySelectorAll('.moment')].map((m, i) => m.offsetParent ? i : -1).filter(i => i >= 0)"
    )


def press(key):
    driver.find_element(By.TAG_NAME, "body").send_keys(key)


def count(selector):
    return driver.execute_script(
        "return [...document.querySelectorAll(arguments[0])].filter(e => e.checkVisibility() && e.getBoundingClientRect().width > 0).length",
        selector,
    )


def background():
    return driver.execute_script("return getComputedStyle(document.body).backgroundColor")


def scheme(name):
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": name}]})


def keep(name):
    driver.save_screenshot(str(folder / f"{name}.png"))


try:
    scheme("light")
    driver.get(page.as_uri())
    total = driver.execute_script("return document.querySelectorAll('.moment').length")
    failed = driver.execute_script("return document.querySelectorAll('.moment.failed').length")
    assert shown() == [0], shown()

    # Keys move.
    for key, at in [("j", 1), (Keys.ARROW_RIGHT, 2), ("k", 1), (Keys.ARROW_LEFT, 0), (Keys.ARROW_LEFT, 0), (Keys.END, total - 1), ("j", total - 1), (Keys.HOME, 0)]:
        press(key)
        assert shown() == [at], (key, at, shown())
    driver.find_elements(By.CSS_SELECTOR, ".timeline a")[1].click()
    # The browser tells the page of a new address when it has time.
    WebDriverWait(driver, 20).until(lambda _: shown() == [1] and driver.current_url.endswith("#m2"))

    # Every picture can be read by the browser, and has its place.
    sizes = driver.execute_async_script(
        """const done = arguments[0];
        const hrefs = [...document.querySelectorAll('defs image')].map(i => i.getAttribute('href'));
        Promise.all(hrefs.map(async href => { const i = new Image(); i.src = href; await i.decode(); return i.naturalWidth; })).then(done, e => done(String(e)));"""
    )
    assert sizes and all(size > 100 for size in sizes), sizes

    # The finger lies on the picture.
    touched = 1 if kind == "rounds" else 4
    driver.get(page.as_uri() + f"#m{touched + 1}")
    assert shown() == [touched], shown()
    inside = driver.execute_script(
        """const circle = document.querySelector('.moment.on .touch circle').getBoundingClientRect();
        const picture = document.querySelector('.moment.on figure.clean svg').getBoundingClientRect();
        return circle.width > 4 && circle.left >= picture.left && circle.right <= picture.right && circle.top >= picture.top && circle.bottom <= picture.bottom;"""
    )
    assert inside
    keep("light")

    if kind == "rounds":
        # Clean, marked, both.
        figures = lambda: (count(".moment.on figure.clean"), count(".moment.on figure.marked"))
        views = [figures()]
        for _ in range(3):
            press("a")
            views.append(figures())
        assert views == [(1, 1), (1, 0), (0, 1), (1, 1)], views
        # The tree, its filter and its folds; the prompt.
        press("t")
        rows = count(".moment.on .tree li")
        assert rows > 10, rows
        field = driver.find_element(By.CSS_SELECTOR, ".moment.on .filter")
        field.send_keys("search j")
        assert shown() == [touched], "what is typed into the filter is no key"
        field.clear()
        field.send_keys("search")
        filtered = count(".moment.on .tree li")
        assert 0 < filtered < rows, (filtered, rows)
        field.clear()
        field.send_keys("x", Keys.BACKSPACE)
        driver.find_element(By.CSS_SELECTOR, ".moment.on .fold").click()
        assert count(".moment.on .tree li") < rows
        driver.find_element(By.CSS_SELECTOR, ".moment.on .fold").click()
        assert count(".moment.on .tree li") == rows
        keep("tree")
        driver.execute_script("document.activeElement.blur()")
        press("t")
        press("p")
        assert count(".moment.on .prompt pre") >= 2
        press("p")
        assert count(".moment.on .changes li") > 0
        press(Keys.END)
        driver.execute_script("scrollTo(0, 0)")
        keep("last")
        press("k")
        press("k")
        keep("failed")
    press("?")
    assert count("dialog[open]") == 1
    keep("help")
    press(Keys.ESCAPE)
    assert count("dialog[open]") == 0

    # Both themes, and the switch between them.
    light = background()
    press("d")
    dark = background()
    assert light != dark
    press("d")
    assert background() == light
    scheme("dark")
    driver.get("about:blank")
    driver.get(page.as_uri() + f"#m{touched + 1}")
    assert background() == dark, (background(), dark)
    keep("dark")
    scheme("light")

    # A narrow screen needs no scrolling sideways.
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True})
    driver.get("about:blank")
    driver.get(page.as_uri() + f"#m{touched + 1}")
    width = driver.execute_script("return document.documentElement.scrollWidth")
    assert width <= 390, width
    keep("narrow")
    driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})

    # On paper all moments are there; without the script they are, too.
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert len(shown()) == total
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    driver.get("about:blank")
    driver.get(page.as_uri())
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
    assert len(shown()) == total

    check_logs(driver, ["data:", "about:", page.as_uri()])
    print(json.dumps({"moments": total, "failed": failed, "pictures": sizes}))
finally:
    driver.quit()
