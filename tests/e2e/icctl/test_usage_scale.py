#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""icctl usage over a thousand sessions whose logs have MB megabytes each, by
the first argument: once they were read, what they cost is known in a second,
and a text is found in all of them as fast as they can be read.

The logs are one file with a thousand names: the disk is not what is timed."""
import json
import os
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
from made_log import MadeLog  # noqa: E402

t = h.Tap()
SESSIONS = 1000
NEEDLE = "needle-in-the-last-record"


def fill(sessions, size):
    """One log of that many bytes, with a name in each session. Returns its
    cost in millionths of a dollar."""
    m = MadeLog(1795000000).start().state(0)
    length = sum(map(len, m.lines))
    cost = 0
    arguments = {"path": "/home/me/shop/" + "x" * 700}
    while length < size:
        at = len(m.lines)
        m.call("read", "allow", arguments)
        if m.seq % 20 == 0:
            cost += 137
            m.usage("big", 1000).state(cost)
        m.at += 0.5
        length += sum(map(len, m.lines[at:]))
    m.add("alarm", kind="kind", text=NEEDLE, who="who").stop()
    first = m.write(os.path.join(sessions, "20261118-100000-0000"))
    for i in range(1, SESSIONS):
        place = os.path.join(sessions, f"20261118-100000-{i:04}")
        os.mkdir(place, 0o700)
        os.link(first, os.path.join(place, "audit.jsonl"))
    return cost


def timed(home, *args):
    begin = time.monotonic()
    r = subprocess.run(
        [h.program("icctl"), *args], capture_output=True, check=False,
        env={"PATH": "/usr/bin:/bin", "HOME": home, "LANG": "C.UTF-8",
             "IRONCURTAIN_HOME": home})
    return r, time.monotonic() - begin


def main():
    size = int(sys.argv[1]) << 20 if len(sys.argv) > 1 else 1 << 20
    with h.workdir() as work, t.case("scale"):
        sessions = os.path.join(work, "sessions")
        os.mkdir(sessions, 0o700)
        cost = fill(sessions, size)
        r, first = timed(work, "--json", "usage")
        once = json.loads(r.stdout)
        t.equal((round(once["totals"]["totalCost"] * 1e6), r.stderr),
                (SESSIONS * cost, b""),
                f"{SESSIONS} sessions are added up, without a rest")
        print(f"# reading and checking all: {first:.1f} s, "
              f"{SESSIONS * size / first / 1e6:.0f} MB/s")
        best = []
        for _ in range(5):
            r, took = timed(work, "--json", "usage")
            best.append(took)
        t.equal(json.loads(r.stdout), once, "and are the same again")
        print(f"# again: {min(best):.3f} s, of {len(best)} the best")
        t.ok(min(best) < 1 * h.PATIENCE, "in less than a second", best)
        r, took = timed(work, "audit", "search", "--all", NEEDLE)
        t.equal(len(r.stdout.splitlines()), SESSIONS,
                "a text is found in each")
        print(f"# search: {took:.1f} s, "
              f"{SESSIONS * size / took / 1e6:.0f} MB/s")
    t.done()


if __name__ == "__main__":
    main()
