#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Tests the checkpoint of the audit log: a resumed session checks what follows
it before the start, and what precedes it while the session runs."""
import json
import os
import signal
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
import traces  # noqa: E402
from log_helper import INTACT, build, path, read, write  # noqa: E402

t = h.Tap()



def checkpoint(s):
    """Returns offset, number of the next record, hash; or None."""
    if not os.path.exists(path(s, "audit.checkpoint")):
        return None
    version, part, offset, seq, digest = read(
        path(s, "audit.checkpoint")).split()[:5]
    assert (version, part) == (b"2", b"1")
    return int(offset), int(seq), digest.decode()


def run(work, calls=1, **kw):
    with build(work, **kw) as s:
        m = s.client()
        for i in range(calls):
            m.call("echo__echo", {"text": f"call {i} here"})
    return s


def alarms(s):
    r = s.icctl("--json", "status", check=True)
    return [a["text"] for a in json.loads(r.stdout)["alarms"]]


def checked(s):
    h.wait_for(lambda: s.session_log().count(INTACT) > s.intact
               or alarms(s), "the earlier log was checked")


def test_good():
    with h.workdir() as work, t.case("good"):
        s = run(work, 3)
        log = read(path(s, "audit.jsonl"))
        offset, seq, digest = checkpoint(s)
        t.equal((offset, seq), (len(log), len(log.splitlines()) + 1),
                "the end of a session is a checkpoint")
        t.contains(log.splitlines()[-1].decode(), digest,
                   "with the last record's hash")
        with build(work) as s:
            s.client().call("echo__echo", {"text": "again"})
            checked(s)
            t.equal(alarms(s), [], "an intact log raises no alarm")
        t.ok(checkpoint(s)[0] > offset and
             checkpoint(s)[0] == len(read(path(s, "audit.jsonl"))),
             "the next end is the next checkpoint")
        t.equal(s.icctl("audit", "verify").returncode, 0, "the log is good")
        # A run that is killed leaves where its start was.
        before = checkpoint(s)
        s = build(work).start()
        checked(s)
        pid = s.ready["pid"]
        h.kill(pid)
        s.wait()
        t.equal(checkpoint(s), before, "a killed run moves it no further")


def tamper(work):
    """Changes the first record, in place: no start looks at it, however long ago
    the last states were written. Returns the session."""
    s = run(work, 2)
    log = read(path(s, "audit.jsonl"))
    write(path(s, "audit.jsonl"),
          log.replace(b'"time":"20', b'"time":"21', 1))
    return s


def test_changed():
    with h.workdir() as work, t.case("changed"):
        s = tamper(work)
        line = 1
        with build(work) as s:
            checked(s)
            said = "".join(alarms(s))
            t.contains(said, f"line {line}: it was changed after it was "
                       "written", "a changed record is an alarm")
            t.contains(said, "icctl audit verify", "which says what to do")
            t.ok(s.client().call("echo__echo", {"text": "x"}),
                 "the session goes on")
        t.equal([e["detail"]["why"] for e in s.events("logBroken")],
                [f"line {line}: it was changed after it was written"],
                "it is recorded")
        t.equal(checkpoint(s), None, "there is no checkpoint any more")
        try:
            build(work).start()
            t.ok(False, "the next start is refused")
        except RuntimeError as e:
            t.ok("exit 78" in str(e) and f"line {line}" in str(e),
                 "the next start is refused", e)
    with h.workdir() as work, t.case("strict"):
        tamper(work)
        s = build(work, config={"audit": {"strict": True}}).start()
        t.equal(s.wait(20), 70, "audit.strict ends the session with 70")
        t.contains(s.process.stderr(),
                   "audit.strict: the session ends", "and says why")


def test_hint():
    """A checkpoint that does not fit is no excuse."""
    with h.workdir() as work, t.case("hint"):
        s = tamper(work)
        offset, seq, digest = checkpoint(s)
        other = "0" * 64
        for text, what in (
                (f"2 1 {offset} {seq} {other}\n", "another hash"),
                (f"2 1 {offset - 1} {seq} {digest}\n", "another place"),
                (f"2 1 {offset + 9999} {seq} {digest}\n", "beyond the end"),
                (f"2 2 {offset} {seq} {digest}\n", "another file"),
                (f"2 0 {offset} {seq} {digest}\n", "file 0"),
                (f"1 {offset} {seq} {digest}\n", "another version"),
                (f"2 1 {offset} {seq} {digest}", "no newline"),
                (f"2 1 0{offset} {seq} {digest}\n", "another spelling"),
                (f"2 1 {offset} {seq} {digest}\n\n", "more text"),
                ("", "nothing")):
            write(path(s, "audit.checkpoint"), text.encode())
            try:
                build(work).start()
                t.ok(False, f"{what}: everything is checked")
            except RuntimeError as e:
                t.contains(str(e), "it was changed",
                           f"{what}: everything is checked")
        # The right place with another number: the chain does not go on.
        write(path(s, "audit.checkpoint"),
              f"2 1 {offset} {seq + 1} {digest}\n".encode())
        try:
            build(work).start()
            t.ok(False, "a wrong number is noticed")
        except RuntimeError as e:
            t.contains(str(e), "it was changed", "a wrong number is noticed")
    with h.workdir() as work, t.case("after"):
        s = run(work, 2)
        with build(work) as s:
            s.client().call("echo__echo", {"text": "call 9 here"})
            checked(s)
            h.kill(s.ready["pid"])
            s.wait()
        log = read(path(s, "audit.jsonl"))
        write(path(s, "audit.jsonl"),
              log.replace(b"call 9 here", b"call 9 HERE"))
        try:
            build(work).start()
            t.ok(False, "what follows a checkpoint is checked at the start")
        except RuntimeError as e:
            t.contains(str(e), "it was changed",
                       "what follows a checkpoint is checked at the start")


def libexec(work, script, name="libexec"):
    """The workers, and a program in the place of ic-logcheck."""
    real = os.path.join(h.PREFIX, "libexec", "ironcurtain")
    place = os.path.join(work, name)
    os.mkdir(place, 0o755)
    for name in os.listdir(real):
        if name != "ic-logcheck":
            os.symlink(os.path.join(real, name), os.path.join(place, name))
    h.put(os.path.join(place, "ic-logcheck"), script, 0o755)
    return place


def test_reader():
    with h.workdir() as work, t.case("reader"):
        before = checkpoint(run(work))
        with build(work, libexecdir=libexec(
                work, "#!/bin/sh\nexit 0\n")) as s:
            h.wait_for(lambda: alarms(s), "an alarm")
            t.contains("".join(alarms(s)), "ended early",
                       "a check that ends early is an alarm")
        t.equal(checkpoint(s), None, "and no checkpoint is left")
    with h.workdir() as work, t.case("busy"):
        before = checkpoint(run(work))
        s = build(work, libexecdir=libexec(
            work, "#!/bin/sh\nexec sleep 600\n")).start()
        h.kill(s.ready["pid"], signal.SIGTERM)
        t.equal(s.wait(20), 0, "a check that goes on delays no end")
        log = read(path(s, "audit.jsonl"))
        t.ok(before[0] < checkpoint(s)[0] == len(log),
             "the next start begins at its end all the same", checkpoint(s))
        write(path(s, "audit.jsonl"),
              log.replace(b'"time":"20', b'"time":"21', 1))
        with build(work) as s:
            checked(s)
            t.contains("".join(alarms(s)), "line 1: it was changed",
                       "and what was not checked is checked then")


def stopped_after(work, first, how=signal.SIGTERM):
    """A run whose check has come behind the first line when it is stopped."""
    record = json.loads(first)
    report = struct.pack("=IIQQQQ", 0, 1, 1, record["seq"] + 1, 2,
                         len(first)) + bytes.fromhex(record["hash"])
    write(os.path.join(work, "report"), report)
    s = build(work, libexecdir=libexec(
        work, f"#!/bin/sh\ncat {work}/report\n>{work}/said\n"
        "exec sleep 600\n")).start()
    h.wait_for(lambda: os.path.exists(os.path.join(work, "said")), "a report")
    # The report has been read before the second answer.
    for _ in range(2):
        s.icctl("status", check=True)
    h.kill(s.ready["pid"], how)
    t.equal(s.wait(20), 0 if how == signal.SIGTERM else -how, "it is stopped")
    return s


def went_on(work):
    """The place at which the check of the next run begins."""
    real = os.path.join(h.PREFIX, "libexec", "ironcurtain", "ic-logcheck")
    with build(work, libexecdir=libexec(
            work, f'#!/bin/sh\necho "$@" >{work}/args\nexec {real} "$@"\n',
            "again")) as s:
        checked(s)
        t.equal(alarms(s), [], "the log is intact")
    return [int(n) for n in read(os.path.join(work, "args")).split()[:3:2]]


def test_goes_on():
    """A check goes on where a stop interrupted it."""
    with h.workdir() as work, t.case("goes on"):
        log = read(path(run(work), "audit.jsonl"))
        first = log[:log.index(b"\n") + 1]
        s = stopped_after(work, first)
        t.equal(went_on(work), [len(first), 2],
                "the check goes on where it was stopped")
        t.equal(len(read(path(s, "audit.checkpoint")).split()), 5,
                "a check that ended leaves nothing behind")
    with h.workdir() as work, t.case("goes on after kill -9"):
        log = read(path(run(work), "audit.jsonl"))
        first = log[:log.index(b"\n") + 1]
        stopped_after(work, first, signal.SIGKILL)
        t.equal(went_on(work), [len(first), 2],
                "the check goes on where it was killed")
    with h.workdir() as work, t.case("begins again"):
        log = read(path(run(work), "audit.jsonl"))
        first = log[:log.index(b"\n") + 1]
        s = stopped_after(work, first)
        place = path(s, "audit.checkpoint")
        old = json.loads(first)["hash"].encode()
        write(place, read(place).replace(old, b"0" * 64))
        t.equal(went_on(work), [0, 1],
                "a place that the log does not have is no excuse")


def dense(work):
    """A session of which every call may have a large record."""
    log = os.path.join(work, "log-echo", "log.jsonl")
    put = os.path.join(work, "log-echo", "tools.json")
    entry = h.echo_server(log, "--definitions", put)
    h.put(put, json.dumps({"echo": {"inputSchema": {
        "type": "object", "properties": {
            "text": {"type": "string"},
            "more": {"type": "array", "items": {"type": "string"}}}}}}))
    s = h.Session(work, {"echo": entry}, [h.rule("echo", "allow", tool=["echo"])],
                  {"echo": {"echo": {"text": ["none"], "more": ["none"]}}},
                  config={"resourceBudget": {"maxSteps": 100000},
                          "auditRedaction": {"enabled": False}})
    s.intact = s.session_log().count(INTACT)
    return s


def much(s, m):
    """Calls until what the run wrote has been checked. Returns their number."""
    log, before, calls = path(s, "audit.jsonl"), checkpoint(s), 0
    begun = os.path.getsize(log)
    while os.path.getsize(log) < begun + (17 << 20) and calls < 500:
        m.call("echo__echo", {"text": f"much {calls}",
                                "more": ["and more of it " * 6] * 2000})
        calls += 1

    def moved():
        nonlocal calls
        m.call("echo__echo", {"text": f"little {calls}"})
        calls += 1
        return checkpoint(s) not in (None, before) and \
            checkpoint(s)[0] > begun + (16 << 20)

    h.wait_for(moved, "a checkpoint while the run goes on")
    return calls


def test_live():
    """A long run is checked while it goes on, so that the start after kill -9
    need not do it; and all that it spent still counts."""
    for what in ("a new log", "a resumed log"):
        with h.workdir() as work, t.case(what):
            spent = 0
            if what != "a new log":
                with dense(work) as s:
                    s.client().call("echo__echo", {"text": "one"})
                spent = 1
            s = dense(work).start()
            if spent:
                checked(s)
            spent += much(s, s.client())
            t.equal(alarms(s), [], "what was written is intact")
            # All at once, so that no closing record follows.
            for pid in [s.ready["pid"]] + traces.children(s.ready["pid"]):
                h.kill(pid)
            s.wait()
            log = read(path(s, "audit.jsonl"))
            t.ok(checkpoint(s)[0] < len(log), "a record is behind the place")
            write(path(s, "audit.jsonl"), log.replace(b"much ", b"MUCH ", 1))
            with dense(work) as s:
                checked(s)
                t.contains("".join(alarms(s)), "it was changed",
                           "the start did not check it again")
                used = json.loads(s.icctl("--json", "budget", check=True).stdout)
                used = used["budget"]["limits"]["maxSteps"]["used"]
                t.ok(spent <= used <= 2 * spent, "each call counts",
                     (spent, used))


def state_of(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        return dict(line.rstrip("\n").split(":\t", 1) for line in f
                    if ":\t" in line)


def check_confined(pid):
    h.wait_for(lambda: state_of(pid)["Seccomp"] == "2", "it confines itself")
    state = state_of(pid)
    t.equal((state["NoNewPrivs"], int(state["CapEff"], 16),
             int(state["CapBnd"], 16)), ("1", 0, 0),
            "the reader has no capability and gets none")
    for name in ("mem", "root", "fd/0"):
        try:
            os.close(os.open(f"/proc/{pid}/{name}", os.O_RDONLY))
            t.ok(os.geteuid() == 0, f"{name} is out of reach")
        except PermissionError:
            t.ok(True, f"{name} is out of reach")


def test_confined():
    """The shipped program, which waits because nobody reads its report."""
    with h.workdir() as work, t.case("confined"):
        s = run(work)
        log = path(s, "audit.jsonl")
        r, w = os.pipe()
        os.set_blocking(w, False)
        try:
            while os.write(w, bytes(4096)):
                pass
        except BlockingIOError:
            pass
        os.set_blocking(w, True)
        with open(log, "rb") as f, subprocess.Popen(
                [os.path.join(h.PREFIX, "libexec", "ironcurtain",
                              "ic-logcheck"), "0", str(os.path.getsize(log)),
                 "1", "0" * 64, "0"],
                stdin=f, stdout=w) as p:
            os.close(w)
            try:
                check_confined(p.pid)
            finally:
                p.kill()
                os.close(r)


def main():
    test_good()
    # A sanitized program has no system-call filter.
    if not h.sanitized():
        test_confined()
    test_changed()
    test_hint()
    test_reader()
    test_goes_on()
    test_live()
    t.done()


main()
