#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Remote MCP servers: a call goes through policy, log and the keyd of its
server to an HTTPS server and back; the token stays in that keyd; whatever the server
does instead of answering costs that call, and none is sent twice."""
import json
import os
import secrets
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
from agent import RpcError  # noqa: E402
from mcp_http import MARK, McpHttp  # noqa: E402

t = h.Tap()
TOKEN = "tok-" + secrets.token_hex(24)
ANNOTATIONS = {"far": {"act": {"how": ["none"]}, "read": {"text": ["none"]}},
               "plain": {"act": {"how": ["none"]}, "read": {"text": ["none"]}},
               "newer": {"act": {"how": ["none"], "text": ["none"]},
                         "mark": {"team": ["none"]}}}
# The first rule names no server: it allows nothing of a remote one.
RULES = [h.rule("any", "allow"),
         h.rule("act", "allow", server=["far", "plain", "newer"],
                tool=["act", "mark"]),
         h.rule("ask", "escalate", server=["far"], tool=["read"])]
# How the server answers a call, and what the agent reads of it.
ODD = [
    ("html", 'the type "text/html"'),
    ("nothing", "without a message"),
    ("garbage", "refused"),
    ("other id", "no answer to the request"),
    ("big", "ask for a smaller part"),
    ("events none", "ended its event stream"),
    ("events cut", "ended too early"),
    ("events long", "ask for a smaller part"),
    ("endpoint", "HTTP+SSE of 2024-11-05"),
    ("cut", "ended too early"),
    ("close", "without an answer"),
    ("gzip", "coding that was not asked for"),
    ("twice", "malformed"),
    ("interim", "too many interim answers"),
    ("switch", "malformed"),
    ("big head", "malformed"),
    ("trailer", "refused"),
    ("short", "refused"),
    ("no http", "malformed"),
    ("both lengths", "malformed"),
    ("bad chunk", "malformed"),
    ("plain", 'the type "text/plain"'),
    ("no type", "without a message"),
    ("array", "no answer to the request"),
    ("no id", "no answer to the request"),
    ("text id", "no answer to the request"),
    ("deep", "refused"),
    ("wide", "refused"),
    ("zero", "refused"),
    ("empty", "no answer to the request"),
    ("result and error", "refused"),
    ("no result", "no answer to the request"),
    ("list", "no object"),
    ("old revision", "refused"),
    ("error", "the moon is full"),
    ("status 401", "status 401: it wants a credential"),
    ("status 403", "status 403: it does not allow"),
    ("status 429", "Retry-After: 7"),
    ("status 503", "status 503: it is overloaded"),
    ("status 418", "status 418"),
    ("away https://evil.example.com/mcp",
     'redirects (307) to "https://evil.example.com/mcp", which is not'),
    ("away http://localhost/", "which is not followed"),
]


def ready(s, *names):
    def look():
        rows = json.loads(s.icctl("--json", "status").stdout)["servers"]
        return all(r["state"] == "ready" for r in rows if r["name"] in names)
    h.wait_for(look, "servers")


def good(s, m, far):
    held = m.start_call("far__read", {"text": "hello"})
    hold = s.held()
    t.ok("far" in json.dumps(hold), "a call of a remote server is held", hold)
    t.equal([x for x in far.methods() if x == "tools/call"], [],
            "and not sent before it is approved")
    s.icctl("approve", hold["id"], check=True)
    t.equal(h.text_of(held.wait()), "read: hello", "approved, sent, answered")
    _, headers, message = far.seen[-1]
    t.equal(headers.get("authorization"), "Bearer " + TOKEN, "the token")
    t.equal((headers.get("mcp-session-id"),
             headers.get("mcp-protocol-version"), headers.get("x-team")),
            ("session-1", "2025-06-18", "blue"),
            "session, revision and the user's header")
    t.equal(headers.get("accept"), "application/json, text/event-stream",
            "what it accepts")
    t.equal(message["params"]["arguments"], {"text": "hello"}, "arguments")
    first = [x[1] for x in far.seen if x[2].get("method") == "initialize"][0]
    t.ok("mcp-session-id" not in first and
         "mcp-protocol-version" not in first, "initialize has neither", first)
    t.equal(far.methods()[:2], ["server/discover", "initialize"],
            "which follows a question about the revision")
    logged = [r["event"] for r in s.audit() if r.get("serverName") == "far"]
    t.ok("hold" in logged and "call" in logged,
         "the log has the call", logged)
    for how in ("good", "events", "events open", "second answer", "ask",
                "bad notice", "cookie", "early hints", "ping"):
        said = words(m, "far__act", {"how": how})
        # The answer before may have ended the connection a moment ago.
        if "closed the connection without an answer" in said:
            said = words(m, "far__act", {"how": how})
        t.equal(said, "done", f"answered as {how}")
    h.wait_for(lambda: "-" in far.methods(), "the answer to the ping")
    t.contains(s.session_log(), "in between", "a message for the log")


def words(m, tool, args):
    """Returns what the agent reads, whether it is an error or not."""
    try:
        return str(h.text_of(m.call(tool, args)))
    except RpcError as e:
        return e.error["message"]


def newer(s, m, site, future):
    """A server of revision 2026-07-28: no session, and headers that agree."""
    t.equal(h.text_of(m.call("newer__act", {"how": "good"})), "done",
            "a server of the newer revision")
    _, headers, message = site.seen[-1]
    t.equal((headers.get("mcp-protocol-version"), headers.get("mcp-method"),
             headers.get("mcp-name"), "mcp-session-id" in headers),
            ("2026-07-28", "tools/call", "act", False), "its headers")
    t.ok("initialize" not in site.methods() and
         site.methods()[0] == "server/discover" and
         "subscriptions/listen" in site.methods(), "no initialize",
         site.methods())
    r = h.text_of(m.call("newer__act", {"text": "x"}))
    t.equal(r, 'read: {"r": {"roots": []}}', "a question is answered")
    ids = [x["id"] for _, _, x in site.seen if x["method"] == "tools/call"]
    t.equal(len(ids), len(set(ids)), "each request has an id of its own")
    for team, says in (("a" * 2045, "done"), ("b" * 2046, '"team" in a header'),
                       ("c\0", '"team" in a header')):
        t.contains(words(m, "newer__mark", {"team": team}), says,
                   f"a parameter for a header with {len(team)} bytes")
    t.equal([(x[1].get("mcp-param-team"), x[2]["params"]["arguments"])
             for x in site.seen if x[2]["params"].get("name") == "mark"],
            [("a" * 2045, {"team": "a" * 2045})], "which sends one of them")
    t.contains(words(m, "newer__act", {"how": "error"}), "the moon is full",
               "an error of it")
    rows = {r["name"]: r for r in json.loads(s.icctl(
        "--json", "status").stdout)["servers"]}
    t.equal(rows["newer"]["revision"], "2026-07-28", "status names it")
    t.contains(rows["future"]["text"], "It speaks revision 2031-01-01",
               "and what a server wants that nobody speaks")
    t.equal(future.methods(), ["server/discover"], "which is asked once")


def several(m, far):
    """Calls do not wait for each other, and one can be cancelled."""
    first = m.start_call("far__act", {"how": "wait 1"})
    second = m.start_call("far__act", {"how": "wait 2"})
    h.wait_for(lambda: far.calls("wait 1") and far.calls("wait 2"), "calls")
    t.equal(h.text_of(m.call("far__act", {"how": "good"})), "done",
            "a call beside one that waits")
    m.cancel(first)
    h.wait_for(lambda: "notifications/cancelled" in far.methods(),
               "the server is told of the end of a call")
    far.release.set()
    t.equal(h.text_of(second.wait()), "done", "the other one is answered")
    t.equal((far.calls("wait 1"), far.calls("wait 2")), (1, 1),
            "each was sent once")


def bad(m, far):
    for how, says in ODD:
        with t.case(how):
            t.contains(words(m, "far__act", {"how": how}), says,
                       f"the server answers: {how}")
            t.equal(far.calls(how), 1, f"sent once: {how}")
    t.equal(h.text_of(m.call("far__act", {"how": "good"})), "done",
            "the server still serves")


def lost(s, m, far):
    """A session that the server has forgotten is begun again, once a while."""
    m.call("far__act", {"how": "lose"})
    was = far.methods().count("initialize")
    t.contains(words(m, "far__act", {"how": "good"}),
               "has ended its session", "a session that is gone")
    ready(s, "far")
    t.equal((far.methods().count("initialize") - was,
             h.text_of(m.call("far__act", {"how": "good"}))), (1, "done"),
            "is begun again")


def reflected(s, m, far):
    """A token that comes back is stopped, in one piece or in several."""
    for how in ("reflect", "reflect event"):
        says = words(m, "far__act", {"how": how})
        t.contains(says, "icctl unlock", f"the token comes back: {how}")
        t.ok(TOKEN not in says, "and does not reach the agent")
        calls = len(far.seen)
        t.contains(words(m, "far__act", {"how": "good"}), "locked",
                   "then the server is locked")
        t.equal(len(far.seen), calls, "and sent nothing")
        s.icctl("unlock", check=True)
        t.equal(h.text_of(m.call("far__act", {"how": "good"})), "done",
                "unlocked")


def event(ident, message):
    return f"id: {ident}\nretry: 100\ndata: {json.dumps(message)}\n\n"


def notice(method, **params):
    return {"jsonrpc": "2.0", "method": "notifications/" + method,
            "params": params}


# A hostile server writes these on its own stream.
STREAMS = {
    "nothing": ": hi\n\n",
    "no JSON": event("h1", "x").replace('"x"', "{"),
    "an array": event("h2", [notice("message")]),
    "a huge event": "data: " + "x" * (5 << 20) + "\n\n",
    "an answer to nothing": event("h3", {"jsonrpc": "2.0", "id": 77,
                                         "result": {"content": []}}),
    "a question without a call": event("h4", {
        "jsonrpc": "2.0", "id": "q", "method": "elicitation/create",
        "params": {"message": "Who?", "requestedSchema": {
            "type": "object", "properties": {"a": {"type": "string"}}}}}),
    "sampling": event("h5", {
        "jsonrpc": "2.0", "id": 9, "method": "sampling/createMessage",
        "params": {"messages": [], "maxTokens": 5}}),
    "an id with a line break": "id: a\rb: c\ndata: {}\n\n",
    "an id that is long": "id: " + "i" * 5000 + "\ndata: {}\n\n",
    "an id with NUL": "id: a\0b\ndata: {}\n\n",
    "a time in words": "retry: soon\nid: h6\ndata: {}\n\n",
    "a negative time": "retry: -1\nid: h7\ndata: {}\n\n",
    "HTTP+SSE": "event: endpoint\ndata: /messages\n\n",
    "an odd method": event("h8", {"jsonrpc": "2.0", "method": 5}),
    "a request of 2026-07-28": event("h9", notice(
        "subscriptions/acknowledged", notifications={})),
}


def hostile_streams(work):
    """Each costs itself: the stream is asked for again, and calls go on."""
    live = McpHttp(work, "loose")
    live.own = ["retry: 100\n" + x for x in STREAMS.values()]
    with h.Session(work, {"loose": {"url": live.url, "ca": live.ca}},
                   rules=[h.rule("all", "allow", server=["loose"])],
                   config={"policy": {"trustedServers": ["loose"]}},
                   session_dir=os.path.join(work, "fourth")) as s:
        ready(s, "loose")
        for n, name in enumerate(STREAMS):
            h.wait_for(lambda n=n: len(live.gets) > n + 1,
                       f"after {name} it is asked for again")
            last = live.gets[n + 1].get("last-event-id", "")
            t.ok(len(last) <= 256 and last.isprintable() and " " not in last,
                 f"a stream with {name}", last)
        m = s.client()
        t.equal(h.text_of(m.call("loose__act", {"how": "good"})), "done",
                "a call afterwards")
        t.equal(s.pending(), [], "nobody is asked anything")
        refused = [x[2] for x in live.seen if "error" in x[2]]
        t.equal({x["id"] for x in refused}, {"q", 9},
                "its questions are refused")
        t.equal(live.methods().count("initialize"), 1, "in the same session")
        live.release.set()


def streams(work):
    """A server's own stream of events, and streams that go on after their
    end: from the last event, and without sending a message again."""
    live = McpHttp(work, "live")
    live.own = [event("e1", notice("message", level="info", data="by itself")),
                ": nothing new\n\n", 503, "",
                event("e2", notice("tools/list_changed")) + ": stays open\n"]
    none = McpHttp(work, "none")
    none.own = 404
    rules = [h.rule("all", "allow", server=["live", "none"])]
    with h.Session(work, {"live": {"url": live.url, "ca": live.ca},
                          "none": {"url": none.url, "ca": none.ca}},
                   rules=rules,
                   config={"policy": {"trustedServers": ["live", "none"]}},
                   session_dir=os.path.join(work, "third")) as s:
        ready(s, "live", "none")
        h.wait_for(lambda: len(live.gets) == 5, "the stream is asked for again")
        first = live.gets[0]
        t.equal((first.get("accept"), first.get("last-event-id"),
                 first.get("mcp-session-id"),
                 first.get("mcp-protocol-version")),
                ("text/event-stream", None, "session-1", "2025-06-18"),
                "how the server's own stream is asked for")
        t.equal([x.get("last-event-id") for x in live.gets[1:]], ["e1"] * 4,
                "and again, from its last event, whatever comes between")
        h.wait_for(lambda: "by itself" in s.session_log(), "its message")
        h.wait_for(lambda: live.methods().count("tools/list") == 2,
                   "its list is read again")
        m = s.client()
        for how, n, says in (("resume", 1, "done"), ("resume twice", 2, "done"),
                             ("resume quietly", 3, "done"),
                             ("resume after 503", 3, "done"),
                             ("resume after nothing", 2, "done"),
                             ("resume after 404", 1, "status 404")):
            was = len(live.gets)
            t.contains(words(m, "live__act", {"how": how}), says,
                       f"an answer that comes later: {how}")
            asked = [x.get("last-event-id") for x in live.gets[was:]]
            t.equal((len(asked), live.calls(how)), (n, 1),
                    f"{how}: asked for from the last event, and sent once")
        t.equal(h.text_of(m.call("none__act", {"how": "good"})), "done",
                "a server without such a stream keeps its session")
        t.equal((len(none.gets), none.methods().count("initialize")), (1, 1),
                "and is asked for one once")
        live.release.set()


def updates(work):
    """A resource that was subscribed to changes: the server says so on its own
    stream."""
    live = McpHttp(work, "notes", revision="2025-11-25")
    live.resources = ["note://one", "note://two"]
    live.restless = ("note://two",)

    def changed():
        with live.lock:
            live.changed.wait_for(lambda: any(
                x[2].get("method") == "resources/subscribe"
                for x in live.seen), 60)
        return (event("u1", notice("resources/updated", uri="note://other")) +
                event("u2", notice("resources/updated", uri="note://one")) +
                ": stays open\n")
    live.own = [changed]
    with h.Session(work, {"notes": {"url": live.url, "ca": live.ca}},
                   rules=[h.rule("all", "allow", server=["notes"])],
                   config={"policy": {"trustedServers": ["notes"]}},
                   session_dir=os.path.join(work, "fifth")) as s:
        ready(s, "notes")
        m = s.client()
        uri = "icmcp://notes/note://one"
        t.equal(m.request("resources/subscribe", {"uri": uri}), {},
                "a resource of a remote server is subscribed to")

        def told(m):
            return [n["params"]["uri"] for n in m.notifications
                    if n["method"] == "notifications/resources/updated"]
        m.wait_for(told)
        m.request("ping")
        t.equal(told(m), [uri], "a change that the server's own stream tells of"
                ", and none of another resource")
        other = "icmcp://notes/note://two"
        m.request("resources/subscribe", {"uri": other})
        m.wait_for(lambda m: other in told(m))
        t.equal(told(m)[-1:], [other],
                "nor is a change lost that comes before the answer")
        live.release.set()


def ends(work):
    """A session at a server ends with ours: once, whatever the server says of
    it, and without a wait for one that says nothing."""
    sites = {
        "told": McpHttp(work, "told", wants="Bearer " + TOKEN),
        "cannot": McpHttp(work, "cannot"),
        "rejects": McpHttp(work, "rejects", wants="Bearer " + TOKEN),
        "echoes": McpHttp(work, "echoes", wants="Bearer " + TOKEN),
        "forgets": McpHttp(work, "forgets"),
        "stateless": McpHttp(work, "stateless", sessions=False),
        "modern": McpHttp(work, "modern", modern="2026-07-28"),
        "moved": McpHttp(work, "moved"),
        "query": McpHttp(work, "query2")}
    sites["fails"] = McpHttp(work, "fails")
    sites["cannot"].end, sites["rejects"].end = 405, 401
    sites["echoes"].end = "reflect"
    sites["moved"].moves = {"/mcp": "/mcp/"}
    servers = {n: {"url": x.url + ("?team=a" if n == "query" else ""),
                   "ca": x.ca} for n, x in sites.items()}
    sites["fails"].tools = None
    names, keys = list(sites), ("told", "rejects", "echoes")
    config = {"policy": {"trustedServers": names},
              "serverCredentials": {n: {"bearer": {"env": n.upper()}}
                                    for n in keys}}
    with h.Session(work, servers, config=config,
                   env={n.upper(): TOKEN for n in keys},
                   rules=[h.rule("all", "allow", server=names)],
                   session_dir=os.path.join(work, "sixth")) as s:
        ready(s, *(n for n in names if n != "fails"))
        m = s.client()
        m.call("forgets__act", {"how": "lose"})
        words(m, "forgets__act", {"how": "good"})
        ready(s, "forgets")
        t.equal([len(x.ends) for x in sites.values()], [0] * len(sites),
                "no session is ended before ours")
        t.ok("REFUSED" not in s.session_log(), "nor is a key refused",
             s.session_log()[-1000:])
        sites["told"].wants = "Bearer another"
        t.contains(words(m, "told__act", {"how": "good"}),
                   "icctl mcp login told", "a key that is refused")
        h.wait_for(lambda: "To put that right: icctl mcp login told" in
                   s.session_log(), "which the person reads, too")
        began = time.monotonic()
        s.stop()
        took = time.monotonic() - began
    for name, site in sites.items():
        t.equal(len(site.ends), 0 if name in ("stateless", "modern") else 1,
                f"{name}: the end of its session")
    for name, path in (("told", "/mcp"), ("moved", "/mcp/"),
                       ("query", "/mcp?team=a")):
        t.equal(sites[name].ends[0][0], path, f"which goes to {path}")
    sent = sites["told"].ends[0][1]
    t.equal((sent.get("authorization"), sent.get("mcp-session-id"),
             sent.get("mcp-protocol-version"), sent.get("content-length"),
             sent.get("content-type")),
            ("Bearer " + TOKEN, "session-1", "2025-06-18", None, None),
            "its headers")
    t.equal(sites["forgets"].ends[0][1].get("mcp-session-id"), "session-3",
            "of two sessions, the one that the server knows")
    t.ok(took < 5 * h.PATIENCE, "nobody waits for that", took)
    t.equal(s.session_log().count("REFUSED"), 1, "nor reads of a refusal")
    t.ok(" is gone" not in s.session_log(),
         "an orderly end is no process's loss", s.session_log()[-1000:])
    late(work, took)


def late(work, usual):
    """A server that does not answer the end of its session."""
    silent = McpHttp(work, "silent")
    silent.end = None
    with h.Session(work, {"silent": {"url": silent.url, "ca": silent.ca}},
                   session_dir=os.path.join(work, "seventh")) as s:
        ready(s, "silent")
        began = time.monotonic()
        s.stop()
        took = time.monotonic() - began
    t.equal(len(silent.ends), 1, "a server that does not answer is told once")
    t.ok(took < usual + 2 * h.PATIENCE, "and waited for a second", took)
    silent.release.set()


def files(s):
    """Returns the files of the session that have the token."""
    found = []
    for top, _, names in os.walk(s.work):
        for name in names:
            path = os.path.join(top, name)
            if os.path.isfile(path):
                with open(path, "rb") as f:
                    if TOKEN.encode() in f.read():
                        found.append(path)
    return found


def gone(work):
    """Servers that do not answer as they should do not keep a session."""
    asks = McpHttp(work, "asks", wants="Bearer other")
    old = McpHttp(work, "old")
    old.how = "status 405"
    late = McpHttp(work, "late")
    late.how = "status 503"
    named = McpHttp(work, "named", name_of="a" * 2000)
    moves = {n: McpHttp(work, n) for n in (
        "slash", "plainly", "query", "ring", "stray", "port", "back", "seen")}
    port = moves["plainly"].url.split(":")[2].split("/")[0]
    for name, where in (
            ("slash", {"/mcp": "/mcp/"}),
            ("plainly", {"/mcp": f"http://localhost:{port}/mcp/"}),
            ("query", {"/mcp": "/v2/mcp?team=a"}),
            ("ring", {"/mcp": "/mcp/", "/mcp/": "/mcp"}),
            ("stray", {"/mcp": "https://evil.example.com/mcp/"}),
            ("port", {"/mcp": "https://localhost:1/mcp/"}),
            ("back", {"/mcp": "//evil.example.com/mcp"}),
            ("seen", {"/mcp": "/mcp/"})):
        moves[name].moves = where
    moves["query"].moved = 308
    moves["seen"].moved = 302
    servers = {**{n: {"url": x.url, "ca": x.ca} for n, x in moves.items()},
               "asks": {"url": asks.url, "ca": asks.ca},
               "old": {"url": old.url, "ca": old.ca},
               "named": {"url": named.url, "ca": named.ca},
               "untrusted": {"url": named.url},
               "down": {"url": "https://127.0.0.1:1/mcp"},
               "odd": {"url": "https://mcp.invalid/mcp"},
               "late": {"url": late.url, "ca": late.ca},
               "files": h.echo_server(os.path.join(work, "log", "echo"))}
    with h.Session(work, servers, rules=RULES, annotations={},
                   session_dir=os.path.join(work, "second")) as s:
        m = s.mcp()
        m.initialize()
        t.ok(any(x["name"].startswith("files__") for x in m.list_tools()),
             "the other servers' tools are there")

        def rows():
            all_rows = {r["name"]: r for r in json.loads(s.icctl(
                "--json", "status").stdout)["servers"]}
            return all_rows if all(all_rows[n]["state"] == "gone" for n in (
                "asks", "old", "named", "ring", "stray", "port", "back",
                "seen")) and all(
                    all_rows[n]["state"] == "starting" and
                    all_rows[n]["text"] for n in (
                        "down", "odd", "untrusted", "late")) else None
        found = h.wait_for(rows, "the servers are gone", 70)
        for name, says in (("asks", "it wants a credential"),
                           ("old", "HTTP+SSE of 2024-11-05"),
                           ("down", "cannot be reached"),
                           ("named", "malformed"),
                           ("untrusted", "no trusted TLS connection"),
                           ("odd", "cannot be reached")):
            t.contains(found[name]["text"], says, f"status says of {name}")
        ready(s, "slash", "plainly", "query")
        for name, at in (("slash", "/mcp/"), ("plainly", "/mcp/"),
                         ("query", "/v2/mcp?team=a")):
            paths = [x[0] for x in moves[name].seen]
            t.equal(paths, ["/mcp"] + [at] * (len(paths) - 1),
                    f"a redirect to {at} is followed once")
        for name, at in (("ring", '"/mcp"'), ("seen", '"/mcp/"'),
                         ("stray", '"https://evil.example.com/mcp/"'),
                         ("port", '"https://localhost:1/mcp/"'),
                         ("back", '"//evil.example.com/mcp"')):
            t.contains(found[name]["text"], f"to {at}, which is not followed",
                       f"redirects of {name} are not")
            t.ok(len(moves[name].seen) < 5, "nor asked for without end",
                 len(moves[name].seen))
        t.equal(asks.methods(), ["server/discover"], "asked once")
        says = words(m, "late__act", {"how": "good"})
        t.ok("cannot be used yet" in says and "status 503" in says,
             "a call of one that is out of order does not wait", says)
        late.how = ""
        ready(s, "late")
        m.wait_for(lambda m: any("tools/list_changed" in n["method"]
                                 for n in m.notifications))
        t.ok(any(x["name"] == "late__act" for x in m.list_tools()),
             "one that was out of order at the start is asked again")


def main():
    with h.workdir() as work:
        far = McpHttp(work, "far", wants="Bearer " + TOKEN)
        plain = McpHttp(work, "plain", sessions=False, revision="2025-11-25")
        servers = {
            "far": {"url": far.url, "ca": far.ca,
                    "headers": {"X-Team": "blue"}},
            "plain": {"type": "http", "url": plain.url + "/?team=a",
                      "ca": plain.ca},
        }
        site = McpHttp(work, "newer", modern="2026-07-28")
        site.tools = site.tools + [MARK]
        future = McpHttp(work, "future", modern="2031-01-01")
        servers["newer"] = {"url": site.url, "ca": site.ca}
        servers["future"] = {"url": future.url, "ca": future.ca}
        config = {"serverCredentials": {"far": {"bearer": {
            "env": "FAR_TOKEN"}}}}
        with h.Session(work, servers, rules=RULES, annotations=ANNOTATIONS,
                       config=config, env={"FAR_TOKEN": TOKEN}) as s:
            ready(s, "far", "plain", "newer")
            status = json.loads(s.icctl("--json", "status").stdout)
            t.equal([(d["host"], d["kind"]) for d in status["destinations"]],
                    [("localhost", "mcp")] * 4, "status names their hosts")
            m = s.client()
            good(s, m, far)
            t.equal(h.text_of(m.call("plain__act", {"how": "good"})), "done",
                    "a server without token and session")
            path, headers, _ = plain.seen[-1]
            t.equal((path, "authorization" in headers,
                     headers.get("mcp-protocol-version")),
                    ("/mcp/?team=a", False, "2025-11-25"), "its address")
            t.contains(words(m, "plain__read", {"text": "x"}), "DENIED",
                       "no rule without the server's name allows a call")
            newer(s, m, site, future)
            several(m, far)
            bad(m, far)
            lost(s, m, far)
            reflected(s, m, far)
            t.equal(files(s), [], "no file of the session has the token")
        gone(work)
        streams(work)
        hostile_streams(work)
        updates(work)
        ends(work)
    t.done()


main()
