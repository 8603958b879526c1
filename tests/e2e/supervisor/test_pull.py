#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""`icctl diff` and `icctl pull`: the work of a session's clone is shown and
becomes branches in the user's repository, and nothing else happens there."""
import json
import os
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
import trap_repo as trap  # noqa: E402
from started import Place  # noqa: E402

t = h.Tap()
AGENT = ("git config user.name A; git config user.email a@example; ")


def start(p, source, script, *options):
    """Run a session on a clone; returns its id and its messages."""
    r = subprocess.run(
        [h.program("icctl"), "start", "--clone", source, *options, "--", "sh",
         "-c", AGENT + script], env=p.env, cwd=p.work,
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120,
        check=False)
    if r.returncode != 0:
        raise RuntimeError(r.stderr)
    return os.path.basename(p.session()), r.stderr


def refs(repo):
    out = trap.git(repo, "for-each-ref", "--format=%(refname) %(objectname)")
    return dict(x.split(" ") for x in out.splitlines())


def made(repo, s):
    """The branches of a session, without their common prefix."""
    top = f"refs/heads/ironcurtain/{s}/"
    return {n[len(top):]: o for n, o in refs(repo).items()
            if n.startswith(top)}


def files(top):
    return [os.path.join(d, n) for d, _, names in os.walk(top) for n in names]


def whole(p):
    """Commits, branches and what is in no commit."""
    repo = os.path.join(p.work, "r")
    trap.make(repo, {"f": "one\n", "gone": "x\n", ".gitignore": "*.log\n"})
    before = refs(repo)
    s, said = start(p, repo, "echo two >> f; git commit -qam two; "
                    "git checkout -qb side; echo s > side; git add side; "
                    "git commit -qm side; git checkout -q main; "
                    "echo three >> f; rm gone; echo n > new; echo l > a.log")
    r = p.icctl("diff", s)
    t.equal(r.returncode, 0, "icctl diff")
    t.ok("+two\n+three\n" in r.stdout and "+n\n" in r.stdout and
         "deleted file" in r.stdout and "a.log" not in r.stdout,
         "it shows commits, changes, new and removed files",
         r.stdout + r.stderr)
    t.ok("branch side has 1 commit" not in r.stdout and
         "branch side has" in r.stderr and f"icctl pull {s}" in r.stderr,
         "and what else there is", r.stderr)
    r = p.icctl("diff", s, "--stat")
    t.equal(r.stdout, " f    |    2 ++\n gone |    1 -\n new  |    1 +\n"
            " 3 files changed, 3 insertions(+), 1 deletion(-)\n", "--stat")
    o = json.loads(p.icctl("--json", "diff", s).stdout)
    t.equal({f["file"]: (f["added"], f["deleted"]) for f in o["files"]},
            {"f": (2, 0), "gone": (0, 1), "new": (1, 0)}, "--json")
    t.equal(refs(repo), before, "icctl diff changes no branch")
    r = p.icctl("pull", s)
    t.ok(r.returncode == 0 and f"git merge ironcurtain/{s}/unsaved" in
         r.stdout, "icctl pull", r.stdout + r.stderr)
    b = made(repo, s)
    t.equal(sorted(b), ["main", "side", "unsaved"], "its branches")
    show = trap.git(repo, "show", "--stat=200", b["unsaved"])
    t.ok("IronCurtain <ironcurtain@localhost>" in show and
         "3 files changed" in show, "what was in no commit", show)
    t.equal(trap.git(repo, "show", b["unsaved"] + ":f"), "one\ntwo\nthree\n",
            "its content")
    t.equal(trap.git(repo, "status", "--porcelain"), "",
            "the user's files are as they were")
    t.equal({n: o for n, o in refs(repo).items() if "ironcurtain" not in n},
            before, "and so are the user's branches")
    trap.git(repo, "fsck", "--strict")
    left = [n for n in os.listdir(p.session()) if n.startswith("pull.new")]
    tmp = [n for n in os.listdir(os.path.join(repo, ".git", "objects", "pack"))
           if n.startswith("tmp")]
    t.equal(left + tmp, [], "nothing is left behind")
    r = p.icctl("pull", s)
    t.contains(r.stdout, "nothing new", "a second pull has nothing to do")
    trap.git(repo, "merge", "-q", f"ironcurtain/{s}/unsaved")
    t.equal(open(os.path.join(repo, "f"), encoding="utf-8").read(),
            "one\ntwo\nthree\n", "merged")


