"""adb-shell drives a phone without any adb: `adb_shell_drives.py ADDRESS all|core RELEASE APKS`. Asserts what it says; a line `phone: …` asks
the phone's owner."""

import io
import os
import pathlib
import stat
import sys

from adb_shell.adb_device import AdbDeviceTcp
from adb_shell.auth.keygen import keygen
from adb_shell.auth.sign_cryptography import CryptographySigner
from adb_shell.auth.sign_pythonrsa import PythonRSASigner
from adb_shell.exceptions import AdbCommandFailureException, DeviceAuthError, PushFailedError

address, mode, release, _ = sys.argv[1:]
old = release == "4.4"
host, port = address.split(":")
here = pathlib.Path.cwd()


def owner(wish):
    print("phone:", wish, flush=True)
    return sys.stdin.readline().strip()


def lines(text):
    """A shell of old is a terminal."""
    return text.replace("\r\n", "\n") if old else text


def core(d):
    assert lines(d.shell("echo 'a  b'; echo err >&2")) == "a  b\nerr\n"
    assert d.shell("getprop ro.build.version.sdk").strip() == {"4.4": "19", "9": "28", "14": "34", "16": "36"}[release]
    assert b"".join(d.streaming_shell("cat /proc/meminfo", decode=False)) == d.shell("cat /proc/meminfo", decode=False)
    big = d.shell("cat /dev/zero | head -c 300000" if not old else "dd if=/dev/zero bs=1000 count=300 2>/dev/null", decode=False)
    assert old or big == bytes(300000)

    data = bytes(range(256)) * 4000
    seen = []
    (here / "data").write_bytes(data)
    d.push(str(here / "data"), "/data/local/tmp/data", st_mode=stat.S_IFREG | 0o644, mtime=981173106, progress_callback=lambda path, sent, total: seen.append((sent, total)))
    assert {total for _, total in seen} == {len(data)} and sum(sent for sent, _ in seen) == len(data), seen[-3:]
    # adbd gives everyone the owner's permissions.
    assert d.stat("/data/local/tmp/data") == (stat.S_IFREG | 0o666, len(data), 981173106), d.stat("/data/local/tmp/data")
    back = io.BytesIO()
    d.pull("/data/local/tmp/data", back)
    assert back.getvalue() == data
    listed = {bytes(entry.filename): entry for entry in d.list("/data/local/tmp")}
    assert listed[b"data"].size == len(data) and listed[b"data"].mtime == 981173106, listed
    assert d.stat("/nowhere") == (0, 0, 0)
    try:
        d.pull("/nowhere", io.BytesIO())
        raise AssertionError("pulled what is not there")
    except AdbCommandFailureException as error:
        assert "No such file or directory" in str(error), error
    try:
        d.push(io.BytesIO(b"x"), "/system/x")
        raise AssertionError("pushed where nobody may write")
    except PushFailedError as error:
        assert "Read-only file system" in str(error), error


def rest(d):
    png = d.exec_out("screencap -p", decode=False)
    d.shell("screencap -p /data/local/tmp/s.png")
    kept = io.BytesIO()
    d.pull("/data/local/tmp/s.png", kept)
    assert png == kept.getvalue() and png.startswith(b"\x89PNG\r\n\x1a\n")
    # adb-shell 0.4.4 finds a folder's files only from within it, and no subfolders.
    sent = here / "tree"
    sent.mkdir()
    (sent / "日本.txt").write_text("unicode")
    (sent / "top").write_text("top")
    os.chdir(sent)
    d.push(str(sent), "/data/local/tmp/tree")
    assert d.shell("cat /data/local/tmp/tree/top '/data/local/tmp/tree/日本.txt'") == "topunicode"
    following = d.streaming_shell("logcat -v brief -s Mark")
    d2 = AdbDeviceTcp(host, int(port))
    d2.connect()
    d2.shell("log -t Mark hello")
    d2.close()
    assert any("hello" in line for line in following)
    assert d.available
    d.close()


def doors(key):
    """A phone in the shops lets a host in once its owner agreed; then the key is known."""
    owner("guard")
    keygen(str(key))
    signer = PythonRSASigner.FromRSAKeyPath(str(key))
    stranger = AdbDeviceTcp(host, int(port))
    try:
        stranger.connect(rsa_keys=None, auth_timeout_s=1)
        raise AssertionError("let in without a key")
    except DeviceAuthError:
        stranger.close()
    asked = []

    def asks(_):
        asked.append(True)
        owner("allow")

    d = AdbDeviceTcp(host, int(port))
    assert d.connect(rsa_keys=[signer], auth_timeout_s=30, auth_callback=asks)
    assert asked and d.shell("echo in") == "in\n"
    d.close()
    again = AdbDeviceTcp(host, int(port))
    assert again.connect(rsa_keys=[CryptographySigner(str(key))], auth_timeout_s=5, auth_callback=lambda _: 1 / 0)
    assert again.shell("echo known") == "known\n"
    again.root()
    again.reboot()
    owner("gone")
    owner("plug")
    back = AdbDeviceTcp(host, int(port))
    assert back.connect(rsa_keys=[signer], auth_timeout_s=5)
    assert back.shell("echo back") == "back\n"
    back.close()


d = AdbDeviceTcp(host, int(port), default_transport_timeout_s=30)
assert d.connect(rsa_keys=[])
core(d)
if mode == "all":
    rest(d)
    doors(here / "key")
