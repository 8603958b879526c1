#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Undo by turn: whatever a turn did comes back, in the workspace of a running
conversation and of one that has ended; what was left out is not touched; and a
workspace that changes while it is saved or put back leads nowhere else."""
import fcntl
import glob
import json
import mmap
import os
import shlex
import shutil
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
from asks import AGENT as ASKS  # noqa: E402
from test_conversation import Talk, texts  # noqa: E402
from tmux import PROMPT, Tmux  # noqa: E402

t = h.Tap()
# Runs the message as a program of the shell; a notice stands before it.
AGENT = r"""#!/bin/sh
cd /workspace
m=$(cat)
case $m in "[IronCurtain"*) echo "noticed: $m"; m=$(printf %s "$m" | tail -n 1) ;; esac
eval "$m"
echo done
"""
LEFT_OUT = ("node_modules", "objects")


def tree(top):
    """Returns names, modes, links and contents, outside what is left out."""
    found = {}
    for path, dirs, files in os.walk(top):
        dirs[:] = sorted(d for d in dirs if d not in LEFT_OUT)
        for name in dirs + files:
            full = os.path.join(path, name)
            key = os.path.relpath(full, top)
            if os.path.islink(full):
                found[key] = ("link", os.readlink(full))
            elif name in dirs:
                found[key] = ("dir", os.stat(full).st_mode & 0o777)
            else:
                with open(full, "rb") as f:
                    found[key] = (os.stat(full).st_mode & 0o777, f.read())
    return found


def differ(a, b):
    return [k for k in sorted(set(a) | set(b)) if a.get(k) != b.get(k)]


def git(top, *args):
    subprocess.run(["git", "-c", "user.name=A", "-c", "user.email=a@b.example",
                    "-C", top, *args], check=True, capture_output=True,
                   env={"PATH": "/usr/bin:/bin", "HOME": top,
                        "GIT_CONFIG_NOSYSTEM": "1"})


def make(top):
    """Fills a workspace: a repository, ignored and left-out files, a plain
    directory, a link, a name that is not text."""
    h.put(os.path.join(top, "agent.sh"), AGENT, 0o755)
    git(top, "init", "-q", "-b", "main")
    h.put(os.path.join(top, "a.txt"), "one\n")
    h.put(os.path.join(top, ".gitignore"), ".env\nnode_modules\n")
    h.put(os.path.join(top, ".env"), "SECRET=1\n")
    git(top, "add", ".")
    git(top, "commit", "-q", "-m", "first")
    h.put(os.path.join(top, "a.txt"), "two\n")
    git(top, "commit", "-q", "-a", "-m", "second")
    for d in ("plain/deep", "node_modules/x", "empty"):
        os.makedirs(os.path.join(top, d))
    h.put(os.path.join(top, "plain/deep/b.txt"), "b\n", 0o640)
    h.put(os.path.join(top, "plain/run.sh"), "#!/bin/sh\n", 0o755)
    h.put(os.path.join(top, "node_modules/x/i.js"), "1\n")
    os.symlink("plain/deep", os.path.join(top, "link"))
    with open(os.path.join(os.fsencode(top), b"\xff\x1b[31m"), "wb") as f:
        f.write(b"odd\n")


DENIED = (b"Permission denied (chmod -R u+rwX opens it for undo, which sets "
          b"its mode back)")
DAMAGE = ("sed -i s/two/three/ a.txt; rm -rf plain .env link empty; "
          "git reset -q --hard HEAD~1; mkdir link; echo x >link/new; "
          "printf 'evil\\n' >.git/hooks/post-commit; "
          "chmod 755 .git/hooks/post-commit; rm -f agent.bak; "
          "echo 2 >node_modules/x/i.js; rm -f -- *31m")


def undo(k, *args):
    r = k.icctl("--json", "--session", k.s.dir, "undo", *args)
    return r, json.loads(r.stdout) if r.stdout.startswith("{") else {}


def shown_turn(k):
    """icctl diff --turn: what the turn did to each file, in lines."""
    def diff(*args):
        return k.icctl("--session", k.s.dir, "diff", "--turn", *args)
    # The checkpoint after a turn is made once it has ended.
    h.wait_for(lambda: diff("1").returncode == 0, "a checkpoint after turn 1")
    out = diff("1").stdout
    t.ok("changed: a.txt\n" in out and "- two" in out and "+ one" in out,
         "a turn's changes are shown in lines", out)
    t.ok("removed: .env\n" in out and "- SECRET=1" in out,
         "a file that it removed", out)
    t.ok("new, and may run on this machine later: .git/hooks/post-commit"
         in out and "+ evil" in out, "and one that may run later", out)
    t.ok("\x1b" not in out, "names are escaped", out)
    t.ok("two" not in diff("1", "--stat").stdout, "--stat has names only")
    r = k.icctl("--json", "--session", k.s.dir, "diff", "--turn", "1", "1")
    what = {f["path"]: f["what"] for f in json.loads(r.stdout)["files"]}
    t.equal((what.get("a.txt"), what.get(".env"), what.get("link/new")),
            ("changed", "removed", "new"), "turns 1 to 1, as JSON")
    for words in (("--turn", "0"), ("--to", "")):
        r = k.icctl("--session", k.s.dir, "undo", "--dry-run", *words)
        t.ok(r.returncode != 0 and not r.stdout,
             f"no checkpoint is chosen by {words}", r.stdout + r.stderr)
    r = diff("7")
    t.ok(r.returncode == 1 and "turn 7" in r.stderr,
         "a turn that was not is refused", r.stderr)
    t.equal(diff("2", "1").returncode, 64, "as are turns backwards")


def looked_at(k, plan):
    """Plans that are only looked at leave one checkpoint, not one each."""
    def listed():
        return json.loads(k.icctl("--json", "--session", k.s.dir, "undo",
                                  "--list").stdout)["checkpoints"]
    before = listed()
    t.equal([undo(k, "--dry-run")[1].get("plan") for _ in range(3)],
            [plan["plan"]] * 3, "the plan of the same files is the same")
    t.equal(listed(), before, "and needs no other checkpoint")
    first = sorted(glob.glob(os.path.join(k.s.home, "undo/*/turns/*")))[0]
    with open(first, encoding="utf-8") as f:
        text = f.read()
    h.put(first, "edited\n")
    r = k.icctl("--session", k.s.dir, "undo", "--list")
    h.put(first, text)
    t.contains(r.stderr, "1 checkpoint of ", "a record that was edited is named")
    r = k.icctl("--session", k.s.dir, "undo", "forget", "none.txt")
    t.contains(r.stdout, "nothing was removed", "no checkpoint has that path")


def test_turns(work):
    top = os.path.join(work, "workspace")
    os.makedirs(top, mode=0o700)
    make(top)
    before = tree(top)
    with Talk(work, "--", "/workspace/agent.sh") as k:
        if k.started.returncode != 0:
            raise RuntimeError(k.started.stderr)
        _, events = k.send(DAMAGE)
        t.ok("done" in texts(events) and differ(before, tree(top)),
             "a turn changes what it likes", events)
        after = tree(top)
        r, plan = undo(k, "--dry-run")
        names = {x["path"] for x in plan.get("comeBack", [])}
        later = {x["path"] for g in ("back", "comeBack", "goAway")
                 for x in plan.get(g, []) if x["runsLater"]}
        t.ok({".env", "plain/deep/b.txt", "empty"} <= names
             and "plain/run.sh" in later and not differ(after, tree(top)),
             "the plan names it, and does nothing", (r.stderr, plan))
        looked_at(k, plan)
        shown_turn(k)
        h.put(os.path.join(top, "mine.txt"), "of the person\n")
        h.put(os.path.join(top, "a.txt"), "the person's\n")
        r, plan = undo(k)
        t.ok(r.returncode == 1 and "--yes" in r.stderr,
             "nothing happens without a yes", r.stderr)
        r, done = undo(k, "--yes")
        now = tree(top)
        t.equal((r.returncode, differ(before, now)), (0, ["a.txt",
                                                          "mine.txt"]),
                "everything else is as before the turn")
        t.equal({x["path"] for x in done["left"]}, {"a.txt", "mine.txt"},
                "what the person changed since then stays, and is named")
        with open(os.path.join(top, "node_modules/x/i.js"),
                  encoding="utf-8") as f:
            t.equal(f.read(), "2\n", "what was left out is not touched")
        git(top, "fsck", "--connectivity-only")
        t.equal(k.icctl("--session", k.s.dir, "undo", "--yes", "--all",
                        "mine.txt", "a.txt").returncode, 0,
                "--all puts it back, too")
        t.equal(differ(before, tree(top)), [], "so that nothing differs")
        r, again = undo(k, "--yes", "--all", "--to", str(done["from"]))
        t.equal((r.returncode, differ(after, tree(top))),
                (0, ["a.txt", "mine.txt"]), "an undo can be undone")
        r, _ = undo(k, "--yes", "--all", "--turn", "1")
        t.equal(differ(before, tree(top)), [], "and done again, by its turn")
        _, events = k.send("true")
        t.ok("put back" in texts(events) and "before turn 1" in texts(events),
             "the agent is told with the next message", texts(events))
        p = k.popen("send", "--json", "echo waiting; sleep 1000")
        while "waiting" not in p.stdout.readline():
            pass
        r = k.icctl("--session", k.s.dir, "undo", "--yes")
        t.ok(r.returncode == 75 and "a turn is running" in r.stderr,
             "not while a turn runs", (r.returncode, r.stderr))
        k.icctl("interrupt")
        p.communicate()
        r = k.icctl("--session", k.s.dir, "checkpoint", "a name")
        t.ok(r.returncode == 0 and "undo --to" in r.stdout,
             "a checkpoint with a name", r.stderr)
        k.send("rm -rf plain; echo late >late.txt")
        records(k)
        test_watch(work, k, top)
        test_pages(work, k, top)
    test_ended(k, top, before)


def records(k):
    said = k.s.audit("checkpoint", "undo", "undoEnd")
    names = [e["event"] for e in said]
    undone = [e["detail"] for e in said if e["event"] == "undo"]
    t.ok(names.count("undo") == 4 and names.count("undoEnd") == 4
         and names.count("checkpoint") >= 8 and
         all(len(d["plan"]) == 64 for d in undone), "all of it is recorded",
         names)
    store = os.path.join(k.s.home, "undo")
    modes = {os.stat(os.path.join(p, d)).st_mode & 0o777
             for p, dirs, _ in os.walk(store) for d in dirs}
    t.equal(modes | {os.stat(store).st_mode & 0o777}, {0o700},
            "the store is closed to others")


def test_watch(work, k, top):
    """The same by a key of watch, on its screen and below its lines."""
    for args in ((), ("--plain",)):
        tmux = Tmux(work, {**k.s.env, "TERM": "xterm-256color"})
        try:
            tmux.run(shlex.join([h.program("icctl"), "--session", k.s.dir,
                                 "watch", *args]))
            tmux.until("no pending calls" if args else "q quit")
            tmux.text("u")
            rows = tmux.until("Put these files back?")
            t.ok(any("plain/run.sh" in x for x in rows) and
                 not os.path.exists(os.path.join(top, "plain")),
                 f"watch {args}: u shows the plan and asks", rows)
            tmux.keys("y", "Enter")
            tmux.until("put back. To take")
            t.ok(os.path.exists(os.path.join(top, "plain/run.sh")) and
                 not os.path.exists(os.path.join(top, "late.txt")),
                 f"watch {args}: and puts them back")
            if not args:
                tmux.until("Enter goes back")
                tmux.keys("Enter")
                tmux.until("q quit")
            tmux.text("q")
            h.wait_for(lambda: "".join(tmux.screen()).rstrip().endswith(PROMPT),
                       "the shell is back")
        finally:
            tmux.end()
        k.send("rm -rf plain; echo late >late.txt")


def test_pages(work, k, top):
    """The question comes after the last row of a long plan."""
    names = [f"file-{i:03}" for i in range(70)]
    for name in names:
        h.put(os.path.join(top, "many", name), "x\n")
    k.send("rm -rf many")
    command = shlex.join([h.program("icctl"), "--session", k.s.dir, "undo"])
    tmux = Tmux(work, {**k.s.env, "TERM": "xterm-256color"})
    try:
        tmux.run(command)
        tmux.until("Enter shows them")
        tmux.keys("q", "Enter")
        tmux.until("Nothing was put back.")
        tmux.run("clear; " + command)
        tmux.gone("Nothing was put back.")
        seen, last = set(), None
        while not any("Put these files back?" in x for x in tmux.screen()):
            rows = tmux.screen()
            ask = [x for x in rows if "Enter shows them" in x][-1:]
            seen |= {x.strip().split("/")[-1] for x in rows}
            if ask and ask != last:
                last = ask
                tmux.keys("Enter")
            time.sleep(0.02)
        seen |= {x.strip().split("/")[-1] for x in tmux.screen()}
        t.equal([n for n in names if n not in seen], [],
                "a long plan is shown to its last row, then comes the question")
        tmux.keys("n", "Enter")
        tmux.until("Nothing was put back.")
    finally:
        tmux.end()
    t.ok(not os.path.exists(os.path.join(top, "many")), "a no is a no")


def test_ended(k, top, before):
    """The same when no session runs."""
    r, done = undo(k, "--yes", "--to", "a name")
    t.equal((r.returncode, differ(before, tree(top))), (0, []),
            "after the end, too: a state that has a name")
    lines = h.read_lines(os.path.join(
        k.s.home, "undo", os.listdir(os.path.join(k.s.home, "undo"))[0],
        "undo.jsonl"))
    t.equal([(x["event"], x["plan"]) for x in lines],
            [("undo", done["plan"]), ("undoEnd", done["plan"])],
            "it is recorded in the store then")
    r = k.icctl("--session", k.s.dir, "undo", "--list")
    t.ok("before turn 1" in r.stdout and "a name" in r.stdout and
         "the end" in r.stdout, "the list", r.stdout)
    r = k.icctl("--session", k.s.dir, "undo", "forget",
                os.path.join(top, ".env"))
    held = [p for p, _, files in os.walk(os.path.join(k.s.home, "undo"))
            for f in files if b"SECRET" in open(os.path.join(p, f),
                                                "rb").read()]
    t.ok(r.returncode == 0 and not held, "forget removes every copy",
         (r.stderr, held))


class Snap:
    """ic-snap itself, with a workspace and a store."""

    def __init__(self, work):
        self.top = os.path.join(work, "tree")
        self.store = os.path.join(work, "store")
        self.out = os.path.join(work, "outside")
        for d in (self.top, self.store, self.out):
            os.makedirs(d, mode=0o700)

    def start(self, shape, *words):
        """Its descriptors 3 and 4 are the workspace and the store."""
        program = os.path.join(h.PREFIX, "libexec/ironcurtain/ic-snap")
        return subprocess.Popen(
            ["/bin/sh", "-c", 'exec "$@" 3<"$T" 4<"$S"', "sh", program, shape,
             *words], stdout=subprocess.PIPE,
            env={"T": self.top, "S": self.store, "PATH": "/usr/bin:/bin"})

    def run(self, shape, *words):
        p = self.start(shape, *words)
        out, _ = p.communicate(timeout=30 * h.PATIENCE)
        if p.returncode != 0:
            raise RuntimeError(f"ic-snap {shape}: {p.returncode}")
        return out

    def save(self):
        """Returns the checkpoint's number."""
        out = self.run("save", "session=s", "kind=named", "files=300000",
                       "file-mb=10", "turn-mb=1000", "store-mb=10000",
                       "free=0", "keep=5000", "days=30")
        return int.from_bytes(out[:4], sys.byteorder)

    def plan(self, now, to):
        rows = self.run("plan", f"now={now}", f"to={to}").split(b"\0")
        return rows[:-2], rows[-2][2:].decode()


