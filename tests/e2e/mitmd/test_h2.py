#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""HTTP/2 through the real processes: the same rules and refusals as over
HTTP/1.1; frames that are wrong, too many or too slow; windows in both
directions; then curl and h2load. IC_H2LOAD sets h2load's number of requests.
"""
import json
import os
import re
import shutil
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
import h2  # noqa: E402
import joins  # noqa: E402

t = h.Tap()
HOST = "api.anthropic.com"
BODY = json.dumps({"model": "m", "max_tokens": 5, "messages":
                   [{"role": "user", "content": "hi"}]}).encode()
CALM = h2.ENHANCE_YOUR_CALM


class Agent:
    """Connections to the session's proxy, and the placeholder key."""

    def __init__(self, s):
        m = s.model(connect=False)
        m.close()
        self.key, self.dir = m.key, s.dir
        self.ca = os.path.join(s.dir, "orientation", "ca-cert.pem")
        self.path = os.path.join(s.dir, "sockets", "mitm-proxy.sock")

    def __call__(self, **kw):
        return h2.through(self.dir, HOST, **kw)

    def fields(self, method="POST", path="/v1/messages", more=(), key=True,
               pseudo=None, length=None):
        fields = pseudo or [(":method", method), (":scheme", "https"),
                            (":authority", HOST), (":path", path)]
        if key:
            fields = fields + [("x-api-key", self.key)]
        if method == "POST":
            fields = fields + [("content-type", "application/json")]
        if length is not None:
            fields = fields + [("content-length", str(length))]
        return fields + list(more)


def test_requests(a, p):
    c = a()
    r = c.wait(c.request(a.fields(length=len(BODY)), BODY))
    t.ok(r.status == 200 and b"hello" in r.body.lower() or r.status == 200,
         "a request", r.fields)
    seen = p.seen()[-1]
    t.ok(seen["head"].startswith("POST /v1/messages HTTP/1.1\r\n"),
         "goes on over HTTP/1.1", seen["head"])
    t.equal([v for n, v in seen["headers"] if n.lower() == "x-api-key"],
            [h.ANTHROPIC_KEY], "with the real key")
    t.ok(c.settings.get(3) == 50 and c.settings.get(6) == 65536,
         "our limits are told", c.settings)
    r = c.wait(c.request(a.fields(), BODY))
    t.ok(r.status == 200 and p.seen()[-1]["bodyBytes"] == len(BODY),
         "a body without a length", r.fields)
    r = c.wait(c.request(a.fields(length=len(BODY),
                                  more=[("expect", "100-continue")]), BODY))
    t.ok(r.status == 200 and len(r.interim) == 1, "100 is answered here",
         r.interim)
    streams = [c.request(a.fields(length=len(BODY)), BODY) for _ in range(50)]
    t.ok(all(c.wait(s).status == 200 for s in streams), "fifty at once")
    big = json.dumps({"model": "m", "max_tokens": 5, "messages":
                      [{"role": "user", "content": "x" * 200000}]}).encode()
    r = c.wait(c.request(a.fields(length=len(big)), big))
    t.ok(r.status == 200 and p.seen()[-1]["bodyBytes"] == len(big),
         "a body as large as its window")
    stream = json.dumps({"model": "m", "max_tokens": 5, "stream": True,
                         "messages": [{"role": "user", "content": "hi"}]})
    r = c.wait(c.request(a.fields(), stream.encode()))
    t.ok(r.status == 200 and b"message_stop" in r.body, "events", r.body[:99])
    block = h2.encode(a.fields(length=len(BODY)))
    s = c.next
    c.next += 2
    c.answers[s] = h2.Answer()
    c.frame(h2.HEADERS, 0, s, block[:20])
    c.frame(h2.CONTINUATION, 0, s, block[20:60])
    c.frame(h2.CONTINUATION, h2.END_HEADERS, s, block[60:])
    c.frame(h2.DATA, h2.END_STREAM | h2.PADDED, s,
            b"\x04" + BODY + b"\0" * 4)
    t.equal(c.wait(s).status, 200, "continued headers, a padded body")
    c.ping()
    t.ok(c.goaway is None, "and a PING")
    c.close()


