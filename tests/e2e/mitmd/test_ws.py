#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""WebSocket through the real processes, on the route that has it: keyd makes
its own handshake with the real key, messages arrive complete and filtered, an
error on either side ends it, and a key that comes back is cut."""
import json
import os
import struct
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
import joins  # noqa: E402
import ws  # noqa: E402
from agent import Closed  # noqa: E402

t = h.Tap()
HOST, PATH = "api.openai.com", "/v1/responses"
KEY = "dGhlIHNhbXBsZSBub25jZQ=="


class Socket:
    """The agent's side, after its handshake."""

    def __init__(self, s, **kw):
        self.m = s.model(HOST)
        self.r = self.shake(**kw)
        self.frames = ws.Frames(self.m._read, False)
        self.controls = []

    def headers(self, more=(), key=KEY, version="13", upgrade="websocket",
                connection="Upgrade", auth=True):
        out = [("Upgrade", upgrade), ("Connection", connection)]
        if auth:
            out += self.m.key_headers("openai")[:1]
        if key is not None:
            out.append(("Sec-WebSocket-Key", key))
        if version is not None:
            out.append(("Sec-WebSocket-Version", version))
        return out + list(more)

    def shake(self, path=PATH, method="GET", **kw):
        head = f"{method} {path} HTTP/1.1\r\nHost: {HOST}\r\n" + "".join(
            f"{n}: {v}\r\n" for n, v in self.headers(**kw)) + "\r\n"
        self.m.send_raw(head.encode())
        response = self.m.read_response(method, body=False)
        if response.status != 101:
            for piece in self.m.pieces(response, method):
                response.body += piece
        return response

    def send(self, op, payload=b"", **kw):
        kw.setdefault("mask", True)
        self.m.send_raw(ws.frame(op, payload, **kw))

    def text(self, value):
        self.send(ws.TEXT, value if isinstance(value, bytes)
                  else json.dumps(value).encode())

    def message(self):
        return self.frames.message(
            lambda op, data: self.controls.append((op, data)))

    def ask(self, value):
        self.text(value)
        return self.message()

    def close_code(self):
        """Read up to a close frame: its code, or None if the connection just
        ended."""
        try:
            while True:
                op, data = self.message()
                if op == ws.CLOSE:
                    return struct.unpack(">H", data[:2])[0] if data else 0
        except (Closed, OSError):
            return None

    def close(self):
        self.m.close()


def messages(p):
    return [e for e in h.read_lines(p.log_path) if e["ev"] == "message"]


