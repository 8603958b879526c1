#!/usr/bin/python3
# SPDX-License-Identifier: ISC
"""Approved calls outside a server's view: a separate process serves each, sees
only the approved objects, and leaves nothing behind."""
import contextlib
import ctypes
import json
import os
import secrets
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "lib"))
import harness as h  # noqa: E402

t = h.Tap()
PATH, NONE = ["read-path"], ["none"]
FILES = {"read_text_file": {"path": PATH}, "list_directory": {"path": PATH},
         "read_multiple_files": {"paths": PATH},
         "write_file": {"path": ["write-path"], "content": NONE},
         "edit_file": {"path": ["read-path", "write-path"], "edits": NONE,
                       "dryRun": NONE},
         "create_directory": {"path": ["write-path"]},
         "move_file": {"source": ["read-path", "delete-path"],
                       "destination": ["write-path"]}}
LOOK = {"look": {"path": PATH}, "change": {"path": ["write-path"]}}
MODULES = os.path.join(os.environ.get("IC_AGENTS", ""), "node_modules")
REFERENCE = os.path.join(
    MODULES, "@modelcontextprotocol/server-filesystem/dist/index.js")


def diag(words):
    print(f"# {words}")
    sys.stdout.flush()


def get(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def probe(how, *more):
    return {"command": h.PYTHON, "args": [
        os.path.join(h.STANDINS, "mcp_outside.py"), how, "/workspace", *more],
            "sandbox": {"filesystem": {"allowRead": [h.STANDINS]}}}


class Rig(h.Session):
    """A session in which every path outside the workspace needs approval."""

    def __init__(self, work, servers, rules=None, **kw):
        names = list(servers)
        self.out = os.path.join(work, "out")
        rules = rules or [h.rule("ask", "escalate", "It is outside.",
                                 server=names)]
        super().__init__(work, servers, rules, {
            n: LOOK if "mcp_outside" in str(s) else FILES
            for n, s in servers.items()}, **kw)
        os.makedirs(self.out, exist_ok=True)

    def start(self, timeout=20):
        super().start(timeout)
        self.client = self.mcp()
        self.client.initialize()
        self.client.list_tools()
        return self

    def begin(self, tool, args, **kw):
        """Begin a call that waits for approval. Returns (the future answer,
        the pending call)."""
        had = {x["id"] for x in self.pending()}
        waiting = self.client.start_call(tool, args, **kw)
        hold = h.wait_for(lambda: [x for x in self.pending()
                                   if x["id"] not in had], "not held")[0]
        return waiting, hold

    def approved(self, tool, args, between=None, timeout=30):
        waiting, hold = self.begin(tool, args)
        if between is not None:
            between()
        self.said = self.icctl("approve", hold["id"])
        return h.outcome(waiting.wait(timeout))

    def call_event(self, n=-1):
        return self.events("call")[n]

    def states(self):
        return [e["state"] for e in self.events("instance")]

    def quiet(self):
        """Wait until no instance is left."""
        h.wait_for(lambda: not json.loads(self.icctl(
            "--json", "status").stdout)["instances"], "an instance is left")


def found(r):
    assert not r[0], r
    return json.loads(r[1])


def icfs(work):
    """Call the tools of icfs, each on an approved object."""
    with Rig(work, {"filesystem": {"command": "icfs",
                                   "args": ["/workspace"]}}) as s:
        fs, a, b = "filesystem__", h.put(s.out + "/a", "one"), s.out + "/b"
        h.put(b, "two")
        t.equal(s.approved(fs + "read_text_file", {"path": a}),
                (False, "one"), "icfs: a file is read")
        t.ok("approved" in s.said.stdout, "icctl: approved", s.said)
        c = s.call_event()
        t.ok(c["escalationResult"] == "approved" and c["instance"] >= 32 and
             c["serverName"] == "filesystem", "audit: by which instance", c)
        t.equal([(e["state"], e.get("path"), e.get("writable"))
                 for e in s.events("instance")][:2],
                [("asked", a, False), ("started", None, None)],
                "audit: asked for, started")
        t.equal(s.approved(fs + "write_file", {"path": a, "content": "1!"})[0],
                False, "icfs: a file is written")
        t.equal(get(a), "1!", "and only that")
        s.approved(fs + "edit_file", {"path": a, "edits": [
            {"oldText": "1!", "newText": "uno"}]})
        t.equal(get(a), "uno", "icfs: edited")
        s.approved(fs + "write_file", {"path": s.out + "/new",
                                       "content": "fresh"})
        t.equal(get(s.out + "/new"), "fresh", "icfs: a new file is made")
        t.equal(s.approved(fs + "create_directory",
                           {"path": s.out + "/d/e"})[0], False,
                "icfs: new directories are made")
        t.equal(s.approved(fs + "list_directory", {"path": s.out})[1],
                "[FILE] a\n[FILE] b\n[DIR] d\n[FILE] new",
                "icfs: a directory is listed")
        t.equal(s.approved(fs + "move_file", {
            "source": s.out + "/new", "destination": s.out + "/moved"})[0],
                False, "icfs: moved within a directory")
        t.equal(s.approved(fs + "move_file", {
            "source": s.out + "/moved", "destination": s.out + "/d/moved"})[0],
                False, "icfs: and into one below it")
        t.equal(get(s.out + "/d/moved"), "fresh", "and it is there")
        t.equal(s.approved(fs + "read_multiple_files", {"paths": [a, b]})[1],
                f"{a}:\nuno\n\n---\n{b}:\ntwo\n", "icfs: two files at once")
        h.put(s.workspace + "/w", "inside")
        r = h.outcome(s.client.call(fs + "read_multiple_files",
                               {"paths": ["w", a]}))
        t.ok(r[0] and f"{a} is outside what server" in r[1] and
             "/workspace/w is inside" in r[1],
             "one inside, one outside: refused with the reason", r)
        t.equal(s.pending(), [], "and not held")
        r = h.outcome(s.client.call(fs + "read_multiple_files", {
            "paths": [f"{s.out}/{i}" for i in range(9)]}))
        t.ok(r[0] and "More than 8 paths" in r[1], "nine paths: refused", r)
        r = s.approved(fs + "read_text_file", {"path": s.out + "/none"})
        t.ok(r[0] and "ENOENT" in r[1], "what is not there is not there", r)
        waiting, hold = s.begin(fs + "read_text_file", {"path": b})
        s.icctl("deny", hold["id"])
        r = h.outcome(waiting.wait())
        t.ok(r[0] and r[1].startswith("ESCALATION DENIED"), "denied stays", r)
        guarded(s, fs)
        limits(s, fs, a)
        left(s, fs)


def moves(work):
    """Moves between the workspace and a place outside: held, and done by an
    instance that has the two names."""
    with Rig(work, {"filesystem": {"command": "icfs",
                                   "args": ["/workspace"]}}) as s:
        def move(source, to, between=None):
            return s.approved("filesystem__move_file", {
                "source": source, "destination": to}, between)

        def refused(source, to):
            r = h.outcome(s.client.call("filesystem__move_file", {
                "source": source, "destination": to}))
            return r[1] if r[0] else "it was done"
        secret = h.put(os.path.join(work, "away/secret"), "SECRET")
        w, other = s.workspace, os.path.join(work, "other")
        h.put(w + "/d/mine", "of the agent")
        h.put(other + "/x", "elsewhere")
        t.equal(move("/workspace/d/mine", s.out + "/got")[0], False,
                "out of the workspace: approved")
        t.equal((get(s.out + "/got"), os.listdir(w + "/d")),
                ("of the agent", []), "and moved")
        t.ok("Deletes " in s.said.stdout and s.out + "/got" in s.said.stdout,
             "approved with both names", s.said.stdout)
        t.equal(s.call_event()["escalationResult"], "approved",
                "it was held")
        t.equal([(e["path"], e["writable"]) for e in s.events("instance")
                 if e["state"] == "asked"],
                [(w + "/d/mine", True), (s.out + "/got", True)],
                "audit: the instance was given the two names")
        t.equal(move(s.out + "/got", "d/back")[0], False,
                "into the workspace: approved")
        t.equal((get(w + "/d/back"), os.path.exists(s.out + "/got")),
                ("of the agent", False), "and moved")
        t.equal(move(other + "/x", s.out + "/x")[0], False,
                "between two places outside: approved")
        t.equal((get(s.out + "/x"), os.listdir(other)), ("elsewhere", []),
                "and moved")
        t.contains(refused(s.out + "/x", "d/back"),
                   "/workspace/d/back exists already", "never over a file")
        t.contains(refused("d/back", s.out + "/x"),
                   s.out + "/x exists already", "on either side")
        t.equal(s.pending(), [], "and nobody is asked")

        def link():
            os.unlink(w + "/d/back")
            os.symlink(secret, w + "/d/back")
        r = move("d/back", s.out + "/y", link)
        t.ok(r[0] and not os.path.lexists(s.out + "/y"),
             "the source became a link: refused", r)
        os.unlink(w + "/d/back")
        h.put(w + "/d/back", "again")

        def directory():
            os.rename(w + "/d", w + "/was")
            os.symlink(os.path.dirname(secret), w + "/d")
        r = move("d/back", s.out + "/y", directory)
        t.ok(r[0] and not os.path.lexists(s.out + "/y"),
             "or its directory: refused", r)
        os.unlink(w + "/d")
        os.rename(w + "/was", w + "/d")
        r = move(s.out + "/x", "d/new", lambda: h.put(w + "/d/new", "mine"))
        t.ok(r[0] and (get(w + "/d/new"), get(s.out + "/x")) ==
             ("mine", "elsewhere"), "a destination that came since: refused",
             r)
        t.equal(get(secret), "SECRET", "nothing else was touched")
        raced(s, move, secret)
        s.quiet()


def raced(s, move, secret):
    """The agent exchanges what it moves with a link, from the question on."""
    w = s.workspace
    os.makedirs(w + "/r")
    libc = ctypes.CDLL(None)

    def exchange(stop):
        a, b = f"{w}/r/a".encode(), f"{w}/r/b".encode()
        while not stop.is_set():
            libc.renameat2(-100, a, -100, b, 2)
    for i in range(4):
        for name in os.listdir(w + "/r"):
            os.unlink(f"{w}/r/{name}")
        h.put(w + "/r/a", "of the agent")
        os.symlink(secret, w + "/r/b")
        stop = threading.Event()
        thread = threading.Thread(target=exchange, args=(stop,))
        try:
            move("r/a", f"{s.out}/raced{i}", thread.start)
        finally:
            stop.set()
            thread.join()
    t.equal([n for n in os.listdir(s.out) if n.startswith("raced") and
             (os.path.islink(f"{s.out}/{n}") or
              get(f"{s.out}/{n}") != "of the agent")], [],
            "raced: nothing else is moved")
    t.equal(get(secret), "SECRET", "raced: nor is what the link leads to")


def guarded(s, fs):
    """Paths that no approval can give."""
    for path, what in ((s.user_home, "the home directory"),
                       (s.work, "what holds the workspace")):
        r = s.approved(fs + "list_directory", {"path": path})
        t.ok(r[0] and "refused, because it" in r[1], f"{what}: refused", r)
        t.equal(s.call_event()["policyDecision"]["rule"], "instance-failed",
                "audit: by which rule")
    r = s.approved(fs + "write_file", {"path": s.user_home + "/x",
                                       "content": ""})
    t.ok(r[0] and "home directory" in r[1] and not os.path.exists(
        s.user_home + "/x"), "a name in the home directory: refused", r)
    r = h.outcome(s.client.call(fs + "list_directory", {"path": s.home}))
    t.ok(r[0] and "protected path" in r[1], "our own directory: denied", r)
    r = h.outcome(s.client.call(fs + "read_text_file",
                           {"path": s.home + "/config.json"}))
    t.ok(r[0] and "protected path" in r[1], "protected stays denied", r)


def swaps(work):
    """An object that is exchanged between the question and the answer is not
    given."""
    with Rig(work, {"filesystem": {"command": "icfs",
                                   "args": ["/workspace"]}}) as s:
        secret = h.put(os.path.join(work, "away/secret"), "SECRET")
        a, fs = s.out + "/a", "filesystem__"

        def link():
            os.unlink(a)
            os.symlink(secret, a)

        def rename():
            os.rename(h.put(s.out + "/other", "OTHER"), a)

        def hard():
            os.unlink(a)
            os.link(secret, a)

        def another_name():
            os.link(a, s.out + "/second")

        def directory():
            os.rename(s.out, s.out + ".was")
            os.symlink(os.path.dirname(secret), s.out)

        def made():
            os.symlink(secret, s.out + "/new")

        def undo():
            if os.path.islink(s.out):
                os.unlink(s.out)
                os.rename(s.out + ".was", s.out)
            for n in os.listdir(s.out):
                os.unlink(f"{s.out}/{n}")

        for tool, swap, name in (
                ("read_text_file", link, "a link"),
                ("read_text_file", rename, "another file"),
                ("read_text_file", hard, "a hard link"),
                ("read_text_file", directory, "its directory"),
                ("write_file", another_name, "a second name"),
                ("write_file", link, "a link to be written"),
                ("write_file", made, "a link where nothing was")):
            h.put(a, "HARMLESS")
            args = {"path": s.out + "/new" if swap is made else a}
            if tool == "write_file":
                args["content"] = "OVERWRITTEN"
            r = s.approved(fs + tool, args, swap)
            t.ok(r[0] and r[1].startswith("ESCALATION CHANGED"),
                 f"{name}: refused as changed", r)
            t.ok(s.said.returncode != 0 and "changed" in s.said.stderr,
                 f"{name}: icctl says so", s.said)
            t.equal((get(secret), s.call_event()["escalationResult"]),
                    ("SECRET", "changed"), f"{name}: nothing happened")
            undo()
        race(s, fs, a, secret)


def race(s, fs, a, secret):
    """The object is exchanged as fast as possible while the call is approved
    and the instance starts."""
    swapped = 0
    h.put(a, "HARMLESS")
    os.symlink(secret, s.out + "/l")

    def swapper(stop):
        nonlocal swapped
        while not stop.is_set():
            os.rename(a, s.out + "/t")
            os.rename(s.out + "/l", a)
            os.rename(a, s.out + "/l")
            os.rename(s.out + "/t", a)
            swapped += 1
            # Some of the calls must succeed.
            stop.wait(0.0005 * (swapped % 5))

    answers = []
    # A fast machine serves twelve calls in less than a hundred exchanges.
    while swapped <= 100 and len(answers) < 240:
        waiting = [s.begin(fs + "read_text_file", {"path": a})
                   for _ in range(12)]
        stop = threading.Event()
        thread = threading.Thread(target=swapper, args=[stop])
        thread.start()
        for call, hold in waiting:
            s.icctl("approve", hold["id"])
            answers.append(h.outcome(call.wait(30)))
        stop.set()
        thread.join()
    t.ok(not any("SECRET" in r[1] for r in answers) and swapped > 100,
         "exchanged all the time: never the other one", (swapped, answers))
    diag(f"{sum(not r[0] for r in answers)} of {len(answers)} were served, "
           f"{swapped} exchanges")


def limits(s, fs, a):
    """Twelve calls at a time: eight run, the others wait their turn."""
    waiting = [s.begin(fs + "read_text_file", {"path": a}) for _ in range(12)]
    for _, hold in waiting:
        s.icctl("approve", hold["id"])
    t.equal({h.outcome(call.wait(30)) for call, _ in waiting}, {(False, "uno")},
            "twelve at once: all are served")
    s.quiet()


def processes(pid):
    """Returns pid and all processes below it, by the parents that they name: a
    list of children that changes while it is read may be incomplete."""
    parent = {}
    for p in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError, IndexError):
            state, up = get(f"/proc/{p}/stat").rsplit(")", 1)[1].split()[:2]
            if state not in "ZX":
                parent[int(p)] = int(up)
    found_ = {pid}
    while True:
        more = {p for p, up in parent.items() if up in found_} - found_
        if not more:
            return sorted(found_)
        found_ |= more


