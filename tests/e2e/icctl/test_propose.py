#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""The policy "record" and `icctl policy propose`: a recorded session becomes a
policy under which what was approved needs no approval, and its neighbours
still do."""
import json
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402

t = h.Tap()


def session(work, name, policy):
    """A session with the shipped servers' names and that policy."""
    s = h.Session(work, {"filesystem": {"command": "icfs",
                                        "args": ["/workspace"]}},
                  session_dir=os.path.join(work, "home", "sessions", name),
                  options=["--policy", policy])
    os.makedirs(os.path.dirname(s.dir), mode=0o700, exist_ok=True)
    return s


def make(work):
    out = os.path.join(work, "out")
    os.makedirs(os.path.join(out, "sub"), exist_ok=True)
    for name in ("a", "b", "c", "d", "secret", "sub/x", "aa", "A"):
        h.put(os.path.join(out, name), name)
    return out


def answer(s, m, tool, args, verb):
    """Makes a call; if a person is asked, answers so. Returns what happened."""
    call = m.start_call("filesystem__" + tool, args)
    if verb is not None:
        s.icctl(verb, str(s.held()["id"]), check=True)
    r = call.wait()
    return "error" if r.get("isError") else "done"


def icctl(s, *args, answers=None):
    return subprocess.run([h.program("icctl"), *args], env=s.env, text=True,
                          input=answers, capture_output=True, timeout=60,
                          check=False)


def recorded(out):
    """Tool, arguments, and how the person answered."""
    f = lambda *p: os.path.join(out, *p)  # noqa: E731
    return [
        ("read_file", {"path": f("a")}, "approve"),
        ("read_file", {"path": f("b")}, "approve"),
        ("get_file_info", {"path": f("a")}, "approve"),
        ("read_multiple_files", {"paths": [f("a"), f("b")]}, "approve"),
        ("list_directory", {"path": f("sub")}, "approve"),
        ("write_file", {"path": f("new"), "content": "1"}, "approve"),
        ("move_file", {"source": f("c"), "destination": f("c2")}, "approve"),
        ("move_file", {"source": f("d"), "destination": f("d2")}, "approve"),
        ("read_file", {"path": f("secret")}, "deny"),
        ("read_file", {"path": "/workspace/in"}, None),
    ]


def neighbours(out):
    """Calls beside those that were approved: 32."""
    f = lambda *p: os.path.join(out, *p)  # noqa: E731
    paths = [f("aa"), f("A"), f("a", "x"), f("sub", "x"), f("secret"), out,
             f("..", "out2"), "/", "~", "/etc/passwd", f("c"), f("new"),
             f("b~")]
    rows = [("read_file", {"path": p}) for p in paths]
    rows += [("get_file_info", {"path": p}) for p in (f("b"), f("sub"), out)]
    rows += [("list_directory", {"path": p})
             for p in (out, f("sub", "y"), f("sub", ".."), "/")]
    rows += [("write_file", {"path": p, "content": "1"})
             for p in (f("a"), f("new2"), f("sub", "new"), f("New"))]
    rows += [("move_file", {"source": a, "destination": b}) for a, b in
             ((f("c"), f("d2")), (f("d"), f("c2")), (f("c"), f("c")),
              (f("c2"), f("c")), (f("a"), f("c2")))]
    rows += [("read_multiple_files", {"paths": p}) for p in
             ([f("a"), f("secret")], [f("aa")], [f("a"), f("aa")])]
    return rows


def decide(s, policy, rows):
    lines = "".join(json.dumps({"serverName": "filesystem", "toolName": n,
                                "arguments": a}) + "\n" for n, a in rows)
    r = icctl_in(s, lines, "policy", "eval", "--policy", policy, "--sandbox",
                 s.workspace)
    return [json.loads(x) for x in r.stdout.splitlines()]


def icctl_in(s, text, *args):
    return subprocess.run([h.program("icctl"), *args], env=s.env, text=True,
                          input=text, capture_output=True, timeout=60,
                          check=False)


def record(work):
    out = make(work)
    s = session(work, "one", "record")
    h.put(os.path.join(s.workspace, "in"), "")
    with s:
        m = s.client()
        for tool, args, verb in recorded(out):
            got = answer(s, m, tool, args, verb)
            t.equal(got, "error" if verb == "deny" else "done",
                    f"record: {tool} {verb}")
        m.close()
    return s, out


