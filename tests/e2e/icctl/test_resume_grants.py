#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Approvals of more than one call over the runs of a session: they come back
from the log alone, only if a person says so, and only for the same tool, rule
and directory."""
import json
import os
import shutil
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
from lives import Life  # noqa: E402
from terminal import Terminal  # noqa: E402

t = h.Tap()
ASK = h.rule("ask", "escalate", "A person decides.", server=["echo"])
TOOLS = {"echo": {**h.ECHO_TOOLS, "peek": {"path": ["read-path"]}}}
QUESTION = rb"hall (them|it) apply again\?|Which of them shall apply again\?"


class Granted(Life):
    """A session in which directories, and arguments, are approved."""

    def __init__(self, work):
        self.work = work
        self.docs = os.path.join(work, "user", "docs")
        for name in ("a/one", "a/two", "b/three", "b/four"):
            h.put(os.path.join(self.docs, name), name)
        self.m = None
        super().__init__(work, servers=self.servers(), rules=[ASK],
                         annotations=TOOLS)
        self.connect()

    def servers(self, *more):
        plain = {"command": h.PYTHON, "args": [
            os.path.join(h.STANDINS, "mcp_echo.py"), "--log",
            "/workspace/log.jsonl", "--closed"],
            "sandbox": {"filesystem": {"allowRead": [h.STANDINS]}}}
        return {"plain": plain, "echo": h.echo_server(
            os.path.join(self.work, "log", "log.jsonl"), "--alias",
            "peek=lookup", *more,
            sandbox={"filesystem": {"allowRead": [self.docs]}})}

    def connect(self):
        self.m = h.Mcp(path=self.path("sockets/proxy.sock"))
        self.m.initialize()
        self.m.list_tools()

    def __exit__(self, *_):
        if self.m:
            self.m.close()
        super().__exit__()

    def on(self, *args):
        """Returns what icctl says about this session."""
        return self.icctl("--session", self.id, *args)

    def pending(self):
        return json.loads(self.on("--json", "pending").stdout)["holds"]

    def asked(self, tool, approve=None, server="echo", **arguments):
        """Returns true if the call is held; it is denied then, or approved with
        this option."""
        call = self.m.start_call(f"{server}__{tool}", arguments)
        h.wait_for(lambda: call.done.is_set() or self.pending(), "an end")
        if call.done.is_set():
            return False
        ident = self.pending()[0]["id"]
        r = self.on("approve", ident, *approve.split()) if approve else \
            self.on("deny", ident)
        if r.returncode != 0:
            raise RuntimeError(r.stderr)
        call.wait()
        return True

    def grant(self, name):
        self.asked("lookup", "--for-session",
                   path=os.path.join(self.docs, name))

    def asks(self, name, tool="lookup"):
        return self.asked(tool, path=os.path.join(self.docs, name))

    def granted(self):
        return [g["description"].rsplit("/", 1)[1] for g in json.loads(
            self.on("--json", "grants").stdout)["granted"]]

    def again(self, *args, answer=None):
        """Resume; with an answer on a terminal. Returns the output."""
        if answer is None:
            r = self.resume(*args)
            if r.returncode != 0:
                raise RuntimeError(r.stderr)
            self.connect()
            return r.stderr
        term = Terminal([h.program("icctl"), "resume", self.id, *args],
                        {**self.s.env, "TERM": "xterm"})
        out = term.until(QUESTION)
        term.key(answer)
        h.wait_for(lambda: self.on("--json", "status").returncode == 0,
                   "the session does not go on")
        self.pid = json.loads(self.on("--json", "status").stdout)["pid"]
        while term.read(1):
            pass
        out += term.out
        term.end()
        self.connect()
        return out.decode()

    def stop(self):
        if self.m:
            self.m.close()
            self.m = None
        super().stop()

    def kill(self):
        self.m.close()
        self.m = None
        super().kill()

    def last(self, event):
        return [x for x in self.records() if x["event"] == event][-1]


def test_confirmed(work):
    """Shown on a terminal, confirmed in part, and again after a crash."""
    with Granted(work) as k:
        k.grant("a/one")
        k.grant("b/three")
        k.asked("echo", "--exact", text="this")
        made = [x for x in k.records() if x["event"] == "grant"]
        t.equal([x["state"] for x in made], ["made"] * 3, "three are recorded")
        st = os.stat(os.path.join(k.docs, "a"))
        t.equal([(x["dev"], x["ino"]) for x in made[0]["bound"]["limits"]],
                [(str(st.st_dev), str(st.st_ino))], "with their objects")
        t.equal((made[0]["bound"]["server"], made[0]["bound"]["tool"],
                 made[0]["bound"]["rule"]), ("echo", "lookup", "ask"),
                "tool and rule")
        k.stop()
        out = k.again(answer=b"yes\r1 3\r")
        t.contains(out, "Type all, or numbers", "an unclear answer is none")
        for text in ("1  Allow echo/lookup within " + k.docs + "/a",
                     "2  Allow echo/lookup within " + k.docs + "/b",
                     "3  Allow echo/echo with exactly these"):
            t.contains(out, text, "it is shown")
        t.contains(out, "nobody confirmed it", "the one that was left out, too")
        t.ok(not k.asks("a/two"), "a confirmed one applies")
        t.ok(not k.asked("echo", text="this"), "so do these arguments")
        t.ok(k.asked("echo", text="that"), "and no others")
        t.ok(k.asks("b/four"), "one that was not confirmed does not")
        t.ok(k.asks("a/two", "peek"), "nor another tool")
        kept = [x for x in k.records()
                if x["event"] == "grant" and x["state"] == "kept"]
        used = [x for x in k.records() if x["event"] == "call"
                and x.get("whitelistApproved")]
        t.equal(len(kept), 2, "both are recorded before they apply")
        t.ok(kept[0]["seq"] < used[0]["seq"] and used[0]["whitelistPatternId"]
             in [x["id"] for x in kept], "and calls name them", used)
        t.equal(k.last("grantDropped")["detail"]["reason"],
                "nobody confirmed it", "the other one has ended")
        # A crash and another run: what was confirmed comes up again.
        k.kill()
        out = k.again("--after-crash", answer=b"all\r")
        t.ok(k.docs + "/a" in out and k.docs + "/b" not in out,
             "after a crash: those", out)
        t.ok(not k.asks("a/one"), "it applies in a third run")
        r = k.on("revoke", json.loads(k.on("--json", "grants").stdout)
                 ["granted"][0]["id"])
        t.equal(r.returncode, 0, "it can be revoked")
        t.ok(k.asks("a/one"), "and ends")
        k.kill()
        out = k.again("--after-crash", answer=b"all of it\rYes\r")
        t.ok("Shall it apply again?" in out and "Type y" in out and
             k.docs not in out, "a single one takes a yes", out)
        t.ok(k.asks("a/one"), "a revoked one never comes back")
        t.ok(not k.asked("echo", text="this"), "the last one does")


def test_nobody(work):
    """Without a terminal none is kept, unless --keep-grants is given."""
    with Granted(work) as k:
        k.grant("a/one")
        k.stop()
        said = k.again()
        t.contains(said, "--keep-grants", "without a person they end")
        t.equal(k.granted(), [], "and none is there")
        t.ok(k.asks("a/two"), "a call asks")
        k.grant("a/one")
        k.asked("echo", "--times 3", "plain", text="word")
        t.ok(not k.asked("echo", server="plain", text="other"),
             "a counted one applies")
        k.stop()
        k.again("--keep-grants")
        t.ok(not k.asks("a/two"), "--keep-grants keeps recent ones")
        t.ok(k.asked("echo", server="plain", text="third"),
             "but never a counted one")
        # A file that says otherwise is not asked.
        k.stop()
        with open(k.path("session.json"), encoding="utf-8") as f:
            whole = json.load(f)
        t.ok("grants" not in whole, "session.json names none", whole)
        # icsupervisor compares the digest itself.
        r = subprocess.run(
            [h.program("icctl"), "resume", k.id, "--keep-grant", "1:0"],
            env=k.s.env, stdin=subprocess.DEVNULL, capture_output=True,
            text=True, check=False)
        t.equal(r.returncode, 64, "people cannot name one that was not shown")


def dropped(k, why, what):
    """Resume with everything confirmed; returns after the refusal."""
    k.again("--keep-grants")
    h.wait_for(lambda: k.last("grant")["state"] == "ended", "none has ended")
    t.contains(k.last("grant")["reason"], why, what)
    t.equal(k.granted(), [], f"{what}: none is left")


def test_judged(work):
    """Changed tools and directories are not covered."""
    with Granted(work) as k:
        a = os.path.join(k.docs, "a")
        k.grant("a/one")
        k.stop()
        os.rename(a, a + ".away")
        shutil.copytree(a + ".away", a)
        dropped(k, "not the one that was approved", "another directory")
        t.ok(k.asks("a/one"), "calls ask")
        k.grant("a/one")
        k.stop()
        os.rename(a, a + ".copy")
        os.symlink(a + ".copy", a)
        dropped(k, "not the one that was approved", "a link in its place")
        os.unlink(a)
        os.rename(a + ".copy", a)
        k.grant("a/one")
        k.stop()
        k.s.policy([{**ASK, "if": {"server": ["echo"], "tool": [
            "lookup", "peek", "echo"]}}], TOOLS)
        dropped(k, "the rule that asked", "a rule with other conditions")
        k.grant("a/one")
        k.stop()
        k.s.write("mcp-servers.json", {"filesystem": False, **k.servers(
            "--alias", "more=echo")})
        dropped(k, "in quarantine", "a server with another command")
        k.stop()
        k.s.write("mcp-servers.json", {"filesystem": False, **k.servers()})
        k.again()
        k.grant("a/one")
        k.stop()
        k.s.write("mcp-servers.json", {"filesystem": False})
        dropped(k, "no such server", "a server that is gone")


def test_state(work):
    """The records of a run's start and end name them; others are no way in."""
    with Granted(work) as k:
        k.grant("a/one")
        t.equal(k.last("state")["detail"]["grants"], [], "none at the start")
        k.stop()
        end = k.last("state")["detail"]["grants"]
        t.equal([(x["forSession"]["rule"], "bound" in x) for x in end],
                [("ask", True)], "the state at the end names it")
        t.ok(abs(end[0]["made"] - time.time()) < 600, "with its time", end)
        # One that somebody adds breaks the chain.
        with open(k.path("audit.jsonl"), encoding="utf-8") as f:
            lines = f.read().splitlines()
        at = next(i for i, x in enumerate(lines) if '"state":"made"' in x)
        good = "\n".join(lines) + "\n"
        lines[at] = lines[at].replace(k.docs + "/a", k.docs)
        checkpoint = k.path("audit.checkpoint")
        if os.path.exists(checkpoint):
            os.unlink(checkpoint)
        h.put(k.path("audit.jsonl"), "\n".join(lines) + "\n", 0o600)
        r = k.resume("--keep-grants")
        t.ok(r.returncode != 0 and "audit.jsonl line" in r.stderr,
             "a changed record is noticed", r.stderr)
        h.put(k.path("audit.jsonl"), good, 0o600)


def main():
    if not shutil.which("bwrap"):
        t.skip("resume", "bubblewrap is not installed")
        t.done()
    for test in (test_confirmed, test_nobody, test_judged, test_state):
        with h.workdir() as work, t.case(test.__name__):
            test(work)
    t.done()


if __name__ == "__main__":
    main()
