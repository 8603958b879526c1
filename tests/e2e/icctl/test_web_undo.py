#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Undo from the page of `icctl web`: of a conversation's turn, and after its
end. A yes is for the plan that this login was shown a second ago."""
import fcntl
import http.client
import json
import os
import signal
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
import webpage  # noqa: E402
from test_conversation import Talk  # noqa: E402

t = h.Tap()
AGENT = """#!/bin/sh
cd /workspace
eval "$(cat)"
echo done
"""


def undo(p, sid, to="", digest=""):
    body = {"session": sid, "call": str(to), "digest": digest}
    return p.ask("/api/undo", {k: v for k, v in body.items() if v})


def before(p, sid, turn):
    """Returns the checkpoint before that turn."""
    _, o = undo(p, sid)
    return [c["checkpoint"] for c in o["checkpoints"]
            if c["turn"] == turn and c["of"] in ("start", "turn")][-1]


def looked():
    time.sleep(1.1)     # the time is the test


def at_once(p, k, sid, to):
    """Says yes to a plan that was not shown for a second. Returns the plan,
    and the status and the answer to the yes."""
    for _ in range(20):
        began = time.monotonic()
        _, plan = undo(p, sid, to)
        status, o = undo(p, sid, to, plan["plan"])
        if status != 200 or time.monotonic() - began < 1:
            return plan, status, o
        # The machine is too slow: it was done, and is taken back.
        r = k.icctl("--session", k.s.dir, "undo", "--yes", "--all", "--to",
                    str(o["from"]))
        if r.returncode != 0:
            raise RuntimeError(r.stderr)
    raise RuntimeError("no yes comes within a second of its plan")


def works(pid):
    """Returns true once icctl web runs a command."""
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
        for child in f.read().split():
            try:
                with open(f"/proc/{child}/cmdline", "rb") as c:
                    if b"--plan" in c.read().split(b"\0"):
                        return True
            except FileNotFoundError:
                pass
    return False


def test_end(p, k, sid, top):
    """The end of icctl web does not cut an undo short."""
    k.send("rm a*.txt; echo x >c.txt")
    to = before(p, sid, 2)
    _, plan = undo(p, sid, to)
    looked()
    pid = p.process.p.pid

    def yes():
        try:
            undo(p, sid, to, plan["plan"])
        except (OSError, http.client.HTTPException):
            pass        # the page is gone before it can answer
    th = threading.Thread(target=yes)
    store = os.path.join(k.s.home, "undo")
    with open(os.path.join(store, os.listdir(store)[0], "lock"), "rb") as lock:
        # No checkpoint is made, and nothing put back, as long as it is held.
        fcntl.flock(lock, fcntl.LOCK_EX)
        th.start()
        h.wait_for(lambda: works(pid), "the undo is begun")
        os.kill(pid, signal.SIGINT)
        with open(os.path.join(k.s.home, "web.err"), encoding="utf-8") as f:
            h.wait_for(lambda: f.seek(0) == 0 and
                       "icctl web ends after it" in f.read(), "it waits")
        t.ok(p.process.p.poll() is None and
             os.path.exists(os.path.join(top, "c.txt")),
             "icctl web waits for an undo that has begun")
    th.join()
    p.process.p.wait(30 * h.PATIENCE)
    with open(os.path.join(k.s.home, "web.err"), encoding="utf-8") as f:
        t.contains(f.read(), "it is done", "and says how it ended")
    t.ok(os.path.exists(os.path.join(top, "a\x1b[31m.txt")) and
         not os.path.exists(os.path.join(top, "c.txt")), "all of it is done")
    names = [e["event"] for e in k.s.audit("undo", "undoEnd")]
    t.equal(names.count("undo"), names.count("undoEnd"),
            "and its end is recorded")
    p.process.end()


def test_yes(p, k, sid, top):
    to = before(p, sid, 1)
    plan, status, o = at_once(p, k, sid, to)
    t.equal([r["path"] for r in plan["comeBack"]], ["a\\x1b[31m.txt"],
            "the plan names what comes back")
    t.ok(status == 409 and "just appeared" in o["error"], "not at once", o)
    looked()
    status, o = undo(p, sid, to, "0" * 64)
    t.ok(status == 409 and "has not shown that plan" in o["error"],
         "not another digest", o)
    other = webpage.Page.__new__(webpage.Page)
    other.__dict__.update(p.__dict__)
    link = p.run()[1].strip().strip('"')
    other.login(link)
    status, o = undo(other, sid, to, plan["plan"])
    t.ok(status == 409 and "has not shown that plan" in o["error"],
         "nor another login", o)
    t.equal(undo(p, sid, to + 1, plan["plan"])[0], 409,
            "nor another checkpoint")
    t.ok(not os.path.exists(os.path.join(top, "a\x1b[31m.txt")),
         "until then nothing is put back")
    status, o = undo(p, sid, to, plan["plan"])
    t.equal((status, o["done"], o["whole"], o["failed"]),
            (200, True, True, []), "then it is done")
    t.ok(os.path.exists(os.path.join(top, "a\x1b[31m.txt")) and
         not os.path.exists(os.path.join(top, "b.txt")), "the files are back")
    status, o = undo(p, sid, to, plan["plan"])
    t.ok(status == 409 and "has not shown" in o["error"], "a yes is for once",
         o)


def test_busy(p, k, sid):
    k.popen("send", "--json", "echo waiting; exec sleep 1000")
    p.until(lambda o: any(s["id"] == sid and s["state"] not in ("ready", "")
                          for s in o["sessions"]), "a turn runs")
    status, o = undo(p, sid, before(p, sid, 1))
    t.ok(status == 409 and "turn is running" in o["error"],
         "not while a turn runs", (status, o))
    t.equal(undo(p, sid)[0], 200, "the list is shown then")
    k.icctl("interrupt")


def test_bad(p, sid):
    for body in ({"session": "nobody"}, {"session": "../x"}, {}):
        t.equal(p.ask("/api/undo", body)[0], 404, f"{body}: 404")
    for to in ("x", "-1", "99999999999", "--all"):
        t.equal(undo(p, sid, to)[0], 400, f"checkpoint {to}: 400")
    status, o = undo(p, sid, 4000000)
    t.ok(status == 409 and "no checkpoint" in o["error"], "one that is not",
         (status, o))
    t.equal(p.ask("/api/undo", {"session": sid}, X_IronCurtain="00" * 32)[0],
            401, "without a login nothing is listed")


def main():
    with h.workdir() as work, t.case("web undo"):
        top = os.path.join(work, "workspace")
        os.makedirs(top, mode=0o700)
        h.put(os.path.join(top, "agent.sh"), AGENT, 0o755)
        h.put(os.path.join(top, "a\x1b[31m.txt"), "one\n")
        p = None
        with Talk(work, "--", "/workspace/agent.sh") as k:
            if k.started.returncode != 0:
                raise RuntimeError(k.started.stderr)
            sid = os.path.basename(k.s.dir)
            try:
                p = webpage.Page(k.s.home)
                p.login()
                p.until(lambda o: o["sessions"], "the session")
                k.send("rm a*.txt; echo x >b.txt")
                test_yes(p, k, sid, top)
                test_bad(p, sid)
                test_end(p, k, sid, top)
                p = webpage.Page(k.s.home)
                p.login()
                test_busy(p, k, sid)
            finally:
                if p:
                    p.stop()
    t.done()


main()
