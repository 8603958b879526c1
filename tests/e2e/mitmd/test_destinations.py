#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Hosts other than the model providers: web destinations in the configuration,
which can only be read, and those that the agent requests with the tools of the
virtual server, which a person approves one by one."""
import json
import os
import re
import resource
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
from agent import Closed  # noqa: E402
from web import Web  # noqa: E402

t = h.Tap()
HOST = "docs.example.com"
MAX = 262144


def value(headers, name):
    return [v for n, v in headers if n == name]


def get(s, path, host=HOST, method="GET", headers=(), body=None):
    m = s.model(host)
    try:
        return m.request(method, path, list(headers), body)
    finally:
        m.close()


def refused(s, host):
    """The answer to CONNECT to a host that is not on the list."""
    m = s.model(host)
    m.close()
    return m.connect_response.status, m.connect_response.body.decode()


# (name, status, method, path, headers, body)
REFUSED = [
    ("POST", 405, "POST", "/form", [("Content-Type", "text/plain")], b"x"),
    ("PUT", 405, "PUT", "/form", [("Content-Type", "text/plain")], b"x"),
    ("DELETE", 405, "DELETE", "/form", [], None),
    ("OPTIONS", 405, "OPTIONS", "/form", [], None),
    ("a GET with a body", 400, "GET", "/form",
     [("Content-Type", "text/plain")], b"x"),
    ("dot segments", 400, "GET", "/a/../b", [], None),
    ("a dot segment", 400, "GET", "/a/./b", [], None),
    ("encoded dots", 400, "GET", "/a/%2e%2e/b", [], None),
    ("an encoded slash", 400, "GET", "/a%2fb", [], None),
    ("an encoded backslash", 400, "GET", "/a%5Cb", [], None),
    ("a backslash", 400, "GET", "/a\\b", [], None),
    ("an encoded line break", 400, "GET", "/a%0d%0ab", [], None),
    ("two slashes", 400, "GET", "//a", [], None),
    ("half an escape", 400, "GET", "/a%2", [], None),
    ("an authorization of the agent's", 403, "GET", "/a",
     [("Authorization", "Bearer x")], None),
    ("a key of the agent's", 403, "GET", "/a", [("x-api-key", "x")], None),
    ("another Host", 400, "GET", "/a", [("Host", "other.example.com")], None),
]


def test_web(s, w):
    r = get(s, "/page/%C3%BC;v=1?q=a%20b&u=/x", headers=[
        ("Accept", "text/html"), ("Cookie", "a=b"), ("X-Mine", "secret"),
        ("Referer", "https://inside/"), ("Range", "bytes=0-9"),
        ("Accept-Encoding", "br")])
    t.equal((r.status, r.body), (200, b"docs /page/%C3%BC;v=1?q=a%20b&u=/x"),
            "a page is read")
    method, path, headers = w.seen[-1]
    t.equal((method, path), ("GET", "/page/%C3%BC;v=1?q=a%20b&u=/x"),
            "as it was asked for")
    t.equal((value(headers, "accept"), value(headers, "range"),
             value(headers, "accept-encoding")),
            (["text/html"], ["bytes=0-9"], ["identity"]), "with its headers")
    t.equal([n for n, _ in headers if n in
             ("cookie", "x-mine", "referer", "authorization")], [],
            "without those that are not listed")
    r = get(s, "/set")
    t.equal((r.header("set-cookie"), r.header("x-other"), r.header("etag")),
            (None, None, '"1"'), "nor back")
    t.equal(get(s, "/none").status, 404, "the site's own 404")
    r = get(s, "/page", method="HEAD")
    t.equal((r.status, r.body, w.seen[-1][0]), (200, b"", "HEAD"), "HEAD")
    n = len(w.seen)
    for what, status, method, path, headers, body in REFUSED:
        r = get(s, path, method=method, headers=headers, body=body)
        t.ok(r.status == status and b"IronCurtain: " in r.body,
             f"{what}: {status}", (r.status, r.body))
    t.equal(len(w.seen), n, "none of them went there")
    r = get(s, "/away")
    t.equal((r.status, r.header("location")),
            (302, "https://evil.example.com/x"), "a redirect is handed down")
    status, text = refused(s, "evil.example.com")
    t.ok(status == 403 and
         'evil.example.com is not in "destinations" of config.json' in
         text and f"{HOST}:443" in text, "and does not lead on", text)


def test_size(s):
    r = get(s, "/huge")
    t.ok(r.status == 502 and b"too large" in r.body or r.status == 502,
         "an answer that says it is too large", (r.status, r.body[:200]))
    try:
        r = get(s, "/chunks")
        got = len(r.body)
        t.ok(False, "an answer that turns out too large is cut", (got,))
    except Closed:
        t.ok(True, "an answer that turns out too large is cut")


def test_curl(s):
    tunnel = h.Tunnel(s.ready["sockets"]["mitm"], f"{HOST}:443")
    ca = os.path.join(s.dir, "orientation", "ca-cert.pem")
    r = subprocess.run(
        ["curl", "-sS", "--cacert", ca, "--connect-to",
         f"{HOST}:443:127.0.0.1:{tunnel.port}", "-o", "/dev/stdout", "-w",
         " %{http_code} %{http_version}", f"https://{HOST}/curl?a=1"],
        capture_output=True, text=True, timeout=30, check=False)
    tunnel.end()
    t.equal(r.stdout + r.stderr, "docs /curl?a=1 200 2", "curl, by HTTP/2")


def test_configured(work):
    w = Web(work, "docs", huge=MAX + 65536)
    two = Web(work, "two")
    config = {"destinations": {
        "docs": {"kind": "web", "hosts": [HOST.upper()], "upstream": w.url,
                 "ca": w.ca, "maxBytes": MAX},
        "pair": {"kind": "web", "hosts": ["one.example.com",
                                          "two.example.com"],
                 "upstream": {"one.example.com": two.url,
                              "two.example.com": two.url}, "ca": two.ca}}}
    with h.Session(os.path.join(work, "a"), {}, [], {}, config=config) as s:
        test_web(s, w)
        test_size(s)
        test_curl(s)
        t.equal([get(s, "/x", host=f"{n}.example.com").body
                 for n in ("one", "two")], [b"two /x"] * 2,
                "several hosts of one destination")
        t.equal(len(s.workers()["keyd"]), 3, "a keyd for each host")
        status = json.loads(s.icctl("--json", "status").stdout)
        t.equal([(d["host"], d["kind"], d["name"], d["state"])
                 for d in status["destinations"]],
                [(HOST, "web", "docs", "configured"),
                 ("one.example.com", "web", "pair-1", "configured"),
                 ("two.example.com", "web", "pair-2", "configured")],
                "icctl status")
        t.contains(s.icctl("status").stdout, HOST, "also for people")
        m = s.mcp()
        m.initialize()
        t.equal([x["name"] for x in m.list_tools()
                 if x["name"].startswith("proxy__")], [],
                "no tools to ask for more, unless they are on")
        r = m.call("proxy__list_proxy_domains", {})
        t.ok(r.get("isError") and "Unknown tool" in h.text_of(r),
             "nor by guessing", r)
        m.close()
        req = s.events("modelRequest")
        t.ok(len(req) > 5 and req[0]["path"] == "/page/%C3%BC;v=1",
             "each request is in the log", req[:1])


class Asker:
    """The agent's side of the virtual server, and the user's."""

    def __init__(self, s):
        self.s = s
        self.m = s.client()

    def call(self, tool, **args):
        r = self.m.call(f"proxy__{tool}", args)
        return h.outcome(r)

    def ask(self, domain, answer="approve", why="to read its pages"):
        """Add a domain, with the user's answer: (isError, text)."""
        p = self.m.start_call("proxy__add_proxy_domain",
                              {"domain": domain, "justification": why})
        hold = self.s.held()
        self.hold = hold
        r = self.s.icctl(answer, hold["id"])
        if r.returncode != 0:
            raise RuntimeError(r.stderr)
        r = p.wait()
        return h.outcome(r)

    def added(self, domain):
        return self.ask(domain) == (False, json.dumps(
            {"domain": domain, "status": "added"}, separators=(",", ":")))


