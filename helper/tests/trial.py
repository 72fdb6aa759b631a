#!/usr/bin/env python3
"""Runs every operation on a phone, checks what it did by other means, and measures it beside the shell's commands.

    trial.py SERIAL [--quick]

It types into a message that is never sent, changes the clipboard, and leaves neither file nor process behind. Not for a phone in
use: it assumes Android 4.4's Messaging and a launcher.
"""
import re, socket, statistics, subprocess, sys, time
import xml.etree.ElementTree as ElementTree

import drive
from drive import Failed, Helper, adb

SERIAL = sys.argv[1]
TIMES = 3 if "--quick" in sys.argv else 10
failed = []


def shell(command, timeout=60):
    return adb(SERIAL, "shell", command, timeout=timeout).decode(errors="replace").replace("\r", "")


def check(what, passed, shown=""):
    print(f"{'ok    ' if passed else 'FAILED'} {what} {shown}", flush=True)
    if not passed:
        failed.append(what)


def fails(code, ask):
    try:
        return False, f"it answered {ask()[0]}"
    except Failed as why:
        return why.code == code, str(why)


def times(what, act, number=TIMES, before=lambda: None):
    took = []
    for _ in range(number):
        before()
        began = time.monotonic()
        act()
        took.append((time.monotonic() - began) * 1000)
    print(f"time   {what}: median {statistics.median(took):.0f} ms of {number} ({min(took):.0f} to {max(took):.0f})", flush=True)
    return statistics.median(took)


def nodes(body):
    return list(ElementTree.fromstring(body).iter("node"))


def center(node):
    left, top, right, bottom = map(int, re.findall(r"-?\d+", node.get("bounds")))
    return (left + right) // 2, (top + bottom) // 2


def find(body, **attributes):
    for number, node in enumerate(nodes(body)):
        if all(node.get(name.replace("_", "-")) == value for name, value in attributes.items()):
            return number, node
    raise LookupError(str(attributes))


