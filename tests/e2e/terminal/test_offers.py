#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Offers of an agent on its screen: a text to copy, and an address to open.
Neither leaves the sandbox before the person has seen it whole and said yes."""
import os
import shlex
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
from tmux import Tmux  # noqa: E402

t = h.Tap()
# Does what is typed: copies or opens the rest of the line.
AGENT = r"""#!/usr/bin/python3
import base64, subprocess, sys
print("ready", flush=True)
for line in sys.stdin:
    word, rest = line.strip().split(" ", 1)
    rest = rest.encode().decode("unicode_escape")
    if word == "copy":
        code = base64.b64encode(rest.encode("latin-1")).decode()
        print(f"\033]52;c;{code}\a did {word}", flush=True)
    else:
        r = subprocess.run(["xdg-open", rest], stdin=subprocess.DEVNULL,
                           capture_output=True, text=True)
        print(f"did {word} {r.returncode} {r.stderr[:50]}", flush=True)
"""


class Rig:
    def __init__(self, work):
        self.s = h.Session(work, {}, env={"TERM": "xterm-256color"})
        h.put(os.path.join(self.s.workspace, "agent.py"), AGENT, 0o755)
        self.tmux = Tmux(work, self.s.env)
        self.tmux.tmux("set-option", "-g", "set-clipboard", "on")
        self.tmux.run(shlex.join([h.program("icctl"), "start", "--quiet",
                                  "--workspace", self.s.workspace, "--",
                                  "/workspace/agent.py"]))
        self.tmux.until("ready")

    def type(self, line, told):
        self.tmux.text(line)
        self.tmux.keys("Enter")
        self.tmux.until(told)

    def copied(self):
        return self.tmux.ask("buffer_sample")

    def back(self):
        self.tmux.until("Enter: back to the agent")
        self.tmux.keys("Enter")
        self.tmux.until("for commands")


def copies(r):
    r.type(r"copy one\ntwo\x1b[2J\n", "Ctrl-] c: copy")
    t.equal(r.copied(), "", "nothing is copied before a yes")
    r.tmux.keys("C-]", "c")
    r.tmux.until("Copy these 10 bytes in 2 lines?")
    rows = [x.strip() for x in r.tmux.screen()]
    t.ok("one" in rows and "two[2J" in rows, "the text is shown whole", rows)
    r.tmux.keys("n", "Enter")
    r.back()
    t.equal(r.copied(), "", "nor after a no")
    r.tmux.keys("C-]", "c")
    r.tmux.until("offers nothing")
    t.ok(True, "which takes the offer away")
    r.type(r"copy three\n", "Ctrl-] c: copy")
    r.tmux.keys("C-]", "c")
    r.tmux.until("Copy these 5 bytes in 1 line?")
    r.tmux.keys("y", "Enter")
    h.wait_for(lambda: r.copied() == "three", "the clipboard")
    t.ok(True, "a yes copies it, without the last newline")
    r.back()


def opens(r):
    r.type("open https://a.example/x?y=1", "Ctrl-] o: open a.example?")
    r.tmux.keys("C-]", "o")
    r.tmux.until("Copy the address?")
    rows = "\n".join(r.tmux.screen())
    t.ok("https://a.example/x?y=1\n" in rows.replace(" \n", "\n") and
         "There is no desktop here" in rows,
         "an address is shown whole", rows)
    r.tmux.keys("n", "Enter")
    r.back()
    r.type("open file:///etc/passwd", "did open 3")
    t.ok("only web addresses" in "\n".join(r.tmux.screen()),
         "a file is refused in the sandbox", r.tmux.screen())


def main():
    with h.workdir() as work, t.case("offers"):
        r = Rig(work)
        try:
            copies(r)
            opens(r)
        finally:
            r.tmux.end()
    t.done()


if __name__ == "__main__":
    main()