BAD = ["localhost", "10.1.2.3", "0x7f.1", "a..b", "https://a.example.com",
       "*.example.com", "db.internal", "printer.local", "x" * 254,
       "b\u00fccher.example", "a.example.com:443", "", "[::1]"]


def test_tools(s, a, w):
    tools = {x["name"]: x for x in a.m.list_tools()}
    t.ok({"proxy__add_proxy_domain", "proxy__remove_proxy_domain",
          "proxy__list_proxy_domains"} <= set(tools), "three tools",
         sorted(tools))
    t.equal(a.call("list_proxy_domains"),
            (False, '{"dynamic":[],"providers":["conf.example.com"]}'),
            "nothing is added yet")
    status, text = refused(s, HOST)
    t.ok(status == 403 and "proxy__add_proxy_domain" in text,
         "403 says how to ask", text)
    error, text = a.ask(HOST, "deny")
    t.ok(error and text.startswith(
        "ESCALATION DENIED: the user denied this call (The agent asks to "
        f"reach {HOST} "), "denied", text)
    t.equal((a.hold["server"], a.hold["tool"], a.hold["rule"]),
            ("proxy", "add_proxy_domain", "proxy-add-domain-escalate"),
            "held like any call")
    t.contains(a.hold["reason"], "It says: to read its pages",
               "with what the agent says")
    t.equal(refused(s, HOST)[0], 403, "still not there")
    for name in BAD:
        error, text = a.call("add_proxy_domain", domain=name,
                             justification="x")
        t.ok(error and text.startswith(('Domain "', 'Argument "')),
             f"no domain: {name[:30]!r}", text)
    t.equal(s.pending(), [], "none of them bothers the user")
    n = len(s.workers()["keyd"])
    t.equal(a.ask(HOST.upper()),
            (False, '{"domain":"docs.example.com","status":"added"}'),
            "added")
    t.equal(a.ask(HOST)[1], '{"domain":"docs.example.com",'
            '"status":"already_accessible"}', "asked for again")
    r = get(s, "/first")
    t.equal((r.status, r.body, w.paths()[-1]),
            (200, b"docs /first", "/first"),
            "it can be read, trusted by the session's CA")
    t.equal(len(s.workers()["keyd"]), n + 1, "one keyd more")
    t.equal(get(s, "/x", method="POST", body=b"x", headers=[
        ("Content-Type", "text/plain")]).status, 405, "and only read")
    t.equal(a.ask("conf.example.com")[1],
            '{"domain":"conf.example.com","status":"already_accessible"}',
            "one of the configuration")
    t.equal(a.call("list_proxy_domains")[1],
            '{"dynamic":["docs.example.com"],"providers":'
            '["conf.example.com"]}', "listed")
    status = json.loads(s.icctl("--json", "status").stdout)
    t.ok({"host": HOST, "kind": "web", "name": "added-1", "state": "added"}
         in status["destinations"] and status["proxyTools"] is True,
         "icctl status", status["destinations"])
    t.equal([x for x in status["servers"] if x["name"] == "proxy"],
            [{"name": "proxy", "state": "ready", "tools": 3,
              "text": "built in: asks for further hosts"}],
            "and the server that adds them, with its tools")
    shown = s.icctl("status").stdout
    t.contains(shown, "added", "also for people")
    t.ok(re.search(r"^  proxy +ready +3 tools  built in", shown, re.M),
         "the server as well", shown)


