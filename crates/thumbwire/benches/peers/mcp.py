"""MCP clients over stdio and HTTP that time calls and count bytes; and a virtual phone with an adb server of its own."""
import http.client
import json
import os
import random
import select
import signal
import socket
import subprocess
import tempfile
import time

HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
# Telemetry is off where there is a switch, and a dead proxy keeps everything else from the network.
QUIET = {
    "MOBILEMCP_DISABLE_TELEMETRY": "1", "AGENT_DEVICE_TELEMETRY": "0", "ANONYMIZED_TELEMETRY": "false",
    "DO_NOT_TRACK": "1", "HTTPS_PROXY": "http://127.0.0.1:9", "HTTP_PROXY": "http://127.0.0.1:9",
    "NO_PROXY": "127.0.0.1,localhost", "PYTHONUNBUFFERED": "1", "ADB_MDNS": "0", "ADB_LOCAL_TRANSPORT_MAX_PORT": "5554",
}
MARK = f"THUMBWIRE_BENCH={os.getpid()}"
# Servers that finish slowly may leave files behind: none of them in the folder from which the benchmark runs.
LOGS = tempfile.mkdtemp(prefix="thumbwire-peers-")


class Gone(Exception):
    """The server ended or does not answer."""


def run(argv, env, cwd, log):
    """A server process, marked so that what it leaves behind is found again."""
    name, value = MARK.split("=")
    env = {**os.environ, **QUIET, **env, name: value}
    err = open(os.path.join(LOGS, log + ".log"), "ab")
    return subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=err, env=env, cwd=cwd or LOGS,
                            start_new_session=True, bufsize=0)


def end(process):
    """Ends a server and its process group."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is None:
            try:
                os.killpg(process.pid, sign)
                process.wait(3)
            except (OSError, subprocess.TimeoutExpired):
                pass


def sweep():
    """Ends the daemons that outlive their servers (mobilecli's, agent-device's): one would drive the phone of a later run."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as environment:
                marked = MARK.encode() in environment.read().split(b"\0")
            if marked and int(pid) != os.getpid():
                os.kill(int(pid), signal.SIGTERM)
        except OSError:
            pass


class Client:
    """What both transports share. `size` is the bytes of the last answer."""

    size = 0

    def start(self):
        self.ask("initialize", HELLO)
        self.notify("notifications/initialized")

    def tools(self):
        """The tools, and the bytes of the answers that list them."""
        found, cursor, size = [], None, 0
        while True:
            page = self.ask("tools/list", {"cursor": cursor} if cursor else {})["result"]
            size += self.size
            found += page["tools"]
            cursor = page.get("nextCursor")
            if not cursor:
                return found, size

    def call(self, tool, arguments):
        return self.ask("tools/call", {"name": tool, "arguments": arguments})


class Stdio(Client):
    """A server on standard input and output."""

    def __init__(self, name, argv, env=None, cwd=None):
        self.began = time.perf_counter()
        self.process, self.count, self.rest = run(argv, env or {}, cwd, name), 0, b""
        self.start()

    def send(self, message):
        self.process.stdin.write((json.dumps(message) + "\n").encode())

    def notify(self, method):
        self.send({"jsonrpc": "2.0", "method": method, "params": {}})

    def line(self, until):
        parts = [self.rest]
        while b"\n" not in parts[-1]:
            if not select.select([self.process.stdout], [], [], max(0, until - time.perf_counter()))[0]:
                raise Gone("no answer in time")
            parts.append(os.read(self.process.stdout.fileno(), 1 << 20))
            if not parts[-1]:
                raise Gone("the server ended")
        line, self.rest = b"".join(parts).split(b"\n", 1)
        return line

    def ask(self, method, params, limit=60):
        self.count += 1
        self.send({"jsonrpc": "2.0", "id": self.count, "method": method, "params": params})
        until = time.perf_counter() + limit
        while True:
            line = self.line(until)
            if not line.lstrip().startswith(b"{"):
                continue
            message = json.loads(line)
            if message.get("id") == self.count and "method" not in message:
                self.size = len(line)
                return message
            if "method" in message and "id" in message:
                self.send({"jsonrpc": "2.0", "id": message["id"], "result": {}})

    def close(self):
        self.process.stdin.close()
        end(self.process)


