"""adbutils drives a phone: `adbutils_drives.py ADDRESS all|core RELEASE APKS`. Asserts what it says; a line `phone: …` asks the phone's owner."""

import io
import pathlib
import re
import stat
import sys
import threading
import time

import adbutils
from adbutils import AdbError, Network

address, mode, release, apks = sys.argv[1:]
old = release == "4.4"
sdk = {"4.4": 19, "9": 28, "11": 30, "13": 33, "14": 34, "16": 36}[release]
here = pathlib.Path.cwd()


def owner(wish):
    print("phone:", wish, flush=True)
    return sys.stdin.readline().strip()


def until(what, is_so, limit=30):
    end = time.monotonic() + limit
    while not is_so():
        assert time.monotonic() < end, what
        time.sleep(0.05)


def core(d):
    assert d.get_state() == "device"
    assert d.get_serialno() == address
    assert d.shell("echo 'a  b'") == "a  b"
    assert d.shell(["echo", "it's $HOME", "a  b"]) == "it's $HOME a  b"
    ran = d.shell2("echo out; sh -c 'exit 3'", rstrip=True)
    assert (ran.returncode, ran.output) == (3, "out"), ran
    assert d.getprop("ro.build.version.sdk") == str(sdk)
    assert d.prop.device == ("vpold" if sdk < 21 else "vp"), d.prop.device
    picture = d.screenshot()
    # An old terminal corrupts the image in transit; adbutils then returns a black one.
    assert picture.size == tuple(d.window_size()) and (len(picture.getcolors(1 << 24)) > 5) != old
    dump = d.dump_hierarchy()
    assert dump.startswith("<?xml") and dump.rstrip().endswith("</hierarchy>")
    assert d.rotation() == 0
    assert d.is_screen_on()
    assert d.app_current().package == "com.android.launcher3"
    packages = d.list_packages()
    assert packages == sorted(packages) and "com.android.settings" in packages
    # An old phone has no hardware keys, so its monkey refuses to start anything.
    d.app_start("com.android.settings", ".Settings" if old else None)
    assert d.app_current().package == "com.android.settings"
    node = re.search(r'text="([^"]+)"[^>]*resource-id="android:id/title"[^>]*bounds="\[(\d+),(\d+)\]\[(\d+),(\d+)\]"', d.dump_hierarchy())
    assert node, d.dump_hierarchy()[:2000]
    left, top, right, bottom = map(int, node.groups()[1:])
    before = d.dump_hierarchy()
    d.click((left + right) / 2, (top + bottom) / 2)
    assert d.dump_hierarchy() != before
    d.keyevent("BACK")
    assert d.dump_hierarchy() == before
    d.app_stop("com.android.settings")
    assert d.app_current().package == "com.android.launcher3"
    info = d.app_info("com.android.settings")
    assert info.package_name == "com.android.settings" and info.version_code > 0 and info.path.endswith(".apk")
    assert d.app_info("no.such.app") is None

    data = bytes(range(256)) * 4000
    assert d.sync.push(io.BytesIO(data), "/sdcard/Download/data", 0o644, check=True) == len(data)
    assert d.sync.read_bytes("/sdcard/Download/data") == data
    told = d.sync.stat("/sdcard/Download/data")
    assert stat.S_ISREG(told.mode) and told.size == len(data) and told.mtime is not None, told
    assert d.sync.exists("/sdcard/Download") and not d.sync.exists("/sdcard/nowhere")
    assert "data" in [entry.path for entry in d.sync.list("/sdcard/Download")]
    d.remove("/sdcard/Download/data")
    assert not d.sync.exists("/sdcard/Download/data")
    try:
        d.sync.read_bytes("/sdcard/nowhere")
        raise AssertionError("read what is not there")
    except AdbError as error:
        assert "No such file or directory" in str(error), error


