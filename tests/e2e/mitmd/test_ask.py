#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Requests that a person must approve: a provider file with routes marked
`ask`. An approved request reaches the provider once, unchanged; any other
never does."""
import hashlib
import json
import os
import resource
import socket
import subprocess
import sys
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
import h2  # noqa: E402
import joins  # noqa: E402
from agent import Closed  # noqa: E402

t = h.Tap()
HOST = "asker.test"
KEY = "asker-real-key-0123456789abcdef"
JSON = ("Content-Type", "application/json")
FILE = {
    "name": "asker", "host": HOST,
    "credential": {"env": "ASKER_API_KEY", "sentinel": "sk-asker-sentinel-",
                   "headers": [{"name": "x-api-key"}]},
    "requestHeaders": ["content-type", "x-shown"],
    "responseHeaders": ["content-type"],
    "routes": [
        {"method": "POST", "path": "/v1/messages", "ask": True,
         "query": {"beta": ["true"]},
         "body": {"types": ["application/json"], "max": 4194304}},
        {"method": "GET", "path": "/v1/models", "ask": True},
        {"method": "POST", "path": "/v1/messages/count_tokens",
         "body": {"types": ["application/json"]}}]}


def body(text):
    return json.dumps({"model": "m", "max_tokens": 5, "messages":
                       [{"role": "user", "content": text}]}).encode()


def session(work, p, **config):
    s = h.Session(work, provider=p, env={"ASKER_API_KEY": KEY}, config={
        "providers": {"asker": {"upstream": p.url, "ca": p.ca}},
        "credentials": {"asker": {"env": "ASKER_API_KEY"},
                        "anthropic": {"env": "ANTHROPIC_API_KEY"},
                        "openai": {"env": "OPENAI_API_KEY"}}, **config})
    s.write("providers/asker.json", FILE)
    return s


class Asker(threading.Thread):
    """One request on a new connection, and its answer once there is one."""

    def __init__(self, s, text="hi", method="POST", target="/v1/messages",
                 headers=(), data=None):
        super().__init__(daemon=True)
        self.m = s.model(HOST, key=s.agent_env()["ASKER_API_KEY"], timeout=60)
        self.body = data if data is not None else (
            body(text) if method == "POST" else None)
        self.args = (method, target, [("x-api-key", self.m.key)] +
                     ([JSON] if method == "POST" else []) + list(headers))
        self.answer = None
        self.start()

    def run(self):
        try:
            self.answer = self.m.request(*self.args, self.body)
        except (OSError, Closed, AssertionError) as e:
            self.answer = e

    def wait(self):
        self.join(30)
        return self.answer


def reached(p, before):
    return p.seen()[before:]


def test_approve(s, p):
    before = len(p.seen())
    a = Asker(s, "please", target="/v1/messages?beta=true",
              headers=[("X-Shown", "yes"), ("X-Dropped", "no")])
    held = s.held()
    t.equal((held["server"], held["tool"], held.get("request")),
            ("asker", f"POST https://{HOST}/v1/messages?beta=true", True),
            "it waits for a person")
    want = {"body": {"bytes": len(a.body),
                     "sha256": hashlib.sha256(a.body).hexdigest()},
            "headers": {"content-type": "application/json", "x-shown": "yes"},
            "host": HOST, "method": "POST", "path": "/v1/messages",
            "query": "beta=true"}
    t.equal(held["arguments"], joins.canonical(want),
            "what is asked for, in canonical JSON")
    t.equal(held["digest"], hashlib.sha256(joins.canonical(
        [held["server"], held["tool"], want]).encode()).hexdigest(),
            "the digest covers all of it")
    shown = s.icctl("show", held["id"]).stdout
    for part in (f"POST https://{HOST}/v1/messages?beta=true",
                 f"body.bytes = {len(a.body)}",
                 f'body.sha256 = "{want["body"]["sha256"]}"',
                 'headers.x-shown = "yes"', held["digest"],
                 f"icctl approve {held['id']}"):
        t.contains(shown, part, f"icctl show: {part}")
    listed = s.icctl("pending").stdout
    t.contains(listed, f"POST https://{HOST}/v1/messages", "icctl pending")
    t.equal(reached(p, before), [], "nothing reaches the provider meanwhile")
    r = s.icctl("approve", "--for-session", held["id"])
    t.ok(r.returncode != 0, "not for the session", r.stderr)
    r = s.icctl("approve", held["id"])
    t.equal(r.returncode, 0, "approved")
    answer = a.wait()
    t.equal(getattr(answer, "status", answer), 200, "the agent is answered")
    seen = reached(p, before)
    t.equal([r["target"] for r in seen], ["/v1/messages?beta=true"],
            "the provider sees it once")
    t.equal(seen[0]["bodySha256"] if "bodySha256" in seen[0] else
            hashlib.sha256(seen[0]["body"].encode()).hexdigest(),
            want["body"]["sha256"], "with the body that was shown")
    ident = s.events("hold")[-1]["id"]
    t.ok(ident >= 1 << 63, "an id that no call has", ident)
    line = s.events("modelRequest")[-1]
    t.equal((line.get("approved"), line.get("digest"), line.get("request"),
             line.get("bodySha256")),
            (ident, held["digest"], want, want["body"]["sha256"]),
            "the log has what was approved")
    names = [e["event"] for e in s.audit() if e.get("id") == ident]
    t.equal(names, ["hold", "verdict"], "hold, verdict, then the request")
    r = s.icctl("approve", held["id"])
    t.ok(r.returncode != 0, "it cannot be approved again", r.stderr)
    # The connection stays usable.
    a.m.close()


def refused(s, p, name, end, status, code, result):
    before = len(p.seen())
    a = Asker(s, name)
    held = s.held()
    end(held)
    answer = a.wait()
    t.equal(getattr(answer, "status", answer), status, f"{name}: {status}")
    t.contains(answer.body.decode(), code, f"{name}: says so")
    t.contains(answer.body.decode(), "Do not retry", f"{name}: and what next")
    t.contains(answer.head.decode().lower(), "x-should-retry: false",
               f"{name}: not retried")
    line = s.events("askRefused")[-1]
    t.equal((line["escalationResult"], line["digest"], line["serverName"]),
            (result, held["digest"], "asker"), f"{name}: in the log")
    t.equal(reached(p, before), [], f"{name}: nothing reached the provider")
    t.equal(s.pending(), [], f"{name}: waits no more")
    # The connection still serves requests that need no approval.
    r = a.m.request("POST", "/v1/messages/count_tokens",
                    [("x-api-key", a.m.key), JSON], body("x"))
    t.equal(r.status, 200, f"{name}: the connection goes on")
    a.m.close()


def test_cancel(s, p):
    before = len(p.seen())
    a = Asker(s, "gone")
    held = s.held()
    a.m.sock.shutdown(socket.SHUT_RDWR)
    h.wait_for(lambda: not s.pending(), "the request still waits")
    t.equal(s.events("askRefused")[-1]["escalationResult"], "cancelled",
            "an agent that leaves gives it up")
    r = s.icctl("approve", held["id"])
    t.ok(r.returncode != 0, "it cannot be approved then", r.stderr)
    t.equal(reached(p, before), [], "and does not reach the provider")


def test_several(s, p):
    before = len(p.seen())
    one, two = Asker(s, "one"), Asker(s, "two")
    h.wait_for(lambda: len(s.pending()) == 2, "not both wait")
    by_sum = {json.loads(x["arguments"])["body"]["sha256"]: x
              for x in s.pending()}
    mine = [by_sum[hashlib.sha256(a.body).hexdigest()] for a in (one, two)]
    s.icctl("approve", mine[1]["id"], check=True)
    t.equal(two.wait().status, 200, "two wait: the second is approved")
    t.ok(one.is_alive(), "the first waits on")
    s.icctl("deny", mine[0]["id"], check=True)
    t.equal(one.wait().status, 403, "the first is denied")
    t.equal([r["bodyBytes"] for r in reached(p, before)], [len(two.body)],
            "one reached the provider")
    one.m.close()
    two.m.close()
    many = [Asker(s, f"n{i}") for i in range(8)]
    h.wait_for(lambda: len(s.pending()) == 8, "not all wait")
    late = Asker(s, "late").wait()
    t.equal((late.status, b"approval" in late.body), (503, True),
            "more than eight: 503")
    for item in s.pending():
        s.icctl("deny", item["id"], check=True)
    t.equal({a.wait().status for a in many}, {403}, "all are answered")
    for a in many:
        a.m.close()
    a = Asker(s, method="GET", target="/v1/models")
    held = s.held()
    t.equal(json.loads(held["arguments"])["body"],
            {"bytes": 0, "sha256": hashlib.sha256(b"").hexdigest()},
            "a request without a body")
    s.icctl("approve", held["id"], check=True)
    t.equal(a.wait().status, 200, "goes on, too")
    a.m.close()
    large = json.dumps({"model": "m", "messages": [
        {"role": "user", "content": "x" * 3000000}]}).encode()
    a = Asker(s, data=large)
    held = s.held()
    s.icctl("approve", held["id"], check=True)
    t.equal((a.wait().status, p.seen()[-1]["bodyBytes"]), (200, len(large)),
            "3 MB that waited arrive whole")
    a.m.close()


def test_h2(s, p):
    before = len(p.seen())
    c = h2.through(s.dir, HOST)
    key = s.agent_env()["ASKER_API_KEY"]

    def fields(path):
        return [(":method", "POST"), (":scheme", "https"),
                (":authority", HOST), (":path", path), ("x-api-key", key),
                ("content-type", "application/json")]

    one = c.request(fields("/v1/messages"), body("h2 one"))
    two = c.request(fields("/v1/messages"), body("h2 number two"))
    free = c.wait(c.request(fields("/v1/messages/count_tokens"), body("x")))
    t.equal(free.status, 200, "HTTP/2: other requests go on meanwhile")
    h.wait_for(lambda: len(s.pending()) == 2, "HTTP/2: not both wait")
    for item in s.pending():
        size = json.loads(item["arguments"])["body"]["bytes"]
        s.icctl("approve" if size == len(body("h2 one")) else "deny",
                item["id"], check=True)
    t.equal((c.wait(one).status, c.wait(two).status), (200, 403),
            "HTTP/2: one approved, one denied")
    t.equal([r["bodyBytes"] for r in reached(p, before)
             if r["target"] == "/v1/messages"], [len(body("h2 one"))],
            "HTTP/2: one reached the provider")
    c.request(fields("/v1/messages"), body("h2 gone"))
    s.held()
    c.close()
    h.wait_for(lambda: not s.pending(), "HTTP/2: it still waits")
    t.equal(s.events("askRefused")[-1]["escalationResult"], "cancelled",
            "HTTP/2: an agent that leaves gives it up")


def test_reload(s, p):
    a = Asker(s, "reload")
    held = s.held()
    r = s.icctl("policy", "reload")
    t.equal(r.returncode, 0, "rules are reloaded")
    t.equal([x["id"] for x in s.pending()], [held["id"]],
            "a request waits as before")
    s.icctl("approve", held["id"], check=True)
    t.equal(a.wait().status, 200, "and is approved")
    a.m.close()


def test_watch(s):
    w = subprocess.Popen([h.program("icctl"), "--json", "--session", s.dir,
                          "watch"], env=s.env, stdout=subprocess.PIPE,
                         text=True)
    w.stdout.readline()
    a = Asker(s, "watched")
    event = json.loads(w.stdout.readline())
    t.equal((event["event"], event["hold"]["request"]), ("hold", True),
            "icctl watch is told")
    s.icctl("deny", event["hold"]["id"], check=True)
    while event["event"] != "holdEnd":
        event = json.loads(w.stdout.readline())
    t.equal(event["state"], "denied", "and how it ended")
    w.terminate()
    w.wait()
    w.stdout.close()
    a.wait()
    a.m.close()


def test_expiry(work):
    """Half a minute, while the other tests run."""
    with t.case("expire"):
        p = h.Provider(work, "--key", KEY)
        with session(work, p, escalationTimeoutSeconds=30) as s:
            refused(s, p, "expired", lambda held: h.wait_for(
                lambda: not s.pending(), "does not expire", 45, 0.5), 403,
                "did not answer", "expired")
        p.end()


def test_log_full(work):
    """A request that cannot be recorded does not wait."""
    p = h.Provider(work)
    with session(work, p) as s:
        first = Asker(s)
        held = s.held()
        size = os.path.getsize(os.path.join(s.dir, "audit.jsonl"))
        resource.prlimit(s.workers()["auditd"][0], resource.RLIMIT_FSIZE,
                         (size,) * 2)
        r = s.icctl("approve", held["id"])
        t.ok(r.returncode == 1 and "audit log cannot be written" in r.stderr,
             "an approval that cannot be recorded is none", r.stderr)
        for a, what in ((first, "the request"), (Asker(s), "the next one")):
            answer = a.wait()
            t.ok(getattr(answer, "status", None) == 503 and
                 b"audit log" in answer.body, f"{what} is refused at once",
                 getattr(answer, "body", answer))
            a.m.close()
        t.equal((s.pending(), p.seen()), ([], []), "nothing waits or goes out")
    p.end()


def main():
    with h.workdir() as work:
        expiry = threading.Thread(target=test_expiry, args=(work,))
        expiry.start()
        run()
        expiry.join()
    t.done()


def run():
    with h.workdir() as work:
        p = h.Provider(work, "--key", KEY)
        with session(work, p) as s:
            for test in (test_approve, test_cancel, test_several, test_h2,
                         test_reload):
                with t.case(test.__name__):
                    test(s, p)
            with t.case("watch"):
                test_watch(s)
            with t.case("deny"):
                refused(s, p, "denied", lambda held: s.icctl(
                    "deny", held["id"], "--because", "no", check=True), 403,
                    "denied it", "denied")
            t.equal(joins.check_requests(s.audit(), p.seen()), [],
                    "what reached the provider stands in the log")
            t.equal(s.events("alarm"), [], "no alarm")
        t.equal(joins.check_chain(os.path.join(s.dir, "audit.jsonl")), None,
                "the log's chain holds")
        t.ok(KEY not in json.dumps(s.audit()) + s.session_log(),
             "no key in our logs")
        p.end()
    with h.workdir() as work, t.case("log full"):
        test_log_full(work)
    with h.workdir() as work, t.case("headless"):
        p = h.Provider(work, "--key", KEY)
        s = session(work, p)
        s.argv += ["--escalations", "deny"]
        with s:
            r = Asker(s, "nobody").wait()
            t.equal((r.status, b"nobody is asked" in r.body), (403, True),
                    "headless: refused at once")
            t.equal([e["escalationResult"] for e in s.events("askRefused")],
                    ["headless"], "headless: in the log")
            t.equal(p.seen(), [], "headless: nothing reached the provider")
        p.end()


if __name__ == "__main__":
    main()
