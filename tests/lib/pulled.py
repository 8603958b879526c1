# SPDX-License-Identifier: ISC
"""Clones of sessions that an agent has prepared, and what `icctl pull` makes of
them."""
import hashlib
import os
import shutil
import subprocess
import zlib

import harness as h
import trap_repo as trap


def session(p, repo, script):
    r = subprocess.run(
        [h.program("icctl"), "start", "--clone", repo, "--", "sh", "-c",
         "git config user.name A; git config user.email a@example; " + script],
        env=p.env, cwd=p.work, stdin=subprocess.DEVNULL, capture_output=True,
        text=True, timeout=120, check=False)
    if r.returncode != 0:
        raise RuntimeError(r.stderr)
    return p.session(), r.stderr


def state(repo):
    """Everything in a repository but its objects: {path: content}."""
    out = {}
    for d, _, names in os.walk(repo):
        for n in names:
            path = os.path.join(d, n)
            if "/.git/objects/" not in path:
                with open(path, "rb") as f:
                    out[os.path.relpath(path, repo)] = f.read()
    return out


def packs(repo):
    return sorted(os.listdir(os.path.join(repo, ".git", "objects", "pack")))


def loose(git, kind, body):
    """Write an object of any content; returns its name."""
    data = kind.encode() + b" %d\0" % len(body) + body
    oid = hashlib.sha1(data).hexdigest()
    path = os.path.join(git, "objects", oid[:2], oid[2:])
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if not os.path.exists(path):
        with open(path, "wb") as f:
            f.write(zlib.compress(data, 1))
    return oid


def commit(git, tree, parent):
    who = b"A <a@example> 1700000000 +0000"
    return loose(git, "commit", b"tree %s\nparent %s\nauthor %s\ncommitter %s"
                 b"\n\nx\n" % (tree.encode(), parent.encode(), who, who))


def entry(mode, name, oid):
    return mode + b" " + name + b"\0" + bytes.fromhex(oid)


class Shapes:
    """Each shape begins with the same clone, which has one new commit."""

    def __init__(self, t, p):
        self.t = t
        self.p = p
        self.repo = os.path.join(p.work, "r")
        trap.make(self.repo, {"f": "one\n", "sub/g": "two\n"})
        self.where, _ = session(p, self.repo, "echo three > f; git commit -qam x")
        self.name = os.path.basename(self.where)
        self.box = os.path.join(self.where, "sandbox")
        self.git = os.path.join(self.box, ".git")
        self.base = trap.git(self.repo, "rev-parse", "HEAD").strip()
        self.tip = trap.git(self.box, "rev-parse", "HEAD").strip()
        self.tree = trap.git(self.box, "rev-parse", "HEAD^{tree}").strip()
        for x in (self.repo, self.box):
            shutil.copytree(x, x + ".kept", symlinks=True)
        self.record = open(os.path.join(self.where, "clone.json"),
                           encoding="utf-8").read()

    def begin(self):
        for x in (self.repo, self.box):
            shutil.rmtree(x)
            shutil.copytree(x + ".kept", x, symlinks=True)
        h.put(os.path.join(self.where, "clone.json"), self.record, 0o600)
        shutil.rmtree(os.path.join(self.where, "pull.objects"),
                      ignore_errors=True)

    def pull(self, *options):
        r = self.p.icctl("pull", self.name, *options)
        self.t.ok("\x1b" not in r.stdout + r.stderr, "no control byte is printed")
        return r

    def refused(self, name, why):
        before, had = state(self.repo), packs(self.repo)
        r = self.pull()
        self.t.ok(r.returncode == 1 and why in r.stderr, f"refused: {name}",
             r.stdout + r.stderr)
        self.t.equal((state(self.repo), packs(self.repo)), (before, had),
                f"{name}: nothing changed")

    def taken(self, name, **want):
        r = self.pull()
        top = f"refs/heads/ironcurtain/{self.name}/"
        out = trap.git(self.repo, "for-each-ref",
                       "--format=%(refname) %(objectname)", top)
        got = dict(x[len(top):].split(" ") for x in out.splitlines())
        self.t.equal(got, want, f"{name}: what arrives, {r.stderr}")
        trap.git(self.repo, "fsck", "--strict", "--no-dangling")
        return r

    def ref(self, name, oid):
        h.put(os.path.join(self.git, "refs", "heads", name), oid + "\n")
