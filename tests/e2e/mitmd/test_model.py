#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Model requests through the real processes to a recording provider: the key
is replaced, forbidden headers do not pass, a key that comes back cuts the
stream, and connections are reused only by the rule."""
import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
import joins  # noqa: E402
from agent import Closed  # noqa: E402

t = h.Tap()
BODY = json.dumps({"model": "m", "max_tokens": 5, "messages":
                   [{"role": "user", "content": "hi"}]}).encode()


def names(request):
    return [n.lower() for n, _ in request["headers"]]


def value(request, name):
    return [v for n, v in request["headers"] if n.lower() == name]


def test_swap(s, p):
    m = s.model()
    r = m.message("hello")
    t.equal(r.status, 200, "a request is answered")
    seen = p.seen()[-1]
    t.equal(value(seen, "x-api-key"), [h.ANTHROPIC_KEY], "with the real key")
    t.ok(m.key.startswith("sk-ant-api03-ironcurtain-") and
         m.key not in seen["head"], "the sentinel stays here", seen["head"])
    t.equal(value(seen, "host"), ["127.0.0.1:" + str(p.port)]
            if value(seen, "host") != ["api.anthropic.com"] else
            ["api.anthropic.com"], "one Host")
    t.equal(value(seen, "accept-encoding"), ["identity"], "identity asked for")
    r = m.message("hello", stream=True)
    t.ok(r.status == 200 and b"message_stop" in r.body, "events are streamed",
         r.body[:300])
    o = s.model("api.openai.com")
    r = o.message("hello", "openai", stream=True)
    t.ok(r.status == 200 and b"response.completed" in r.body,
         "OpenAI, bearer", r.body[:300])
    t.equal(value(p.seen()[-1], "authorization"),
            ["Bearer " + h.OPENAI_KEY], "with its own real key")
    r = m.request("POST", "/v1/messages?beta=true", m.key_headers("anthropic")
                  + [("Content-Type", "application/json"),
                     ("X-Forwarded-For", "1.2.3.4"), ("Cookie", "a=b"),
                     ("X-HTTP-Method-Override", "DELETE")], BODY)
    t.equal(r.status, 200, "with headers that no route lists")
    for n in ("x-forwarded-for", "cookie", "x-http-method-override"):
        t.ok(n not in names(p.seen()[-1]), f"{n} is dropped")
    big = json.dumps({"model": "m", "max_tokens": 5, "messages":
                      [{"role": "user", "content": "x" * 3000000}]}).encode()
    r = m.request("POST", "/v1/messages", m.key_headers("anthropic") +
                  [("Content-Type", "application/json")], big)
    t.ok(r.status == 200 and p.seen()[-1]["bodyBytes"] == len(big),
         "3 MB of body arrive whole")
    m.close()
    o.close()


REFUSED = [
    ("no key", 403, "POST", "/v1/messages", [], BODY),
    ("a wrong key", 403, "POST", "/v1/messages",
     [("x-api-key", "sk-ant-api03-attacker")], BODY),
    ("a foreign credential beside the right one", 403, "POST", "/v1/messages",
     ["KEY", ("Authorization", "Bearer attacker")], BODY),
    ("the key twice", 403, "POST", "/v1/messages", ["KEY", "KEY"], BODY),
    ("an endpoint off the list", 403, "POST", "/v1/files", ["KEY"], BODY),
    ("a method off the list", 405, "DELETE", "/v1/messages", ["KEY"], None),
    ("a query off the list", 403, "POST", "/v1/messages?key=x", ["KEY"], BODY),
    ("dots", 400, "POST", "/v1/../v1/messages", ["KEY"], BODY),
    ("an escape", 400, "POST", "/v1%2fmessages", ["KEY"], BODY),
    ("two slashes", 400, "POST", "//v1/messages", ["KEY"], BODY),
    ("TRACE", 405, "TRACE", "/v1/messages", ["KEY"], None),
    ("another Host", 400, "POST", "/v1/messages",
     ["KEY", ("Host", "evil.example")], BODY),
    ("WebSocket", 426, "GET", "/v1/messages",
     ["KEY", ("Upgrade", "websocket"), ("Connection", "Upgrade")], None),
    ("Expect", 417, "POST", "/v1/messages", ["KEY", ("Expect", "x")], BODY),
    ("both framings", 400, "POST", "/v1/messages",
     ["KEY", ("Transfer-Encoding", "chunked"), ("Content-Length", "5")], BODY),
]


def test_refusals(s, p):
    before = len(p.seen())
    for name, status, method, target, headers, body in REFUSED:
        m = s.model()
        given = []
        for item in headers:
            given += m.key_headers("anthropic")[:1] if item == "KEY" \
                else [item]
        if body is not None:
            given.append(("Content-Type", "application/json"))
        with t.case(name):
            r = m.request(method, target, given, body)
            t.equal(r.status, status, f"{name}: {status}")
            t.ok(b"evil" not in r.body and b"attacker" not in r.body and
                 r.status != 401, f"{name}: constant text", r.body)
        m.close()
    for raw in (b"GET / HTTP/1.1\nHost: x\n\n", b"\x00\x01\x02\r\n\r\n",
                b"POST /v1/messages HTTP/1.1\r\n Host: x\r\n\r\n"):
        m = s.model()
        with t.case("raw"):
            r = m.raw(raw)
            t.equal(r.status, 400, f"{raw[:20]!r}: 400")
        m.close()
    for where in ("evil.example:443", "api.anthropic.com:80",
                  "api.anthropic.com.:443", "127.0.0.1:443",
                  "api.anthropic.com@evil.example:443"):
        with t.case(where):
            m = s.model(target=where)
            t.equal(m.connect_response.status, 403, f"CONNECT {where}: 403")
            m.close()
    with t.case("wrong SNI"):
        try:
            m = s.model(sni="evil.example")
            t.ok(False, "SNI of another host ends the handshake")
        except (OSError, Closed):
            t.ok(True, "SNI of another host ends the handshake")
    t.equal(len(p.seen()), before, "nothing of it reached the provider")


def test_reflection():
    for how, where in (("raw", "body"), ("raw", "header"), ("base64", "body")):
        name = f"{how} in {where}"
        with h.workdir() as work, t.case(name):
            p = h.Provider(work, "--reflect", how, "--reflect-in", where)
            with h.Session(work, provider=p) as s:
                m = s.model()
                try:
                    r = m.message("hello")
                    got = r.head + r.body
                except (Closed, OSError, AssertionError):
                    got = m.buf
                t.ok(h.ANTHROPIC_KEY.encode() not in got and
                     h.ANTHROPIC_KEY.encode()[:12] not in
                     got.replace(b"sk-ant-api03-ironcurtain", b""),
                     f"{name}: the key does not arrive", got)
                h.wait_for(lambda: s.events("alarm"), "no alarm")
                t.ok(True, f"{name}: an alarm is in the log")
                m.close()
                m = s.model()
                r = m.message("again")
                t.equal(r.status, 403, f"{name}: locked, in a way that is "
                        "not retried")
                m.close()
                before = len(p.seen())
                t.equal(s.icctl("unlock").returncode, 0, f"{name}: unlock")
                m = s.model()
                try:
                    m.message("after")
                except (Closed, OSError, AssertionError):
                    pass
                t.ok(len(p.seen()) > before, f"{name}: used again")
                m.close()
                log = json.dumps(s.audit()) + s.session_log()
                t.ok(h.ANTHROPIC_KEY not in log, f"{name}: not in our logs")
            p.end()


def test_reuse(s, p):
    m = s.model()
    m.message("one")
    first = p.seen()[-1]["conn"]
    m.message("two")
    t.equal(p.seen()[-1]["conn"], first, "a clean connection is used again")
    m.close()
    with h.workdir() as work, t.case("reuse never"):
        q = h.Provider(work)
        with h.Session(work, provider=q, config={"providers": {
                "anthropic": {"upstream": q.url, "ca": q.ca,
                              "reuse": "never"}}}) as s2:
            m = s2.model()
            m.message("one")
            m.message("two")
            t.ok(q.seen()[0]["conn"] != q.seen()[1]["conn"],
                 "reuse never: a connection a request")
            m.close()
        q.end()
    with h.workdir() as work, t.case("idle bytes"):
        q = h.Provider(work, "--idle-bytes", "--idle-delay", "1")
        with h.Session(work, provider=q) as s2:
            m = s2.model()
            m.message("one")
            h.wait_for(lambda: s2.events("alarm"), "no alarm for idle bytes")
            m.message("two")
            t.ok(q.seen()[0]["conn"] != q.seen()[1]["conn"],
                 "bytes while idle: alarm, and not used again")
            m.close()
        q.end()


def test_other_providers():
    """A provider is just a file: more providers, with their own keys and
    routes."""
    keys = {"GEMINI_API_KEY": "AIzaSy-real-0123456789abcdef",
            "OPENROUTER_API_KEY": "sk-or-v1-real-0123456789abcdef",
            "GATEWAY_API_KEY": "any-key-of-the-gateway-0123456789"}
    rows = [("google", "generativelanguage.googleapis.com", "GEMINI_API_KEY",
             "x-goog-api-key", "",
             "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse",
             "/v1beta/files"),
            ("openrouter", "openrouter.ai", "OPENROUTER_API_KEY",
             "authorization", "Bearer ", "/api/v1/chat/completions",
             "/api/v1/keys"),
            ("gateway", "gateway.ironcurtain.internal", "GATEWAY_API_KEY",
             "authorization", "Bearer ", "/v1/chat/completions",
             "/v1/files")]
    with h.workdir() as work, t.case("other providers"):
        p = h.Provider(work)
        config = {"credentials": {r[0]: {"env": r[2]} for r in rows},
                  "providers": {r[0]: {"upstream": p.url, "ca": p.ca}
                                for r in rows}}
        with h.Session(work, config=config, env=keys) as s:
            for name, host, env, header, prefix, good, bad in rows:
                m = s.model(host, key=s.agent_env()[env])
                head = [(header, prefix + m.key),
                        ("Content-Type", "application/json")]
                m.request("POST", good, head, BODY)
                seen = p.seen()[-1]
                t.equal((seen["target"], value(seen, header)),
                        (good, [prefix + keys[env]]),
                        f"{name}: passed on with its real key")
                r = m.request("POST", bad, head, BODY)
                t.ok(r.status == 403 and len(p.seen()) and
                     p.seen()[-1]["target"] == good,
                     f"{name}: another endpoint is not", r.status)
                m.close()
        p.end()


def test_platform():
    """The Claude platform's one path, which takes no key."""
    with h.workdir() as work, t.case("claude platform"):
        p = h.Provider(work, "--bodies")
        up = {n: p.url for n in ("api.anthropic.com", "platform.claude.com")}
        with h.Session(work, config={
                "credentials": {"anthropic": {"env": "ANTHROPIC_API_KEY"}},
                "providers": {"anthropic": {"upstream": up,
                                            "ca": p.ca}}}) as s:
            key = s.agent_env()["ANTHROPIC_API_KEY"]
            m = s.model("platform.claude.com", key=key)
            m.request("GET", "/v1/oauth/hello")
            seen = p.seen()
            t.equal([(r["target"], value(r, "x-api-key"),
                      value(r, "authorization")) for r in seen],
                    [("/v1/oauth/hello", [], [])],
                    "asked without a key, passed on without one")
            for what, target, headers in (
                    ("with a key", "/v1/oauth/hello", [("x-api-key", key)]),
                    ("the model's path", "/v1/messages",
                     [("x-api-key", key)]),
                    ("the token endpoint", "/v1/oauth/token", [])):
                r = m.request("GET", target, headers)
                t.ok(r.status in (403, 405) and len(p.seen()) == 1,
                     f"refused there: {what}", (r.status, r.body))
            m.close()
        p.end()


