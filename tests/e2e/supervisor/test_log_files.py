#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Tests an audit log of several files (audit.rotate): no record is lost, all
that read a log read all files, and a log that was cut is noticed."""
import json
import os
import re
import shutil
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
import log_helper  # noqa: E402
from log_helper import INTACT, path, read, write  # noqa: E402

t = h.Tap()

# Longer texts are not written whole.
TEXT = "x" * 4000
MIB = 1 << 20
N = 560  # calls with it that fill two files and a half


def build(work, rotate=1, audit=None, **kw):
    return log_helper.build(
        work, config={"audit": {"rotate": rotate, **(audit or {})}}, **kw)


def files(s):
    """The log's files, the oldest first."""
    older = sorted((int(m.group(1)) for m in (
        re.fullmatch(r"audit\.(\d+)\.jsonl", n) for n in os.listdir(s.dir))
        if m), key=int)
    return [f"audit.{n}.jsonl" for n in older] + ["audit.jsonl"]


def records(s):
    return [json.loads(line) for name in files(s)
            for line in read(path(s, name)).splitlines()]


def chained(s):
    """Returns true if each record continues the one before, in all files."""
    prev, seq = "0" * 64, 1
    for r in records(s):
        if (r["prev"], r["seq"]) != (prev, seq):
            return False
        prev, seq = r["hash"], seq + 1
    return True


def call(m, first, n):
    for i in range(first, first + n):
        m.call("echo__echo", {"text": f"call {i} {TEXT}"})


def calls(s):
    return [r["arguments"]["text"].split()[1] for r in records(s)
            if r["event"] == "call"]


def verify(s, *args):
    return s.icctl("audit", "verify", *(args or (s.dir,)))


def alarms(s):
    r = s.icctl("--json", "status", check=True)
    return [a["text"] for a in json.loads(r.stdout)["alarms"]]


def checked(s):
    h.wait_for(lambda: s.session_log().count(INTACT) > s.intact
               or alarms(s), "the earlier log was checked")


def refused(s, want, what):
    try:
        s.start()
        s.stop()
        t.ok(False, what)
    except RuntimeError as e:
        t.contains(str(e), want, what)


def run(work, first=0, n=N, **kw):
    with build(work, **kw) as s:
        call(s.client(), first, n)
    return s


def test_rotation():
    with h.workdir() as work, t.case("rotation"):
        s = run(work)
        names = files(s)
        t.ok(names[:2] == ["audit.1.jsonl", "audit.2.jsonl"],
             "two files are full", names)
        t.equal(calls(s), [str(i) for i in range(N)], "no call is missing")
        t.ok(chained(s), "each file continues the one before")
        t.ok(all(os.path.getsize(path(s, n)) >= MIB for n in names[:-1]),
             "an older file has its size")
        t.ok(all(os.stat(path(s, n)).st_blocks * 512 < 2 * MIB
                 for n in names[:-1]), "and keeps no reserved disk")
        t.ok(all(os.stat(path(s, n)).st_mode & 0o777 == 0o600
                 for n in names), "all are the user's alone")
        total = len(records(s))
        for arg in (s.dir, path(s, "audit.jsonl")):
            r = verify(s, arg)
            t.contains(r.stdout, f"good: {total} records in 3 files, chain "
                       "unbroken", "verify reads all of them")
        r = verify(s, path(s, "audit.2.jsonl"))
        t.ok(r.returncode == 0 and "which continues another file" in r.stdout,
             "one file is checked by itself", r.stdout)
        r = s.icctl("policy", "replay", "--policy",
                    os.path.join(s.home, "policy", "compiled-policy.json"),
                    s.dir)
        t.contains(r.stdout + r.stderr, f"{N} ", "replay reads all of them")
        offset = os.path.getsize(path(s, "audit.jsonl"))
        t.ok(read(path(s, "audit.checkpoint")).startswith(
            f"2 3 {offset} {total + 1} ".encode()),
            "the checkpoint names the newest file")
        # The next run.
        with build(work) as s:
            checked(s)
            t.equal(alarms(s), [], "the older files are found intact")
            call(s.client(), N, 280)
            r = s.icctl("diagnostics")
            t.contains(r.stdout, '"call"', "diagnostics show records")
        t.equal(calls(s), [str(i) for i in range(N + 280)], "it goes on")
        t.ok(chained(s) and len(files(s)) > len(names),
             "with further files", files(s))
        t.equal(verify(s).returncode, 0, "the log is good")


