#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""The statuses of sessions, and the codes of errors that programs read."""
import json
import os
import shutil
import signal
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
from test_conversation import Talk, shell, texts  # noqa: E402

t = h.Tap()


def state(k):
    rows = json.loads(k.icctl("ls", "--json").stdout)
    return [r["state"] for r in rows]


def refused(k, *args):
    """The exit status of a send that is refused, and the code that it has."""
    r = k.icctl("send", "--json", *args)
    last = json.loads(r.stdout.splitlines()[-1])
    return r.returncode, last["ok"], last["code"], bool(last["error"])


def test_statuses(work):
    with Talk(work, *shell(work)) as k:
        t.equal(state(k), ["ready"], "it can take a message")
        p = k.popen("send", "--json", "wait")
        while "waiting" not in p.stdout.readline():
            pass
        t.equal(state(k), ["processing"], "a turn runs")
        t.equal(refused(k, "another"), (75, False, "busy", True),
                "another message is refused")
        k.icctl("stop")
        events = [json.loads(x) for x in p.stdout]
        p.wait()
        p.stdout.close()
        t.ok({"stopping"} <= {e.get("status") for e in events},
             "the session tells that it stops", events)
        h.wait_for(lambda: state(k) == ["closed"], "it is not closed")
        t.ok(True, "and then it is closed")
        t.equal(refused(k, "--session", k.told["session"], "more"),
                (3, False, "SESSION_CLOSED", True), "it takes no message")
        t.equal(refused(k, "--session", "nonesuch", "more"),
                (3, False, "not-found", True), "nor does one that never was")
    with Talk(work, *shell(work)) as k:
        os.kill(k.told["pid"], signal.SIGKILL)
        h.wait_for(lambda: "crashed" in state(k), "it did not crash")
        t.equal(refused(k, "--session", k.told["session"], "more"),
                (3, False, "SESSION_CLOSED", True),
                "one that was killed takes none either")
        r = k.icctl("approve", "k3f9")
        t.ok(r.returncode == 3 and "crashed" in r.stderr and
             "icctl resume" in r.stderr,
             "an answer to it is told that it crashed", r)


def test_budget(work):
    s = h.Session(work, config={"resourceBudget": {**h.NO_BUDGET,
                                                   "maxSteps": 0}})
    with Talk(work, *shell(work), session=s) as k:
        t.equal(refused(k, "hello"), (1, False, "BUDGET_EXHAUSTED", True),
                "no turn begins without a budget")
        r = k.icctl("send", "hello")
        t.ok("icctl budget set maxSteps" in r.stderr, "what to do", r.stderr)
        k.icctl("budget", "set", "maxSteps", "5")
        status, events = k.send("hello")
        t.ok(status == 0 and "told: hello" in texts(events),
             "then it does", events)


def test_start(work):
    s = h.Session(work)
    s.write("config.json", {"no such key": 1})
    k = Talk(work, *shell(work), session=s)
    last = json.loads(k.started.stdout.splitlines()[-1])
    t.ok(k.started.returncode != 0 and last["code"] == "SESSION_INIT_FAILED"
         and "no such key" in last["error"] and "no such key" in
         k.started.stderr, "a session that cannot start says so", k.started)


def test_not_ready(work):
    """A message comes while a server has not begun to answer."""
    log = os.path.join(work, "log", "echo")
    gate = os.path.join(work, "log", "gate")
    script = h.put(os.path.join(work, "bin", "gate.sh"),
                   'read line < "$1"; shift; exec "$@"\n')
    server = h.echo_server(
        log, sandbox={"filesystem": {"allowRead": [os.path.dirname(script)]}})
    server["args"] = [script, gate, server["command"], *server["args"]]
    server["command"] = "/bin/sh"
    os.mkfifo(gate)
    s = h.Session(work, servers={"echo": server},
                  annotations={"echo": h.ECHO_TOOLS})
    k = Talk.__new__(Talk)
    k.s = s
    p = k.popen("start", "--detach", "--json", "--workspace", s.workspace,
                *shell(work))
    try:
        h.wait_for(lambda: state(k) == ["initializing"], "it does not start")
        t.equal(refused(k, "hello"), (3, False, "SESSION_NOT_READY", True),
                "a session that is starting takes no message")
        r = k.icctl("send", "hello")
        t.ok(r.returncode == 3 and "still starting" in r.stderr and
             "again" in r.stderr, "and says what to do", r)
        with open(gate, "w", encoding="ascii") as f:
            f.write("go\n")
        k.told = json.loads(p.stdout.readline())
        k.started = p
        t.equal(p.wait(60), 0, "then it has started")
        status, events = k.send("hello")
        t.ok(status == 0 and "told: hello" in texts(events),
             "and takes one", events)
    finally:
        k.icctl("stop")
        p.wait(60)
        p.stdout.close()


def test_task(work):
    """Sessions that are no conversation have the same statuses."""
    log = os.path.join(work, "log", "echo")
    s = h.Session(work, servers={"echo": h.echo_server(log)},
                  rules=[h.rule("ask", "escalate", server=["echo"])],
                  annotations={"echo": h.ECHO_TOOLS})
    with s:
        def now():
            return json.loads(s.icctl("status", "--json").stdout)["state"]
        t.equal(now(), "ready", "sockets only: ready")
        m = s.client()
        m.start_call("echo__echo", {"text": "x"})
        s.held()
        t.equal(now(), "waiting", "a call waits")
        m.close()


def main():
    if not shutil.which("bwrap"):
        t.skip("statuses", "bubblewrap is not installed")
        t.done()
    for test in (test_statuses, test_budget, test_start, test_not_ready,
                 test_task):
        with h.workdir() as work, t.case(test.__name__):
            test(work)
    t.done()


if __name__ == "__main__":
    main()