def resources(s):
    """Returns the counts of processes, descriptors and mounts of ours: the
    machine may have others, which come and go."""
    workers = json.loads(s.icctl("--json", "status").stdout)["workers"]
    # The processes are not dumpable: only root may look.
    pids = [s.pid] + [w["pid"] for w in workers] if os.geteuid() == 0 else []
    return {"processes": len(processes(s.pid)),
            "mounts": get("/proc/self/mountinfo").count(s.work),
            "workers": [w["name"] for w in workers],
            "descriptors": [len(os.listdir(f"/proc/{p}/fd")) for p in pids]}


def left(s, fs):
    """Twenty calls in a row leave nothing behind."""
    s.quiet()
    took, before = [], resources(s)
    while resources(s) != before:
        before = resources(s)
    for i in range(20):
        # Use another path each time: the same call too often is refused.
        a = h.put(f"{s.out}/n{i}", str(i))
        waiting, hold = s.begin(fs + "read_text_file", {"path": a})
        start = time.monotonic()
        s.icctl("approve", hold["id"])
        r = h.outcome(waiting.wait(30))
        took.append(time.monotonic() - start)
        if r != (False, str(i)):
            t.ok(False, "one of twenty", r)
    s.quiet()
    # The end of the last call is reported before the kernel has cleaned up.
    with contextlib.suppress(TimeoutError):
        h.wait_for(lambda: resources(s) == before, "the same as before", 20)
    t.equal(resources(s), before, "twenty in a row: nothing is left")
    ended = [e["id"] for e in s.events("instance") if e["state"] == "ended"]
    begun = {e["id"] for e in s.events("instance") if e["state"] == "asked"}
    t.equal(sorted(ended), sorted(begun), "audit: each ended, once")
    took.sort()
    diag(f"approve to answer: median {took[10] * 1000:.0f} ms, "
           f"slowest {took[-1] * 1000:.0f} ms")
    t.ok(took[10] < 3, "and takes no time to speak of", took)


