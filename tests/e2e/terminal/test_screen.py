#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""An agent with the full screen, in a real session, on a terminal that tmux
draws: what the agent has, what the person sees, and how the terminal stands
afterwards, however the session ends."""
import os
import shlex
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
from started import Place  # noqa: E402
from tmux import PROGRAM, PROMPT, Tmux  # noqa: E402

t = h.Tap()


class Rig(Place):
    """A session on a shell's terminal."""

    def __init__(self, work, config=None):
        super().__init__(work, config)
        self.tmux = Tmux(work, self.env)
        self.before = (self.tmux.stty(), self.tmux.modes())

    def start(self, text, name="agent.sh"):
        self.tmux.run(shlex.join(self.argv(self.script(text, name))))

    def restored(self, name):
        """The shell has its terminal back, as it was."""
        self.tmux.until(PROMPT)
        h.wait_for(lambda: self.tmux.stty() == self.before[0] or None,
                   "the terminal's settings")
        t.equal(self.tmux.modes(), self.before[1], name)


def entry(r):
    """The agent's terminal is termd's, whatever the person's is."""
    r.start('echo "<$TERM $COLORTERM $(tput colors)>"; read x')
    lines = r.tmux.until("256>")
    t.contains(lines, "<xterm-256color truecolor 256>",
               "the agent has the terminal that termd draws")
    r.tmux.keys("Enter")
    r.restored("an end: no mode is left")


def main():
    if PROGRAM is None:
        t.skip("screen", "tmux is not here: apt-get install tmux")
        t.done()
    for part in (entry,):
        with h.workdir() as work, t.case(part.__name__):
            r = Rig(work)
            try:
                part(r)
            finally:
                r.tmux.end()
    t.done()


if __name__ == "__main__":
    main()
