#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""A stand-in gateway that owns a budget for several sessions: it makes a key
for each by its name, attributes requests by the headers that config.json adds,
and refuses what would exceed the budget, which the person reads as the
gateway's word. Each key is revoked.

usage: test_gateway.py [SESSIONS]; each request costs 50 tokens, of which there
are 50 for each session."""
import concurrent.futures
import http.server
import json
import os
import shutil
import ssl
import subprocess
import sys
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib", "standins"))
import harness as h  # noqa: E402
from provider_ca import make_certificates  # noqa: E402

t = h.Tap()
COST = 50
SCRIPT = """#!/bin/sh
case $1 in
make) echo "sk-ant-api03-made-for-$2-0123456789abcdef" |
  tee "@/keys/$2" ;;
delete) rm "@/keys/$2" ;;
esac
"""
HEADERS = {"x-session": "{session}", "x-who": "of {persona}{job}",
           "x-persona": "{persona}", "x-job": "{job}",
           "x-stainless-lang": "ours"}
# Makes one request.
AGENT = r"""#!/usr/bin/python3
import os, urllib.request
urllib.request.urlopen(urllib.request.Request(
    "https://api.anthropic.com/v1/messages",
    b'{"model": "m", "max_tokens": 1, "messages": []}',
    {"x-api-key": os.environ["ANTHROPIC_API_KEY"],
     "content-type": "application/json"})).read()
print("asked")
"""


class Gateway:
    def __init__(self, work, tokens):
        self.dir = os.path.join(work, "gateway")
        self.keys = os.path.join(self.dir, "keys")
        os.makedirs(self.keys, mode=0o700)
        make_certificates(self.dir, ["localhost"])
        self.script = h.put(os.path.join(self.dir, "key"),
                            SCRIPT.replace("@", self.dir), 0o755)
        self.left, self.spent, self.seen = tokens, {}, []
        self.lock = threading.Lock()
        gateway = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                gateway.answer(self)

            def log_message(self, *_):
                pass
        self.server = http.server.ThreadingHTTPServer(
            ("127.0.0.1", 0), Handler)
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(os.path.join(self.dir, "leaf.pem"),
                            os.path.join(self.dir, "leaf.key"))
        self.server.socket = tls.wrap_socket(self.server.socket,
                                             server_side=True)
        threading.Thread(target=self.server.serve_forever,
                         daemon=True).start()
        self.url = f"https://127.0.0.1:{self.server.server_address[1]}"
        self.ca = os.path.join(self.dir, "ca.pem")

    def known(self, key):
        for name in os.listdir(self.keys):
            with open(os.path.join(self.keys, name), encoding="ascii") as f:
                if f.read().strip() == key:
                    return name
        return None

    def answer(self, r):
        r.rfile.read(int(r.headers.get("content-length", "0")))
        with self.lock:
            name = self.known(r.headers.get("x-api-key"))
            self.seen.append((name, dict(r.headers)))
            status = 401 if name is None else 402 if self.left < COST else 200
            if status == 200:
                self.left -= COST
                self.spent[name] = self.spent.get(name, 0) + COST
        body = json.dumps(
            {"type": "message", "content": [], "usage":
             {"input_tokens": 20, "output_tokens": 30}} if status == 200 else
            {"type": "error", "error": {"message": "no"}}).encode()
        r.send_response(status)
        r.send_header("Content-Type", "application/json")
        r.send_header("Content-Length", str(len(body)))
        r.end_headers()
        r.wfile.write(body)


def session(work, g, n):
    words = lambda do: [g.script, do, "{session}"]  # noqa: E731
    home = os.path.join(work, str(n))
    return h.Session(home, config={
        "credentials": {"anthropic": {"command": words("make"),
                                      "revoke": words("delete")}},
        "providers": {"anthropic": {"upstream": g.url, "ca": g.ca,
                                    "headers": HEADERS}}},
        session_dir=os.path.join(home, "home", "sessions", f"s{n}"))


def turns(s):
    """Asks until it is refused. Returns the statuses."""
    m, found = s.model(), []
    while not found or found[-1] == 200:
        body = b'{"model": "m", "max_tokens": 5, "messages": []}'
        found.append(m.request(
            "POST", "/v1/messages", m.key_headers("anthropic") + [
                ("Content-Type", "application/json"),
                ("X-Stainless-Lang", "agent's")], body).status)
    return found


def job(work, g):
    """A job's requests carry its name, by a key of its run's own."""
    s = session(os.path.join(work, "job"), g, 0)
    path = h.put(os.path.join(work, "job", "amy"), AGENT, 0o755)
    s.write("agents/amy.json", {
        "name": "amy", "program": ["amy"], "providers": ["anthropic"],
        "turn": [], "output": {"format": "lines"}})
    s.write("config.json", {**s.config, "agent": {"amy": {"path": path}}})
    g.left, g.seen = COST, []
    for words in (["add", "nightly", "--agent", "amy", "--task", "ask"],
                  ["run", "nightly"]):
        r = subprocess.run(
            [h.program("icctl"), "job", *words], env=s.env, check=False,
            stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=60 * h.PATIENCE)
    heads = {k.lower(): v for _, seen in g.seen for k, v in seen.items()}
    t.equal((r.returncode, len(g.seen), heads.get("x-who"),
             heads.get("x-job")),
            (0, 1, "of nightly", "nightly"), "a job's requests carry its name")
    t.ok("-nightly-" in heads.get("x-session", "") and
         g.seen[0][0] == heads["x-session"], "and its run's session", heads)


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 4
    with h.workdir() as work:
        g = Gateway(work, count * COST)
        all_ = [session(work, g, n).start(timeout=60) for n in range(count)]
        t.equal(len(os.listdir(g.keys)), count, "a key for each session")
        with concurrent.futures.ThreadPoolExecutor(count) as pool:
            found = list(pool.map(turns, all_))
        t.ok(all(x[-1] == 402 for x in found), "each is refused in the end",
             found)
        t.equal((sum(g.spent.values()), g.left), (count * COST, 0),
                "together they have used the budget, and no more")
        s = all_[0]
        h.wait_for(lambda: "REFUSED (402)" in s.session_log(), "no word", 60)
        t.contains(s.session_log(), "the gateway takes no more requests",
                   "the person reads that the gateway refused")
        name, heads = next(x for x in g.seen if x[0] == "s0")
        heads = {k.lower(): v for k, v in heads.items()}
        t.equal([heads.get(x) for x in ("x-session", "x-who", "x-persona",
                                        "x-job", "x-stainless-lang")],
                ["s0", "of", None, None, "ours"],
                "headers attribute the cost; the agent's own do not pass")
        t.equal(name, "s0", "by the session's own key")
        for s in all_:
            s.stop()
        t.equal(os.listdir(g.keys), [], "each key is revoked")
        if shutil.which("bwrap"):
            job(work, g)
            t.equal(os.listdir(g.keys), [], "whose key is revoked, too")
        else:
            t.skip("a job's requests carry its name",
                   "bubblewrap is not installed")
    t.done()


main()