def swapper(snap, over, swaps):
    """Swaps a directory and a link to the outside, again and again."""
    a, b = os.path.join(snap.top, "d"), os.path.join(snap.top, "l")
    spare = os.path.join(snap.top, "s")
    n = 0
    while not over.is_set():
        try:
            os.rename(a, spare)
            os.rename(b, a)
            os.rename(a, b)
            os.rename(spare, a)
        except OSError:
            os.makedirs(a, exist_ok=True)
        n += 1
    swaps.append(n)


def test_swaps(work):
    s = Snap(work)
    os.makedirs(os.path.join(s.top, "d"))
    for i in range(40):
        h.put(os.path.join(s.top, "d", f"f{i}"), f"mine {i}\n")
        h.put(os.path.join(s.out, f"f{i}"), "outside\n")
    os.symlink(s.out, os.path.join(s.top, "l"))
    clean = s.save()
    for i in range(40):
        h.put(os.path.join(s.top, "d", f"f{i}"), f"changed {i}\n")
    changed = s.save()
    over = threading.Event()
    swaps = []
    th = threading.Thread(target=swapper, args=(s, over, swaps))
    th.start()
    for _ in range(4):
        s.save()
        now = changed
        _, digest = s.plan(now, clean)
        s.run("restore", f"now={now}", f"to={clean}", f"digest={digest}")
        _, digest = s.plan(clean, changed)
        s.run("restore", f"now={clean}", f"to={changed}", f"digest={digest}")
    over.set()
    th.join()
    t.ok(swaps[0] > 2000, "a few thousand swaps", swaps)
    t.equal({open(os.path.join(s.out, f), "rb").read()
             for f in os.listdir(s.out)}, {b"outside\n"},
            "swaps of a directory and a link: nothing outside is written")
    t.equal(len(os.listdir(s.out)), 40, "nothing is made there, nothing goes")
    kept = [f for f in os.listdir(os.path.join(s.store, "objects"))
            if b"outside" in open(os.path.join(s.store, "objects", f),
                                  "rb").read().split(b"\0")[0]]
    t.equal(kept, [], "and nothing outside was read")


