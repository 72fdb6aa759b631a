"""Ours and the peers side by side, each on a virtual phone of its own: `just bench-peers`.

Writes the tables of docs/evidence/benchmarks.md.

compare.py --thumbwire PROGRAM --peers FOLDER [--reps 30] [--slow-reps 5] [--only start,instant,pixel,memory,looks,tasks] [--page FILE]

The calls of all servers are interleaved in random order, so that a slow moment of the machine hits all of them. A call
that failed once has no figure. `--smoke` makes each call once and exits with 1 if one failed.
"""
import argparse
import datetime
import json
import os
import random
import statistics
import sys
import time

import servers as known
import tasks
from mcp import Gone, Phone, failed, memory, sweep, text

OURS = known.OURS
NEW_NOTE = "am force-stop com.android.notes; am start -n com.android.notes/.NotesActivity; input tap 964 2221"
BEFORE = {"type": NEW_NOTE, "launch an app": "input keyevent 3"}
# Where a server may answer from memory: something that makes it ask the phone, not measured.
REFRESH = {
    "thumbwire": ("mobile_press_key", {"key": "volume_up"}),
    "thumbwire, quiet": ("mobile_press_key", {"key": "volume_up"}),
    "thumbwire android": ("press_key", {"params": {"keycode": "VOLUME_UP"}}),
    "thumbwire ufo": ("invalidate_cache", {"cache_type": "all"}),
    "ufo": ("invalidate_cache", {"cache_type": "all"}),
}
LOOKS = ("list the elements", "whole tree", "find by text", "take a screenshot")
# They take no part on the slow phone: each of their calls is far behind on the fast one.
SLOW = ("agent-device", "droidmind")
SCREENS = {
    "home": "input keyevent 3",
    "settings": "am start -n com.android.settings/.Settings",
    "shop": "am start -n com.example.shop/.MainActivity",
    "contacts": "am start -n com.google.android.contacts/com.android.contacts.activities.PeopleActivity",
    "messages": "am start -n com.google.android.apps.messaging/.ui.ConversationListActivity",
    "note": NEW_NOTE,
    "browser": "am start -n com.android.chrome/com.google.android.apps.chrome.Main",
    "login": "am start -n com.example.members/.LoginActivity",
    "right to left": "am start -n com.example.akhbar/.MainActivity",
}