class Http(Client):
    """A server of streamable HTTP. Without `argv`, one that another client started."""

    def __init__(self, name, argv, port, env=None, cwd=None):
        self.began = time.perf_counter()
        self.process = run(argv, env or {}, cwd, name) if argv else None
        self.port, self.count, self.session = port, 0, None
        wait_for(port, self.process)
        self.connection = http.client.HTTPConnection("localhost", port, timeout=90)
        self.start()

    def post(self, message):
        headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
        if self.session:
            headers |= {"mcp-session-id": self.session, "mcp-protocol-version": HELLO["protocolVersion"]}
        body = json.dumps(message).encode()
        # The port may still be that of a server that is ending, or the connection may have been closed while idle.
        until = time.perf_counter() + 10
        while True:
            try:
                self.connection.request("POST", "/mcp", body, headers)
                answer = self.connection.getresponse()
                break
            except (http.client.HTTPException, OSError) as error:
                self.connection.close()
                if time.perf_counter() > until:
                    raise Gone(f"no answer on port {self.port}") from error
                time.sleep(0.002)
        self.session = answer.getheader("mcp-session-id") or self.session
        return answer.getheader("content-type") or "", answer.read()

    def notify(self, method):
        self.post({"jsonrpc": "2.0", "method": method, "params": {}})

    def ask(self, method, params):
        self.count += 1
        kind, body = self.post({"jsonrpc": "2.0", "id": self.count, "method": method, "params": params})
        if "event-stream" in kind:
            events = [line[5:].strip() for line in body.split(b"\n") if line.startswith(b"data:")]
            body = next(event for event in events if b'"id"' in event)
        self.size = len(body)
        return json.loads(body)

    def close(self):
        self.connection.close()
        if self.process:
            end(self.process)


class Pair:
    """UFO's data and action server as one."""

    def __init__(self, data, action, of_data):
        self.data, self.action, self.of_data = data, action, of_data
        self.process, self.began = data.process, data.began

    def call(self, tool, arguments):
        server = self.data if tool in self.of_data else self.action
        answer = server.call(tool, arguments)
        self.size = server.size
        return answer

    def tools(self):
        (data, data_size), (action, action_size) = self.data.tools(), self.action.tools()
        return data + action, data_size + action_size

    def close(self):
        self.action.close()
        self.data.close()


def wait_for(port, process=None, seconds=60):
    until = time.perf_counter() + seconds
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), 0.2).close()
        except OSError:
            if time.perf_counter() > until or (process and process.poll() is not None):
                raise Gone(f"nothing listens on port {port}") from None
            time.sleep(0.002)


def text(answer):
    """The texts of a tool's answer."""
    content = answer.get("result", {}).get("content", [])
    return "".join(part.get("text", "") for part in content if isinstance(part, dict))


def failed(answer):
    """Whether the tool says that it failed. Some say so in words alone."""
    words = text(answer)
    plain = words.replace(" ", "")
    return (
        "error" in answer
        or answer.get("result", {}).get("isError", False)
        or '"success":false' in plain
        or '"error":true' in plain
        or words.startswith("Error")
        or "Please fix the issue" in words
    )


def memory(pid):
    """Resident MiB of a process and all below it, and how many they are."""
    below, resident = {}, {}
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{entry}/stat") as stat:
                fields = stat.read().rsplit(")", 1)[1].split()
            below.setdefault(int(fields[1]), []).append(int(entry))
            resident[int(entry)] = int(fields[21]) * os.sysconf("SC_PAGE_SIZE") / 2**20
        except (OSError, IndexError):
            pass
    todo, all_of_it = [pid], []
    while todo:
        all_of_it.append(todo.pop())
        todo += below.get(all_of_it[-1], [])
    return sum(resident.get(pid, 0) for pid in all_of_it), len(all_of_it)


def free_port(count=1):
    """The first of so many neighbouring ports on which nobody listens, above those of phones that adb looks for itself."""
    while True:
        first = random.randrange(20_000, 32_000)
        try:
            for port in range(first, first + count):
                with socket.socket() as one:
                    one.bind(("127.0.0.1", port))
            return first
        except OSError:
            continue


class Phone:
    """A virtual phone, and an adb server that knows no other."""

    def __init__(self, thumbwire, profile):
        port, self.adb_port = free_port(), free_port()
        self.serial = f"127.0.0.1:{port}"
        self.process = run([thumbwire, "phone", "--listen", self.serial, "--profile", profile], {}, None, "phone")
        wait_for(port)
        self.adb("start-server")
        self.adb("connect", self.serial)

    def adb(self, *arguments):
        env = {**os.environ, **QUIET, "ANDROID_ADB_SERVER_PORT": str(self.adb_port)}
        done = subprocess.run(["adb", *arguments], env=env, capture_output=True, timeout=60)
        return done.stdout.decode("utf-8", "replace")

    def shell(self, command):
        return self.adb("-s", self.serial, "shell", command)

    def close(self):
        self.adb("kill-server")
        end(self.process)
