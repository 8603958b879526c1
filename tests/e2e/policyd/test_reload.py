#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Tests `icctl policy reload`: all rules change between two calls, or none;
held calls are decided again; bad files change nothing; drift from the
constitution is reported, or refused; egress lists and trusted servers of the
configuration are in force."""
import hashlib
import json
import os
import sys
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402

t = h.Tap()
TOOLS = {"echo": h.ECHO_TOOLS}
ASK = h.rule("ask", "escalate", "A person decides.", tool=["echo"])


def session(work, rules, **kw):
    servers = {"echo": h.echo_server(os.path.join(work, "log", "log.jsonl"))}
    kw.setdefault("annotations", TOOLS)
    return h.Session(work, kw.pop("servers", servers), rules, **kw)


def say(m, tool, **arguments):
    return h.outcome(m.call(tool, arguments))


def decision(s):
    d = s.events("call")[-1]["policyDecision"]
    return d["status"], d["rule"]


def basic(work):
    with session(work, [h.rule("first", "allow", tool=["echo"])]) as s:
        m = s.client()
        t.equal(say(m, "echo__echo", text="x"), (False, "x"), "as it began")
        t.ok(say(m, "echo__big", bytes=3)[0], "the rest is denied")
        s.policy([h.rule("second", "allow", tool=["big"])], TOOLS)
        t.equal(say(m, "echo__echo", text="x")[0], False,
                "files alone change nothing")
        r = s.icctl("policy", "reload")
        t.ok(r.returncode == 0 and "In force now: 1 rule " in r.stdout,
             "reload", r.stdout + r.stderr)
        t.ok(say(m, "echo__echo", text="x")[0], "then the old is gone")
        t.equal(say(m, "echo__big", bytes=3)[0], False, "and the new holds")
        t.equal(decision(s), ("allow", "second"), "by its name")
        line = s.events("policy")[-1]
        with open(os.path.join(s.home, "policy/compiled-policy.json"),
                  "rb") as f:
            want = hashlib.sha256(f.read()).hexdigest()
        t.equal(line["policy"], want, "the log says from where on")
        asked = s.events("reload")[-1]["detail"]
        t.ok(asked["policy"]["policy"] == want and asked["pid"] > 1,
             "and who asked for what", asked)
        with open(os.path.join(s.dir, "session.json"), encoding="utf-8") as f:
            t.equal(json.load(f)["policy"]["policy"], want, "session.json too")
        # Another directory, and single files.
        other = os.path.join(work, "other")
        os.makedirs(other)
        for name in ("compiled-policy.json", "tool-annotations.json"):
            os.link(os.path.join(s.home, "policy", name),
                    os.path.join(other, name))
        s.policy([h.rule("third", "allow", tool=["echo"])], TOOLS)
        r = s.icctl("--json", "policy", "reload", "--policy", other)
        t.ok(r.returncode == 0 and json.loads(r.stdout)["policy"].startswith(
            other), "--policy DIR", r.stdout + r.stderr)
        r = s.icctl("policy", "reload", "--policy", "../../" * 9 + s.write(
            "mine.json", {"rules": [h.rule("mine", "allow")]})[1:])
        t.ok(r.returncode == 0, "--policy FILE", r.stderr)
        say(m, "echo__echo", text="x")
        t.equal(decision(s), ("allow", "mine"), "is in force")
        r = s.icctl("policy", "reload", "--policy", "read-only")
        t.ok(r.returncode == 0 and "read-only" in r.stdout, "--policy NAME",
             r.stdout + r.stderr)
        r = s.icctl("policy", "reload", "--trust", "echo")
        t.equal(r.returncode, 64, "what cannot be changed is refused")
        m.close()


def write(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def bad(work):
    with session(work, [h.rule("old", "allow", tool=["echo"]), ASK]) as s:
        m = s.client()
        policy = os.path.join(s.home, "policy")
        rules = os.path.join(policy, "compiled-policy.json")
        notes = os.path.join(policy, "tool-annotations.json")
        lists = os.path.join(policy, "dynamic-lists.json")
        with open(rules, encoding="utf-8") as f:
            good = f.read()
        with open(notes, encoding="utf-8") as f:
            good_notes = f.read()
        cases = [
            ("no JSON", rules, good[:-9], "line 1"),
            ("a condition that is unknown", rules, good.replace(
                '"tool"', '"moon"'), "moon"),
            ("a decision that is none", rules, good.replace(
                '"allow"', '"maybe"'), "must be allow"),
            ("a directory without ~user", rules, json.dumps({"rules": [
                h.rule("x", "allow", paths={"roles": ["read-path"],
                                            "within": "~root/x"})]}), "within"),
            ("a role that is none", notes, good_notes.replace(
                '"read-path"', '"rule-the-path"'), "rule-the-path"),
            ("lists that are none", lists, '{"lists": 3}', "lists"),
            ("no annotations", notes, None, "tool-annotations.json is missing"),
            ("a file that others may write to", rules, 0o666, "chmod go-w"),
        ]
        for name, path, text, why in cases:
            mode = 0o600
            if isinstance(text, int):
                mode, text = text, good
            if text is None:
                os.unlink(path)
            else:
                write(path, text)
                os.chmod(path, mode)
            r = s.icctl("policy", "reload")
            t.ok(r.returncode == 1 and why in r.stderr, f"{name}: refused",
                 r.stdout + r.stderr)
            t.equal(say(m, "echo__echo", text=name), (False, name),
                    "the old is in force")
            t.equal(decision(s), ("allow", "old"), "by its name")
            os.chmod(rules, 0o600)
            write(rules, good)
            write(notes, good_notes)
            if os.path.exists(lists):
                os.unlink(lists)
        t.equal(len(s.events("reloadRefused")), len(cases),
                "the log has each of them")
        t.equal(s.events("policy"), [], "and no change")
        for args in (("--policy", "/nowhere/p.json"), ("--policy", "nobody"),
                     ("--lists", "/nowhere/l.json")):
            r = s.icctl("policy", "reload", *args)
            t.ok(r.returncode == 1 and r.stderr, f"{args}: refused", r.stderr)
        t.equal(s.icctl("policy", "reload").returncode, 0,
                "a good one afterwards")
        m.close()


def held(work):
    with session(work, [ASK]) as s:
        m = s.client()
        calls = [m.start_call("echo__echo", {"text": x}) for x in "abc"]
        h.wait_for(lambda: len(s.pending()) == 3, "three held")
        before = {x["arguments"]: x for x in s.pending()}
        # "a" is allowed now, "b" denied, "c" still escalated.
        annotations = {"echo": {**h.ECHO_TOOLS,
                                "echo": {"text": ["branch-name"]}}}

        def about(name, then, text):
            return h.rule(name, then, f"about {text}", tool=["echo"], lists=[{
                "roles": ["branch-name"], "allowed": [text],
                "matchType": "identifiers"}])
        s.policy([about("may", "allow", "a"), about("not", "deny", "b"),
                  about("still", "escalate", "c")], annotations)
        s.icctl("policy", "reload", check=True)
        t.equal(h.text_of(calls[0].wait()), "a",
                "what is allowed now goes out")
        r = calls[1].wait()
        t.ok(r["isError"] and "about b" in h.text_of(r) and
             "changed while" in h.text_of(r),
             "what is denied now is refused", r)
        left = h.wait_for(lambda: [x for x in s.pending()
                                   if x["reason"] == "about c"], "c's reason")
        t.equal(len(s.pending()), 1, "and one waits on")
        old = before[left[0]["arguments"]]
        t.equal((left[0]["id"], left[0]["digest"], left[0]["rule"]),
                (old["id"], old["digest"], "still"),
                "under its id, for its new reason")
        ends = {json.loads(json.dumps(e["arguments"]))["text"]: e
                for e in s.events("call")}
        t.equal((ends["a"]["escalationResult"],
                 ends["a"]["policyDecision"]["status"],
                 ends["a"]["policyDecision"]["rule"]),
                ("reloaded", "allow", "may"), "the log: by which rule")
        t.equal((ends["b"]["escalationResult"],
                 ends["b"]["policyDecision"]["rule"]), ("reloaded", "not"),
                "the log: the denied one")
        s.icctl("approve", left[0]["id"], check=True)
        t.equal(h.text_of(calls[2].wait()), "c",
                "and can be approved")
        m.close()


def generation(k):
    """Writes rules, annotations and lists that only work together."""
    role = ("branch-name", "commit-message")[k % 2]
    rules = [h.rule(f"g{k}", "allow", tool=["echo"], lists=[{
        "roles": [role], "allowed": ["@ok"], "matchType": "identifiers"}])]
    lists = {"generatedAt": "2026-11-21T00:00:00Z", "lists": {"ok": {
        "values": [f"v{k}"], "manualAdditions": [], "manualRemovals": [],
        "resolvedAt": "2026-11-21T00:00:00Z", "inputHash": ""}}}
    return rules, {"echo": {**h.ECHO_TOOLS, "echo": {"text": [role]}}}, lists


def load(work):
    rules, annotations, lists = generation(0)
    with session(work, rules, annotations=annotations, lists=lists) as s:
        stop, now, counts = threading.Event(), [0], [0] * 4

        def caller(i):
            m = s.client()
            while not stop.is_set():
                for k in (now[0], now[0] + 1, max(0, now[0] - 1)):
                    m.call("echo__echo", {"text": f"v{k}"})
                    counts[i] += 1
            m.close()
        threads = [threading.Thread(target=caller, args=(i,))
                   for i in range(4)]
        for x in threads:
            x.start()
        for k in range(1, 26):
            rules, annotations, lists = generation(k)
            s.policy(rules, annotations, lists)
            r = s.icctl("policy", "reload")
            if r.returncode != 0:
                t.ok(False, f"reload {k}", r.stderr)
            now[0], had = k, sum(counts)
            # Make some calls under each set of rules.
            h.wait_for(lambda: sum(counts) >= had + 8, "calls")
        stop.set()
        for x in threads:
            x.join()
        gen, wrong, allowed = 0, [], 0
        for e in s.audit():
            if e["event"] == "policy":
                gen += 1
            elif e["event"] == "call":
                d = e["policyDecision"]
                if d["rule"] == "circuit-breaker":
                    continue    # the call was allowed more than 20 times
                text = e["arguments"]["text"]
                want = ("allow", f"g{gen}") if text == f"v{gen}" \
                    else ("deny", "default-deny")
                allowed += want[0] == "allow"
                if (d["status"], d["rule"]) != want:
                    wrong.append((gen, text, d))
        t.equal(gen, 25, "25 reloads under load")
        t.ok(sum(counts) > 100 and allowed > 25,
             f"{sum(counts)} calls meanwhile, {allowed} allowed")
        t.equal(wrong[:3], [], "each by one policy, whole")


def drift(work):
    rules = [h.rule("r", "allow")]
    base = "Be careful.\n"
    good = hashlib.sha256(f"{base}\n\n".encode()).hexdigest()
    s = session(work, rules)
    write(os.path.join(s.home, "constitution.md"), base)

    def policy(constitution):
        s.write("policy/compiled-policy.json", {
            "generatedAt": "", "constitutionHash": constitution,
            "inputHash": "", "rules": rules})
    policy(good)
    with s:
        t.ok("constitution" not in s.process.stderr(), "no drift: no word",
             s.process.stderr())
        write(os.path.join(s.home, "constitution-user.md"), "And kind.\n")
        r = s.icctl("policy", "reload")
        t.ok(r.returncode == 0 and "/constitution-user.md was changed after"
             in s.process.stderr(),
             "drift is said at a reload, with the file that was edited",
             s.process.stderr())
    s = session(work, rules, config={"policy": {"strict": True}},
                session_dir=os.path.join(work, "s2"))
    policy(good)
    try:
        s.start()
        t.ok(False, "strict refuses it at the start")
        s.stop()
    except RuntimeError as e:
        t.ok("exit 78" in str(e) and "policy.strict" in str(e),
             "strict refuses it at the start", e)
    policy(hashlib.sha256(f"{base}\n\nAnd kind.\n".encode()).hexdigest())
    s.dir = os.path.join(work, "s3")
    s.argv[s.argv.index("--session-dir") + 1] = s.dir
    with s:
        m = s.mcp()
        m.initialize()
        t.ok(True, "strict takes what has not drifted")
        write(os.path.join(s.home, "constitution.md"), "Be bold.\n")
        r = s.icctl("policy", "reload")
        t.ok(r.returncode == 1 and "policy.strict" in r.stderr,
             "and refuses it at a reload", r.stderr)
        m.close()
    os.unlink(os.path.join(s.home, "constitution.md"))
    s.dir = os.path.join(work, "s4")
    s.argv[s.argv.index("--session-dir") + 1] = s.dir
    try:
        s.start()
        t.ok(False, "strict refuses what cannot be compared")
        s.stop()
    except RuntimeError as e:
        t.ok("not there" in str(e), "strict refuses what cannot be compared",
             e)


def config(work):
    servers = {"echo": h.echo_server(
        os.path.join(work, "log", "log.jsonl"), "--alias", "get=echo",
        sandbox={"network": {"allowedDomains": ["ok.example", "*.in.test"],
                             "deniedDomains": []}}),
        "memory": h.echo_server(os.path.join(work, "log2", "log.jsonl"))}
    rules = [h.rule("get", "allow", tool=["get"])]
    with session(work, rules, servers=servers, annotations={
            "echo": {"get": {"text": ["fetch-url"]}}},
            config={"policy": {"trustedServers": ["memory"]}},
            options=["--escalations", "deny"]) as s:
        m = s.client()
        t.equal(say(m, "echo__get", text="https://ok.example/a")[0], False,
                "a domain of the server's list passes the gate")
        t.equal(say(m, "echo__get", text="https://x.in.test/")[0], False,
                "so does one of a pattern")
        t.ok(say(m, "echo__get", text="https://ok.example.evil.test/")[0],
             "another is to be asked for")
        t.equal(decision(s), ("escalate", "structural-domain-escalate"),
                "by the gate")
        t.equal(say(m, "memory__echo", text="x"), (False, "x"),
                "a trusted server needs no annotation")
        t.equal(decision(s), ("allow", "trusted-server"), "and says so")
        m.close()


def main():
    for part in (basic, bad, held, load, drift, config):
        with h.workdir() as work, t.case(part.__name__):
            part(work)
    t.done()


if __name__ == "__main__":
    main()
