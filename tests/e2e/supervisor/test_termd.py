#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Tests that termd's death does not end a session: an alarm is recorded, it is
started again, and the agent's output continues; at most three times a minute,
and the session continues without it as well. And a worker that crashes while a
session ends is recorded like any other."""
import json
import os
import signal
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402

t = h.Tap()
LATE = "was killed by SIGSEGV while the session ended"


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


def test_late():
    """Workers that crash while the session ends, which takes as long as termd
    does not answer."""
    for role, evidence in (("mitmd", True), ("auditd", True),
                           ("termd", False)):
        with h.workdir() as work, t.case(role):
            s = h.Session(work, runtime="bwrap",
                          options=("--agent", "command", "--", "/bin/sleep",
                                   "600")).start()
            h.wait_for(lambda s=s: "agent command started" in s.session_log(),
                       "the agent was not started")
            workers = s.workers()
            stopped = workers["termd"][0]
            os.kill(stopped, signal.SIGSTOP)
            if role == "auditd":
                os.kill(workers[role][0], signal.SIGSTOP)
            h.kill(s.pid, signal.SIGTERM)
            # It is ending now.
            h.wait_for(lambda s=s: "ending: asked to stop"
                       in s.session_log(), "it does not end")
            if role != "auditd":
                h.wait_for(lambda s=s: s.events("stop"), "no closing record")
            os.kill(workers[role][0], signal.SIGSEGV)
            if role == "auditd":
                os.kill(workers[role][0], signal.SIGCONT)
            if role != "termd":
                # Before termd goes on, and all others are killed.
                h.wait_for(lambda s=s: LATE in s.session_log(), "no death")
            os.kill(stopped, signal.SIGCONT)
            t.equal(s.wait(20), 143, f"{role}: the status is that of the stop")
            log = s.audit()
            t.equal([e["detail"]["role"] for e in log
                     if e["event"] == "workerEnd"], [role],
                    f"{role}: its end is recorded")
            t.contains(json.dumps(log), "was killed by SIGSEGV",
                       f"{role}: and how")
            t.equal(log[-1]["event"], "stop",
                    f"{role}: the last record closes the log")
            t.equal(role in log[-1]["detail"].get("evidence", ""), evidence,
                    f"{role}: evidence")
            t.contains(s.session_log(), LATE,
                       f"{role}: session.log has it")
            t.equal(s.icctl("audit", "verify", s.dir).returncode, 0,
                    f"{role}: the log is whole")


test_restart()
test_late()
t.done()
