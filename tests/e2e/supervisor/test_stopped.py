#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Tests processes of a session that are stopped by a signal: each causes an
alarm after ten seconds, and none remains after icsupervisor has ended; also
the resolver, which ends with dialerd."""
import json
import os
import signal
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
from started import children  # noqa: E402

t = h.Tap()


def status(s):
    return json.loads(s.icctl("--json", "status", check=True).stdout)


def test_alarm(work):
    with h.Session(work) as s:
        pid = s.workers()["mitmd"][0]
        h.kill(pid, signal.SIGSTOP)
        alarms = h.wait_for(lambda: status(s)["alarms"], "no alarm", 30,
                            poll=0.5)
        t.equal([(a["who"], a["kind"]) for a in alarms],
                [("mitmd", "stopped")], "one that is stopped is an alarm")
        t.contains(alarms[0]["text"], f"kill -CONT {pid}",
                   "that says what to do")
        t.equal([w["name"] for w in status(s)["workers"] if w["stopped"]],
                ["mitmd"], "icctl status marks it")
        t.equal([e["detail"]["worker"] for e in s.events("workerStopped")],
                ["mitmd"], "it is in the log")
        h.kill(pid, signal.SIGCONT)
        h.wait_for(lambda: not any(w["stopped"] for w in
                                   status(s)["workers"]), "it does not go on")
        t.ok(True, "then it goes on")
    t.equal(s.process.p.returncode, 0, "and the session ends as it should")


def test_orphan(work):
    s = h.Session(work).start()
    pid = s.workers()["auditd"][0]
    h.kill(pid, signal.SIGSTOP)
    h.kill(s.pid)
    s.wait()
    h.wait_for(lambda: not h.alive(pid), "auditd stays")
    t.equal(s.events("stop")[-1]["detail"]["reason"],
            "icsupervisor is gone",
            "auditd, stopped when icsupervisor dies, writes its last line")


def descendants(pid):
    for p in children(pid):
        yield p
        yield from descendants(p)


def comm(pid):
    try:
        with open(f"/proc/{pid}/comm", encoding="ascii") as f:
            return f.read().strip()
    except OSError:
        return ""


def test_all(work):
    """Every process is stopped, dialerd's resolver among them."""
    with h.Session(work, config={
            "providers": {"anthropic": {"upstream": "https://localhost:9"}},
            "credentials": {"anthropic": {"env": "ANTHROPIC_API_KEY"}}}) as s:
        # It starts no more, and those that it has started are themselves: a
        # child asks for the signal of its parent's death after its fork.
        h.kill(s.pid, signal.SIGSTOP)
        h.wait_for(lambda: "icsupervisor" not in map(comm, descendants(s.pid)),
                   "a child has not become its program")
        mine = sorted(descendants(s.pid))
        t.ok("resolver" in map(comm, mine), "there is a resolver",
             str([comm(p) for p in mine]))
        for pid in mine:
            h.kill(pid, signal.SIGSTOP)
        h.kill(s.pid)
        s.wait()
        h.wait_for(lambda: not any(h.alive(p) for p in mine),
                   f"some of {mine} stay")
        t.ok(True, "all that were stopped are gone with icsupervisor")


def main():
    for part in (test_alarm, test_orphan, test_all):
        with h.workdir() as work, t.case(part.__name__):
            part(work)


main()
t.done()
