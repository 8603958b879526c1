#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Tests questions of MCP servers to the person: what is shown, how it is answered,
what is refused, and what the log has of it."""
import json
import os
import socket
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
import webpage  # noqa: E402
from terminal import Terminal  # noqa: E402

t = h.Tap()
SEAT = {"message": "Which seat?", "requestedSchema": {
    "type": "object", "required": ["seat"], "properties": {
        "seat": {"type": "string", "enum": ["window", "aisle"]},
        "bags": {"type": "integer", "minimum": 0, "maximum": 3,
                 "default": 1}}}}


def server(log, *args):
    return {"command": h.PYTHON, "args": [
        os.path.join(h.STANDINS, "mcp_asks.py"), *args, log],
        "sandbox": {"filesystem": {
            "allowRead": [h.STANDINS], "allowWrite": [os.path.dirname(log)]}}}


def got(p):
    """Returns the answers that the server got."""
    return json.loads(h.text_of(p.wait()))


def form(s, m):
    p = m.start_call("asks__ask", {"ask": [SEAT]})
    hold = s.held()
    shown = s.icctl("show", hold["id"]).stdout
    t.ok(shown.index("asks asks you during its call ask") <
         shown.index("Which seat?") < shown.index("seat: one of"),
         "the server is named first, then its call, then its words", shown)
    t.ok("no password" in shown, "and that no secret is asked for", shown)
    r = s.icctl("answer", hold["id"], "--set", "seat=window")
    t.ok(r.returncode == 0, "it is answered", r.stdout + r.stderr)
    t.equal(got(p), [{"action": "accept",
                      "content": {"seat": "window", "bags": 1}}],
            "the server gets the answer, with the default")


def wire(log):
    """The lines that the server got."""
    with open(log, encoding="utf-8") as f:
        return [json.loads(x) for x in f]


def control(s, request):
    """Asks the session itself, without icctl's own checks."""
    with socket.socket(socket.AF_UNIX) as c:
        c.connect(os.path.join(s.dir, "control.sock"))
        c.sendall(json.dumps(request).encode() + b"\n")
        return json.loads(c.makefile().readline())


def one(s, m, params):
    """Starts a call that asks this. Returns it and the pending question."""
    p = m.start_call("asks__ask", {"ask": [params]})
    return p, s.held()


def refused(s, m):
    """Questions that never reach the person, and the reason for their author."""
    def field(name, **schema):
        return {"message": "m", "requestedSchema": {
            "type": "object", "properties": {name: schema}}}
    text = {"type": "string"}
    deep = {"type": "object", "properties": {"a": text}}
    odd = [
        (field("password", **text), "secret"),
        (field("apiKey", **text), "secret"),
        (field("x", type="string", title="Your GitHub PASSWORD"), "secret"),
        (field("x", type="string", format="password"), "secret"),
        (field("pin", type="integer"), "secret"),
        ({**field("x", **text), "message": "Type the one-time code"}, "secret"),
        (field("x", **deep), "type is none"),
        (field("x", type="array", items=text), "options"),
        (field("x", type=["string", "null"]), "no type"),
        (field("x"), "no type"),
        (field("x", type="string", enum=[]), "options"),
        (field("x", type="string", enum=["a\u202eb"]), "option"),
        (field("x", type="string", title="a\U000e0061"), "nobody sees"),
        (field("a\nb", **text), "name"),
        (field("x" * 200, **text), "name"),
        ({"message": "m\u200b", "requestedSchema": SEAT["requestedSchema"]},
         "nobody sees"),
        ({"message": "\x1b[31mred", "requestedSchema":
          SEAT["requestedSchema"]}, "nobody sees"),
        ({"message": "m" * 5000, "requestedSchema": SEAT["requestedSchema"]},
         "4096"),
        ({"message": 5, "requestedSchema": SEAT["requestedSchema"]}, "4096"),
        ({"message": "m"}, "flat object"),
        ({"message": "m", "requestedSchema": {"type": "array"}}, "flat"),
        ({"message": "m", "requestedSchema": {
            "type": "object", "properties": {
                f"f{i}": text for i in range(64)}}}, "more than 32"),
        ({"message": "m", "requestedSchema": {
            "type": "object", "properties": {"a": text},
            "required": ["b"]}}, "requires"),
        ({"message": "m", "mode": "other"}, "mode"),
        ({"message": "m", "mode": "url"}, "address"),
        ({}, "message"),
    ] + [({"message": "m", "mode": "url", "url": u, "elicitationId": "e"}, why)
         for u, why in (
             ("http://good.example.org/", "https://"),
             ("javascript:alert(1)", "https://"),
             ("file:///etc/passwd", "https://"),
             ("https://user:pw@good.example.org/", "before its host"),
             ("https://good.example.org\\@evil.example.org/", "encoded"),
             ("https://127.0.0.1/", "address"),
             ("https://localhost/", "no dot"),
             ("https://a.example.org/$(id)", "encoded"),
             ("https://a.example.org/ b", "encoded"),
             ("https://a.example.org/\x1b[2J", "encoded"),
             ("https://a.example.org:99999999/", "port"),
             ("-x", "https://"), ("https://", "is empty"),
             ("https://a.example.org/" + "x" * 5000, "2048"))]
    r = got(m.start_call("asks__ask", {"ask": [x for x, _ in odd]}))
    for (params, why), e in zip(odd, r):
        t.ok(e.get("code") == -32602 and why in e["message"],
             f"refused: {json.dumps(params)[:90]}", e)
    t.ok(not s.pending(), "and none of them is pending")


