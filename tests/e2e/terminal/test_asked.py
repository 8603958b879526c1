#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Tests that a held call reaches the person where the agent was started: it is
shown and answered on that terminal or, without one, reported in one line with
the command that answers it."""
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
from asks import AGENT  # noqa: E402
from started import Place  # noqa: E402

t = h.Tap()
SHOWN = rb"(\w{4}): \[a\]pprove"


class Asking(Place):
    """A place whose agent reads files of the user, each of which is held."""

    def __init__(self, work, config=None):
        super().__init__(work, config)
        self.secret = h.put(os.path.join(self.user, "secret"), "the secret\n")
        h.put(os.path.join(self.project, "asks.py"), AGENT, 0o755)

    def asks(self, n=1):
        return ["/workspace/asks.py"] + [self.secret] * n

    def pending(self):
        return re.findall(r"^(\w{4})   ", self.icctl("pending").stdout, re.M)


def answered(p):
    command = " ".join(p.asks(3))
    sh = p.shell(f"START -- {command} </dev/null; echo status $?")
    # Keys typed before anything was asked.
    sh.key(b"aaaa" + bytes(range(ord("a"), ord("z") + 1)) + b"\n")
    out = sh.until(SHOWN).decode()
    t.ok(p.secret in out and "Reads ~/secret" in out and
         "escalate-read-outside" in out and ">>> icctl:" in out,
         "the call is shown whole, behind our mark", out)
    ident = re.findall(SHOWN.decode(), out)[0]
    sh.key(b"a")
    sh.until(rb"press the key again|look at it")
    t.equal(p.pending(), [ident], "what was typed before it stood there, and "
            "what is typed at once, is no answer")
    sh.answer(b"\n")
    sh.until(rb"a: approve")
    t.equal(p.pending(), [ident], "nor is the Enter key")
    sh.approve(out)
    out = sh.until(SHOWN).decode()
    t.contains(out, "got the secret\n", "a and its letter: the call happens, "
               "and the agent goes on")
    sh.deny(b"Not this file.")
    out = sh.until(SHOWN).decode()
    t.ok("got ESCALATION DENIED" in out and "Not this file." in out,
         "d: it is denied, and the agent reads why", out)
    sh.key(b"q")
    out = sh.until(rb"not answered yet: [^\n]*icctl approve (\w{4})").decode()
    t.equal(p.pending(), re.findall(r"approve (\w{4})", out),
            "q: it goes on waiting, and how to answer it later is said")
    t.equal(p.icctl("approve", p.pending()[0]).returncode, 0,
            "it is answered elsewhere")
    out = sh.until(rb"status \d+").decode()
    t.ok("got the secret" in out and "status 0" in out, "and so it ends", out)
    t.ok(re.search(rf"note waiting for approval: pending call {ident} "
                   rf"\(icctl approve {ident}\), \d+ s of \d+ s", out),
         "the agent's progress notes had the call's id", out)
    sh.end()


def lines_wait(p):
    """While a question is shown, no line of the agent appears."""
    agent = p.script("/workspace/asks.py " + p.secret + """ >/workspace/got &
i=0
while [ ! -e /workspace/done ]; do
	i=$((i+1)); echo "noise $i"; sleep 0.05
done
wait; cat /workspace/got; echo the end
""")
    sh = p.shell(f"START -- {agent} </dev/null")
    before = sh.until(SHOWN).decode()
    sh.answer(b"n")  # a second has passed: the call is drawn again
    again = sh.until(SHOWN).decode()
    t.ok("noise" in before.split(">>> icctl")[0] and "noise" not in again,
         "agent's lines wait", again[:300])
    sh.approve(again)
    out = sh.until(rb"noise \d+\r\n").decode()
    t.contains(out, "approved", "the answer is told first, and they come then")
    h.put(os.path.join(p.project, "done"), "")
    t.contains(sh.until(rb"the end", 60).decode(), "got the secret",
               "nothing of them is lost")
    sh.end()


def told(p, argv, env, name):
    q = subprocess.Popen(argv, env=env, stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         start_new_session=True)
    for line in q.stderr:
        if b"pending call" in line:
            break
    line = line.decode()
    t.ok(re.search(r"pending call (\w{4})  filesystem__read_file: Reads "
                   r"~/secret\. Answer it: icctl approve \1 ", line)
         is not None, name, line)
    t.equal(p.icctl("approve", p.pending()[0]).returncode, 0,
            "the command answers it")
    out, err = q.communicate(timeout=30)
    t.ok(b"got the secret" in out and b"pending" not in err,
         "and nothing more is said of it", (out, err))


def no_terminal(p):
    told(p, p.argv(*p.asks()), p.env,
         "without a terminal: one line with the call, its id and the command")
    told(p, [h.program("icsupervisor"), "--session-dir",
             os.path.join(p.home, "sessions", "by-itself"), "--workspace", p.project, "--",
             *p.asks()], p.env, "icsupervisor by itself says the same")


def background(p):
    """A background job asks nobody until it is in the foreground."""
    command = " ".join(p.asks())
    sh = p.shell(f"set -m; START -- {command} </dev/null & "
                 "read -r go; fg; echo status $?")
    out = sh.until(rb"icctl approve \w{4}").decode()
    t.ok("[a]pprove" not in out, "in the background it is one line", out)
    sh.key(b"go\n")
    sh.approve(sh.until(SHOWN).decode())
    t.contains(sh.until(rb"status \d+").decode(), "got the secret",
               "in front again the call is asked about")
    sh.end()


def interrupted(p):
    """^C at a question: the session ends, the terminal is restored."""
    term = p.terminal(*p.asks(), env={"TERM": "dumb"})
    before = term.settings()
    term.until(SHOWN)
    t.ok(not term.echo(), "keys are taken one by one")
    term.key(b"\x03")
    while term.read(30):
        pass
    status = os.waitstatus_to_exitcode(os.waitpid(term.pid, 0)[1])
    t.ok(status in (130, -2), "^C ends the session", status)
    del before


def main():
    for part in (answered, lines_wait, no_terminal, background, interrupted):
        with h.workdir() as work, t.case(part.__name__):
            part(Asking(work))
    t.done()


if __name__ == "__main__":
    main()