def test_durable():
    with h.workdir() as work, t.case("disk"):
        s = run(work, audit={"durability": "disk"})
        t.ok(chained(s) and len(files(s)) == 3 and len(calls(s)) == N,
             "a log that is synced is rotated, too")
    with h.workdir() as work, t.case("never"):
        s = run(work, rotate=0)
        t.equal(files(s), ["audit.jsonl"], "0: one file")
    with h.workdir() as work, t.case("taken"):
        with build(work) as s:
            write(path(s, "audit.1.jsonl"), b"mine\n")
            call(s.client(), 0, N)
            t.contains(s.session_log(), "no new file can be made for the log",
                       "a name that is taken is not written over")
        t.equal(read(path(s, "audit.1.jsonl")), b"mine\n", "not at all")
        os.unlink(path(s, "audit.1.jsonl"))
        t.ok(chained(s) and len(calls(s)) == N, "the log goes on in its file")


def copy(a, b):
    shutil.copytree(a, b, ignore=lambda d, names: (
        names if d.endswith("/sockets") else
        [n for n in names if n.endswith(".sock")]))


def torn(s, name, keep):
    data = read(path(s, name))
    last = data.rstrip(b"\n").rfind(b"\n") + 1
    write(path(s, name), data[:last + keep])


def again(work, what, lost=0):
    """A run after that: it continues the log, which is good."""
    with build(work) as s:
        call(s.client(), 9000, 1)
        t.ok(verify(s).returncode == 0, f"{what}: the log is good",
             verify(s).stdout)
    t.ok("audit.next" not in os.listdir(s.dir), f"{what}: nothing is left")
    return s


def test_crash():
    """A crash while another file is begun."""
    with h.workdir() as work, t.case("crash"):
        first = run(work)
        saved = os.path.join(work, "saved")
        copy(first.dir, saved)

        def restore():
            shutil.rmtree(first.dir)
            copy(saved, first.dir)
            # As it is before auditd has written to the new file.
            os.unlink(path(first, "audit.jsonl"))

        restore()
        again(work, "renamed only")
        t.equal(files(first), ["audit.1.jsonl", "audit.jsonl",
                               "audit.2.jsonl"][:1] + files(first)[1:],
                "the last older file was the newest again")
        restore()
        write(path(first, "audit.jsonl"), b"")
        again(work, "still empty")
        restore()
        write(path(first, "audit.next"), b"")
        torn(first, "audit.2.jsonl", 40)
        s = again(work, "and a torn line")
        t.ok(any(r["event"] == "start" and r["detail"].get("torn") == 40
                 for r in lines(s)), "whose length is recorded")
        restore()
        write(path(first, "audit.jsonl"), b"")
        r = first.icctl("close", first.dir)
        t.ok(r.returncode == 0, "icctl close settles it, too", r.stderr)
        t.equal(verify(first).returncode, 0, "and the log is good")
    with h.workdir() as work, t.case("killed"):
        s = build(work).start()
        call(s.client(), 0, 300)
        h.kill(s.ready["pid"])
        s.wait()
        s = again(work, "icsupervisor killed")
        t.equal(len(calls(s)), 301, "no call is missing")


def lines(s):
    """The records, without lines that a crash cut short."""
    for name in files(s):
        for line in read(path(s, name)).splitlines():
            try:
                yield json.loads(line)
            except ValueError:
                pass


def cut_at(s, name, find):
    """Cuts the file before the last record with this text."""
    data = read(path(s, name))
    at = data.rfind(find)
    write(path(s, name), data[:data.rfind(b"\n", 0, at) + 1])


