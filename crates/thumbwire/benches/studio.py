"""What the studio costs: its processor time with eight phones that rest and with one that changes, and how long a picture takes after
an act. `studio.py BINARY`; the virtual phones run in a process of their own. Prints rows of a table."""

import http.client
import json
import os
import re
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time

BINARY = sys.argv[1]
PHONES = 8
SECONDS = 8
FIRST_PORT = 6755


class Viewer(threading.Thread):
    """Reads the frames of a phone as a page does."""

    def __init__(self, address, token, device, max_side):
        super().__init__(daemon=True)
        self.connection = http.client.HTTPConnection(address)
        self.path = f"/studio/api/screen?device={device}&max_side={max_side}"
        self.headers = {"Authorization": "Bearer " + token}
        self.frames = []
        self.start()

    def run(self):
        self.connection.request("GET", self.path, headers=self.headers)
        stream = self.connection.getresponse()
        while head := stream.read(4):
            header = json.loads(stream.read(struct.unpack(">I", head)[0]))
            stream.read(header["bytes"])
            if header["bytes"]:
                self.frames.append(time.monotonic())


class Studio:
    def __init__(self, devices, folder):
        command = [BINARY, "studio", "--listen", "127.0.0.1:0", "--out", folder]
        for device in devices:
            command += ["--device", device]
        environment = os.environ | {"XDG_STATE_HOME": folder}
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
        line = next(line for line in self.process.stderr if "studio is at" in line)
        self.address, self.token = re.search(r"http://([^/]+)/studio/#token=(\S+)", line).groups()

    def act(self, device, action):
        body = json.dumps({"device": device, "action": action})
        connection = http.client.HTTPConnection(self.address)
        connection.request("POST", "/studio/api/act", body, {"Authorization": "Bearer " + self.token})
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        assert answer.status == 200, text

    def view(self, device, max_side):
        return Viewer(self.address, self.token, device, max_side)

    def processor_share(self, seconds, work=lambda: time.sleep(0.1)):
        """The part of one core that the studio's process uses while `work` is done again and again."""

        def used():
            fields = open(f"/proc/{self.process.pid}/stat").read().rsplit(")", 1)[1].split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

        began, before = time.monotonic(), used()
        while time.monotonic() - began < seconds:
            work()
        return (used() - before) / (time.monotonic() - began)


def alternate(studio, device):
    """An act that changes the screen each time."""
    while True:
        for action in ({"launch": {"id": "com.android.settings"}}, {"press": "HOME"}):
            studio.act(device, action)
            yield


with tempfile.TemporaryDirectory() as folder:
    phones = subprocess.Popen([BINARY, "phone", "--listen", f"127.0.0.1:{FIRST_PORT}", "--count", str(PHONES)], stdout=subprocess.DEVNULL)
    devices = [f"127.0.0.1:{FIRST_PORT + 2 * number}" for number in range(PHONES)]
    studio = Studio(devices, folder)
    try:
        viewers = [studio.view(device, 200) for device in devices]
        while not all(viewer.frames for viewer in viewers):
            time.sleep(0.1)
        time.sleep(2)
        rest = studio.processor_share(SECONDS)
        print(f"| {PHONES} phones at rest, small pictures | {rest * 100:.1f} % of one core |")

        viewer, acts = studio.view(devices[0], 800), alternate(studio, devices[0])
        delays = []
        for _ in range(30):
            time.sleep(0.4)
            began, seen = time.monotonic(), len(viewer.frames)
            next(acts)
            while len(viewer.frames) == seen:
                time.sleep(0.001)
            delays.append((viewer.frames[seen] - began) * 1000)
        print(f"| picture after an act | median {statistics.median(delays):.0f} ms, most {max(delays):.0f} ms |")

        # A stopwatch that shows hundredths, on a phone that nobody holds.
        moving = devices[1]
        steps = [{"launch": "com.google.android.deskclock"}, {"tap": "Stopwatch"}, {"tap": "Start"}]
        subprocess.run([BINARY, "call", "mobile_do", json.dumps({"steps": steps}), "--device", moving], check=True, stdout=subprocess.DEVNULL)
        viewer = studio.view(moving, 800)
        time.sleep(1)
        seen = len(viewer.frames)
        busy = studio.processor_share(SECONDS)
        rate = (len(viewer.frames) - seen) / SECONDS
        print(f"| one phone that changes, {rate:.0f} pictures/s | {busy * 100:.1f} % of one core |")
    finally:
        studio.process.terminate()
        phones.terminate()
