#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""100,000 swaps of directories and files with links to the outside, during saving
and restoring: nothing outside the tree is read, written, made or removed.

usage: swaps.py DIRECTORY KIND"""
import ctypes
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from snap import Snap, h  # noqa: E402

t = h.Tap()
SWAPS, ROUNDS, FILES = 100_000, 20, 20
RENAME_EXCHANGE = 2
SECRET = b"these bytes lie outside"
# Each is swapped with a link to the same name outside.
NAMES = ("d", "d/deep", "d/deep/f0", "file")


def fill(top, text):
    for name in [f"d/deep/f{i}" for i in range(FILES)] + ["d/e", "file"]:
        h.put(os.path.join(top, name), text + name)


def outside(top):
    """Returns all of it: names, modes, times and bytes."""
    found = {}
    for place, dirs, files in os.walk(top):
        for name in dirs + files:
            path = os.path.join(place, name)
            st = os.lstat(path)
            found[path] = (st.st_mode, st.st_nlink, st.st_mtime_ns,
                           open(path, "rb").read() if name in files else b"")
    return found


def pairs(top):
    """Returns what is exchanged. The directories are held open, so that no swap
    takes place outside."""
    fd = os.open(top, os.O_PATH)
    for n in NAMES:
        place, base = os.path.split(os.path.join(top, n))
        yield (os.open(place, os.O_PATH), os.fsencode(base), fd,
               os.fsencode(n.replace("/", "_") + ".link"))


def swap(rows, over):
    """Swaps until `over` can be read, and at least SWAPS times. Returns how many
    took place."""
    exchange = ctypes.CDLL(None, use_errno=True).renameat2
    n = 0
    os.set_blocking(over, False)
    while True:
        for row in rows:
            n += exchange(*row, RENAME_EXCHANGE) == 0
        if n < SWAPS:
            continue
        try:
            os.read(over, 1)
            return n
        except BlockingIOError:
            pass


def swapping(top):
    """Begins in a process of its own. Returns its pid, what ends it, and where
    it writes how many it made."""
    (over, end), (out, count) = os.pipe(), os.pipe()
    rows = list(pairs(top))
    pid = os.fork()
    if pid == 0:
        os.close(end)
        os.write(count, str(swap(rows, over)).encode())
        os._exit(0)
    os.close(over)
    os.close(count)
    return pid, end, out


def links(s, out):
    """Puts each link back, in case a restore has removed it."""
    for n in NAMES:
        path = os.path.join(s.top, n.replace("/", "_") + ".link")
        if not os.path.lexists(path):
            try:
                os.symlink(os.path.join(out, n), path)
            except FileExistsError:
                pass


def rounds(s, out, old, new):
    """Returns how many checkpoints were made and how many files were put back."""
    deep = os.open(os.path.join(s.top, "d/deep"), os.O_PATH)
    pid, end, count = swapping(s.top)
    saved = put = 0
    try:
        for i in range(ROUNDS):
            status, r = s.save()
            saved += status == 0 and r is not None and r["number"] != 0
            now, to = (new, old) if i % 2 == 0 else (old, new)
            s.restore(now, to, s.plan(now, to)[1])
            put += sum(old_text(deep, f"f{k}") for k in range(1, FILES))
            links(s, out)
    finally:
        os.close(end)
        swaps = int(os.read(count, 20))
        os.waitpid(pid, 0)
    return saved, put, swaps


def old_text(deep, name):
    """Only a restore can have brought it back."""
    try:
        fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=deep)
    except OSError:
        return False
    with open(fd, "rb") as f:
        return f.read(4) == b"old "


def main():
    work, kind = os.path.join(sys.argv[1], "swaps"), sys.argv[2]
    s, out = Snap(work), os.path.join(work, "elsewhere")
    fill(out, SECRET.decode())
    fill(s.top, "old ")
    links(s, out)
    old = s.saved()
    fill(s.top, "new ")
    new = s.saved()
    before = outside(out)
    saved, put, swaps = rounds(s, out, old, new)
    t.ok(swaps >= SWAPS, f"{kind}: {SWAPS} swaps", swaps)
    t.ok(saved == ROUNDS and put > 0, f"{kind}: during {ROUNDS} checkpoints, and "
         "restores that put files back", (saved, put))
    t.equal(outside(out), before, f"{kind}: nothing outside has changed")
    objects = os.path.join(s.store, "objects")
    read = [n for n in os.listdir(objects)
            if SECRET in open(os.path.join(objects, n), "rb").read()]
    t.equal(read, [], f"{kind}: and nothing outside was read")
    t.done()


main()
