#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Tests that the demo succeeds, and that it detects each guard's removal and
fails."""
import os
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
sys.path.insert(0, HERE)
import demo  # noqa: E402
import harness as h  # noqa: E402

t = h.Tap()
# The verdict expected when a guard is removed.
NOTICED = {
    "key": "never saw the real one",
    "reflect": "saw one request, with the real key, and answered",
    "allow-all": "the denied call never reached its server",
    "network": "the network was not there",
    "approval": "only after the approval",
}


def run(*args):
    return subprocess.run(
        [h.PYTHON, "-B", os.path.join(HERE, "demo.py"), "--prefix", h.PREFIX,
         *args], capture_output=True, text=True, timeout=120, check=False)


def main():
    r = run()
    t.ok(r.returncode == 0 and "All of it held." in r.stdout,
         "the demo holds", r.stdout + r.stderr)
    t.ok("NO " not in r.stdout, "every line of its verdict is yes", r.stdout)
    for guard in demo.GUARDS:
        with t.case(guard):
            r = run("--break", guard)
            said = [line for line in r.stdout.splitlines()
                    if line.startswith("  NO ")]
            t.ok(r.returncode == 1, f"without {guard}: it fails",
                 r.stdout + r.stderr)
            t.ok(any(NOTICED[guard] in line for line in said),
                 f"without {guard}: it says what did not hold",
                 r.stdout + r.stderr)
    t.done()


if __name__ == "__main__":
    main()