def test_talk(s, p):
    c = Socket(s, more=[("OpenAI-Beta", "responses_websockets"),
                        ("Sec-WebSocket-Extensions", "permessage-deflate"),
                        ("Sec-WebSocket-Protocol", "x"), ("Cookie", "a=b")])
    t.equal(c.r.status, 101, "the handshake is answered")
    t.equal(c.r.header("sec-websocket-accept"), ws.accept_of(KEY),
            "with what fits the agent's key")
    t.ok(c.r.header("sec-websocket-extensions") is None and
         c.r.header("sec-websocket-protocol") is None, "nothing is negotiated")
    head = p.seen()[-1]
    given = {n.lower(): v for n, v in head["headers"]}
    t.equal(given.get("authorization"), "Bearer " + h.OPENAI_KEY,
            "with the real key")
    t.ok(given.get("sec-websocket-key") not in (None, KEY) and
         "sec-websocket-extensions" not in given and "cookie" not in given and
         given.get("openai-beta") == "responses_websockets",
         "and a handshake of our own", given)
    op, data = c.ask({"type": "response.create", "model": "m", "input": [
        {"role": "user", "content": [{"type": "input_text",
                                      "text": "hi"}]}]})
    t.ok(op == ws.TEXT and json.loads(data)["type"].startswith("response."),
         "a turn", data[:200])
    while json.loads(data)["type"] != "response.completed":
        op, data = c.message()
    t.ok(True, "to its end")
    seen = messages(p)[-1]
    t.ok(seen["frames"] == 1 and '"response.create"' in seen["text"],
         "the provider saw one frame", seen)
    before = len(messages(p))
    text = json.dumps({"do": "fragments", "text": "0123456789abcdef"}).encode()
    c.send(ws.TEXT, text[:10], fin=False)
    c.send(ws.PING, b"now")
    c.send(ws.CONT, b"", fin=False)
    c.send(ws.CONT, text[10:])
    t.equal(c.message(), (ws.TEXT, b"0123456789abcdef"),
            "fragments both ways")
    t.ok((ws.PONG, b"now") in c.controls and (ws.PING, b"between") in
         c.controls, "with PING between them", c.controls)
    seen = messages(p)[before:]
    t.ok(len(seen) == 1 and seen[0]["bytes"] == len(text),
         "put together for the provider", seen)
    t.equal(c.ask({"do": "empty"}), (ws.TEXT, b""), "an empty message")
    big = c.ask({"do": "large", "size": 1000000})
    t.ok(big == (ws.BINARY, b"x" * 1000000), "1 MB to the agent")
    pad = {"do": "empty", "pad": "y" * 3000000}
    t.equal(c.ask(pad), (ws.TEXT, b""), "3 MB to the provider")
    t.ok(messages(p)[-1]["bytes"] == len(json.dumps(pad)), "... whole",
         messages(p)[-1]["bytes"])
    c.text({"do": "empty"})
    c.text({"do": "empty"})
    t.ok(c.message() == c.message() == (ws.TEXT, b""), "two at once")
    c.text({"do": "ping"})
    t.equal(c.frames.frame()[0::2], (ws.PING, b"are you there"),
            "PING comes through")
    c.send(ws.CLOSE, struct.pack(">H", 1000) + b"bye")
    t.equal(c.message(), (ws.CLOSE, struct.pack(">H", 1000) + b"bye"),
            "a close is answered by the provider")
    t.equal(c.close_code(), None, "and the connection ends")
    c.close()
    c = Socket(s)
    t.equal(c.ask({"do": "close"})[0], ws.CLOSE, "the provider closes")
    c.close()
    c = Socket(s)
    c.text({"do": "vanish"})
    t.ok(c.close_code() in (None, 1011, 1001), "the provider vanishes")
    c.close()


def test_usage(s):
    before = len(s.events("usage"))
    c = Socket(s)
    for _ in range(3):
        c.text({"type": "response.create", "model": "m", "input": "x"})
        while json.loads(c.message()[1])["type"] != "response.completed":
            pass
    c.send(ws.CLOSE)
    c.close_code()
    c.close()
    h.wait_for(lambda: len(s.events("usage")) >= before + 3, "no usage")
    t.equal([(u["message"], u["in"], u["out"], u.get("estimated"))
             for u in s.events("usage")[before:]],
            [(n, 100, 20, None) for n in (1, 2, 3)],
            "what each of three turns cost")


def test_filter(s, p):
    c = Socket(s)
    before = len(messages(p))
    c.ask({"type": "response.create", "model": "m", "store": True,
           "tools": [{"type": "web_search"}], "input": "x"})
    seen = messages(p)[before]
    t.ok("web_search" not in seen["text"], "a message is filtered", seen)
    c.close()
    c = Socket(s)
    c.text(b'{"type":"response.create","model":"m","model":"n"}')
    t.equal(c.close_code(), 1008, "a repeated key: refused")
    t.equal(len(messages(p)), before + 1, "and does not go on")
    c.close()


TURN = {"type": "response.create", "model": "m", "input": "x"}


def turn(c):
    """Send a turn. Returns its last event."""
    c.text(TURN)
    while True:
        op, data = c.message()
        event = json.loads(data) if op == ws.TEXT else {"type": op}
        if event["type"] in ("response.completed", "error", ws.CLOSE):
            return event


def steps(s):
    shown = json.loads(s.icctl("--json", "budget", check=True).stdout)
    return shown["budget"]["limits"]["maxSteps"]["used"]


