#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""`icctl start --clone`: the agent gets a clone that shares nothing with the
user's repository, nothing that the repository names runs, and a clone that
fails leaves nothing."""
import os
import resource
import signal
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
import trap_repo as trap  # noqa: E402
from started import Place  # noqa: E402

t = h.Tap()


def start(p, source, *options, command=("true",), before=None):
    return subprocess.run(
        [h.program("icctl"), "start", "--clone", source, *options, "--",
         *command], env=p.env, cwd=p.work, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=120, check=False,
        preexec_fn=before)


def sessions(p):
    top = os.path.join(p.home, "sessions")
    return os.listdir(top) if os.path.isdir(top) else []


def files(top):
    for d, dirs, names in os.walk(top):
        for n in dirs + names:
            yield os.path.join(d, n)


def clean(p):
    """Content, history, origin; nothing is shared."""
    repo = os.path.join(p.work, "r")
    trap.make(repo, {"f": "one\n", "sub/g": "two\n", ".gitignore": "*.log\n"})
    trap.git(repo, "remote", "add", "origin",
             "https://me:hunter2secret@example.com/o/r.git")
    trap.git(repo, "config", "http.extraheader", "Authorization: hunter2")
    trap.git(repo, "checkout", "-qb", "other")
    h.put(os.path.join(repo, "other"), "other\n")
    trap.git(repo, "add", "-A")
    trap.git(repo, "commit", "-qm", "a commit of other")
    trap.git(repo, "checkout", "-q", "main")
    h.put(os.path.join(repo, "f"), "changed\n")
    h.put(os.path.join(repo, "untracked"), "new\n")
    before = {f: os.lstat(f).st_mtime_ns for f in files(repo)}
    r = start(p, repo, command=("sh", "-c", "git log --oneline --all; cat f; "
                                "git status --short; ls; git remote -v"))
    t.equal(r.returncode, 0, "a session on a clone")
    t.ok(r.stdout.count(" one\n") == 1 and "a commit of other" not in
         r.stdout, "the history of one branch", r.stdout + r.stderr)
    t.contains(r.stdout, "one\nf\nsub\n", "the files of HEAD, unchanged")
    t.contains(r.stdout, "https://example.com/o/r.git", "origin")
    t.contains(r.stderr, "a clone of ", "the summary says so")
    t.ok("2 changes in" in r.stderr and "--with-changes" in r.stderr,
         "so is what is not in the clone", r.stderr)
    t.equal({f: os.lstat(f).st_mtime_ns for f in files(repo)}, before,
            "the user's repository was not written")
    box = os.path.join(p.session(), "sandbox")
    ours = {os.lstat(f).st_ino for f in files(repo)}
    bad = [f for f in files(box) if os.lstat(f).st_ino in ours or (
        not os.path.isdir(f) and os.lstat(f).st_nlink != 1)]
    t.equal(bad, [], "no inode is shared, and none has a second name")
    t.ok(not os.path.exists(os.path.join(
        box, ".git", "objects", "info", "alternates")), "no alternates")
    hold = subprocess.run(["grep", "-rl", "hunter2", p.session()],
                          capture_output=True, text=True, check=False).stdout
    t.equal(hold, "", "the token of origin is nowhere in the session")
    r = start(p, repo + "#other", command=("sh", "-c", "cat other; git "
                                           "symbolic-ref HEAD"))
    t.equal(r.stdout, "other\nrefs/heads/other\n", "#REF")


def further(p):
    """--with-changes and --with."""
    repo = os.path.join(p.work, "r")
    trap.make(repo, {"f": "one\n", "gone": "x\n", "x.sh": "y\n",
                     ".gitignore": "*.log\n"})
    os.unlink(os.path.join(repo, "gone"))
    with open(os.path.join(repo, "f"), "wb") as f:
        f.write(b"\0\1binary\n")
    os.chmod(os.path.join(repo, "x.sh"), 0o755)
    h.put(os.path.join(repo, "staged"), "s\n")
    trap.git(repo, "add", "staged")
    h.put(os.path.join(repo, "new\x1b[31m"), "n\n")
    h.put(os.path.join(repo, ".env"), "A=1\n")
    h.put(os.path.join(repo, "notes"), "key: ghp_" + "a" * 36 + "\n")
    h.put(os.path.join(repo, "a.log"), "log\n")
    h.put(os.path.join(repo, "d", "b.log"), "log\n")
    h.put(os.path.join(p.work, "secret"), "s\n")
    os.symlink("../secret", os.path.join(repo, "link"))
    os.symlink("..", os.path.join(repo, "up"))
    r = start(p, repo, "--with-changes", "--with", "a.log", "--with",
              os.path.join(repo, "d/b.log"), command=(
                  "sh", "-c", "ls -A; od -c f; test -x x.sh && echo x; "
                  "cat a.log d/b.log"))
    t.equal(r.returncode, 0, "with changes")
    names = r.stdout.split("\n0000000")[0].split("\n")
    t.equal([n for n in names if n not in (".git", ".gitignore")],
            ["a.log", "d", "f", "new\x1b[31m", "staged", "x.sh"],
            "changes, what is staged, and what git does not know")
    t.ok("\\0 001   b" in r.stdout.replace("  ", " ").replace(" \\0", "\\0")
         or "001" in r.stdout, "a binary change", r.stdout)
    t.ok("\nx\nlog\nlog\n" in r.stdout, "a mode, and files of --with",
         r.stdout)
    for name in (".env", "notes", "link", "up"):
        t.ok(f"left out: {name}" in r.stderr, f"{name} is left out, and named",
             r.stderr)
    t.ok("\x1b" not in r.stderr, "names are escaped")
    for name, why in ((".env", "credentials"), ("notes", "a key"),
                      ("link", "link"), ("up/secret", "link"),
                      ("../secret", "below"), ("d", "regular"),
                      ("/etc/hostname", "below"), ("none", "No such file"),
                      (".git/config", "below")):
        r = start(p, repo, "--with", name)
        t.ok(r.returncode == 78 and why in r.stderr, f"--with {name}",
             r.stderr)
    t.equal(len(sessions(p)), 1, "a refused start leaves nothing")


def trapped(p):
    """Twenty programs: none runs, inside or outside of the sandbox."""
    n, lame = trap.controls(p.work)
    t.ok(n >= 20 and not lame, f"{n} traps spring without us", lame)
    repo, marks = os.path.join(p.work, "r"), os.path.join(p.work, "marks")
    for name in os.listdir(marks):
        os.unlink(os.path.join(marks, name))
    trap.make(repo, trap.FILES)
    trap.arm(repo, marks)
    trap.git(repo, "config", "extensions.partialClone", "origin")
    trap.git(repo, "config", "core.repositoryFormatVersion", "1")
    trap.lure(repo)
    r = start(p, repo, "--with-changes", command=("sh", "-c", "ls -A; cat f.*"))
    t.equal(r.returncode, 0, "the trap repository is cloned")
    t.ok("SPRUNG" not in r.stdout and os.listdir(marks) == [],
         "no trap springs in the clone", r.stdout)
    t.equal(r.stdout.count("more\n"), 4, "the changes are there")
    r = start(p, repo, command=("true",))
    t.ok("5 changes in" in r.stderr and os.listdir(marks) == [],
         "none when changes are only counted", r.stderr)
    box = os.path.join(p.session(), "sandbox", ".git")
    text = open(os.path.join(box, "config"), encoding="utf-8").read()
    t.ok("trap" not in text and not os.path.exists(os.path.join(box, "hooks")),
         "no configuration and no hook is copied", text)


def long_pack(p):
    """A long pack goes from one sandbox to another, and the beginning of it that
    one sandbox took is removed."""
    repo = os.path.join(p.work, "r")
    trap.make(repo, {"f": "one\n"})
    with open(os.path.join(repo, "big"), "wb") as f:
        f.write(os.urandom(20 << 20))
    trap.git(repo, "add", "big")
    trap.git(repo, "commit", "-q", "-m", "big")
    for name, text in (("f", "two\n"), ("new", "new\n")):
        with open(os.path.join(repo, name), "w", encoding="utf-8") as f:
            f.write(text)
    r = start(p, repo, "--with-changes",
              command=("sh", "-c", "cat f new; wc -c <big"))
    t.equal((r.returncode, r.stdout), (0, f"two\nnew\n{20 << 20}\n"),
            "a long pack, and what is in no commit")
    packs = os.listdir(os.path.join(p.session(), "sandbox", ".git", "objects",
                                    "pack"))
    t.equal(sorted(os.path.splitext(x)[1] for x in packs), [".idx", ".pack"],
            "and nothing else of it")


def odd(p):
    """Other layouts, and what is refused."""
    repo, tree = os.path.join(p.work, "r"), os.path.join(p.work, "tree")
    trap.make(repo, {"f": "one\n"})
    trap.git(repo, "worktree", "add", "-q", tree, "-b", "topic")
    r = start(p, tree, command=("git", "symbolic-ref", "HEAD"))
    t.equal(r.stdout, "refs/heads/topic\n", "a linked worktree")
    borrow, bare = os.path.join(p.work, "b"), os.path.join(p.work, "bare")
    trap.git(p.work, "clone", "-q", "--shared", repo, borrow)
    trap.git(p.work, "clone", "-q", "--bare", repo, bare)
    for source in (borrow, bare):
        t.equal(start(p, source, command=("cat", "f")).stdout, "one\n",
                f"alternates, a bare one: {os.path.basename(source)}")
    n = len(sessions(p))
    shallow, empty = os.path.join(p.work, "s"), os.path.join(p.work, "e")
    trap.git(repo, "commit", "-q", "--allow-empty", "-m", "two")
    trap.git(p.work, "clone", "-q", "--depth", "1", "file://" + repo, shallow)
    os.makedirs(empty)
    trap.git(empty, "init", "-q")
    fifo = os.path.join(p.work, "fifo")
    trap.make(fifo, {"f": "x\n"})
    os.unlink(os.path.join(fifo, ".git", "config"))
    os.mkfifo(os.path.join(fifo, ".git", "config"))
    h.put(os.path.join(repo, "sub", "g"), "x")
    for source, why in ((shallow, "unshallow"), (empty, "no commit yet"),
                        (repo + "#none", "no branch, tag or commit"),
                        (repo + "#--help", "no branch, tag or commit"),
                        (os.path.join(repo, "sub"), "top directory"),
                        (p.work + "/none", "No such file"),
                        (p.user, "no git repository"), (fifo, "--clone"),
                        ("https://me:pw12345@example.com/r", "yourself")):
        r = start(p, source)
        t.ok(r.returncode == 78 and why in r.stderr and "pw12345" not in
             r.stderr, f"refused: {why}", r.stderr)
    t.equal(len(sessions(p)), n, "refused starts leave nothing")
    r = start(p, repo, "--workspace", p.project)
    t.contains(r.stderr, "cannot be used together", "--workspace")


def cut(p):
    """A full disk, and a supervisor that is killed."""
    repo = os.path.join(p.work, "r")
    trap.make(repo, {"f": "one\n"})
    with open(os.path.join(repo, "big"), "wb") as f:
        f.write(os.urandom(24 << 20))
    trap.git(repo, "add", "big")
    trap.git(repo, "commit", "-qm", "big")

    def small():
        resource.setrlimit(resource.RLIMIT_FSIZE, (8 << 20, 8 << 20))
    r = start(p, repo, before=small)
    t.ok(r.returncode == 78 and "--clone" in r.stderr and
         "hint:" not in r.stderr,
         "the disk is full in the middle: an error", r.stderr)
    t.equal(sessions(p), [], "and nothing is left")
    where = os.path.join(p.home, "sessions", "killed")
    os.makedirs(os.path.dirname(where), exist_ok=True)
    argv = [h.program("icsupervisor"), "--session-dir", where, "--clone", repo,
            "--", "cat", "f"]
    with subprocess.Popen(argv, env=p.env, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL) as q:
        h.wait_for(lambda: os.path.isdir(os.path.join(where, "clone.new")),
                   "the clone to begin")
        os.kill(q.pid, signal.SIGKILL)
        q.stdout.read()
    t.equal(os.listdir(os.path.join(where, "sandbox")), [],
            "killed in the middle: no half clone")
    r = subprocess.run(argv, env=p.env, stdin=subprocess.DEVNULL,
                       capture_output=True, text=True, timeout=60, check=False)
    t.ok(r.stdout.endswith("one\n"), "the next start makes it whole",
         r.stdout + r.stderr)
    h.put(os.path.join(where, "sandbox", "f"), "of the agent\n")
    r = subprocess.run(argv, env=p.env, stdin=subprocess.DEVNULL,
                       capture_output=True, text=True, timeout=60, check=False)
    t.ok(r.stdout.endswith("of the agent\n"), "a clone is used again",
         r.stdout + r.stderr)


def main():
    for part in (clean, further, trapped, long_pack, odd, cut):
        with h.workdir() as work, t.case(part.__name__):
            part(Place(work))
    t.done()


main()
