#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""icctl usage over a thousand sessions whose logs have MB megabytes each, by
the first argument: once they were read, what they cost is known in a second,
as each session's own budget has it, and a text is found in all of them as fast
as they can be read.

The logs are four files, each with many names: the disk is not what is timed. The
four are read and checked; the sums of each are then kept beside its other names,
too. With a second argument, `all`, every name is read."""
import json
import os
import shutil
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
LOGS = 4
NEEDLE = "needle-in-the-last-record"


def name(i):
    return f"20261118-100000-{i:04}"


def make(place, size, kind):
    """One log of that many bytes. Returns its path, and its cost in millionths
    of a dollar."""
    m = MadeLog(1795000000).start().state(0)
    length = sum(map(len, m.lines))
    cost = 0
    arguments = {"path": "/home/me/shop/" + "x" * 700}
    while length < size:
        at = len(m.lines)
        m.call("read", "allow", arguments)
        if m.seq % (20 + kind) == 0:
            cost += 137 + kind
            m.usage("big", 1000).state(cost)
        m.at += 0.5
        length += sum(map(len, m.lines[at:]))
    m.add("alarm", kind="kind", text=NEEDLE, who="who").stop()
    return m.write(place), cost


def fill(sessions, held, size):
    """Writes a log of each kind; its other names are held back, as each one
    would set the file's times again. Returns the costs of the kinds."""
    costs = []
    for kind in range(LOGS):
        first, cost = make(os.path.join(sessions, name(kind)), size, kind)
        costs.append(cost)
        for i in range(kind + LOGS, SESSIONS, LOGS):
            os.makedirs(os.path.join(held, name(i)), mode=0o700)
            os.link(first, os.path.join(held, name(i), "audit.jsonl"))
    return costs


def show(sessions, held, sums):
    """The other names, each with the sums of its log if `sums`."""
    for i in range(LOGS, SESSIONS):
        os.rename(os.path.join(held, name(i)), os.path.join(sessions, name(i)))
        if sums:
            kept = os.path.join(sessions, name(i), "usage.cache")
            shutil.copyfile(os.path.join(sessions, name(i % LOGS),
                                         "usage.cache"), kept)
            os.chmod(kept, 0o600)


def timed(home, *args):
    begin = time.monotonic()
    r = subprocess.run(
        [h.program("icctl"), *args], capture_output=True, check=False,
        env={"PATH": "/usr/bin:/bin", "HOME": home, "LANG": "C.UTF-8",
             "IRONCURTAIN_HOME": home})
    return r, time.monotonic() - begin


def budgets(work, rows):
    """The sum of a session is that of its own budget."""
    for i in [*range(LOGS), *range(LOGS, SESSIONS, 97)]:
        r, _ = timed(work, "--json", "--session", name(i), "budget")
        used = json.loads(r.stdout)["used"]["usd"]
        if round(used * 1e6) != round(rows[name(i)] * 1e6):
            return name(i), used, rows[name(i)]
    return None


def main():
    size = int(sys.argv[1]) << 20 if len(sys.argv) > 1 else 1 << 20
    every = sys.argv[2:] == ["all"]
    with h.workdir() as work, t.case("scale"):
        sessions, held = (os.path.join(work, x) for x in ("sessions", "held"))
        os.mkdir(sessions, 0o700)
        costs = fill(sessions, held, size)
        if every:
            show(sessions, held, False)
        total = sum(costs) * (SESSIONS // LOGS)
        _, first = timed(work, "--json", "usage")
        n = SESSIONS if every else LOGS
        print(f"# reading and checking {n * size >> 20} MB: {first:.1f} s, "
              f"{n * size / first / 1e6:.0f} MB/s")
        if not every:
            show(sessions, held, True)
        best = []
        for _ in range(5):
            r, took = timed(work, "--json", "usage")
            best.append(took)
        found = json.loads(r.stdout)["totals"]
        t.equal((round(found["totalCost"] * 1e6), found["sessions"], r.stderr),
                (total, SESSIONS, b""),
                f"{SESSIONS} sessions are added up, without a rest")
        print(f"# sums of {SESSIONS * size >> 20} MB: {min(best):.3f} s, of "
              f"{len(best)} the best")
        t.ok(min(best) < 1 * h.PATIENCE, "in less than a second", best)
        r, _ = timed(work, "--json", "usage", "--by", "session")
        rows = {x["sessionId"]: x["totalCost"]
                for x in json.loads(r.stdout)["sessions"]}
        t.equal((len(rows), budgets(work, rows)), (SESSIONS, None),
                "what each cost is what its budget says")
        r, took = timed(work, "audit", "search", "--all", NEEDLE)
        t.equal(len(r.stdout.splitlines()), SESSIONS,
                "a text is found in each")
        print(f"# search: {took:.1f} s, "
              f"{SESSIONS * size / took / 1e6:.0f} MB/s")
    t.done()


if __name__ == "__main__":
    main()