def rows(a):
    """[(name, status, code, fields, body, end)]"""
    f = a.fields

    def pseudo(**kw):
        base = {"method": "POST", "scheme": "https", "authority": HOST,
                "path": "/v1/messages"}
        base.update(kw)
        return [(":" + k, v) for k, v in base.items() if v is not None]
    ok = pseudo()
    return [
        ("no key", 403, "no-key", f(key=False), BODY),
        ("a wrong key", 403, "wrong-key",
         f(key=False, more=[("x-api-key", "sk-ant-evil")]), BODY),
        ("a foreign key", 403, "foreign-key",
         f(more=[("x-goog-api-key", "evil")]), BODY),
        ("the key twice", 403, "two-keys",
         f(more=[("x-api-key", a.key)]), BODY),
        ("an endpoint", 403, "endpoint", f(path="/v1/evil"), BODY),
        ("a method", 405, "method", f("DELETE"), b""),
        ("TRACE", 405, "method", f("TRACE"), b""),
        ("CONNECT", 405, "method",
         f(pseudo=[(":method", "CONNECT"), (":authority", "evil:443")]), b""),
        ("extended CONNECT", 400, "malformed",
         f(pseudo=[(":method", "CONNECT"), (":protocol", "websocket")] +
           ok[1:]), b""),
        ("a query", 403, "query", f(path="/v1/messages?evil=x"), BODY),
        ("a type", 415, "type",
         f("GET", more=[(":x", "y")][:0], pseudo=ok) +
         [("content-type", "text/evil")], BODY),
        ("too large", 413, "too-large", f(length=99999999), b"", False),
        ("an escape", 400, "malformed", f(path="/v1%2fmessages"), BODY),
        ("dots", 400, "malformed", f(path="/v1/../v1/messages"), BODY),
        ("*", 400, "malformed", f("OPTIONS", path="*"), b""),
        ("absolute form", 400, "malformed",
         f(path=f"https://{HOST}/v1/messages"), BODY),
        ("an empty path", 400, "malformed", f(path=""), BODY),
        ("no path", 400, "malformed", f(pseudo=pseudo(path=None)), BODY),
        ("no method", 400, "malformed", f(pseudo=pseudo(method=None)), BODY),
        ("no scheme", 400, "malformed", f(pseudo=pseudo(scheme=None)), BODY),
        ("http", 400, "malformed", f(pseudo=pseudo(scheme="http")), BODY),
        ("no authority", 400, "malformed",
         f(pseudo=pseudo(authority=None), more=[("host", HOST)]), BODY),
        ("another authority", 400, "malformed",
         f(pseudo=pseudo(authority="evil.example")), BODY),
        ("userinfo", 400, "malformed",
         f(pseudo=pseudo(authority="evil@" + HOST)), BODY),
        ("another Host", 400, "malformed", f(more=[("host", "evil")]), BODY),
        ("a pseudo-header twice", 400, "malformed",
         f(pseudo=ok + [(":path", "/v1/messages")]), BODY),
        ("an unknown one", 400, "malformed",
         f(pseudo=ok + [(":evil", "x")]), BODY),
        (":status", 400, "malformed", f(pseudo=ok + [(":status", "200")]),
         BODY),
        ("a late one", 400, "malformed",
         f(pseudo=ok[:3] + [("accept", "*/*"), ok[3]]), BODY),
        ("upper case", 400, "malformed", f(more=[("X-Evil", "x")]), BODY),
        ("an empty name", 400, "malformed", f(more=[("", "evil")]), BODY),
        ("a space in a name", 400, "malformed", f(more=[("e vil", "x")]),
         BODY),
        ("CR LF in a value", 400, "malformed",
         f(more=[("accept", "x\r\nevil: y")]), BODY),
        ("NUL in a value", 400, "malformed", f(more=[("accept", "x\0")]),
         BODY),
        ("LF in the path", 400, "malformed", f(path="/v1/messages\nevil"),
         BODY),
        ("space in the path", 400, "malformed",
         f(path="/v1/messages HTTP/1.1"), BODY),
        ("outer space", 400, "malformed", f(more=[("accept", " evil")]), BODY),
        ("lower case method", 400, "malformed",
         f("post") + [("content-type", "application/json")], BODY),
        ("Connection", 400, "malformed", f(more=[("connection", "close")]),
         BODY),
        ("Connection names the key", 400, "malformed",
         f(more=[("connection", "x-api-key")]), BODY),
        ("Transfer-Encoding", 400, "malformed",
         f(more=[("transfer-encoding", "chunked")]), BODY),
        ("Upgrade", 400, "malformed", f(more=[("upgrade", "websocket")]),
         BODY),
        ("TE", 400, "malformed", f(more=[("te", "trailers, gzip")]), BODY),
        ("a length twice", 400, "malformed",
         f(length=len(BODY), more=[("content-length", str(len(BODY)))]), BODY),
        ("a length with a sign", 400, "malformed",
         f(more=[("content-length", "+80")]), BODY),
        ("a longer length", 400, "malformed", f(length=len(BODY) + 1), BODY),
        ("a shorter length", 400, "malformed", f(length=len(BODY) - 1), BODY),
        ("a length and no body", 400, "malformed", f(length=5), b""),
        ("a body on GET", 400, "malformed",
         f("GET", path="/api/hello"), BODY),
        ("Expect", 417, "expect", f(more=[("expect", "evil")]), BODY),
        ("a listed header twice", 400, "malformed",
         f(more=[("accept", "a"), ("accept", "b")]), BODY),
        ("many headers", 431, "headers",
         f(more=[(f"x-{i}", "evil") for i in range(120)]), BODY),
        ("large headers", 431, "headers",
         f(more=[(f"x-{i}", "e" * 700) for i in range(90)]), BODY),
    ]


