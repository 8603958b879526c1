#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Tools that no policy knows: each call is held, runs in the server's ordinary
view and says so; policy.unknownTools hides or denies them instead."""
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
        t.contains(hold["effect"], "a tool that no policy knows", "the effect")
        t.equal(calls(work), [], "the server has seen nothing")
        s.icctl("approve", hold["id"], check=True)
        t.equal(h.text_of(call.wait()), "one", "approved, it runs")
        call = m.start_call("mine__echo", {"text": "two"})
        s.icctl("deny", s.held()["id"], check=True)
        t.contains(h.text_of(call.wait()), "ESCALATION DENIED", "denied")
        # No instance with the path in it: the ordinary view alone.
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
            wrong)
        for n, case in enumerate(cases):
            case(os.path.join(work, str(n)))
    t.done()


if __name__ == "__main__":
    main()
