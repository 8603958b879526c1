#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Budgets, through the real processes: the cost of answers is added up and
shown; each limit refuses the next request, or call, with a text that names the
limit; a running stream is cut; `icctl budget set` lets it go on."""
import json
import os
import socket
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402


t = h.Tap()
ECHO = h.ECHO_TOOLS
ONE = 120  # tokens of one answer of the stand-in
PRICES = {"models": [{"model": "test-model", "in": 1000, "out": 5000}]}
COST = (100 * 1000 + 20 * 5000) / 1e6


def budget(s):
    return json.loads(s.icctl("--json", "budget", check=True).stdout)["budget"]


def used(s, key):
    return budget(s)["limits"][key]["used"]


def settled(s, key, value):
    h.wait_for(lambda: abs(used(s, key) - value) < 1e-9,
               f"{key} is never {value}: {used(s, key)}")
    t.ok(True, f"{key}: {value} are counted")


def limits(**given):
    return {"resourceBudget": {**h.NO_BUDGET, **given}}


def refused(r, key, name):
    t.ok(r.status == 400 and key.encode() in r.body and
         b"icctl budget set" in r.body, f"{name}: refused, with what to do",
         (r.status, r.body))
    t.equal(r.header("x-should-retry"), "false", f"{name}: no retry")


def test_sums():
    with h.workdir() as work:
        p = h.Provider(work)
        with h.Session(work, provider=p, config=limits()) as s:
            s.write("prices.json", PRICES)
        s = h.Session(work, provider=p, config=limits(),
                      session_dir=os.path.join(work, "session2"))
        s.write("prices.json", PRICES)
        with s:
            m, o = s.model(), s.model("api.openai.com")
            for model, kind in ((m, "anthropic"), (o, "openai")):
                for stream in (False, True):
                    r = model.message("hi", kind, stream=stream)
                    t.equal(r.status, 200, f"{kind}: no limit, no refusal")
            r = m.request("POST", "/v1/messages/count_tokens",
                          m.key_headers("anthropic") +
                          [("Content-Type", "application/json")],
                          b'{"model":"m","messages":[]}')
            settled(s, "maxTotalTokens", 4 * ONE)
            settled(s, "maxSteps", 4)
            settled(s, "maxEstimatedCostUsd", 4 * COST)
            b = budget(s)
            rows = {(r["provider"], r["model"]): r for r in b["models"]}
            t.equal([(k, r["in"], r["out"], r["requests"]) for k, r in
                     sorted(rows.items())],
                    [(("anthropic", "test-model"), 200, 40, 2),
                     (("openai", "test-model"), 200, 40, 2)],
                    "a row for each model")
            t.equal(b["requests"], 5, "count_tokens is a request, no turn")
            t.ok(b["bytesSent"] > 400 and b["bytesReceived"] > 400,
                 "bytes are counted", b)
            lines = s.events("usage")
            t.equal([(x["in"], x["out"], x["model"]) for x in lines],
                    [(100, 20, "test-model")] * 4, "in the log as well")
            shown(s)
            m.close()
            o.close()
        p.end()


def chat(s, **more):
    """The events of a streaming chat completion."""
    m = s.model("api.openai.com")
    r = m.request("POST", "/v1/chat/completions", m.key_headers("openai") +
                  [("Content-Type", "application/json")], json.dumps({
                      "model": "test-model", "stream": True, "messages": [
                          {"role": "user", "content": "hi"}], **more
                  }).encode())
    m.close()
    return [json.loads(x[6:]) for x in r.body.decode().splitlines()
            if x.startswith("data: {")]


def test_chat():
    """Chat completions report their usage only on request."""
    with h.workdir() as work:
        p = h.Provider(work, "--bodies")
        with h.Session(work, provider=p, config=limits()) as s:
            for n, more in enumerate((
                    {}, {"stream_options": {"include_usage": True}},
                    {"stream_options": {"include_usage": False, "x": 1}}), 1):
                events = chat(s, **more)
                t.equal([e["usage"]["total_tokens"] for e in events
                         if "usage" in e], [ONE], f"{more}: it tells")
                settled(s, "maxTotalTokens", n * ONE)
            t.ok(json.loads(p.seen()[-1]["body"])["stream_options"] ==
                 {"include_usage": True, "x": 1}, "the rest stays",
                 p.seen()[-1]["body"])
        leave = limits()
        leave["providers"] = {"openai": {
            "upstream": p.url, "ca": p.ca, "filter": {"usage": "leave"}}}
        with h.Session(work, provider=p, config=leave,
                       session_dir=os.path.join(work, "session2")) as s:
            t.ok(not [e for e in chat(s) if "usage" in e] and
                 "stream_options" not in p.seen()[-1]["body"],
                 "a provider that is not to be asked is not", p.seen()[-1])
        p.end()


def shown(s):
    text = s.icctl("metrics", check=True).stdout
    for line in ('ironcurtain_tokens_total{provider="anthropic",'
                 'model="test-model",kind="input"} 200',
                 'ironcurtain_turns_total{provider="openai"} 2',
                 'ironcurtain_budget_used{key="maxSteps"} 4'):
        t.contains(text, line, "metrics: " + line.split("{")[0])
    with socket.socket(socket.AF_UNIX) as c:
        c.settimeout(10)
        c.connect(os.path.join(s.dir, "metrics.sock"))
        c.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
        got = b""
        while part := c.recv(65536):
            got += part
    t.ok(got.startswith(b"HTTP/1.0 200 OK\r\n") and
         b"ironcurtain_turns_total" in got, "metrics.sock", got[:200])
    t.contains(s.icctl("budget", check=True).stdout, "test-model",
               "icctl budget: a line a model")
    t.contains(s.icctl("status", check=True).stdout, "maxTotalTokens",
               "icctl status: the budget")


def test_limit(key, limit, raised):
    """Two answers are within the limit, the third request is not."""
    with h.workdir() as work:
        p = h.Provider(work)
        s = h.Session(work, provider=p, config=limits(**{key: limit}))
        s.write("prices.json", PRICES)
        with s, t.case(key):
            m = s.model()
            for _ in range(2):
                t.equal(m.message("hi").status, 200, f"{key}: within it")
            value = {"maxTotalTokens": 2 * ONE, "maxSteps": 2,
                     "maxEstimatedCostUsd": 2 * COST}[key]
            settled(s, key, value)
            m = s.model()
            before = len(p.seen())
            refused(m.message("hi"), key, key)
            o = s.model("api.openai.com")
            r = o.message("hi", "openai")
            refused(r, key, f"{key}, another provider")
            t.equal(r.json()["error"]["type"], "insufficient_quota",
                    "in the words of that provider")
            t.equal(len(p.seen()), before, f"{key}: nothing is sent")
            what = [(e["detail"]["what"] if "detail" in e else e["what"])
                    for e in s.events("budget")]
            t.equal(what, ["used up"], f"{key}: in the log")
            s.icctl("budget", "set", key, str(raised), check=True)
            m = s.model()
            t.equal(m.message("hi").status, 200, f"{key}: raised, goes on")
            t.equal(len(p.seen()), before + 1, f"{key}: and is sent")
            if key == "maxTotalTokens":
                settled(s, key, 3 * ONE)
                s.icctl("budget", "set", key, "400", check=True)
                e = h.wait_for(lambda: s.events("budget")[3:], "no warning")
                t.contains(json.dumps(e[0]), "360 of 400", "a warning at 90 %")
            s.icctl("budget", "set", key, "null", check=True)
            t.ok(budget(s)["limits"][key]["max"] is None, f"{key}: no limit")
        p.end()


def test_steps_of_tools():
    with h.workdir() as work:
        p = h.Provider(work)
        os.mkdir(os.path.join(work, "echo"), 0o700)
        log = os.path.join(work, "echo", "log.jsonl")
        with h.Session(work, servers={"echo": h.echo_server(log)},
                       rules=[h.rule("all", "allow", server=["echo"])],
                       annotations={"echo": {**ECHO}}, provider=p,
                       config=limits(maxSteps=3)) as s:
            mcp, m = s.mcp(), s.model()
            mcp.initialize()
            mcp.list_tools()
            t.equal(m.message("hi").status, 200, "a step: a model's turn")
            settled(s, "maxSteps", 1)
            for _ in range(2):
                r = mcp.call("echo__echo", {"text": "x"})
                t.ok(not r.get("isError"), "a step: a tool call", r)
            settled(s, "maxSteps", 3)
            r = mcp.call("echo__echo", {"text": "x"})
            text = json.dumps(r)
            t.ok(r.get("isError") and "maxSteps" in text and
                 "icctl budget set" in text, "the fourth is refused", r)
            refused(s.model().message("hi"), "maxSteps", "a turn as well")
            line = s.events("call")[-1]
            t.equal((line["policyDecision"]["status"],
                     line["policyDecision"]["rule"]), ("deny", "budget"),
                    "through the log")
            s.icctl("budget", "set", "maxSteps", "10", check=True)
            # policyd learns it on another channel than the call comes by.
            h.wait_for(lambda: not mcp.call(
                "echo__echo", {"text": "x"}).get("isError"), "calls go on")
            t.ok(True, "raised: calls go on")
        p.end()


def text_of(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def test_watch():
    with h.workdir() as work:
        p = h.Provider(work)
        with h.Session(work, provider=p, config=limits()) as s:
            out = os.path.join(work, "watch")
            with open(out, "w", encoding="utf-8") as f, subprocess.Popen(
                    [h.program("icctl"), "--session", s.dir, "watch"],
                    env=s.env, stdin=subprocess.DEVNULL, stdout=f) as w:
                try:
                    # Its first output waits in its buffer until then.
                    h.wait_for(lambda: s.model().message("hi").status == 200
                               and " tokens, " in text_of(out),
                               "no usage is shown", poll=0.5)
                    t.ok(True, "icctl watch: tokens, cost, rate of a model")
                finally:
                    w.kill()
        p.end()


def stream(s, p, after=None):
    """The part of a slow stream that arrives, and how it ends."""
    m = s.model()
    m.sock.settimeout(30)
    body = json.dumps({"model": "test-model", "stream": True, "max_tokens": 5,
                       "messages": [{"role": "user", "content": "hi"}]})
    m.send("POST", "/v1/messages", m.key_headers("anthropic") +
           [("Content-Type", "application/json")], body.encode())
    r = m.read_response("POST", body=False)
    got = b""
    try:
        for part in m.pieces(r, "POST"):
            got += part
    except (OSError, EOFError, RuntimeError, AssertionError, ValueError,
            h.Closed if hasattr(h, "Closed") else OSError) as e:
        got += repr(e).encode()
    m.close()
    return r.status, got


def timed_out(s):
    """The session's time is up: it ends, and every record says why."""
    t.equal(s.wait(60), 124, "time is up: the session ends with 124")
    with open(os.path.join(s.dir, "session.json"), encoding="utf-8") as f:
        end = json.load(f)
    t.equal((end["state"], end["status"]), ("ended", 124), "session.json")
    stop = s.events("stop")[-1]["detail"]
    for text in (end["why"], stop["reason"]):
        t.contains(text, "resourceBudget.maxSessionSeconds",
                   "the limit, and the key that raises it")


