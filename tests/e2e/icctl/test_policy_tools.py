#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Tests icctl policy: eval, explain, check, test, replay and diff, with files
made here and with the shipped ones."""
import json
import os
import re
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402

t = h.Tap()


class Files:
    """Policy files in a directory, and icctl run on them."""

    def __init__(self, work, rules, annotations, lists=None):
        self.work = work
        self.home = os.path.join(work, "home")
        self.sandbox = os.path.join(work, "sandbox")
        os.makedirs(self.home, mode=0o700, exist_ok=True)
        os.makedirs(self.sandbox, exist_ok=True)
        self.policy = self.write("policy.json", {"rules": rules})
        self.annotations = self.write("annotations.json", {"servers": {
            s: h.annotation(s, tools) for s, tools in annotations.items()}})
        self.lists = lists and self.write("lists.json", {"lists": lists})

    def write(self, name, value):
        path = os.path.join(self.work, name)
        with open(path, "w", encoding="utf-8") as f:
            if isinstance(value, str):
                f.write(value)
            else:
                json.dump(value, f, indent=1)
        return path

    def options(self):
        o = ["--policy", self.policy, "--annotations", self.annotations,
             "--sandbox", self.sandbox]
        return o + (["--lists", self.lists] if self.lists else [])

    def env(self):
        return {**os.environ, "IRONCURTAIN_HOME": self.home,
                "HOME": self.work}

    def run(self, tool, *args, options=True, stdin=""):
        return subprocess.run(
            [h.program("icctl"), "policy", tool,
             *(self.options() if options else []), *args],
            input=stdin, capture_output=True, text=True, timeout=60,
            env=self.env(), check=False)

    def eval(self, *requests, options=()):
        lines = "".join((r if isinstance(r, str) else json.dumps(r)) + "\n"
                        for r in requests)
        r = self.run("eval", *options, stdin=lines)
        return [json.loads(line) for line in r.stdout.splitlines()]


def request(server, tool, **arguments):
    return {"serverName": server, "toolName": tool, "arguments": arguments}


RULES = [
    h.rule("docs", "allow", server=["filesystem"], roles=["read-path"],
           paths={"roles": ["read-path"], "within": "~/docs"}),
    h.rule("reads", "escalate", server=["filesystem"], roles=["read-path"]),
    h.rule("sites", "allow", server=["fetch"], domains={
        "roles": ["fetch-url"], "allowed": ["@sites", "a.example"]}),
]
ANNOTATIONS = {
    "filesystem": {"read_file": {"path": ["read-path"]},
                   "write_file": {"path": ["write-path"],
                                  "content": ["none"]}},
    "fetch": {"fetch": {"url": ["fetch-url"]}},
    "memory": {"note": {"text": ["none"]},
               "tag": {"name": ["branch-name"]}, "list": {}},
}
LISTS = {"sites": {"values": ["b.example"], "manualAdditions": [],
                   "manualRemovals": []}}


def build(work):
    return Files(work, RULES, ANNOTATIONS, LISTS)


def test_eval(work):
    f = build(work)
    os.makedirs(os.path.join(work, "docs"), exist_ok=True)
    got = f.eval(
        request("filesystem", "read_file", path="/workspace/x"),
        request("filesystem", "read_file", path="~/docs/x"),
        request("filesystem", "read_file", path="/etc/passwd"),
        request("filesystem", "write_file", path="/etc/passwd", content=""),
        request("filesystem", "nothing"),
        request("fetch", "fetch", url="https://b.example/x"),
        request("fetch", "fetch", url="https://c.example/x"))
    want = [("allow", "structural-sandbox-allow"), ("allow", "docs"),
            ("escalate", "reads"), ("deny", "default-deny"),
            ("deny", "structural-unknown-tool"), ("allow", "sites"),
            ("deny", "default-deny")]
    for i, (g, w) in enumerate(zip(got, want)):
        t.equal((g.get("decision"), g.get("rule")), w,
                f"eval: {w[0]} by {w[1]} ({i})")
    t.equal(len(got), len(want), "eval: a result for each request")
    t.equal(got[2].get("escalatedRoles"), ["read-path"],
            "eval: which roles escalate")
    t.ok("escalatedRoles" not in got[0], "eval: and only then")


def test_narrowed(work):
    """eval, explain, test and replay decide as a session here would, with what
    config.json and the project's file take from the policy; diff and check look
    at the policy alone."""
    f = build(work)
    paths = {"x/secret/a": ("deny", "narrowed-deny"),
             "x/a": ("escalate", "narrowed-ask"),
             "y": ("allow", "structural-sandbox-allow"),
             "z/a": ("deny", "narrowed-deny")}
    h.put(os.path.join(f.home, "config.json"), json.dumps({"policy": {
        "ask": ["read x"], "deny": ["read x/secret"]}}), 0o600)
    project = os.path.join(f.sandbox, ".ironcurtain.json")
    h.put(project, json.dumps({"version": 1, "policy": {"deny": ["read z"]}}),
          0o600)
    calls = [request("filesystem", "read_file", path="/workspace/" + p)
             for p in paths]
    t.equal([(g["decision"], g["rule"]) for g in f.eval(*calls)],
            list(paths.values()), "eval: what the settings take")
    got = []
    for c in calls:
        r = f.run("explain", c["serverName"], c["toolName"],
                  json.dumps(c["arguments"]), "--json")
        got.append((json.loads(r.stdout)["decision"],
                    json.loads(r.stdout)["rule"]))
    t.equal(got, list(paths.values()), "explain: the same")
    rows = f.write("scenarios.json", [
        {"description": c["arguments"]["path"], "request": c,
         "expectedDecision": want[0]}
        for c, want in zip(calls, paths.values())])
    r = f.run("test", rows)
    t.equal((r.returncode, r.stdout.count("\nok ")), (0, 3), "test: the same")
    log = f.write("audit.jsonl", "".join(json.dumps({
        "event": "call", **c, "policyDecision": {
            "status": want[0], "rule": want[1], "reason": ""}}) + "\n"
        for c, want in zip(calls, paths.values())))
    r = f.run("replay", log, "--json")
    got = json.loads(r.stdout)
    t.equal((r.returncode, got["calls"], got["differ"], got["notCompared"]),
            (0, 4, 0, 0), "replay: the same settings decide the same")
    os.unlink(project)
    r = f.run("replay", log, "--json")
    got = json.loads(r.stdout)
    t.equal([(d["arguments"]["path"], d["was"]["rule"], d["now"]["rule"])
             for d in got["differences"]],
            [("/workspace/z/a", "narrowed-deny", "structural-sandbox-allow")],
            "replay: without the project's file, what it denied")
    h.put(project, "{", 0o600)
    r = f.run("eval", stdin="".join(json.dumps(c) + "\n" for c in (
        calls[0], calls[3])))
    t.equal([json.loads(x)["rule"] for x in r.stdout.splitlines()],
            ["narrowed-deny", "structural-sandbox-allow"],
            "a project's file that is broken")
    t.contains(r.stderr, "; what it takes from the policy is left out here",
               "which is said")
    os.unlink(project)
    os.unlink(os.path.join(f.home, "config.json"))
    t.equal(f.eval(calls[0])[0]["rule"], "structural-sandbox-allow",
            "no settings: the policy alone")


def test_help(work):
    """The help of a tool is of this tool."""
    f = build(work)
    r = f.run("check", "--help", options=False)
    t.ok(r.returncode == 0 and "usage: icctl policy check" in r.stdout and
         "explain" not in r.stdout, "its own usage", r.stdout)


def test_eval_bad(work):
    f = build(work)
    good = request("filesystem", "read_file", path="/workspace/x")
    got = f.eval(good, "junk", '{"a":1,"a":2}', "[]", good,
                 '{"serverName":"filesystem"}',
                 '{"serverName":1,"toolName":"x","arguments":{}}',
                 '{"serverName":"f","toolName":"x","arguments":[]}', "",
                 "[" * 100, good)
    t.equal(["error" in g for g in got],
            [False, True, True, True, False, True, True, True, True, True,
             False], "eval: a bad line is an error in its place")
    big = request("filesystem", "read_file", path="/workspace/x",
                  more="x" * 3000000)
    got = f.eval(big, '"' + "x" * (5 << 20) + '"', good)
    t.equal([g.get("decision", "error") for g in got],
            ["allow", "error", "allow"],
            "eval: a long line; one that is too long; it goes on")
    r = f.run("eval", stdin=json.dumps(good))
    t.equal(json.loads(r.stdout)["decision"], "allow",
            "eval: the last line needs no newline")


def test_eval_options(work):
    f = build(work)
    secret = os.path.join(work, "sandbox", "secret")
    os.makedirs(secret)
    os.symlink(secret, os.path.join(work, "sandbox", "link"))
    got = f.eval(request("filesystem", "read_file",
                         path="/workspace/link/x"),
                 request("filesystem", "read_file", path="/workspace/y"),
                 options=("--protect", secret))
    t.equal([g["rule"] for g in got],
            ["structural-protected-path", "structural-sandbox-allow"],
            "eval --protect: also through a link")
    got = f.eval(request("fetch", "fetch", url="https://b.example/"),
                 request("fetch", "fetch", url="https://a.example/"),
                 options=("--allow-domains", "fetch=a.example,c.example"))
    t.equal([g["rule"] for g in got],
            ["structural-domain-escalate", "sites"],
            "eval --allow-domains: the gate")
    got = f.eval(request("memory", "anything", x=1),
                 options=("--trust", "memory"))
    t.equal((got[0]["decision"], got[0]["rule"]),
            ("allow", "trusted-server"), "eval --trust")
    for bad in (("--allow-domains", "fetch"), ("--sandbox",),
                ("--nothing", "x"), ("--trust", "")):
        r = f.run("eval", *bad, options=False)
        t.ok(r.returncode in (1, 64) and r.stderr, f"eval {bad[0]}: refused",
             r.stderr)


def descendants(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
        return [int(c) for c in f.read().split()]


def status(pid, name):
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        for line in f:
            if line.startswith(name + ":"):
                return line.split()[1]
    return None


def test_eval_lives(work):
    f = build(work)
    p = subprocess.Popen([h.program("icctl"), "policy", "eval",
                          *f.options()], stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, env=f.env())
    line = json.dumps(request("filesystem", "read_file",
                              path="/workspace/x")).encode() + b"\n"
    for _ in range(3):
        p.stdin.write(line)
        p.stdin.flush()
        t.equal(json.loads(p.stdout.readline())["decision"], "allow",
                "eval: a result comes while input stays open")
    worker = descendants(p.pid)
    t.equal(len(worker), 1, "eval: one worker")
    t.equal((status(worker[0], "Seccomp"), status(worker[0], "NoNewPrivs"),
             status(worker[0], "CapEff")),
            ("0" if h.sanitized() else "2", "1", "0" * 16),
            "eval: the real policyd, confined")
    h.kill(worker[0])
    p.wait(10)
    rest = p.stdout.read()
    p.stdin.close()
    t.ok(p.returncode == 1 and rest == b"",
         "eval: without policyd there is no decision", p.returncode)
    p.stdout.close()


def test_eval_fast(work):
    f = build(work)
    n = 20000
    lines = "".join(json.dumps(request(
        "filesystem", "read_file", path=f"/workspace/f{i}")) + "\n"
        for i in range(n))
    begin = time.monotonic()
    r = f.run("eval", stdin=lines)
    took = time.monotonic() - begin
    t.equal(r.stdout.count('"structural-sandbox-allow"'), n,
            f"eval: {n} requests, {int(n / took)} a second")
    t.ok(took < 30, "eval: not one round trip at a time", took)


def test_explain(work):
    f = build(work)
    r = f.run("explain", "filesystem", "read_file",
              '{"path":"/etc/passwd"}', "--json")
    got = json.loads(r.stdout)
    t.equal((r.returncode, got["decision"], got["rule"]),
            (0, "escalate", "reads"), "explain: the decision")
    tried = {s["rule"]: s for s in got["trace"] if s["step"] == "rule"}
    t.equal({k: v["matched"] for k, v in tried.items()},
            {"docs": False, "reads": True}, "explain: each rule tried")
    t.contains(tried["docs"]["text"], "/etc/passwd is not within ~/docs",
               "explain: why it did not match")
    t.ok(any(s["step"] == "change" for s in got["trace"]),
         "explain: what would have to change", got["trace"])
    r = f.run("explain", stdin=json.dumps(request(
        "fetch", "fetch", url="https://c.example/")) + "\n")
    t.contains(r.stdout, "default-deny", "explain: in words, from stdin")
    t.contains(r.stdout, "c.example", "explain: with the host")
    t.contains(r.stdout, "DENIED: No matching policy rule",
               "explain: and what the agent is told")
    r = f.run("explain", "filesystem", "nothing", "{}", "--json")
    t.equal(json.loads(r.stdout)["rule"], "missing-annotation",
            "explain: the whole way, not the engine alone")
    r = f.run("explain", "filesystem", "x", "[]")
    t.equal(r.returncode, 64, "explain: arguments are an object")
    schema = {"servers": {"filesystem": {"tools": [
        {"toolName": "read_file", "serverName": "filesystem", "comment": "",
         "args": {"path": ["read-path"]}, "inputSchema": {
             "type": "object", "properties": {"path": {"type": "string"}}}}]}}}
    f.annotations = f.write("schema.json", schema)
    r = f.run("explain", "filesystem", "read_file",
              '{"path":"/workspace/x","pth":1}', "--json")
    t.equal(json.loads(r.stdout)["rule"], "invalid-arguments",
            "explain: the schema in the annotations counts")
    r = f.run("eval", stdin=json.dumps(request(
        "filesystem", "read_file", path="/workspace/x", pth=1)))
    t.equal(json.loads(r.stdout)["decision"], "allow",
            "eval: schemas are not checked")


def findings(f, *args, **kw):
    r = f.run("check", "--json", *args, **kw)
    return r.returncode, json.loads(r.stdout)


def test_consistent(work):
    """The output of explain and check is correct and readable."""
    f = build(work)
    f.policy = f.write("policy.json", {"rules": [h.rule(
        "ask", "escalate", server=["fetch"], domains={
            "roles": ["fetch-url"], "allowed": ["b.example"]})]})
    r = f.run("explain", "fetch", "fetch", '{"url":"https://a.example/"}')
    t.ok("would match (then escalate)" in r.stdout and
         "comes near" not in r.stdout and "wider condition" in r.stdout,
         "explain: a rule that asks comes near, too", r.stdout)
    t.ok("\\x0a" not in r.stdout, "explain: the agent's text, line by line", r.stdout)
    r = f.run("explain", "fetch", "fetch", '{"url":"ftp://a.example/x"}')
    t.ok("judged as ftp://a.example/x" in r.stdout and
         "no rule was asked" not in r.stdout, "explain: another scheme", r.stdout)
    f.policy = f.write("odd.json", {"rules": [h.rule(
        "b\u00fccher", "allow", server=["fetch"], domains={
            "roles": ["fetch-url"], "allowed": ["b\u00fccher.example"]})]})
    r = f.run("check")
    t.ok("\\x5c" not in r.stdout and "xn--..." in r.stdout,
         "check: nothing is escaped twice", r.stdout)
    r = f.run("eval", "--allow-domains", "fetch=")
    t.ok(r.returncode != 0 and "names no host" in r.stderr,
         "eval: a list of domains that is empty", r.stderr)


def test_check(work):
    f = build(work)
    r = f.run("check", options=False)
    t.ok(r.returncode == 0 and re.fullmatch(
        r"good: \d+ rules, \d+ annotated tools, no mistakes\n", r.stdout),
         "check: the shipped policies are clean")
    os.makedirs(os.path.join(work, "docs"), exist_ok=True)
    code, got = findings(f)
    t.equal((code, got["errors"]), (0, 0), "check: so are these")
    run = os.path.join(f.home, "run", "x")
    os.makedirs(run)
    with open(os.path.join(run, "audit.jsonl"), "w", encoding="utf-8") as o:
        for server, tools in (("filesystem", 2), ("memory", 9)):
            print(json.dumps({"event": "serverState", "serverName": server,
                              "state": "ready", "tools": tools}), file=o)
        for _ in range(3):
            print(json.dumps({
                "event": "call", **request("fetch", "other"),
                "policyDecision": {"status": "deny", "reason": "",
                                   "rule": "missing-annotation"}}), file=o)
    code, got = findings(f)
    t.equal((code, [x["text"].split('"')[1] for x in got["findings"]]),
            (0, ["memory", "other"]),
            "check: tools of running servers that are not annotated")
    f.policy = f.write("bad.json", {"rules": [
        h.rule("one", "allow", server=["filesystem"], roles=["read-path"],
               paths={"roles": ["read-path"], "within": "/srv"}),
        h.rule("two", "deny", server=["filesystem"], roles=["read-path"],
               paths={"roles": ["read-path"], "within": "/srv/x"}),
        h.rule("three", "allow", server=["nobody"]),
        h.rule("four", "allow", server=["fetch"], domains={
            "roles": ["fetch-url"], "allowed": ["@lost"]}),
        h.rule("five", "deny", roles=["fetch-url"], paths={
            "roles": ["read-path"], "within": "/srv"}),
        {**h.rule("six", "allow", server=["filesystem"],
                  tool=["write_file"], roles=["write-path"],
                  paths={"roles": ["write-path"], "within": "/home"}),
         "description": "Reading /home/me/notes."},
        {**h.rule("seven", "deny", server=["memory"]), "extra": 1},
        h.rule("eight", "deny", server=["memory"], tool=["note"]),
    ]})
    code, got = findings(f)
    kinds = {(x["severity"], x["kind"], x["path"].split("]")[0][6:])
             for x in got["findings"] if "path" in x}
    t.equal(code, 1, "check: errors are exit status 1")
    for want in (("error", "shadowed", "1"), ("error", "never-matches", "2"),
                 ("error", "missing-list", "3"),
                 ("error", "never-matches", "3"),
                 ("error", "never-matches", "4"), ("warning", "wider", "5"),
                 ("warning", "unknown-field", "6"),
                 ("warning", "redundant", "7")):
        t.ok(want in kinds, "check: {} {} in rule {}".format(*want), kinds)
    t.equal(sum(1 for k in kinds if k[2] == "0"), 0,
            "check: nothing against the good rule")


def test_check_links(work):
    """Links that lead out of a directory that is denied or asked about."""
    f = build(work)
    f.annotations = os.path.normpath(os.path.join(
        h.program("icctl"), "..", "..", "share", "ironcurtain", "policies",
        "tool-annotations.json"))
    h.put(os.path.join(work, "dot", "ssh", "id_x"), "x")
    os.makedirs(os.path.join(work, ".ssh", "real"))
    for target, name in (("../dot/ssh/id_x", "id_x"), ("../dot/ssh", "all"),
                         ("real", "inside"), ("../nowhere", "dangling")):
        os.symlink(target, os.path.join(work, ".ssh", name))

    def rules(*places):
        return [h.rule("r%d" % i, then, server=["filesystem"], paths={
            "roles": roles, "within": within})
            for i, (then, within, roles) in enumerate(places)]
    keys, home = ("deny", "~/.ssh", ["read-path"]), ("allow", "~", ["read-path"])
    dot = ("escalate", "~/dot", ["read-path", "write-path"])
    for places, want in (
            ((keys, home), ["and rules[1] \"r1\" allows"] * 2),
            ((home, keys), ["before it, allows under either name"] * 2),
            ((("escalate", "~/.ssh", ["read-path"]), home), ["(escalate) holds for"] * 2),
            ((keys, dot, home), []), ((keys,), []),
            ((keys, ("allow", "~/dot/ssh/id_x", ["read-path"])), ["id_x"]),
            ((keys, ("allow", "~", ["write-path"])), [])):
        f.policy = f.write("links.json", {"rules": rules(*places)})
        got = [x["text"] for x in findings(f)[1]["findings"] if x["kind"] == "link"]
        t.ok(len(got) == len(want) and all(w in g for w, g in zip(want, got)),
             f"check: links out of what is withheld: {places}", got)


def test_check_void(work):
    """Rules that look right and have no effect."""
    f = build(work)
    os.makedirs(os.path.join(work, "docs"), exist_ok=True)

    def paths(then, within, server):
        return h.rule("r", then, server=[server], paths={
            "roles": ["read-path"], "within": within})
    for rule, want in (
            (paths("deny", "~/docs/*", "documents"), "never-matches"),
            (paths("deny", "~/docs/**", "documents"), "never-matches"),
            (paths("allow", "~/Docments", "documents"), "missing-directory"),
            (paths("escalate", "/workspace", "filesystem"), "void"),
            (paths("deny", "/workspace/x", "filesystem"), "void"),
            (paths("deny", "/workspace", "git"), "void"),
            (paths("deny", "/workspace", "documents"), None),
            (paths("deny", "~/docs", "documents"), None),
            (h.rule("r", "deny", server=["git"], domains={
                "roles": ["git-remote-url"], "allowed": ["10.0.0.0/8"]}), "schema"),
            (h.rule("r", "allow", server=["git"], domains={
                "roles": ["git-remote-url"], "allowed": ["github.com/acme/app.git"]}),
             "schema"),
            (h.rule("r", "allow", server=["git"], domains={
                "roles": ["git-remote-url"], "allowed": ["github.com/acme/*"]}), None)):
        f.policy = f.write("void.json", {"rules": [rule]})
        f.annotations = os.path.join(h.program("icctl"), "..", "..", "share",
                                     "ironcurtain", "policies", "tool-annotations.json")
        f.annotations = os.path.normpath(f.annotations)
        kinds = [x["kind"] if "can match nothing" not in x["text"] else "schema"
                 for x in findings(f)[1]["findings"]]
        t.equal(kinds, [want] if want else [], "check: %s" % json.dumps(rule["if"]))
    os.chmod(f.home, 0o755)
    code, got = findings(f)
    t.ok(code == 1 and any("chmod 700" in x["text"] for x in got["findings"]),
         "check: a home directory that a session would refuse", got)
    os.chmod(f.home, 0o700)


def test_check_schema(work):
    f = build(work)
    text = json.dumps({"rules": RULES}, indent=1)
    wrong = text.replace('"within": "~/docs"', '"within": "docs"')
    f.policy = f.write("wrong.json", wrong)
    code, got = findings(f)
    line = wrong[:wrong.index('"within"')].count("\n") + 1
    x = got["findings"][0]
    t.equal((code, x["file"], x["path"], x["line"]),
            (1, f.policy, "rules[0].if.paths.within", line),
            "check: file, path and line")
    f.policy = f.write("torn.json", text[:text.index('"reads"')] + "\n}")
    code, got = findings(f)
    t.equal((code, got["findings"][0]["line"]), (1, text[:text.index(
        '"reads"')].count("\n") + 2), "check: the line of a syntax error")
    f.policy = f.write("cond.json", {"rules": [h.rule(
        "x", "allow", moon="full")]})
    code, got = findings(f)
    t.contains(got["findings"][0]["text"], "unknown condition",
               "check: unknown conditions are errors")
    f.policy = os.path.join(work, "none.json")
    t.equal(findings(f)[0], 1, "check: a file that is not there")
    f.policy = f.write("policy.json", {"rules": RULES})
    f.annotations = f.write("roles.json", {"servers": {"s": {"tools": [
        {"toolName": "t", "serverName": "s", "comment": "",
         "args": {"a": ["read-paht"]}}]}}})
    code, got = findings(f)
    t.equal((code, got["findings"][0]["file"]), (1, f.annotations),
            "check: annotations, too")
    for tool in ("eval", "explain"):
        r = f.run(tool, *([] if tool == "eval" else ["s", "t", "{}"]))
        t.ok(r.returncode == 1 and "roles.json" in r.stderr
             and r.stdout == "", f"{tool}: refuses bad files", r.stderr)


def test_scenarios(work):
    f = build(work)

    def scenario(description, expected, req):
        return {"description": description, "request": req,
                "expectedDecision": expected, "reasoning": "",
                "source": "handwritten"}

    etc = request("filesystem", "read_file", path="/etc/x")
    good = [scenario("inside", "allow", request(
        "filesystem", "read_file", path="/workspace/x")),
            scenario("asked", "escalate", etc),
            scenario("at least asked", "not-allow", etc),
            scenario("no rule", "deny", request(
                "filesystem", "write_file", path="/etc/x", content=""))]
    path = f.write("scenarios.json", {"scenarios": good})
    r = f.run("test", path)
    t.equal((r.returncode, r.stdout.count("\nok") + r.stdout.startswith("ok")),
            (0, 4), "test: four scenarios hold")
    path = f.write("list.json", good)
    t.equal(f.run("test", path).returncode, 0, "test: a bare list")
    path = f.write("fails.json", {"scenarios": good + [
        scenario("wrong", "allow", etc), {"description": "broken"},
        scenario("unknown", "maybe", etc)]})
    r = f.run("test", path, "--json")
    got = json.loads(r.stdout)
    t.equal((r.returncode, got["passed"], got["failed"]), (1, 4, 3),
            "test: what fails is counted, and the rest runs")
    r = f.run("test", path)
    t.contains(r.stdout, "not ok 5 - wrong", "test: which")
    t.contains(r.stdout, "expected allow, got escalate by reads",
               "test: and why")
    for name, text in (("torn.json", "{"), ("odd.json", '{"x":1}')):
        r = f.run("test", f.write(name, text))
        t.ok(r.returncode == 1 and name in r.stderr, f"test: {name}",
             r.stderr)


def test_replay(work):
    f = build(work)
    log = os.path.join(work, "log-echo", "log.jsonl")
    with h.workdir() as inner:
        provider = h.Provider(inner)
        s = h.Session(inner, {"echo": h.echo_server(log)},
                      [h.rule("echo", "allow", tool=["echo", "big"])],
                      {"echo": h.ECHO_TOOLS}, provider=provider, config={
                          "policy": {"deny": ["tool echo/big"]}}).start()
        m = s.client()
        m.call("echo__echo", {"text": "one"})
        m.call("echo__big", {"bytes": 1})
        m.call("echo__env", {})
        m.call("echo__nothing", {})
        s.stop()
        provider.end()
        audit = os.path.join(s.dir, "audit.jsonl")
        f.annotations = f.write("echo.json", {"servers": {
            "echo": h.annotation("echo", h.ECHO_TOOLS)}})
        f.lists = None
        same = f.policy = f.write("same.json", {"rules": [
            h.rule("echo", "allow", tool=["echo", "big"])]})
        h.put(os.path.join(f.home, "config.json"), json.dumps({
            "policy": {"deny": ["tool echo/big"]}}), 0o600)
        r = f.run("replay", audit, "--json")
        got = json.loads(r.stdout)
        t.equal((r.returncode, got["calls"], got["differ"],
                 got["notCompared"]), (0, 4, 0, 1),
                "replay: the same policy and settings decide the same")
        other = f.policy = f.write("other.json", {"rules": [
            h.rule("no-echo", "escalate", tool=["echo"])]})
        r = f.run("replay", audit, "--json")
        got = json.loads(r.stdout)
        t.equal((r.returncode, got["differ"]), (1, 1),
                "replay: another policy differs in one call")
        x = got["differences"][0]
        t.equal((x["toolName"], x["arguments"], x["was"]["decision"],
                 x["now"]["decision"], x["now"]["rule"]),
                ("echo", {"text": "one"}, "allow", "escalate", "no-echo"),
                "replay: which call, and how")
        r = f.run("diff", same, other, "--audit", audit, "--json")
        got = json.loads(r.stdout)
        t.equal((r.returncode, got["calls"], got["differ"]), (1, 4, 1),
                "diff: over recorded calls")
        t.equal([(c["change"], c["name"]) for c in got["changes"]],
                [("removed", "echo"), ("added", "no-echo")],
                "diff: as rules")
        r = f.run("diff", same, same, "--audit", audit)
        t.equal(r.returncode, 0, "diff: nothing differs")


def test_diff(work):
    f = build(work)
    changed = json.loads(json.dumps(RULES))
    changed[0]["then"] = "escalate"
    changed[1], changed[2] = changed[2], changed[1]
    new = f.write("new.json", {"rules": changed})
    r = f.run("diff", f.policy, new, "--json")
    got = json.loads(r.stdout)
    t.equal([(c["change"], c["name"], c.get("members", "")[:4])
             for c in got["changes"]],
            [("changed", "docs", "then"), ("moved", "sites", "from")],
            "diff: changed members and order")
    t.equal(got["changes"][0]["rule"],
            {"then": "escalate", "if": changed[0]["if"]},
            "diff: what a changed rule is about")
    wider = f.write("wider.json", {"rules": RULES + [h.rule(
        "more\u202e", "allow", server=["s\u009b2J"])]})
    r = f.run("diff", f.policy, wider)
    t.contains(r.stdout, "    allows {\"server\":[\"s\\u009b2J\"]}\n",
               "diff: what a new rule grants, nothing unseen in it")
    audit = f.write("odd.jsonl", "".join(json.dumps({
        "event": "call", **request("filesystem", "read_file", path=p),
        "policyDecision": {"status": "deny", "rule": rule, "reason": ""}}) + "\n"
        for p, rule in (("/srv/x", "structural-outside-view"), ("/srv/x", "reads"))))
    r = f.run("diff", f.policy, new, "--audit", audit, "--json")
    again = json.loads(f.run("replay", audit, "--json").stdout)
    got = json.loads(r.stdout)
    t.equal((got["calls"], got["notCompared"]),
            (again["calls"], again["notCompared"]), "diff: counts as replay does")
    t.equal(got["notCompared"], 1, "diff: what the policy did not decide")
    r = f.run("diff", f.policy, os.path.join(work, "none"))
    t.ok(r.returncode == 1 and "none" in r.stderr,
         "diff: a file that is not there", r.stderr)
    for name in ("a", "b"):
        os.makedirs(os.path.join(work, name))
        f.write(f"{name}/compiled-policy.json", {"rules": RULES})
        f.write(f"{name}/tool-annotations.json", {"servers": {
            s: h.annotation(s, x) for s, x in ANNOTATIONS.items()}})
        f.write(f"{name}/dynamic-lists.json", {"lists": {"sites": {
            "values": [name + ".example"]}}})
    r = f.run("diff", os.path.join(work, "a"), os.path.join(work, "b"),
              options=False)
    t.contains(r.stdout, "~ list sites: values",
               "diff: directories, with their lists")


def held(tool, end, server="filesystem", **arguments):
    return json.dumps({
        "event": "call", **request(server, tool, **arguments),
        "policyDecision": {"status": "escalate", "rule": "reads",
                           "reason": ""}, "escalationResult": end})


def granted(tool, server="filesystem", **arguments):
    """Returns a record as auditd writes it for a call that a grant allowed."""
    return json.dumps({
        "event": "call", **request(server, tool, **arguments),
        "policyDecision": {"status": "allow", "rule": "reads",
                           "reason": "Whitelist-approved: reads"},
        "whitelistApproved": True, "whitelistPatternId": 1})


def test_learn(work):
    f = build(work)
    rules = RULES[:1] + [h.rule("ask", "escalate")]
    f.policy = f.write("policy.json", {"rules": rules})
    calls = [
        held("read_file", "approved", path="/srv/a/x"),
        held("read_file", "approved", path="/srv/a/x"),
        held("read_file", "denied", path="/srv/a/y"),
        held("read_file", "expired", path="/srv/a"),
        held("write_file", "approved", path="/srv/b", content="1"),
        held("write_file", "approved", path="/srv/c", content="1"),
        held("write_file", "denied", path="/srv/c", content="2"),
        held("fetch", "approved", "fetch", url="https://A.example:8/x"),
        held("note", "approved", "memory", text="hello"),
        held("note", "denied", "memory", text="other"),
        held("read_file", "approved", path="/"),
        held("tag", "approved", "memory", name="v1"),
        held("tag", "denied", "memory", name="v2"),
        held("list", "approved", "memory"),
        granted("read_file", path="/srv/a/x"),
        granted("fetch", "fetch", url="https://b.example/y"),
    ]
    audit = f.write("audit.jsonl", "".join(c + "\n" for c in calls))
    into = os.path.join(work, "learned.json")
    r = f.run("learn", audit, "--into", into, "--json")
    got = json.loads(r.stdout)
    t.equal((r.returncode, got["approved"]), (0, 11), "learn: what it saw")
    rules = {x["rule"]["if"]["tool"][0]: x for x in got["rules"]}
    t.equal(sorted((x["rule"]["if"]["tool"][0], x["evidence"])
                   for x in got["rules"]),
            [("fetch", 1), ("fetch", 1), ("list", 1), ("read_file", 3),
             ("tag", 1), ("write_file", 1)],
            "learn: a rule for each, with its evidence, and for what was "
            "allowed for the session")
    t.equal(rules["read_file"]["rule"]["if"]["paths"],
            {"roles": ["read-path"], "within": "/srv/a/x", "links": []},
            "learn: no wider than what was approved")
    t.equal([x["line"] for x in got["notLearned"]], [6, 9, 11],
            "learn: what cannot be told from what was refused, and /, "
            "are left out")
    f.policy = into
    asked = [json.loads(c) for c in calls] + [
        request("filesystem", "read_file", path="/srv/a/x.y"),
        request("filesystem", "read_file", path="/srv"),
        request("filesystem", "write_file", path="/srv/a/x", content=""),
        request("fetch", "fetch", url="https://b.a.example/"),
        request("memory", "note", text="hello!")]
    got = [g["decision"] for g in f.eval(*asked)]
    a, e = "allow", "escalate"
    t.equal(got, [a, a, e, e, a, e, e, a, e, e, e, a, e, a, a, a] + [e] * 5,
            "learn: the proposal allows what was approved, and no parent, "
            "sibling or other tool")
    t.equal(findings(f)[0], 0, "learn: the proposal is clean")
    r = f.run("learn", audit)
    t.contains(r.stdout, "# not learned", "learn: in words")


def test_learn_no_more(work):
    """Only what was approved is proposed; names are shown escaped."""
    f = build(work)
    f.policy = f.write("policy.json", {"rules": [h.rule("ask", "escalate")]})
    f.annotations = f.write("annotations.json", {"servers": {
        "filesystem": h.annotation("filesystem", {
            "read_file": {"path": ["read-path"]},
            "move_file": {"source": ["read-path", "delete-path"],
                          "destination": ["write-path"]}}),
        "fetch": h.annotation("fetch", {"fetch": {"url": ["fetch-url"]}})}})
    made = os.path.join(work, "dir")
    os.makedirs(made)
    odd = "/srv/\u202e\u009b2J\u200b\u00fc"
    calls = [
        held("read_file", "approved", path=made),
        held("read_file", "approved", path=odd),
        held("fetch", "approved", "fetch", url="https://a.example/x"),
        held("move_file", "approved", source="/srv/a", destination="/srv/b"),
        held("move_file", "approved", source="/srv/c", destination="/srv/d"),
    ]
    audit = f.write("audit.jsonl", "".join(c + "\n" for c in calls))
    into = os.path.join(work, "learned.json")
    r = f.run("learn", audit, "--into", into)
    with open(into, encoding="utf-8") as o:
        text = o.read()
    for what, s in (("terminal", r.stdout), ("file", text)):
        t.ok("\\u202e\\u009b2J\\u200b\u00fc" in s and not set(s) & set("\u202e\u009b\u200b"),
             "learn: what cannot be seen is escaped, letters are not: " + what, s)
    t.ok("approved once" in text and "1 times" not in text, "learn: once", text)
    f.policy = into
    got = [g["decision"] for g in f.eval(*[json.loads(c) for c in calls],
                                         request("filesystem", "read_file", path=made + "/x"),
                                         request("fetch", "fetch", url="https://a.example/y"),
                                         request("filesystem", "move_file", source="/srv/a",
                                                 destination="/srv/d"))]
    a, e = "allow", "escalate"
    t.equal(got, [e, a, a, a, e, e, e, e],
            "learn: no directory, no other URL of the host, no other pair")
    t.ok("directory" in r.stdout and "combinations" in r.stdout,
         "learn: says what was left out", r.stdout)


def test_usage(work):
    f = build(work)
    for args in ((), ("nothing",), ("test",), ("diff", "x"),
                 ("explain", "x")):
        r = subprocess.run([h.program("icctl"), "policy", *args],
                           capture_output=True, text=True, env=f.env(),
                           stdin=subprocess.DEVNULL, check=False)
        t.ok(r.returncode == 64 and r.stderr, f"usage: {args}", r.stderr)
    left = [n for n in os.listdir("/tmp") if n.startswith("icctl-policy.")
            and os.stat(os.path.join("/tmp", n)).st_ctime > BEGIN]
    t.equal(left, [], "no empty workspace is left behind")


BEGIN = time.time()


def main():
    for case in (test_eval, test_narrowed, test_help, test_eval_bad, test_eval_options,
                 test_eval_lives, test_eval_fast, test_explain, test_consistent,
                 test_check,
                 test_check_links, test_check_void, test_check_schema, test_scenarios,
                 test_replay, test_diff, test_learn_no_more,
                 test_learn, test_usage):
        with h.workdir() as work, t.case(case.__name__):
            case(work)
    t.done()


if __name__ == "__main__":
    main()