def hostile(work):
    """A server that takes everything it can get, as a second instance."""
    denied = os.path.join(work, "out/denied")
    server = probe("look")
    server["sandbox"]["filesystem"]["denyRead"] = [denied]
    with Rig(work, {"probe": server}) as s:
        a = h.put(s.out + "/a", "approved")
        h.put(s.out + "/sibling", "SIBLING")
        h.put(s.workspace + "/w", "inside")
        seen = found(s.approved("probe__look", {"path": "/workspace/w"}))
        t.equal((seen["alone"], seen["workspace"]), (False, ["w"]),
                "the server itself sees the workspace")
        seen = found(s.approved("probe__look", {"path": a}))
        t.equal((seen["alone"], seen["it"]), (True, "approved"),
                "its instance sees the approved file")
        t.equal((seen["beside"], seen["sibling"]),
                (["a"], "FileNotFoundError"), "and no sibling")
        t.equal(seen["workspace"], "FileNotFoundError", "no workspace")
        t.equal((seen["write"], get(a)), ("OSError", "approved"),
                "and cannot write what was approved for reading")
        t.equal(seen["argv"], [s.out],
                "its argument /workspace became the file's directory")
        t.equal(seen["net"], 1, "nor has it a network: lo")
        t.ok("home" not in seen["above"], "nothing of what is above", seen)
        seen = found(s.approved("probe__change", {"path": a}))
        t.equal((seen["write"], get(a)), (7, "approvedchanged"),
                "approved for writing, it can write it")
        seen = found(s.approved("probe__look", {"path": s.out}))
        t.equal(seen["it"], ["a", "sibling"], "a directory, approved itself")
        r = s.approved("probe__look", {"path": h.put(denied + "/x", "DENIED")})
        t.ok(r[0] and "refused by denyRead" in r[1],
             "what denyRead names stays denied", r)
        r = s.approved("probe__change", {"path": s.out + "/new"})
        t.ok(r[0] and "only icfs can" in r[1],
             "a name to be made: refused with the reason", r)


