#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Tests `icctl approve --for-session`: the grant is shown first and allows
only what it shows, not the sibling, the parent, another tool, another role or
another domain; and nothing if nothing narrow can be shown."""
import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
from terminal import Terminal  # noqa: E402

t = h.Tap()
ASK = h.rule("ask", "escalate", "A person decides.", server=["echo"])
TOOLS = {"echo": {
    **h.ECHO_TOOLS, "peek": {"path": ["read-path"]},
    "put": {"path": ["write-path"]},
    "get": {"text": ["fetch-url"]}}}


class Bench:
    def __init__(self, work, rules=None, network=None):
        self.user = os.path.join(work, "user")
        self.docs = os.path.join(self.user, "docs")
        for name in ("a/one", "a/two", "a/sub/three", "b/four", "top"):
            h.put(os.path.join(self.docs, name), name)
        h.put(os.path.join(self.user, "letter"), "letter")
        os.symlink("../b", os.path.join(self.docs, "a", "out"))
        sandbox = {"filesystem": {"allowRead": [self.docs]}}
        if network:
            sandbox["network"] = {"allowedDomains": network}
        servers = {"echo": h.echo_server(
            os.path.join(work, "log", "log.jsonl"), "--alias", "peek=lookup",
            "--alias", "put=lookup",
            "--alias", "get=echo", sandbox=sandbox)}
        self.s = h.Session(work, servers, rules or [ASK], TOOLS)

    def __enter__(self):
        self.s.start()
        self.m = self.s.client()
        return self

    def __exit__(self, *_):
        self.m.close()
        self.s.stop()

    def path(self, *names):
        return os.path.join(self.docs, *names)

    def hold(self, tool, **arguments):
        """Makes a call. Returns it with its hold, or None if it was refused at
        once."""
        known = {x["id"] for x in self.s.pending()}
        call = self.m.start_call("echo__" + tool, arguments)
        new = h.wait_for(lambda: [
            x for x in self.s.pending() if x["id"] not in known] or
            call.done.is_set(), f"{tool} {arguments} is held")
        return call, None if new is True else new[0]

    def asked(self, tool, **arguments):
        """Returns true if the call is held; it is denied then."""
        call = self.m.start_call("echo__" + tool, arguments)
        h.wait_for(lambda: call.done.is_set() or self.s.pending(), "an end")
        if call.done.is_set():
            return False
        self.s.icctl("deny", self.s.pending()[0]["id"], check=True)
        call.wait()
        return True


def shown(b):
    call, hold = b.hold("lookup", path=b.path("a", "one"))
    want = [{"kind": "directory", "role": "read-path",
             "value": os.path.realpath(b.path("a"))}]
    t.equal(hold["forSession"]["constraints"], want,
            "a held call says what could be granted")
    t.equal(hold["forSession"]["rule"], "ask", "and by which rule it asks")
    text = b.s.icctl("show", hold["id"]).stdout
    t.ok("--for-session" in text and f"within {want[0]['value']}" in text,
         "icctl show, too", text)
    # A grant that is not shown is not made.
    r = b.s.icctl("approve", hold["id"], "--for-session", "--really")
    t.equal(r.returncode, 64, "options that are unknown grant nothing")
    r = b.s.icctl("approve", hold["id"], "--for-session")
    t.ok(r.returncode == 0 and r.stdout.index("within " + want[0]["value"]) <
         r.stdout.index("approved "), "approve --for-session shows it first",
         r.stdout + r.stderr)
    t.equal(h.text_of(call.wait()), "a/one", "the call goes out")
    e = b.s.events("hold")[-1]
    t.equal(e["forSession"]["constraints"], want, "the log: what was shown")
    t.equal(b.s.events("verdict")[-1]["forSession"], True, "the verdict")
    e = b.s.events("call")[-1]
    t.ok(e["forSession"] and e["escalationResult"] == "approved",
         "the grant", e)
    return e["id"]


def only_that(b, grant):
    for name, path in (("the same file", ("a", "one")),
                       ("another file there", ("a", "two")),
                       ("one below", ("a", "sub", "three"))):
        r = b.m.call("echo__lookup", {"path": b.path(*path)})
        t.equal(h.text_of(r), "/".join(path), name)
    e = b.s.events("call")[-1]
    t.equal((e["policyDecision"]["status"], e["policyDecision"]["rule"],
             e["whitelistApproved"], e["whitelistPatternId"]),
            ("allow", "ask", True, grant), "the log names the grant")
    t.equal(e["policyDecision"]["reason"], "Whitelist-approved: Allow "
            f"echo/lookup within {os.path.realpath(b.path('a'))}",
            "and its description")
    for name, tool, arguments in (
            ("a sibling", "lookup", {"path": b.path("b", "four")}),
            ("the parent", "lookup", {"path": b.path("top")}),
            ("the directory above, by ..", "lookup",
             {"path": b.path("a", "..", "top")}),
            ("a sibling by a link", "lookup",
             {"path": b.path("a", "out", "four")}),
            ("a name that begins so", "lookup", {"path": b.path("a") + "b"}),
            ("another tool", "peek", {"path": b.path("a", "one")}),
            ("another tool and role", "put", {"path": b.path("a", "one")}),
            ("no path at all", "echo", {"text": "x"})):
        t.ok(b.asked(tool, **arguments), f"{name} is asked for still")
    status = b.s.icctl("status").stdout
    t.ok("Allow echo/lookup within" in status, "status shows it", status)


def not_to_be_had(b):
    for name, tool, arguments in (
            ("a file in the home directory", "lookup",
             {"path": os.path.join(b.user, "letter")}),
            ("the home directory", "lookup", {"path": b.user}),
            ("a file in /", "lookup", {"path": "/nowhere"})):
        call, hold = b.hold(tool, **arguments)
        if hold is None and tool == "lookup":
            t.ok(call.wait()["isError"], f"{name}: refused")
            continue
        t.ok("forSession" not in hold, f"{name}: nothing is offered", hold)
        r = b.s.icctl("approve", hold["id"], "--for-session")
        t.ok(r.returncode == 1 and "cannot be allowed" in r.stderr,
             f"{name}: and nothing is to be had", r.stdout + r.stderr)
        t.ok(not call.done.is_set(), "the call waits on")
        b.s.icctl("deny", hold["id"], check=True)
        call.wait()


def directory(work):
    with Bench(work) as b:
        grant = shown(b)
        only_that(b, grant)
        not_to_be_had(b)
        # The grant survives a reload if the same rule asks, and only then.
        b.s.icctl("policy", "reload", check=True)
        t.ok(not b.asked("lookup", path=b.path("a", "two")),
             "after a reload it is granted still")
        b.s.policy([{**ASK, "name": "secrets"}], TOOLS)
        b.s.icctl("policy", "reload", check=True)
        t.ok(b.asked("lookup", path=b.path("a", "two")),
             "another rule that asks is not answered by it")
        b.s.policy([h.rule("never", "deny")], TOOLS)
        b.s.icctl("policy", "reload", check=True)
        r = b.m.call("echo__lookup", {"path": b.path("a", "two")})
        t.ok(r["isError"], "and a denial least of all", r)


def control(s, request):
    import socket
    with socket.socket(socket.AF_UNIX) as c:
        c.connect(s.ready["control"])
        c.sendall(json.dumps(request).encode() + b"\n")
        with c.makefile("rb") as f:
            return json.loads(f.readline())


def others_wait(work):
    with Bench(work) as b:
        first, hold = b.hold("lookup", path=b.path("a", "one"))
        second, _ = b.hold("lookup", path=b.path("a", "two"))
        third, other = b.hold("lookup", path=b.path("b", "four"))
        for digest in ("0" * 64, hold["sessionDigest"][::-1]):
            r = control(b.s, {"op": "approve", "id": hold["id"],
                              "digest": hold["digest"], "session": digest})
            t.ok(not r["ok"] and r["code"] == "changed",
                 "a grant that is not the one that was shown", r)
        r = b.s.icctl("--json", "approve", "--for-session", hold["id"])
        t.ok(r.returncode == 0 and json.loads(r.stdout)["granted"],
             "--json", r.stdout + r.stderr)
        t.equal([h.text_of(x.wait()) for x in (first, second)],
                ["a/one", "a/two"], "what waits and is granted goes out")
        t.equal([x["id"] for x in b.s.pending()], [other["id"]],
                "what is not waits on")
        b.s.icctl("deny", other["id"], check=True)
        third.wait()


def domain(work):
    rules = [h.rule("get", "allow", tool=["get"]), ASK]
    with Bench(work, rules, ["ok.test"]) as b:
        t.ok(not b.asked("get", text="https://ok.test/x"), "on the list")
        call, hold = b.hold("get", text="https://one.test/x")
        t.equal(hold["forSession"]["constraints"], [{
            "kind": "domain", "role": "fetch-url", "value": "one.test"}],
                "a domain is offered")
        b.s.icctl("approve", hold["id"], "--for-session", check=True)
        call.wait()
        t.ok(not b.asked("get", text="https://one.test/y?z"),
             "another page there")
        t.ok(b.asked("get", text="https://two.test/x"), "not another domain")
        t.ok(b.asked("get", text="https://sub.one.test/"), "not one below it")


def watch(work):
    with Bench(work) as b:
        term = Terminal([h.program("icctl"), "--session", b.s.dir, "watch",
                         "--plain"],
                        {**b.s.env, "TERM": "xterm"})
        term.until(rb"no pending calls")
        call = b.m.start_call("echo__lookup", {"path": b.path("a", "one")})
        out = term.until(rb"for \[s\]ession[^\0]*pending\)").decode()
        t.contains(out, "within " + os.path.realpath(b.path("a")),
                   "watch shows what s would allow")
        term.approve(out)
        call.wait()
        t.ok(b.asked("lookup", path=b.path("a", "two")), "a: this call alone")
        term.until(rb"denied[^\0]*no pending calls")
        call = b.m.start_call("echo__lookup", {"path": b.path("a", "one")})
        out = term.until(rb"for \[s\]ession[^\0]*pending\)").decode()
        term.approve(out, b"s")
        call.wait()
        t.ok(not b.asked("lookup", path=b.path("a", "two")),
             "s: for the session")
        term.until(rb"no pending calls")
        call = b.m.start_call("echo__lookup", {
            "path": os.path.join(b.user, "letter")})
        out = term.until(rb"\[a\]pprove").decode()
        t.ok("[s]ession" not in out,
             "where nothing can be granted it is not offered", out)
        term.key(b"s")
        term.until(rb"cannot be allowed for the session")
        t.ok(True, "and s does nothing")
        b.s.icctl("deny", b.s.held()["id"], check=True)
        call.wait()
        term.key(b"q")
        term.end()


def several(work):
    """Several calls are answered with one command, each as it was shown."""
    with Bench(work) as b:
        t.contains(b.s.icctl("grants", check=True).stdout, "Nothing was",
                   "no grants as yet")
        both = [b.hold("lookup", path=b.path("a", x)) for x in ("one", "two")]
        ids = [hold["id"] for _, hold in both]
        r = b.s.icctl("approve", ids[0], "zzzz", ids[1])
        t.equal(r.returncode, 1, "an id that is unknown is reported")
        t.equal([h.text_of(call.wait()) for call, _ in both],
                ["a/one", "a/two"], "and the others are approved")
        t.equal(r.stdout.count("approved "), 2, "each is named")
        t.equal(b.s.icctl("approve", *ids, "--digest", "0" * 64).returncode, 64,
                "one digest is not for two calls")
        both = [b.hold("lookup", path=b.path("a", x)) for x in ("one", "two")]
        r = b.s.icctl("deny", *[hold["id"] for _, hold in both], "--because",
                      "not today")
        t.equal(r.returncode, 0, "several are denied")
        t.ok(all("not today" in h.text_of(call.wait()) for call, _ in both),
             "each is told why")
        b.s.icctl("approve", b.hold("lookup", path=b.path("b", "four"))[1]
                  ["id"], "--for-session", check=True)
        r = b.s.icctl("grants", check=True)
        grants = json.loads(b.s.icctl("--json", "grants").stdout)["granted"]
        t.contains(r.stdout, "icctl revoke " + grants[0]["id"],
                   "a grant is listed with the command that revokes it")


def all_shown(work):
    """One yes for all calls that were printed, and for no other."""
    with Bench(work) as b:
        r = b.s.icctl("approve", "--all-shown")
        t.ok(r.returncode == 64 and "terminal" in r.stderr,
             "--all-shown needs a terminal", r)
        argv = [h.program("icctl"), "--session", b.s.dir, "approve",
                "--all-shown"]
        env = {**b.s.env, "TERM": "xterm"}
        both = [b.hold("lookup", path=b.path("a", x)) for x in ("one", "two")]
        with_no = Terminal(argv, env)
        out = with_no.until(rb"Approve all of these calls\?").decode()
        for x in ("one", "two"):
            t.contains(out, b.path("a", x), f"{x} is shown")
        with_no.key(b"\r")
        with_no.until(rb"Nothing was approved")
        t.equal(len(b.s.pending()), 2, "no answer approves nothing")
        with_yes = Terminal(argv, env)
        with_yes.until(rb"Approve all of these calls\?")
        late, hold = b.hold("lookup", path=b.path("b", "four"))
        with_yes.key(b"y\r")
        t.equal([h.text_of(call.wait()) for call, _ in both],
                ["a/one", "a/two"], "yes approves what was shown")
        t.ok(not late.done.is_set(), "a call that came later still waits")
        b.s.icctl("deny", hold["id"], check=True)
        late.wait()


def main():
    for part in (directory, others_wait, domain, watch, several, all_shown):
        with h.workdir() as work, t.case(part.__name__):
            part(work)
    t.done()


if __name__ == "__main__":
    main()
