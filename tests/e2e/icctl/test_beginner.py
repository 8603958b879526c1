#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""A beginner's commands, in a home without a configuration: each has the right
exit status and says what helps. No answer has a line of more than 700 letters,
a NULL of C, or the name of a source file."""
import concurrent.futures
import os
import re
import shlex
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
from beginner_data import ROWS  # noqa: E402

t = h.Tap()


def rows():
    for line in ROWS.strip().splitlines():
        command, status, text = line.split(" | ", 2) \
            if line.count(" | ") == 2 else re.match(
                r"(.*?) \| (\d+) \| (.*)", line).groups()
        yield command, int(status), text


def run(env, cwd, command):
    return subprocess.run(
        [h.program("icctl"), *shlex.split(command)], env=env, cwd=cwd,
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
        timeout=60 * h.PATIENCE)


def main():
    with h.workdir() as work:
        cwd = os.path.join(work, "shop")
        h.put(os.path.join(cwd, "README"), "a shop\n")
        home = os.path.join(work, "user")
        os.mkdir(home)
        env = {"PATH": "/usr/bin:/bin", "HOME": home, "LANG": "C.UTF-8"}
        # Those that follow a log come first: no other command's session, which
        # may live for a moment, is there yet.
        todo = sorted(rows(), key=lambda r: not r[0].startswith("logs -f"))
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            done = pool.map(lambda r: run(env, cwd, r[0]), todo)
            for (command, status, text), r in zip(todo, done):
                said = " ".join((r.stdout + " " + r.stderr).split())
                t.ok(r.returncode == status and text in said and
                     "(null)" not in said and
                     not re.search(r"\.c:\d", said) and
                     max(map(len, r.stderr.splitlines()), default=0) < 700,
                     f"icctl {command}: {status}", (r.returncode, said))
        t.ok(len(todo) >= 120, f"{len(todo)} commands of a beginner")
        t.equal(os.listdir(os.path.join(home, ".ironcurtain", "sessions"))
                if os.path.isdir(os.path.join(home, ".ironcurtain",
                                              "sessions")) else [], [],
                "none of them has left a session")
    t.done()


main()