def shown_ask(s, hold):
    """The question is shown as every pending call is."""
    t.equal((hold["server"], hold["tool"], hold["limit"],
             "expires_ms" in hold), ("budget", "maxTotalTokens", True, False),
            "a pending entry `budget`, which does not expire")
    t.contains(s.icctl("pending").stdout, f"{hold['id']}   no time limit  "
               "budget maxTotalTokens: Raises the session's limit from 400 "
               "to 800 tokens; 360 are used\n", "icctl pending")
    text = s.icctl("show", hold["id"]).stdout
    for line in ('raisedTo = "800 tokens"', 'limit = "400 tokens"',
                 'used = "360 tokens"', "The session has used 90 % of "
                 "maxTotalTokens"):
        t.contains(text, line, "icctl show: what approving it changes")
    t.contains(s.icctl("budget").stdout, "of 400 (90 %); to raise it: icctl "
               f"approve {hold['id']}\n", "icctl budget")
    r = s.icctl("approve", hold["id"], "--digest", "0" * 64)
    t.equal(r.returncode, 1, "another digest approves nothing")


def test_asked():
    """At 80 % a person is asked, and the session goes on meanwhile."""
    with h.workdir() as work:
        p = h.Provider(work)
        with h.Session(work, provider=p,
                       config=limits(maxTotalTokens=400)) as s:
            for _ in range(3):
                t.equal(s.model().message("hi").status, 200, "within it")
            hold = s.held()
            shown_ask(s, hold)
            t.equal(s.model().message("hi").status, 200,
                    "nobody has answered: the session goes on")
            settled(s, "maxTotalTokens", 4 * ONE)
            refused(s.model().message("hi"), "maxTotalTokens",
                    "unanswered at 100 %")
            t.equal([x["id"] for x in s.pending()], [hold["id"]],
                    "the question can still be answered")
            r = s.icctl("approve", hold["id"])
            t.ok(r.returncode == 0 and "raisedTo" in r.stdout,
                 "it is approved, and shown before", r)
            t.equal(budget(s)["limits"]["maxTotalTokens"]["max"], 800,
                    "the limit is raised by its original amount")
            for _ in range(2):
                t.equal(s.model().message("hi").status, 200, "goes on")
            settled(s, "maxTotalTokens", 6 * ONE)
            hold = s.held()
            s.icctl("deny", hold["id"], check=True)
            t.equal(s.model().message("hi").status, 200, "denied: goes on")
            settled(s, "maxTotalTokens", 7 * ONE)
            refused(s.model().message("hi"), "maxTotalTokens",
                    "denied: the limit stays")
            t.equal(s.pending(), [], "and is not asked about again")
            s.icctl("budget", "set", "maxTotalTokens", "1000", check=True)
            h.wait_for(s.pending, "raised: asked about again")
            s.icctl("budget", "set", "maxTotalTokens", "2000", check=True)
            t.equal(s.pending(), [], "a new limit withdraws the question")
            asked_log(s)
        p.end()