def test_budget():
    """Each message is a step; one too many is not sent, and the agent is told
    why."""
    with h.workdir() as work:
        p = h.Provider(work, "--websocket")
        with h.Session(work, provider=p, config={"resourceBudget": {
                **h.NO_BUDGET, "maxSteps": 3}}) as s:
            c = Socket(s)
            c.ask({"do": "empty"})
            t.equal(turn(c)["type"], "response.completed", "within it")
            h.wait_for(lambda: steps(s) == 2, "two messages are two steps")
            t.equal(turn(c)["type"], "response.completed", "the last one")
            before = len(messages(p))
            end = turn(c)
            t.equal((end["type"], end.get("status"),
                     end.get("error", {}).get("type")),
                    ("error", 400, "insufficient_quota"),
                    "one too many, in the provider's words")
            t.contains(end["error"]["message"], "icctl budget set maxSteps",
                       "with what to do")
            t.equal(c.close_code(), 1008, "then it is closed")
            t.equal(len(messages(p)), before, "nothing of it was sent")
            c.close()
            c = Socket(s)
            t.ok(c.r.status == 400 and b"maxSteps" in c.r.body,
                 "no new one either", (c.r.status, c.r.body))
            c.close()
            s.icctl("budget", "set", "maxSteps", "9", check=True)
            c = Socket(s)
            t.equal(turn(c)["type"], "response.completed", "raised: goes on")
            h.wait_for(lambda: steps(s) == 4, "a handshake is no step")
            c.close()
        p.end()


def test_reserved():
    """Under a limit of tokens each message reserves some."""
    with h.workdir() as work:
        p = h.Provider(work, "--websocket")
        with h.Session(work, provider=p, config={"resourceBudget": {
                **h.NO_BUDGET, "maxTotalTokens": 20000}}) as s:
            sockets = [Socket(s), Socket(s)]
            for _ in range(3):
                for c in sockets:
                    t.equal(turn(c)["type"], "response.completed",
                            "one message after the other")
            for c in sockets:
                c.close()
        p.end()


HANDSHAKES = [
    ("no key", 403, {"auth": False}),
    ("another path", 426, {"path": "/v1/models"}),
    ("off the list", 426, {"path": "/v1/evil"}),
    ("POST", 426, {"method": "POST"}),
    ("h2c", 426, {"upgrade": "h2c"}),
    ("two protocols", 426, {"upgrade": "websocket, h2c"}),
    ("Connection: close", 400, {"connection": "close"}),
    ("Connection names the key", 400,
     {"connection": "Upgrade, authorization"}),
    ("no Sec-WebSocket-Key", 400, {"key": None}),
    ("a short one", 400, {"key": "dGhl"}),
    ("one that is no base64", 400, {"key": "!" * 22 + "=="}),
    ("two of them", 400, {"more": [("Sec-WebSocket-Key", KEY)]}),
    ("version 8", 400, {"version": "8"}),
    ("no version", 400, {"version": None}),
    ("a body", 400, {"more": [("Content-Length", "5")]}),
    ("a foreign key", 403, {"more": [("x-api-key", "evil")]}),
    ("a query", 426, {"path": PATH + "?key=evil"}),
]
FRAMES = [
    ("no mask", 1002, ws.frame(ws.TEXT, b"x")),
    ("a reserved bit", 1002, ws.frame(ws.TEXT, b"x", mask=True, rsv=4)),
    ("an unknown kind", 1002, ws.frame(3, b"x", mask=True)),
    ("an unknown control", 1002, ws.frame(11, b"x", mask=True)),
    ("a long PING", 1002, ws.frame(ws.PING, b"x" * 126, mask=True)),
    ("a PING in pieces", 1002, ws.frame(ws.PING, b"x", fin=False, mask=True)),
    ("a continuation of nothing", 1002, ws.frame(ws.CONT, b"x", mask=True)),
    ("a message in a message", 1002,
     ws.frame(ws.TEXT, b"x", fin=False, mask=True) +
     ws.frame(ws.TEXT, b"x", mask=True)),
    ("a length of 2^63", 1002,
     ws.frame(ws.TEXT, b"x", mask=True, length=1 << 63)),
    ("a length in long form", 1002, b"\x81\xfe\x00\x05abcd12345"),
    ("too large a message", 1009,
     ws.frame(ws.TEXT, b"x", mask=True, length=33554433)),
    ("too large in pieces", 1009,
     ws.frame(ws.TEXT, b"x" * 10, fin=False, mask=True) +
     ws.frame(ws.CONT, b"x", mask=True, length=33554430)),
    ("half a close code", 1002, ws.frame(ws.CLOSE, b"x", mask=True)),
    ("a PING flood", 1008, ws.frame(ws.PING, b"", mask=True) * 400),
    ("empty fragments", 1008,
     ws.frame(ws.TEXT, b"", fin=False, mask=True) +
     ws.frame(ws.CONT, b"", fin=False, mask=True) * 400),
    ("a close code that is none", 1002,
     ws.frame(ws.CLOSE, b"\x03\xed", mask=True)),
    ("a close's reason that is no text", 1007,
     ws.frame(ws.CLOSE, b"\x03\xe8\xff", mask=True)),
    ("text that is no UTF-8", 1007, ws.frame(ws.TEXT, b"\xff\xfe", mask=True)),
    ("text that is no JSON", 1008, ws.frame(ws.TEXT, b"{", mask=True)),
]


