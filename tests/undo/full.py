#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""A disk that is full at every step of saving and of restoring, on a small file
system of its own: what was not done is said, the earlier checkpoint holds, and
with room again all of it can be done.

usage: full.py DIRECTORY"""
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from snap import differ, h  # noqa: E402
from steps import Steps, refill  # noqa: E402

t = h.Tap()
STEPS = 40              # blocks that are free


class Full(Steps):
    def __init__(self, place):
        super().__init__(os.path.join(place, "full"))
        self.ballast = os.path.join(place, "ballast")
        self.said = self.made = 0

    def room(self, blocks):
        """Leaves so many blocks free; None: all."""
        if os.path.exists(self.ballast):
            os.unlink(self.ballast)
        if blocks is None:
            return
        os.sync()
        v = os.statvfs(os.path.dirname(self.ballast))
        size, more = 0, v.f_bavail
        with open(self.ballast, "wb") as f:
            while more != 0:
                try:
                    os.posix_fallocate(f.fileno(), size, more * v.f_frsize)
                    size += more * v.f_frsize
                except OSError:
                    more //= 2
            f.truncate(size - blocks * v.f_frsize)

    def save(self, blocks):
        refill(self.s.top, f"new{blocks}")
        new = self.tree.look()
        self.room(blocks)
        status, r = self.s.save()
        self.room(None)
        if status != 0 or r is None or r["number"] == 0:
            self.said += 1
            if r is not None and not ("disk" in r["why"] or
                                      "space" in r["why"]):
                self.bad.append((blocks, r["why"]))
        else:
            self.made += 1
            refill(self.s.top, "old")
            rows = self.s.undo(r["number"])
            found = differ(new, self.tree.look())
            if rows or found:
                self.bad.append((blocks, "it was made, and lacks", found[:3]))
        self.holds(("save", blocks))

    def restore(self, blocks):
        refill(self.s.top, f"new{blocks}")
        now = self.s.saved()
        _, digest = self.s.plan(now, self.first)
        self.room(blocks)
        status, rows, end = self.s.restore(now, self.first, digest)
        self.room(None)
        found = differ(self.old, self.tree.look())
        if rows or status != 0:
            self.said += 1
        elif end[:1] == b".":
            self.made += 1
            if found:
                self.bad.append((blocks, "not said", found[:3]))
        self.holds(("restore", blocks))


def main():
    for name in ("save", "restore"):
        place = os.path.join(sys.argv[1], name)
        os.mkdir(place)
        f = Full(place)
        for blocks in range(STEPS):
            getattr(f, name)(blocks)
        t.equal(f.bad, [], f"{name}: with 0 to {STEPS - 1} blocks of room "
                "nothing is lost")
        t.ok(f.said > 0 and f.made > 0, f"{name}: some have no room and say "
             "so, and some have enough", (f.said, f.made))
    t.done()


main()