def test_cut():
    """A log cut at, before and after its checkpoint."""
    for rotate, n in ((0, 3), (1, N)):
        what = "one file" if rotate == 0 else "rotated"
        with h.workdir() as work, t.case(f"cut, {what}"):
            first = run(work, n=n, rotate=rotate)
            with build(work, rotate=rotate) as s:
                call(s.client(), n, 2)
                checked(s)
                h.kill(s.ready["pid"])
                s.wait()
            # auditd, which outlives it, writes the last record.
            h.wait_for(lambda s=first: list(lines(s))[-1]["event"] == "stop",
                       "the last record")
            saved = os.path.join(work, "saved")
            copy(first.dir, saved)
            cp = read(path(first, "audit.checkpoint")).split()
            size = int(cp[2])

            def restore():
                shutil.rmtree(first.dir)
                copy(saved, first.dir)

            # After it: as after a loss of power, that goes on.
            cut_at(first, "audit.jsonl", f"call {n + 1} ".encode())
            with build(work, rotate=rotate) as s:
                checked(s)
                t.equal(alarms(s), [], "cut after it: a crash may do that")
            t.equal(verify(s).returncode, 0, "the log is good")
            # At it.
            restore()
            os.truncate(path(first, "audit.jsonl"), size)
            with build(work, rotate=rotate) as s:
                checked(s)
                t.equal(alarms(s), [], "cut at it: a crash may do that, too")
            # Before it.
            for back, where in ((2, "bytes"), (2000, "records")):
                restore()
                os.truncate(path(first, "audit.jsonl"), size - back)
                with build(work, rotate=rotate) as s:
                    h.wait_for(lambda: alarms(s), "an alarm")
                    t.contains("".join(alarms(s)), "its end is missing",
                               f"cut {where} before it: an alarm")
                t.ok(any(r["event"] == "logBroken" for r in lines(s)),
                     "it is recorded")
            restore()
            os.truncate(path(first, "audit.jsonl"), size - 2000)
            s = build(work, rotate=rotate, audit={"strict": True}).start()
            t.equal(s.wait(20), 70, "audit.strict ends the session with 70")


def test_foreign():
    with h.workdir() as work, h.workdir() as other, t.case("foreign"):
        # One that says more records than there are is that of a cut log.
        mine, his = run(work), run(other, n=300)
        shutil.copy(path(his, "audit.checkpoint"),
                    path(mine, "audit.checkpoint"))
        data = read(path(mine, "audit.1.jsonl"))
        with build(work) as s:
            t.equal(verify(s).returncode, 0,
                    "the checkpoint of another session is not used")
        # A record of an older file was changed.
        write(path(mine, "audit.1.jsonl"),
              data.replace(b"call 3 xx", b"call 3 XX"))
        with build(work) as s:
            checked(s)
            said = "".join(alarms(s))
            t.contains(said, "audit.1.jsonl line", "the alarm names the file")
            t.contains(said, "it was changed after it was written",
                       "and says how it is broken")
        r = verify(s)
        t.ok(r.returncode == 1 and "audit.1.jsonl line" in r.stdout,
             "so does icctl audit verify", r.stdout)
        refused(build(work), "audit.1.jsonl line",
                "without a checkpoint, the start is refused")
    for name, what in (("audit.1.jsonl", "the first"),
                       ("audit.2.jsonl", "the second")):
        with h.workdir() as work, t.case(f"missing, {what}"):
            s = run(work, n=800)
            os.unlink(path(s, name))
            r = verify(s)
            t.ok(r.returncode == 1 and f"{name} is missing" in r.stderr,
                 "verify names the missing file", r.stderr + r.stdout)
            refused(build(work), f"{name} is missing", "the start is refused")
    with h.workdir() as work, t.case("exchanged"):
        s = run(work, n=800)
        for a, b in (("audit.1.jsonl", "x"), ("audit.2.jsonl",
                                              "audit.1.jsonl"),
                     ("x", "audit.2.jsonl")):
            os.rename(path(s, a), path(s, b))
        with build(work) as s:
            checked(s)
            t.contains("".join(alarms(s)), "audit.1.jsonl line 1",
                       "files in another order are an alarm")
    with h.workdir() as work, t.case("link"):
        s = run(work)
        os.rename(path(s, "audit.1.jsonl"), path(s, "x"))
        os.symlink("x", path(s, "audit.1.jsonl"))
        t.equal(verify(s).returncode, 1, "an older file is no link")


def main():
    test_rotation()
    test_durable()
    test_crash()
    test_cut()
    test_foreign()
    t.done()


main()