def test_bad(s, p):
    before = len(p.seen())
    for name, status, kw in HANDSHAKES:
        with t.case(name):
            c = Socket(s, **kw)
            t.ok(c.r.status == status and b"evil" not in c.r.body,
                 f"{name}: {status}", (c.r.head, c.r.body))
            c.close()
    t.equal(len(p.seen()), before, "none of them reached the provider")
    m = s.model(HOST)
    r = m.request("GET", PATH, m.key_headers("openai")[:1])
    t.equal(r.status, 405, "a plain GET there: 405")
    m.close()
    before = len(messages(p))
    for name, code, data in FRAMES:
        with t.case(name):
            c = Socket(s)
            try:
                c.m.send_raw(data)
            except OSError:
                pass
            t.equal(c.close_code(), code, f"{name}: closed with {code}")
            c.close()
    t.equal(len(messages(p)), before, "and nothing went on")
    c = Socket(s)
    c.send(ws.TEXT, b'{"do":', fin=False)
    c.close()
    for what in ("masked", "reserved", "unknown", "long ping", "continuation",
                 "ping in pieces", "long form", "huge"):
        with t.case(what):
            c = Socket(s)
            c.text({"do": what})
            t.ok(c.close_code() in (None, 1011),
                 f"the provider sends: {what}: cut")
            c.close()


def test_reflection(s, p):
    c = Socket(s)
    t.equal(c.ask({"do": "almost the key"}),
            (ws.TEXT, b'{"echo":"sk-' + h.OPENAI_KEY[-19:].encode() + b'"}'),
            "what is too short to be the key passes")
    c.close()
    for what in ("key", "key but one", "key in pieces", "key in two messages",
                 "key in a ping", "key in two pings", "key coded"):
        with t.case(what):
            alarms = len(s.events("alarm"))
            c = Socket(s)
            c.text({"do": what})
            got = b""
            try:
                while True:
                    op, fin, data = c.frames.frame()
                    if op == ws.CLOSE:
                        break
                    got += data
            except (Closed, OSError):
                pass
            t.ok(h.OPENAI_KEY.encode() not in got and len(got) < 30,
                 f"{what}: does not arrive", got)
            h.wait_for(lambda: len(s.events("alarm")) > alarms, "no alarm")
            c.close()
            c = Socket(s)
            t.ok(c.r.status == 403 and b"icctl unlock" in c.r.body,
                 "... locked", c.r.body)
            c.close()
            s.icctl("unlock", check=True)
            h.wait_for(lambda: shakes(s), "still locked")


def shakes(s):
    c = Socket(s)
    c.close()
    return c.r.status == 101


def test_wrong_provider():
    for how in ("accept", "extension", "protocol"):
        with h.workdir() as work, t.case(how):
            p = h.Provider(work, "--websocket", how)
            with h.Session(work, provider=p) as s:
                c = Socket(s)
                t.equal(c.r.status, 502, f"a wrong {how}: 502")
                c.close()
            p.end()
    with h.workdir() as work, t.case("426"):
        p = h.Provider(work)
        with h.Session(work, provider=p) as s:
            c = Socket(s)
            t.equal(c.r.status, 426, "a provider that refuses: as it says")
            c.close()
        p.end()


def main():
    with h.workdir() as work, t.case("ws"):
        p = h.Provider(work, "--websocket")
        with h.Session(work, provider=p) as s:
            for part in (test_talk, test_filter, test_bad, test_reflection):
                with t.case(part.__name__):
                    part(s, p)
            with t.case("usage"):
                test_usage(s)
            h.wait_for(lambda: joins.check_requests(s.audit(), p.seen()) == [],
                       "the log and the provider differ")
            t.equal(joins.check_chain(os.path.join(s.dir, "audit.jsonl")),
                    None, "the chain holds")
        p.end()
    with t.case("budget"):
        test_budget()
    with t.case("reserved"):
        test_reserved()
    test_wrong_provider()
    t.done()


if __name__ == "__main__":
    main()
