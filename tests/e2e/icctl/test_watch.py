#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Tests `icctl watch` on a terminal: held calls appear, single keys answer
them, and the terminal is restored afterwards."""
import contextlib
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
from terminal import Terminal  # noqa: E402

t = h.Tap()


def build(work, name):
    """A session of the user's, whose home the next one shares."""
    return h.Session(work, {"echo": h.echo_server(
        os.path.join(work, "log", "log.jsonl"))},
        [h.rule("ask", "escalate", "A person decides.", tool=["echo"])],
        {"echo": h.ECHO_TOOLS},
        session_dir=os.path.join(work, "home", "sessions", name))


# Run something without inotify, as when an agent has used it up.
BLIND = ["/usr/bin/unshare", "--map-root-user", "/bin/sh", "-c",
         "echo 0 >/proc/sys/user/max_inotify_instances && exec \"$@\"", "sh"]


def test_waits(work, wrap=()):
    """Neither the plain watch nor that of programs needs a session to begin,
    or ends with one."""
    os.makedirs(os.path.join(work, "home"), mode=0o700)
    env = {"PATH": "/usr/bin:/bin", "HOME": work, "LANG": "C.UTF-8",
           "TERM": "xterm", "IRONCURTAIN_HOME": os.path.join(work, "home")}
    seen = os.path.join(work, "seen")
    with open(seen, "wb") as out, subprocess.Popen(
            [*wrap, h.program("icctl"), "--json", "watch"], env=env, stdout=out,
            stdin=subprocess.DEVNULL) as p, \
            contextlib.ExitStack() as ends:
        ends.callback(p.kill)
        term = Terminal([*wrap, h.program("icctl"), "watch", "--plain"], env)
        term.until(rb"no session is running; waiting")
        t.ok(True, "without a session, it waits for one")

        def events(name, kind):
            return [e for e in h.read_lines(seen) if e["session"] == name and
                    (e.get("event") == kind or kind in e)]

        for name in ("first", "second"):
            with build(work, name) as s:
                term.until(rb"no pending calls")
                h.wait_for(lambda n=name: events(n, "holds"), "its reply")
                m = s.client()
                call = m.start_call("echo__echo", {"text": name})
                h.wait_for(lambda n=name: events(n, "hold"), "the call")
                out = term.until(rb"\[a\]pprove").decode()
                t.ok(name in out, f"{name}: its call is shown", out)
                if wrap:
                    # An answer from another user namespace is refused.
                    s.icctl("approve", s.pending()[0]["id"])
                else:
                    term.approve(out)
                t.ok(name in h.text_of(call.wait()), "and approved")
                m.close()
                if name == "first":
                    s.icctl("stop")
                    kind = "end"
                else:
                    h.kill(s.pid)
                    kind = "lost"
                term.until(rb"waiting for one to start")
                h.wait_for(lambda n=name, k=kind: events(n, k), kind)
                t.ok(True, f"{kind}: both stay, and wait for the next")
        t.ok(p.poll() is None, "the one for programs does not end by itself")
        p.terminate()
        term.key(b"q")
        t.equal(term.end(), 0, "q leaves")


REASON = rb"-- deny (\w{4}); reason \(Enter denies, Esc does not\): "


def denied(term, s, m, call):
    """d: a line that takes a reason, which the agent reads."""
    term.answer(b"d")
    term.until(REASON)
    term.key(b"Ask A\x1b[A")
    out = term.until(rb"not denied --(?s:.*)\[d\]eny").decode()
    t.ok(len(s.pending()) == 1 and "one page" not in out,
         "Esc, or the Esc of an arrow key, leaves it, and no letter of it is a "
         "command", out)
    term.answer(b"d")
    term.until(REASON)
    term.key("aAsx\x7f\u00e9\x7fdq\x15Not d\u00e8s aujourd'hui, Al\x7f\x7fsA"
             "\n".encode())
    r = call.wait()
    t.ok(r.get("isError") and "ESCALATION DENIED" in h.text_of(r) and
         "Not d\u00e8s aujourd'hui, sA" in h.text_of(r),
         "d: it is denied, and the agent reads why", r)
    term.until(rb"no pending calls")


def ended(term, s, m):
    """A call that ends while its reason is typed, and another comes."""
    call = m.start_call("echo__echo", {"text": "three"})
    first = s.held()["id"]
    term.until(rb"\[d\]eny")
    term.answer(b"d")
    term.until(REASON)
    term.key(b"bec")
    other = m.start_call("echo__echo", {"text": " ".join(
        ["words"] * 12 + ["alongword" * 3] + ["more"] * 12)})
    term.until(rb"echo(?s:.*): bec$")
    s.icctl("approve", first, check=True)
    call.wait()
    out = term.until(rb"reason[^\n]*: bec$").decode()
    long = [x for x in out.splitlines() if "words" in x or "more" in x]
    t.ok(len(long) > 1 and max(map(len, long)) <= 80 and
         "alongword" * 3 in out, "lines are divided between words", long)
    term.key(b"ause all A")
    term.until(rb"ause all A$")
    term.key(b"\n")
    term.until(rb"it has ended meanwhile --(?s:.*)\[d\]eny")
    t.equal(len(s.pending()), 1,
            "the reason for a call that has ended denies no other")
    term.answer(b"d")
    term.until(REASON)
    term.key(b"\r")
    t.contains(h.text_of(other.wait()), "ESCALATION DENIED",
               "Enter alone denies, too")
    term.until(rb"no pending calls")


def main():
    with h.workdir() as work, t.case("waits"):
        test_waits(work)
    with h.workdir() as work, t.case("waits, without inotify"):
        test_waits(work, BLIND)
    with h.workdir() as work, t.case("watch"):
        log = os.path.join(work, "log", "log.jsonl")
        with h.Session(work, {"echo": h.echo_server(log)},
                       [h.rule("ask", "escalate", "A person decides.",
                               tool=["echo"])],
                       {"echo": h.ECHO_TOOLS}) as s:
            argv = [h.program("icctl"), "--session", s.dir, "watch", "--plain"]
            env = {**s.env, "TERM": "xterm"}
            term = Terminal(argv, env)
            term.until(rb"no pending calls")
            t.ok(not term.echo(),
                 "it says that nothing waits; keys are taken one by one")
            m = s.client()
            call = m.start_call("echo__echo", {"text": "one\x1b[2J\u202e"})
            out = term.until(rb"\[a\]pprove").decode()
            t.ok("A person decides." in out and "\x1b[2J" not in out and
                 "\u202e" not in out,
                 "a held call shows up, with its reason, and harmless", out)
            second = m.start_call("echo__echo", {"text": "two"})
            term.until(rb"2 pending")
            term.approve(out)
            t.ok("one" in h.text_of(call.wait()), "a: the first one happens")
            term.until(rb"\[a\]pprove")
            t.ok(True, "and the second is asked for")
            denied(term, s, m, second)
            ended(term, s, m)
            term.key(b"q")
            t.equal(term.end(), 0, "q leaves")
            term = Terminal(argv, env)
            term.until(rb"no pending calls")
            s.icctl("stop")
            term.until(rb"(?s)-- the session ends: .*The session ended\.")
            t.equal(term.end(), 0, "the end is told, with its reason, and "
                    "ends it")
            m.close()
    t.done()


if __name__ == "__main__":
    main()