def test_remove(s, a, w):
    open_one, idle = s.model(HOST), s.model(HOST)
    open_one.send("GET", "/wait")
    h.wait_for(lambda: "/wait" in w.paths(), "the request did not arrive")
    n = len(s.workers()["keyd"])
    t.equal(a.call("remove_proxy_domain", domain=HOST),
            (False, '{"domain":"docs.example.com","status":"removed"}'),
            "removed without a question")
    for m, what in ((open_one, "with a request"), (idle, "idle")):
        t.equal(m.read_all(), b"", f"a connection {what} is closed")
        m.close()
    w.release.set()
    asked = [e for e in s.events("modelRequest") if e["path"] == "/wait"][0]
    ends = h.wait_for(lambda: [
        e for e in s.events("modelResponse") if all(
            e[k] == asked[k] for k in ("provider", "stream", "exchange"))],
        "the log does not say how the request ended")
    t.ok(ends[0].get("error"), "what was under way ended, and the log says "
         "so", ends)
    t.equal(refused(s, HOST)[0], 403, "403 again")
    h.wait_for(lambda: len(s.workers()["keyd"]) == n - 1, "its keyd lives on")
    t.ok(True, "its keyd is gone, and the session is not")
    t.equal(a.call("remove_proxy_domain", domain=HOST),
            (False, '{"domain":"docs.example.com","status":"not_found"}'),
            "no such one")
    error, text = a.call("remove_proxy_domain", domain="conf.example.com")
    t.ok(error and "configuration" in text, "those of the user stay", text)
    t.ok(a.added(HOST), "added once more")
    t.equal(get(s, "/again").status, 200, "and read")
    lines = [(e["event"], e["detail"]["host"]) for e in s.audit()
             if e["event"].startswith("destination")]
    t.equal(lines, [("destinationAdded", HOST), ("destinationRemoved", HOST),
                    ("destinationAdded", HOST)], "in the log")
    results = [e for e in s.events("result") if e["serverName"] == "proxy"]
    t.ok(results and all("durationMs" in e for e in results) and
         {e["status"] for e in results} == {"success", "error"},
         "so are results, with their durations", results[:2])


