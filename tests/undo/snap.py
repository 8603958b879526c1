# SPDX-License-Identifier: ISC
"""ic-snap itself, with a workspace and a store on a file system of the test's
choice, and the names, modes, links and bytes of a tree."""
import hashlib
import os
import stat
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "lib"))
import harness as h  # noqa: E402

LIMITS = {"files": 300000, "file-mb": 100, "turn-mb": 2048, "store-mb": 5120,
          "free": 0, "keep": 5000, "days": 30}
PROGRAM = os.path.join(h.PREFIX, "libexec/ironcurtain/ic-snap")
# struct snap_report: six uint32_t, two uint64_t, a digest, and a reason.
REPORT = struct.Struct("=6I2Q32s200s")


class Snap:
    def __init__(self, work):
        self.top = os.path.join(work, "tree")
        self.store = os.path.join(work, "store")
        for d in (self.top, self.store):
            os.makedirs(d, mode=0o700)

    def run(self, shape, *words, over=()):
        """Runs it, below another program if `over` is one. Returns its status
        and what it reported."""
        p = subprocess.run(
            [*over, "/bin/sh", "-c", 'exec "$@" 3<"$T" 4<"$S"', "sh", PROGRAM,
             shape, *words], capture_output=True, check=False,
            timeout=300 * h.PATIENCE,
            env={"T": self.top, "S": self.store, "PATH": "/usr/bin:/bin"})
        return p.returncode, p.stdout

    def save(self, over=(), **limits):
        """Returns the status, and the report as a dict, or None."""
        words = [f"{k}={v}" for k, v in {**LIMITS, **limits}.items()]
        status, out = self.run("save", "session=s", "kind=named", *words,
                               over=over)
        if len(out) != REPORT.size:
            return status, None
        names = ("number", "files", "left", "loose", "late", "same", "added",
                 "store", "sum", "why")
        r = dict(zip(names, REPORT.unpack(out)))
        r["why"] = r["why"].split(b"\0")[0].decode()
        return status, r

    def saved(self, **limits):
        """Returns the number of a checkpoint that must be made."""
        status, r = self.save(**limits)
        if status != 0 or r is None or r["number"] == 0:
            raise RuntimeError(f"ic-snap save: {status}, {r}")
        return r["number"]

    def plan(self, now, to):
        """Returns the rows and the digest."""
        status, out = self.run("plan", f"now={now}", f"to={to}")
        rows = out.split(b"\0")[:-1]
        if status != 0 or not rows or rows[-1][:1] != b".":
            raise RuntimeError(f"ic-snap plan: {status}, {out[-200:]}")
        return rows[:-1], rows[-1][2:].decode()

    def restore(self, now, to, digest, over=()):
        """Returns the status, the rows that were not done, and their end."""
        status, out = self.run("restore", f"now={now}", f"to={to}",
                               f"digest={digest}", over=over)
        rows = out.split(b"\0")[:-1]
        return status, rows[:-1], rows[-1] if rows else b""

    def undo(self, to, **limits):
        """Goes back to a checkpoint. Returns the rows that were not done."""
        now = self.saved(**limits)
        _, digest = self.plan(now, to)
        status, bad, end = self.restore(now, to, digest)
        if status != 0 or end[:1] != b".":
            raise RuntimeError(f"ic-snap restore: {status}, {end}")
        return bad

    def left(self, number):
        """Returns what the checkpoint left out: paths and reasons."""
        with open(os.path.join(self.store, "turns", f"{number:010}"),
                  encoding="utf-8", errors="surrogateescape") as f:
            record = dict(x.rstrip("\n").split(" ", 1) for x in f)
        with open(os.path.join(self.store, "objects", record["sum"]),
                  "rb") as f:
            parts = f.read().split(b"\0")[:-1]
        return {os.fsdecode(parts[i + 1]): parts[i + 2].decode()
                for i in range(0, len(parts), 3) if parts[i][:1] == b"x"}


class Tree:
    """Lists a tree. A digest of a file is kept while its inode, size and times
    stay: a test that waits for each byte of 100,000 files takes too long."""

    def __init__(self, top, left=()):
        self.top = top
        self.left = left
        self.kept = {}

    def digest(self, path, st):
        key = (st.st_ino, st.st_size, st.st_mtime_ns, st.st_ctime_ns)
        known = self.kept.get(path)
        if known and known[0] == key:
            return known[1]
        try:
            with open(path, "rb") as f:
                value = hash_of(f, st.st_size)
        except PermissionError:
            return b"unreadable"
        self.kept[path] = (key, value)
        return value

    def look(self):
        found = {}
        self.add(found, self.top, "")
        return found

    def add(self, found, path, rel):
        try:
            entries = list(os.scandir(path))
        except PermissionError:
            return
        for e in entries:
            name = rel + e.name
            # A directory that cannot be searched: its names are left out.
            try:
                st = e.stat(follow_symlinks=False)
            except PermissionError:
                continue
            if name in self.left or e.name == "node_modules" or (
                    e.name == "objects" and "/.git/" in f"/{rel}"):
                continue
            if stat.S_ISLNK(st.st_mode):
                found[name] = ("link", os.readlink(e.path))
            elif stat.S_ISDIR(st.st_mode):
                found[name] = ("dir", st.st_mode & 0o777)
                self.add(found, e.path, name + "/")
            elif not stat.S_ISREG(st.st_mode):
                found[name] = ("other",)
            else:
                found[name] = ("file", st.st_mode & 0o777, st.st_size,
                               self.digest(e.path, st))


def hash_of(f, size):
    """The bytes of a file; of a large one the places that are not zero."""
    s = hashlib.sha256()
    if size < 1 << 27:
        while block := f.read(1 << 20):
            s.update(block)
        return s.digest()
    at, fd = 0, f.fileno()
    while at < size:
        try:
            at = os.lseek(fd, at, os.SEEK_DATA) // 4096 * 4096
        except OSError:
            break
        end = os.lseek(fd, at, os.SEEK_HOLE)
        while at < end:
            block = os.pread(fd, 4096, at)
            if block.strip(b"\0"):
                s.update(b"%d " % at + block)
            at += 4096
    return s.digest()


def differ(a, b):
    return [k for k in sorted(set(a) | set(b)) if a.get(k) != b.get(k)]
