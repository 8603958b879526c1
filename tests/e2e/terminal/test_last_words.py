#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""An agent's own last words say how to go on, in words that only hold in its
sandbox: below them stands how to go on here."""
import os
import re
import shutil
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
from started import Place  # noqa: E402
from terminal import Terminal  # noqa: E402

t = h.Tap()
AGENT = """{"name": "x", "title": "X", "program": ["sh"],
 "interactive": ["-c", "echo 'to go on: x --resume 1234'"],
 "taskArgs": ["-c", "{task}"]}"""


def test_words(work):
    p = Place(work)
    h.put(os.path.join(p.home, "agents", "x.json"), AGENT, 0o600)
    argv = [h.program("icctl"), "start", "--workspace", p.project,
            "--agent", "x"]
    term = Terminal(argv, p.env, rows=24, cols=80)
    t.equal(term.end(), 0, "a session on a terminal")
    name = os.listdir(os.path.join(p.home, "sessions"))[0]
    # Lines of ours are divided between words.
    said = b" ".join(term.all.split())
    t.ok(re.search(rb"x --resume 1234.*to go on with this conversation, "
                   rb"here: icctl resume " + name.encode(), said),
         "how to go on is said last", term.all[-800:])
    term = Terminal([*argv[:-2], "--", "true"], p.env, rows=24, cols=80)
    t.equal(term.end(), 0, "a command on a terminal")
    t.ok(b"icctl resume" not in term.all, "has no conversation", term.all)


def main():
    if not shutil.which("bwrap"):
        t.skip("last_words", "bubblewrap is not installed")
        t.done()
    with h.workdir() as work, t.case("words"):
        test_words(work)
    t.done()


if __name__ == "__main__":
    main()
