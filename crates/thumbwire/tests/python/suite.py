"""Opens the page of a run of flows in headless Chromium: `suite.py PAGE FOLDER KIND`, where KIND is `linked` or `embedded`. Keeps pictures
of the page in FOLDER. Prints, as its last line, what was seen."""

import json
import pathlib
import sys

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from browser import check_logs, open_browser

page, folder, kind = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]), sys.argv[3]
driver = open_browser(1280, 900)


def script(text, *arguments):
    return driver.execute_script(text, *arguments)


def count(selector):
    return script("return [...document.querySelectorAll(arguments[0])].filter(e => e.checkVisibility() && e.getBoundingClientRect().width > 0).length", selector)


def press(key):
    driver.find_element(By.TAG_NAME, "body").send_keys(key)


def keep(name):
    driver.save_screenshot(str(folder / f"{kind}-{name}.png"))


try:
    driver.get(page.as_uri())
    cases = script("return document.querySelectorAll('details.case').length")
    failed = script("return document.querySelectorAll('details.case.failed').length")

    # It opens at the failure: the failed case is the first, its failed step is open and on the screen.
    assert script("return document.querySelector('details.case').matches('.failed[open]')")
    place = script("const r = document.querySelector('.step.failed > summary').getBoundingClientRect(); return [r.top, r.bottom, innerHeight]")
    assert 0 <= place[0] and place[1] <= place[2], place
    reason = script("return document.querySelector('.step.failed .reason').innerText")
    assert "Expected" in reason and "Seen" in reason and "notes.yaml:" in reason, reason
    assert "End of the log" in script("return document.querySelector('.step.failed .texts').innerText")
    # Only what failed is open; earlier attempts and the calls on the phone are folded away.
    assert count("details.step[open]") == 1, count("details.step[open]")
    assert count("details.attempt") == 1 and count("details.attempt[open]") == 0
    assert count("details.fold[open]") == 0

    # The pictures of the failed step can be read.
    if kind == "linked":
        WebDriverWait(driver, 30).until(lambda _: script(
            "const i = [...document.querySelectorAll('.step.failed[open] .shots img')].filter(i => i.checkVisibility()); return i.length > 0 && i.every(i => i.complete && i.naturalWidth > 100)"
        ))
    else:
        sizes = driver.execute_async_script(
            """const done = arguments[0];
            const hrefs = [...document.querySelectorAll('defs image')].map(i => i.getAttribute('href'));
            Promise.all(hrefs.map(async href => { const i = new Image(); i.src = href; await i.decode(); return i.naturalWidth; })).then(done, e => done(String(e)));"""
        )
        assert sizes and all(size > 100 for size in sizes), sizes
    keep("light")

    # Where a step touched the screen.
    script("document.querySelectorAll('details').forEach(d => d.open = d.matches('.case, .step'))")
    inside = script(
        """const circle = [...document.querySelectorAll('.touch circle')].find(c => c.checkVisibility());
        const [a, b] = [circle.getBoundingClientRect(), circle.closest('.shot').getBoundingClientRect()];
        return a.width > 4 && a.left >= b.left && a.right <= b.right && a.top >= b.top && a.bottom <= b.bottom;"""
    )
    assert inside
    keep("open")

    # Buttons and keys.
    driver.get("about:blank")
    driver.get(page.as_uri())
    driver.find_element(By.CSS_SELECTOR, "button[data-show=passed]").click()
    assert count("details.case") == cases - failed, count("details.case")
    driver.find_element(By.CSS_SELECTOR, "button[data-show=all]").click()
    assert count("details.case") == cases
    press("f")
    focused = script("return document.activeElement.parentElement.className")
    assert "failed" in focused, focused
    press("e")
    assert count("details.step:not([open])") == 0
    press("e")
    press("?")
    assert count("dialog[open]") == 1
    press(Keys.ESCAPE)
    light = script("return getComputedStyle(document.body).backgroundColor")
    press("d")
    assert light != script("return getComputedStyle(document.body).backgroundColor")
    keep("dark")

    # A narrow screen needs no scrolling sideways, even with everything open.
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True})
    driver.get("about:blank")
    driver.get(page.as_uri())
    keep("narrow")
    press("e")
    width = script("return document.documentElement.scrollWidth")
    assert width <= 390, width
    driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})

    # Without the script the failed step is open, too.
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    driver.get("about:blank")
    driver.get(page.as_uri())
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
    assert count("details.step.failed[open]") == 1

    check_logs(driver, ["data:", "about:", page.parent.as_uri() + "/"])
    print(json.dumps({"cases": cases, "failed": failed}))
finally:
    driver.quit()