def test_propose(work):
    s, out = record(work)
    r = icctl(s, "policy", "propose", "one", answers="n\n")
    t.ok(r.returncode == 1 and "Nothing was installed" in r.stdout
         and not os.path.exists(os.path.join(s.home, "policies", "recorded"))
         and os.listdir(os.path.join(s.home, "policies")) == [],
         "without a yes nothing is installed", r)
    t.ok("ALLOWED" in r.stdout and os.path.join(out, "new") in r.stdout
         and "secret" in r.stdout.split("DENIED", 1)[-1]
         and "+ rule recorded-allow-1" in r.stdout,
         "each new allow is named with its values, and compared", r)
    r = icctl(s, "--json", "policy", "propose", "one")
    got = json.loads(r.stdout)
    t.equal((got["approved"], got["denied"], got["base"],
             got["notProposed"]), (8, 1, "record", []), "as JSON")
    r = icctl(s, "policy", "propose", "one", answers="y\n")
    t.ok(r.returncode == 0 and "Installed" in r.stdout, "a yes installs it",
         r)
    r = icctl(s, "policy", "check", "--policy", "recorded")
    t.ok(r.returncode == 0 and "no mistakes" in r.stdout,
         "check finds nothing in it", r)
    rows = [(n, a) for n, a, _ in recorded(out)]
    got = [g["decision"] for g in decide(s, "recorded", rows)]
    t.equal(got, ["allow"] * 8 + ["deny", "allow"],
            "replayed, what was approved is allowed, what was denied is not")
    rows = neighbours(out)
    got = decide(s, "recorded", rows)
    t.equal((len(got), [r for r, g in zip(rows, got)
                        if g["decision"] == "allow"]), (len(rows), []),
            "no neighbour is allowed")
    t.ok(len(rows) >= 30, f"{len(rows)} neighbours")


def test_replay(work):
    """A second session under the proposed policy asks about nothing that was
    approved."""
    s, out = record(work)
    icctl(s, "policy", "propose", "one", "--into", "mine", answers="y\n")
    for a, b in (("c2", "c"), ("d2", "d")):
        os.rename(os.path.join(out, a), os.path.join(out, b))
    os.unlink(os.path.join(out, "new"))
    s = session(work, "two", "mine")
    with s:
        m = s.client()
        for tool, args, verb in recorded(out):
            got = answer(s, m, tool, args, None)
            t.equal(got, "error" if verb == "deny" else "done",
                    f"again, unasked: {tool}")
        call = m.start_call("filesystem__read_file",
                            {"path": os.path.join(out, "aa")})
        s.icctl("approve", str(s.held()["id"]), check=True)
        t.ok(not call.wait().get("isError"), "a neighbour is asked about")
        m.close()
    t.equal(s.events("hold").__len__(), 1, "only the neighbour was held")
    # Recording goes on under the proposal, and adds to it.
    r = icctl(s, "policy", "propose", "two", "--into", "mine", answers="y\n")
    t.ok("+ rule recorded-allow" in r.stdout and "- rule" not in r.stdout
         and r.returncode == 0, "a second recording adds to it", r)
    rows = [(n, a) for n, a, _ in recorded(out)]
    rows.append(("read_file", {"path": os.path.join(out, "aa")}))
    got = [g["decision"] for g in decide(s, "mine", rows)]
    t.equal(got, ["allow"] * 8 + ["deny", "allow", "allow"],
            "and keeps what it had")


def log_of(work, calls, name="three"):
    """A session directory with nothing but a log."""
    d = os.path.join(work, "home", "sessions", name)
    os.makedirs(d, mode=0o700, exist_ok=True)
    with open(os.path.join(d, "audit.jsonl"), "w", encoding="utf-8") as f:
        for c in calls:
            f.write(json.dumps(c) + "\n")
    return d


def call(server, tool, args, end, status="escalate", rule="record-rest",
         **more):
    c = {"event": "call", "serverName": server, "toolName": tool,
         "arguments": args, "policyDecision": {
             "status": status, "rule": rule, "reason": ""}, **more}
    if end is not None:
        c["escalationResult"] = end
    return c


