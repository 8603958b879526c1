#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Tests that termd's death does not end a session: an alarm is recorded, it is
started again, and the agent's output continues; at most three times a minute,
and the session continues without it as well."""
import os
import signal
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402

t = h.Tap()


def termd(s, but=()):
    """Returns the pid of termd if it is none of these."""
    return next((p for p in s.workers().get("termd", []) if p not in but),
                None)


def alarms(s):
    return [e for e in s.events("alarm") if e["kind"] == "terminal"]


def test_restart():
    with h.workdir() as work, t.case("restart"):
        s = h.Session(work, runtime="bwrap",
                      options=("--agent", "command", "--", "/bin/sleep",
                               "600")).start()
        h.wait_for(lambda: "agent command started" in s.session_log(),
                   "the agent was not started")
        seen = []
        for n in range(1, 4):
            pid = h.wait_for(lambda: termd(s, seen), "no termd")
            seen.append(pid)
            h.kill(pid, signal.SIGSEGV)
            h.wait_for(lambda n=n: len(alarms(s)) == n, f"no alarm {n}")
        t.contains(alarms(s)[0]["text"], "SIGSEGV", "the alarm says how")
        t.ok("in a while" not in alarms(s)[2]["text"],
             "three restarts come at once")
        fourth = h.wait_for(lambda: termd(s, seen), "no fourth termd")
        h.kill(fourth)
        h.wait_for(lambda: len(alarms(s)) == 4, "no fourth alarm")
        t.contains(alarms(s)[3]["text"], "in a while",
                   "the next one has to wait")
        ends = [e["detail"]["role"] for e in s.events("workerEnd")]
        t.equal(ends, ["termd"] * 4, "each end is recorded")
        t.equal(s.icctl("status").returncode, 0, "the session lives")
        t.equal(s.icctl("audit", "verify", os.path.join(
            s.dir, "audit.jsonl")).returncode, 0, "the log is whole")
        t.equal(s.stop(), 143, "and it ends when it is asked to")


test_restart()
t.done()
