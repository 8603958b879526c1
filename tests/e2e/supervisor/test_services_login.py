#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""A service with a login: the agent is the listed user of the listed database and
has no password; what it may say before, and servers that lie."""
import json
import os
import re
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "lib"))
import harness as h  # noqa: E402
import pg_box  # noqa: E402
import pg_server  # noqa: E402
import pg_tls  # noqa: E402

t = h.Tap()
PASSWORD = "Zt7-canary-of-the-database-9q"
SSL, GSS = 80877103, 80877104


def box(work, server, how=PASSWORD, **login):
    return pg_box.Box(work, server.to, {
        "user": "app", "database": "shop", "credential": {
            "file": os.path.join(work, "password")}, **login}, how)


PIECE = 1 << 20
LARGEST = 1 << 28   # a reservation of another program of the user's


def holds(mem, low, high, word):
    """Returns true if the word is in this part of a process's memory."""
    rest = b""
    mem.seek(low)
    while low < high and (part := mem.read(min(PIECE, high - low))):
        if word in rest + part:
            return True
        rest, low = part[-len(word):], low + len(part)
    return False


def holders(word):
    """Returns the programs of this user that have the word in their memory."""
    found = set()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/comm", encoding="ascii") as f:
                name = f.read().strip()
            with open(f"/proc/{pid}/maps", encoding="ascii") as maps, \
                    open(f"/proc/{pid}/mem", "rb", buffering=0) as mem:
                for line in maps:
                    low, high = (int(x, 16) for x in
                                 line.split(" ", 1)[0].split("-"))
                    if "r" not in line.split()[1] or "[v" in line or \
                            high - low > LARGEST:
                        continue
                    try:
                        if holds(mem, low, high, word):
                            found.add(name)
                    except OSError:
                        pass
        except OSError:
            pass
    return found


def test_reached(b, server):
    got = b.do("login", {"user": "app", "database": "shop",
                         "application_name": "the tests",
                         "datestyle": "ISO"}, "SELECT who", [GSS, SSL])
    t.equal(got.get("rows"), [["app", "the tests"]],
            f"the agent is logged in: {got}")
    t.equal(got["said"], "NN", "encryption is declined")
    t.ok(re.fullmatch("RS+KZTDCZ", got["kinds"]),
         "it is greeted as by a server", got["kinds"])
    t.equal(got["parameters"]["server_version"], "15.99 (stand-in)",
            "with the server's own parameters")
    t.equal(server.startups[-1], {"user": "app", "database": "shop",
                                  "application_name": "the tests",
                                  "DateStyle": "ISO"},
            "and the server gets those of the client")
    t.ok(got["key"][1] not in {k.hex() for k in server.keys.values()},
         "its key is another one than the server's")
    t.equal(b.do("login", {}, "SELECT who").get("rows"), [["app", "-"]],
            "so it is without any names")
    got = b.do("login", {"user": "app", "_pq_.x": "1"}, "SELECT who", [],
               0x30002)
    t.ok(got["kinds"].startswith("RvS") and got["rows"] == [["app", "-"]],
         "a newer protocol is brought down to 3.0", got["kinds"])
    t.equal(b.do("cancel"), "57014", "a query is cancelled")
    t.ok(server.cancels and server.cancels[-1][1] in server.keys.values(),
         "with the server's own key")
    n = len(server.cancels)
    t.equal(b.do("cancel", 1), "still there", "not with another key")
    t.equal(len(server.cancels), n, "of which the server does not hear")


def packet(*words, version=0x30000, end=b"\0"):
    body = struct.pack(">I", version) + b"".join(
        w if isinstance(w, bytes) else w.encode() + b"\0" for w in words) + end
    return struct.pack(">I", len(body) + 4) + body


