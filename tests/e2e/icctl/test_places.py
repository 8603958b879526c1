#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""A session at a place of the user's (icctl start --session-dir), and what a
person sees once a session has ended: icctl stop waits for that, and lists what
may run later."""
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
from lives import ADAPTER, AGENT, Life  # noqa: E402

t = h.Tap()
WRITES = AGENT + "case $m in make) echo all: >/workspace/Makefile ;; esac\n"


def start(k, *args):
    return k.icctl("start", "--detach", "--json", "--agent", "parrot",
                   "--workspace", k.workspace, *args)


def test_stop(work):
    with Life(work, agent=WRITES) as k:
        k.send("make")
        sid = k.id
        r = k.icctl("stop")
        t.ok(r.returncode == 0 and "has ended" in r.stdout
             and "Makefile (make)" in r.stdout,
             "icctl stop lists what may run later", r)
        t.ok(not h.alive(k.pid), "and has waited for the end")
        k.pid = 0
        r = k.icctl("ls")
        row = next(x for x in r.stdout.splitlines() if sid in x).split()
        t.equal(row[:2], ["workspace", "closed"], "it is closed at once")
        for command in (["attach", sid], ["--session", sid, "pending"]):
            r = k.icctl(*command)
            t.ok(r.returncode == 3 and "is no longer running. To go on with "
                 f"it: icctl resume {sid}." in r.stderr,
                 f"{command}: how to go on is said", r.stderr)
        t.equal(k.resume().returncode, 0, "and it works at once")


def test_place(work):
    place = os.path.join(work, "elsewhere", "one")
    os.mkdir(os.path.dirname(place), 0o700)
    with Life(work, "--session-dir", place) as k:
        t.equal(k.dir, place, "the session is there")
        t.equal(os.stat(place).st_mode & 0o777, 0o700, "for its user alone")
        k.send("one")
        r = start(k, "--session-dir", place)
        t.ok(r.returncode == 1 and "it is there already" in r.stderr
             and f"icctl resume {place}" in r.stderr,
             "a directory that is there is refused", r.stderr)
        k.stop()
        k.id = place
        t.equal(k.resume().returncode, 0, "its directory resumes it")
        t.contains(k.send("two")[-3:][0].get("text", "") +
                   str(k.kept()), "before: one", "with what was said")
        k.stop()
        for args, why in ((["--session-dir", ""], "not a path"),
                          (["--session-dir", "x" * 5000], "not a path"),
                          (["--session-dir"], "needs a value"),
                          (["--session-dir", os.path.join(work, "no", "x")],
                           "No such file"),
                          (["--session-dir", os.path.join(k.workspace, "x")],
                           "contains this session's directory"),
                          (["--systemd", "--session-dir", place + "2"],
                           "--session-dir")):
            r = start(k, *args)
            t.ok(r.returncode not in (0, None) and why in r.stdout + r.stderr,
                 f"{args[0]} {args[-1][:20]}: refused", r)
        t.equal(os.listdir(k.workspace), [], "nothing is left")


def test_program(work):
    """An adapter may name its program by a path."""
    program = h.put(os.path.join(work, "tools", "parrot"), AGENT, 0o755)
    with Life(work, adapter={**ADAPTER, "program": ["no-such-program",
                                                   program]}) as k:
        k.stop()
        k.s.write("config.json", k.s.config)
        r = k.take(start(k))
        t.equal(r.returncode, 0, f"a program by its path: {r.stderr}")
        k.stop()
        os.unlink(program)
        r = start(k)
        t.ok(r.returncode != 0 and "not found" in r.stdout + r.stderr,
             "one that is gone", r)


def main():
    for test in (test_stop, test_place, test_program):
        with h.workdir() as work, t.case(test.__name__):
            test(work)
    t.done()


main()