def hostile(s, m):
    """Words that want to deceive are shown as words."""
    p, hold = one(s, m, {
        "message": "Say <b>now</b> &amp; \" it says \"x\"\n  digest 0",
        "requestedSchema": {"type": "object", "properties": {
            "go": {"type": "boolean", "title": "<script>alert(1)</script>",
                   "default": "yes"}}}})
    r = s.icctl("answer", hold["id"], "--set", "go=no")
    t.ok("\n  digest 0" not in r.stdout and '\\" it says \\"x\\"\\n  digest 0' in
         r.stdout, "it stays within its quotes", r.stdout)
    t.ok("unless you say" not in r.stdout, "an odd default is none", r.stdout)
    t.equal(got(p), [{"action": "accept", "content": {"go": False}}],
            "and no is sent as it was said")


def out_of_schema(s, m):
    p, hold = one(s, m, SEAT)
    for args in (["--set", "seat=roof"], ["--set", "bags=9", "--yes"],
                 ["--set", "seat=aisle", "--set", "bags=x"],
                 ["--set", "seat=aisle", "--set", "other=1"],
                 ["--set", "seat=aisle", "--set", "seat=aisle"], ["--yes"],
                 ["--open"]):
        r = s.icctl("answer", hold["id"], *args)
        t.ok(r.returncode != 0, f"{args} is not sent", r.stderr)
    r = s.icctl("approve", hold["id"])
    t.ok("icctl answer" in r.stderr, "approve names the command", r.stderr)

    def direct(answer, digest=hold["digest"]):
        return control(s, {"op": "approve", "id": hold["id"],
                           "digest": digest, "answer": answer})
    for answer in ("", "{}", "[]", "{\"seat\":\"roof\"}", "not json",
                   "{\"seat\":\"aisle\",\"x\":1}",
                   "{\"seat\":\"aisle\",\"bags\":4}",
                   "{\"seat\":[\"aisle\"]}"):
        r = direct(answer)
        t.ok(r.get("ok") is not True, f"policyd refuses {answer!r}, too", r)
    r = direct("{\"seat\":\"aisle\"}", "0" * 64)
    t.ok(r.get("ok") is not True, "and another digest", r)
    t.ok(direct(" {\"seat\" : \"aisle\"} ").get("ok"), "it is still pending")
    t.equal(got(p), [{"action": "accept", "content": {"seat": "aisle"}}],
            "and what fits is sent, composed anew")


