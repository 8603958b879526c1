#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Tests destinations of the kind registry: young versions are neither listed
nor served, other paths are refused, refused requests do not reach the
registry, and malformed metadata is refused; the real npm, pip, cargo, apt and
curl install through it."""
import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
import registry_clients  # noqa: E402
import registry_data  # noqa: E402
from agent import Closed  # noqa: E402
from bridge import Bridge  # noqa: E402

t = h.Tap()
SHORT = "application/vnd.npm.install-v1+json"
SIMPLE = "application/vnd.pypi.simple.v1+json"


class Registry(h.Process):
    def __init__(self, work, tree):
        self.dir = os.path.join(work, "registry")
        os.makedirs(self.dir)
        self.log = os.path.join(self.dir, "log.jsonl")
        path = os.path.join(self.dir, "tree.json")
        with open(path, "w", encoding="utf-8") as f:
            json.dump(tree.rows, f)
        super().__init__([h.PYTHON, os.path.join(h.STANDINS, "registry.py"),
                          "--ca-dir", self.dir, "--log", self.log, "--tree",
                          path], os.path.join(self.dir, "stderr"))
        self.url = f"https://127.0.0.1:{self.ready['port']}"
        self.ca = os.path.join(self.dir, "ca.pem")

    def seen(self):
        return h.read_lines(self.log)

    def paths(self, since=0):
        return [r["path"] for r in self.seen()[since:]]


def destinations(r):
    def one(kind, hosts, **more):
        return {"kind": "registry", "registry": kind, "ca": r.ca,
                "hosts": list(hosts),
                "upstream": {x: r.url + "/" + p for x, p in hosts.items()},
                **more}
    return {
        "npm": one("npm", {"npm.test": "npm"}, quarantineDays=2,
                   allow=["ours-*"], deny=["evil-*"]),
        "pypi": one("pypi", {"pypi.test": "pypi", "files.test": "files"}),
        "crates": one("crates", {"index.test": "index",
                                 "static.test": "static"}),
        "debian": one("debian", {"deb.test": "deb"})}


def get(s, host, path, accept=None, method="GET", headers=(), body=None):
    m = s.model(host)
    try:
        given = [("User-Agent", "test/1"), *headers]
        if accept:
            given.append(("Accept", accept))
        return m.request(method, path, given, body)
    finally:
        m.close()


def header(request, name):
    return [v for n, v in request["headers"] if n.lower() == name]


def test_npm(s, r, tree):
    a = get(s, "npm.test", "/good-lib", headers=[
        ("If-None-Match", '"tag"'), ("Range", "bytes=0-3"),
        ("Cookie", "a=b")])
    doc = a.json()
    t.equal(a.status, 200, "npm: metadata of a package")
    t.equal(list(doc["versions"]), ["1.0.0"], "... has no young or untimed")
    t.equal((doc["dist-tags"], list(doc["time"])),
            ({"latest": "1.0.0"}, ["modified", "1.0.0"]),
            "... nor have its tags and times")
    t.ok(not a.all("etag") and not a.all("set-cookie") and
         a.all("content-type") == ["application/json"],
         "... as composed here", a.headers)
    seen = r.seen()[-1]
    t.equal((seen["method"], seen["path"], header(seen, "accept"),
             header(seen, "accept-encoding"), header(seen, "user-agent")),
            ("GET", "/npm/good-lib", ["application/json"], ["identity"],
             ["test/1"]), "... and as asked for here")
    t.ok(not any(header(seen, n) for n in
                 ("range", "if-none-match", "cookie", "authorization")),
         "... with nothing else", seen)
    a = get(s, "npm.test", "/good-lib", SHORT + "; q=1.0, */*")
    t.ok(a.header("content-type") == SHORT and "time" not in a.json() and
         "_npmUser" not in a.json()["versions"]["1.0.0"] and
         a.json()["versions"]["1.0.0"]["dist"], "npm: the short document",
         a.body[:200])
    a = get(s, "npm.test", "/@team%2futil")
    t.equal(list(a.json()["versions"]), ["0.1.0"], "npm: a scope")
    before = len(r.seen())
    a = get(s, "npm.test", "/good-lib/-/good-lib-1.0.0.tgz")
    t.ok(a.status == 200 and
         a.body == tree.files["/npm/good-lib/-/good-lib-1.0.0.tgz"],
         "npm: a file that is listed is had")
    t.equal(r.paths(before), ["/npm/good-lib/-/good-lib-1.0.0.tgz"],
            "... without asking again")
    before = len(r.seen())
    for file, why in (("1.1.0", "is only 1 day(s) old (quarantine: 2 days)"),
                      ("1.2.0", "No publish timestamp"),
                      ("9.9.9", "is not listed by the registry")):
        a = get(s, "npm.test", f"/good-lib/-/good-lib-{file}.tgz")
        t.ok(a.status == 403 and why in a.json()["error"] and why in a.reason,
             f"npm: {file} is refused: {why}", (a.status, a.reason, a.body))
    t.equal(r.paths(before), [], "... and not asked for")
    a = get(s, "npm.test", "/unasked-lib/-/unasked-lib-1.0.0.tgz")
    t.ok(a.status == 200 and
         a.body == tree.files["/npm/unasked-lib/-/unasked-lib-1.0.0.tgz"],
         "npm: a file of a package never looked at")
    t.equal(r.paths(before), ["/npm/unasked-lib",
                              "/npm/unasked-lib/-/unasked-lib-1.0.0.tgz"],
            "... after its metadata was")
    a = get(s, "npm.test", "/liar-lib/-/liar-lib-9.9.9.tgz")
    t.ok(a.status == 403 and b"not listed" in a.body,
         "npm: a file that is there and not listed", a.body)
    t.ok("/npm/liar-lib/-/liar-lib-9.9.9.tgz" not in r.paths(),
         "... is not asked for")
    a = get(s, "npm.test", "/fresh-lib")
    t.ok(a.status == 403 and "only 1 day(s) old" in a.json()["error"],
         "npm: where nothing is left, the reason", a.body)
    a = get(s, "npm.test", "/ours-lib")
    t.equal((a.status, list(a.json()["versions"])), (200, ["1.0.0"]),
            "npm: the allow list skips the quarantine")
    before = len(r.seen())
    for path in ("/evil-lib", "/evil-lib/-/evil-lib-1.0.0.tgz", "/EVIL-x"):
        a = get(s, "npm.test", path)
        t.ok(a.status == 403 and b"is on the deny list" in a.body,
             f"npm: {path} is on the deny list", a.body)
    t.equal(r.paths(before), [], "... and never asked for")
    a = get(s, "npm.test", "/good-lib", method="HEAD")
    t.equal((a.status, a.body), (200, b""), "npm: HEAD")
    a = get(s, "npm.test", "/wide-lib")
    t.ok(a.status == 200 and len(a.body) > 10 << 20 and
         list(a.json()["versions"]) == ["1.0.0"], "npm: 10 MB of metadata")


REFUSED = [
    ("npm.test", "PUT", "/good-lib", b"{}", 405),
    ("npm.test", "POST", "/good-lib", b"{}", 405),
    ("npm.test", "DELETE", "/good-lib/-/good-lib-1.0.0.tgz", None, 405),
    ("npm.test", "GET", "/-/v1/search?text=x", None, 403),
    ("npm.test", "GET", "/-/whoami", None, 403),
    ("npm.test", "PUT", "/-/user/org.couchdb.user:me", b"{}", 403),
    ("npm.test", "POST", "/-/v1/login", b"{}", 403),
    ("npm.test", "POST", "/-/npm/v1/security/advisories/bulk", b"{}", 403),
    ("npm.test", "GET", "/good-lib?write=true", None, 403),
    ("npm.test", "GET", "/good-lib/1.0.0", None, 403),
    ("npm.test", "GET", "/../good-lib", None, 403),
    ("npm.test", "GET", "/%2e%2e/good-lib", None, 403),
    ("npm.test", "GET", "/good-lib%00", None, 403),
    ("npm.test", "GET", "/", None, 403),
    ("pypi.test", "POST", "/legacy/", b"x", 403),
    ("pypi.test", "GET", "/simple/", None, 403),
    ("pypi.test", "GET", "/pypi/wheelie/json", None, 403),
    ("pypi.test", "POST", "/simple/wheelie/", b"x", 405),
    ("files.test", "GET", "/simple/wheelie/", None, 403),
    ("index.test", "PUT", "/api/v1/crates/new", b"x", 403),
    ("index.test", "GET", "/api/v1/crates?q=x", None, 403),
    ("index.test", "GET", "/ru/xx/rusty", None, 403),
    ("static.test", "GET", "/config.json", None, 403),
    ("deb.test", "GET", "/debian/", None, 403),
    ("deb.test", "GET", "/debian/dists/x/evil_1_all.deb", None, 403)]


def test_refused(s, r):
    before = len(r.seen())
    for host, method, path, body, status in REFUSED:
        with t.case(path):
            a = get(s, host, path, method=method, body=body, headers=[
                ("Content-Type", "application/json")] if body else ())
            t.equal(a.status, status, f"{method} {host}{path}: {status}")
    a = get(s, "npm.test", "/good-lib", headers=[
        ("Authorization", "Bearer npm_xxxxxxxxxxxxxxxx")])
    t.equal(a.status, 403, "a token of the agent's: 403")
    m = s.model("other.test")
    t.equal(m.connect_response.status, 403, "a host that is not configured")
    m.close()
    t.equal(r.paths(before), [], "nothing of it reached a registry")


def test_bad_metadata(s, r):
    for name, status in (("cut", 502), ("large", 502), ("endless", 502),
                         ("other", 502), ("html", 502), ("twice", 502),
                         ("fail", 502), ("moved", 502), ("coded", 502),
                         ("none", 404)):
        with t.case(name):
            a = get(s, "npm.test", f"/{name}-lib")
            t.ok(a.status == status and len(a.body) < 1000,
                 f"npm: metadata that is {name}: {status}",
                 (a.status, a.body[:300]))
            before = len(r.seen())
            a = get(s, "npm.test", f"/{name}-lib/-/{name}-lib-1.0.0.tgz")
            t.ok(a.status in (403, 502) and
                 not any(p.endswith(".tgz") for p in r.paths(before)),
                 f"... a file of it: {a.status}", a.body[:300])
    a = get(s, "pypi.test", "/simple/html-only/")
    t.equal(a.status, 502, "pypi: an index that speaks only HTML")


def test_pypi(s, r, tree):
    a = get(s, "pypi.test", "/simple/Wheelie/", SIMPLE + ", text/html; q=0.1")
    doc = a.json()
    t.equal((a.status, a.header("content-type"), doc["versions"],
             [f["filename"] for f in doc["files"]]),
            (200, SIMPLE, ["1.0"], ["wheelie-1.0-py3-none-any.whl"]),
            "pypi: the page as JSON, without what is young or untimed")
    seen = r.seen()[-1]
    t.equal((seen["path"], header(seen, "accept")),
            ("/pypi/simple/wheelie/", [SIMPLE]), "... asked for by its name")
    a = get(s, "pypi.test", "/simple/wheelie/", "text/html")
    t.ok(a.status == 200 and a.header("content-type").startswith("text/html")
         and a.body.count(b"<a href=") == 1 and b"#sha256=" in a.body,
         "pypi: the page as HTML", a.body)
    before = len(r.seen())
    a = get(s, "files.test", tree.wheels[0])
    t.ok(a.status == 200 and a.body == tree.files["/files" + tree.wheels[0]],
         "pypi: a file, of the other host")
    for path, why in ((tree.wheels[1], b"only 1 day(s) old"),
                      (tree.wheels[2], b"No publish timestamp"),
                      (tree.wheels[0].replace("/packages/", "/packages/x/"),
                       b"not listed")):
        a = get(s, "files.test", path)
        t.ok(a.status == 403 and why in a.body, f"pypi: {path[-28:]}: {why}",
             a.body)
    t.equal(r.paths(before), ["/files" + tree.wheels[0]],
            "... none of which is asked for")
    a = get(s, "files.test", tree.wheels[0] + ".metadata")
    t.ok(a.status == 200 and b"Name: wheelie" in a.body,
         "pypi: what stands beside a file goes by it", a.body)
    a = get(s, "files.test", tree.wheels[1] + ".metadata")
    t.equal(a.status, 403, "... also where that is young")


def test_crates(s, r, tree):
    a = get(s, "index.test", "/config.json")
    t.equal(a.json(), {"dl": "https://static.test/crates"},
            "crates: config.json names no place to publish to")
    a = get(s, "index.test", "/ru/st/rusty")
    t.equal([json.loads(x)["vers"] for x in a.body.splitlines()], ["1.0.0"],
            "crates: the index, without what is young, untimed or broken")
    before = len(r.seen())
    a = get(s, "static.test", "/crates/rusty/rusty-1.0.0.crate")
    t.ok(a.status == 200 and
         a.body == tree.files["/static/crates/rusty/rusty-1.0.0.crate"],
         "crates: a crate")
    a = get(s, "static.test", "/crates/rusty/rusty-1.1.0.crate")
    t.equal(a.status, 403, "crates: a young one")
    t.equal(len(r.seen()), before + 1, "... is not asked for")
    a = get(s, "index.test", "/no/ne/none")
    t.equal(a.status, 404, "crates: one that is not there")


def test_debian(s, r):
    a = get(s, "deb.test", "/debian/dists/stable/InRelease")
    t.equal((a.status, a.body), (200, b"signed"), "debian: an index")
    deb = "/debian/pool/main/h/hello/hello_2.10-3_amd64.deb"
    a = get(s, "deb.test", deb)
    t.equal((a.status, a.body), (200, b"deb of hello"), "debian: a package")
    before = len(r.seen())
    a = get(s, "deb.test", deb.replace("hello", "evil"))
    t.equal((a.status, len(r.seen())), (403, before),
            "debian: one on the deny list")


def test_many(s, r):
    """Requests files of a package not seen before, all at once."""
    def one(i):
        path = f"/dep-lib/-/dep-lib-2.{i % 2}.0.tgz"
        try:
            return i, get(s, "npm.test", path).status
        except (OSError, Closed) as e:
            return i, repr(e)
    with ThreadPoolExecutor(20) as pool:
        got = list(pool.map(one, range(40)))
    t.equal([x for x in got if x[1] != (403 if x[0] % 2 else 200)], [],
            "40 files at once: each as the metadata says")
    t.ok("/npm/dep-lib/-/dep-lib-2.1.0.tgz" not in r.paths(),
         "... none that is young")


def test_leavers(s):
    """Some clients disconnect during a large answer, and some stay."""
    def leave(i):
        m = s.model("npm.test")
        m.sock.sendall(b"GET /wide-lib HTTP/1.1\r\nHost: npm.test\r\n\r\n")
        got = m.sock.recv(1 << 14)
        m.close()
        return got[:12]

    def stay(i):
        a = get(s, "npm.test", "/wide-lib")
        return a.status, len(a.body) > 10 << 20
    with ThreadPoolExecutor(12) as pool:
        left = [pool.submit(leave, i) for i in range(8)]
        stayed = [pool.submit(stay, i) for i in range(4)]
        t.equal({f.result() for f in left}, {b"HTTP/1.1 200"},
                "8 clients that leave within 10 MB of metadata")
        t.equal({f.result() for f in stayed}, {(200, True)},
                "... 4 that stay get theirs")

    def small():
        sizes = []
        for pid in s.workers()["keyd"]:
            with open(f"/proc/{pid}/status", encoding="ascii") as f:
                sizes += [int(x.split()[1]) for x in f
                          if x.startswith("VmRSS")]
        return sizes and max(sizes) < 64 << 10
    t.ok(h.sanitized() or h.wait_for(small, "memory is not given back"),
         "... and the memory is given back")


def test_log(s):
    lines = s.events("package")

    def has(**want):
        return any(all(line[k] == v for k, v in want.items())
                   for line in lines)
    t.ok(has(name="good-lib", version="1.1.0", allowed=False,
             source="metadata"), "the log: a version that was left out")
    t.ok(has(name="good-lib", version="", allowed=True, source="metadata",
             reason="1 listed, 2 left out"), "the log: what is left")
    t.ok(has(name="good-lib", version="1.0.0", allowed=True, source="file"),
         "the log: a file that was had")
    t.ok(has(name="liar-lib", version="9.9.9", allowed=False, source="file"),
         "the log: one that was not")
    t.ok(has(name="evil-lib", version="", allowed=False), "the log: denied")
    t.equal(s.events("alarm"), [], "no alarms")


def main():
    tree = registry_data.tree()
    with h.workdir() as work:
        r = Registry(work, tree)
        config = {"destinations": destinations(r), "packageInstall": {
            "enabled": True, "quarantineDays": 2, "allowedPackages": [],
            "deniedPackages": ["evil"]}}
        with h.Session(work, config=config) as s:
            for case, args in (
                    (test_many, (s, r)), (test_npm, (s, r, tree)),
                    (test_refused, (s, r)), (test_bad_metadata, (s, r)),
                    (test_pypi, (s, r, tree)), (test_crates, (s, r, tree)),
                    (test_debian, (s, r)), (test_leavers, (s,)),
                    (test_log, (s,))):
                with t.case(case.__name__):
                    case(*args)
            bridge = Bridge(s.ready["sockets"]["mitm"])
            clients = registry_clients.Clients(t, s, r, work, bridge, tree)
            for case in (clients.npm, clients.pip, clients.cargo,
                         clients.apt, clients.curl):
                with t.case(case.__name__):
                    case()
            t.equal(s.events("alarm"), [], "no alarms at the end")
        r.end()
    return t.done()


if __name__ == "__main__":
    sys.exit(main())
