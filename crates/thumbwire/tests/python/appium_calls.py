"""A table of calls of a real Appium server by Appium's Python client: the result of each, and the reason."""

import base64
import sys


class Calls:
    """The rows: result (passed, failed, not applicable), the call, and a reason."""

    def __init__(self):
        self.rows = []

    def call(self, name, do, expected=None):
        """Makes a call; `expected` is a value, a predicate, or nothing."""
        try:
            got = do()
            good = expected is None or (expected(got) if callable(expected) else got == expected)
            self.rows.append(("passed" if good else "failed", name, "" if good else f"got {got!r}"[:160]))
            return got
        except Exception as error:  # noqa: BLE001: each failure is a row
            self._fails(name, error)
            return None

    def raises(self, name, do, kind):
        """Makes a call that must fail with an error of WebDriver."""
        try:
            got = do()
            self.rows.append(("failed", name, f"got {got!r}, not {kind.__name__}"[:160]))
        except kind:
            self.rows.append(("passed", name, ""))
        except Exception as error:  # noqa: BLE001
            self._fails(name, error)

    def passed(self, name):
        self.rows.append(("passed", name, ""))

    def not_applicable(self, name, reason):
        self.rows.append(("not applicable", name, reason))

    def finish(self):
        """Prints the table. Exit status 1 if fewer than 95 % of the applicable calls pass."""
        for result, name, reason in self.rows:
            print(f"{result:<15} {name}{': ' if reason else ''}{reason}")
        kinds = ("passed", "failed", "not applicable")
        count = {kind: sum(row[0] == kind for row in self.rows) for kind in kinds}
        print(f"{len(self.rows)} calls: " + ", ".join(f"{number} {kind}" for kind, number in count.items()))
        sys.exit(count["passed"] < 0.95 * (count["passed"] + count["failed"]))

    def _fails(self, name, error):
        self.rows.append(("failed", name, f"{type(error).__name__}: {error}".splitlines()[0][:160]))


def is_png(data):
    return base64.b64decode(data).startswith(b"\x89PNG")
