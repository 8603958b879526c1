#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""A CONNECT to a host on no list asks a person to open it: it waits before any
TLS, an opened host can only be read, and can be closed again. Hosts that must
not be asked about, limits, and sessions in which nobody is asked."""
import json
import os
import socket
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
from bridge import Bridge  # noqa: E402
from web import Web  # noqa: E402

t = h.Tap()
HOST = "files.example.com"
OTHER = "other.example.com"
ASK = ("--open-hosts", "ask")
EFFECT = "Opens {0}:443 as a web destination (GET, HEAD) for this session"


def mirrors(w, *hosts):
    return {"proxyTools": {"enabled": False, "hosts": {
        x: {"upstream": w.url, "ca": w.ca} for x in hosts}}}


class Connect:
    """A CONNECT that is answered later, or never."""

    def __init__(self, s, target, agent="curl/8.0", more=b""):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(30 * h.PATIENCE)
        self.sock.connect(s.ready["sockets"]["mitm"])
        said = f"User-Agent: {agent}\r\n" if agent else ""
        self.sock.sendall(f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n"
                          f"{said}\r\n".encode("latin-1") + more)

    def answer(self):
        """Returns the status and the text."""
        data = b""
        while True:
            try:
                piece = self.sock.recv(65536)
            except ConnectionError:
                break
            data += piece
            if not piece or (data.startswith(b"HTTP/1.1 200") and
                             b"\r\n\r\n" in data):
                break
        self.sock.close()
        return int((data.split(b" ") + [b"", b"0"])[1]), data.decode("latin-1")

    def silent(self):
        """Returns true if nothing came yet."""
        self.sock.setblocking(False)
        try:
            return self.sock.recv(1) and False
        except BlockingIOError:
            self.sock.settimeout(30 * h.PATIENCE)
            return True


def curl(s, bridge, url, *options):
    """curl as a program of the sandbox, as a process that goes on."""
    return subprocess.Popen(
        ["curl", "-sS", "--cacert",
         os.path.join(s.dir, "orientation", "ca-cert.pem"), "-x", bridge.url,
         "-w", " %{http_code} %{http_connect}", *options, url],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def done(p):
    return p.communicate(timeout=60 * h.PATIENCE)[0]


def waiting(s, n=1):
    return h.wait_for(lambda: len(s.pending()) == n and s.pending(),
                      f"not {n} questions")


def test_opened(s, other, w, bridge):
    """From the request to the page: asked, approved, read, and no more."""
    p = curl(s, bridge, f"https://{HOST}/a/page")
    hold = s.held()
    t.equal((hold["effect"], hold["tool"], hold["host"], hold["rule"]),
            (EFFECT.format(HOST), f"open {HOST}:443", True, "open-host"),
            "the question has the host in full, and its port")
    t.equal(hold["reason"], "A program of the sandbox wants to reach it, and "
            "it is on no list; the agent says: curl", "the program's name is "
            "the agent's word")
    t.equal(json.loads(hold["arguments"]),
            {"as": "web", "hosts": [HOST], "port": 443},
            "which is not a part of what is approved")
    t.ok("forSession" not in hold, "nothing else is on offer")
    shown = s.icctl("show", hold["id"]).stdout
    t.ok(f"open {HOST}:443" in shown and EFFECT.format(HOST) in shown and
         f'hosts = "{HOST}:443"' in shown and "the agent says: curl" in shown,
         "icctl show", shown)
    t.equal([w.seen, s.events("modelRequest"), s.events("hostOpen")],
            [[], [], []], "nothing has happened yet")
    r = s.icctl("approve", hold["id"])
    t.ok(r.returncode == 0 and f"open {HOST}:443" in r.stdout,
         "icctl approve", r.stdout + r.stderr)
    t.equal(done(p), "docs /a/page 200 200", "the same request goes on")
    t.equal(done(curl(s, bridge, f"https://{HOST}/b")), "docs /b 200 200",
            "another one is not asked about")
    n = len(w.seen)
    out = done(curl(s, bridge, f"https://{HOST}/c", "-d", "x=1"))
    t.ok(out.endswith(" 405 200") and len(w.seen) == n,
         "POST is refused, and does not get there", out)
    out = done(curl(s, bridge, f"https://www.{HOST}/", "--max-time", "1"))
    t.ok(out.endswith(" 000 000"), "a name below it is another host", out)
    s.icctl("deny", s.held()["id"], check=True)
    c = Connect(other, f"{HOST}:443")
    t.ok(other.held()["tool"] == f"open {HOST}:443" and c.silent(),
         "another session does not profit: it has a question of its own")
    other.icctl("deny", other.held()["id"], check=True)
    status, text = c.answer()
    t.ok(status == 403 and "said no" in text and HOST in text,
         "denied: the refusal says so", text)
    status, text = Connect(other, f"{HOST}:443").answer()
    t.ok(status == 403 and "said no" in text and other.pending() == [],
         "and it is not asked again", text)
    status, text = Connect(other, f"{HOST.upper()}:443").answer()
    t.ok(status == 403 and other.pending() == [], "in no spelling", text)


def test_log(s):
    one = s.events("hostOpen")[0]
    t.equal((one["host"], one["kind"]), (HOST, "web"), "hostOpen is recorded")
    order = [e["event"] for e in s.audit() if e["event"] in
             ("hold", "verdict", "grant", "hostOpen", "destinationAdded")][:5]
    t.equal(order, ["hold", "verdict", "grant", "hostOpen",
                    "destinationAdded"], "in the order of what happens")
    t.equal([e["host"] for e in s.events("hostShut")], [f"www.{HOST}"],
            "and so is what stays shut")


def test_revoked(s, w, bridge):
    shown = s.icctl("grants").stdout
    t.contains(shown, f"Open {HOST}:443 as a web destination (GET, HEAD)",
               "icctl grants")
    grant = json.loads(s.icctl("--json", "grants").stdout)["granted"][0]
    status = json.loads(s.icctl("--json", "status").stdout)
    t.ok(status["openHosts"] == "ask" and
         {"host": HOST, "kind": "web", "name": "added-1", "state": "added"}
         in status["destinations"], "icctl status",
         (status.get("openHosts"), status["destinations"]))
    text = s.icctl("status").stdout
    t.ok("any name" in text, "says what it costs", text)
    m = s.model(HOST)
    m.send("GET", "/wait")
    h.wait_for(lambda: "/wait" in w.paths(), "the request did not arrive")
    s.icctl("revoke", grant["id"], check=True)
    t.equal(m.read_all(), b"", "revoked: what is under way is cut")
    m.close()
    w.release.set()
    status, text = Connect(s, f"{HOST}:443").answer()
    t.ok(status == 403 and "has been closed again" in text and
         s.pending() == [], "closed, and not asked about again", text)
    t.equal(json.loads(s.icctl("--json", "grants").stdout)["granted"], [],
            "no grant is left")
    t.equal([e["detail"]["host"] for e in s.events("destinationRemoved")],
            [HOST], "it is in the log")


def test_limits(s):
    """3 questions at once, an agent that leaves, and one that comes back."""
    names = [f"n{i}.example.com" for i in range(4)]
    open_ones = [Connect(s, f"{n}:443", "") for n in names[:3]]
    waiting(s, 3)
    status, text = Connect(s, f"{names[3]}:443").answer()
    t.ok(status == 503 and "wait for the user" in text and
         len(s.pending()) == 3, "a fourth question is not asked", text)
    again = [Connect(s, f"{names[0]}:443") for _ in range(3)]
    t.equal([len(s.pending()), again[2].silent()], [3, True],
            "the same host again waits for the same answer")
    open_ones[0].sock.close()
    for i, hold in enumerate(sorted(s.pending(), key=lambda x: x["tool"])):
        t.ok("the agent says" not in hold["reason"], "no name is made up",
             hold["reason"])
        s.icctl("approve" if i == 0 else "deny", hold["id"], check=True)
    t.equal([c.answer()[0] for c in again], [200] * 3,
            "the answer holds for all who wait, whoever has left")
    t.equal([c.answer()[0] for c in open_ones[1:]], [403] * 2, "each its own")


def test_full(work):
    """16 hosts, and no more."""
    with h.Session(os.path.join(work, "full"), {}, [], {}, options=ASK) as s:
        for i in range(16):
            c = Connect(s, f"h{i}.example.com:443")
            s.icctl("approve", s.held()["id"], check=True)
            status, text = c.answer()
            if status != 200:
                t.ok(False, f"host {i + 1} is opened", text)
                return
        status, text = Connect(s, "h16.example.com:443").answer()
        t.ok(status == 403 and "16 hosts were opened" in text and
             s.pending() == [], "the 17th is not asked about", text)


HOSTILE = [
    # addresses, in every notation
    "127.0.0.1", "10.0.0.1", "169.254.169.254", "192.168.1.1", "0.0.0.0",
    "1.1.1.1", "2130706433", "0x7f000001", "0x7f.1", "017700000001", "127.1",
    "127.0.1", "0177.0.0.1", "0x7f.0x0.0x0.0x1", "1.2.3.4.", "a.1", "a.0x1",
    "example.123", "[::1]", "[::]", "[fe80::1%25eth0]", "[::ffff:127.0.0.1]",
    "[2001:db8::1]", "::1", "1.1.1.1.1",
    # this machine and its network
    "localhost", "LOCALHOST", "localhost.", "a.localhost", "x.y.localhost",
    "localhost.localdomain", "printer.local", "a.b.local", "db.internal",
    "metadata.google.internal", "host.docker.internal",
    "host.containers.internal", "router.lan", "nas.home", "x.corp",
    "x.home.arpa", "1.0.0.127.in-addr.arpa", "x.onion", "x.invalid", "x.alt",
    "ironcurtain", "intranet", "wpad", "kubernetes",
    # not a name
    "", ".", "..", "a..b.example", ".example.com", "example.com.", "-a.b",
    "a-.example", "ex_ample.com", "ex ample.com", "*.example.com",
    "a,b.example.com", "user@example.com", "example.com@evil.example",
    "example.com/..", "example.com#a", "example.com?x", "example.com\\a",
    "example.com%2eevil.example", "example.com%00.evil.example",
    "example.com;a", "'example.com'", "\"example.com\"", "$(id).example.com",
    "`id`.example.com", "a\tb.example", "a\x0b.example", "\x7f.example",
    "ab--cd.example", "a" * 64 + ".example", ("a" * 62 + ".") * 4 + "example",
    "b\u00fccher.example", "ex\u00e4mple.com",
    # other encodings of a dot and of letters: bytes of UTF-8
    "example\u3002com".encode().decode("latin-1"),
    "\u0435xample.com".encode().decode("latin-1"),
    "example\u200b.com".encode().decode("latin-1"),
    "\u202emoc.elpmaxe".encode().decode("latin-1"),
    "\uff45xample.com".encode().decode("latin-1"),
    "https://example.com", "http://example.com", "example.com:80",
    "example.com:443", "example.com:", "example.com:0443",
]
PORTS = ["example.com:80", "example.com:22", "example.com:8443",
         "example.com:0443", "example.com:443x", "example.com:+443",
         "example.com:65979", "example.com", "example.com:", ":443"]


def test_hostile(s):
    """None of these is asked about, and no name of them is looked up."""
    asked = []
    for target in [x + ":443" for x in HOSTILE] + PORTS:
        status, text = Connect(s, target).answer()
        if status not in (400, 403, 405) or s.pending():
            asked.append((target, status, text[:200], s.pending()))
            break
    t.ok(not asked and len(HOSTILE) + len(PORTS) >= 100,
         f"{len(HOSTILE) + len(PORTS)} spellings that are no public host",
         asked)
    t.equal(s.events("hold"), [], "nobody was bothered")
    status, text = Connect(s, f"{HOST}:443", more=b"\x16\x03\x01").answer()
    t.ok(status == 400 and s.pending() == [], "nor by a client that does not "
         "wait for its answer", text)


def test_foreign(s):
    name = "xn--pple-43d.com"
    c = Connect(s, f"{name}:443", "curl/8 (other) evil")
    hold = s.held()
    t.ok(f"{name}:443" in hold["effect"] and "punycode" in hold["effect"],
         "punycode is marked, and not decoded", hold["effect"])
    s.icctl("deny", hold["id"], check=True)
    t.equal(c.answer()[0], 403, "denied")
    for agent, said in (("x" * 33, None), ("a;b/1", None), ("git/2.39", "git"),
                        ("\xe9vil", None), ("npm node/20", "npm")):
        c = Connect(s, f"a{len(s.events('hold'))}.example.com:443", agent)
        hold = s.held()
        t.equal(hold["reason"].partition("; the agent says: ")[2], said or "",
                f"the program {agent[:8]!r}")
        s.icctl("deny", hold["id"], check=True)
        c.answer()


KINDS = [
    # asked for, opened as, hosts
    ("registry.npm.example.com", "npm", ["registry.npm.example.com"]),
    ("pypi.example.com", "pypi", ["pypi.example.com",
                                  "files.pythonhosted.example.com"]),
    ("static.crates.example.com", "crates", ["index.crates.example.com",
                                             "static.crates.example.com"]),
    ("deb.debian.example.com", "debian", ["deb.debian.example.com"]),
    ("git.example.com", "git", ["git.example.com"]),
]


def test_kinds(s):
    """Registries and forges are never opened as web hosts."""
    for name, kind, hosts in KINDS:
        waits = [Connect(s, f"{x}:443") for x in hosts]
        hold = waiting(s)[0]
        what = json.loads(hold["arguments"])
        t.equal((what.get("registry", what["as"]), what["hosts"]),
                (kind, hosts), f"{name}: {kind}")
        t.ok("web" not in hold["effect"] and
             all(f"{x}:443" in hold["effect"] for x in hosts),
             "... and says so", hold["effect"])
        s.icctl("approve", hold["id"], check=True)
        t.equal([c.answer()[0] for c in waits], [200] * len(hosts),
                "... opened, with what belongs to it")
        m = s.model(name)
        r = m.request("GET", "/anything/else?x=1", [], None)
        t.ok(r.status == 403, "... and no page of it can be read",
             (r.status, r.body))
        m.close()
    s.icctl("approve", "zzzz")
    rows = json.loads(s.icctl("--json", "status").stdout)["destinations"]
    t.equal({r["kind"] for r in rows if r["state"] == "added"} >=
            {"registry", "git"}, True, "icctl status has their kinds")


def test_no_packages(work):
    with h.Session(os.path.join(work, "nopack"), {}, [], {}, options=ASK,
                   config={"packageInstall": {"enabled": False}}) as s:
        status, text = Connect(s, "registry.example.com:443").answer()
        t.ok(status == 403 and "packageInstall.enabled" in text and
             s.pending() == [], "registries are off: not asked about", text)
        c = Connect(s, f"{OTHER}:443")
        s.icctl("deny", s.held()["id"], check=True)
        t.equal(c.answer()[0], 403, "others are")


def ca_constraint(s):
    path = os.path.join(s.dir, "orientation", "ca-cert.pem")
    r = subprocess.run(["openssl", "x509", "-in", path, "-noout", "-text"],
                       capture_output=True, text=True, check=True)
    return "Name Constraints" in r.stdout


def test_off(work):
    """Sessions in which nobody is asked have the closed list, and its CA."""
    provider = h.Provider(work)
    for name, options, config in (
            ("plain", (), {}),
            ("deny", ("--escalations", "deny", *ASK), {}),
            ("person", ("--person", "--escalations", "deny"), {}),
            ("config", ("--person",), {"openHosts": "off"}),
            ("option", ("--person", "--open-hosts", "off"), {})):
        with h.Session(os.path.join(work, "off-" + name), {}, [], {},
                       provider=provider, options=options,
                       config=config) as s:
            status, text = Connect(s, f"{HOST}:443").answer()
            state = json.loads(s.icctl("--json", "status").stdout)
            t.ok(status == 403 and '"destinations" of config.json' in text and
                 s.pending() == [] and ca_constraint(s) and
                 state["openHosts"] == "off", f"off ({name})", text)
    for name, options, config in (
            ("person", ("--person",), {}),
            ("config", ("--person",), {"openHosts": "ask"}),
            ("option", ASK, {"openHosts": "off"})):
        with h.Session(os.path.join(work, "on-" + name), {}, [], {},
                       provider=provider, options=options,
                       config=config) as s:
            c = Connect(s, f"{HOST}:443")
            t.ok(s.held()["host"] and not ca_constraint(s), f"ask ({name})")
            c.sock.close()
    provider.end()


OWN = {"name": "own", "title": "Own", "providers": [], "args": [],
       "unasked": ["news.example.com", "raw.example.com own_program"]}


def test_unasked(work):
    """Hosts that the agent's own program asks for by itself: refused, with no
    question, as recorded, and said once; they open like any other."""
    w = Web(work, "unasked")
    w.server.name = "docs"
    place = os.path.join(work, "unasked-s")
    s = h.Session(place, {}, [], {}, options=("--agent", "own", *ASK))
    s.write("agents/own.json", OWN)
    with s:
        for target, agent in (("news.example.com", "curl/8"),
                              ("NEWS.example.com", ""),
                              ("raw.example.com", "own_program/0.1 (x)"),
                              ("raw.example.com", "own_program")):
            status, text = Connect(s, f"{target}:443", agent).answer()
            t.ok(status == 403 and "the agent's program asks for by itself" in
                 text and '"destinations"' in text and s.pending() == [],
                 f"{target} for {agent or 'no program'}: refused unasked",
                 text)
        t.equal([(e["code"], e["target"]) for e in s.events("refused")],
                [("host-unasked", "news.example.com:443"),
                 ("host-unasked", "NEWS.example.com:443")] +
                [("host-unasked", "raw.example.com:443")] * 2,
                "and recorded as such")
        said = [x for x in s.session_log().splitlines()
                if "refused without a question" in x]
        t.ok(len(said) == 2 and all('"destinations"' in x for x in said),
             "the session's log says it once for each, and how to open it",
             said)
        shown = " ".join(s.icctl("status").stdout.split())
        t.ok("not about news.example.com, raw.example.com: the agent's "
             "program asks by itself" in shown, "icctl status", shown)
        for target, agent in (("raw.example.com", "own_program_2/1"),
                              ("x.news.example.com", "own_program/1")):
            c = Connect(s, f"{target}:443", agent)
            t.equal(s.held()["tool"], f"open {target}:443",
                    f"{target} for {agent}: asked as any other")
            s.icctl("deny", s.held()["id"], check=True)
            t.equal(c.answer()[0], 403, "denied")
    with h.Session(place, {}, [], {}, options=("--agent", "own", *ASK), config={
            "destinations": {"news": {"kind": "web", "upstream": w.url,
                                      "ca": w.ca, "hosts": [
                                          "news.example.com"]}}}) as s:
        m = s.model("news.example.com")
        t.equal(m.request("GET", "/x", [], None).body, b"docs /x",
                "a destination of that name is open")
        m.close()


def late_begin(work):
    """A request that nobody answers, while other tests run."""
    w = Web(work, "late")
    w.server.name = "late"
    s = h.Session(os.path.join(work, "late-s"), {}, [], {}, options=ASK,
                  config=mirrors(w, HOST)).start()
    return w, s, Connect(s, f"{HOST}:443")


def test_late(work, w, s, c):
    """The request fails with what to do; the question stays, and is answered
    later."""
    try:
        status, text = c.answer()
        t.ok(status == 503 and "Try again in a minute" in text and
             text.startswith(f"HTTP/1.1 503 {HOST}:443 is not open"),
             "after a few seconds it says what to do", text)
        hold = s.held()
        s.icctl("approve", hold["id"], check=True)
        h.wait_for(lambda: s.events("destinationAdded"), "not opened")
        m = s.model(HOST)
        t.equal(m.request("GET", "/x", [], None).body, b"late /x",
                "answered later: the next request goes on")
        m.close()
        s.icctl("stop", check=True)
        s.wait()
    finally:
        s.stop()
    with h.Session(os.path.join(work, "late-s"), {}, [], {},
                   options=(*ASK, "--resume"), config=mirrors(w, HOST)) as s:
        c = Connect(s, f"{HOST}:443")
        t.ok(s.held()["tool"] == f"open {HOST}:443" and c.silent(),
             "a resumed session has none of it: it asks again")
        t.equal(json.loads(s.icctl("--json", "grants").stdout)["granted"], [],
                "nor the grant")
        c.sock.close()


def test_asked(work):
    w = Web(work, "docs")
    w.server.name = "docs"
    with h.Session(os.path.join(work, "a"), {}, [], {}, options=ASK,
                   config=mirrors(w, HOST)) as s:
        bridge = Bridge(s.ready["sockets"]["mitm"])
        with h.Session(os.path.join(work, "b"), {}, [], {}, options=ASK,
                       config=mirrors(w, HOST)) as other:
            test_opened(s, other, w, bridge)
        test_log(s)
        test_revoked(s, w, bridge)


def test_names(work):
    with h.Session(os.path.join(work, "c"), {}, [], {}, options=ASK) as s:
        test_hostile(s)
        test_limits(s)
        test_foreign(s)
    with h.Session(os.path.join(work, "d"), {}, [], {}, options=ASK) as s:
        test_kinds(s)


def main():
    with h.workdir() as work:
        late = late_begin(work)
        for case in (test_asked, test_names, test_no_packages, test_full,
                     test_off, test_unasked):
            with t.case(case.__name__):
                case(work)
        with t.case("test_late"):
            test_late(work, *late)
    t.done()


if __name__ == "__main__":
    main()
