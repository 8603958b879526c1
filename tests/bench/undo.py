# SPDX-License-Identifier: ISC
"""The cost of undo: a checkpoint beside `git status` in the same tree, of 10,000
and of 100,000 files, without changes and with ten changed files; and how much
later a turn begins in a workspace of 10,000 files. Each pair is measured in one
run, in alternating order; a ratio is the median of the rounds' ratios. On a
machine that does anything else, the processor times and the numbers of system
calls mean more than the times: git asks for files in several threads, which get
more of a shared processor."""
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "lib"), os.path.join(HERE, "..", "undo"),
                os.path.join(HERE, "..", "e2e", "icctl")]
import harness as h  # noqa: E402
from snap import LIMITS, PROGRAM  # noqa: E402
from test_conversation import Talk  # noqa: E402

MUST, AIM = 1.5, 1.0            # a checkpoint, beside git status
LATER = 1.05                    # a turn, beside one without undo
SIZES = (10000, 100000)
# Says when it was started, by a clock that the sandbox shares.
AGENT = r"""#!/usr/bin/python3
import time
print("began", time.clock_gettime(time.CLOCK_MONOTONIC), flush=True)
"""


def fill(top, n):
    """A repository of many files, all of them in a commit."""
    for i in range(n):
        d = os.path.join(top, f"d{i // 5000}", f"e{i // 20}")
        if i % 20 == 0:
            os.makedirs(d)
        with open(os.path.join(d, f"f{i}.c"), "wb") as f:
            f.write(b"%d\n" % i * 10)
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@example.org",
           "-c", "gc.auto=0", "-C", top]
    for words in (["init", "-q"], ["config", "gc.auto", "0"], ["add", "-A"],
                  ["commit", "-q", "-m", "all"]):
        subprocess.run([*git, *words], check=True, stdout=subprocess.DEVNULL)


def ran(argv, fds=()):
    """Runs a program. Returns its time, and its processor time."""
    began = time.monotonic()
    p = subprocess.Popen(argv, stdout=subprocess.DEVNULL, pass_fds=fds)
    _, status, used = os.wait4(p.pid, 0)
    took = time.monotonic() - began
    p.returncode = os.waitstatus_to_exitcode(status)
    if p.returncode != 0:
        raise RuntimeError(f"{argv[:3]} exited with {p.returncode}")
    return took, used.ru_utime + used.ru_stime


class Pair:
    """A checkpoint and `git status` of one tree."""

    def __init__(self, work, n):
        self.top, self.store = (os.path.join(work, x) for x in ("tree", "undo"))
        for d in (self.top, self.store):
            os.makedirs(d, mode=0o700)
        fill(self.top, n)
        self.fds = [os.open(d, os.O_RDONLY | os.O_DIRECTORY)
                    for d in (self.top, self.store)]
        self.words = ["kind=turn", "session=s"] + [
            f"{k}={v}" for k, v in LIMITS.items()]
        self.calls = os.path.join(work, "calls")

    def snap(self, over=()):
        return ran([*over, "/bin/sh", "-c", 'exec "$0" save "$@" 3<&%d 4<&%d'
                    % tuple(self.fds), PROGRAM, *self.words], self.fds)

    def git(self, over=()):
        return ran([*over, "git", "-C", self.top, "status"])

    def counted(self, what):
        """Returns the number of system calls, or None."""
        if not shutil.which("strace"):
            return None
        what(("strace", "-f", "-qq", "-c", "-U", "calls,name", "-o",
              self.calls))
        with open(self.calls, encoding="utf-8") as f:
            return int(re.findall(r"^ *(\d+) .*total$", f.read(), re.M)[0])

    def change(self, i):
        for k in range(10):
            with open(os.path.join(self.top, "d0/e0", f"f{k}.c"), "w",
                      encoding="ascii") as f:
                f.write(f"changed {i} {k}\n")

    def measure(self, rounds, changes):
        found = []
        for i in range(rounds):
            if changes:
                self.change(i)
            first = self.git if i % 2 else self.snap
            second = self.snap if i % 2 else self.git
            a, b = first(), second()
            found.append((b, a) if i % 2 else (a, b))
        return found


def row(name, found, limits, **more):
    return {"name": name, **limits, **more,
            "ours": statistics.median(a[0] for a, _ in found),
            "other": statistics.median(b[0] for _, b in found),
            "ratio": statistics.median(a[0] / b[0] for a, b in found),
            "cpu": statistics.median(a[1] / b[1] for a, b in found)}


def checkpoints(work, n, rounds):
    place = os.path.join(work, str(n))
    p = Pair(place, n)
    limits = {"must": MUST, "aim": AIM}
    for what in (p.snap, p.git, p.snap, p.git):
        what()
    calls = p.counted(p.snap), p.counted(p.git)
    rows = [row(f"{n} files", p.measure(rounds, False), limits, calls=calls),
            row(f"{n} files, 10 changed", p.measure(rounds, True), limits)]
    for fd in p.fds:
        os.close(fd)
    shutil.rmtree(place)
    return rows


def begun(k):
    """Returns how long after `icctl send` the agent was started."""
    began = time.clock_gettime(time.CLOCK_MONOTONIC)
    r = k.icctl("send", "--", "go")
    return float(re.findall(r"began ([0-9.]+)", r.stdout)[0]) - began


def turns(work, rounds):
    """Turns of two sessions, with undo and without, in trees that are equal."""
    talks = []
    for undo in (True, False):
        place = os.path.join(work, f"turns-{undo}")
        s = h.Session(place, config={} if undo else {"undo": False})
        fill(s.workspace, SIZES[0])
        h.put(os.path.join(s.workspace, "agent.py"), AGENT, 0o755)
        talks.append(Talk(place, "--", "/workspace/agent.py", session=s))
    with talks[0] as with_undo, talks[1] as without:
        for k in (with_undo, without):
            begun(k)
        found = []
        for i in range(2 * rounds):
            a = begun(with_undo) if i % 2 else None
            b = begun(without)
            found.append(((a or begun(with_undo), 1.0), (b, 1.0)))
    later = statistics.median(a[0] - b[0] for a, b in found)
    return row(f"a turn, {SIZES[0]} files", found, {"must": LATER},
               later=later)


def found(rounds):
    with h.workdir() as work:
        rows = []
        for n in SIZES:
            rows += checkpoints(work, n, rounds)
        if shutil.which("bwrap"):
            rows.append(turns(work, rounds))
        return rows


def report(rounds, as_json):
    rows = found(rounds)
    if as_json:
        print(json.dumps(rows))
        return
    print(f"load {os.getloadavg()[0]:.2f}; {rounds} rounds; a checkpoint beside "
          f"git status: at most {MUST}, aim {AIM}; a turn: at most {LATER}")
    for x in rows:
        more = (f"later by {x['later'] * 1000:.1f} ms" if "later" in x else
                f"processor {x['cpu']:.2f}")
        if x.get("calls") and all(x["calls"]):
            more += "  calls {} and {}, {:.2f}".format(
                *x["calls"], x["calls"][0] / x["calls"][1])
        print(f"{x['name']:26} {x['ours'] * 1000:8.1f} ms beside "
              f"{x['other'] * 1000:8.1f} ms  ratio {x['ratio']:.2f}  {more}")