def allowed(work):
    """A rule allows the call, and there is no mount for it: no approval is
    needed."""
    rules = [h.rule("free", "allow", "Reading is free.", server=["probe"],
                    roles=["read-path"])]
    with Rig(work, {"probe": probe("look")}, rules) as s:
        a = h.put(s.out + "/a", "allowed")
        h.put(s.out + "/sibling", "SIBLING")
        seen = found(h.outcome(s.client.call("probe__look", {"path": a})))
        t.equal((seen["alone"], seen["it"], seen["sibling"]),
                (True, "allowed", "FileNotFoundError"),
                "allowed without a mount: alone, without being asked for")
        c = s.call_event()
        t.ok(c["policyDecision"]["status"] == "allow" and
             "escalationResult" not in c and c["instance"] >= 32,
             "audit: allowed by its rule", c)


def bad(work, how):
    with Rig(work, {"probe": probe(how)}) as s:
        a = h.put(s.out + "/a", "x")
        t0 = time.monotonic()
        r = s.approved("probe__look", {"path": a})
        took = time.monotonic() - t0
        s.quiet()
        s.stop()
        return r, took, s.call_event(), s.states()


def mute(work):
    r, took, c, states = bad(work, "mute")
    t.ok(r[0] and "not ready within 10 s" in r[1] and "tried again" in r[1],
         "mute: refused, and may be tried again", r)
    t.ok(9.5 < took < 25, "mute: after ten seconds", took)
    t.equal((c["policyDecision"]["rule"], states[-1]),
            ("instance-failed", "ended"), "mute: nothing is left")


