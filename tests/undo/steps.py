#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""kill -9 at every step of saving and of restoring: the earlier checkpoints
hold, and a restore can be repeated.

usage: steps.py DIRECTORY KIND"""
import os
import shutil
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from snap import Snap, Tree, differ, h  # noqa: E402

t = h.Tap()
SAVE = ("openat", "openat2", "write", "renameat", "unlinkat", "mkdirat",
        "fsync", "ioctl", "getdents64", "newfstatat", "lseek", "close")
RESTORE = ("openat", "openat2", "write", "renameat", "renameat2", "unlinkat",
           "mkdirat", "fchmod", "symlinkat", "ioctl", "newfstatat", "close")


def fill(top, word):
    for name in ("a", "d/b", "d/e/c", "run.sh"):
        h.put(os.path.join(top, name), f"{word} {name}\n" * 20, 0o750)
    os.makedirs(os.path.join(top, word), mode=0o750)
    for name in ("l", f"only {word}"):
        if os.path.lexists(os.path.join(top, name)):
            os.unlink(os.path.join(top, name))
    os.symlink(word, os.path.join(top, "l"))
    h.put(os.path.join(top, f"only {word}"), word)
    shutil.rmtree(os.path.join(top, "kind"), ignore_errors=True)
    if os.path.lexists(os.path.join(top, "kind")):
        os.unlink(os.path.join(top, "kind"))
    if word == "old":
        h.put(os.path.join(top, "kind/in"), word)
    else:
        h.put(os.path.join(top, "kind"), word)


def refill(top, word):
    for name in os.listdir(top):
        path = os.path.join(top, name)
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        else:
            os.unlink(path)
    fill(top, word)


class Steps:
    def __init__(self, work):
        self.log = work + ".strace"
        self.s = Snap(work)
        self.tree = Tree(self.s.top)
        fill(self.s.top, "old")
        self.old = self.tree.look()
        self.first = self.s.saved()
        self.bad = []
        self.steps = 0

    def holds(self, what):
        """The first checkpoint comes back whole, whatever happened."""
        rows = self.s.undo(self.first)
        found = differ(self.old, self.tree.look())
        if rows or found:
            self.bad.append((what, rows[:4], found[:4]))

    def each(self, calls, what, step):
        """Injects at each call, one after the other, until none is left. The
        first ones are the shell's, which starts the program."""
        for call in calls:
            for n in range(1, 400):
                refill(self.s.top, "new")
                step(("strace", "-f", "-qq", "-o", self.log, "-e",
                      f"trace={call}", "-e", f"inject={call}:{what}:when={n}"),
                     (call, n))
                with open(self.log, encoding="utf-8", errors="replace") as f:
                    log = f.read()
                if "killed by SIGKILL" not in log:
                    break
                self.steps += 1
                self.holds((call, n, what))

    def save_killed(self, over, at):
        self.s.save(over)

    def restore_killed(self, over, at):
        now = self.s.saved()
        _, digest = self.s.plan(now, self.first)
        self.s.restore(now, self.first, digest, over)


def main():
    place, kind = sys.argv[1:3]
    if not shutil.which("strace"):
        t.skip("steps", "strace is not installed")
        t.done()
        return
    for name, calls in (("save_killed", SAVE), ("restore_killed", RESTORE)):
        work = os.path.join(place, name)
        s = Steps(work)
        s.each(calls, "signal=KILL", getattr(s, name))
        t.ok(not s.bad and s.steps > 20,
             f"{kind}, {name}: at each of {s.steps} steps nothing is lost",
             s.bad[:5])
        shutil.rmtree(work)
    t.done()


if __name__ == "__main__":
    main()