def asked_log(s):
    got = [(e["event"], e.get("verdict") or e.get("detail", e).get("what"))
           for e in s.audit() if e["event"] in ("hold", "verdict", "budget")]
    t.equal(got[:5], [
        ("hold", None), ("budget", "warning"), ("budget", "used up"),
        ("verdict", "approve"), ("budget", "raised")],
        "the log has the question, and the answer before the act")
    hold = s.events("hold")[0]
    t.equal((hold["serverName"], hold["toolName"], hold["rule"]),
            ("budget", "maxTotalTokens", "resourceBudget.maxTotalTokens"),
            "by its name")


def test_nobody():
    """If nobody may be asked, 80 % is a warning."""
    with h.workdir() as work:
        p = h.Provider(work)
        with h.Session(work, provider=p, config=limits(maxTotalTokens=400),
                       options=("--escalations", "deny")) as s:
            for _ in range(3):
                t.equal(s.model().message("hi").status, 200, "within it")
            settled(s, "maxTotalTokens", 3 * ONE)
            h.wait_for(lambda: s.events("budget"), "no warning")
            t.equal(s.pending(), [], "no question")
        p.end()


def test_cut():
    for key, config in (("maxTotalTokens", 50), ("maxSessionSeconds", 2)):
        with h.workdir() as work, t.case(key):
            p = h.Provider(work, "--delay", "700")
            with h.Session(work, provider=p,
                           config=limits(**{key: config})) as s:
                status, got = stream(s, p)
                t.equal(status, 200, f"{key}: an answer begins")
                t.ok(b"message_start" in got and b"message_stop" not in got,
                     f"{key}: and is cut", got)
                t.ok(b"event: error" in got and key.encode() in got,
                     f"{key}: the agent reads why", got)
                refused(s.model().message("hi"), key, f"{key}, the next one")
                end = h.wait_for(lambda: [
                    e for e in s.events("modelResponse") if e.get("error")],
                    "no modelResponse")
                t.contains(end[0]["error"], "budget", f"{key}: in the log")
                if key == "maxSessionSeconds":
                    timed_out(s)
            p.end()