def test_hostile_client(b, server):
    before = len(server.startups)
    bad = {
        "another user": (packet("user", "postgres"), "database shop as user app"),
        "another database": (packet("user", "app", "database", "x"), "as user app"),
        "options": (packet("user", "app", "options", "-c x=y"), '"options"'),
        "replication": (packet("user", "app", "replication", "true"),
                        "allowed are user, database, application_name"),
        "a value with a quote": (packet("user", "app", "TimeZone", "a'b"), "TimeZone"),
        "a long value": (packet("application_name", "x" * 64), "63 bytes"),
        "protocol 2": (packet(version=0x20000), "only protocol 3"),
        "protocol 4": (packet(version=0x40000), "only protocol 3"),
        "no end": (packet("user", end=b""), "malformed"),
        "bytes behind the end": (packet(b"\0", "user", "app"), "malformed"),
        "an early query": (packet("user", "app") + b"Q\0\0\0\5\0", "bytes came"),
        "early bytes behind SSLRequest": (struct.pack(">II", 8, SSL) + packet(), "out of turn"),
        "a second SSLRequest": (struct.pack(">IIII", 8, SSL, 8, SSL), "out of turn"),
        "TLS": (b"\x16\3\1\2\0\1\0\1\xfc\3\3", "sslmode"),
        "HTTP": (b"GET / HTTP/1.0\r\n\r\n", "sslmode"),
        "a long SSLRequest": (struct.pack(">III", 12, SSL, 0), "malformed"),
        "a short CancelRequest": (struct.pack(">III", 12, 80877102, 1), "malformed"),
    }
    for name, (data, words) in bad.items():
        got = b.do("raw", [data.hex()])
        t.ok(words in got and "FATAL" in got, f"refused: {name}", got)
    got = b.do("raw", [struct.pack(">II", (1 << 20) + 8, 0x30000).hex(),
                       ["78" * 1024, 1024]])
    t.ok("impossible length" in got, "refused: a packet of 1 MB", got)
    for n in (*range(8), 8193, 1 << 31, (1 << 32) - 1):
        got = b.do("raw", [struct.pack(">I", n).hex() + "00" * 32])
        t.ok("impossible length" in got, f"refused: a length of {n}", got)
    whole = packet("user", "app", "database", "shop")
    silent = [n for n in range(len(whole))
              if b.do("raw", [whole[:n].hex()]) != ""]
    t.equal(silent, [], "a packet that is cut off anywhere ends in silence")
    t.equal(b.do("raw", [struct.pack(">IIII", 16, 80877102, 1, 2).hex()]), "",
            "a foreign key for cancelling ends in silence")
    t.equal(len(server.startups), before, "the server has heard of none of it")


def test_records(b, server):
    s = b.s
    connects = s.events("connect")
    t.ok(connects and all(e["login"] == "app" and e["service"] == "db"
                          for e in connects), "each record names the login")
    t.ok(any("cancels" in e for e in connects), "and what a cancel is for")
    ends = {e["connection"] for e in s.events("connectEnd")}
    h.wait_for(lambda: len(s.events("connectEnd")) >= len(connects) - 1,
               f"connections have no end: {ends}")
    denied = {(e["code"], e["target"]) for e in s.events("connectDenied")}
    t.ok({("login", "db"), ("cancel", "db")} <= denied,
         "refused clients are recorded", denied)
    t.contains(s.process.stderr(), "service db logs in as app",
               "the start says who the agent is there")
    status = json.loads(s.icctl("--json", "status", check=True).stdout)
    t.equal(status["services"][0]["login"], "app", "and so does status")
    t.contains(s.icctl("status").stdout, "logs in as app", "for people, too")
    keys = json.loads(s.icctl("--json", "keys", check=True).stdout)["keys"]
    t.ok(any(k["provider"] == "db" and k["state"] == "loaded" for k in keys),
         "icctl keys lists the login", keys)


def test_secret(b, server):
    found = holders(PASSWORD.encode())
    t.ok(found, "baseline: the search finds the password in this process")
    t.equal(found - {"python3", "test_services_login.py"}, set(),
            "and in no other one that its user can read")
    shown = b.s.icctl("--json", "status").stdout + b.s.process.stderr()
    for top, _, names in os.walk(b.s.dir):
        for name in names:
            path = os.path.join(top, name)
            if os.path.isfile(path):
                with open(path, "rb") as f:
                    shown += f.read().decode("latin1")
    t.ok(PASSWORD not in shown, "nor has a log, the session's files or status")
    t.ok(PASSWORD.encode() not in server.seen, "nor has the server got it")


def test_good():
    server = pg_server.Server("app", "shop", PASSWORD)
    with h.workdir() as work, t.case("good"):
        b = box(work, server)
        b.s.start()
        test_reached(b, server)
        test_hostile_client(b, server)
        test_records(b, server)
        test_secret(b, server)
        t.equal(b.s.stop(), 143, "it ends when it is asked to")
    server.close()


def refusal(b):
    got = b.do("login", {})
    return got.get("error", {}).get("M", str(got))


LIES = {
    "trust": "without a password", "md5": "as md5", "cleartext": "in clear text",
    "gss": "of another kind (7)", "other": "does not offer SCRAM-SHA-256",
    "tls": "without TLS", "http": "another protocol",
    "huge": "another protocol", "early": "before its login",
    "rounds": "from 4096 to 600000", "nonce": "does not begin with ours",
    "signature": "does not know the password", "false": "does not know the",
    "unsigned": "out of turn", "no key": "no key", "endless": "too much",
    "rows": "malformed",
}


