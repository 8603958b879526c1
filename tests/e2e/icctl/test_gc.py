#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Tests `icctl gc` after sessions that ended, were killed or were refused, with
traps that an agent left; the limit of sessions that run at once; and the
warnings of a second session and of uncommitted work."""
import contextlib
import json
import os
import re
import signal
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
from started import Place, children, family  # noqa: E402

t = h.Tap()
WAITS = ("sh", "-c", "echo up; read x; true")


def spoken(p):
    """Returns the command line, without --quiet."""
    return [x for x in p.argv(*WAITS) if x != "--quiet"]


class Running:
    """A session that waits until its input ends."""

    def __init__(self, p, argv=None):
        # Its messages go to a file, so that they cannot fill a pipe.
        self.said = os.path.join(p.work, f"said-{os.urandom(4).hex()}")
        with open(self.said, "wb") as err:
            self.q = subprocess.Popen(
                argv or p.argv(*WAITS), env=p.env, stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, stderr=err)
        if self.q.stdout.readline() != b"up\n":
            raise RuntimeError(self.text())
        self.dir = p.session()
        self.name = os.path.basename(self.dir)

    def text(self):
        with open(self.said, encoding="utf-8") as f:
            return f.read()

    def kill(self):
        """Kill icsupervisor; everything else of the session ends with it."""
        pids = family(self.q.pid)
        os.kill(pids["supervisor"], signal.SIGKILL)
        self.q.wait(30)
        h.wait_for(lambda: not any(h.alive(x) for x in pids.values()),
                   "the session's processes to end")

    def end(self):
        self.q.stdin.close()
        self.q.stdout.read()
        return self.q.wait(30)


def state(directory):
    with open(os.path.join(directory, "session.json"), encoding="utf-8") as f:
        return json.load(f)["state"]


def gc(p, *options):
    r = p.icctl("--json", "gc", *options)
    return {"code": r.returncode, **json.loads(r.stdout)}


def names(said, what):
    """Returns the names of sessions; stores of checkpoints have 32 digits."""
    return [x["session"] for x in said.get(what, [])
            if not re.fullmatch("[0-9a-f]{32}", x["session"])]


def killed(p):
    """kill -9: the log is closed, the disk is given back, links go."""
    lives, s = Running(p), Running(p)
    s.kill()
    log = os.path.join(s.dir, "audit.jsonl")
    before = os.stat(log).st_blocks
    cache = h.put(os.path.join(s.dir, "home", ".cache", "x"), "x" * 100000)
    t.equal(state(s.dir), "running", "killed: session.json still says running")
    said = gc(p, "--dry-run")
    t.equal((names(said, "crashed"), said["living"], said["links"]),
            ([s.name], 1, 1), "a dry run says so", )
    t.ok(state(s.dir) == "running" and os.path.exists(cache) and
         os.stat(log).st_blocks == before, "and changes nothing")
    said = gc(p)
    t.equal((said["code"], names(said, "crashed"), state(s.dir)),
            (0, [s.name], "crashed"), "gc: it crashed")
    t.ok(os.stat(log).st_blocks < before and said["bytes"] > 500000,
         "the reserved disk is given back", said)
    t.ok(not os.path.exists(cache), "so are its agent's caches")
    t.equal(p.icctl("audit", "verify", log).returncode, 0,
            "its log is closed and good")
    t.equal([x for x in os.listdir(os.path.join(p.home, "run"))
             if s.name in x], [], "its link is gone")
    t.equal(names(gc(p), "crashed"), [], "once only")
    said = gc(p, "--older-than", "0")
    t.equal((names(said, "removed"), said["living"]), ([s.name], 1),
            "with --older-than 0 it is removed, and the living one is not")
    t.equal(p.icctl("status").returncode, 0, "the living session answers")
    t.equal(lives.end(), 0, "and ends as it would have")


def old(directory, days):
    """Have a session end so many days ago."""
    path = os.path.join(directory, "session.json")
    when = os.stat(path).st_mtime - days * 86400
    os.utime(path, (when, when))


def kept(p):
    """The rules, work in a session's own workspace, other machines."""
    dirs = []
    for i in range(3):
        p.run("true")
        dirs.append(p.session())
        old(dirs[-1], 40 - i)
    ids = [os.path.basename(x) for x in dirs]
    said = gc(p)
    t.equal((names(said, "removed"), said["left"]), ([], 3),
            "the newest ten stay by themselves")
    said = gc(p, "--dry-run", "--keep", "1")
    t.equal(sorted(names(said, "removed")), sorted(ids[:2]),
            "--keep 1 names the others")
    t.ok(all(os.path.exists(x) for x in dirs), "a dry run removes nothing")
    h.put(os.path.join(dirs[0], "sandbox", "result"), "work")
    h.put(os.path.join(dirs[1], "lock"), "elsewhere 1234-5678 1 1 icctl\n")
    said = gc(p, "--older-than", "30d")
    t.equal((names(said, "removed"), sorted(names(said, "kept"))),
            ([ids[2]], sorted(ids[:2])), "work and other machines' are kept")
    text = p.icctl("gc", "--older-than", "30d").stdout
    t.ok("sandbox: take what you need" in text and
         "belongs to the machine elsewhere" in text, "each with the reason",
         text)
    t.ok(os.path.exists(os.path.join(dirs[0], "sandbox", "result")),
         "the work is there")
    r = p.icctl("gc", "--older-than", "5")
    t.ok(r.returncode == 64 and "such as 12h" in r.stderr, "a bad span", r)