class Bench:
    def __init__(self, options):
        self.options, self.tables = options, []
        self.names = known.installed(options.peers)
        self.phones, self.failures = {}, 0

    def on(self, profile, run):
        """Runs with a fresh phone for each server, and ends what the servers leave behind."""
        try:
            for name in self.names:
                self.phones[name] = Phone(self.options.thumbwire, profile)
            run()
        finally:
            sweep()
            for phone in self.phones.values():
                phone.close()
            self.phones.clear()

    def start(self, name):
        return known.start(name, self.options.thumbwire, self.options.peers, self.phones[name])

    def opened(self, names):
        """The servers that start, by name."""
        running = {}
        for name in names:
            try:
                running[name] = self.start(name)
            except (Gone, OSError) as error:
                self.failures += 1
                print(f"{name} does not start: {error!r}", file=sys.stderr)
        return running

    def show(self, names, command):
        """Runs a command on the servers' phones."""
        for name in names:
            self.phones[name].shell(command)

    def calls_of(self, name):
        return known.calls(name, self.phones[name])

    def starts(self):
        times = {name: [] for name in self.names}
        for round_ in range(self.options.reps + 1):
            for name in random.sample(list(times), len(times)):
                try:
                    server = self.start(name)
                    server.tools()
                except (Gone, OSError):
                    continue
                if round_:
                    times[name].append(time.perf_counter() - server.began)
                server.close()
        self.table("From exec to the answer of `tools/list`", "ms", {"start": times})

    def memory(self):
        rows = {"idle": {}, "after 50 calls": {}}
        for name in self.names:
            server = self.opened([name]).get(name)
            if not server:
                continue
            server.tools()
            time.sleep(1)
            rows["idle"][name] = [memory(server.process.pid)[0]]
            todo = [call for op, call in self.calls_of(name).items() if op not in BEFORE]
            self.show([name], SCREENS["settings"])
            for count in range(50):
                server.call(*todo[count % len(todo)])
            rows["after 50 calls"][name] = [memory(server.process.pid)[0]]
            server.close()
        self.table("Memory of the process and all below it, without the adb server", "MiB", rows)

    def calls(self, profile, reps, without=()):
        running = self.opened([name for name in self.names if name not in without])
        if "agent-device" in running:
            running["agent-device"].call("open", {"platform": "android", "app": known.SETTINGS})
        calls = {name: self.calls_of(name) for name in running}
        rows, wrong = {}, {}
        for op in dict.fromkeys(op for of in calls.values() for op in of):
            # A bare act is compared with ours without its reply of the screen; with it, against an act and a look.
            acts = op not in (*LOOKS, "list the apps")
            who = [name for name in running if op in calls[name] and not (acts and name == "thumbwire")]
            rows[op] = self.timed(reps, running, who, op, lambda name: [calls[name][op]], wrong)
        for op in ("tap", "type", "launch an app"):
            look = "list the elements"
            who = [name for name in running if {op, look} <= calls[name].keys() and name != "thumbwire, quiet"]
            both = lambda name: [calls[name][op]] + ([] if name == "thumbwire" else [calls[name][look]])
            rows[f"{op}, and see the result"] = self.timed(reps, running, who, op, both, wrong)
        for server in running.values():
            server.close()
        self.table(f"Calls on a phone of the profile `{profile}`", "ms", rows, wrong)

    def timed(self, reps, running, who, op, calls_of, wrong):
        times = {name: [] for name in who}
        if op not in BEFORE:
            self.show(who, SCREENS["settings"])
        for round_ in range(reps + 1):
            for name in random.sample(who, len(who)):
                if op in BEFORE:
                    self.show([name], BEFORE[op])
                    if name in ("ufo", "thumbwire ufo"):
                        running[name].call("get_app_window_controls_target_info", {"force_refresh": True})
                if op in LOOKS and name in REFRESH:
                    running[name].call(*REFRESH[name])
                began = time.perf_counter()
                answers = [running[name].call(*call) for call in calls_of(name)]
                took = time.perf_counter() - began
                if round_:
                    times[name].append(took)
                    for answer in filter(failed, answers):
                        wrong.setdefault((op, name), text(answer)[:120] or json.dumps(answer)[:120])
        return times

    def looks(self):
        of_each = {
            "thumbwire": "list the elements", "thumbwire android": "list the elements", "thumbwire ufo": "list the elements",
            "mobile-mcp": "list the elements", "jaye773": "list the elements", "ufo": "list the elements",
            "claude-in-mobile": "list the elements", "scrcpy-mcp": "whole tree",
        }
        running = self.opened([name for name in of_each if name in self.names])
        rows = {}
        for screen, command in SCREENS.items():
            self.show(running, command)
            row = rows[screen] = {}
            for name, server in running.items():
                answer = server.call(*self.calls_of(name)[of_each[name]])
                row[name] = [len(text(answer).encode())]
        rows["sum"] = {name: [sum(row[name][0] for row in rows.values())] for name in running}
        sizes = {}
        for name, server in running.items():
            sizes[name] = [server.tools()[1]]
            server.close()
        rows["`tools/list`"] = sizes
        self.table("Bytes of a look at a screen, and of the list of tools", "B", rows)

    def tasks(self, profile):
        running = self.opened([name for name in tasks.DRIVERS if name in self.names])
        rows = {}
        # One for all rounds: what changed is told to a client that remembers what it saw.
        drivers = {name: tasks.DRIVERS[name](server, self.phones[name]) for name, server in running.items()}
        for task, reset in tasks.RESET.items():
            measured = {name: {"time": [], "calls": [], "bytes": [], "done": [], "seen": []} for name in running}
            for round_ in range(self.options.slow_reps + 1):
                for name in random.sample(list(running), len(running)):
                    self.show([name], reset)
                    driver = drivers[name]
                    driver.calls = driver.bytes = 0
                    began = time.perf_counter()
                    try:
                        seen = getattr(driver, task)()
                    except LookupError as error:
                        seen = False
                        print(f"{task} by {name}: {error}", file=sys.stderr)
                    took = time.perf_counter() - began
                    if round_:
                        kept = measured[name]
                        kept["time"].append(took)
                        kept["calls"].append(driver.calls)
                        kept["bytes"].append(driver.bytes)
                        kept["done"].append(tasks.is_done(task, self.phones[name]))
                        kept["seen"].append(seen)
            for name, kept in measured.items():
                count = lambda what: f"{what} {sum(kept[what])} of {len(kept[what])}"
                cost = f"{statistics.median(kept['time']):.2f} s, {kept['calls'][-1]} calls, {kept['bytes'][-1]:,} B; "
                cell = f"{cost if all(kept['done']) else ''}{count('done')}, {count('seen')}"
                self.failures += not all(kept["done"] + kept["seen"])
                rows.setdefault(task, {})[name] = cell
        for server in running.values():
            server.close()
        self.table(f"Two tasks, done by a script, on the profile `{profile}`", "", rows)

    def table(self, title, unit, rows, wrong=None):
        wrong = {f"{op}: {name}": why for (op, name), why in (wrong or {}).items()}
        self.failures += len(wrong)
        self.tables.append({"title": title, "unit": unit, "rows": rows, "wrong": wrong})
        print(markdown(self.tables[-1]), flush=True)