def test_limit(s, a):
    for i in range(14):
        if not a.added(f"n{i}.example.com"):
            t.ok(False, f"domain {i + 3}")
            return
    error, text = a.ask("one-more.example.com")
    t.ok(error and "16 domains" in text, "the 17th is refused", text)
    t.equal(len(json.loads(a.call("list_proxy_domains")[1])["dynamic"]), 15,
            "15 are open, one was removed")


def test_cancel(s, a):
    p = a.m.start_call("proxy__add_proxy_domain",
                       {"domain": "late.example.com", "justification": "x"})
    hold = s.held()
    r = s.icctl("approve", hold["id"], "--for-session")
    t.ok(r.returncode != 0 and s.pending(), "nothing is granted for the "
         "session", r.stdout + r.stderr)
    a.m.cancel(p)
    h.wait_for(lambda: not s.pending(), "still held")
    t.equal(refused(s, "late.example.com")[0], 403, "a call given up")


def test_asked(work):
    w = Web(work, "docs2")
    w.server.name = "docs"
    config = {"destinations": {
        "conf": {"kind": "web", "hosts": ["conf.example.com"],
                 "upstream": w.url, "ca": w.ca}},
        "proxyTools": {"hosts": {HOST: {"upstream": w.url, "ca": w.ca}}}}
    deny = [h.rule("all", "allow")]
    with h.Session(os.path.join(work, "b"), {}, deny, {}, config=config) as s:
        a = Asker(s)
        with h.Session(os.path.join(work, "c"), {}, deny, {},
                       config=config) as other:
            test_tools(s, a, w)
            t.equal(refused(other, HOST)[0], 403,
                    "another session is not affected")
        test_remove(s, a, w)
        test_cancel(s, a)
        test_limit(s, a)
        a.m.close()
        status = json.loads(s.icctl("--json", "status").stdout)
        pid = [x["pid"] for x in status["workers"]
               if x["name"].startswith("keyd n3.example.com")][0]
        h.kill(pid)
        t.equal(s.wait(), 70, "a keyd that is killed ends the session")
        t.contains(s.audit()[-1]["detail"]["reason"], "keyd n3.example.com",
                   "and the log says which")


def test_none(work):
    """Only the hosts that the agent requests."""
    with h.Session(os.path.join(work, "d"), {}, [], {},
                   config={"proxyTools": True}) as s:
        a = Asker(s)
        t.equal(a.call("list_proxy_domains"),
                (False, '{"dynamic":[],"providers":[]}'),
                "a session without any provider")
        t.ok(a.added("n.example.com"), "one is added")
        t.equal(a.call("list_proxy_domains")[1],
                '{"dynamic":["n.example.com"],"providers":[]}', "and listed")
        r = get(s, "/", host="n.example.com")
        t.equal(r.status, 502, "where no such name is: the provider's error")
        a.m.close()


def slow_programs(work):
    """The workers, with a keyd that begins only once a file is removed."""
    there = os.path.join(h.PREFIX, "libexec/ironcurtain")
    here = os.path.join(work, "libexec")
    hold = os.path.join(work, "hold")
    os.mkdir(here)
    for name in os.listdir(there):
        if name != "keyd":
            os.symlink(os.path.join(there, name), os.path.join(here, name))
    with open(os.path.join(here, "keyd"), "w", encoding="ascii") as f:
        f.write(f"#!/bin/sh\nwhile [ -e {hold} ]; do /bin/sleep 0.02; done\n"
                f"exec {there}/keyd\n")
    os.chmod(os.path.join(here, "keyd"), 0o755)
    return here, hold


