#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Tests tools without an annotation: each call is held, runs in the server's
ordinary view and says so; policy.unknownTools hides or denies them instead."""
import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402

t = h.Tap()
RULES = [h.rule("known", "allow", server=["known"]),
         h.rule("never", "deny", tool=["fail"])]


def session(work, *options, **config):
    servers = {
        name: h.echo_server(os.path.join(work, "log-" + name, "log.jsonl"))
        for name in ("known", "mine")}
    return h.Session(work, servers, RULES, {"known": h.ECHO_TOOLS},
                     config={"policy": config} if config else None,
                     options=options)


def names(m):
    return {tool["name"] for tool in m.list_tools()}


def calls(work, server="mine"):
    return [x for x in h.read_lines(os.path.join(
        work, "log-" + server, "log.jsonl"))
            if "tools/call" in x.get("text", "")]


def held(work):
    outside = h.put(os.path.join(work, "user", "outside"), "not in the view")
    with session(work) as s:
        m = s.client()
        t.ok({"mine__echo", "mine__lookup"} <= names(m), "they are offered")
        call = m.start_call("mine__echo", {"text": "one"})
        hold = s.held()
        for text in ("No policy knows this tool", "ordinary view, which is "
                     "the boundary", ", /workspace; may read", "no network"):
            t.contains(hold["reason"], text, f"the person reads: {text}")
        t.equal(hold["rule"], "unknown-tool-hold", "the rule")
        t.equal(hold["effect"], "Calls mine__echo, a tool that no policy knows; "
                'its server says of it: "Gives back its text."', "the effect, "
                "with the server's words as such")
        t.equal(calls(work), [], "the server has seen nothing")
        s.icctl("approve", hold["id"], check=True)
        t.equal(h.text_of(call.wait()), "one", "approved, it runs")
        call = m.start_call("mine__echo", {"text": "two"})
        s.icctl("deny", s.held()["id"], check=True)
        t.contains(h.text_of(call.wait()), "ESCALATION DENIED", "denied")
        # The call gets no instance with the path: only the ordinary view.
        call = m.start_call("mine__lookup", {"path": outside})
        s.icctl("approve", s.held()["id"], check=True)
        r = call.wait()
        t.ok(r["isError"] and "not in the view" not in h.text_of(r),
             "an approval adds nothing to the view", r)
        t.equal(len(calls(work)), 2, "one call for each approval")
        r = m.call("mine__fail", {"text": "x"})
        t.contains(h.text_of(r), "DENIED: never",
                   "a rule that denies the tool by name still does")
        r = m.call("known__echo", {"text": "k"})
        t.equal(h.text_of(r), "k", "tools that are known are not asked for")
        e = [x for x in s.events("call") if x["serverName"] == "mine"][0]
        t.equal((e["policyDecision"]["status"], e["escalationResult"]),
                ("escalate", "approved"), "the log")
        m.close()


def refused(work, what, offered, *options, **config):
    with session(work, *options, **config) as s:
        m = s.client()
        t.equal("mine__echo" in names(m), offered, f"{what}: offered")
        t.ok("known__echo" in names(m), f"{what}: the others are there")
        r = m.call("mine__echo", {"text": "x"})
        t.ok("Missing annotation for tool: mine__echo" in h.text_of(r) and
             "icctl mcp annotate mine" in h.text_of(r) and
             "Do not retry" in h.text_of(r), f"{what}: a call is refused", r)
        t.equal((calls(work), s.pending()), ([], []), f"{what}: nothing ran")
        m.close()


def asked(s, m, tool, **arguments):
    """Returns true if the call is held; it is denied then."""
    call = m.start_call(tool, arguments)
    h.wait_for(lambda: call.done.is_set() or s.pending(), "an end")
    if call.done.is_set():
        return False
    s.icctl("deny", s.pending()[0]["id"], check=True)
    call.wait()
    return True


def granted(s):
    return json.loads(s.icctl("--json", "status").stdout)["granted"]


def same(work):
    with session(work) as s:
        m = s.client()
        call = m.start_call("mine__echo", {"text": "a/b"})
        hold = s.held()
        text = s.icctl("show", hold["id"]).stdout
        t.ok("--exact" in text and "--times" not in text,
             "a server that writes: these arguments are offered alone", text)
        r = s.icctl("approve", hold["id"], "--times", "3")
        t.ok(r.returncode == 1 and "several calls" in r.stderr,
             "and not so many calls", r)
        s.icctl("approve", hold["id"], "--exact", check=True)
        t.equal(h.text_of(call.wait()), "a/b", "approved")
        for _ in range(3):
            t.equal(h.text_of(m.call("mine__echo", {"text": "a/b"})), "a/b",
                    "the same passes")
        t.ok(asked(s, m, "mine__echo", text="a/c"), "another is asked for")
        t.contains(s.icctl("status").stdout, "Allow mine/echo with exactly "
                   "these arguments", "status shows it")
        g = granted(s)[0]["id"]
        t.equal(s.icctl("revoke", "zzzz").returncode, 1, "a wrong id")
        r = s.icctl("revoke", g, check=True)
        t.contains(r.stdout, f"revoked {g}", "revoked")
        t.equal(granted(s), [], "it is gone")
        t.ok(asked(s, m, "mine__echo", text="a/b"), "and asked for again")
        t.equal([e["state"] for e in s.events("grant")], ["made", "ended"],
                "the log has its beginning and its end")
        m.close()


def times(work):
    plain = {"command": h.PYTHON, "args": [
        os.path.join(h.STANDINS, "mcp_echo.py"), "--log",
        "/workspace/log.jsonl", "--closed"],
        "sandbox": {"filesystem": {"allowRead": [h.STANDINS]}}}
    with h.Session(work, {"mine": plain}, RULES, {}) as s:
        m = s.client()
        watch = h.subprocess.Popen(
            [h.program("icctl"), "--session", s.dir, "watch"], env=s.env,
            stdout=h.subprocess.PIPE, stdin=h.subprocess.DEVNULL, text=True)
        call = m.start_call("mine__echo", {"text": "one"})
        hold = s.held()
        t.contains(s.icctl("show", hold["id"]).stdout, "--times N",
                   "so many calls are offered")
        for bad in ("0", "21", "x", "-1"):
            t.equal(s.icctl("approve", hold["id"], "--times", bad).returncode,
                    64, f"--times {bad} is refused")
        others = [m.start_call("mine__echo", {"text": f"word {n}"})
                  for n in range(8)]
        h.wait_for(lambda: len(s.pending()) == 9, "nine wait")
        s.icctl("approve", hold["id"], "--times", "3", check=True)
        call.wait()
        h.wait_for(lambda: len(s.pending()) == 6, "two more went out")
        h.wait_for(lambda: sum(c.done.is_set() for c in others) == 2,
                   "three of nine calls are answered")
        left = [e["whitelistRemaining"] for e in s.events("call")
                if "whitelistRemaining" in e]
        t.equal(sorted(left), [0, 1, 2], "the log counts them")
        for x in s.pending():
            s.icctl("deny", x["id"], check=True)
        s.icctl("stop", check=True)
        text = watch.communicate(timeout=20)[0]
        t.ok(": used, 1 left; icctl revoke" in text and
             "ended, all its calls were made" in text,
             "each use is a line of watch", text)
        m.close()


def wrong(work):
    s = session(work, unknownTools="ask")
    try:
        s.start()
        t.ok(False, "a wrong value is refused")
        s.stop()
    except RuntimeError as e:
        t.contains(str(e), 'policy.unknownTools: must be "hold", "hide" or '
                   '"deny", is "ask"', "a wrong value is refused")


def main():
    with h.workdir() as work:
        cases = (
            held,
            lambda w: refused(w, "hide", False, unknownTools="hide"),
            lambda w: refused(w, "deny", True, unknownTools="deny"),
            lambda w: refused(w, "--escalations deny", False,
                              "--escalations", "deny"),
            same, times, wrong)
        for n, case in enumerate(cases):
            case(os.path.join(work, str(n)))
    t.done()


if __name__ == "__main__":
    main()