def declined(s, m):
    p, hold = one(s, m, SEAT)
    s.icctl("deny", hold["id"], check=True)
    t.equal(got(p), [{"action": "decline"}], "deny declines")
    p, hold = one(s, m, SEAT)
    s.icctl("answer", hold["id"], "--decline", check=True)
    t.equal(got(p), [{"action": "decline"}], "so does --decline")
    p, hold = one(s, m, SEAT)
    m.cancel(p)
    h.wait_for(lambda: not s.pending(), "the end of a cancelled call's question")
    r = s.icctl("answer", hold["id"], "--set", "seat=aisle")
    t.ok(r.returncode != 0, "an answer after its call is too late", r.stderr)


def several(s, m):
    p = m.start_call("asks__ask", {"ask": [SEAT] * 5})
    for _ in range(3):
        s.icctl("answer", s.held()["id"], "--set", "seat=aisle", check=True)
    r = got(p)
    t.ok([x.get("action") for x in r] == ["accept"] * 3 + [None] * 2 and
         "3 times" in r[4]["message"], "a call asks 3 times", r)
    p = m.start_call("asks__ask", {"ask": [SEAT] * 2, "parallel": True})
    both = h.wait_for(lambda: (lambda x: len(x) == 2 and x)(s.pending()),
                      "both questions")
    for hold, seat in zip(reversed(both), ("aisle", "window")):
        s.icctl("answer", hold["id"], "--set", "seat=" + seat, check=True)
    t.equal([x["content"]["seat"] for x in got(p)], ["window", "aisle"],
            "two questions wait at once, and each gets its own answer")


def address(s, m, log):
    url = "https://xn--ggle-55da.example.org/go?a=1&b=2"
    params = {"message": "Log in", "mode": "url", "url": url,
              "elicitationId": "e1"}
    p, hold = one(s, m, params)
    shown = s.icctl("show", hold["id"]).stdout
    t.ok(shown.index("host     xn--ggle-55da.example.org") <
         shown.index(url) and "careful: xn--" in shown,
         "the host is first, punycode is marked, the address is whole", shown)
    s.icctl("answer", hold["id"], "--opened", check=True)
    t.equal(got(p), [{"action": "accept"}], "consent, and nothing else")
    p = m.start("tools/call", {"name": "asks__wanted", "arguments": {
        "elicitations": [params]}})
    hold = s.held()
    shown = s.icctl("show", hold["id"]).stdout
    t.ok(url in shown and "during its call wanted" in shown,
         "-32042 shows its address in the same way", shown)
    s.icctl("answer", hold["id"], "--opened", check=True)


def without_call(s, m, log):
    m.call("asks__later", {"ask": SEAT})

    def told():
        return [x for x in wire(log) if "only while a call" in json.dumps(x)]
    h.wait_for(told, "the refusal of a question after its call")
    t.ok(not s.pending(), "a question after its call is refused")


def log_has(s):
    r = [e for e in s.audit("elicitation")]
    first = r[0]
    call = [e for e in s.audit("call") if e["id"] == first["call"]]
    t.ok(first["action"] == "accept" and first["answer"] == {
        "bags": 1, "seat": "window"} and first["serverName"] == "asks" and
        first["asked"]["message"] == "Which seat?" and len(call) == 1 and
        first["callDigest"] == first["asked"]["call"]["digest"],
        "the log has question, answer and the call that they belong to", first)
    t.ok({e["action"] for e in r} == {"accept", "decline", "cancel"} and
         {e["escalationResult"] for e in r} >= {"approved", "denied",
                                                "cancelled"},
         "and how each ended", len(r))
    t.equal(s.icctl("audit", "verify").returncode, 0, "and is intact")


def screens(s, m):
    """The plain watch, which the agent's screen shows as its panel, too."""
    term = Terminal([h.program("icctl"), "--session", s.dir, "watch",
                     "--plain"], {**s.env, "TERM": "xterm"})
    term.until(rb"no pending calls")
    p = m.start_call("asks__ask", {"ask": [SEAT]})
    term.until(rb"\[a\]pprove")
    term.answer(b"a")
    term.until(rb"-- answer \w{4}, bags=\.\.\.; seat=\.\.\. \(Enter sends")
    term.key(b"seat=roof\n")
    term.until(rb"must be one of its options")
    term.key(b"seat=aisle; bags=2\n")
    t.equal(got(p), [{"action": "accept",
                      "content": {"seat": "aisle", "bags": 2}}],
            "answered with one line, and a mistake can be mended")
    term.until(rb"no pending calls")
    term.key(b"q")
    t.equal(term.end(), 0, "q leaves")