def refused(c, row):
    name, status, code, fields, body = row[:5]
    end = row[5] if len(row) > 5 else True
    block = h2.encode(fields)
    stream, c.next = c.next, c.next + 2
    c.answers[stream] = h2.Answer()
    flags = h2.END_STREAM if end and not body else 0
    kind = h2.HEADERS
    while True:
        part, block = block[:16384], block[16384:]
        c.frame(kind, (flags if kind == h2.HEADERS else 0) |
                (0 if block else h2.END_HEADERS), stream, part)
        kind = h2.CONTINUATION
        if not block:
            break
    if body:
        c.frame(h2.DATA, h2.END_STREAM, stream, body)
    r = c.wait(stream)
    t.ok(r.status == status and f'"code":"{code}"'.encode() in r.body and
         b"evil" not in r.body, f"{name}: {status} {code}",
         (r.fields, r.body, r.reset))
    t.equal(r.header("content-length"), str(len(r.body)), "... whole")


def test_rows(a, s, p):
    before, denied = len(p.seen()), len(s.events("refused"))
    c, wrong = a(), 0
    n = 0
    for row in rows(a):
        with t.case(row[0]):
            wrong += row[2] in ("wrong-key", "foreign-key", "two-keys")
            if wrong == 4:
                c.close()
                c, wrong = a(), 1
            refused(c, row)
            n += 1
    r = c.wait(c.request(a.fields(length=len(BODY)), BODY))
    t.equal(r.status, 200, "the connection goes on after them all")
    r = c.wait(c.request(a.fields(length=len(BODY), more=[("te", "trailers")]),
                         BODY))
    t.ok(r.status == 200 and "te" not in
         {name.lower() for name, _ in p.seen()[-1]["headers"]},
         "the TE that HTTP/2 permits is no offence, and goes no further",
         (r.status, p.seen()[-1]))
    c.close()
    h.wait_for(lambda: len(s.events("refused")) >= denied + n,
               "a refusal is not in the log")
    # A wrong length is noticed only after the head was sent on.
    t.ok(len(p.seen()) - before <= 4, "none of them reached the provider",
         len(p.seen()) - before)
    t.ok(all(r.get("complete", True) is not True or r["bodyBytes"] in
             (0, len(BODY)) for r in p.seen()[before:]), "or not whole")