def shells(d):
    ran = d.shell2("echo out; echo err >&2; exit 7", v2=True)
    assert (ran.returncode, ran.stdout, ran.stderr) == (7, "out\n", "err\n"), ran
    assert "shell_v2" in d.get_features().split(",")
    assert d.root() == "adbd cannot run as root in production builds\n"
    assert d.get_devpath() == "unknown"
    with d.open_shell("cat") as stream:
        stream.send(b"there and back\n")
        assert stream.read(15) == b"there and back\n"
    try:
        d.shell("sleep 1; cat", timeout=0.5)
        raise AssertionError("cat ended by itself")
    except adbutils.AdbTimeout:
        pass


def screen(d):
    width, height = d.window_size()
    assert (width, height) == (1080, 2400)
    assert d.screenshot(display_id=0).size == (1080, 2400)
    d.shell("settings put system accelerometer_rotation 0")
    d.shell("settings put system user_rotation 1")
    assert d.rotation() == 1 and tuple(d.window_size()) == (2400, 1080)
    assert d.screenshot().size == (2400, 1080)
    d.shell("settings put system user_rotation 0")
    d.switch_screen(False)
    assert not d.is_screen_on()
    d.switch_screen(True)
    assert d.is_screen_on()
    d.brightness_value = 200
    assert d.brightness_value == 200
    d.brightness_mode = adbutils.BrightnessMode.AUTO
    assert d.brightness_mode == adbutils.BrightnessMode.AUTO
    d.switch_wifi(False)
    assert d.shell("settings get global wifi_on") == "0"
    try:
        address = d.wlan_ip()
        raise AssertionError(f"{address} without Wi-Fi")
    except AdbError:
        pass
    d.switch_wifi(True)
    assert d.shell("settings get global wifi_on") == "1"
    assert re.fullmatch(r"\d+\.\d+\.\d+\.\d+", d.wlan_ip())
    d.switch_airplane(True)
    assert d.shell("settings get global airplane_mode_on") == "1"
    d.switch_airplane(False)
    d.volume_up()
    d.volume_down()
    d.volume_mute()
    battery = d.battery()
    assert battery.present and 0 < battery.level <= 100 and battery.technology == "Li-ion", battery
    picture = d.framebuffer()
    assert picture.size == (1080, 2400)
    assert picture.convert("RGB").tobytes() == d.screenshot().tobytes()


