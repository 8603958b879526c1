#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Everything that makes a checkpoint, while a process that nobody waits for
changes files in between: each checkpoint has what was there at that moment. An
editor's prompt, the last one, is in test_acp.py."""
import json
import os
import shlex
import shutil
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
from test_conversation import Talk  # noqa: E402
from tmux import Tmux  # noqa: E402

t = h.Tap()
# Behind the agent's back: change N is made when the test asks for it.
AGENT = r"""#!/bin/sh
cd /workspace || exit
(
    n=0
    while [ "$n" -lt 9 ]; do
        if [ ! -e ".go-$n" ]; then sleep 0.02; continue; fi
        echo "$n" >>changes
        rm -f "old-$n"
        mv "moved-$n" "to-$n"
        echo >".did-$n"
        n=$((n + 1))
    done
) </dev/null >/dev/null 2>&1 &
echo ready
while read -r line; do echo "did $line"; done
"""
CHANGES = 4


class Behind:
    def __init__(self, top):
        self.top, self.n = top, 0
        for i in range(CHANGES):
            h.put(os.path.join(top, f"old-{i}"), "old\n")
            h.put(os.path.join(top, f"moved-{i}"), "moved\n")

    def change(self):
        h.put(os.path.join(self.top, f".go-{self.n}"), "")
        h.wait_for(lambda: os.path.exists(
            os.path.join(self.top, f".did-{self.n}")), "the background")
        self.n += 1

    def state(self):
        """Returns the changes that the workspace has, if they are whole."""
        names = set(os.listdir(self.top))
        found = [i for i in range(CHANGES) if f"to-{i}" in names]
        lines = []
        if "changes" in names:
            with open(os.path.join(self.top, "changes"), encoding="ascii") as f:
                lines = [int(x) for x in f]
        whole = all((f"old-{i}" in names) == (f"moved-{i}" in names) ==
                    (i not in found) for i in range(CHANGES))
        return found if whole and lines == found else (found, lines, names)


def listed(s):
    r = s.icctl("--json", "undo", "--list")
    return json.loads(r.stdout)["checkpoints"] if r.stdout else []


def wanted(s, of, name=None):
    """Waits for a checkpoint of that kind; returns its number."""
    return h.wait_for(
        lambda: [c["checkpoint"] for c in listed(s) if c["of"] == of and
                 name in (None, c["name"])], f"a checkpoint: {of}")[-1]


def test_screen(work):
    s = h.Session(work, env={"TERM": "xterm-256color"})
    b = Behind(s.workspace)
    h.put(os.path.join(s.workspace, "agent.sh"), AGENT, 0o755)
    tmux = Tmux(work, s.env)
    made = {}
    try:
        tmux.run(shlex.join([h.program("icctl"), "start", "--quiet",
                             "--workspace", s.workspace, "--",
                             "/workspace/agent.sh"]))
        tmux.until("ready")
        home = os.path.join(s.home, "sessions")
        s.dir = os.path.join(home, os.listdir(home)[0])
        made["READY"] = wanted(s, "start")
        b.change()
        tmux.keys("go", "Enter")
        tmux.until("did go")
        made["Enter"] = wanted(s, "turn")
        b.change()
        r = s.icctl("checkpoint", "by a command")
        t.equal(r.returncode, 0, "icctl checkpoint")
        made["icctl checkpoint"] = wanted(s, "named", "by a command")
        b.change()
        tmux.keys("C-]", "k")
        tmux.until("Enter: back to the agent")
        made["Ctrl-] k"] = wanted(s, "named", "")
        tmux.keys("Enter")
        b.change()
        s.icctl("stop")
        made["the end"] = wanted(s, "end")
    finally:
        tmux.end()
    for i, (what, number) in reversed(list(enumerate(made.items()))):
        r = s.icctl("undo", "--yes", "--all", "--to", str(number))
        t.equal((r.returncode, b.state()), (0, list(range(i))),
                f"{what}: the checkpoint has what was there {r.stderr}")


def test_message(work):
    """Between two messages nothing of the sandbox runs; something else may."""
    s = h.Session(work)
    top = s.workspace
    h.put(os.path.join(top, "agent.sh"), '#!/bin/sh\ncd /workspace\n'
          'm=$(cat)\neval "$m"\n', 0o755)
    h.put(os.path.join(top, "kept"), "as it was\n")

    def has(*names):
        return [os.path.exists(os.path.join(top, n)) for n in names]

    with Talk(work, "--", "/workspace/agent.sh", session=s) as k:
        k.send("setsid sh -c 'sleep 1000; echo >never' >/dev/null 2>&1 & "
               "echo >first")
        os.unlink(os.path.join(top, "kept"))
        h.put(os.path.join(top, "between"), "x\n")
        k.send("rm between; echo >second")
        t.equal(has("first", "second", "kept", "between"),
                [True, True, False, False], "two turns, and a change between")
        args = ("--session", s.dir, "undo", "--yes", "--all", "--turn")
        k.icctl(*args, "2")
        t.equal(has("first", "second", "kept", "between"),
                [True, False, False, True],
                "a message: the checkpoint has what was changed before it")
        k.icctl(*args, "1")
        t.equal(has("first", "second", "kept", "between"),
                [False, False, True, False],
                "and the one before is older than that")


def main():
    if not shutil.which("bwrap"):
        t.skip("triggers", "bubblewrap is not installed")
    else:
        with h.workdir() as work, t.case("message"):
            test_message(work)
        if shutil.which("tmux"):
            with h.workdir() as work, t.case("screen"):
                test_screen(work)
    t.done()


main()
