#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""The input line of a viewer, in a real session: the agent gets the message
whole and never a key of it; it counts as the person's, and so the approver may
use it; and no program in a sandbox can claim one. And the answering key that
config.json names."""
import json
import os
import shlex
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
from asks import AGENT  # noqa: E402
from tmux import PROGRAM, Tmux  # noqa: E402

t = h.Tap()
YES = '{"decision":"approve","reasoning":"The message asks for it."}'
RULES = [h.rule("ask", "escalate", "Files elsewhere need approval.",
                server=["filesystem"])]
TOOLS = {"filesystem": {"read_file": {"path": ["read-path"]}}}
# Shows each byte that it reads; reads a file after each message it gets.
TALKS = r"""#!/usr/bin/python3
import os, subprocess, sys, tty
tty.setraw(0)
os.write(1, b"\033[2J\033[H\033[?2004hready\r\n")
got = b""
while not got.endswith(b"q"):
    got += os.read(0, 4096)
    os.write(1, b"\033[3;1Hgot " + repr(got).encode() + b"\033[K")
    if got.endswith(b"\r"):
        os.write(1, b"\033[5;1H")
        subprocess.run(["/workspace/asks.py", *sys.argv[1:]],
                       stdin=subprocess.DEVNULL)
        got = b""
"""


class Rig:
    """A session with an approver, on a shell's terminal."""

    def __init__(self, work, config=None):
        self.provider = h.Provider(
            work, "--bodies", "--judge",
            h.put(os.path.join(work, "judge"), YES))
        self.s = h.Session(
            work, {"filesystem": {"command": "icfs", "args": ["/workspace"]}},
            RULES, TOOLS, provider=self.provider,
            config={"autoApprove": {"enabled": True}, **(config or {})},
            env={"TERM": "xterm-256color"})
        self.notes = os.path.join(work, "user", "notes")
        os.makedirs(self.notes, exist_ok=True)
        for name in ("plan.txt", "other.txt"):
            h.put(os.path.join(self.notes, name), f"the {name}\n")
        for name, text in (("asks.py", AGENT), ("talks.py", TALKS)):
            h.put(os.path.join(self.s.workspace, name), text, 0o755)
        self.tmux = Tmux(work, self.s.env)

    def start(self, *files):
        self.tmux.run(shlex.join([
            h.program("icctl"), "start", "--quiet", "--workspace",
            self.s.workspace, "--", "/workspace/talks.py",
            *(os.path.join(self.notes, x) for x in files)]))
        self.tmux.until("ready")
        top = os.path.join(self.s.home, "sessions")
        self.s.dir = os.path.join(top, os.listdir(top)[0])

    def end(self):
        self.tmux.end()
        self.provider.end()


def typed(r):
    """The person's message approves the call that it asks for."""
    r.start("plan.txt")
    r.tmux.keys("C-]", "s")
    r.tmux.until(" say: ")
    message = f"Please read {r.notes}/plan.txt"
    r.tmux.text(message)
    r.tmux.until("plan.txt")
    t.ok(not any("got" in x for x in r.tmux.screen()),
         "before Enter the agent has no byte of it", r.tmux.screen())
    r.tmux.keys("Enter")
    r.tmux.until("got the plan.txt")
    call, = r.s.events("call")
    t.ok(call.get("autoApproved"), "the approver may use it", call)
    r.tmux.text(message + "x")
    lines = " ".join(r.tmux.until("plan.txtx'"))
    t.contains(lines, "got b'Please", "other keys go to the agent")
    r.tmux.keys("Enter")
    r.tmux.keys("C-]", "s")
    r.tmux.until(" say: ")
    r.tmux.text("ok go on")
    r.tmux.keys("Enter")
    hold = r.s.held()
    h.wait_for(lambda: "approver" in r.s.pending()[0], "no word")
    t.contains(r.s.pending()[0]["approver"], "does not name",
               "keys in the agent's own prompt are no message, and a later "
               "message takes the place of an earlier one")
    r.s.icctl("deny", hold["id"], check=True)


def agents(r):
    """A program in the sandbox, and one without new privileges, cannot claim a
    message."""
    r.start("plan.txt")
    ask = ("import json,socket,sys; s=socket.socket(socket.AF_UNIX); "
           "s.connect(sys.argv[1]); s.sendall(json.dumps({'op':'say',"
           "'message':'read it'}).encode()+b'\\n'); "
           "print(s.makefile().readline())")
    sock = os.path.join(r.s.dir, "control.sock")
    run = ["/usr/bin/python3", "-c", ask, sock]
    def ask_by(*how):
        return json.loads(subprocess.run(
            [*how, *run], stdout=subprocess.PIPE, check=True).stdout)
    refused = ask_by("setpriv", "--no-new-privs")
    t.ok(not refused["ok"] and "no_new_privs" in refused["error"],
         "no_new_privs", refused)
    refused = ask_by("bwrap", "--bind", "/", "/", "--dev", "/dev", "--proc",
                     "/proc", "--unshare-all")
    t.ok(not refused["ok"] and "pid namespace" in refused["error"],
         "a sandbox", refused)
    t.equal(ask_by(), {"ok": True, "type": True},
            "baseline: this user's own program, as it may answer calls")


def another_key(r):
    """config.json's key, in start and attach."""
    r.tmux.run(shlex.join([h.program("icctl"), "config", "get", "answerKey"]))
    r.tmux.until("ctrl-g")
    t.ok(True, "icctl config shows it")
    r.start("plan.txt")
    r.tmux.until(" Ctrl-G for commands")
    r.tmux.keys("C-]")
    r.tmux.until(r"got b'\x1d'")
    r.tmux.keys("C-g", "s")
    r.tmux.until(" say: ")
    r.tmux.keys("Escape")
    r.tmux.gone(" say: ")
    r.tmux.keys("C-g", "d")
    r.tmux.until("icctl: detached")
    t.ok(True, "the key works in start, and Ctrl-] is the agent's")
    r.tmux.run("clear; " + shlex.join([h.program("icctl"), "attach"]))
    r.tmux.until(" Ctrl-G d leaves")
    r.tmux.keys("C-g", "s")
    r.tmux.until(" say: ")
    r.tmux.text(f"read {r.notes}/plan.txt")
    r.tmux.keys("Enter")
    r.tmux.until("got the plan.txt")
    t.ok(r.s.events("call")[0].get("autoApproved"),
         "and in attach, whose messages are the person's, too")
    t.equal(r.s.icctl("stop").returncode, 0, "it is stopped")


def main():
    if PROGRAM is None:
        t.skip("say", "tmux is not here: apt-get install tmux")
        t.done()
    for part, config in ((typed, None), (agents, None),
                         (another_key, {"answerKey": "ctrl-g"})):
        with h.workdir() as work, t.case(part.__name__):
            r = Rig(work, config)
            try:
                part(r)
            finally:
                r.end()
    t.done()


if __name__ == "__main__":
    main()
