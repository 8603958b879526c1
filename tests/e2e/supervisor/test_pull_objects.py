#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""`icctl pull` of objects that are not what they should be, and of branches with
any name: only checked commits under harmless names reach the user."""
import os
import sys
import zlib

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
import trap_repo as trap  # noqa: E402
from pulled import Shapes, commit, entry, loose  # noqa: E402
from started import Place  # noqa: E402

t = h.Tap()


def objects(p):
    """Objects that are not what they should be."""
    s = Shapes(t, p)
    blob = loose(s.git, "blob", b"x\n")
    for name, why, mode, oid in (
            (b".git", "hasDotgit", b"40000", s.tree),
            (b"..", "hasDotdot", b"40000", s.tree),
            (b".gitmodules", "gitmodulesSymlink", b"120000", blob),
            (b".GIT", "hasDotgit", b"100644", blob)):
        s.begin()
        blob = loose(s.git, "blob", b"x\n")
        tree = loose(s.git, "tree", entry(mode, name, oid))
        s.ref("bad", commit(s.git, tree, s.tip))
        s.refused(f"a tree with {name}", why)
    s.begin()
    url = loose(s.git, "blob", b'[submodule "x"]\n\tpath = x\n'
                b"\turl = --upload-pack=touch\n")
    tree = loose(s.git, "tree", entry(b"100644", b".gitmodules", url))
    s.ref("main", commit(s.git, tree, s.tip))
    s.refused("a submodule with an option as its URL", "gitmodulesUrl")
    s.begin()
    gone = trap.git(s.box, "rev-parse", "HEAD:f").strip()
    h.put(os.path.join(s.box, "f"), "four\n")
    os.unlink(os.path.join(s.git, "objects", gone[:2], gone[2:]))
    s.refused("a missing object", "git: ")
    s.begin()
    h.put(os.path.join(s.box, "f"), "four\n")
    path = os.path.join(s.git, "objects", gone[:2], gone[2:])
    os.chmod(path, 0o644)
    with open(path, "wb") as f:
        f.write(zlib.compress(b"blob 4\0bad\n"))
    s.refused("an object with another content", "git: ")
    s.begin()
    deep = loose(s.git, "tree", b"")
    for _ in range(3000):
        deep = loose(s.git, "tree", entry(b"40000", b"d", deep))
    s.ref("deep", commit(s.git, deep, s.tip))
    r = s.pull("--branch", "deep")
    t.ok(r.returncode in (0, 1) and (r.returncode == 0 or r.stderr),
         "a tree that is 3,000 deep", r.stderr)
    trap.git(s.repo, "fsck", "--no-dangling")
    s.begin()
    other = commit(s.git, s.tree, s.base)
    trap.git(s.box, "replace", s.tip, other)
    t.ok(trap.git(s.box, "cat-file", "-p", "HEAD") == trap.git(
        s.box, "cat-file", "-p", other), "a replacement works, without us")
    s.taken("replaced objects", main=s.tip)
    s.begin()
    h.put(os.path.join(s.git, "shallow"), s.tip + "\n")
    h.put(os.path.join(s.git, "info", "grafts"), s.tip + "\n")
    s.taken("grafts and a cut history", main=s.tip)
    s.begin()
    inner = os.path.join(s.box, "inner")
    trap.make(inner, {"x": "x\n"})
    os.makedirs(os.path.join(s.box, "empty"))
    trap.git(os.path.join(s.box, "empty"), "init", "-q")
    h.put(os.path.join(s.box, "unreadable"), "x", 0)
    h.put(os.path.join(s.box, "new"), "x\n")
    r = s.pull()
    t.ok("a repository of its own: inner" in r.stderr and "could be read" in
         r.stderr, "repositories inside are named", r.stderr)
    got = trap.git(s.repo, "ls-tree", "--name-only",
                   f"ironcurtain/{s.name}/unsaved")
    t.equal(got.split(), ["f", "new", "sub"], "and left out; the rest arrives")


def names(p):
    """Names of branches, and what is printed."""
    s = Shapes(t, p)
    h.put(os.path.join(s.git, "packed-refs"), f"{s.tip} refs/heads/..\n")
    s.refused("a name that leads up", "git: ")
    s.begin()
    bad = ["-x", "a b", "x.lock", "a\x1b[31m", "a/.b", "a..b", "HEAD", "Main",
           "n" * 230, "\xe4"]
    with open(os.path.join(s.git, "packed-refs"), "w", encoding="utf-8") as f:
        f.write("# pack-refs with: peeled fully-peeled sorted \n")
        for n in sorted(bad):
            f.write(f"{s.tip} refs/heads/{n}\n")
    s.ref("good/one", s.tip)
    r = s.pull()
    out = trap.git(s.repo, "for-each-ref", "--format=%(refname:lstrip=4)",
                   "refs/heads/ironcurtain")
    got = set(out.split())
    t.ok(r.returncode == 0 and "good/one" in got and got <= {
        "good/one", "Main", "main"} and len(got) == 2,
        "only harmless names arrive", (out, r.stderr))
    t.contains(r.stderr, "left out: a branch", "and others are named")
    s.begin()
    with open(os.path.join(s.git, "packed-refs"), "w", encoding="ascii") as f:
        f.writelines(f"{s.tip} refs/heads/b{i:04}\n" for i in range(300))
    s.refused("300 branches", "more than 256 branches")
    s.begin()
    h.put(os.path.join(s.box, "f\x1b]0;title\x07\n\u202e"), "\x1b[2J\x9bx\r\n")
    for command in (["diff"], ["diff", "--stat"], ["--json", "diff"]):
        r = p.icctl(*command, s.name)
        t.ok(r.returncode == 0 and not any(
            c in r.stdout for c in "\x1b\x07\u202e\x9b\r"),
            f"{command}: escaped", r.stdout)
    s.begin()
    h.put(os.path.join(s.git, "HEAD"), "ref: ../../../x\n")
    s.refused("HEAD is no reference", "git")
    h.put(os.path.join(s.git, "HEAD"), "ref: refs/heads/none\n")
    r = s.pull()
    t.ok(r.returncode == 0, "a branch without commits is checked out", r.stderr)


def main():
    for part in (objects, names):
        if sys.argv[1:] and part.__name__ not in sys.argv[1:]:
            continue
        with h.workdir() as work, t.case(part.__name__):
            part(Place(work))
    t.done()


main()