def frames(a):
    """[(name, code of GOAWAY, bytes)]"""
    pack = h2.Connection.pack
    head = pack(h2.HEADERS, 5, 1, h2.encode(a.fields("GET", "/api/hello")))
    block = h2.encode(a.fields())

    def many(n, *frame):
        return pack(*frame) * n
    reset = b"".join(
        pack(h2.HEADERS, 4, 2 * i + 1, h2.encode(a.fields(length=9))) +
        pack(h2.RST_STREAM, 0, 2 * i + 1, struct.pack(">I", 8))
        for i in range(600))
    return [
        ("rapid reset", CALM, reset),
        ("a PING flood", CALM, many(1000, h2.PING, 0, 0, b"x" * 8)),
        ("a SETTINGS flood", CALM,
         many(100, h2.SETTINGS, 0, 0, struct.pack(">HI", 4, 70000))),
        ("empty DATA", CALM,
         pack(h2.HEADERS, 4, 1, block) + many(1000, h2.DATA, 0, 1)),
        ("a PRIORITY flood", CALM,
         many(1000, h2.PRIORITY, 0, 3, b"\0\0\0\1\1")),
        ("PRIORITY on stream 0", 1, pack(
            h2.PRIORITY, 0, 0, b"\0\0\0\1\1")),
        ("a WINDOW_UPDATE flood", CALM,
         many(2000, h2.WINDOW_UPDATE, 0, 0, b"\0\0\0\1")),
        ("frames of no known kind", CALM, many(1000, 77, 0, 0, b"x")),
        ("a CONTINUATION flood", CALM, pack(h2.HEADERS, 0, 1, block[:10]) +
         many(40, h2.CONTINUATION, 0, 1)),
        ("a block over 64 KiB", CALM, pack(h2.HEADERS, 0, 1, block[:10]) +
         many(5, h2.CONTINUATION, 0, 1, b"\0" * 16384)),
        ("DATA on stream 0", 1, pack(h2.DATA, 0, 0, b"x")),
        ("DATA on an idle stream", 1, pack(h2.DATA, 0, 9, b"x")),
        ("HEADERS on an even stream", 1, pack(h2.HEADERS, 5, 2, block)),
        ("HEADERS on stream 0", 1, pack(h2.HEADERS, 5, 0, block)),
        ("a stream twice", None, head + head),
        ("a frame within a block", 1, pack(h2.HEADERS, 0, 1, block) +
         pack(h2.PING, 0, 0, b"x" * 8)),
        ("CONTINUATION of nothing", 1, pack(h2.CONTINUATION, 4, 1, block)),
        ("PUSH_PROMISE of a client", 1, pack(
            h2.PUSH_PROMISE, 4, 1, b"\0\0\0\2" + block)),
        ("a frame over 16 KiB", 6, pack(h2.DATA, 0, 1, b"x" * 16385)),
        ("SETTINGS of five bytes", 6, pack(h2.SETTINGS, 0, 0, b"12345")),
        ("SETTINGS on a stream", 1, pack(h2.SETTINGS, 0, 1)),
        ("a window over 2^31", 3, pack(
            h2.SETTINGS, 0, 0, struct.pack(">HI", 4, 1 << 31))),
        ("a window of 0", 1, pack(h2.WINDOW_UPDATE, 0, 0, b"\0\0\0\0")),
        ("too wide a window", 3, pack(
            h2.WINDOW_UPDATE, 0, 0, b"\x7f\xff\xff\xff")),
        ("PING of seven bytes", 6, pack(h2.PING, 0, 0, b"1234567")),
        ("PING on a stream", 1, pack(h2.PING, 0, 1, b"12345678")),
        ("RST_STREAM on an idle stream", 1, pack(
            h2.RST_STREAM, 0, 5, b"\0\0\0\0")),
        ("padding over the frame", 1, pack(
            h2.HEADERS, 13, 1, b"\xff" + block)),
        ("an index of nothing", 9, pack(h2.HEADERS, 5, 1, b"\xff\x80\x01")),
        ("a string beyond the block", 9, pack(h2.HEADERS, 5, 1, b"\0\x7f\1")),
        ("a table of 64 KiB", 9, pack(
            h2.HEADERS, 5, 1, b"\x3f\xe1\xff\x03" + block)),
    ]