def hands(d):
    d.app_start("com.google.android.contacts")
    top = d.dump_hierarchy()
    d.swipe(540, 1800, 540, 600, 0.4)
    assert d.dump_hierarchy() != top
    d.swipe(0.5, 0.3, 0.5, 0.9, 0.4)
    d.drag(0.5, 0.5, 0.5, 0.6, 0.5)
    d.keyevent("HOME")
    d.open_browser("example.org")
    assert d.app_current().package == "com.android.chrome"
    found = re.search(r'class="android.widget.EditText"[^>]*bounds="\[(\d+),(\d+)\]\[(\d+),(\d+)\]"', d.dump_hierarchy())
    left, top, right, bottom = map(int, found.groups())
    d.click((left + right) // 2, (top + bottom) // 2)
    d.shell("input keycombination 113 29")
    d.keyevent("DEL")
    d.send_keys("it's a b & $HOME")
    assert "it&apos;s a b &amp; $HOME" in d.dump_hierarchy().replace("'", "&apos;"), d.dump_hierarchy()
    d.app_clear("com.android.chrome")
    d.keyevent("HOME")


def files(d):
    tree = here / "sent"
    (tree / "with space" / "empty").mkdir(parents=True)
    (tree / "with space" / "日本 😀.txt").write_text("unicode")
    for path in ["with space/日本 😀.txt"]:
        d.sync.push(tree / path, f"/data/local/tmp/tree/{path}")
    d.shell(["mkdir", "-p", "/data/local/tmp/tree/with space/empty"])
    size = d.sync.pull("/data/local/tmp/tree", here / "back")
    assert size == 7, size
    assert (here / "back/with space/日本 😀.txt").read_text() == "unicode"
    assert (here / "back/with space/empty").is_dir()
    assert d.sync.read_text("/data/local/tmp/tree/with space/日本 😀.txt") == "unicode"
    d.rmtree("/data/local/tmp/tree")
    assert not d.sync.exists("/data/local/tmp/tree")


def ways(d):
    owner("echo localabstract:echo")
    port = d.forward_port("localabstract:echo")
    assert [(item.local, item.remote) for item in d.forward_list()] == [(f"tcp:{port}", "localabstract:echo")]
    import socket
    with socket.create_connection(("127.0.0.1", port)) as near:
        near.sendall(b"over the forward")
        assert near.recv(100) == b"over the forward"
    d.forward_remove(f"tcp:{port}")
    assert d.forward_list() == []
    with d.create_connection(Network.LOCAL_ABSTRACT, "echo") as near:
        near.sendall(b"straight")
        assert near.recv(100) == b"straight"
    listener = socket.create_server(("127.0.0.1", 0))

    def echo():
        stream, _ = listener.accept()
        stream.sendall(stream.recv(4))
        stream.close()

    thread = threading.Thread(target=echo)
    thread.start()
    near = f"tcp:{listener.getsockname()[1]}"
    d.reverse("tcp:8081", near)
    assert [(item.remote, item.local) for item in d.reverse_list()] == [("tcp:8081", near)]
    assert owner("call tcp:8081") == "ping"
    thread.join()
    d.reverse_remove("tcp:8081")
    assert d.reverse_list() == []


def logs(d):
    stopping = d.logcat(here / "log.txt", clear=True, re_filter="Mark")
    d.shell(["log", "-t", "Mark", "hello log"])
    until("the line in the log", lambda: "hello log" in (here / "log.txt").read_text())
    # It waits for another line before it notices that it should stop.
    threading.Timer(0.2, lambda: d.shell(["log", "-t", "Mark", "last"])).start()
    stopping.stop()


def recordings(d):
    d.start_recording(str(here / "screen.mp4"))
    assert d.is_recording()
    until("the recording", lambda: d.shell("pidof screenrecord"))
    d.keyevent("HOME")
    time.sleep(1)
    d.stop_recording()
    recorded = (here / "screen.mp4").read_bytes()
    assert recorded[4:8] == b"ftyp" and b"moov" in recorded, len(recorded)
    assert d.shell("pidof screenrecord") == ""


def comings_and_goings(d, adb):
    events = adb.track_devices()
    first = next(events)
    assert (first.present, first.serial, first.status) == (True, address, "device"), first
    d.reboot()
    owner("gone")
    while next(events).status == "device":
        pass
    owner("plug")
    for _ in range(50):
        adb.disconnect(address)
        if adb.connect(address).startswith("connected"):
            break
    adb.wait_for(address)
    assert d.shell("echo back") == "back"
    assert [device.serial for device in adb.device_list()] == [address]
    listed = adb.list(extended=True)[0]
    assert listed.tags["model"] == "Virtual_Pixel" and listed.transport_id, listed


def installs(d, apks):
    apk = pathlib.Path(apks) / "hello-1.apk"
    d.install(str(apk), silent=True)
    package = "org.example.hello"
    info = d.app_info(package)
    assert info.version_name == "1.0" and info.version_code == 1, info
    assert d.list_packages(["-3", package]) == [package]
    assert d.sync.read_bytes(info.path) == apk.read_bytes()
    d.app_start(package)
    assert d.app_current().package == package
    assert d.uninstall(package) == "Success"
    assert d.app_info(package) is None
    try:
        d.install(str(pathlib.Path(apks) / "hello-1-unsigned.apk"), silent=True)
        raise AssertionError("installed what nobody signed")
    except adbutils.AdbInstallError as error:
        assert error.reason == "INSTALL_PARSE_FAILED_NO_CERTIFICATES", error.reason


adb = adbutils.AdbClient()
d = adb.device(address)
core(d)
if mode == "all":
    for part in (shells, screen, hands, files, ways, logs, recordings):
        print(part.__name__, flush=True)
        part(d)
    installs(d, apks)
    comings_and_goings(d, adb)
