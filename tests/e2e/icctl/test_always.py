#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""`icctl always`: a call that waits becomes a rule of the policy, which is in
force at once and in the next session, and allows no neighbour of the call."""
import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
import terminal  # noqa: E402

t = h.Tap()
TOOLS = {"echo": {**h.ECHO_TOOLS, "lookup": {"path": ["read-path"]}}}


def session(work, policy=True):
    log = os.path.join(work, "log", "log.jsonl")
    rules = [h.rule("ask", "escalate", "A person decides.",
                    tool=["lookup", "echo"])]
    return h.Session(work, {"echo": h.echo_server(log)},
                     rules if policy else None, TOOLS)


def rules_of(s):
    with open(os.path.join(s.home, "policy", "compiled-policy.json"),
              encoding="utf-8") as f:
        return json.load(f)["rules"]


def test_rule(work):
    s = session(work)
    one, other = (h.put(os.path.join(s.workspace, n), "")
                  for n in ("one", "other"))
    with s:
        m = s.client()
        call = m.start_call("echo__lookup", {"path": one})
        ident = str(s.held()["id"])
        r = s.icctl("always", ident, answers="n\n")
        t.ok(r.returncode == 1 and "within\":\"/workspace/one" in r.stdout
             and "Nothing was changed" in r.stdout and len(rules_of(s)) == 1
             and len(s.pending()) == 1, "no answer but yes adds a rule", r)
        r = s.icctl("always", ident, answers="y\n")
        t.ok(r.returncode == 0 and "In force now" in r.stdout,
             "on a yes the rule is in force", r)
        r = call.wait()
        t.ok(not r.get("isError"), "and the call happens", r)
        rules = rules_of(s)
        t.ok(len(rules) == 2 and rules[0]["then"] == "allow"
             and rules[0]["if"]["paths"]["within"] == "/workspace/one", "the policy has it", rules)
        t.ok(not m.call("echo__lookup", {"path": one}).get("isError")
             and s.pending() == [], "the same call is not asked about again")
        call = m.start_call("echo__lookup", {"path": other})
        ident = str(s.held()["id"])
        t.ok(True, "another one is")
        s.icctl("deny", ident, check=True)
        call.wait()
        call = m.start_call("echo__lookup", {"path": other})
        r = s.icctl("always", str(s.held()["id"]), answers="y\n")
        t.ok(r.returncode == 1 and "no rule" in r.stderr and
             len(rules_of(s)) == 2,
             "no rule allows what was denied in this session", r)
        s.icctl("deny", str(s.held()["id"]), check=True)
        call.wait()
        r = s.icctl("always", "zzzz", answers="y\n")
        t.ok(r.returncode == 1 and r.stderr, "a call that does not wait", r)
        m.close()
    s = session(os.path.join(work, "again"), policy=False)
    s.env["IRONCURTAIN_HOME"] = os.path.join(work, "home")
    with s:
        m = s.client()
        m.call("echo__lookup",
               {"path": h.put(os.path.join(s.workspace, "one"), "")})
        decided = [e["policyDecision"] for e in s.events("call")]
        t.ok(decided[0]["status"] == "allow" and
             decided[0]["rule"].startswith("learned"),
             "the next session has the rule", decided)
        m.close()


def test_key(work):
    """The key A where a call is answered line by line, as in a viewer's
    panel."""
    s = session(work)
    path = h.put(os.path.join(s.workspace, "one"), "")
    with s:
        m = s.client()
        term = terminal.Terminal(
            [h.program("icctl"), "--session", s.dir, "watch", "--plain"],
            {**s.env, "TERM": "xterm"})
        call = m.start_call("echo__lookup", {"path": path})
        term.until(rb"\[A\]lways")
        term.key(b"Ay\n")
        out = term.until(rb"different call[\s\S]*\[A\]lways")
        t.ok(len(rules_of(s)) == 1, "not at once", out)
        term.answer(b"A")
        term.until(rb"within[\s\S]*\[y/N\] ")
        term.key(b"n\n")
        term.until(rb"Nothing was changed[\s\S]*\[A\]lways")
        t.equal((len(rules_of(s)), len(s.pending())), (1, 1),
                "a no leaves the call waiting")
        term.answer(b"A")
        term.until(rb"\[y/N\] ")
        term.key(b"y\n")
        t.ok(not call.wait().get("isError"), "a yes lets it happen")
        term.until(rb"no pending calls")
        t.equal(len(rules_of(s)), 2, "and the policy has the rule")
        term.key(b"q")
        t.equal(term.end_status(), 0, "the keys work again")
        m.close()


def test_copy(work):
    """A policy that comes with icctl, and that the session names: the user's
    copy of it has that name, and is no other session's policy."""
    path = h.put(os.path.join(work, "notes", "one"), "text\n")

    def build(name, *options):
        return h.Session(os.path.join(work, name), {"filesystem": {
            "command": "icfs", "args": ["/workspace"]}}, options=(
                "--runtime", "none", *options), env={
                    "IRONCURTAIN_HOME": home})
    home = os.path.join(work, "home")
    os.makedirs(home, mode=0o700)
    for options, place in ((("--policy", "coding"), "policies/coding"),
                           ((), "policy")):
        s = build(place.replace("/", "-"), *options)
        with s:
            m = s.client()
            call = m.start_call("filesystem__read_file", {"path": path})
            r = s.icctl("always", str(s.held()["id"]), answers="y\n")
            where = os.path.join(home, place, "compiled-policy.json")
            t.ok(r.returncode == 0 and f"{place}/compiled-policy.json,\n"
                 "your copy of the policy that comes with icctl" in r.stdout,
                 f"{place}: the question says where the rule goes", r)
            t.ok(not call.wait().get("isError") and os.path.exists(where),
                 f"{place}: and there it is", os.listdir(home))
            t.equal(sorted(x for x in os.listdir(home)
                           if x.startswith("polic")),
                    ["policies"] if options else ["policies", "policy"],
                    f"{place}: and nowhere else")
            m.close()
        s = build("again-" + place.replace("/", "-"), *options)
        with s:
            m = s.client()
            r = m.call("filesystem__read_file", {"path": path})
            t.ok(not r.get("isError") and
                 s.events("call")[-1]["policyDecision"]["rule"] == "learned-1",
                 f"{place}: the next session of that policy has it",
                 (r, s.events("call")))
            m.close()


def main():
    for test in (test_rule, test_key, test_copy):
        with h.workdir() as work, t.case(test.__name__):
            test(work)
    t.done()


if __name__ == "__main__":
    main()
