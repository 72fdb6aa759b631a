"""Whether the list of a screen has all that a person can use and read: `targets.py THUMBWIRE FILE...` reads each `uiautomator`
dump itself, and compares it with what `THUMBWIRE screen --file` prints. It shares no code with the program, and needs the standard
library only.

* Each enabled node on screen that is clickable, long-clickable, checkable, scrollable, a text field or a slider has a ref at its place.
  (A box that only shows a state is part of the row that takes the tap.)
* Each text on screen is in the list, and in the one with places; case makes no other text.
* No text is said more often than there are elements that have it.

Prints the counts as JSON, and on standard error what is missing. Exits with 1 if anything is."""

import collections
import json
import pathlib
import re
import subprocess
import sys
import unicodedata
import xml.etree.ElementTree as ElementTree

FLAGS = ("clickable", "long-clickable", "checkable", "scrollable")
FIELDS_AND_SLIDERS = ("EditText", "AutoCompleteTextView", "SeekBar", "RatingBar")
EVERYTHING = (-(1 << 30), -(1 << 30), 1 << 30, 1 << 30)


def read(file):
    """The tree of a dump; other output of the shell may surround it. None if the dump is not whole."""
    dump = file.read_bytes()
    start, end = dump.find(b"<hierarchy"), dump.rfind(b"</hierarchy>")
    if start < 0 or end < 0:
        return None
    try:
        return ElementTree.fromstring(dump[start : end + len(b"</hierarchy>")])
    except ElementTree.ParseError:
        return None


def shown(node, clip):
    """The part of a node inside its parents, or None."""
    numbers = re.fullmatch(r"\[(-?\d+),(-?\d+)\]\[(-?\d+),(-?\d+)\]", node.get("bounds") or "")
    if not numbers:
        return None
    left, top, right, bottom = map(int, numbers.groups())
    return (max(left, clip[0]), max(top, clip[1]), min(right, clip[2]), min(bottom, clip[3]))


def walk(node, clip=EVERYTHING):
    """All nodes with their visible parts."""
    for child in node.findall("node"):
        part = shown(child, clip)
        if part and part[0] < part[2] and part[1] < part[3]:
            yield child, part
        yield from walk(child, part or clip)


def elements_with(node, above=frozenset()):
    """How many elements have each text. One inside another with the same text counts as one, unless it can be acted on."""
    counts = collections.Counter()
    for child in node.findall("node"):
        own = texts(child)
        counts.update(own if acts(child) else own - above)
        counts += elements_with(child, above | own)
    return counts


def texts(node):
    """The different texts of a node, as the list writes them, in one case."""
    both = (node.get("text") or "", node.get("content-desc") or "")
    return {escaped(text).lower() for text in both if text.strip()}


def acts(node):
    name = node.get("class") or ""
    return any(node.get(flag) == "true" for flag in FLAGS) or name.endswith(FIELDS_AND_SLIDERS)


def escaped(text):
    """A text as the list writes it, without invisible characters."""
    text = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return "".join(char for char in text if unicodedata.category(char) not in ("Cc", "Cf", "Co", "Cn", "Zl", "Zp"))


def seen(list_):
    """A list without the marks of invisible characters, and without what is kept of it."""
    return escaped_only(re.sub(r"(?<!\\)((?:\\\\)*)\\u\{[0-9a-f]+\}", r"\1", list_))


def escaped_only(list_):
    kept = lambda char: char == "\n" or unicodedata.category(char) not in ("Cc", "Cf", "Co", "Cn", "Zl", "Zp")
    return "".join(filter(kept, list_))


def missing(thumbwire, file, tree, counts):
    """What the lists of one dump lack."""
    printed = [
        seen(subprocess.run([thumbwire, "screen", "--file", file, *more], capture_output=True, text=True, encoding="utf-8", check=True).stdout)
        for more in ([], ["--full"])
    ]
    places = re.findall(r"\[(-?\d+),(-?\d+)\]\[(-?\d+),(-?\d+)\] e\d+$", printed[1], re.MULTILINE)
    places = {tuple(map(int, place)) for place in places}
    for node, part in walk(tree):
        if acts(node) and node.get("enabled") == "true":
            counts["targets"] += 1
            around = any(
                place[0] <= part[0] and place[1] <= part[1] and place[2] >= part[2] and place[3] >= part[3] for place in places
            )
            only_shows = node.get("checkable") == "true" and node.get("clickable") != "true"
            if part not in places and not (only_shows and around):
                yield f"no ref: {node.get('class')} {part} {node.get('text')!r} {node.get('content-desc')!r}"
        for name in ("text", "content-desc"):
            text = node.get(name) or ""
            if text.strip():
                counts["texts"] += 1
                for form, list_ in zip(("list", "list with places"), printed):
                    if escaped(text).lower() not in list_.lower():
                        yield f"not in the {form}: {text!r}"
    own = elements_with(tree)
    said = collections.Counter(text.lower() for text in re.findall(r'"((?:[^"\\]|\\.)*)"', printed[0]))
    for text, count in said.items():
        if count > own[text]:
            yield f"said {count} times instead of {own[text]}: {text!r}"


def main():
    thumbwire, files = sys.argv[1], map(pathlib.Path, sys.argv[2:])
    counts = {"dumps": 0, "targets": 0, "texts": 0, "missing": 0}
    for file in files:
        tree = read(file)
        if tree is None:
            continue
        counts["dumps"] += 1
        for what in missing(thumbwire, file, tree, counts):
            counts["missing"] += 1
            print(f"{file.name}: {what}", file=sys.stderr)
    print(json.dumps(counts))
    return 1 if counts["missing"] else 0


sys.exit(main())