def cell(unit, values):
    """Median and 95th percentile of times; else the figure."""
    if isinstance(values, str):
        return values
    if not values:
        return ""
    if unit != "ms":
        return f"{values[0]:.1f}" if unit == "MiB" else f"{values[0]:,}"
    short = lambda seconds: f"{seconds * 1000:.2f}" if seconds < 0.01 else f"{seconds * 1000:.0f}"
    ordered = sorted(values)
    return f"{short(statistics.median(values))} / {short(ordered[round(0.95 * (len(ordered) - 1))])}"


def best(row, ours):
    figures = {name: values for name, values in row.items() if values and values != "failed"}
    medians = ((name, statistics.median(values)) for name, values in figures.items() if (name in OURS) == ours)
    return min(medians, key=lambda it: it[1], default=None)


def markdown(table):
    rows, unit = table["rows"], table["unit"]
    names = list(dict.fromkeys(name for row in rows.values() for name in row))
    of_figures = ", ms (median / 95th percentile)" if unit == "ms" else unit and f", {unit}"
    compared = bool(unit)
    heads = ["", *names, *(["best peer by ours"] if compared else [])]
    lines = [f"## {table['title']}{of_figures}", "", f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for op, row in rows.items():
        row = {name: "failed" if f"{op}: {name}" in table["wrong"] else values for name, values in row.items()}
        mine, theirs = (best(row, True), best(row, False)) if compared else (None, None)
        ratio = f" {theirs[1] / mine[1]:.1f} |" if mine and theirs else " |"
        cells = [op, *(cell(unit, row.get(name, "")) for name in names)]
        lines.append(f"| {' | '.join(cells)} |" + (ratio if compared else ""))
    for at, why in table["wrong"].items():
        lines.append(f"\nFailed: {at}: {' '.join(why.split())}")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--thumbwire", default="target/release/thumbwire")
    parser.add_argument("--peers", default="target/peers")
    parser.add_argument("--reps", type=int, default=30)
    parser.add_argument("--slow-reps", type=int, default=5, help="repetitions of calls and tasks on the slow phone")
    parser.add_argument("--only", default="start,memory,instant,pixel,looks,tasks")
    parser.add_argument("--page", help="the page whose tables to replace")
    parser.add_argument("--smoke", action="store_true", help="each call once; exit with 1 if one failed")
    options = parser.parse_args()
    if options.smoke:
        options.reps = options.slow_reps = 1
    options.thumbwire, options.peers = os.path.abspath(options.thumbwire), os.path.abspath(options.peers)
    bench = Bench(options)
    parts = {
        "start": lambda: bench.on("instant", bench.starts),
        "memory": lambda: bench.on("instant", bench.memory),
        "instant": lambda: bench.on("instant", lambda: bench.calls("instant", options.reps)),
        "pixel": lambda: bench.on("pixel", lambda: bench.calls("pixel", options.slow_reps, SLOW)),
        "looks": lambda: bench.on("instant", bench.looks),
        "tasks": lambda: bench.on("pixel", lambda: bench.tasks("pixel")),
    }
    for part in options.only.split(","):
        parts[part]()
    if options.smoke and bench.failures:
        sys.exit(f"{bench.failures} calls or tasks failed")
    if options.page:
        versions = ", ".join(f"{name} {version}" for name, version in known.versions(options.peers).items())
        when = f"Measured on {datetime.date.today()} on {os.cpu_count()} cores, {options.reps} calls each, on the slow phone {options.slow_reps}."
        head = f"{when} Peers: {versions}.\n"
        mark = "<!-- tables: just bench-peers -->"
        with open(options.page) as page:
            before = page.read().split(mark)[0]
        with open(options.page, "w") as page:
            page.write(before + mark + "\n\n" + head + "\n" + "\n".join(markdown(table) for table in bench.tables))


main()