def test_together(work):
    """Several agents ask for the same domain at once, and for others."""
    w = Web(work, "docs3")
    w.server.name = "docs"
    work = os.path.join(work, "e")
    os.mkdir(work)
    libexec, hold = slow_programs(work)
    config = {"proxyTools": {"hosts": {HOST: {"upstream": w.url, "ca": w.ca}}}}
    with h.Session(work, {}, [], {}, config=config,
                   libexecdir=libexec) as s:
        agents = [Asker(s) for _ in range(3)]
        with open(hold, "w", encoding="ascii"):
            pass
        asked = [a.m.start_call("proxy__add_proxy_domain", {
            "domain": domain, "justification": str(i)})
            for i, (a, domain) in enumerate(zip(agents, (
                HOST, HOST.upper(), "other.example.com")))]
        held = h.wait_for(lambda: len(s.pending()) == 3 and s.pending(),
                          "three calls are not held")
        for one in held:
            s.icctl("approve", one["id"], check=True)
        status = json.loads(s.icctl("--json", "status").stdout)
        t.equal(sorted((d["host"], d["state"])
                       for d in status["destinations"]),
                [(HOST, "starting"), ("other.example.com", "starting")],
                "two domains begin, of three approvals")
        t.equal(refused(s, HOST)[0], 403, "not open before its keyd is")
        t.equal(agents[2].call("list_proxy_domains"),
                (False, '{"dynamic":[],"providers":[]}'), "nor listed")
        error, text = agents[2].call("remove_proxy_domain", domain=HOST)
        t.ok(error and "being added by another call" in text,
             "nor to be removed", text)
        os.unlink(hold)
        got = [p.wait()["content"][0]["text"] for p in asked]
        t.equal(sorted(got[:2]) + got[2:], [
            f'{{"domain":"{HOST}","status":"added"}}',
            f'{{"domain":"{HOST}","status":"already_accessible"}}',
            '{"domain":"other.example.com","status":"added"}'],
                "each agent hears how it ended")
        t.equal(len(s.workers()["keyd"]), 2, "one keyd for each domain")
        t.equal(get(s, "/x").body, b"docs /x", "which can be read")
        t.equal(sorted(e["detail"]["host"]
                       for e in s.events("destinationAdded")),
                [HOST, "other.example.com"], "and is once in the log")
        for a in agents:
            a.m.close()


def lines(s):
    """The records of a log whose last line may be incomplete."""
    found = []
    with open(os.path.join(s.dir, "audit.jsonl"), "rb") as f:
        for line in f:
            try:
                found.append(json.loads(line))
            except ValueError:
                pass
    return found


def test_log_full(work):
    """The audit log is full at each point of such a call."""
    added = 0
    for room in (None, 0, 250, 500, 750, 1000, 1250, 1500, 1750, 2000, 4000):
        where = os.path.join(work, f"f{room}")
        os.mkdir(where)
        with h.Session(where, {}, [], {}, config={"proxyTools": True}) as s:
            a = Asker(s)
            pid = s.workers()["auditd"][0]

            def limit():
                at = os.path.getsize(os.path.join(s.dir, "audit.jsonl"))
                resource.prlimit(pid, resource.RLIMIT_FSIZE,
                                 (at + (room or 0),) * 2)
            if room is None:
                limit()
            asked = a.m.start_call("proxy__add_proxy_domain", {
                "domain": "a.example.com", "justification": "x"})
            answer = None
            if room is not None:
                hold = s.held()
                limit()
                answer = s.icctl("approve", hold["id"])
            r = asked.wait()
            text = r["content"][0]["text"]
            status = json.loads(s.icctl("--json", "status").stdout)
            opened = any(d["state"] == "added"
                         for d in status["destinations"])
            if '"status":"added"' in text:
                added += 1
                t.ok(answer.returncode == 0 and opened,
                     f"room for {room} bytes: added", answer.stderr)
            else:
                t.ok(r.get("isError") and "audit log cannot be written" in
                     text and "auditFailed" in status,
                     f"room for {room} bytes: refused at once", text)
                t.ok(answer is None or opened or answer.returncode == 1 and
                     "audit log cannot be written" in answer.stderr,
                     "... which icctl is told", answer)
            seen = [(e["event"], e.get("toolName")) for e in lines(s)]
            t.ok(not opened or ("call", "add_proxy_domain") in seen,
                 "... and what was done is on record", seen)
            if "auditFailed" in status:
                t.equal(a.call("list_proxy_domains")[0], True,
                        "... nothing more is")
                if opened:
                    t.equal(get(s, "/", host="a.example.com").status, 503,
                            "... the host that was opened included")
            t.equal(s.pending(), [], "... nothing waits")
            a.m.close()
    t.ok(0 < added < 11, "some of it had room", added)


def main():
    with h.workdir() as work:
        for case in (test_configured, test_asked, test_none, test_together,
                     test_log_full):
            with t.case(case.__name__):
                case(work)
    t.done()


if __name__ == "__main__":
    main()
