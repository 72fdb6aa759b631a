#!/usr/bin/env python3
"""Starts the helper on a phone as Thumbwire does, by adb, and talks to it: a library for trials, and `drive.py SERIAL OP JSON`."""
import json, os, secrets, socket, struct, subprocess, sys, threading, time, zlib

HERE = os.path.dirname(os.path.abspath(__file__))
JAR = os.path.join(HERE, "..", "thumbwire-helper.jar")
PLACE = "/data/local/tmp/thumbwire-helper-trial.jar"


def adb(serial, *words, **more):
    return subprocess.run(["adb", "-s", serial, *words], stdin=subprocess.DEVNULL, capture_output=True, check=True, **more).stdout


def push(serial, jar=JAR):
    """Never writable where it is started: Android 14 refuses that."""
    adb(serial, "push", jar, PLACE + ".new")
    adb(serial, "shell", f"chmod 0444 {PLACE}.new; mv {PLACE}.new {PLACE}")


class Failed(Exception):
    def __init__(self, reply):
        super().__init__(json.dumps(reply, ensure_ascii=False))
        self.code, self.message, self.advice = reply["error"], reply["message"], reply["advice"]


class Wire:
    """Frames over a socket. Replies come in any order: `ask` returns a request, `wait` its reply."""

    def __init__(self, port, timeout=120):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout)
        self.last, self.came, self.lock, self.arrived = 0, {}, threading.Lock(), threading.Condition()
        self.ended = None
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        try:
            while True:
                header, body = struct.unpack(">II", self.take(8))
                header = json.loads(self.take(header))
                body = self.take(body)
                if "inflated" in header:
                    body = zlib.decompress(body)
                with self.arrived:
                    self.came.setdefault(header["id"], []).append((header, body))
                    self.arrived.notify_all()
        except (OSError, EOFError, ValueError) as why:
            with self.arrived:
                self.ended = why
                self.arrived.notify_all()

    def take(self, length):
        text = bytearray()
        while len(text) < length:
            more = self.socket.recv(length - len(text))
            if not more:
                raise EOFError("the helper closed the connection")
            text += more
        return bytes(text)

    def send(self, header, body=b""):
        text = json.dumps(header, ensure_ascii=False).encode()
        with self.lock:
            self.socket.sendall(struct.pack(">II", len(text), len(body)) + text + body)

    def ask(self, op, **fields):
        self.last += 1
        self.send({"id": self.last, "op": op, **fields})
        return self.last

    def wait(self, number, timeout=60):
        until = time.monotonic() + timeout
        with self.arrived:
            while not self.came.get(number):
                left = until - time.monotonic()
                if self.ended is not None:
                    raise self.ended
                if left <= 0:
                    raise TimeoutError(f"no reply to request {number}")
                self.arrived.wait(left)
            header, body = self.came[number].pop(0)
        if "error" in header:
            raise Failed(header)
        return header, body

    def still(self, idle_ms, limit_ms):
        """Waits until nothing has happened for so long."""
        self.do("tree", idle_ms=idle_ms, idle_limit_ms=limit_ms)

    def do(self, op, timeout=60, **fields):
        return self.wait(self.ask(op, **fields), timeout)


class Helper(Wire):
    """A connection to the helper of this phone, which is started if none runs under this name."""

    def __init__(self, serial, place=PLACE, name="thumbwire-helper-trial"):
        self.serial, self.name, self.process = serial, name, None
        began = time.monotonic()
        self.port = int(adb(serial, "forward", "tcp:0", f"localabstract:{self.name}") or self.old_forward())
        try:
            self.greet()
        except (OSError, EOFError):
            self.start(place)
            self.started = time.monotonic() - began
            self.greet()
        self.greeted = time.monotonic() - began

    def greet(self):
        super().__init__(self.port)
        self.hello, _ = self.do("hello", protocol=1)
        key = adb(self.serial, "shell", f"cat /data/local/tmp/{self.name}.key").decode().strip()
        if self.hello["key"] != key:
            raise RuntimeError("another program listens in its place")

    def start(self, place):
        command = (f"umask 077; trap '' HUP; mkdir -p /data/local/tmp/dalvik-cache; ANDROID_DATA=/data/local/tmp CLASSPATH={place} "
                   f"exec app_process /system/bin org.thumbwire.helper.Main {self.name}")
        self.process = subprocess.Popen(["adb", "-s", self.serial, "shell", command], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        said = b""
        while True:
            line = self.process.stdout.readline()
            if not line:
                raise RuntimeError(f"the helper did not start: {said.decode(errors='replace')}")
            if line.strip() == b"ready":
                return
            said += line

    def old_forward(self):
        for line in adb(self.serial, "forward", "--list").decode().splitlines():
            if line.endswith(self.name):
                return line.split()[1].removeprefix("tcp:")
        raise RuntimeError("no forward")

    def end(self):
        try:
            self.do("bye", 5, all=True)
        except (OSError, EOFError, Failed, TimeoutError):
            pass
        self.socket.close()
        subprocess.run(["adb", "-s", self.serial, "forward", "--remove", f"tcp:{self.port}"], capture_output=True)
        if self.process:
            self.process.kill()
            self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()


if __name__ == "__main__":
    serial, op, fields = sys.argv[1], sys.argv[2], json.loads(sys.argv[3]) if len(sys.argv) > 3 else {}
    push(serial)
    with Helper(serial) as helper:
        print(json.dumps(helper.hello, ensure_ascii=False, indent=1))
        began = time.monotonic()
        header, body = helper.do(op, **fields)
        print(json.dumps(header, ensure_ascii=False), f"{(time.monotonic() - began) * 1000:.0f} ms")
        if body[:1] == b"<":
            print(body.decode())
        elif body:
            open("/tmp/body", "wb").write(body)
            print(f"{len(body)} bytes in /tmp/body")