def test_cached():
    """Tokens read from a cache have their own price, or the full one if the
    price file names none."""
    for prices, tokens in ((
            {"models": [{"model": "test-model", "in": 1000, "out": 5000,
                         "cacheRead": 100}]}, ONE + 300),
            (PRICES, ONE + 3000)):
        with h.workdir() as work:
            p = h.Provider(work, script=[{"cached": 3000}])
            s = h.Session(work, provider=p, config=limits())
            s.write("prices.json", prices)
            with s:
                t.equal(s.model().message("hi").status, 200, "an answer")
                settled(s, "maxTotalTokens", tokens)
                t.equal(budget(s)["models"][0]["cacheRead"], 3000,
                        "what was read from the cache is shown in full")
            p.end()


def test_place():
    """The price is that of the host that the requests go to, and a host that
    keeps data in one place adds to it; other hosts' rows do not count."""
    row = {"model": "test-model", "in": 1, "out": 1}
    prices = {"models": [{**row, "host": "*.example.net", "in": 9e5},
                         {**row, "host": "api.anthropic.com", "in": 9e5},
                         {**PRICES["models"][0], "host": "127.0.0.1"}, row],
              "regional": ["*.0.0.1", "*.api.openai.com"]}
    with h.workdir() as work:
        p = h.Provider(work)
        s = h.Session(work, provider=p, config=limits())
        s.write("prices.json", prices)
        with s:
            t.equal(s.model().message("hi").status, 200, "an answer")
            settled(s, "maxEstimatedCostUsd", COST * 1.1)
        p.end()