def main():
    drive.push(SERIAL)
    helper = Helper(SERIAL)
    print(f"started in {helper.started:.2f} s, greeted at {helper.greeted:.2f} s: {helper.hello['variants']}")
    times("cancel", lambda: helper.do("cancel"))

    # The tree, beside uiautomator's.
    shell("input keyevent 4; input keyevent 4; am force-stop com.android.calculator2; am start -W -n com.android.calculator2/.Calculator")
    helper.still(500, 8000)
    _, ours = helper.do("tree")
    helper.do("release")
    theirs = shell("uiautomator dump /dev/tty")
    theirs = theirs[theirs.index("<?xml"):theirs.index("</hierarchy>") + len("</hierarchy>")]
    plain = lambda text: [(node.tag, {k: v for k, v in node.attrib.items() if k != "NAF"}) for node in ElementTree.fromstring(text).iter()]
    check("the tree equals uiautomator's", plain(ours) == plain(theirs), f"{len(nodes(ours))} nodes")
    fast = times("tree", lambda: helper.do("tree"))
    reports = [["power"], ["window", "-a"]]
    times("tree with the power and window reports", lambda: helper.do("tree", reports=reports))
    times("tree with a new connection", lambda: (helper.do("release"), helper.do("tree")))
    helper.do("release")
    slow = times("uiautomator dump", lambda: shell("uiautomator dump /dev/tty"))
    print(f"ratio  tree: {slow / fast:.0f}")
    watch = helper.ask("events")
    helper.wait(watch)
    check("uiautomator runs while we watch the screen", "</hierarchy>" in shell("uiautomator dump /dev/tty"))
    check("and we watch it again", helper.do("tree")[0]["nodes"] > 0)
    helper.do("cancel", of=watch)
    helper.do("release")
    check("uiautomator runs after release", "</hierarchy>" in shell("uiautomator dump /dev/tty"))
    other = Helper(SERIAL)
    for turn in range(TIMES):
        (helper if turn % 2 else other).do("tree", idle_ms=200, limit_ms=3500)
        check(f"uiautomator runs after a tree, turn {turn}", "</hierarchy>" in shell("uiautomator dump /dev/tty"))
    other.do("bye")
    check("another host leaves us alone", helper.do("front")[0]["on"] is True, helper.do("front")[0])
    times("front", lambda: helper.do("front"))
    turned = lambda: shell("settings get system accelerometer_rotation").strip()
    before = turned()
    helper.do("tree")
    shell(f"settings put system accelerometer_rotation {1 - int(before)}")
    helper.do("release")
    check("the rotation stays as it was set", turned() == str(1 - int(before)))
    shell(f"settings put system accelerometer_rotation {before}")
    _, ours = helper.do("tree", compressed=True)
    theirs = shell("uiautomator dump --compressed /dev/tty")
    theirs = theirs[theirs.index("<?xml"):theirs.index("</hierarchy>") + len("</hierarchy>")]
    check("the compressed tree has uiautomator's bytes", ours.decode() == theirs, f"{len(nodes(ours))} nodes")

    # Touch, on the calculator.
    display = lambda body: [n.get("text") for n in nodes(body) if n.get("class") == "android.widget.EditText"][0]
    look = lambda: helper.do("tree")
    _, body = look()
    _, seven = find(body, resource_id="com.android.calculator2:id/digit7")
    x, y = center(seven)
    before = display(body)
    helper.do("tap", x=x, y=y)
    helper.still(400, 4000)
    _, body = look()
    check("tap", display(body) == before + "7", repr(display(body)))
    fast = times("tap", lambda: helper.do("tap", x=x, y=y))
    slow = times("input tap", lambda: shell(f"input tap {x} {y}"))
    print(f"ratio  tap: {slow / fast:.0f}")

    # With `settings put system pointer_location 1`, Android shows "P: 2 / 2" for it.
    fingers = [[[0, 200, 400], [200, 60, 400]], [[0, 280, 400], [200, 420, 400]]]
    times("pinch of 200 ms", lambda: helper.do("touch", fingers=fingers))
    times("swipe of 200 ms", lambda: helper.do("swipe", x1=400, y1=600, x2=80, y2=600, duration_ms=200))
    check("a gesture can be cancelled", *cancelled(helper, "swipe", x1=100, y1=300, x2=101, y2=300, duration_ms=20000))

    # Keys and text.
    shell("am start -W -a android.intent.action.SENDTO -d sms:5550100")
    helper.still(700, 10000)
    field = lambda: [n.get("text") for n in nodes(look()[1]) if n.get("class") == "android.widget.EditText" and n.get("focused") == "true"]
    print("       fields with the focus:", field())
    helper.do("clip_set", text="kept é😀")
    header, _ = helper.do("text", text="é漢字😀 ❤️", replace=True)
    check("text by paste", header["found"] == "é漢字😀 ❤️" and header["complete"], header)
    check("the tree has it", field() == ["é漢字😀 ❤️"], field())
    helper.do("release")
    dump = shell("uiautomator dump /dev/tty")
    print("       uiautomator dump on this screen:", repr(dump[:120]))
    check("the clipboard is restored", helper.do("clip_get")[0]["text"] == "kept é😀")
    header, _ = helper.do("text", text=" more")
    check("text is added", header["found"] == "é漢字😀 ❤️ more", header)
    header, _ = helper.do("text", text="x" * 1200, replace=True)
    check("a long text", header["found"] == "x" * 1200, header["method"])
    header, _ = helper.do("text", text="", replace=True)
    check("a field is cleared", header["found"] in ("", "Type message"), header)
    header, _ = helper.do("text", text="ok")
    check("a short text", header["found"] == "ok", header)
    helper.do("key", code=67, times=2)
    helper.still(100, 2000)
    check("key", field() in (["Type message"], [""]), field())
    fast = times("text, 12 characters by paste", lambda: helper.do("text", text="hello world!", replace=True))
    # The helper ends after a minute in which nothing was asked.
    awake = lambda: helper.do("cancel")
    slow = times("input text, 12 characters", lambda: shell("input text hello%sworld!"), before=awake)
    print(f"ratio  text: {slow / fast:.1f}")
    helper.do("text", text="", replace=True)
    times("clip_set", lambda: helper.do("clip_set", text="né😀"))
    times("clip_get", lambda: helper.do("clip_get"))
    shell("input keyevent 4; input keyevent 4; input keyevent 4")

    # Waiting and events.
    helper.still(500, 8000)
    watch = helper.ask("events")
    check("events begin", helper.wait(watch)[0].get("listening") is True)
    shell("am start -n com.android.deskclock/.DeskClock")
    event = helper.wait(watch)[0]
    check("an event of the screen", event["event"] in ("window", "content"), event["event"])
    check("events end", *fails("cancelled", lambda: (helper.do("cancel", of=watch), drain(helper, watch))))

    # Pictures, apps.
    header, body = helper.do("shot", quality=70, max_side=400)
    check("a scaled JPEG", body[:2] == b"\xff\xd8" and header["height"] == 400 and header["width"] == 240, (header, len(body)))
    times("shot, JPEG 240x400", lambda: helper.do("shot", quality=70, max_side=400))
    times("screencap -p", lambda: shell("screencap -p"))
    header, _ = helper.do("apps")
    names = {app["package"]: app["label"] for app in header["apps"]}
    check("apps", names.get("com.android.calculator2") == "Calculator", f"{len(names)} apps")
    times("apps", lambda: helper.do("apps"))
    check("a service that is not there", *fails("not_found", lambda: helper.do("call_service", component="no.such/.Svc", extras=[["a", "b"]], callbacks=["c"])))

    # The wire.
    check("an unknown op", *fails("unsupported", lambda: helper.do("fly")))
    check("a field of a wrong type", *fails("malformed", lambda: helper.do("tap", x="1", y=2)))
    many = [helper.ask("cancel") for _ in range(200)]
    for number in many:
        helper.wait(number)
    helper.end()
    check("no process is left", gone())

    helper = Helper(SERIAL)
    helper.do("tree")
    kill(helper)
    check("it outlives its adb shell", helper.do("tree")[0]["nodes"] > 0)
    leave(helper)
    check("uiautomator runs when the connection is closed", "</hierarchy>" in shell("uiautomator dump /dev/tty"))
    check("no process is left some time later", gone())
    shell(f"rm {drive.PLACE} /data/local/tmp/{helper.name}.key")
    print("failed:", failed or "nothing")
    return 1 if failed else 0


def kill(helper):
    helper.process.kill()
    helper.process.wait()


def leave(helper):
    # Closing alone sends nothing while the other thread reads.
    helper.socket.shutdown(socket.SHUT_RDWR)


def gone():
    """Whether no helper runs within 20 s."""
    for _ in range(40):
        if "app_process" not in shell("ps"):
            return True
        time.sleep(0.5)
    return False


def cancelled(helper, op, **fields):
    number = helper.ask(op, **fields)
    time.sleep(0.3)
    helper.do("cancel", of=number)
    return fails("cancelled", lambda: helper.wait(number))


def drain(helper, number):
    while True:
        helper.wait(number, 5)


if __name__ == "__main__":
    sys.exit(main())
