# SPDX-License-Identifier: ISC
"""TAP on stdout, for meson's "tap" protocol."""
import contextlib
import sys
import traceback


class Tap:
    """Counts and names checks; every failure prints the value found."""

    def __init__(self):
        self.count = self.failed = 0

    def ok(self, good, name, detail=None):
        self.count += 1
        name = name.split("\n", 1)[0]
        print(f"{'ok' if good else 'not ok'} {self.count} - {name}")
        if not good:
            self.failed += 1
            for line in str(detail).splitlines()[:40]:
                print(f"#   {line[:400]}")
        sys.stdout.flush()
        return bool(good)

    def equal(self, got, want, name):
        return self.ok(got == want, name, f"got {got!r}\nwant {want!r}")

    def contains(self, text, part, name):
        return self.ok(part in text, name, f"{part!r} is not in {text!r}")

    def skip(self, name, why):
        self.count += 1
        print(f"ok {self.count} - {name} # SKIP {why}")

    def done(self):
        print(f"1..{self.count}")
        sys.exit(1 if self.failed else 0)

    @contextlib.contextmanager
    def case(self, name):
        """Run a case; a failure inside it does not end the run."""
        try:
            yield
        except Exception as e:  # pylint: disable=broad-except
            self.ok(False, name, f"{e}\n{traceback.format_exc()}")