def test_waiting():
    """The session's time does not run while a call is pending."""
    rule = h.rule("ask", "escalate", "A person decides.", server=["echo"])
    with h.workdir() as work:
        p = h.Provider(work)
        os.mkdir(os.path.join(work, "echo"), 0o700)
        log = os.path.join(work, "echo", "log.jsonl")
        with h.Session(work, {"echo": h.echo_server(log)}, [rule], {"echo": {**ECHO}}, provider=p,
                       config=limits(maxSessionSeconds=4)) as s:
            call = s.client().start_call("echo__echo", {"text": "held"})
            # A slow start may be asked about, too.
            hold = h.wait_for(lambda: [x for x in s.pending()
                                       if x["server"] == "echo"], "no call is held")[0]
            before = used(s, "maxSessionSeconds")
            end = time.monotonic() + 3
            h.wait_for(lambda: time.monotonic() > end, "time does not pass")
            t.equal(used(s, "maxSessionSeconds"), before,
                    "pending for 3 s: no time is used")
            t.equal(s.model().message("hi").status, 200,
                    "and a request is still answered")
            s.icctl("deny", hold["id"], check=True)
            t.ok(call, "the call was made")
            timed_out(s)
        p.end()


def test_bad():
    with h.workdir() as work:
        with h.Session(work) as s:
            for args, code in ((("set", "maxStep", "5"), 1),
                               (("set", "maxSteps", "-1"), 1),
                               (("set", "maxSteps", "1.5"), 1),
                               (("set", "maxSteps", "many"), 1),
                               (("set", "maxSteps", "nan"), 1),
                               (("set", "maxSteps"), 64), (("get",), 64)):
                r = s.icctl("budget", *args)
                t.equal(r.returncode, code, f"icctl budget {args}")
                t.ok(r.stderr, "... says why")
            for key, value, want in (
                    ("maxStep", "5", "there is no such limit. Known: "
                     "maxTotalTokens, maxSteps, maxSessionSeconds, "
                     "maxEstimatedCostUsd, maxTurnTokens, maxTurnSteps, "
                     "maxTurnSeconds and maxTurnEstimatedCostUsd"),
                    ("maxSteps", "1.5", "maxSteps must be a whole number "
                     "from 0 to 1000000000, or null for no limit")):
                t.equal(s.icctl("budget", "set", key, value).stderr,
                        f"icctl: {want}\n", f"{key} {value}: what may be")


if __name__ == "__main__":
    start = time.monotonic()
    test_sums()
    test_limit("maxTotalTokens", 2 * ONE, 10 * ONE)
    test_limit("maxSteps", 2, 100)
    test_limit("maxEstimatedCostUsd", 2 * COST, 5)
    test_steps_of_tools()
    test_chat()
    test_cut()
    test_cached()
    test_place()
    test_waiting()
    test_asked()
    test_nobody()
    test_watch()
    test_bad()
    print(f"# {time.monotonic() - start:.1f} s")
    t.done()
