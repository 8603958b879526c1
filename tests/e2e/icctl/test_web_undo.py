#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Undo from the page of `icctl web`: of a conversation's turn, and after its
end. A yes is for the plan that this login was shown a second ago."""
import os
import sys
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


def test_yes(p, sid, top):
    to = before(p, sid, 1)
    status, plan = undo(p, sid, to)
    t.equal((status, [r["path"] for r in plan["comeBack"]]),
            (200, ["a\\x1b[31m.txt"]), "the plan names what comes back")
    status, o = undo(p, sid, to, plan["plan"])
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
                test_yes(p, sid, top)
                test_bad(p, sid)
                test_busy(p, k, sid)
            finally:
                if p:
                    p.stop()
    t.done()


main()