def test_logs(work):
    """Recordings that no session of this test can make: other servers, conflicts, names
    chosen by an agent, and calls that a rule cannot name."""
    s = h.Session(work)
    url = "https://a.example/x"
    odd = "/srv/\u202e\u009b2J\u00fc"
    d = log_of(work, [
        call("fetch", "http_fetch", {"url": url}, "approved"),
        call("fetch", "web_search", {"query": "x"}, "approved"),
        call("fetch", "web_search", {"query": "y"}, "denied"),
        call("git", "git_clone", {"url": "https://g.example/a/b",
                                  "localPath": "/workspace/b",
                                  "path": "/workspace"}, "approved"),
        call("git", "git_push", {"path": "/workspace", "remote": "origin"},
             "approved"),
        call("git", "git_push", {"path": "/workspace"}, "approved"),
        call("filesystem", "read_file", {"path": "/srv/both"}, "approved"),
        call("filesystem", "read_file", {"path": "/srv/both"}, "denied"),
        call("filesystem", "read_file", {"path": odd}, "approved"),
        call("filesystem", "read_file", {"path": "/srv/x"}, "approved",
             redacted=True),
        call("filesystem", "read_file", {"path": "/srv/late"}, "expired"),
        call("mine", "thing", {"a": "1"}, "approved"),
        call("documents", "read_file", {"path": "/workspace/q"}, "approved"),
        call("filesystem", "write_file", {"path": "/srv/n", "content": "1"},
             None, "deny", "default-deny"),
        call("git", "git_clear_working_dir", {}, "denied"),
    ])
    r = icctl(s, "policy", "propose", d, answers="n\n")
    t.ok("\\u202e\\u009b2J\u00fc" in r.stdout
         and not set(r.stdout) & set("\u202e\u009b"),
         "what cannot be seen is escaped", r.stdout)
    t.ok("was not found" in r.stderr, "says that the base is record", r)
    got = json.loads(icctl(s, "--json", "policy", "propose", d).stdout)
    left = sorted(x["serverName"] + "__" + x["toolName"]
                  for x in got["notProposed"] if x["approved"])
    t.equal(left, ["fetch__web_search", "filesystem__read_file",
                   "filesystem__read_file", "git__git_push", "git__git_push",
                   "mine__thing"],
            "what a rule cannot name, or was denied too, is left out")
    r = icctl(s, "policy", "propose", d, answers="y\n")
    t.equal(r.returncode, 0, "installed")
    rows = [("fetch", "http_fetch", {"url": url}, "allow"),
            ("fetch", "http_fetch", {"url": url + "y"}, "escalate"),
            ("fetch", "http_fetch", {"url": "https://b.a.example/x"},
             "escalate"),
            ("fetch", "web_search", {"query": "x"}, "escalate"),
            ("git", "git_clone", {"url": "https://g.example/a/b",
                                  "localPath": "/workspace/b"}, "allow"),
            ("git", "git_clone", {"url": "https://g.example/a/c",
                                  "localPath": "/workspace/b"}, "escalate"),
            ("git", "git_clone", {"url": "https://g.example/a/b",
                                  "localPath": "/srv/b"}, "escalate"),
            ("git", "git_push", {"path": "/workspace", "remote": "origin"},
             "escalate"),
            ("filesystem", "read_file", {"path": "/srv/both"}, "escalate"),
            ("filesystem", "read_file", {"path": odd}, "allow"),
            ("filesystem", "read_file", {"path": "/srv/late"}, "escalate"),
            ("documents", "read_file", {"path": "/workspace/q"}, "allow"),
            ("documents", "read_file", {"path": "/workspace/r"}, "escalate"),
            ("git", "git_clear_working_dir", {}, "deny")]
    lines = "".join(json.dumps({"serverName": a, "toolName": b,
                                "arguments": c}) + "\n"
                    for a, b, c, _ in rows)
    r = icctl_in(s, lines, "policy", "eval", "--policy", "recorded",
                 "--sandbox", s.workspace)
    got = [json.loads(x)["decision"] for x in r.stdout.splitlines()]
    t.equal([(r[:3], g) for r, g in zip(rows, got) if g != r[3]], [],
            "it decides so")


def test_uncovered(work):
    """Under a policy with gaps, what no rule covered is asked about."""
    s = h.Session(work, rules=[h.rule("r", "escalate", server=["filesystem"],
                                      roles=["read-path"])],
                  annotations={"filesystem": {
                      "read_file": {"path": ["read-path"]},
                      "write_file": {"path": ["write-path"],
                                     "content": ["none"]}}})
    d = log_of(work, [
        call("filesystem", "write_file", {"path": "/srv/n", "content": "1"},
             None, "deny", "default-deny")])
    r = icctl(s, "policy", "propose", d, "--policy",
              os.path.join(s.home, "policy"), answers="y\n")
    t.ok("ASKED about" in r.stdout and "no rule covered it" in r.stdout
         and r.returncode == 0, "a gap is proposed as a question", r)
    got = decide(s, "recorded", [("write_file", {"path": "/srv/n",
                                                 "content": "1"})])
    t.equal(got[0]["decision"], "escalate", "and is one then")


def test_bad(work):
    s = h.Session(work)
    r = icctl(s, "policy", "propose", "nosuch")
    t.ok(r.returncode == 3 and r.stderr, "no such session", r)
    d = log_of(work, [])
    r = icctl(s, "policy", "propose", d)
    t.ok(r.returncode == 0 and "nothing to propose" in r.stdout,
         "an empty recording", r)
    with open(os.path.join(d, "audit.jsonl"), "w", encoding="utf-8") as f:
        f.write("junk\n{\"event\":\"call\"}\n[]\n")
    r = icctl(s, "policy", "propose", d)
    t.ok(r.returncode == 0 and "nothing to propose" in r.stdout, "junk", r)
    for name in ("default", ".x", ""):
        d = log_of(work, [call("fetch", "http_fetch", {
            "url": "https://a.example/"}, "approved")])
        r = icctl(s, "policy", "propose", d, "--into", name, answers="y\n")
        t.ok(r.returncode == 1 and "not a name" in r.stderr,
             f"not into {name!r}", r)


def main():
    for test in (test_propose, test_replay, test_logs, test_uncovered,
                 test_bad):
        with h.workdir() as work, t.case(test.__name__):
            test(work)
    t.done()


if __name__ == "__main__":
    main()