def dies(work):
    r, _, c, states = bad(work, "die")
    t.ok(r[0] and "ended" in r[1] and r[1].startswith("DENIED"),
         "dies at once: refused", r)
    t.equal((c["policyDecision"]["rule"], states[-1]),
            ("instance-failed", "ended"), "dies at once: nothing is left")


def drops(work):
    r, _, c, states = bad(work, "drop")
    t.ok(r[0] and "may or may not have taken effect" in r[1] and
         "for this call only" in r[1], "dies in the call: said so", r)
    t.equal((c["escalationResult"], states[-1]), ("approved", "ended"),
            "dies in the call: nothing is left")


def stays(work):
    r, _, _, states = bad(work, "stay")
    t.equal((r[0], states[-1]), (False, "ended"),
            "it ignores the end of its input: it is killed")


def hangs(work):
    """A call is cancelled while it runs; then its mcp-backd is killed."""
    with Rig(work, {"probe": probe("hang")}) as s:
        a = h.put(s.out + "/a", "x")
        waiting, hold = s.begin("probe__look", {"path": a})
        s.icctl("approve", hold["id"])
        h.wait_for(lambda: any("instance" in c for c in s.events("call")),
                   "not called")
        status = json.loads(s.icctl("--json", "status").stdout)
        t.equal([(i["server"], i["state"], i["paths"])
                 for i in status["instances"]], [("probe", "running", [a])],
                "icctl status shows it")
        t.ok("servers that run for one call" in s.icctl("status").stdout,
             "also to people")
        confined(status)
        s.client.cancel(waiting)
        s.quiet()
        t.equal(s.events("result")[-1]["status"], "cancelled",
                "cancelled: it is ended")
        waiting, hold = s.begin("probe__look", {"path": a})
        s.icctl("approve", hold["id"])
        h.wait_for(lambda: len([c for c in s.events("call")
                                if "instance" in c]) == 2, "not called")
        pid = [w["pid"] for w in json.loads(s.icctl(
            "--json", "status").stdout)["workers"] if "/" in w["name"]][0]
        below = processes(s.pid)
        h.kill(pid)
        t.equal(s.wait(10), 70, "its mcp-backd is killed: the session ends")
        h.wait_for(lambda: not any(map(h.alive, below)), "something lives")
        end = s.events("workerEnd")
        t.ok(len(end) == 1 and "probe/" in end[0]["detail"]["worker"] and
             s.audit()[-1]["event"] == "stop", "audit: which one, and why",
             end)


