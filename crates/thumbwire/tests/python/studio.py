"""Uses the studio's page in headless Chromium: `studio.py URL FOLDER [OPTION…]`. URL is what `thumbwire studio --device virtual`
printed. Keeps pictures of the page and the recorded flow in FOLDER. Prints a line for each check.

--axe FILE       axe-core, which judges the page
--hostile TEXT   the app that is shown at the start has a label with this text, which must do nothing
--answer TEXT    a program asks a question, which is answered with this text
--steer          a program acts on the phone again and again, is made to wait, and goes on; nothing else is tried
"""

import argparse
import json
import pathlib
import statistics
import time
import urllib.parse

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from browser import check_logs, open_browser

parser = argparse.ArgumentParser()
parser.add_argument("url")
parser.add_argument("folder", type=pathlib.Path)
parser.add_argument("--axe", type=pathlib.Path)
parser.add_argument("--hostile")
parser.add_argument("--answer")
parser.add_argument("--steer", action="store_true")
given = parser.parse_args()
NOTES = "com.android.notes"
UNICODE = "Grüße 漢字 😀 שלום"
# As a note can be named.
HOSTILE = "<img src=x onerror=alert(1)><script>alert(2)</script>"


class Done(Exception):
    """All that was asked for was tried."""


driver = open_browser(1280, 800)
driver.set_script_timeout(60)


def run(script, *values):
    return driver.execute_script(script, *values)


def find(selector):
    return driver.find_element(By.CSS_SELECTOR, selector)


def until(condition, what, seconds=40):
    return WebDriverWait(driver, seconds, poll_frequency=0.05).until(lambda _: condition(), message=what)


def ask(path, body=None):
    """Asks the server as the page does."""
    answer = driver.execute_async_script(
        """const [path, body, done] = arguments;
        const token = JSON.parse(sessionStorage.getItem("studio.token"));
        const headers = token ? { Authorization: "Bearer " + token } : {};
        fetch("api/" + path, body ? { method: "POST", headers: { ...headers, "Content-Type": "application/json" }, body: JSON.stringify(body) } : { headers })
          .then(async (r) => done(r.ok ? await r.json() : { status: r.status, ...(await r.json()) }), (e) => done({ error: String(e) }));""",
        path,
        body,
    )
    assert "error" not in answer or answer["error"] is None, (path, body, answer)
    return answer


def act(action):
    return ask("act", {"device": device, "action": action})


def elements():
    return ask("look", {"device": device})["elements"]


def element(**wanted):
    """The first visible element whose fields contain these texts."""
    return next((one for one in elements() if one["visible"] and all(text in one[field] for field, text in wanted.items())), None)


def shown(**wanted):
    """The same, once it is there."""
    return until(lambda: element(**wanted), f"no element with {wanted}")


def center(one):
    left, top, right, bottom = one["bounds"]
    return (left + right) // 2, (top + bottom) // 2


def pointer_at(at):
    """A chain of actions whose pointer is at this place of the phone's screen."""
    x, y = run(
        """const box = document.getElementById("stage").getBoundingClientRect();
        const { width, height } = window.lookedAt;
        return [arguments[0] / width * box.width - box.width / 2, arguments[1] / height * box.height - box.height / 2];""",
        *at,
    )
    return ActionChains(driver, duration=20).move_to_element_with_offset(find("#stage"), round(x), round(y))


def click_at(at):
    pointer_at(at).click().perform()


def picture():
    """A number for what the canvas shows."""
    return run(
        """const canvas = document.getElementById("screen");
        const copy = Object.assign(document.createElement("canvas"), { width: canvas.width, height: canvas.height });
        const context = copy.getContext("2d", { willReadFrequently: true });
        context.drawImage(canvas, 0, 0);
        const bytes = context.getImageData(0, 0, copy.width, copy.height).data;
        let hash = 0;
        for (let i = 0; i < bytes.length; i += 4) hash = (hash * 31 + bytes[i] + bytes[i + 1] + bytes[i + 2]) | 0;
        return hash;"""
    )


def tab(name):
    run("document.getElementById(arguments[0]).click()", f"tab-{name}")


def scheme(name):
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": name}]})


def open_notes():
    act({"launch": {"id": NOTES}})
    # The app comes back as it was left.
    while element(id="editable_title"):
        act({"press": "back"})
    return shown(name="New note")


def judge(where):
    if not given.axe:
        return
    run(given.axe.read_text())
    result = driver.execute_async_script("axe.run(document, { resultTypes: ['violations'] }).then(arguments[0])")
    found = [(one["id"], [node["target"] for node in one["nodes"]]) for one in result["violations"]]
    assert not found, (where, found)


