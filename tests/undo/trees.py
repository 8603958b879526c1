#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Five kinds of trees, 20 random turns in each, and an undo to the beginning
of every one of them: names, modes, links and bytes are those of that turn.

usage: trees.py DIRECTORY KIND [TREE [SEED]]"""
import json
import mmap
import os
import random
import shutil
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from snap import Snap, Tree, differ, h  # noqa: E402

t = h.Tap()
TURNS = 20
NAMES = ["a", "b.txt", "Makefile", "x y", "-rf", "\udcff\udcfe", "new\nline",
         "\x1b[31m", "é", ".hidden", "z" * 200]


def git(top, *args):
    return subprocess.run(
        ["git", "-c", "user.name=A", "-c", "user.email=a@b.example",
         "-c", "protocol.file.allow=always", "-c", "gc.auto=0", "-C", top,
         *args], check=True, capture_output=True,
        env={"PATH": "/usr/bin:/bin", "HOME": top,
             "GIT_CONFIG_NOSYSTEM": "1"}).stdout


def files(top, n, per=100, size=40):
    for i in range(n):
        d = os.path.join(top, f"d{i // per // 50}", f"e{i // per}")
        if i % per == 0:
            os.makedirs(d)
        with open(os.path.join(d, f"f{i}.c"), "wb") as f:
            f.write(b"%d\n" % i * (size // 4))


def make_git(top):
    files(top, 100000)
    git(top, "init", "-q", "-b", "main")
    git(top, "add", ".")
    git(top, "commit", "-q", "-m", "first")


def make_plain(top):
    files(top, 1000)
    for name in NAMES:
        h.put(os.path.join(top, name), f"{name!r}\n")
    os.symlink("nowhere", os.path.join(top, "dangling"))
    os.symlink("d0", os.path.join(top, "to d0"))
    os.link(os.path.join(top, "a"), os.path.join(top, "hard"))
    os.mkfifo(os.path.join(top, "fifo"))
    os.makedirs(os.path.join(top, "closed/in"))
    h.put(os.path.join(top, "closed/in/f"), "1\n", 0o444)
    os.chmod(os.path.join(top, "closed/in"), 0o555)
    os.chmod(os.path.join(top, "closed"), 0o555)


def make_node(top):
    for i in range(300):
        h.put(os.path.join(top, f"node_modules/p{i}/package.json"), "{}\n")
        h.put(os.path.join(top, f"node_modules/p{i}/lib/i.js"), f"{i}\n")
    files(os.path.join(top, "src"), 500)
    h.put(os.path.join(top, "package.json"), "{}\n")
    h.put(os.path.join(top, "src/node_modules/x/y.js"), "1\n")


def make_modules(top):
    other = os.path.join(os.path.dirname(top), "other")
    os.mkdir(other)
    for at, n in ((other, 50), (top, 500)):
        files(at, n)
        git(at, "init", "-q", "-b", "main")
        git(at, "add", ".")
        git(at, "commit", "-q", "-m", "first")
    git(top, "submodule", "--quiet", "add", other, "lib/sub")
    git(top, "commit", "-q", "-m", "with a submodule")
    git(top, "worktree", "add", "-q", "-b", "side", os.path.join(top, "wt"))


def make_sparse(top):
    files(top, 100)
    with open(os.path.join(top, "big"), "wb") as f:
        f.truncate(10 << 30)
        for at in (0, 3 << 30, (10 << 30) - 5):
            f.seek(at)
            f.write(b"data%d" % at if at < 5 << 30 else b"tail\n")


MAKE = {"git": make_git, "plain": make_plain, "node": make_node,
        "modules": make_modules, "sparse": make_sparse}


class Script:
    """Makes turns: each does a few of the things that a program can do."""

    def __init__(self, top, kind, seed):
        self.top = top
        self.kind = kind
        self.r = random.Random(seed)
        self.n = 0

    def places(self):
        """Some files and directories; a walk of all would take too long."""
        found = [[], []]
        todo = [self.top]
        while todo and len(found[0]) < 60:
            d = todo.pop(self.r.randrange(len(todo)))
            try:
                entries = sorted(os.scandir(d), key=lambda e: e.name)
            except OSError:
                continue
            self.r.shuffle(entries)
            for e in entries[:20]:
                if e.name in (".git", "node_modules", "big"):
                    continue
                if e.is_dir(follow_symlinks=False):
                    found[1].append(e.path)
                    todo.append(e.path)
                elif e.is_file() or e.is_symlink():
                    found[0].append(e.path)
        return found

    def fresh(self, d):
        self.n += 1
        return os.path.join(d, f"{self.r.choice(NAMES)[:150]}{self.n}")

    def edit(self, f, d):
        with open(f, "ab") as o:
            o.write(b"edited %d\n" % self.r.randrange(1 << 30))

    def same_size(self, f, d):
        """Other bytes, with the size and the time that it had."""
        st = os.stat(f)
        with open(f, "r+b") as o:
            o.write(bytes(self.r.randrange(256) for _ in range(
                min(st.st_size, 40))))
        os.utime(f, ns=(st.st_atime_ns, st.st_mtime_ns))

    def mapped(self, f, d):
        with open(f, "r+b") as o:
            if os.fstat(o.fileno()).st_size == 0:
                o.write(b"x")
                o.flush()
            with mmap.mmap(o.fileno(), 0) as m:
                m[0] = self.r.randrange(256)

    def remove(self, f, d):
        os.unlink(f)

    def remove_all(self, f, d):
        if d != self.top:
            shutil.rmtree(d)

    def make(self, f, d):
        h.put(self.fresh(d), f"new {self.n}\n", self.r.choice(
            (0o600, 0o644, 0o755, 0o4755, 0o400)))

    def make_all(self, f, d):
        at = self.fresh(d)
        for i in range(self.r.randrange(20)):
            h.put(os.path.join(at, f"s{i % 3}", f"n{i}"), f"{self.n} {i}\n")
        os.makedirs(os.path.join(at, "empty"))

    def move(self, f, d):
        os.rename(f, self.fresh(os.path.dirname(f)))

    def move_all(self, f, d):
        if d != self.top:
            os.rename(d, self.fresh(os.path.dirname(d)))

    def mode(self, f, d):
        """A link may lead to a directory, of which all would be left out."""
        mode = self.r.choice((0o600, 0o644, 0o755, 0o444, 0o500))
        if not os.path.islink(f):
            os.chmod(f, mode)

    def mode_all(self, f, d):
        if d != self.top:
            os.chmod(d, self.r.choice((0o700, 0o755, 0o555, 0o750)))

    def link(self, f, d):
        os.unlink(f)
        os.symlink(self.r.choice(("/etc/passwd", "..", "x" * 200)), f)

    def hard(self, f, d):
        os.link(f, self.fresh(d), follow_symlinks=False)

    def file_for_directory(self, f, d):
        if d != self.top:
            shutil.rmtree(d)
            h.put(d, "a file by now\n")

    def directory_for_file(self, f, d):
        os.unlink(f)
        os.mkdir(f)
        h.put(os.path.join(f, "in"), "a directory by now\n")

    def cut(self, f, d):
        with open(f, "r+b") as o:
            o.truncate(self.r.randrange(3))

    def in_git(self, f, d):
        if not os.path.exists(os.path.join(self.top, ".git")):
            return
        what = self.r.choice((
            ("add", "-A", "."), ("commit", "-q", "-a", "-m", f"c{self.n}"),
            ("reset", "-q", "--hard"), ("checkout", "-q", "-B", f"b{self.n}"),
            ("stash",), ("clean", "-q", "-f", "-d"), ("tag", f"t{self.n}"),
            ("config", "alias.x", f"!echo {self.n}")))
        try:
            git(self.top, *what)
        except subprocess.CalledProcessError:
            pass

    def left_out(self, f, d):
        at = os.path.join(self.top, "node_modules/p1/lib")
        if os.path.isdir(at):
            h.put(os.path.join(at, "i.js"), f"{self.n}\n")

    def big(self, f, d):
        path = os.path.join(self.top, "big")
        if self.kind != "sparse":
            return
        if self.r.randrange(4) == 0 and os.path.exists(path):
            os.unlink(path)
            return
        with open(path, "r+b" if os.path.exists(path) else "w+b") as o:
            o.truncate(10 << 30)
            o.seek(self.r.randrange(10 << 30))
            o.write(b"turn %d" % self.n)

    def turn(self):
        todo = [self.edit, self.same_size, self.mapped, self.remove,
                self.remove_all, self.make, self.make_all, self.move,
                self.move_all, self.mode, self.mode_all, self.link, self.hard,
                self.file_for_directory, self.directory_for_file, self.cut,
                self.in_git, self.left_out, self.big]
        for _ in range(self.r.randrange(4, 10)):
            found = self.places()
            d = self.r.choice(found[1] or [self.top])
            f = self.r.choice(found[0]) if found[0] else self.fresh(self.top)
            self.n += 1
            what = self.r.choice(todo)
            try:
                what(f, d)
            except OSError:
                continue    # a read-only directory, a dangling link
        if self.kind == "sparse":
            self.big(None, None)


def timed(what, *args):
    begin = time.monotonic()
    value = what(*args)
    return value, time.monotonic() - begin


def test(place, kind, name, seed):
    work = os.path.join(place, name)
    s = Snap(work)
    _, made = timed(MAKE[name], s.top)
    reflinks = kind != "ext4"
    left = ("big",) if name == "sparse" and not reflinks else ()
    tree = Tree(s.top, left)
    script = Script(s.top, name, seed)
    _, first = timed(s.saved)
    states, numbers, again = [], [], []
    for _ in range(TURNS):
        states.append(tree.look())
        number, took = timed(s.saved)
        numbers.append(number)
        again.append(took)
        script.turn()
    named = s.left(numbers[0])
    if name == "sparse":
        t.equal("undo.maxFileMb" in named.get("big", ""), not reflinks,
                f"{kind}, {name}: 10 GB are " + ("saved" if reflinks else
                                                 "left out, by name"))
    if name == "node":
        t.equal((named.get("node_modules"), named.get("src/node_modules")),
                ("made by tools",) * 2, f"{kind}, {name}: left out, by name")
    order = list(range(TURNS))
    script.r.shuffle(order)
    wrong, worst = [], 0
    for i in order:
        bad, took = timed(s.undo, numbers[i])
        worst = max(worst, took)
        found = differ(states[i], tree.look())
        if found or bad:
            wrong.append((i, found[:5], bad[:5]))
    t.equal(wrong, [], f"{kind}, {name}: each of {TURNS} undos gives the state "
            f"of that turn (seed {seed})")
    print(f"# {kind}, {name}: {len(states[0])} entries, made in {made:.0f} s, first checkpoint "
          f"{first:.1f} s, later {min(again):.2f} to {max(again):.2f} s, undo "
          f"at most {worst:.1f} s")
    subprocess.run(["chmod", "-R", "u+rwX", work], check=False)
    shutil.rmtree(work)


def main():
    place, kind = sys.argv[1:3]
    seed = int(sys.argv[4]) if len(sys.argv) > 4 else random.randrange(1 << 30)
    print(f"# seed {seed}: {json.dumps(sys.argv[1:3])}")
    for name in sys.argv[3:4] or MAKE:
        test(place, kind, name, seed)
    t.done()


main()