def test_lies():
    """One session; the server behind it lies in another way each time."""
    server = pg_server.Server("app", "shop", PASSWORD)
    with h.workdir() as work, t.case("lies"):
        b = box(work, server)
        b.s.start()
        for how, words in LIES.items():
            server.how = how
            t.contains(refusal(b), words, f"a server that lies: {how}")
        server.how = "echo"
        refusal(b)
        server.how, server.password = "", "another one"
        t.contains(refusal(b), "does not take the password of user app",
                   "a wrong password is one clear sentence")
        server.password = PASSWORD
        for role in ("postgres", "pg_read_server_files"):
            server.roles = (role,)
            t.contains(refusal(b), f"can become, {role}", f"refused: {role}")
        server.roles = ()
        server.how = "notice"
        t.equal(b.do("login", {}, "SELECT who").get("rows"), [["app", "-"]],
                "a notice behind the login reaches the client")
        server.how = ""
        t.equal(b.do("login", {}, "SELECT who").get("rows"), [["app", "-"]],
                "and after all of it the right one is good")
        ends = b.s.events("connectEnd")
        t.ok(any("does not take the password" in e.get("error", "")
                 for e in ends), "the record has the reason")
        t.equal(b.s.stop(), 143, "it ends when it is asked to")
    server.close()


TLS_LIES = {
    "no binding": "does not offer SCRAM-SHA-256-PLUS",
    "trust": "must have, before any line with trust or peer: hostssl shop app",
    "md5": "as md5", "rounds": "from 4096 to 600000",
    "nonce": "does not begin with ours", "signature": "does not know the password",
    "unsigned": "out of turn", "endless": "too much", "huge": "another protocol",
}
ANSWERS = {
    b"N": "does not use TLS", b"": "did not finish", b"E": "another protocol",
    b"SR\0\0\0\x08\0\0\0\0": "there is no TLS with the database",
}


def test_tls():
    """The same login over TLS, and servers that lie in it."""
    with h.workdir() as work, t.case("tls"):
        pg_tls.certificate(work, "server")
        server = pg_tls.TlsServer(work, "app", "shop", PASSWORD)
        b = box(work, server, tls=True)
        b.s.start()
        for _ in range(2):
            t.equal(b.do("login", {}, "SELECT who").get("rows"), [["app", "-"]],
                    "a login over TLS")
        t.equal(b.do("cancel"), "57014", "a query is cancelled")
        for how, words in TLS_LIES.items():
            server.how = how
            t.contains(refusal(b), words, f"a server that lies over TLS: {how}")
        server.how = ""
        right, server.bound = server.bound, b"x" * 32
        t.contains(refusal(b), "channel binding check failed",
                   "a server that has another certificate than the one it shows")
        server.bound = right
        server.how = "notice"
        t.equal(b.do("login", {}, "SELECT who").get("rows"), [["app", "-"]],
                "a notice behind the login reaches the client")
        server.how = ""
        for answer, words in ANSWERS.items():
            server.answer = answer
            t.contains(refusal(b), words, f"an answer to SSLRequest: {answer}")
        server.answer = b"S"
        t.equal(b.do("login", {}, "SELECT who").get("rows"), [["app", "-"]],
                "and after all of it the right one is good")
        t.equal(b.s.stop(), 143, "it ends when it is asked to")
        server.close()


def test_certificates():
    """The hash that a login is bound to is the one of the certificate's signature."""
    for kind, digest in (("rsa:2048", "sha512"), ("prime256v1", "sha384"),
                         ("ed25519", "sha256")):
        with h.workdir() as work, t.case(kind):
            pg_tls.certificate(work, "server", kind, digest)
            server = pg_tls.TlsServer(work, "app", "shop", PASSWORD, digest=digest)
            b = box(work, server, tls=True)
            with b.s:
                got = b.do("login", {}, "SELECT who")
                if kind == "ed25519":
                    t.contains(got["error"]["M"], "no channel binding is defined",
                               "a certificate without a hash is refused")
                else:
                    t.equal(got.get("rows"), [["app", "-"]],
                            f"a certificate of {kind} with {digest}")
            server.close()


def test_superuser():
    server = pg_server.Server("app", "shop", PASSWORD, roles=("app",))
    with h.workdir() as work, t.case("superuser"):
        b = box(work, server, superuser=True)
        with b.s:
            t.equal(b.do("login", {}, "SELECT who").get("rows"), [["app", "-"]],
                    "a superuser is let in if the entry says so")
    server.close()


def test_credentials():
    server = pg_server.Server("app", "shop", PASSWORD)
    for password, words in (("", "password: empty"),
                            ("a\tb", "control character"),
                            ("p\u00e4ss", "outside of ASCII"),
                            ("x" * 513, "too long")):
        with h.workdir() as work, t.case("credential"):
            b = box(work, server, password)
            if not password:
                h.put(os.path.join(work, "password"), "", 0o600)
            r = subprocess.run(b.s.argv, env=b.s.env, capture_output=True,
                               text=True, timeout=60, check=False)
            t.equal(r.returncode, 78, f"no session starts: {words}")
            t.contains(r.stderr, words, "and it says why")
    server.close()


test_good()
test_lies()
test_tls()
test_certificates()
test_superuser()
test_credentials()
t.done()
