#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Files of a forge, which it has elsewhere: the real gh gets logs, artifacts and
assets, fetched once and without the token by a process that never had it; no
other redirect is followed, and its address comes nowhere."""
import http.client
import json
import os
import shutil
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
from forge_helper import Client, Forge, Gh, TOKEN  # noqa: E402

t = h.Tap()
sys.path.insert(0, h.STANDINS)
from forge import BLOBS, PLACES  # noqa: E402

SIGNED = "SIGNED0123456789"


class Proxy(h.Process):
    """The way to both: to their names, which nothing here resolves."""

    def __init__(self, work, port):
        self.log = os.path.join(work, "proxy.jsonl")
        super().__init__(
            [h.PYTHON, os.path.join(h.STANDINS, "connect_proxy.py"), "--log",
             self.log, "--map", f"api.github.com:443={port}", "--map",
             f"{BLOBS}:443={port}"], os.path.join(work, "proxy.err"))
        self.url = f"http://127.0.0.1:{self.ready['port']}"

    def targets(self):
        return {e["target"] for e in h.read_lines(self.log)
                if e["ev"] == "connect"}


def session(work, g, proxy):
    return h.Session(work, env={"SHOP_TOKEN": TOKEN}, config={
        "proxy": {"url": proxy.url, "ca": g.ca},
        "destinations": {"shop": {
            "kind": "forge", "forge": "github", "hosts": ["api.github.com"],
            "credential": {"env": "SHOP_TOKEN"},
            "repositories": ["me/shop"]}}})


def files(g):
    return [x for x in g.seen() if x["host"] == BLOBS]


def test_get(s, g, client):
    target = "/repos/me/shop/actions/runs/4711/logs"
    status, answer = client("GET", target)
    t.ok(status == 200 and answer.startswith("PK"), "logs are read", status)
    t.ok("SIGNED" not in answer, "without their address")
    (seen,) = files(g)
    names = {n.lower() for n, _ in seen["headers"]}
    t.equal((seen["method"], seen["target"]), ("GET", "/logs?sig=" + SIGNED),
            "they are fetched once")
    t.ok(TOKEN not in json.dumps(seen) and "authorization" not in names and
         dict(seen["headers"]).get("user-agent") == "ironcurtain",
         "without the token and without a header of the agent", names)
    (moved,) = s.events("redirect")
    (end,) = h.wait_for(lambda: s.events("redirectEnd"), "its end")
    t.equal((moved["host"], len(moved["pathSha256"]), end["status"],
             end["stream"]), (BLOBS, 64, 200, moved["stream"]),
            "the log has the host, and that it was passed on")
    t.ok("followd" in s.workers(), "by a process of its own")


def test_refused(s, g, client):
    """Redirects that no forge makes: each ends with a reason."""
    before = len(files(g))
    for n in PLACES:
        try:
            status, answer = client(
                "GET", f"/repos/me/shop/actions/runs/{n}/logs")
        except http.client.IncompleteRead:
            t.equal(n, 20, "a file that is cut is seen to be cut")
            continue
        if n == 12:
            t.equal(status, 404, "what is gone there is gone")
            continue
        t.ok(status == 502, f"{PLACES[n]} is refused: {status}")
        t.ok("evil" not in answer and BLOBS not in answer and
             "SIGNED" not in answer, "the answer names no address", answer)
    t.equal([x["target"] for x in files(g)[before:]],
            ["/loop?sig=" + SIGNED, "/missing", "/huge", "/cut"],
            "nothing but four files of the right host was asked for")


def test_gh(g, gh):
    r = gh("run", "view", "4711", "--log")
    t.ok(r.returncode == 0 and "one line of the log" in r.stdout,
         "gh run view --log", (r.stdout, r.stderr))
    r = gh("run", "view", "4711", "--log-failed")
    t.ok(r.returncode == 0 and "one line of the log" in r.stdout,
         "gh run view --log-failed", (r.stdout, r.stderr))
    for args, name, text in (
            (["run", "download", "4711", "-D", "got"], "got/report/report.txt",
             "one artifact"),
            (["run", "download", "4711", "-n", "report", "-D", "one"],
             "one/report.txt", "one artifact"),
            (["release", "download", "v1"], "shop.tar", "asset")):
        r = gh(*args)
        path = os.path.join(gh.repo, name)
        got = ""
        if os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                got = f.read()
        t.equal((r.returncode, r.stderr, got), (0, "", text),
                "gh " + " ".join(args))


def main():
    with h.workdir() as work:
        g = Forge(work, "forge.py")
        proxy = Proxy(work, g.ready["port"])
        with session(work, g, proxy) as s:
            client = Client(s, "api.github.com", "authorization",
                            "token " + s.agent_env()["GH_TOKEN"])
            with t.case("test_get"):
                test_get(s, g, client)
            with t.case("test_refused"):
                test_refused(s, g, client)
            if shutil.which("gh") is None:
                t.skip("files of a forge with gh", "there is no gh here")
            else:
                with t.case("test_gh"):
                    test_gh(g, Gh(s, work))
            log = json.dumps(s.audit()) + s.session_log()
            t.ok(TOKEN not in log and SIGNED not in log,
                 "neither the token nor an address is in our logs")
            t.ok(not any(TOKEN in json.dumps(x) for x in files(g)),
                 "nor the token at a host of files")
            t.equal(proxy.targets(), {"api.github.com:443", BLOBS + ":443"},
                    "and nothing else was connected to")
            t.equal(s.events("alarm"), [], "no alarm")
        proxy.end()
        g.end()
    t.done()
    return 0


sys.exit(main())
