#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Tests the end of a session: each process killed in turn, stopped, started
twice, in paths of any length. Within a second no process is left, and the log
names the process and the reason."""
import json
import os
import signal
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "lib"))
import harness as h  # noqa: E402
import joins  # noqa: E402
from traces import children  # noqa: E402

t = h.Tap()


def build(work, provider, **kw):
    log = os.path.join(work, "log-echo", "log.jsonl")
    return h.Session(work, {"echo": h.echo_server(log)},
                     [h.rule("echo", "allow", tool=["echo", "slow"])],
                     {"echo": h.ECHO_TOOLS}, provider=provider, **kw)


def gone(pids):
    return not any(h.alive(p) for p in pids)


def test_kill(role, provider):
    with h.workdir() as work, t.case(role):
        s = build(work, provider).start()
        m = s.client()
        victims = {**s.workers(), "icsupervisor": [s.pid]}
        everyone = {s.pid, *children(s.pid), *sum(victims.values(), [])}
        t.ok(len(everyone) >= 9, f"{role}: {len(everyone)} processes run")
        m.start_call("echo__slow", {"ms": 60000})
        began = time.monotonic()
        h.kill(victims[role][0])
        h.wait_for(lambda: gone(everyone), f"{role}: processes are left", 20)
        took = time.monotonic() - began
        status = s.wait()
        t.ok(took < 1, f"{role}: everything is gone within a second", took)
        t.ok(status != 0, f"{role}: the exit status says so", status)
        audit = s.audit()
        last = audit[-1]
        t.equal(last["event"], "stop", f"{role}: a closing record")
        t.contains(json.dumps(audit[-3:]), role, f"{role}: it is named")
        if role not in ("icsupervisor",):
            t.contains(json.dumps(audit[-3:]), "SIGKILL",
                       f"{role}: and how it ended")
        r = s.icctl("audit", "verify",
                    os.path.join(s.dir, "audit.jsonl"))
        t.equal(r.returncode, 0, f"{role}: the chain holds: "
                + r.stdout.splitlines()[0])
        t.ok(os.path.isdir(s.workspace), f"{role}: the workspace is kept")
        s.stop()


def test_stop(provider):
    for how in ("icctl stop", "SIGTERM", "SIGINT"):
        with h.workdir() as work, t.case(how):
            s = build(work, provider).start()
            everyone = [s.pid] + children(s.pid)
            if how == "icctl stop":
                t.equal(s.icctl("stop").returncode, 0, "icctl stop")
            else:
                h.kill(s.pid, getattr(signal, how))
            t.equal(s.wait(), 0, f"{how}: status 0")
            h.wait_for(lambda: gone(everyone), "processes are left", 20)
            t.equal(s.audit()[-1]["event"], "stop", f"{how}: closing record")
            t.equal(joins.check_chain(os.path.join(s.dir, "audit.jsonl")),
                    None, f"{how}: the chain holds")
            t.equal(os.listdir(os.path.join(s.home, "run")), [],
                    f"{how}: no link is left")
            r = s.icctl("pending")
            t.ok(r.returncode == 3 and "no longer running" in r.stderr,
                 f"{how}: icctl says that it is over", r.stderr)


def test_twice(provider):
    with h.workdir() as work, t.case("twice"), build(work, provider) as s:
        try:
            build(work, provider).start()
            t.ok(False, "a second supervisor on one directory is refused")
        except RuntimeError as e:
            t.ok("exit 75" in str(e),
                 "a second supervisor on one directory is refused", e)
        t.equal(s.icctl("status").returncode, 0, "the first one goes on")


def test_again(provider):
    """The log of an earlier run in the directory is continued."""
    with h.workdir() as work, t.case("again"):
        for _ in range(2):
            s = build(work, provider).start()
            s.stop()
        t.equal([e["event"] for e in s.audit()].count("start"), 2,
                "a second run in the directory")
        t.equal(joins.check_chain(os.path.join(s.dir, "audit.jsonl")), None,
                "continues the chain")


def test_long_path(provider):
    with h.workdir() as work, t.case("long path"):
        deep = os.path.join(work, *["d" * 100] * 8)
        os.makedirs(deep)
        with build(work, provider, session_dir=os.path.join(deep, "s")) as s:
            t.ok(len(s.dir) > 800, "a session path of over 800 bytes")
            t.equal(s.icctl("status").returncode, 0, "icctl reaches it")
            t.ok(os.path.exists(s.ready["sockets"]["mcp"]),
                 "its sockets are there")


def main():
    with h.workdir() as outer:
        provider = h.Provider(outer)
        for role in ("mcp-proxyd", "policyd", "auditd", "mcp-backd", "mitmd",
                     "keyd", "dialerd", "icsupervisor"):
            test_kill(role, provider)
        test_stop(provider)
        test_twice(provider)
        test_again(provider)
        test_long_path(provider)
        provider.end()
    t.done()


if __name__ == "__main__":
    main()