def filtered(p):
    """Files of a filter that nobody has come back as they are."""
    repo = os.path.join(p.work, "filtered")
    trap.make(repo, {"f": "one\n", ".gitattributes": "*.bin filter=lfs\n"})
    s, _ = start(p, repo, "echo whole > new.bin")
    r = p.icctl("pull", s)
    t.ok(r.returncode == 0, "a pull of a file with a filter", r.stderr)
    b = made(repo, s)
    t.equal(trap.git(repo, "cat-file", "blob", b["unsaved"] + ":new.bin"),
            "whole\n", "which is as it was")


def sizes(p):
    """A file of 9 GB without a byte is not read, nor is one of git's own."""
    repo = os.path.join(p.work, "r")
    trap.make(repo, {"f": "one\n", "h": "here\n"})
    s, said = start(p, repo, "echo two >> f; truncate -s 9G big; "
                    "truncate -s 9G h")
    top = os.path.join(p.session(), "sandbox")
    r = p.icctl("diff", s)
    t.ok(r.returncode == 0 and "+two" in r.stdout and "big" not in r.stdout,
         "diff shows the rest", r.stdout + r.stderr)
    for name in ("big", "h"):
        t.contains(r.stderr, f"left out: {name}, because it has 9216 MiB, and "
                   "at most 1024 are read", "and says what it leaves out")
    r = p.icctl("pull", s)
    t.equal((r.returncode, trap.git(repo, "ls-tree", "--name-only", "-r",
                                    made(repo, s)["unsaved"]).split()),
            (0, ["f", "h"]), "pull takes the rest")
    t.equal(trap.git(repo, "show", made(repo, s)["unsaved"] + ":h"), "here\n",
            "one that was there is as it was")
    for k in range(3):
        with open(os.path.join(top, f"m{k}"), "wb") as f:
            f.truncate(900 << 20)
    r = p.icctl("diff", s)
    t.ok(r.returncode == 1 and "at most 2048 are read" in r.stderr,
         "too much in all", r.stderr)
    for k in range(3):
        os.unlink(os.path.join(top, f"m{k}"))
    for name in (".git/packed-refs", ".git/refs/heads/x", ".git/config",
                 ".git/info/exclude", ".gitignore"):
        path = os.path.join(top, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        old = os.path.getsize(path) if os.path.exists(path) else None
        with open(path, "ab") as f:
            f.truncate(9 << 30)
        r = p.icctl("diff", s)
        t.ok(r.returncode == 1 and "9216 MiB" in r.stderr and
             os.path.basename(name) in r.stderr, f"{name}: refused",
             r.stderr)
        if old is None:
            os.unlink(path)
        else:
            os.truncate(path, old)
    t.equal(p.icctl("diff", s).returncode, 0, "and without them it is shown")


def keys(p):
    """A key that is missing is told before anything of a clone is."""
    h.put(os.path.join(p.home, "config.json"), json.dumps({
        "credentials": {"anthropic": {"file": os.path.join(p.work, "no")}}}),
        0o600)
    r = p.icctl("start", "--clone", p.home, "--agent", "builtin", "--task",
                "x")
    t.ok("/no" in r.stderr and "--clone" not in r.stderr and
         r.returncode == 78, "the key comes first", r.stderr)


def boxes(p):
    """All gits that look at a clone run in one sandbox."""
    repo = os.path.join(p.work, "r")
    trap.make(repo, {"f": "one\n"})
    s, _ = start(p, repo, "echo two >> f")
    if not shutil.which("strace"):
        t.skip("one sandbox", "strace is not installed")
        return
    trace = os.path.join(p.work, "trace")
    r = subprocess.run(
        ["strace", "-f", "-qq", "-e", "trace=execve", "-o", trace,
         h.program("icctl"), "diff", s], env=p.env, capture_output=True,
        text=True, timeout=120 * h.PATIENCE, check=False)
    with open(trace, encoding="utf-8", errors="replace") as f:
        n = sum("bwrap" in x.split(",")[0] and " = 0" in x for x in f)
    t.ok(r.returncode == 0 and "+two" in r.stdout, "icctl diff", r.stderr)
    t.equal(n, 1, "in one sandbox")


def again(p):
    """Work that goes on: branches only move forward, and nothing is lost."""
    repo = os.path.join(p.work, "r")
    trap.make(repo, {"f": "one\n"})
    argv = [h.program("icctl"), "start", "--clone", repo, "--", "sh", "-c",
            AGENT + "mkfifo ~/in; echo > .git/at; while :; do "
            "read l < ~/in || continue; eval \"$l\"; echo > .git/at; done"]
    with subprocess.Popen(argv, env=p.env, stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE) as q:
        try:
            h.wait_for(lambda: os.path.isdir(p.home + "/sessions") and
                       os.listdir(p.home + "/sessions") and
                       os.path.exists(os.path.join(
                           p.session(), "sandbox", ".git", "at")), "the agent")
            s = os.path.basename(p.session())
            box = os.path.join(p.session(), "sandbox")
            os.unlink(os.path.join(box, ".git", "at"))

            def do(line):
                with open(os.path.join(p.session(), "home", "in"), "w",
                          encoding="utf-8") as f:
                    f.write(line + "\n")
                h.wait_for(lambda: os.path.exists(
                    os.path.join(box, ".git", "at")), line)
                os.unlink(os.path.join(box, ".git", "at"))

            def pull(*options):
                r = p.icctl("pull", s, *options)
                if r.returncode != 0:
                    raise RuntimeError(r.stdout + r.stderr)
                return made(repo, s)
            do("echo a >> f")
            t.ok("clone of" in p.icctl("status").stdout and
                 "icctl pull" in p.icctl("ls").stdout, "status and ls name it")
            first = pull()
            t.equal(sorted(first), ["unsaved"], "pulled while the session runs")
            t.contains(p.icctl("pull", s).stdout, "nothing new", "only once")
            do("echo b >> f")
            second = pull()
            t.ok(sorted(second) == ["unsaved"] and trap.git(
                repo, "rev-parse", second["unsaved"] + "^").strip() ==
                first["unsaved"], "the next one follows it", second)
            do("git commit -qam c; echo c >> f")
            third = pull()
            trap.git(repo, "merge-base", "--is-ancestor", second["unsaved"],
                     third["unsaved"])
            t.equal(trap.git(repo, "show", third["unsaved"] + ":f"),
                    "one\na\nb\nc\n", "and one after a commit, too")
            do("git commit -qam d; git branch x")
            trap.git(repo, "checkout", "-q", f"ironcurtain/{s}/main")
            fourth = pull("--branch", "main")
            t.ok(fourth["main"] == third["main"] and "main-2" in fourth and
                 "x" not in fourth, "a branch that is checked out stays, and "
                 "--branch takes no other one", fourth)
            trap.git(repo, "checkout", "-q", "main")
            do("git reset -q --hard HEAD~2; echo other > f; git commit -qam e")
            fifth = pull()
            t.ok(fifth["main"] == fourth["main"] and "main-3" in fifth,
                 "and a rewound one comes under a further name", fifth)
            t.ok("x" not in fifth and "x" in pull("--branch", "x"),
                 "a branch of which the user has all, on request")
            do("git branch -D x; git branch x/y; git checkout -q x/y; "
               "echo y > f; git commit -qam y")
            t.ok("x-y-2" in pull(), "a directory in the place of a branch")
            do("echo put aside > f; git stash -q")
            aside = pull()["stash"]
            t.equal(trap.git(repo, "stash", "show", "-p", aside).count(
                "+put aside"), 1, "what git stash has put aside")
            do("git checkout -q --detach; echo z > f; git commit -qam z")
            t.ok("detached" in pull(), "commits on no branch")
            do("echo last > f")
            with open(os.path.join(p.session(), "home", "in"), "w",
                      encoding="utf-8") as f:
                f.write("exit\n")
            said = q.stderr.read()
            q.wait()
        finally:
            q.kill()
    t.ok("the clone has 1 file in no commit" in said and
         f"icctl pull {s}" in said, "the end of the session says what waits",
         said)
    row = json.loads(p.icctl("--json", "ls").stdout)[0]
    t.equal((row["clone"]["commits"], row["clone"]["files"]), (0, 1),
            "icctl ls knows it")
    t.contains(p.icctl("ls").stdout, "to pull: 0 commits, 1 file", "and shows")
    r = p.icctl("gc", "--older-than", "0")
    t.ok(os.path.exists(os.path.join(box, "f")) and f"icctl pull {s}" in
         r.stdout, "icctl gc keeps it, and says so", r.stdout + r.stderr)
    pull()
    t.contains(p.icctl("ls").stdout, "nothing to pull", "until it is pulled")


def further(p):
    """Uncommitted work of the user, other repositories, no clone at all."""
    repo = os.path.join(p.work, "r")
    trap.make(repo, {"f": "one\n", "g": "one\n"})
    h.put(os.path.join(repo, "f"), "mine\n")
    s, said = start(p, repo, "true", "--with-changes")
    t.contains(said, "nothing new is in the clone", "the user's own changes")
    t.equal(p.icctl("diff", s).stdout, "", "are no work of the agent")
    s, said = start(p, repo, "echo theirs > g", "--with-changes")
    out = p.icctl("diff", s).stdout
    t.ok("+theirs" in out and "mine" not in out, "its own are", out)
    bare, tree = os.path.join(p.work, "bare"), os.path.join(p.work, "tree")
    trap.git(p.work, "clone", "-q", "--bare", repo, bare)
    trap.git(repo, "worktree", "add", "-q", tree, "-b", "topic")
    for into in (bare, tree):
        r = p.icctl("pull", s, "--into", into)
        t.ok(r.returncode == 0 and list(made(into, s)) == ["unsaved"],
             f"--into {os.path.basename(into)}", r.stdout + r.stderr)
    other = os.path.join(p.work, "other")
    trap.make(other, {"x": "y\n"})
    r = p.icctl("pull", s, "--into", other)
    t.ok(r.returncode == 0 and trap.git(
        other, "show", made(other, s)["unsaved"] + ":g") == "theirs\n",
        "--into a repository without any of it", r.stdout + r.stderr)
    trap.git(other, "fsck", "--strict")
    full = os.path.join(p.work, "full")
    trap.make(full, {"x": "y\n"})
    trap.git(full, "branch", "ironcurtain")
    before = sorted(files(full))
    r = p.icctl("pull", s, "--into", full)
    t.ok(r.returncode == 1 and "'refs/heads/ironcurtain' exists" in r.stderr,
         "a branch in the way of all", r.stderr)
    t.equal(sorted(files(full)), before, "nothing is left of what failed")
    r = p.icctl("pull", "none-such-session")
    t.ok(r.returncode == 3 and "no session" in r.stderr, "no such session",
         r.stderr)
    for name in ("../../etc", "/etc", "/", ".", "..", "-x", "a" * 5000,
                 "x\x1b]0;y\x07", p.work + "/none"):
        for command in ("diff", "pull"):
            r = p.icctl(command, name)
            t.ok(r.returncode in (1, 3, 64) and r.stderr and "\x1b" not in
                 r.stderr, f"{command} {name[:20]!r} is refused", r.stderr)
    with subprocess.Popen(
            [h.program("icctl"), "start", "--clone", repo, "--", "sh", "-c",
             "echo x > x; exec sleep 1000"], env=p.env,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, text=True,
            stderr=subprocess.PIPE) as q:
        h.wait_for(lambda: any(os.path.exists(os.path.join(
            p.home, "run", n, "sandbox", "x")) for n in os.listdir(
                os.path.join(p.home, "run"))), "the agent")
        r = p.icctl("stop")
        now = os.path.basename(p.session())
        t.contains(r.stdout, f"icctl pull {now} gets it", "icctl stop")
        said = q.communicate(timeout=60)[1]
    t.ok("1 file in no commit" in said and p.icctl(
        "--json", "diff", now).stdout.count('"file":"x"') == 1,
        "nothing is lost by a stop", said)
    r = p.icctl("pull", "--branch", "nowhere")
    t.ok(r.returncode == 1 and f"session {now}\n" in r.stderr
         and f"clone of session {now} has no branch nowhere. Its branches: "
         in r.stderr and "main" in r.stderr.split("Its branches: ")[1],
         "a branch that is not there; the newest clone is meant", r)
    t.equal((made(repo, now), p.icctl("pull", "--branch", "\x1b[1m").stderr
             .count("\x1b")), ({}, 0), "nothing is pulled then")
    bare = os.path.join(p.work, "bare words")
    os.mkdir(bare)
    r = p.icctl("pull", s, "--into", bare)
    t.ok(r.returncode == 1 and "git init there; or name" in r.stderr and
         "--clone" not in r.stderr, "--into a directory without .git",
         r.stderr)
    os.rename(repo, repo + ".moved")
    r = p.icctl("pull", s)
    t.ok(r.returncode == 1 and "No such file" in r.stderr and "--into" in
         r.stderr, "a repository that is gone", r.stderr)
    subprocess.run(p.argv("true"), env=p.env, stdin=subprocess.DEVNULL,
                   capture_output=True, timeout=60, check=True)
    r = p.icctl("pull", os.path.basename(p.session()))
    t.ok(r.returncode == 1 and "has no clone" in r.stderr,
         "a session on a directory", r.stderr)


def stopped(p):
    """`icctl stop` says whether something is left to pull."""
    repo = os.path.join(p.work, "r")
    trap.make(repo, {"f": "one\n"})
    for script, pull, says in (
            ("echo x > x", False, "gets it."),
            ("echo x > x", True, "Its work was pulled: nothing new is"),
            ("true", False, "\nNothing new is in its clone.\n")):
        with subprocess.Popen(
                [h.program("icctl"), "start", "--clone", repo, "--", "sh", "-c",
                 script + "; touch .git/at; exec sleep 1000"], env=p.env,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL) as q:
            run = os.path.join(p.home, "run")
            h.wait_for(lambda: os.path.isdir(run) and any(os.path.exists(
                os.path.join(run, n, "sandbox", ".git", "at"))
                for n in os.listdir(run)), "the agent")
            if pull:
                t.equal(p.icctl("pull").returncode, 0, "it is pulled")
            t.contains(p.icctl("stop").stdout, says, f"icctl stop: {says}")
            q.wait(60)


def names(p):
    """Names that git would print in a form of its own."""
    repo = os.path.join(p.work, "names")
    trap.make(repo, {"f": "one\n"})
    s, _ = start(p, repo, "mkdir 日本 'a b'; echo x >日本/文.txt; "
                 "echo y >'a b/q\"uo.txt'")
    r = p.icctl("diff", s, "--stat")
    t.ok(" 日本/文.txt " in r.stdout and ' a b/q"uo.txt ' in r.stdout,
         "--stat has names as they are", r.stdout)
    t.contains(p.icctl("diff", s).stdout, "b/日本/文.txt",
               "and so has the diff")


def main():
    for part in (whole, filtered, sizes, keys, boxes, again, further, stopped,
                 names):
        with h.workdir() as work, t.case(part.__name__):
            part(Place(work))
    t.done()


main()