def confined(pid):
    """Returns the lines of its status once it has its filter, or None."""
    with open(f"/proc/{pid}/status", encoding="utf-8") as f:
        has = dict(x.rstrip("\n").split(":\t", 1) for x in f if ":\t" in x)
    return has if has.get("Seccomp") == "2" else None


def test_confined(s):
    """ic-snap confines itself before it waits for the store's lock."""
    s.save()
    with open(os.path.join(s.store, "lock"), "rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for shape in ("save", "plan", "restore", "forget"):
            p = s.start(shape, "now=1", "to=1")
            has = h.wait_for(lambda: confined(p.pid), "no filter is loaded")
            p.kill()
            p.communicate()
            t.equal((has["NoNewPrivs"], int(has["CapBnd"], 16)), ("1", 0),
                    f"{shape} is confined")


def test_killed(work):
    s = Snap(work)
    for i in range(300):
        h.put(os.path.join(s.top, f"f{i}"), f"old {i}\n" * 50)
    first = s.save()
    old = tree(s.top)
    for i in range(300):
        h.put(os.path.join(s.top, f"f{i}"), f"new {i}\n" * 50)
    for _ in range(3):
        now = s.save()
        _, digest = s.plan(now, first)
        p = s.start("restore", f"now={now}", f"to={first}", f"digest={digest}")
        h.wait_for(lambda: p.poll() is not None or os.stat(os.path.join(
            s.top, "f0")).st_size == len("old 0\n") * 50, "no restore")
        p.kill()
        p.communicate()
    now = s.save()
    rows, digest = s.plan(now, first)
    s.run("restore", f"now={now}", f"to={first}", f"digest={digest}")
    t.equal(differ(old, tree(s.top)), [],
            "a restore that is killed can be repeated")
    rows, _ = s.plan(s.save(), first)
    t.equal(rows, [], "and then there is nothing to do")
    obj = sorted(os.listdir(os.path.join(s.store, "objects")))
    for name in obj:
        path = os.path.join(s.store, "objects", name)
        with open(path, "rb") as f:
            if not f.read().startswith(b"old 7\n"):
                continue
        os.chmod(path, 0o600)
        h.put(path, "another content\n")
    h.put(os.path.join(s.top, "f7"), "present\n")
    h.put(os.path.join(s.top, "f8"), "present\n")
    now = s.save()
    _, digest = s.plan(now, first)
    out = s.run("restore", f"now={now}", f"to={first}", f"digest={digest}")
    with open(os.path.join(s.top, "f7"), encoding="utf-8") as f:
        t.ok(f.read() == "present\n" and b"damaged" in out,
             "an object that was edited is refused, and the file stays", out)
    out = s.run("restore", f"now={now}", f"to={first}", "digest=" + "0" * 64)
    t.ok(out.startswith(b"? this is not the plan"), "another digest: nothing",
         out)


def test_closed(work):
    """Files in a directory that its owner may not write come back, too, as does
    the directory's mode."""
    s = Snap(work)
    h.put(os.path.join(s.top, "shut/was/f"), "old\n", 0o444)
    h.put(os.path.join(s.top, "open/f"), "old\n")
    for name in ("shut/was", "shut"):
        os.chmod(os.path.join(s.top, name), 0o555)
    before = tree(s.top)
    first = s.save()
    subprocess.run(["/bin/sh", "-c", "chmod -R u+w shut; rm -r shut/was; "
                    "echo new >shut/new; echo new >open/f; chmod 555 shut "
                    "open"], cwd=s.top, check=True)
    now = s.save()
    _, digest = s.plan(now, first)
    out = s.run("restore", f"now={now}", f"to={first}", f"digest={digest}")
    t.ok(differ(before, tree(s.top)) == [] and out.startswith(b". "),
         "files in directories that are closed to their owner", out)
    subprocess.run(["chmod", "-R", "u+w", s.top], check=True)


def test_listed(work):
    """A directory whose names can be read, and nothing else, is no reason to
    make no checkpoint."""
    s = Snap(work)
    h.put(os.path.join(s.top, "half/f"), "old\n")
    h.put(os.path.join(s.top, "other"), "old\n")
    first = s.save()
    os.chmod(os.path.join(s.top, "half"), 0o444)
    os.unlink(os.path.join(s.top, "other"))
    rows, _ = s.plan(s.save(), first)
    os.chmod(os.path.join(s.top, "half"), 0o755)
    t.equal(rows, [b"b half", b"l half/f", DENIED, b"c other"],
            "a directory that is listed and cannot be entered")


def on_tmpfs(path):
    """Mapped writes set no times there."""
    r = subprocess.run(["stat", "-f", "-c", "%T", path], capture_output=True,
                       text=True, check=True)
    return r.stdout.strip() == "tmpfs"


def test_mapped(work):
    """A file that a program has mapped changes between two checkpoints, with
    no other call."""
    s = Snap(work)
    if on_tmpfs(s.top):
        t.skip("mapped", "the workspace of this test is on a tmpfs")
        return
    path = os.path.join(s.top, "f")
    h.put(path, "a" * 8192)

    def saved():
        """Not so shortly after a change that it is read in any case."""
        changed = os.stat(path).st_ctime_ns
        h.wait_for(lambda: time.time_ns() - changed > 100000000, "a while")
        return s.save()
    with open(path, "r+b") as f, mmap.mmap(f.fileno(), 0) as m:
        m[0] = 1
        saved()
        first = saved()
        m[0] = 2
        rows, _ = s.plan(saved(), first)
        t.equal(rows, [b"b f"], "a change through a mapping is seen")


def test_lacking(work):
    """A plan names what one of its checkpoints lacks, and why; what is new and
    left out by its name is no news."""
    s = Snap(work)
    for name in ("grows", "shrinks", "goes", "shut/f", "same"):
        h.put(os.path.join(s.top, name), "old\n")
    for name in ("shrinks", "goes", "same"):
        os.truncate(os.path.join(s.top, name), 11 << 20)
    first = s.save()
    os.truncate(os.path.join(s.top, "grows"), 11 << 20)
    os.truncate(os.path.join(s.top, "shrinks"), 5)
    os.unlink(os.path.join(s.top, "goes"))
    h.put(os.path.join(s.top, "node_modules/x"), "new\n")
    os.chmod(os.path.join(s.top, "shut"), 0)
    h.put(os.path.join(s.top, "shut new/f"), "new\n")
    os.chmod(os.path.join(s.top, "shut new"), 0)
    h.put(os.path.join(s.top, "new"), "new\n")
    os.truncate(os.path.join(s.top, "new"), 11 << 20)
    rows, digest = s.plan(s.save(), first)
    os.chmod(os.path.join(s.top, "shut"), 0o700)
    os.chmod(os.path.join(s.top, "shut new"), 0o700)
    large = b"larger than 10 MiB (undo.maxFileMb)"
    t.equal(rows, [b"l goes", large, b"l grows", large, b"l new", large,
                   b"l shrinks", large, b"l shut", DENIED, b"l shut new",
                   DENIED], "the plan names it")


def test_sparse(work):
    """A large file with holes is not read through, nor written in full; with
    another size limit than that of a plain copy."""
    s = Snap(work)
    path = os.path.join(s.top, "big")

    def put(size, at, text):
        with open(path, "wb") as f:
            f.truncate(size)
            f.seek(at)
            f.write(text)

    def saved():
        out = s.run("save", "session=s", "kind=named", "files=100",
                    "file-mb=4000", "turn-mb=100", "store-mb=100", "free=0",
                    "keep=100", "days=30")
        return int.from_bytes(out[:4], sys.byteorder)
    put(1 << 30, 700000000, b"one")
    first = saved()
    out = s.run("plan", f"now={first}", f"to={first}")
    t.ok(out.startswith(b". "), "nothing differs from itself", out)
    for size, at, text in ((1 << 30, 700000000, b"two"),
                           (1 << 30, 700000001, b"one"),
                           ((1 << 30) + 1, 700000000, b"one"),
                           (1 << 20, 5, b"small")):
        put(size, at, text)
        now = saved()
        _, digest = s.plan(now, first)
        s.run("restore", f"now={now}", f"to={first}", f"digest={digest}")
        with open(path, "rb") as f:
            f.seek(700000000)
            t.equal((os.path.getsize(path), f.read(3)), (1 << 30, b"one"),
                    f"back from {size} bytes with {text!r} at {at}")
    t.ok(os.stat(path).st_blocks < 2048, "it has its holes again",
         os.stat(path).st_blocks)


# Each line that is typed: works once the test has seen the checkpoint, by a
# tool and on a file.
SCREEN = r"""#!/bin/sh
echo ready
while read -r line; do
    while [ ! -e "/workspace/go-$line" ]; do sleep 0.05; done
    echo "$line" >>/workspace/said.txt
    /workspace/asks.py /workspace/said.txt >/workspace/.asked </dev/null
    echo "did $line"
done
"""


def test_screen(work):
    """On the agent's own screen, Enter begins a turn; keys undo it."""
    s = h.Session(work, {"filesystem": {"command": "icfs",
                                        "args": ["/workspace"]}},
                  env={"TERM": "xterm-256color"})
    top = s.workspace
    h.put(os.path.join(top, "said.txt"), "nothing\n")
    h.put(os.path.join(top, "asks.py"), ASKS, 0o755)
    h.put(os.path.join(top, "agent.sh"), SCREEN, 0o755)
    said = os.path.join(top, "said.txt")
    tmux = Tmux(work, s.env)

    def rows():
        r = s.icctl("--json", "undo", "--list")
        return [(c["of"], c["turn"]) for c in
                json.loads(r.stdout)["checkpoints"]] if r.stdout else []

    def read():
        with open(said, encoding="utf-8") as f:
            return f.read().split()

    try:
        tmux.run(shlex.join([h.program("icctl"), "start", "--quiet",
                             "--workspace", top, "--",
                             "/workspace/agent.sh"]))
        tmux.until("ready")
        home = os.path.join(s.home, "sessions")
        s.dir = os.path.join(home, os.listdir(home)[0])
        h.wait_for(lambda: ("start", 1) in rows(), "the start's checkpoint")
        # The terminal's Enter is seen before its checkpoint is there.
        for n, line in enumerate(("one", "two"), 1):
            tmux.keys(line, "Enter")
            if n > 1:
                h.wait_for(lambda n=n: ("turn", n) in rows(),
                           f"a checkpoint before turn {n}")
            h.put(os.path.join(top, f"go-{line}"), "")
            tmux.until(f"did {line}")
            h.wait_for(lambda n=n: json.loads(s.icctl(
                "--json", "budget").stdout)["budget"]["toolCalls"] == n,
                "the call is counted")
        t.equal(read(), ["nothing", "one", "two"], "two turns on a screen")
        tmux.keys("C-]", "u")
        tmux.until("Put these files back?")
        tmux.keys("y", "Enter")
        tmux.until("Enter: back to the agent")
        t.equal(read(), ["nothing", "one"], "Ctrl-] u takes the last one back")
        tmux.keys("Enter")
        tmux.until("did two")
        tmux.keys("C-]", "k")
        tmux.until("Enter: back to the agent")
        tmux.keys("Enter")
        h.wait_for(lambda: any(k == "named" for k, _ in rows()),
                   "Ctrl-] k makes a checkpoint")
        t.ok(True, "Ctrl-] k makes a checkpoint")
    finally:
        tmux.end()


def main():
    with h.workdir() as work, t.case("swaps"):
        test_swaps(work)
    if not h.sanitized():
        with h.workdir() as work, t.case("confined"):
            test_confined(Snap(work))
    with h.workdir() as work, t.case("killed"):
        test_killed(work)
    with h.workdir() as work, t.case("closed"):
        test_closed(work)
        test_listed(os.path.join(work, "listed"))
        test_sparse(os.path.join(work, "sparse"))
        test_lacking(os.path.join(work, "lacking"))
        test_mapped(os.path.join(work, "mapped"))
    if not shutil.which("bwrap"):
        t.skip("undo", "bubblewrap is not installed")
        t.done()
    with h.workdir() as work, t.case("turns"):
        test_turns(work)
    if shutil.which("tmux"):
        with h.workdir() as work, t.case("screen"):
            test_screen(work)
    t.done()


if __name__ == "__main__":
    main()
