#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Tests revision 2026-07-28 of MCP beside the older ones: agents and servers
of both kinds in one session, one probe of each server, subscriptions, rounds of
questions under one approval, and a server that cannot be spoken to."""
import datetime
import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
import agent  # noqa: E402

t = h.Tap()
MODERN = "2026-07-28"
META = "io.modelcontextprotocol/"
NEW = {META + "protocolVersion": MODERN, META + "clientCapabilities": {}}
RULES = [h.rule("no", "deny", server=["modern"], resources=["era://no*"]),
         h.rule("read", "allow", server=["modern", "legacy"],
                resources=["era://*"])]
TRUSTED = ["legacy", "dual", "modern", "dies", "silent"]


def server(work, name, *args):
    log = h.put(os.path.join(work, "log-" + name, "seen"), "")
    return {"command": h.PYTHON, "args": [
        os.path.join(h.STANDINS, "mcp_eras.py"), "--log", log, *args],
        "sandbox": {"filesystem": {
            "allowRead": [h.STANDINS], "allowWrite": [os.path.dirname(log)]}}}


def seen(work, name, method=None):
    """Returns [method, params, id] of what the server got."""
    with open(os.path.join(work, "log-" + name, "seen"),
              encoding="utf-8") as f:
        all_of = [json.loads(x) for x in f]
    return [x for x in all_of if method in (None, x[0])]


class Modern(agent.Mcp):
    """An agent of revision 2026-07-28: it sends no `initialize`."""

    def ask(self, method, params=None, meta=None):
        return self.request(method, {**(params or {}),
                                     "_meta": {**NEW, **(meta or {})}})

    def begin(self, tool, args=None, **more):
        return self.start("tools/call", {"name": tool, "arguments": args or {},
                                         "_meta": NEW, **more})


def fails(function, *args):
    """Returns the error, or None if there is none."""
    try:
        function(*args)
    except agent.RpcError as e:
        return e.error
    return None


def modern(s):
    return Modern(path=s.ready["sockets"]["mcp"])


def discovers(s):
    m = modern(s)
    r = m.ask("server/discover")
    t.ok(r["supportedVersions"] == [MODERN] and
         r["resultType"] == "complete" and r["ttlMs"] == 0 and
         r["cacheScope"] == "private" and
         r["_meta"][META + "serverInfo"]["name"] == "ironcurtain" and
         "tools" in r["capabilities"], "server/discover is answered", r)
    m.initialize()
    t.ok(m.server["protocolVersion"] == "2025-06-18" and
         "resultType" not in m.server,
         "and `initialize` after it in the same connection")
    t.ok(m.ask("server/discover")["resultType"] == "complete",
         "and server/discover after that")
    for meta, code in (({}, -32602), ({META + "protocolVersion": MODERN},
                                      -32602),
                       ({META + "clientCapabilities": {}}, -32602),
                       ({**NEW, META + "clientCapabilities": 1}, -32602),
                       ({**NEW, META + "protocolVersion": "1999-01-01"},
                        -32022),
                       ({**NEW, META + "logLevel": "loud"}, -32602)):
        e = fails(m.request, "server/discover", {"_meta": meta})
        t.ok(e and e["code"] == code, f"_meta {sorted(meta)}", e)
    t.equal(e and fails(m.request, "tools/list", {"_meta": {
        **NEW, META + "protocolVersion": "1999-01-01"}})["data"],
        {"supported": [MODERN], "requested": "1999-01-01"},
        "the error names what there is")
    for method in ("ping", "initialize", "logging/setLevel",
                   "resources/subscribe",
                   "tasks/list"):
        t.equal(fails(m.ask, method)["code"], -32601, method + " is gone")
    m.close()


def greeted(s, name):
    """Returns true if the server got `initialize` although it had not had its
    two seconds for the probe."""
    sent = {e["message"]: datetime.datetime.fromisoformat(
        e["time"].replace("Z", "+00:00"))
        for e in s.audit("session") if e["serverName"] == name}
    return "initialize" in sent and (
        sent["initialize"] - sent["server/discover"]).total_seconds() < 1.9


def four(s, work):
    """An agent of each kind calls a server of each kind."""
    old, new = s.client(), modern(s)
    tools = {x["name"] for x in new.ask("tools/list")["tools"]}
    for name in TRUSTED:
        t.ok(name + "__echo" in tools, f"{name} has listed its tools")
    for name in ("legacy", "dual", "modern"):
        r = old.call(name + "__echo", {"text": "a"})
        t.ok(h.text_of(r) == "a" and "resultType" not in r,
             f"an old agent, and {name}", r)
        r = new.begin(name + "__echo", {"text": "b"}).wait()
        t.ok(h.text_of(r) == "b" and r["resultType"] == "complete",
             f"a new agent, and {name}", r)
    first = {n: [x[0] for x in seen(work, n)][:3] for n in TRUSTED}
    t.ok(first["modern"][1] == "server/discover" and
         not greeted(s, "modern"),
         "a server of 2026-07-28 gets no initialize", first["modern"])
    t.ok(not greeted(s, "dual"), "nor does one of both kinds")
    t.equal(first["legacy"][1:3], ["server/discover", "initialize"],
            "an old one gets it after the probe")
    starts = [x[0] for x in seen(work, "dies")][:4]
    t.equal(starts, ["start", "server/discover", "start", "initialize"],
            "one that ends on the probe is started again")
    t.equal(first["silent"][1:3], ["server/discover", "initialize"],
            "one that does not answer it gets it in the same pipe")
    _, params, _ = seen(work, "modern", "tools/call")[0]
    t.ok(params["_meta"][META + "protocolVersion"] == MODERN and
         params["_meta"][META + "clientCapabilities"] ==
         {"elicitation": {"form": {}, "url": {}}} and
         params["_meta"][META + "clientInfo"]["name"] == "ironcurtain",
         "each request says what it is", params)
    old.close()
    new.close()


def lists(s):
    new, old = modern(s), s.client()
    r = h.wait_for(lambda: (lambda r: r if len(r["resources"]) == 4 else None)(
        new.ask("resources/list")), "resources")
    t.ok(r["ttlMs"] == 0 and r["cacheScope"] == "private",
         "a list is as good as the worst of it", r)
    r = new.ask("resources/read", {"uri": "icmcp://modern/era://one"})
    t.ok(r.get("resultType") == "input_required" and
         r.get("requestState") not in (None, "read"),
         "a read that is to be repeated", r)
    r = new.ask("resources/read", {"uri": "icmcp://modern/era://one",
                                   "requestState": r["requestState"]})
    t.ok(r["contents"][0]["text"] == "1" and r["ttlMs"] == 5000 and
         r["resultType"] == "complete", "goes on with the state", r)
    r = old.request("resources/read", {"uri": "icmcp://modern/era://one"})
    t.ok(r["contents"][0]["text"] == "1" and "ttlMs" not in r,
         "an old agent does not notice", r)
    for m, code in ((new.ask, -32602), (old.request, -32002)):
        e = fails(m, "resources/read", {"uri": "icmcp://modern/era://two"})
        t.ok(e["code"] == code and
             e["data"]["uri"] == "icmcp://modern/era://two",
             f"a missing resource is {code}", e)
    old.close()
    new.close()


def long_addresses(s):
    """The longest address of a server's resource can be read; a longer one
    is refused, with the reason."""
    m = modern(s)
    for n, says in ((2048, "not found"), (2049, "longer than 2048 bytes"),
                    (9000, "at most 2048 bytes")):
        e = fails(m.ask, "resources/read",
                  {"uri": "icmcp://modern/era://" + "u" * (n - 6)})
        t.contains(e["message"], says, f"an address of {n} bytes")
    m.close()


def rounds(s, work):
    new, old = modern(s), s.client()
    h.wait_for(lambda: len(s.audit("call")) == len(s.audit("result")),
               "the records before")
    n = len(s.audit("call", "round", "result"))
    r = h.text_of(old.call("modern__ask", {"kinds": ["secret", "roots"],
                                           "rounds": 2}))
    t.equal(json.loads(r), {
        "secret": {"action": "decline"}, "roots": {"roots": [
            {"name": "workspace", "uri": "file:///workspace"}]}},
        "questions are answered here")
    calls = [x for x in seen(work, "modern", "tools/call")
             if x[1]["name"] == "ask"]
    t.ok(len(calls) == 3 and len({x[2]["id"] for x in calls}) == 3 and
         all(x[2]["id"] < 2 ** 53 for x in calls) and
         calls[1][1]["requestState"] == "asked 1" and
         calls[1][1]["arguments"] == calls[0][1]["arguments"],
         "the same request again, each under a new id", calls)
    new_records = h.wait_for(lambda: (lambda r: r if r[-1]["event"] ==
                                      "result" and len(r) == 4 else None)(
        s.audit("call", "round", "result")[n:]), "the records")
    t.ok([x["event"] for x in new_records] ==
         ["call", "round", "round", "result"] and
         len({x["id"] for x in new_records}) == 1 and
         {x["key"]: x["answer"] for x in new_records[1]["detail"]["asked"]}[
             "secret"] == {"action": "decline"},
         "one thread of records with what was answered", new_records)
    for kinds, text in ((["model"], "sampling/createMessage"),
                        (["odd"], "x/y")):
        r = new.begin("modern__ask", {"kinds": kinds}).wait()
        t.ok(r["isError"] and text in h.text_of(r) and
             "Do not retry" in h.text_of(r), f"{text} is refused", r)
    r = new.begin("modern__ask", {"kinds": ["roots"], "rounds": 99}).wait()
    t.ok(r["isError"] and "8 questions" in h.text_of(r),
         "there is an end to questions", r)
    for m, name in ((old, "an old"), (new, "a new")):
        p = m.start("tools/call", {"name": "modern__ask", "arguments": {
            "kinds": ["seat", "roots"]}, "_meta": NEW if m is new else {}})
        hold = s.held()
        shown = s.icctl("show", hold["id"]).stdout
        t.ok(shown.index("modern asks you during its call ask") <
             shown.index("Which seat?"), "a person is asked", shown)
        s.icctl("answer", hold["id"], "--set", "seat=aisle", check=True)
        r = json.loads(h.text_of(p.wait()))
        t.equal(r["seat"], {"action": "accept", "content": {"seat": "aisle"}},
                f"and the answer goes to the server, with {name} agent")
    p = new.begin("modern__ask", {"kinds": ["seat"]})
    hold = s.held()
    new.cancel(p)
    h.wait_for(lambda: not s.pending(), "a question of a call that is over")
    t.equal(h.text_of(old.call("modern__later", {"rounds": 3})), "after 3",
            "a state alone is given back at once for an old agent")
    new.close()
    old.close()


def states(s):
    """An agent gives a state back, or another text."""
    new, other = modern(s), modern(s)
    args = {"rounds": 2}
    r = new.begin("modern__later", args).wait()
    state = r["requestState"]
    t.ok(r["resultType"] == "input_required" and "state" not in state and
         "content" not in r, "a new agent gets a state of ours", r)
    for tool, a in (("modern__later", {"rounds": 3}),
                    ("dual__later", args), ("modern__echo", args)):
        r = new.begin(tool, a, requestState=state).wait()
        t.ok(r["isError"] and "requestState" in h.text_of(r),
             f"which is no good for {tool} {a}", r)
    for bad in ("0" * 32, state.upper(), state[:-1]):
        r = new.begin("modern__later", args, requestState=bad).wait()
        t.ok(bad == state or r.get("isError"), "nor is another text", r)
    r = other.begin("modern__later", args, requestState=state,
                    inputResponses={"x": {}}).wait()
    second = r["requestState"]
    t.ok(second != state, "it goes on, with another state")
    r = new.begin("modern__later", args, requestState=state).wait()
    t.ok(r["isError"], "a state is good once", r)
    r = new.begin("modern__later", args, requestState=second).wait()
    t.equal(h.text_of(r), "after 2", "and at its end is the answer")
    calls = [x for x in s.audit("call") if x["toolName"] == "later"]
    t.ok(calls[-1].get("continues") and
         calls[-1]["policyDecision"]["rule"] == "same-call",
         "the record names the call that it goes on with", calls[-1])
    for params in ({"requestState": 5}, {"requestState": "x" * 65},
                   {"requestState": ""}, {"inputResponses": []}):
        e = fails(new.begin("modern__later", args, **params).wait)
        t.ok(e and e["code"] == -32602, f"{params} is refused", e)
    e = fails(s.client().start_call("modern__later", args,
                                    requestState=state).wait)
    t.ok(e and e["code"] == -32602, "an old agent has no states", e)
    new.close()
    other.close()


def holds(s):
    """A question about a call that a person approved: no second approval."""
    new = modern(s)
    p = new.begin("held__ask", {"kinds": ["roots"]})
    s.icctl("approve", s.held()["id"], check=True)
    t.ok("roots" in h.text_of(p.wait()), "one approval covers the rounds")
    args = {"rounds": 1}
    p = new.begin("held__later", args)
    s.icctl("approve", s.held()["id"], check=True)
    r = new.begin("held__later", args,
                  requestState=p.wait()["requestState"]).wait()
    t.equal(h.text_of(r), "after 1", "also if the agent goes on with it")
    t.equal(s.pending(), [], "nothing is held for it")
    p = new.begin("held__later", args)
    hold = s.held()
    s.icctl("deny", hold["id"], check=True)
    t.ok(p.wait()["isError"], "without it, it is another call")
    new.close()


def tells(s):
    new, quiet = modern(s), modern(s)
    r = new.ask("tools/call", {"name": "modern__tell", "arguments": {}}, {
        META + "logLevel": "info", "progressToken": "mine",
        "traceparent": "00-1"})
    t.equal(json.loads(h.text_of(r)), sorted([
        META + "clientCapabilities", META + "clientInfo", META + "logLevel",
        META + "protocolVersion", "progressToken"]),
        "nothing of the agent's _meta reaches a server")
    notes = new.notifications
    t.ok(any(n["method"] == "notifications/message" and
             n["params"]["data"] == "told" for n in notes),
         "a request with a level gets messages", notes)
    t.ok(any(n["method"] == "notifications/progress" and
             n["params"]["progressToken"] == "mine" for n in notes),
         "and progress under its own token", notes)
    quiet.begin("modern__tell").wait()
    t.equal(quiet.notifications, [], "one without gets none")
    h.wait_for(lambda: "log: warning: told" in s.session_log(), "session.log")
    quiet.begin("modern__tell", {"request": True}).wait()
    h.wait_for(lambda: "sent a request, which is not answered" in
               s.session_log(), "it is not answered")
    new.close()
    quiet.close()


def odd(s):
    new = modern(s)
    for kind in ("task", 5, "input_required", None):
        e = fails(new.begin("modern__odd", {"type": kind}).wait)
        t.ok(e and e["code"] == -32603 and "refused" in e["message"],
             f"a result of the type {kind} is refused", e)
    e = fails(new.begin("legacy__odd", {"type": "input_required"}).wait)
    t.ok(e and "an older one" in e["message"], "a question of an old server",
         e)
    r = new.begin("legacy__odd", {"type": "x"}).wait()
    t.ok(r["resultType"] == "complete", "which may have such a member", r)
    lacks = {"lacks": {"sampling": {"x": 1}, "roots": {}, "other": {}}}
    old = s.client()
    for who, call, want in (
            ("a new agent", lambda: new.begin("modern__odd", lacks),
             {"roots": {}, "sampling": {}}),
            ("one that has a part of it", lambda: new.start("tools/call", {
                "name": "modern__odd", "arguments": lacks, "_meta": {
                    **NEW, META + "clientCapabilities": {"roots": {}}}}),
             {"sampling": {}}),
            ("one that has it", lambda: new.start("tools/call", {
                "name": "modern__odd", "arguments": lacks, "_meta": {
                    **NEW, META + "clientCapabilities": {
                        "roots": {}, "sampling": {}}}}), None),
            ("an old agent", lambda: old.start_call("modern__odd", lacks),
             None)):
        e = fails(call().wait)
        t.ok(e and e["code"] == (-32021 if want else -32603) and
             e.get("data") == (want and {"requiredCapabilities": want}),
             who + " learns what a call would need of it", e)
    old.close()
    new.close()


def listens(s):
    new = modern(s)
    p = new.start("subscriptions/listen", {"_meta": NEW, "notifications": {
        "toolsListChanged": True, "promptsListChanged": False}}, "sub")
    new.wait_for(lambda m: m.notifications)
    t.equal(new.notifications[0], {
        "jsonrpc": "2.0", "method":
        "notifications/subscriptions/acknowledged", "params": {
            "_meta": {META + "subscriptionId": "sub"},
            "notifications": {"toolsListChanged": True}}},
        "a subscription is confirmed")
    e = fails(new.ask, "subscriptions/listen")
    t.equal(e["code"], -32602, "one without notifications is refused")
    silent = modern(s)
    silent.ask("tools/list")
    new.begin("modern__change").wait()
    new.wait_for(lambda m: len(m.notifications) > 1)
    t.equal(new.notifications[1], {
        "jsonrpc": "2.0", "method": "notifications/tools/list_changed",
        "params": {"_meta": {META + "subscriptionId": "sub"}}},
        "a change of a server's tools is told")
    t.equal(silent.notifications, [], "only to those who listen")
    new.cancel(p)
    for n in range(4):
        new.start("subscriptions/listen", {"_meta": NEW, "notifications": {}},
                  f"l{n}")
    e = fails(new.start("subscriptions/listen", {
        "_meta": NEW, "notifications": {}}, "l4").wait)
    t.ok(e and "at most 4" in e["message"], "and there is a limit", e)
    new.close()
    silent.close()


def updates(m):
    return [x for x in m.notifications if x["method"].endswith("/updated")]


def updated(m, n, uri, listen=None):
    """Waits for the n-th update of a resource, which is of this one."""
    m.wait_for(lambda m: len(updates(m)) > n)
    meta = {"_meta": {META + "subscriptionId": listen}} if listen else {}
    t.equal(updates(m)[n], {
        "jsonrpc": "2.0", "method": "notifications/resources/updated",
        "params": {"uri": uri, **meta}}, f"an update of {uri}")


def ended(work, name, method):
    """Waits for the end of the server's first subscription that has this
    address."""
    def found():
        return [x for x in seen(work, name, method)
                if x[1].get("requestId") == ident or "uri" in x[1]]
    ident = [x[2]["id"] for x in seen(work, name, "subscriptions/listen")
             if "resourceSubscriptions" in x[1]["notifications"]][-1:]
    ident = ident[0] if ident else None
    return h.wait_for(found, f"{method} at {name}", 60)


def subscribes(s, work):
    """Agents of both kinds hear of resources of servers of both kinds."""
    old, new = s.client(), modern(s)
    one = {x: f"icmcp://{x}/era://one" for x in ("legacy", "modern")}
    caps = new.ask("server/discover")["capabilities"]
    t.ok(caps["resources"].get("subscribe"), "it is offered", caps)
    for name, uri in one.items():
        n = len(updates(old))
        t.equal(old.request("resources/subscribe", {"uri": uri}), {},
                f"an old agent subscribes at {name}")
        other = s.client()
        other.request("resources/subscribe", {"uri": uri})
        other.request("resources/unsubscribe", {"uri": uri})
        other.close()
        old.call(name + "__touch", {"uri": "era://one"})
        updated(old, n, uri)
        old.request("resources/unsubscribe", {"uri": uri})
        ended(work, name, "resources/unsubscribe" if name == "legacy" else
              "notifications/cancelled")
        t.ok(True, f"{name} hears of its end")
    p = new.start("subscriptions/listen", {"_meta": NEW, "notifications": {
        "resourceSubscriptions": [
            *one.values(), "icmcp://modern/era://no", "icmcp://x/y", 5,
            "icmcp://held/era://held"], "toolsListChanged": True}}, "r")
    h.wait_for(lambda: len(s.pending()) == 1, "the one that is held")
    t.equal(new.notifications, [], "nothing is confirmed before all is known")
    s.icctl("deny", s.held()["id"], check=True)
    new.wait_for(lambda m: m.notifications)
    got = new.notifications[0]["params"]["notifications"]
    t.ok(sorted(got.pop("resourceSubscriptions")) == sorted(one.values()) and
         got == {"toolsListChanged": True}, "what was allowed is confirmed",
         new.notifications[0])
    n = 0
    for name, uri in one.items():
        new.begin(name + "__touch", {"uri": "era://one"}).wait()
        updated(new, n, uri, "r")
        # It dies, is started again, and is sent what it knows no more.
        had = len(seen(work, name))
        fails(new.begin(name + "__die").wait)
        h.wait_for(lambda: [x for x in seen(work, name)[had:] if x[0] in (
            "resources/subscribe", "subscriptions/listen")],
            name + " is sent its subscriptions again", 60)
        h.wait_for(lambda: [x for x in json.loads(
            s.icctl("--json", "status").stdout)["servers"]
            if x["name"] == name][0]["state"] == "ready", name, 60)
        new.begin(name + "__touch", {"uri": "era://one"}).wait()
        n += 1
        updated(new, n, uri, "r")
        n += 1
    new.cancel(p)
    t.equal(new.ask("server/discover")["resultType"], "complete", "it ends")
    new.close()
    old.close()


def shown(s):
    rows = {x["name"]: x for x in json.loads(
        s.icctl("--json", "status").stdout)["servers"]}
    t.ok(rows["modern"]["revision"] == MODERN and
         rows["dual"]["revision"] == MODERN and
         rows["legacy"]["revision"] == "2025-06-18",
         "status shows each server's revision", rows["modern"])
    t.ok(rows["future"]["state"] == "gone" and
         "2031-01-01" in rows["future"]["text"] and
         MODERN in rows["future"]["text"],
         "and which one a server wants that nobody speaks", rows["future"])


def again(work, servers, config):
    """A later session knows what each server speaks."""
    before = {n: len(seen(work, n)) for n in servers}
    with h.Session(work, servers, rules=RULES, config=config) as s:
        s.client()

        def ready():
            rows = json.loads(s.icctl("--json", "status").stdout)["servers"]
            return all(x["state"] in ("ready", "gone") for x in rows)
        h.wait_for(ready, "servers")
        for name in ("legacy", "dies", "silent"):
            got = [x[0] for x in seen(work, name)[before[name]:]][:2]
            t.equal(got, ["start", "initialize"], f"{name} is not probed")
        got = [x[0] for x in seen(work, "modern")[before["modern"]:]][:2]
        t.equal(got, ["start", "server/discover"], "nor is modern asked twice")
        text = s.icctl("trust", "modern").stdout
        t.ok("(revision)" not in text, "its revision is as it was", text)


def main():
    with h.workdir() as work:
        servers = {
            "legacy": server(work, "legacy", "--era", "legacy"),
            "dual": server(work, "dual", "--era", "dual"),
            "modern": server(work, "modern", "--era", "modern"),
            "held": server(work, "held", "--era", "modern"),
            "dies": server(work, "dies", "--era", "legacy", "--probe", "die"),
            "silent": server(work, "silent", "--era", "legacy", "--probe",
                             "silent"),
            "future": server(work, "future", "--era", "modern", "--versions",
                             "2031-01-01"),
        }
        config = {"policy": {"trustedServers": TRUSTED}}
        with h.Session(work, servers, rules=RULES, config=config) as s:
            discovers(s)
            four(s, work)
            lists(s)
            rounds(s, work)
            states(s)
            holds(s)
            odd(s)
            tells(s)
            listens(s)
            subscribes(s, work)
            shown(s)
            long_addresses(s)
        again(work, servers, config)
    t.done()


if __name__ == "__main__":
    main()
