#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Tests that a log has one writer: auditd outlives an icsupervisor that is
killed, and whatever appends to the log after that waits for auditd's end."""
import json
import os
import shutil
import signal
import subprocess
import sys
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
from log_helper import build, path, read  # noqa: E402

t = h.Tap()


def records(s):
    return [json.loads(line) for line in
            read(path(s, "audit.jsonl")).splitlines()]


def waits(s):
    """Returns true if a process waits for a lock of the log."""
    inode = os.stat(path(s, "audit.jsonl")).st_ino
    with open("/proc/locks", encoding="ascii") as f:
        return any("->" in line and f":{inode} " in line for line in f)


def stop_often(pid):
    """Returns a process that stops another one again and again: the kernel
    continues auditd when its parent dies, so that it writes its last record."""
    code = (f"import os\nprint(flush=True)\n"
            f"while True: os.kill({pid}, {int(signal.SIGSTOP)})\n")
    p = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL)
    p.stdout.readline()
    return p


def stopped(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as f:
            return f.read().rsplit(")", 1)[1].split()[0] == "T"
    except OSError:
        return False


def orphan(work):
    """A session whose icsupervisor was killed; its auditd is stopped before it
    has written the last record. Tries again if auditd was faster."""
    for _ in range(20):
        s = build(work).start()
        s.client().call("echo__echo", {"text": "first"})
        auditd = s.workers()["auditd"][0]
        p = stop_often(auditd)
        h.kill(s.pid)
        s.wait()
        h.kill(auditd, signal.SIGSTOP)
        p.kill()
        p.wait()
        h.wait_for(lambda pid=auditd: stopped(pid) or not h.alive(pid),
                   "auditd has stopped")
        if stopped(auditd):
            return s, auditd
        shutil.rmtree(s.dir)
    raise RuntimeError("auditd ends too fast to be stopped")


def test_waits():
    with h.workdir() as work, t.case("waits"):
        old, auditd = orphan(work)
        s = build(work)
        starts = threading.Thread(target=s.start)
        try:
            starts.start()
            h.wait_for(lambda: waits(old), "the start waits for auditd")
            t.ok(old.icctl("audit", "verify", old.dir).returncode == 0,
                 "a reader does not wait")
            t.equal([r["event"] for r in records(old)].count("start"), 1,
                    "nothing is written meanwhile")
        finally:
            h.kill(auditd, signal.SIGCONT)
        starts.join()
        s.client().call("echo__echo", {"text": "second"})
        s.stop()
        events = [r["event"] for r in records(s)]
        t.equal([e for e in events if e in ("start", "stop")],
                ["start", "stop"] * 2, "each run has its last record")
        r = s.icctl("audit", "verify", s.dir)
        t.ok(r.returncode == 0, "the log is good", r.stdout)


def test_limit():
    with h.workdir() as work, t.case("limit"):
        old, auditd = orphan(work)
        before = read(path(old, "audit.jsonl"))
        want = "the auditd of an icsupervisor that was killed still has the log"
        try:
            r = old.icctl("close", old.dir)
            t.ok(r.returncode != 0, "icctl close is refused")
            t.contains(r.stderr, want, "and says why")
            try:
                build(work).start()
                t.ok(False, "a start is refused")
            except RuntimeError as e:
                t.contains(str(e), want, "a start is refused")
            t.ok(read(path(old, "audit.jsonl")) == before,
                 "the log is as it was")
        finally:
            h.kill(auditd, signal.SIGCONT)
        r = old.icctl("close", old.dir)
        t.contains(r.stdout, "already closed", "auditd has closed the log")
        t.equal(old.icctl("audit", "verify", old.dir).returncode, 0,
                "which is good")


def main():
    test_waits()
    test_limit()
    t.done()


main()