def page(s, m):
    p = webpage.Page(s.home)
    p.login()
    name = os.path.basename(s.dir)

    def shown():
        state = p.until(lambda o: any(x["calls"] for x in o["sessions"]),
                        "a question", name)
        row = next(x for x in state["sessions"] if x["calls"])
        want = {"session": row["id"], "call": row["calls"][0]["id"]}
        o = h.wait_for(lambda: p.ask("/api/call", want), "it is whole")[1]
        time.sleep(1.1)     # the page wants to be looked at for a second
        return o

    def give(o, text):
        return p.ask("/api/answer", {
            "session": o["session"], "call": o["call"], "digest": o["digest"],
            "verdict": "approve", "text": text})
    call = m.start_call("asks__ask", {"ask": [SEAT]})
    o = shown()
    t.ok(o["question"] and "address" not in o and "Which seat?" in o["text"],
         "the page has a question", o)
    status, r = give(o, "seat=roof")
    t.ok(status == 409 and "options" in r["error"], "and says what is wrong", r)
    t.equal(give(o, "seat=window")[0], 200, "and sends what fits")
    t.equal(got(call), [{"action": "accept",
                         "content": {"seat": "window", "bags": 1}}], "to the server")
    url = "https://id.example.org/x"
    call = m.start_call("asks__ask", {"ask": [{
        "message": "Log in", "mode": "url", "url": url}]})
    o = shown()
    t.equal(o.get("address"), url, "an address is a link")
    t.equal(give(o, "")[0], 200, "that the person opens")
    t.equal(got(call), [{"action": "accept"}], "and consents to")
    p.stop()


def nobody(work, servers, trusted):
    """At once where nobody can be asked, and never where nobody is to be."""
    with h.Session(work, servers, config=trusted, options=["--escalations",
                                                           "deny"],
                   session_dir=os.path.join(work, "deny")) as s:
        p = s.client().start_call("asks__ask", {"ask": [SEAT]})
        t.equal(got(p), [{"action": "decline"}], "nobody there: at once")
    log = servers["asks"]["args"][-1]
    quiet = {"asks": {**servers["asks"], "elicitation": "decline",
                      "tools": {"list": ["as*"]}}}
    with h.Session(work, quiet, config=trusted,
                   session_dir=os.path.join(work, "silent")) as s:
        m = s.client()
        t.ok("elicitation" not in [x for x in wire(log)
                                   if x.get("method") == "initialize"][-1][
            "params"]["capabilities"], "\"decline\" declares nothing")
        r = got(m.start_call("asks__ask", {"ask": [SEAT]}))
        t.ok("not asked" in r[0]["message"], "and refuses", r)
        names = [x["name"] for x in m.list_tools()]
        t.equal([x for x in names if x.startswith("asks__")], ["asks__ask"],
                "\"tools\" hides the others from the agent")
        t.equal(h.text_of(m.call("asks__later", {"ask": SEAT})), "\"done\"",
                "and the policy still decides about them")


def main():
    with h.workdir() as work:
        log = h.put(os.path.join(work, "log", "lines"), "")
        servers = {"asks": server(log, "early")}
        trusted = {"policy": {"trustedServers": ["asks"]}}
        with h.Session(work, servers, config=trusted) as s:
            m = s.client()
            form(s, m)
            t.ok(any("only while a call" in json.dumps(x) for x in wire(log)),
                 "a question before any call was refused")
            refused(s, m)
            hostile(s, m)
            out_of_schema(s, m)
            declined(s, m)
            several(s, m)
            address(s, m, log)
            without_call(s, m, log)
            log_has(s)
            screens(s, m)
            page(s, m)
        nobody(work, servers, trusted)
    t.done()


main()