def test_frames(a, s, p):
    before = len(p.seen())
    for name, code, data in frames(a):
        with t.case(name):
            c = a()
            try:
                c.raw(data)
            except h2.Ended:
                pass
            got = c.end()
            t.ok(got == code if code is not None else got is not None,
                 f"{name}: GOAWAY {code}", got)
            c.close()
    t.ok(len(p.seen()) - before <= 3, "they bring nothing to the provider",
         len(p.seen()) - before)
    c = a()
    r = c.wait(c.request(a.fields(length=len(BODY)), BODY))
    t.equal(r.status, 200, "the next connection is served")
    c.close()


def test_reset(a):
    """A malformed request is answered; its stream, if open, is reset."""
    c = a()
    s = c.request(a.fields(path="/v1%2fmessages"), end=False)
    while c.answers[s].reset is None:
        c.step()
    r = c.answers[s]
    t.equal((r.status, r.ended, r.reset), (400, True, h2.PROTOCOL_ERROR),
            "a malformed request: answered, then reset")
    s = c.request(a.fields(path="/v1/evil"), end=False)
    r = c.wait(s)
    c.frame(h2.DATA, h2.END_STREAM, s, b"x")
    c.ping()
    t.equal((r.status, r.reset), (403, None), "another refusal is not")
    c.close()


def test_streams(a, p):
    c = a()
    c.ping()
    for _ in range(51):
        c.request(a.fields(length=len(BODY)), end=False)
    t.equal(c.end(), 1, "51 at once, when the limit is known: GOAWAY 1")
    c.close()
    c = a()
    streams = [c.request(a.fields(length=len(BODY)), end=False)
               for _ in range(51)]
    t.equal(c.wait(streams[50]).reset, h2.REFUSED_STREAM,
            "before it is known: REFUSED_STREAM")
    for n in streams[:50]:
        c.frame(h2.DATA, h2.END_STREAM, n, BODY)
    t.ok(all(c.wait(n).status == 200 for n in streams[:50]),
         "the others are answered")
    seen = len(p.seen())
    c.request(a.fields(length=len(BODY)), BODY, stream=1)
    c.ping()
    t.equal(len(p.seen()), seen, "a stream that was there: nothing comes of it")
    s = c.request(a.fields(length=1 << 20), end=False)
    c.frame(h2.DATA, 0, s, b"{" * 100)
    c.frame(h2.RST_STREAM, 0, s, struct.pack(">I", 8))
    c.ping()
    s = c.request(a.fields(), BODY[:9], end=False)
    c.frame(h2.HEADERS, 5, s, h2.encode([("x-api-key", a.key)]))
    r = c.wait(s)
    t.ok(r.status == 400, "trailers: 400", (r.fields, r.body, r.reset, c.goaway))
    s = c.request(a.fields(), BODY[:9], end=False)
    c.frame(h2.HEADERS, 4, s, h2.encode([("x-evil", "x")]))
    t.equal(c.wait(s).status if c.goaway is None else 400, 400,
            "headers in the middle: refused")
    c.close()


def test_windows(a, p):
    """Data is read no faster than the other side takes it, in both directions.
    """
    c = a(settings=[(4, 100)])
    c.auto = False
    s = c.request(a.fields(), json.dumps(
        {"model": "m", "max_tokens": 5, "stream": True, "messages":
         [{"role": "user", "content": "hi"}]}).encode())
    while len(c.answers[s].body) < 100:
        c.step()
    c.ping()
    t.equal(len(c.answers[s].body), 100, "no more than the window")
    c.frame(h2.SETTINGS, 0, 0, struct.pack(">HI", 4, 100000))
    r = c.wait(s)
    t.ok(b"message_stop" in r.body, "the rest when it opens")
    c.close()
    c = a()
    s = c.request(a.fields(length=30 << 20), end=False)
    sent = 0
    while sent < 256 << 10:
        c.frame(h2.DATA, 0, s, b" " * 16384)
        sent += 16384
    c.ping()
    t.ok(c.windows.get(s, 0) > 0, "windows open as keyd takes the body",
         c.windows)
    c.frame(h2.RST_STREAM, 0, s, struct.pack(">I", 8))
    c.close()
    c = a()
    s = c.request(a.fields(length=30 << 20), end=False)
    for _ in range(17):
        c.frame(h2.DATA, 0, s, b" " * 16384)
    c.sock.settimeout(30)
    try:
        while c.answers[s].reset is None and c.goaway is None:
            c.step()
            if c.windows.get(s):
                break
        t.ok(c.goaway == 3 or c.answers[s].reset == 3 or c.windows.get(s),
             "beyond a window: FLOW_CONTROL_ERROR, unless it opened",
             (c.goaway, c.answers[s].reset, c.windows))
    except (h2.Ended, OSError) as e:
        t.ok(c.goaway == 3, "beyond a window: ended", (e, c.goaway))
    c.close()