try:
    given.folder.mkdir(parents=True, exist_ok=True)
    scheme("light")
    driver.get(given.url)
    until(lambda: run("return document.getElementById('stage').classList.contains('on')"), "no picture")
    assert "token" not in driver.current_url, driver.current_url
    device = json.loads(run("return sessionStorage.getItem('studio.device')"))
    size = ask("look", {"device": device})
    run("window.lookedAt = arguments[0]", {"width": size["width"], "height": size["height"]})
    print("ok: the page shows the phone, and its address has no token")

    # A label that is HTML stays text, in every tab.
    def show_hostile(text):
        shown(text=text)
        nodes = run("return document.querySelectorAll('img, script').length")
        tab("inspect")
        find("#look").click()
        until(lambda: text in run("return document.getElementById('elements').textContent"), "the list does not show the label")
        run("for (const one of document.querySelectorAll('#views details')) if (!one.textContent.startsWith('Marked')) one.open = true")
        until(lambda: run("return document.querySelectorAll('#views pre').length") == 3, "the screen is not shown in other forms")
        assert run("return document.querySelectorAll('img, script').length") == nodes
        run("for (const one of document.querySelectorAll('#views details')) one.open = false")

    if given.hostile:
        show_hostile(given.hostile)
        print("ok: the hostile label does nothing")

    if given.answer:
        until(lambda: find("#questions").text, "no question", 60)
        assert driver.title.startswith("("), driver.title
        judge("question")
        driver.save_screenshot(str(given.folder / "question.png"))
        fields = driver.find_elements(By.CSS_SELECTOR, ".question input")
        if fields:
            fields[0].send_keys(given.answer)
            find(".question button.main").click()
        else:
            next(one for one in driver.find_elements(By.CSS_SELECTOR, ".question button") if one.text == given.answer).click()
        until(lambda: not find("#questions").text, "the question is still there")
        print("ok: a question is answered")

    if given.steer:
        banner = lambda: run("return document.getElementById('banner').textContent")
        until(lambda: "is using this phone" in banner(), "nobody uses the phone", 60)
        driver.save_screenshot(str(given.folder / "used.png"))
        find("#banner button.main").click()
        until(lambda: "Paused" in banner(), "not paused")
        judge("paused")
        find("#key-home").click()
        time.sleep(2)
        before = picture()
        time.sleep(3)
        assert picture() == before, "a paused program acts"
        find("#banner button.main").click()
        until(lambda: "Paused" not in banner(), "not handed back")
        print("ok: a program was paused, and goes on")
        # What follows needs the phone for itself.
        raise Done

    # The time from the pointer's press to a picture that differs where it pressed.
    run(
        """const canvas = document.getElementById("screen");
        const spot = Object.assign(document.createElement("canvas"), { width: 32, height: 32 }).getContext("2d", { willReadFrequently: true });
        const read = (x, y) => { spot.drawImage(canvas, x - 16, y - 16, 32, 32, 0, 0, 32, 32); return spot.getImageData(0, 0, 32, 32).data.join(); };
        let pressed = null;
        document.getElementById("stage").addEventListener("pointerdown", (event) => {
          const box = event.currentTarget.getBoundingClientRect();
          const x = (event.clientX - box.left) / box.width * canvas.width, y = (event.clientY - box.top) / box.height * canvas.height;
          pressed = { x, y, was: read(x, y), at: event.timeStamp };
        }, true);
        canvas.addEventListener("drawn", ({ detail }) => {
          window.sizes.push(detail.bytes);
          window.codec = detail.codec;
          if (pressed && read(pressed.x, pressed.y) !== pressed.was) { window.times.push(performance.now() - pressed.at); pressed = null; }
        });"""
    )

    def follow_taps(codec):
        find(f"[data-codec={codec}]").click()
        places = [center(open_notes()), None]
        until(lambda: run("return window.codec") == codec, f"no picture as {codec}")
        time.sleep(1)
        run("window.times = []; window.sizes = [];")
        for tap in range(20):
            if places[tap % 2] is None:
                upper = [one for one in elements() if one["visible"] and "clickable" in one["flags"] and one["bounds"][3] < size["height"] // 6]
                places[1] = center(min(upper, key=lambda one: one["bounds"][0]))
            click_at(places[tap % 2])
            until(lambda: run("return window.times.length") == tap + 1, f"the picture did not follow tap {tap + 1}")
            # The next tap is on a screen at rest.
            time.sleep(0.15)
        times, sizes = run("return [window.times, window.sizes]")
        print(
            f"ok: the picture follows a tap: median {statistics.median(times):.0f} ms, most {max(times):.0f} ms, least {min(times):.0f} ms; "
            f"{codec}: {len(sizes)} pictures, {sum(sizes) // 1024} KB"
        )

    run("window.sizes = []; window.times = [];")
    follow_taps("jpeg")
    follow_taps("h264")

    # H.264 has the shape of the screen, also for one who joins; without a decoder there are JPEGs.
    is_wide = lambda: run("const { width, height } = document.getElementById('screen'); return width > height")
    act({"set_orientation": "landscape"})
    until(is_wide, "the video is not turned")
    act({"set_orientation": "portrait"})
    until(lambda: not is_wide(), "the video is not turned back")
    driver.switch_to.new_window("tab")
    driver.get(given.url)
    run("sessionStorage.setItem('studio.codec', '\"h264\"')")
    driver.refresh()
    until(lambda: "H.264" in find("#figures").text, "no video in a second page")
    assert "not H.264" not in find("#figures").text, find("#figures").text
    driver.close()
    driver.switch_to.window(driver.window_handles[0])
    until(lambda: "H.264" in find("#figures").text and "not H.264" not in find("#figures").text, "the first page has lost its video")
    run("VideoDecoder.isConfigSupported = async () => ({ supported: false })")
    find("[data-codec=h264]").click()
    until(lambda: "JPEG, not H.264: the browser cannot decode it" in find("#figures").text, "no JPEGs instead of video")
    find("[data-codec=jpeg]").click()
    until(lambda: find("#figures").text.endswith("JPEG"), "no JPEGs")
    print("ok: H.264 follows the screen's shape and new viewers, and JPEGs take its place")

    # A drag turns to the second page of the home screen.
    act({"press": "HOME"})
    shown(description="Home screen 1 of 2")
    chain = pointer_at((size["width"] * 4 // 5, size["height"] // 3)).click_and_hold()
    chain.move_by_offset(-60, 0).move_by_offset(-80, 0).release().perform()
    shown(description="Home screen 2 of 2")
    print("ok: a drag turns the page")

    # Typing, with characters that no key has.
    open_notes()
    click_at(center(shown(name="New note")))
    click_at(center(shown(id="editable_title")))
    driver.switch_to.active_element.send_keys(UNICODE)
    shown(text=UNICODE)
    print("ok: typing", UNICODE)

    # The inspector, by the pointer on the picture.
    find("#mode-inspect").click()
    until(lambda: run("return document.querySelectorAll('#elements [data-index]').length") > 3, "no elements")
    title = shown(text=UNICODE)
    find("#look").click()
    until(lambda: UNICODE in find("#elements").text, "the list has no such element")
    click_at(center(title))
    until(lambda: UNICODE in find("#details .chosen").text, "the element was not chosen")
    until(lambda: run("return document.querySelectorAll('#details .addresses li').length") > 1, "no addresses")
    ways = [one.text.replace("\n", " | ") for one in driver.find_elements(By.CSS_SELECTOR, "#details .addresses li")]
    find("#selector").send_keys(UNICODE)
    find("#try button").click()
    until(lambda: "match" in find("#tried").text, "the selector was not tried")
    assert find("#tried").text.startswith("One"), find("#tried").text
    judge("inspect")
    find("#mode-touch").click()
    print("ok: inspect:", ways[0])

    act({"press": "back"})
    act({"press": "back"})
    open_notes()
    click_at(center(shown(name="New note")))
    click_at(center(shown(id="editable_title")))
    driver.switch_to.active_element.send_keys(HOSTILE)
    show_hostile(HOSTILE)
    tab("inspect")
    find("#look").click()
    until(lambda: HOSTILE in find("#elements").text, "the list does not show what was typed")
    print("ok: labels that are HTML and script do nothing")

    # A recording of six steps, with a reload in its midst.
    open_notes()
    tab("record")
    find("#record").click()
    until(lambda: find("#record").text == "Stop", "no recording")
    click_at(center(shown(name="New note")))
    click_at(center(shown(id="editable_title")))
    driver.switch_to.active_element.send_keys("Milk")
    shown(text="Milk")
    until(lambda: "Milk" in find("#flow").get_attribute("value"), "the step does not appear")
    before = find("#flow").get_attribute("value")
    driver.refresh()
    until(lambda: run("return document.getElementById('stage').classList.contains('on')"), "no picture after the reload")
    until(lambda: find("#record").text == "Stop", "the recording did not outlive the reload")
    assert find("#panel-record").is_displayed(), "the tab did not outlive the reload"
    assert find("#flow").get_attribute("value") == before, find("#flow").get_attribute("value")
    run("window.lookedAt = arguments[0]", {"width": size["width"], "height": size["height"]})
    print("ok: a reload keeps phone, tab, recording and text")
    click_at(center(shown(text="Milk")))
    find("#key-back").click()
    find("#key-back").click()
    there = shown(name="Milk")
    find("#check").click()
    until(lambda: "elements" in find("#looked").get_attribute("textContent"), "no look")
    time.sleep(0.7)
    click_at(center(there))
    until(lambda: "assertVisible" in find("#flow").get_attribute("value"), "the check is not recorded")
    find("#record").click()
    until(lambda: find("#record").text == "Record", "the recording goes on")
    flow = find("#flow").get_attribute("value")
    count = sum(line.startswith("- ") for line in flow.splitlines())
    assert count >= 6, flow
    (given.folder / "recorded.yaml").write_text(flow)
    until(lambda: run("return document.querySelectorAll('#steps li').length") == count, "the steps are not listed")
    judge("record")
    print(f"ok: a flow of {count} steps recorded:", json.dumps(flow))

    # The recording as a skill, in words of the person's own.
    driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "deny"})
    run(
        """window.saved = [];
        const address = URL.createObjectURL;
        URL.createObjectURL = (file) => { file.text().then((text) => window.saved.push(text)); return address.call(URL, file); };"""
    )
    run("document.getElementById('save-skill').click()")
    find("#goal").send_keys('Add a note with the title "Milk"')
    find("#skill button").click()
    skill = until(lambda: run("return window.saved[0]"), "no skill")
    assert 'the title "{TITLE}"' in skill, skill
    (given.folder / "skill.yaml").write_text(skill)
    judge("skill")
    print("ok: the recording is saved as a skill")

    # Suites of one name, each with its report.
    for day, verdicts in ((1, ["passed", "failed", "passed"]), (2, ["passed", "passed", "flaky"])):
        runs = [{"name": "a case", "verdict": verdict, "duration_ms": 5, "attempts": []} for verdict in verdicts]
        suite = {"version": 1, "title": HOSTILE, "started": f"2026-01-0{day}T00:00:00Z", "duration_ms": 9, "phones": [], "runs": runs}
        place = given.folder / f"logs/flows-{day}"
        place.mkdir(parents=True)
        (place / "suite.json").write_text(json.dumps(suite))
    tab("runs")
    find("#runs-reload").click()
    until(lambda: "3 of 3 passed" in find("#suites-list").text, "no suite")
    find("#suites-list summary").click()
    assert len(driver.find_elements(By.CSS_SELECTOR, "#suites-list rect")) == 4
    cells = [cell.text for cell in driver.find_elements(By.CSS_SELECTOR, "#suites-list tbody td")]
    assert cells == ["2026-01-02T00:00:00Z", "2", "1", "0", "0", "2026-01-01T00:00:00Z", "2", "0", "1", "0"], cells
    find("#suites-list tbody button").click()
    until(lambda: driver.find_elements(By.CSS_SELECTOR, "iframe.report"), "no report of the suite")
    driver.switch_to.frame(find("iframe.report"))
    until(lambda: "a case" in find("body").text, "the report is not that of the suite")
    driver.switch_to.default_content()
    find("#opened-close").click()
    print("ok: suites over time lead to their reports")

    # Every tab at both sizes, light and dark.
    for colors in ("light", "dark"):
        scheme(colors)
        for width, height in ((1280, 800), (390, 844)):
            driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500})
            for name in ("inspect", "record", "activity", "runs"):
                tab(name)
                time.sleep(0.4)
                judge((colors, width, name))
                assert run("return document.documentElement.scrollWidth") <= width, (width, name)
                driver.save_screenshot(str(given.folder / f"{name}-{width}-{colors}.png"))
    print("ok: pictures of every tab" + (", axe has no findings" if given.axe else ""))

    own = urllib.parse.urlsplit(given.url)._replace(path="/", query="", fragment="").geturl()
    check_logs(driver, [own, "blob:", "data:", "about:"])
    print("ok: the browser has no complaint, and asked no other server")
except Done:
    pass
except BaseException:
    driver.save_screenshot(str(given.folder / "failed.png"))
    raise
finally:
    driver.quit()
