#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""The time of a turn is used up: everything in the sandbox is told to end,
what does not is killed, and the session ends with 124."""
import json
import os
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
from started import Place  # noqa: E402

t = h.Tap()
POLITE = """(trap 'echo told >/workspace/child; exit' TERM
 echo up >/workspace/child.up; while :; do sleep 0.1; done) &
child=$!
trap 'wait $child; echo told >/workspace/agent; exit 0' TERM
while :; do sleep 0.1; done
"""
STUBBORN = """trap '' TERM
(while :; do sleep 0.1; done) &
while :; do sleep 0.1; done
"""


def place(work, **limits):
    return Place(work, {"resourceBudget": {**h.NO_BUDGET, **limits}})


def with_argument(word):
    """Returns the processes that have this word on their command line."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                if word.encode() in f.read().split(b"\0"):
                    found.append(int(pid))
        except OSError:
            pass
    return found


def told(p, name):
    with open(os.path.join(p.project, name), encoding="utf-8") as f:
        return f.read() == "told\n"


def polite(work):
    p = place(work, maxTurnSeconds=4)
    r = p.run(p.script(POLITE))
    err = r.stderr.decode()
    t.equal(r.returncode, 124, "the status says that the time was up")
    t.ok(told(p, "agent") and told(p, "child"),
         "the agent and its children got SIGTERM, and could end", err)
    t.ok("The turn's time of 4 seconds (resourceBudget.maxTurnSeconds) is "
         "used up" in err and "config.json" in err,
         "the person reads which limit it was, and what raises it", err)
    with open(os.path.join(p.session(), "session.json"),
              encoding="utf-8") as f:
        end = json.load(f)
    t.ok(end["status"] == 124 and "maxTurnSeconds" in end["why"],
         "session.json says so", end)
    stop = h.read_lines(os.path.join(p.session(), "audit.jsonl"))[-1]
    t.ok(stop["event"] == "stop" and stop["detail"]["status"] == 124 and
         "maxTurnSeconds" in stop["detail"]["reason"],
         "the closing record says so", stop)


def stubborn(work):
    p = place(work, maxTurnSeconds=2)
    word = "timeup-" + os.path.basename(work)
    began = time.monotonic()
    r = p.run(p.script(STUBBORN), word)
    took = time.monotonic() - began
    t.equal(r.returncode, 124, "an agent that ignores SIGTERM ends as well")
    t.ok(took >= 7, "five seconds later", took)
    h.wait_for(lambda: not with_argument(word), "processes are left")
    t.ok(True, "and its children in the background do, too")


def session_time(work):
    p = place(work, maxSessionSeconds=4)
    r = p.run(p.script(POLITE))
    t.ok(r.returncode == 124 and
         b"resourceBudget.maxSessionSeconds" in r.stderr,
         "the session's time ends it likewise", r)


def in_time(work):
    p = place(work, maxTurnSeconds=60, maxSessionSeconds=60)
    t.equal(p.run(p.script("exit 3\n")).returncode, 3,
            "an agent that ends in time has its own status")


def main():
    for part in (polite, stubborn, session_time, in_time):
        with h.workdir() as work, t.case(part.__name__):
            part(work)
    t.done()


if __name__ == "__main__":
    main()