def hostile(p):
    """Links that an agent, or anyone, left."""
    outside = h.put(os.path.join(p.work, "outside", "precious"), "x")
    away = os.path.dirname(outside)
    p.run("sh", "-c", f"cd; ln -s {away} .cache; ln -s {away} x; mkdir -p a/b;"
          f" ln -s {away} a/b/c; mkdir shut; touch shut/x; chmod 0 shut")
    first = p.session()
    sessions = os.path.join(p.home, "sessions")
    os.symlink(away, os.path.join(sessions, "alias"))
    os.mkdir(os.path.join(sessions, "refused"))
    os.utime(os.path.join(sessions, "refused"), (1, 1))
    os.mkdir(os.path.join(sessions, "starting"))
    said = gc(p, "--older-than", "0")
    t.equal((said["code"], sorted(names(said, "removed")),
             names(said, "kept"), said["living"]),
            (0, [os.path.basename(first), "refused"], ["alias"], 1),
            "a session full of links, and a refused start, are removed")
    t.ok(not os.path.exists(first) and os.path.exists(outside),
         "nothing outside is touched")
    os.rename(sessions, sessions + ".moved")
    os.symlink(sessions + ".moved", sessions)
    r = p.icctl("gc", "--older-than", "0")
    t.ok(r.returncode == 1 and "no link is followed" in r.stderr,
         "sessions/ that is a link is refused", r)


def limited(p):
    """No more sessions at once than config.json allows."""
    a = Running(p)
    b = Running(p, spoken(p))
    t.ok(f"session {a.name} runs in this directory as well" in b.text(),
         "a second session in the same directory is told of the first",
         b.text())
    r = p.run("true")
    t.ok(r.returncode == 75 and b"2 sessions run already: " in r.stderr and
         all(x.name.encode() in r.stderr for x in (a, b)) and
         b"maxConcurrentSessions" in r.stderr,
         "the third is refused, and the others are named", r)
    t.equal(len(os.listdir(os.path.join(p.home, "sessions"))), 2,
            "it leaves nothing")
    r = subprocess.run(
        [h.program("icsupervisor"), "--session-dir",
         os.path.join(p.home, "sessions", "batch"), "--workspace", p.project,
         "--", "true"], env=p.env, stdin=subprocess.DEVNULL,
        capture_output=True, timeout=60, check=False)
    t.equal(r.returncode, 0, "icsupervisor by itself is not limited")
    t.equal(b.end(), 0, "the second ends")
    t.equal(p.run("true").returncode, 0, "then there is room again")
    t.equal(a.end(), 0, "the first ends")


