#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""`icctl diff` and `icctl pull` of clones that an agent has prepared: no program
runs, nothing leads out of the clone, and a pull that fails leaves nothing."""
import fcntl
import os
import shutil
import signal
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
import trap_repo as trap  # noqa: E402
from pulled import Shapes, packs, session, state  # noqa: E402
from started import Place  # noqa: E402

t = h.Tap()


def trapped(p):
    """The traps of both repositories, for diff, pull and the end."""
    n, lame = trap.controls(p.work)
    t.ok(n >= 20 and not lame, f"{n} traps spring without us", lame)
    repo, marks = os.path.join(p.work, "r"), os.path.join(p.work, "marks")
    for name in os.listdir(marks):
        os.unlink(os.path.join(marks, name))
    trap.make(repo, trap.FILES)
    where, _ = session(p, repo, "git commit -q --allow-empty -m x")
    box = os.path.join(where, "sandbox")
    os.makedirs(os.path.join(box, ".git", "info"), exist_ok=True)
    trap.arm(box, marks)
    trap.git(box, "config", "extensions.partialClone", "origin")
    trap.git(box, "config", "core.repositoryFormatVersion", "1")
    trap.lure(box)
    trap.arm(repo, marks)
    for name in os.listdir(marks):
        os.unlink(os.path.join(marks, name))
    before = state(repo)
    name = os.path.basename(where)
    for command in (["diff"], ["diff", "--stat"], ["pull"]):
        r = p.icctl(*command, name)
        t.equal(r.returncode, 0, " ".join(command))
        t.equal(r.stdout.count("+more") if command == ["diff"] else 5, 5,
                "with the changed files")
    r = subprocess.run([h.program("icctl"), "resume", name, "--", "true"],
                       env=p.env, stdin=subprocess.DEVNULL, timeout=60,
                       capture_output=True, text=True, check=False)
    t.ok("nothing new is in the clone" in r.stderr, "the end of a session",
         r.stderr)
    sprung = [f for d, _, names in os.walk(where) for f in names
              if f.startswith("SPRUNG")]
    t.equal(sprung + os.listdir(marks), [], "no trap springs, of either side")
    after = {k: v for k, v in state(repo).items() if "ironcurtain/" not in k}
    t.equal(after, before, "and nothing else in the user's repository changed")


def places(p):
    """Ways out of the clone."""
    s = Shapes(t, p)
    secret = os.path.join(p.work, "secret")
    trap.make(secret, {"s": "secret\n"})
    theirs = trap.git(secret, "rev-parse", "HEAD").strip()
    s.ref("main", theirs)
    h.put(os.path.join(s.git, "objects", "info", "alternates"),
          os.path.join(secret, ".git", "objects") + "\n")
    t.contains(trap.git(s.box, "show", "main:s"), "secret",
               "alternates lead out, without us")
    s.refused("alternates", "git: ")
    s.begin()
    shutil.rmtree(s.git)
    os.symlink(os.path.join(secret, ".git"), s.git)
    s.refused(".git is a link", "no directory .git")
    os.unlink(s.git)
    h.put(s.git, f"gitdir: {secret}/.git\n")
    s.refused(".git is a file", "no directory .git")
    s.begin()
    h.put(os.path.join(s.git, "commondir"), f"{secret}/.git\n")
    s.refused("commondir", "git: ")
    s.begin()
    trap.git(s.box, "config", "core.worktree", secret)
    t.contains(trap.git(s.box, "status", "--short"), "s",
               "core.worktree leads out, without us")
    s.taken("core.worktree", main=s.tip)
    s.begin()
    os.symlink(secret + "/s", os.path.join(s.box, "link"))
    out = p.icctl("diff", s.name).stdout
    t.ok("secret/s" in out and "+secret\n" not in out, "a link is a link", out)
    for name in ("HEAD", "config", "packed-refs", "objects/pack/x.pack"):
        s.begin()
        path = os.path.join(s.git, name)
        if os.path.exists(path):
            os.unlink(path)
        os.mkfifo(path)
        s.refused(f"a pipe as {name}", "named pipe")
    s.begin()
    h.put(os.path.join(s.git, "config"), "[include]\n\tpath = /dev/stdin\n"
          f"\tpath = {secret}/.git/config\n[core\n")
    s.refused("a broken configuration", "git: ")
    s.begin()
    trap.git(s.box, "worktree", "add", "-q", os.path.join(p.work, "w"))
    s.taken("a linked worktree", main=s.tip, w=s.tip)
    ours = {os.lstat(os.path.join(d, n)).st_ino
            for d, _, names in os.walk(s.box) for n in names}
    bad = [n for d, _, names in os.walk(s.repo) for n in names
           if os.lstat(os.path.join(d, n)).st_ino in ours or
           os.lstat(os.path.join(d, n)).st_nlink != 1]
    t.equal(bad, [], "no inode is shared, and none has a second name")


def cut(p):
    """A full disk, and a pull that is killed."""
    s = Shapes(t, p)
    with open(os.path.join(s.box, "big"), "wb") as f:
        f.write(os.urandom(6 << 20))
    before, had = state(s.repo), packs(s.repo)
    for name, size in (("scratch", 7), ("user", 5)):
        # Either the session or the user's repository is on a small disk.
        top = s.where if name == "scratch" else s.repo
        r = subprocess.run(
            ["/usr/bin/unshare", "-Urm", "--", "/bin/sh", "-c",
             f'cp -a "$1" "$1.copy" && mount -t tmpfs -o size={size}m none '
             '"$1" && { cp -a "$1.copy/." "$1" || true; } && rm -rf "$1.copy" '
             '&& shift && "$@"; r=$?; ls "$0/.git/refs/heads" '
             '"$0/.git/objects/pack"; exit $r', s.repo, top,
             h.program("icctl"), "pull", s.name], env=p.env, timeout=60,
            capture_output=True, text=True, check=False)
        if "unshare:" in r.stderr:
            t.skip(f"a full disk, {name}", r.stderr)
            continue
        t.ok(r.returncode == 1 and ("No space" in r.stderr or
                                    "write" in r.stderr),
             f"the disk is full: {name}", r.stdout + r.stderr)
        t.ok("ironcurtain" not in r.stdout and "tmp_ic" not in r.stdout and
             ".idx" not in r.stdout, "nothing is half done", r.stdout)
    t.equal((state(s.repo), packs(s.repo)), (before, had), "nothing changed")
    for step in ("pull.new", "pull.new/check"):
        with subprocess.Popen([h.program("icctl"), "pull", s.name], env=p.env,
                              stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as q:
            h.wait_for(lambda: os.path.exists(os.path.join(s.where, step)) or
                       q.poll() is not None, step, poll=0.001)
            os.kill(q.pid, signal.SIGKILL)
        t.equal((state(s.repo), packs(s.repo)), (before, had),
                f"killed at {step}: nothing changed")
    with open(os.path.join(s.where, "pull.lock"), "r+b") as lock:
        fcntl.lockf(lock, fcntl.LOCK_EX)
        r = s.pull()
        t.ok(r.returncode == 1 and "try again" in r.stderr,
             "one at a time", r.stderr)
    r = s.pull()
    t.ok(r.returncode == 0 and trap.git(
        s.repo, "cat-file", "-s", f"ironcurtain/{s.name}/unsaved:big").strip()
        == str(6 << 20), "the next one is whole", r.stderr)


def main():
    for part in (trapped, places, cut):
        if sys.argv[1:] and part.__name__ not in sys.argv[1:]:
            continue
        with h.workdir() as work, t.case(part.__name__):
            part(Place(work))
    t.done()


main()
