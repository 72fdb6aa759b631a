#!/usr/bin/env python3
"""Times the helper's operations and the shell's commands in turns, so that both meet the same load.

    measure.py SERIAL [ROUNDS]

For Android 4.4 with its Calculator and Messaging. The message is not sent; the screen's state at the start does not matter.
"""
import statistics, sys, time

import drive
from drive import Helper, adb

SERIAL, ROUNDS = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 10
shell = lambda command: adb(SERIAL, "shell", command, timeout=120)


def in_turns(what, helper, *acts):
    """Each act is a name, a function, and what comes before it untimed."""
    took = [[] for _ in acts]
    for _ in range(ROUNDS):
        for times, (_, act, before) in zip(took, acts):
            before()
            began = time.monotonic()
            act()
            times.append((time.monotonic() - began) * 1000)
    for (name, _, _), times in zip(acts, took):
        ratio = statistics.median(times) / statistics.median(took[0])
        print(f"{what:10} {name:38} median {statistics.median(times):7.0f} ms ({min(times):.0f} to {max(times):.0f}), {ratio:.1f} times", flush=True)


def main():
    drive.push(SERIAL)
    with Helper(SERIAL) as helper:
        nothing, free, ready = lambda: None, lambda: helper.do("release"), lambda: helper.do("tree")
        print(f"started in {helper.started:.2f} s")
        in_turns("cancel", helper, ("cancel", lambda: helper.do("cancel"), nothing))
        shell("am force-stop com.android.calculator2; am start -W -n com.android.calculator2/.Calculator")
        helper.still(500, 10000)
        reports = [["power"], ["window", "-a"]]
        in_turns("look", helper, ("tree", lambda: helper.do("tree", deflate=True), ready), ("tree, not compressed", lambda: helper.do("tree"), ready), ("tree, newly connected", lambda: helper.do("tree"), free),
                 ("tree and reports of windows", lambda: helper.do("tree", reports=reports), ready),
                 ("uiautomator dump", lambda: shell("uiautomator dump /dev/tty"), free),
                 ("uiautomator dump and dumpsys of windows", lambda: shell("uiautomator dump /dev/tty; dumpsys power; dumpsys window -a"), free))
        in_turns("tap", helper, ("tap", lambda: helper.do("tap", x=60, y=330), nothing), ("input tap", lambda: shell("input tap 60 330"), nothing))
        fingers = [[[0, 200, 700], [200, 60, 700]], [[0, 280, 700], [200, 420, 700]]]
        in_turns("gesture", helper, ("pinch of 200 ms", lambda: helper.do("touch", fingers=fingers), nothing),
                 ("swipe of 200 ms", lambda: helper.do("swipe", x1=400, y1=700, x2=80, y2=700, duration_ms=200), nothing),
                 ("input swipe, 200 ms", lambda: shell("input swipe 400 700 80 700 200"), nothing))
        shell("am start -W -a android.intent.action.SENDTO -d sms:5550100")
        helper.still(700, 10000)
        clear = lambda: helper.do("text", text="", replace=True)
        in_turns("text", helper, ("paste, 12 characters, read back", lambda: helper.do("text", text="hello world!"), clear),
                 ("paste, 6 with an emoji, read back", lambda: helper.do("text", text="é漢字😀!?"), clear),
                 ("input text, 12 characters", lambda: shell("input text hello%sworld!"), clear))
        clear()
        in_turns("clipboard", helper, ("clip_get", lambda: helper.do("clip_get"), nothing), ("clip_set", lambda: helper.do("clip_set", text="né😀"), nothing))
        in_turns("picture", helper, ("shot, JPEG 240x400", lambda: helper.do("shot", quality=70, max_side=400), nothing),
                 ("screencap -p", lambda: shell("screencap -p"), nothing))
        in_turns("apps", helper, ("apps", lambda: helper.do("apps"), nothing))
        shell("input keyevent 4; input keyevent 4")


if __name__ == "__main__":
    main()
