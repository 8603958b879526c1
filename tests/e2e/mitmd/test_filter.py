#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Bodies through the real processes to a recording provider: things that the
provider would do on its own are cut out or refused, byte for byte; encoded
bodies arrive decoded; whatever the user allows passes unchanged."""
import gzip
import json
import os
import sys
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402

t = h.Tap()
TYPE = [("Content-Type", "application/json")]
MESSAGES, RESPONSES = "/v1/messages", "/v1/responses"
HOSTS = {MESSAGES: "api.anthropic.com", RESPONSES: "api.openai.com"}
SEARCH = '{"type":"web_search_20250305","name":"web_search"}'
OWN = '{"name":"own","input_schema":{"type":"object"}}'
HI = '"messages":[{"role":"user","content":"hi"}]'
IMAGE = ('{"model":"m","messages":[{"role":"user","content":[{"type":"image",'
         '"source":{"type":"url","url":"https://evil.example/?q=secret"}}]}]}')

# (name, target, body, result: None for unchanged, a text, or a refusal)
CASES = [
    ("nothing to cut", MESSAGES, '{"model":"m", ' + HI + ' }', None),
    ("a server tool beside one of the agent's", MESSAGES,
     '{"model":"m","tools":[' + SEARCH + ', ' + OWN + '],' + HI + '}',
     '{"model":"m","tools":[ ' + OWN + '],' + HI + '}'),
    ("a server tool alone, and what chooses it", MESSAGES,
     '{"tool_choice":{"type":"tool","name":"web_search"},"tools":[' + SEARCH +
     '],"model":"m",' + HI + '}', '{"model":"m",' + HI + '}'),
    ("an escaped name", MESSAGES,
     '{"t\\u006fols":[' + SEARCH + '],' + HI + '}', '{' + HI + '}'),
    ("remote MCP servers", MESSAGES,
     '{"mcp_servers":[{"type":"url","url":"https://evil.example",'
     '"name":"e"}],' + HI + '}', '{' + HI + '}'),
    ("an image by URL", MESSAGES, IMAGE, (403, b"provider-urls")),
    ("a member twice", MESSAGES, '{"model":"m","tools":[],"tools":[' +
     SEARCH + '],' + HI + '}', (400, b"a member name twice")),
    ("no JSON", MESSAGES, '{"model":"m",' + HI + ',}', (400, b"not JSON")),
    ("cut short", MESSAGES, '{"model":"m",' + HI, (400, b"ends early")),
    ("no object", MESSAGES, '["m"]', (400, b"no object")),
    ("hosted tools, store, background", RESPONSES,
     '{"model":"m","store":true,"background":true,"tools":[{"type":'
     '"web_search"},{"type":"mcp","server_url":"https://evil.example"},'
     '{"type":"function","name":"f"}],"input":"hi"}',
     '{"model":"m","store":false,"tools":[{"type":"function","name":"f"}],'
     '"input":"hi"}'),
    ("store unsaid", RESPONSES, '{"model":"m","input":"hi"}',
     '{"store":false,"model":"m","input":"hi"}'),
    ("an image by URL, responses", RESPONSES,
     '{"model":"m","store":false,"input":[{"role":"user","content":[{"type":'
     '"input_image","image_url":"https://evil.example/x.png"}]}]}',
     (403, b"provider-urls")),
    ("an image in it", RESPONSES,
     '{"model":"m","store":false,"input":[{"role":"user","content":[{"type":'
     '"input_image","image_url":"data:image/png;base64,AAAA"}]}]}', None),
    ("an answer kept in the account", RESPONSES,
     '{"model":"gpt-5.2","store":true,"previous_response_id":"resp_123",'
     '"input":"go on"}', (403, b"store is taken out here, so "
                          b"previous_response_id cannot work: send the whole "
                          b"input itself, or the user may set filter.store")),
    ("a stored prompt", RESPONSES,
     '{"model":"gpt-5","input":"x","prompt":{"id":"pmpt_1","version":"2"}}',
     (403, b"filter.store")),
    ("tool search", MESSAGES,
     '{"model":"claude-sonnet-4-5","max_tokens":9,"tools":[{"type":'
     '"tool_search_tool_bm25_20251119","name":"tool_search_tool_bm25"},'
     '{"name":"get_weather","defer_loading":true,"input_schema":{"type":'
     '"object"}}],"messages":[{"role":"user","content":"hi"}]}', None),
]


def keys(m, target):
    return m.key_headers("anthropic" if target == MESSAGES else "openai")


def send(s, target, body, headers=()):
    m = s.model(HOSTS[target])
    r = m.request("POST", target, keys(m, target) + TYPE + list(headers),
                  body)
    m.close()
    return r


def chunked(s, target, body, step):
    m = s.model(HOSTS[target])
    head = "".join(f"{n}: {v}\r\n" for n, v in keys(m, target) + TYPE)
    m.send_raw(f"POST {target} HTTP/1.1\r\nHost: {m.host}\r\n{head}"
               "Transfer-Encoding: chunked\r\n\r\n".encode())
    for i in range(0, len(body), step):
        part = body[i:i + step]
        m.send_raw(b"%x\r\n%s\r\n" % (len(part), part))
    m.send_raw(b"0\r\n\r\n")
    r = m.read_response("POST")
    m.close()
    return r


def check(s, p, name, target, body, want, how="", headers=(), sent=None):
    before = len(p.seen())
    with t.case(name):
        r = send(s, target, sent or body.encode(), headers) \
            if how != "chunked" else chunked(s, target, body.encode(), 7)
        name = f"{name}{' ' if how else ''}{how}"
        if isinstance(want, tuple):
            t.ok(r.status == want[0] and want[1] in r.body,
                 f"{name}: {want[0]}", (r.status, r.body))
            t.ok(b"evil" not in r.body, f"{name}: constant text", r.body)
            t.equal(len(p.seen()), before, f"{name}: nothing is sent")
            return
        t.equal(r.status, 200, f"{name}: answered")
        seen = p.seen()[-1]
        t.equal(seen["body"], want or body, f"{name}: arrives")
        t.ok(seen["bodyComplete"] and [str(seen["bodyBytes"])] == [
            v for n, v in seen["headers"] if n.lower() == "content-length"],
            f"{name}: with its length")
        t.ok(not [n for n, _ in seen["headers"]
                  if n.lower() == "content-encoding"],
             f"{name}: without a coding")


def test_dflt():
    with h.workdir() as work:
        p = h.Provider(work, "--bodies")
        with h.Session(work, provider=p) as s:
            for case in CASES:
                check(s, p, *case)
            check(s, p, *CASES[1], how="chunked")
            check(s, p, *CASES[5], how="chunked")
            for name, target, body, want in (CASES[1], CASES[5], CASES[7]):
                check(s, p, name, target, body, want, "gzip",
                      [("Content-Encoding", "gzip")],
                      gzip.compress(body.encode()))
            test_codings(s, p)
            test_large(s, p)
            t.contains(s.session_log(), 'filter.tools: "web_search',
                       "a line says which tool was taken out")
        p.end()


def test_codings(s, p):
    before = len(p.seen())
    body = CASES[0][2].encode()
    packed = gzip.compress(body)
    for name, coding, data, status in (
            ("not gzip", "gzip", body, 400),
            ("gzip cut short", "gzip", packed[:-3], 400),
            ("something behind it", "gzip", packed + b"x", 400),
            ("a bomb", "gzip", gzip.compress(b" " * (30 << 20)), 413),
            ("brotli", "br", body, 415),
            ("two codings", "gzip, gzip", gzip.compress(packed), 415)):
        with t.case(name):
            r = send(s, MESSAGES, data, [("Content-Encoding", coding)])
            t.equal(r.status, status, f"{name}: {status}")
    t.equal(len(p.seen()), before, "of these nothing is sent")


def test_large(s, p):
    """Larger than the heap holds, and many at once."""
    body = json.dumps({"model": "m", "tools": [
        json.loads(SEARCH), json.loads(OWN)], "messages": [
            {"role": "user", "content": "x" * (6 << 20)}]}).encode()
    models = [s.model() for _ in range(16)]
    for m in models:
        m.sock.settimeout(60)
        m.send("POST", MESSAGES, m.key_headers("anthropic") + TYPE +
               [("Content-Length", str(len(body)))], body[:-100000])
    for m in models:
        m.send_raw(body[-100000:])
        r = m.read_response("POST")
        t.equal(r.status, 200, "6 MB are held and answered")
        m.close()
    want = json.loads(body)
    del want["tools"][0]
    t.ok(all(json.loads(q["body"]) == want for q in p.seen()[-4:]),
         "... and arrive cut")
    # The route takes at most 33 MiB.
    m = s.model()
    r = m.request("POST", MESSAGES, m.key_headers("anthropic") + TYPE +
                  [("Content-Length", str(40 << 20))], b"")
    t.equal(r.status, 413, "40 MiB are refused by their length")
    m.close()


def test_room():
    """More bodies at once than may be held: agents wait, and all are served.
    """
    body = json.dumps({"model": "m", "messages": [
        {"role": "user", "content": "x" * (7 << 20)}]}).encode()
    got = []

    def one(s):
        m = s.model()
        m.sock.settimeout(60)
        got.append(m.request("POST", MESSAGES, m.key_headers("anthropic") +
                             TYPE, body).status)
        m.close()

    with h.workdir() as work:
        p = h.Provider(work)
        config = {"modelBodies": {"maxHeldMb": 96}}
        with h.Session(work, provider=p, config=config) as s, \
                t.case("room"):
            threads = [threading.Thread(target=one, args=(s,))
                       for _ in range(16)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(60)
            t.equal(got, [200] * 16, "16 of 7 MB, 96 MiB being held")
        p.end()


def allowed(p, **actions):
    return {"providers": {"anthropic": {"upstream": p.url, "ca": p.ca,
                                        "filter": actions}}}


def test_allowed():
    kinds = ("tools", "mcp", "urls", "store", "background")
    with h.workdir() as work:
        p = h.Provider(work, "--bodies")
        config = allowed(p, **dict.fromkeys(kinds, "allow"))
        config["providers"]["anthropic"]["filter"]["tools"] = "deny"
        with h.Session(work, provider=p, config=config) as s:
            check(s, p, "allowed: an image by URL", MESSAGES, IMAGE, None)
            check(s, p, "denied: a server tool", *CASES[1][1:3],
                  (403, b"provider-tools"))
            check(s, p, "still strict", *CASES[6][1:])
        p.end()
    with h.workdir() as work:
        p = h.Provider(work, "--bodies")
        config = allowed(p, **dict.fromkeys(kinds, "allow"))
        with h.Session(work, provider=p, config=config) as s:
            check(s, p, "all is allowed: nothing is looked at", MESSAGES,
                  '{"model":"m","model":"n",' + HI + '}', None)
        p.end()


if __name__ == "__main__":
    test_dflt()
    test_room()
    test_allowed()
    t.done()