def test_keys(a, s):
    c = a()
    wrong = a.fields(key=False, more=[("x-api-key", "sk-ant-api03-x")])
    alarms = len(s.events("alarm"))
    for _ in range(4):
        t.equal(c.wait(c.request(wrong, BODY)).status, 403, "a wrong key")
    c.request(wrong, BODY)
    h.wait_for(lambda: len(s.events("alarm")) > alarms, "no alarm")
    c.frame(h2.PING, 0, 0, b"12345678")
    c.sock.settimeout(0.5)
    try:
        while c.pings == 0:
            c.step()
        t.ok(False, "the fifth: the connection is not read for a while")
    except OSError:
        t.ok(True, "the fifth: the connection is not read for a while")
    c.close()


def tool(name):
    path = shutil.which(name)
    if path is None:
        t.skip(name, "not installed")
    return path


def test_tools(a, p, work):
    large = os.path.join(work, "large.json")
    with open(large, "wb") as f:
        f.write(b"x" * 300000)
    tunnel = h.Tunnel(a.path, HOST + ":443")
    try:
        curl, h2load = tool("curl"), tool("h2load")
        if curl:
            r = subprocess.run(
                [curl, "-sS", "--http2", "--cacert", a.ca, "-w",
                 "\n%{http_version} %{http_code}", "--connect-to",
                 f"{HOST}:443:127.0.0.1:{tunnel.port}", "-H",
                 "x-api-key: " + a.key, "-H", "content-type: application/json",
                 "--data-binary", BODY.decode(), f"https://{HOST}/v1/messages",
                 "--next", "-sS", "--http2", "--cacert", a.ca, "-w",
                 "\n%{http_version} %{http_code}", "--connect-to",
                 f"{HOST}:443:127.0.0.1:{tunnel.port}", "-H",
                 "x-api-key: wrong", "-H", "content-type: application/json",
                 "--data-binary", "@" + large, f"https://{HOST}/v1/messages"],
                capture_output=True, text=True, timeout=60, check=False)
            t.ok(re.findall(r"^2 (\d+)", r.stdout, re.M) == ["200", "403"],
                 "curl: answered, and refused early", (r.stdout, r.stderr))
        if h2load:
            n = int(os.environ.get("IC_H2LOAD", "4000"))
            body = os.path.join(work, "body.json")
            with open(body, "wb") as f:
                f.write(BODY)
            r = subprocess.run(
                [h2load, "-n", str(n), "-c", "100", "-m", "50", "-d", body,
                 "-H", "x-api-key: " + a.key, "-H",
                 "content-type: application/json", "--connect-to",
                 f"127.0.0.1:{tunnel.port}", f"https://{HOST}/v1/messages"],
                capture_output=True, text=True, timeout=60 + n / 200,
                check=False)
            t.contains(r.stdout, f"{n} succeeded, 0 failed, 0 errored",
                       f"h2load: {n} requests, 100 connections, 50 streams")
    finally:
        tunnel.end()


def main():
    with h.workdir() as work, t.case("h2"):
        p = h.Provider(work)
        with h.Session(work, provider=p) as s:
            a = Agent(s)
            for part, args in ((test_requests, (a, p)), (test_rows, (a, s, p)),
                               (test_frames, (a, s, p)),
                               (test_reset, (a,)), (test_streams, (a, p)),
                               (test_windows, (a, p)),
                               (test_keys, (a, s)), (test_tools, (a, p, work))):
                with t.case(part.__name__):
                    part(*args)
            h.wait_for(lambda: joins.check_requests(s.audit(), p.seen()) == [],
                       "the log and the provider differ")
            t.equal(joins.check_chain(os.path.join(s.dir, "audit.jsonl")),
                    None, "the chain holds")
        p.end()
    t.done()


if __name__ == "__main__":
    main()