def confined(status):
    """The mcp-backd of a running instance is as confined as the first one."""
    backs = [w for w in status["workers"]
             if w["name"].startswith("mcp-backd")]
    t.equal([w["name"] for w in backs], ["mcp-backd probe",
                                         "mcp-backd probe/32"],
            "it has an mcp-backd of its own")
    t.equal(backs[1]["confinement"], backs[0]["confinement"],
            "which says the same of its confinement")
    if h.sanitized():
        return
    def facts(pid):
        lines = dict(x.split(":\t", 1) for x in
                     get(f"/proc/{pid}/status").splitlines() if ":\t" in x)
        return {k: lines[k] for k in
                ("Seccomp", "Seccomp_filters", "NoNewPrivs", "CapEff",
                 "CapBnd", "CapPrm")}
    first, second = facts(backs[0]["pid"]), facts(backs[1]["pid"])
    t.equal(second, first, "and so does the kernel")
    t.equal((second["Seccomp"], second["NoNewPrivs"],
             int(second["CapBnd"], 16)), ("2", "1", 0),
            "filter, no_new_privs, no capability")


def denied(work):
    """An approved directory is given without the objects that deny rules
    withhold."""
    out = os.path.join(work, "out")
    for name in ("kept/secret", "kept/deep/secret", "real/secret", "open/x",
                 "fixed/text"):
        h.put(os.path.join(out, name), "SECRET " + name)
    os.symlink("real", os.path.join(out, "link"))
    h.put(os.path.join(out, "lone"), "SECRET lone")
    both = ["read-path", "write-path", "delete-path"]

    def no(n, path, roles=both, **kw):
        return h.rule(f"no-{n}", "deny", "Never.", paths={
            "roles": roles, "within": os.path.join(out, path)}, **kw)
    rules = [no(1, "kept"), no(2, "link"), no(3, "lone"),
             no(4, "fixed", both[1:]), no(5, "open", server=["other"]),
             h.rule("ask", "escalate", "It is outside.",
                    server=["probe", "filesystem"])]
    with Rig(work, {"probe": probe("all"), "filesystem": {
            "command": "icfs", "args": ["/workspace"]}}, rules) as s:
        r = s.approved("probe__look", {"path": out})
        seen = found(r)["below"]
        t.equal({k: v for k, v in seen["texts"].items() if v},
                {"lone": "PermissionError", "open/x": "SECRET open/x",
                 "fixed/text": "SECRET fixed/text"},
                "an approved directory holds nothing that a deny rule keeps "
                "back")
        r = s.approved("filesystem__list_directory", {"path": out})
        t.ok(not r[0] and "open" in r[1], "icfs lists what is left", r)
        r = s.client.call("filesystem__read_text_file",
                          {"path": out + "/kept/secret"})
        t.ok(h.outcome(r)[0] and "no-1" not in s.said.stdout,
             "the rule itself decides about the part alone", r)
        t.equal(s.call_event()["policyDecision"]["rule"], "no-1",
                "which it denies")
        r = s.approved("probe__change", {"path": out})
        t.ok(r[0] and 'rule "no-2" denies cannot be kept out' in r[1],
             "a link could be another one, where all may be written", r)
        os.unlink(out + "/link")
        h.put(out + "/link/secret", "SECRET link")
        seen = found(s.approved("probe__change", {"path": out}))["below"]
        t.ok("open" in seen["taking"] and "fixed" not in seen["taking"] and
             not [n for n in os.listdir(out + "/kept") if n != "deep"
                  and n != "secret"],
             "what may not be written is not", seen)
        t.ok("fixed/text" in seen["texts"], "though it can be read", seen)
        t.ok("SECRET link" not in json.dumps(seen), "nor what is there now",
             seen)