def test_bad_provider(*options, wrong_ca=False):
    name = " ".join(options) or "another CA"
    with h.workdir() as work, t.case(name):
        p = h.Provider(work, *options)
        config = {"providers": {n: {  # a name, not an address
            "upstream": f"https://localhost:{p.port}", "ca": p.ca}
            for n in ("anthropic", "openai")}}
        if wrong_ca:
            q = h.Provider(work, name="other")
            config = {"providers": {n: {"upstream": p.url, "ca": q.ca}
                                    for n in ("anthropic", "openai")}}
        with h.Session(work, provider=p, config=config) as s:
            m = s.model(timeout=20)
            try:
                r = m.message("hello")
                t.ok(r.status in (502, 503), f"{name}: 502", r.status)
            except (Closed, OSError, AssertionError) as e:
                t.ok(True, f"{name}: cut ({e})")
            m.close()
        p.end()
        if wrong_ca:
            q.end()


def main():
    with h.workdir() as work, t.case("model"):
        p = h.Provider(work)
        with h.Session(work, provider=p) as s:
            for part in (test_swap, test_refusals, test_reuse):
                with t.case(part.__name__):
                    part(s, p)
            t.equal(joins.check_requests(s.audit(), p.seen()), [],
                    "what the provider saw is what the log says")
            h.wait_for(lambda: len(s.events("modelResponse")) >=
                       len(p.seen()), "an exchange has no end in the log")
            t.equal(joins.check_chain(os.path.join(s.dir, "audit.jsonl")),
                    None, "the chain holds")
            t.ok(h.ANTHROPIC_KEY not in open(
                os.path.join(s.dir, "audit.jsonl"), encoding="utf-8").read(),
                "no key in the log")
        p.end()
    test_reflection()
    test_other_providers()
    test_platform()
    test_bad_provider("--wrong-name")
    test_bad_provider(wrong_ca=True)
    test_bad_provider("--status", "302")
    test_bad_provider("--reset-at", "10")
    t.done()


if __name__ == "__main__":
    main()
