#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Answers without a final count: those that the agent leaves early, that the
provider cuts, or that have none at all. Each is counted by its size, marked as
an estimate, in every dialect; the person is told once."""
import base64
import json
import os
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import cloud_helper as c  # noqa: E402
import harness as h  # noqa: E402
import ws  # noqa: E402
from provider_cloud import frame  # noqa: E402
from agent import Closed  # noqa: E402

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "mitmd"))
from test_ws import Socket  # noqa: E402

t = h.Tap()
WORDS = "word " * 18            # 90 bytes: 30 tokens
TOKENS = 30


def sse(*events):
    return b"".join(b"data: " + json.dumps(e).encode() + b"\n\n"
                    for e in events)


def chat(text, **more):
    return {"id": "c1", "object": "chat.completion.chunk",
            "choices": [{"index": 0, "delta": {"content": text},
                         "finish_reason": None}], "model": "gpt-4o", **more}


START = {"type": "message_start", "message": {
    "model": "claude-sonnet-4-5", "content": [], "stop_reason": None,
    "usage": {"input_tokens": 5000, "output_tokens": 1}}}


def delta(text):
    return {"type": "content_block_delta", "index": 0,
            "delta": {"type": "text_delta", "text": text}}


def gemini(text):
    return {"candidates": [{"content": {"parts": [{"text": text}]}}],
            "modelVersion": "gemini-2.5-pro"}


def reply(*pieces, end=False, kind="text/event-stream", status="200 OK",
          close=False):
    """An answer in chunks; without `end` it goes on, and nothing comes."""
    out = (f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\n"
           "Transfer-Encoding: chunked\r\n\r\n").encode()
    for p in pieces:
        out += b"%x\r\n%s\r\n" % (len(p), p)
    if end:
        out += b"0\r\n\r\n"
    return {"parts": [base64.b64encode(out).decode()], "close": close}


def aws(text):
    return frame("contentBlockDelta",
                 {"contentBlockIndex": 0, "delta": {"text": text}})


def provider(work, replies, name="provider", make=h.Provider, **kw):
    path = os.path.join(work, name + ".json")
    with open(path, "w", encoding="utf-8") as f:
        json.dump(replies, f)
    if make is not h.Provider:
        return make(path)
    return h.Provider(work, "--replies", path, name=name, **kw)


def ask(m, target, headers, body, until=None, number=0):
    """Send a request. Leaves when `until` has come; None: reads to the end."""
    headers = headers + [("Content-Type", "application/json")]
    if number:
        headers.append(("x-stainless-reply", str(number)))
    m.send("POST", target, headers, json.dumps(body).encode())
    r = m.read_response("POST", body=False)
    got = b""
    try:
        for piece in m.pieces(r, "POST"):
            got += piece
            if until and got.count(until) >= 2:
                break
    except (Closed, OSError):
        pass
    m.close()
    return r, got


def next_usage(s, before):
    h.wait_for(lambda: len(s.events("usage")) > before, "no usage record")
    u = s.events("usage")[before:]
    t.equal(len(u), 1, "one record")
    return u[0]


def size(body):
    return len(json.dumps(body)) // 3 + 16


def left(s, name, target, host, headers, body, want, number=0):
    """The agent leaves after two pieces; want: (in, out, model)."""
    before = len(s.events("usage"))
    m = s.model(host)
    with t.case(name):
        r, _ = ask(m, target, headers(m), body, b"word w", number)
        t.equal(r.status, 200, f"{name}: an answer")
        u = next_usage(s, before)
        t.ok(u.get("estimated") is True and u["in"] >= want[0] and
             u["in"] <= want[0] + 20 and u["out"] == want[1] and
             u["model"] == want[2],
             f"{name}: left early, an estimate", u)


HI = [{"role": "user", "content": "hi " * 300}]


def test_left():
    two = [sse(chat(WORDS), chat(WORDS))]
    replies = [reply(*two),
               reply(sse(START, delta(WORDS), delta(WORDS))),
               reply(sse({"type": "response.output_text.delta",
                          "delta": WORDS}, {
                              "type": "response.output_text.delta",
                              "delta": WORDS})),
               # The provider ends it.
               reply(*two, close=True),
               reply(sse(START, delta(WORDS)), end=True),
               reply(sse(chat(WORDS)), end=True),
               reply(json.dumps({"error": {"message": "no"}}).encode(),
                     end=True, kind="application/json",
                     status="500 Internal Server Error")]
    with h.workdir() as work:
        p = provider(work, replies)
        key = "any-key-of-the-gateway-0123456789"
        with h.Session(work, provider=p, env={"GATEWAY_API_KEY": key}, config={
                "resourceBudget": h.NO_BUDGET,
                "credentials": {n: {"env": v} for n, v in (
                    ("gateway", "GATEWAY_API_KEY"),
                    ("openai", "OPENAI_API_KEY"),
                    ("anthropic", "ANTHROPIC_API_KEY"))},
                "providers": {"gateway": {"upstream": p.url,
                                          "ca": p.ca}}}) as s:
            def openai(m):
                return m.key_headers("openai")[:1]

            def anthropic(m):
                return m.key_headers("anthropic")[:1]

            body = {"model": "gpt-4o", "stream": True, "messages": HI}
            left(s, "chat", "/v1/chat/completions", "api.openai.com", openai,
                 body, (size(body), 2 * TOKENS, "gpt-4o"))
            body = {"model": "claude-sonnet-4-5", "stream": True,
                    "max_tokens": 9, "messages": HI}
            left(s, "messages", "/v1/messages", "api.anthropic.com", anthropic,
                 body, (5000, 1 + 2 * TOKENS, "claude-sonnet-4-5"), 1)
            body = {"model": "gpt-5", "stream": True, "input": "hi " * 300}
            left(s, "responses", "/v1/responses", "api.openai.com", openai,
                 body, (size(body), 2 * TOKENS, "gpt-5"), 2)
            ended(s, openai, anthropic)
            silent(s, key)
        p.end()


def ended(s, openai, anthropic):
    """The provider ends the answer, or gives none."""
    body = {"model": "gpt-4o", "stream": True, "messages": HI}
    n = len(s.events("usage"))
    ask(s.model("api.openai.com"), "/v1/chat/completions",
        openai(s.model("api.openai.com")), body, number=3)
    u = next_usage(s, n)
    t.ok(u.get("estimated") and u["out"] == 2 * TOKENS,
         "the provider breaks off: an estimate", u)
    ask(s.model(), "/v1/messages", anthropic(s.model()), {
        "model": "claude-sonnet-4-5", "max_tokens": 9, "messages": HI},
        number=4)
    u = next_usage(s, n + 1)
    t.ok(u.get("estimated") and (u["in"], u["out"]) == (5000, 1 + TOKENS),
         "it ends before the last counts", u)
    r, _ = ask(s.model(), "/v1/messages", anthropic(s.model()), {
        "model": "claude-sonnet-4-5", "max_tokens": 9, "messages": HI},
        number=6)
    t.equal(r.status, 500, "an error of the provider")
    # Its record would come before that of the next answer.


def silent(s, key):
    """A gateway that reports no usage."""
    n = len(s.events("usage"))
    for _ in range(2):
        m = s.model("gateway.ironcurtain.internal",
                    key=s.agent_env()["GATEWAY_API_KEY"])
        ask(m, "/v1/chat/completions", [("Authorization", "Bearer " + m.key)],
            {"model": "local", "stream": True, "messages": HI}, number=5)
    h.wait_for(lambda: len(s.events("usage")) >= n + 2, "no usage record")
    u = s.events("usage")[n:]
    t.ok(len(u) == 2 and all(x.get("estimated") is True and x["out"] == TOKENS
                             and x["in"] > 300 for x in u),
         "without usage: estimated, and an error costs nothing", u)
    note = "gateway reports no usage: counted by size"
    h.wait_for(lambda: note in s.session_log(), "nobody is told")
    t.equal(s.session_log().count(note), 1, "the person is told once")


def test_others():
    """Gemini, Converse, and Responses over WebSocket."""
    with h.workdir() as work:
        p = provider(work, [reply(sse(gemini(WORDS), gemini(WORDS)))])
        with h.Session(work, provider=p, env={"GEMINI_API_KEY": h.GOOGLE_KEY},
                       config={"resourceBudget": h.NO_BUDGET, "credentials": {
                           "google": {"env": "GEMINI_API_KEY"}},
                           "providers": {"google": {
                               "upstream": p.url, "ca": p.ca}}}) as s:
            key = s.agent_env()["GEMINI_API_KEY"]
            body = {"contents": [{"parts": [{"text": "hi " * 300}]}]}
            left(s, "gemini", "/v1beta/models/gemini-2.5-pro:"
                 "streamGenerateContent?alt=sse",
                 "generativelanguage.googleapis.com",
                 lambda m: [("x-goog-api-key", key)], body,
                 (size(body), 2 * TOKENS, "gemini-2.5-pro"))
        p.end()
    aws_keys = c.Aws()
    with h.workdir() as work:
        p = provider(work, [reply(
            aws(WORDS), aws(WORDS), aws(WORDS),
            kind="application/vnd.amazon.eventstream")],
            make=lambda path: c.provider(work, aws_keys,
                                         options=("--replies", path)))
        with h.Session(work, provider=p, config={
                "resourceBudget": h.NO_BUDGET, **c.bedrock(p)},
                env=aws_keys.env()) as s:
            env = s.agent_env()
            key = env["AWS_ACCESS_KEY_ID"]
            target = f"/model/{c.MODEL}/converse-stream"
            body = {"messages": [{"role": "user",
                                  "content": [{"text": "hi " * 300}]}]}
            left(s, "converse", target, c.RUNTIME, lambda m: c.sign(
                key, c.RUNTIME, "POST", target, json.dumps(body).encode()),
                body, (size(body), 3 * TOKENS,
                       "claude-sonnet-4-5-20250929-v1:0"))
        p.end()
    with h.workdir() as work:
        p = h.Provider(work, "--websocket")
        with h.Session(work, provider=p,
                       config={"resourceBudget": h.NO_BUDGET}) as s:
            ws_left(s)
        p.end()


def ws_left(s):
    k = Socket(s)
    k.text({"type": "response.create", "model": "m", "input": "x"})
    while json.loads(k.message()[1])["type"] != "response.completed":
        pass
    # The stand-in says nothing to this one.
    k.text({"type": "response.create", "do": "empty", "model": "m",
            "input": "y" * 3000})
    k.message()
    k.close()
    h.wait_for(lambda: len(s.events("usage")) == 2, "no usage record")
    one, two = s.events("usage")
    t.equal((one["message"], one["out"], one.get("estimated")), (1, 20, None),
            "a message's answer is counted")
    t.ok(two["message"] == 2 and two.get("estimated") and two["in"] > 1000 and
         two["model"] == "m", "one that is left is an estimate", two)


def test_limit():
    """Answers without usage use up a limit."""
    with h.workdir() as work:
        p = provider(work, [reply(sse(chat("ok", model="local")), end=True)])
        with h.Session(work, provider=p, config={"resourceBudget": {
                **h.NO_BUDGET, "maxTotalTokens": 1500}}) as s:
            refused = None
            for n in range(40):
                m = s.model("api.openai.com")
                r, got = ask(m, "/v1/chat/completions",
                             m.key_headers("openai")[:1],
                             {"model": "local", "stream": True,
                              "messages": [{"role": "user", "content": "hi"}]})
                if r.status == 400:
                    refused = n
                    break
            t.ok(refused and b"maxTotalTokens" in got,
                 "answers without usage use up the limit", (refused, got))
            t.equal(s.session_log().count("has no price of its own"), 1,
                    "a model without a price is named once")
        p.end()


def test_embeddings():
    """Embeddings are metered on every provider that has them, and counting
    tokens costs nothing."""
    names = {"openai": "OPENAI_API_KEY", "openrouter": "OPENROUTER_API_KEY",
             "gateway": "GATEWAY_API_KEY"}
    rows = [("openai", "api.openai.com", "/v1/embeddings"),
            ("openrouter", "openrouter.ai", "/api/v1/embeddings"),
            ("gateway", "gateway.ironcurtain.internal", "/v1/embeddings")]
    answer = json.dumps({
        "object": "list", "model": "text-embedding-3-small", "data": [
            {"object": "embedding", "index": 0, "embedding": [0.1, -0.2]}],
        "usage": {"prompt_tokens": 8, "total_tokens": 8}}).encode()
    with h.workdir() as work:
        p = provider(work, [reply(answer, end=True, kind="application/json")])
        with h.Session(work, provider=p, env={
                "OPENROUTER_API_KEY": "sk-or-v1-real-0123456789abcdef",
                "GATEWAY_API_KEY": "any-key-of-the-gateway-0123456789"},
                config={"resourceBudget": h.NO_BUDGET,
                        "credentials": {n: {"env": v}
                                        for n, v in names.items()},
                        "providers": {n: {"upstream": p.url, "ca": p.ca}
                                      for n in names}}) as s:
            env = s.agent_env()
            for name, host, path in rows:
                before = len(s.events("usage"))
                m = s.model(host, key=env[names[name]])
                r, _ = ask(m, path, [("Authorization", "Bearer " + m.key)],
                           {"model": "text-embedding-3-small", "input": "x"})
                t.equal(r.status, 200, f"{name}: an embedding")
                u = next_usage(s, before)
                t.equal((u["in"], u["out"], u.get("estimated")),
                        (8, 0, None), f"{name}: its tokens")
            before = len(s.events("usage"))
            m = s.model(rows[2][1], key=env[names["gateway"]])
            r, _ = ask(m, "/v1/messages/count_tokens",
                       [("Authorization", "Bearer " + m.key)],
                       {"model": "m", "messages": HI})
            t.equal(r.status, 200, "the gateway counts tokens")
            m = s.model(rows[0][1], key=env[names["openai"]])
            ask(m, rows[0][2], [("Authorization", "Bearer " + m.key)],
                {"model": "text-embedding-3-small", "input": "x"})
            next_usage(s, before)
        p.end()


if __name__ == "__main__":
    start = time.monotonic()
    test_left()
    test_others()
    test_limit()
    test_embeddings()
    print(f"# {time.monotonic() - start:.1f} s")
    t.done()