def reference(work):
    """The reference filesystem server, started for one call."""
    if not os.path.exists(REFERENCE):
        t.skip("reference server", "it is not installed (./dev test agents)")
        return
    with Rig(work, {"filesystem": {"command": "node", "args": [
            REFERENCE, "/workspace"]}},
             env={"PATH": os.environ.get("PATH", "/usr/bin:/bin")}) as s:
        a, fs = h.put(s.out + "/a", "by reference"), "filesystem__"
        h.put(s.out + "/sibling", "SIBLING")
        start = time.monotonic()
        t.equal(s.approved(fs + "read_text_file", {"path": a})[1],
                "by reference", "reference server: a file is read")
        diag(f"reference server: {time.monotonic() - start:.2f} s")
        t.equal(s.approved(fs + "list_directory", {"path": s.out})[1],
                "[FILE] a\n[FILE] sibling",
                "reference server: a directory is listed")
        r = s.approved(fs + "write_file", {"path": s.out + "/new",
                                           "content": "x"})
        t.ok(r[0] and "only icfs can" in r[1],
             "reference server: a new file is refused with the reason", r)


def main():
    with h.workdir() as work:
        cases = (icfs, moves, swaps, hostile, allowed, dies, drops, stays, hangs,
                 denied, reference)
        slow = threading.Thread(target=run, args=(work, mute))
        slow.start()
        for case in cases:
            run(work, case)
        slow.join()
    t.done()


def run(work, case):
    name = case.__name__
    place = os.path.join(work, f"{name}-{secrets.token_hex(2)}")
    os.makedirs(place, mode=0o700)
    with t.case(name):
        case(place)


if __name__ == "__main__":
    main()