def five(p):
    """Five sessions at once without any configuration, however they are
    started; units and icsupervisor are somebody's own decision."""
    os.unlink(os.path.join(p.home, "config.json"))
    h.put(os.path.join(p.home, "agents", "parrot.json"),
          json.dumps({"name": "parrot", "program": ["parrot"],
                      "providers": [], "turn": ["{conversation}"]}))
    h.put(os.path.join(p.user, "bin", "parrot"), "#!/bin/sh\nexec sleep 300\n",
          0o755)
    p.env["PATH"] = os.path.join(p.user, "bin") + ":" + p.env["PATH"]
    start = ("start", "--workspace", p.project, "--agent", "parrot")
    detached = []
    for _ in range(3):
        r = p.icctl("--json", *start, "--detach")
        t.ok(r.returncode == 0, "a detached session", r)
        detached.append(json.loads(r.stdout)["session"])
    running = [Running(p), Running(p)]
    for name, args in (("detached", (*start, "--detach")),
                       ("one task", ("--json", *start, "x")),
                       ("in a pipe", ("start", "--workspace", p.project, "--",
                                      "true"))):
        r = p.icctl(*args)
        t.ok(r.returncode == 75 and
             "5 sessions run already: " in r.stdout + r.stderr,
             f"{name}: the sixth is refused", r)
    r = p.icctl("stop", detached[0])
    t.ok(r.returncode == 0, "one of them is stopped", r)
    h.wait_for(lambda: detached[0] not in os.listdir(
        os.path.join(p.home, "run")), "its end")
    r = p.icctl("--json", *start, "--detach")
    t.ok(r.returncode == 0, "then there is room", r)
    r2 = p.icctl("--json", "resume", "--detach", detached[0])
    t.ok(r2.returncode == 75 and "5 sessions run already: " in
         r2.stdout + r2.stderr, "a resumed one counts, too", r2)
    for name in (*detached[1:], json.loads(r.stdout)["session"]):
        p.icctl("--session", name, "stop")
    for x in running:
        x.end()


def asks_git(pid):
    """Returns true while the process has one that runs git in a sandbox, or
    has not reaped it yet."""
    for child in children(pid):
        with contextlib.suppress(OSError):
            with open(f"/proc/{child}/comm", encoding="ascii") as f:
                name = f.read().strip()
            with open(f"/proc/{child}/cmdline", "rb") as f:
                args = f.read()
            if name == "bwrap" and (not args or b"/usr/bin/git" in args):
                return True
    return False


def git(p, *args):
    subprocess.run(["git", "-c", "user.name=x", "-c", "user.email=x@example",
                    *args], cwd=p.project, env=p.env, check=True,
                   capture_output=True, timeout=30)


def uncommitted(p):
    """git is asked in a sandbox: nothing of the repository runs outside."""
    mark = os.path.join(p.work, "ran")
    git(p, "init", "-q")
    h.put(os.path.join(p.project, "file"), "one\n")
    git(p, "add", ".")
    git(p, "commit", "-qm", "one")
    r = Running(p, spoken(p))
    supervisor = family(r.q.pid)["supervisor"]
    # An answer is read before the process is reaped.
    h.wait_for(lambda: not asks_git(supervisor), "git to answer")
    r.end()
    t.ok("in no commit" not in r.text(), "all is committed: no warning",
         r.text())
    h.put(os.path.join(p.project, ".gitattributes"), "* filter=evil\n")
    evil = f"sh -c 'touch {mark}; touch /workspace/ran; cat'"
    git(p, "config", "filter.evil.clean", evil)
    git(p, "config", "core.fsmonitor", f"touch {mark}")
    h.put(os.path.join(p.project, "file"), "two\n")
    r = Running(p, spoken(p))
    h.wait_for(lambda: "in no commit" in r.text(), "the warning")
    t.ok(True, "uncommitted work is told")
    r.end()
    t.ok(not os.path.exists(mark) and
         not os.path.exists(os.path.join(p.project, "ran")),
         "the repository's own programs touch nothing")


def main():
    for part, config in ((killed, None), (kept, None), (hostile, None),
                         (limited, {"maxConcurrentSessions": 2}),
                         (five, None),
                         (uncommitted, None)):
        with h.workdir() as work, t.case(part.__name__):
            part(Place(work, config))
    t.done()


if __name__ == "__main__":
    main()
