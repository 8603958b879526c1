#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""A call that waits during a turn is shown and answered on the terminal of
`icctl send`; without a terminal, a line names the command."""
import os
import shutil
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
import terminal  # noqa: E402
from test_conversation import CALL_AGENT, CALLER, adapted  # noqa: E402

t = h.Tap()
SHOWN = rb"(\w{4}): \[a\]pprove"


def on_terminal(k, *words):
    return terminal.Terminal([h.program("icctl"), "send", *words],
                             {**k.s.env, "TERM": "xterm"}, rows=40, cols=100)


def ended(term):
    while term.read(30):
        pass
    return (os.waitstatus_to_exitcode(os.waitpid(term.pid, 0)[1]),
            term.out.decode())


def test_all(work):
    log = os.path.join(work, "log", "echo")
    with adapted(work, CALLER, CALL_AGENT,
                 servers={"asked": h.echo_server(log)},
                 rules=[h.rule("ask", "escalate", server=["asked"])],
                 annotations={"asked": h.ECHO_TOOLS}) as k:
        if k.started.returncode != 0:
            raise RuntimeError(k.started.stderr)
        term = on_terminal(k, "asked__echo asked__echo asked__echo")
        before = term.settings()
        out = term.until(SHOWN).decode()
        t.ok("hello" in out and ">>> icctl:" in out,
             "the call is shown whole", out)
        term.key(b"a")
        term.until(rb"press the key again|look at it")
        t.equal(len(k.s.pending()), 1, "a key at once is no answer")
        term.approve(out)
        out = term.until(SHOWN).decode()
        t.ok(": approved" in out, "two keys approve it, and the turn goes on",
             out)
        term.deny()
        out = term.until(SHOWN).decode()
        t.ok(": denied" in out, "d denies it", out)
        term.key(b"q")
        term.until(rb"not answered yet")
        t.equal(len(k.s.pending()), 1, "q: it goes on waiting")
        t.equal(term.settings(), before, "the terminal is as before")
        k.s.icctl("approve", str(k.s.held()["id"]), check=True)
        status, out = ended(term)
        t.ok(status == 0 and ": approved" in out, "and is answered elsewhere",
             (status, out))
        p = k.popen("send", "asked__echo")
        line = p.stdout.readline()
        while "waiting for you" not in line:
            line = p.stdout.readline()
        t.ok("icctl approve" in line and k.s.held()["id"] in line,
             "without a terminal one line has the id and the command", line)
        k.s.icctl("deny", str(k.s.held()["id"]), check=True)
        t.equal(p.wait(), 0, "the turn ends")
        p.stdout.close()


def main():
    if not shutil.which("bwrap"):
        t.skip("questions", "bubblewrap is not installed")
        t.done()
    with h.workdir() as work, t.case("questions"):
        test_all(work)
    t.done()


if __name__ == "__main__":
    main()
