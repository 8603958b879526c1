#!/usr/bin/python3
# SPDX-License-Identifier: ISC
"""Tests the network access of a server's sandbox: through its egressd to the
hosts on its list only. The far side records everything that reaches it."""
import base64
import hashlib
import json
import os
import socket
import ssl
import subprocess
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "lib"))
import harness as h  # noqa: E402

t = h.Tap()
NAMES = ("tunnel", "tls", "retry", "raw", "direct", "many")
TOOLS = {"net": {n: {} for n in NAMES}, "shut": {n: {} for n in NAMES}}


class Far:
    """Accepts connections, records the input, and returns it in upper case."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port = self.listener.getsockname()[1]
        self.got = []
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            s, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(s,),
                             daemon=True).start()

    def serve(self, s):
        parts = []
        while True:
            part = s.recv(65536)
            if not part:
                break
            parts.append(part)
        self.got.append(b"".join(parts))
        s.sendall(b"".join(parts).upper())
        s.close()


class Secure:
    """Speaks TLS with whoever comes, and returns text in upper case."""

    def __init__(self, work):
        pem = os.path.join(work, "far.pem")
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
             "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=far",
             "-days", "2", "-keyout", pem, "-out", pem + ".crt"],
            check=True, capture_output=True)
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(pem + ".crt", pem)
        self.names = []
        self.context.sni_callback = lambda s, name, c: self.names.append(name)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            s, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(s,),
                             daemon=True).start()

    def serve(self, s):
        try:
            with self.context.wrap_socket(s, server_side=True) as tls:
                tls.sendall(tls.recv(65536).upper())
        except OSError:
            s.close()


def speaks_first():
    """Returns the port of a server that sends a greeting, as SSH does."""
    listener = socket.create_server(("127.0.0.1", 0))

    def run():
        held = []
        while True:
            held.append(listener.accept()[0])
            held[-1].sendall(b"SSH-2.0-far\r\n")

    threading.Thread(target=run, daemon=True).start()
    return listener.getsockname()[1]


class Retry(Far):
    """Answers a ClientHello with a HelloRetryRequest, and records what comes
    then."""

    def serve(self, s):
        s.recv(65536)
        body = b"\3\3" + hashlib.sha256(b"HelloRetryRequest").digest() + \
            b"\0\x13\1\0"
        s.sendall(b"\x16\3\3" + (len(body) + 4).to_bytes(2, "big") + b"\2" +
                  len(body).to_bytes(3, "big") + body + b"\x14\3\3\0\1\1")
        got = b""
        # The second record, or what comes of it.
        while b"example" not in got and b"localhost" not in got:
            part = s.recv(65536)
            if not part:
                break
            got += part
        self.got.append(got)
        s.close()


def server(network):
    return {"command": h.PYTHON,
            "args": [os.path.join(h.STANDINS, "mcp_net.py")],
            "sandbox": {"network": network,
                        "filesystem": {"allowRead": [h.STANDINS]}}}


def call(m, tool, **arguments):
    r = m.call(tool, arguments)
    return json.loads(h.text_of(r))


def status(got):
    return (got.get("head") or got.get("answer") or str(got))[9:12]


def test_tunnels(s, m, far, other):
    ours = f"127.0.0.1:{far.port}"
    long = "word " * 200000
    got = call(m, "net__tunnel", target=ours, text="hello")
    t.equal((status(got), got.get("body")), ("200", "HELLO"),
            "a listed host: bytes both ways, and the half-close")
    got = call(m, "net__tunnel", target=ours, text=long)
    t.equal(got.get("body") == long.upper(), True, "a million bytes")
    t.equal(far.got, [b"hello", long.encode()], "the far side got just that")
    got = call(m, "net__tunnel", target=f"localhost:{far.port}", text="name")
    t.equal(got.get("body"), "NAME", "a listed name")
    for target, want, why in (
            (f"127.0.0.1:{other.port}", "403", "another port"),
            (f"127.0.0.2:{far.port}", "403", "another address"),
            (f"LOCALHOST.:{other.port}", "403", "another port of a name"),
            (f"denied.localhost:{far.port}", "403", "a denied name"),
            (f"127.1:{far.port}", "400", "an address in another spelling"),
            (f"2130706433:{far.port}", "400", "an address as a number"),
            (f"0x7f000001:{far.port}", "400", "an address in hex"),
            (f"[::ffff:127.0.0.1]:{far.port}", "403", "a mapped address"),
            ("localhost", "400", "no port"),
            ("localhost:0", "400", "port 0"),
            ("localhost:65536", "400", "a port too high"),
            ("local_host..x:443", "400", "no name")):
        got = call(m, "net__tunnel", target=target, text="x")
        t.equal(status(got), want, f"{why}: {want}")
    t.contains(got.get("head", ""), "Do not retry", "which says whether to")
    got = call(m, "net__tunnel", target=f"127.0.0.2:{far.port}", text="x")
    t.contains(got["head"], ours, "a refusal names what is allowed")
    t.contains(got["head"], "allowedDomains", "and where more is")
    t.equal(other.got, [], "nothing reached the other port")
    t.equal(call(m, "net__many", target=ours, count=60), {"good": 60},
            "60 tunnels at once")
    got = call(m, "net__tunnel", target=ours, text="after")
    t.equal(got.get("body"), "AFTER", "and one after them")
    got = call(m, "shut__tunnel", target=f"localhost:{far.port}", text="x")
    t.equal(status(got), "502", "a name that leads to a private address")
    t.contains(got["head"], "not allowed", "which says so")


def test_first(s, m, secure, plain, first):
    """A tunnel is for TLS with the host that its CONNECT named."""
    def ends(port):
        made = {e["connection"] for e in s.events("connect")
                if e["port"] == port and e["serverName"] == "net"}
        return [e.get("error", "") for e in s.events("connectEnd")
                if e["connection"] in made and e["serverName"] == "net"]

    for host, name, why in (
            ("localhost", "localhost", "the name of the CONNECT"),
            ("localhost", "LocalHost", "in another spelling"),
            ("localhost", "other.localhost", "another allowed name"),
            ("127.0.0.1", "", "no name, for an address")):
        got = call(m, "net__tls", target=f"{host}:{secure.port}", name=name,
                   text="hello")
        t.equal(got.get("body"), "HELLO", f"{why}: it passes")
    names = list(secure.names)
    for name, why in (("evil.example", "another name"),
                      ("denied.localhost", "a denied name"),
                      ("", "no name, for a name")):
        got = call(m, "net__tls", target=f"localhost:{secure.port}",
                   name=name, text="x")
        t.contains(got.get("exception", ""), "SSL", f"{why}: TLS fails")
    t.equal(secure.names, names, "the far side saw none of these")
    found = h.wait_for(lambda: (lambda x: x if len(x) == 7 else None)(
        ends(secure.port)), "seven ends of connections")
    t.ok(any("evil.example" in x and f"localhost:{secure.port}" in x
             for x in found), "the log has both names", found)
    got = call(m, "net__tunnel", target=f"localhost:{plain.port}",
               text="GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    t.ok(got.get("body", "").startswith("HTTP/1.1 403") and
         '"opaque": true' in got["body"], "HTTP is told what to write", got)
    got = call(m, "net__tunnel", target=f"localhost:{plain.port}",
               text="SELECT 1")
    t.equal(got.get("body"), "", "another protocol is closed")
    h.wait_for(lambda: len(plain.got) == 2, "two closed connections")
    t.equal(plain.got, [b"", b""], "and nothing of it reached the host")
    got = call(m, "net__tunnel", target=f"localhost:{first}", text="")
    t.ok("SSH" not in str(got), "a host that speaks first is not heard", got)
    # The client says that it will send nothing: either may be seen first.
    t.ok(all('"opaque": true' in x or (port == first and "it closed" in x)
             for port in (plain.port, first) for x in ends(port)),
         "the log says what to write", (ends(plain.port), ends(first)))
    alarms = [e["kind"] for e in s.events("alarm")]
    t.equal(sorted(alarms), ["not-tls", "tunnel-name"],
            "the person is told once of each")


def test_retry(s, m, again, demanding):
    """A second ClientHello names an allowed host, too."""
    got = call(m, "net__tls", target=f"localhost:{demanding.port}",
               name="localhost", text="hello")
    t.equal(got.get("body"), "HELLO", "a real HelloRetryRequest is answered")
    for second in ("evil.example", "denied.localhost", "other.localhost"):
        got = call(m, "net__retry", target=f"localhost:{again.port}",
                   names=f"localhost {second}")
        t.equal("15030300020270" in got.get("body", ""),
                second != "other.localhost",
                f"a second ClientHello for {second} is judged")
    h.wait_for(lambda: len(again.got) == 3, "three ends at the host")
    t.equal([b"localhost" in x or b"example" in x for x in again.got],
            [False, False, True], "the host gets the last one alone")
    t.ok(any("in a second ClientHello" in e.get("error", "")
             for e in s.events("connectEnd")), "the log says which")


def test_raw(m, far):
    def bad(data, want, why):
        got = call(m, "net__raw", bytes=base64.b64encode(data).decode())
        t.equal(status(got), want, f"{why}: {want}")

    connect = f"CONNECT 127.0.0.1:{far.port} HTTP/1.1\r\n".encode()
    host = f"Host: 127.0.0.1:{far.port}\r\n".encode()
    n = len(far.got)
    bad(b"GET http://127.0.0.1/ HTTP/1.1\r\nHost: x\r\n\r\n", "403", "a GET")
    bad(connect + host + b"\r\nearly", "400", "bytes before the answer")
    bad(connect + host + b"Content-Length: 1\r\n\r\n", "400", "a body")
    bad(b"\x16\x03\x01junk\r\n\r\n", "400", "no HTTP")
    bad(connect + b"X: " + b"y" * 9000, "431", "a large head")
    t.equal(len(far.got), n, "none of them reached the far side")


def test_no_other_way(s, m, far):
    for kind, address, port, why in (
            ("tcp", "127.0.0.1", far.port, "the host's loopback"),
            ("tcp", "192.0.2.1", 443, "an address outside"),
            ("udp", "192.0.2.1", 53, "a name server"),
            ("name", "example.org", 0, "a name"),
            ("unix", os.path.join(s.dir, "control.sock"), 0, "control.sock"),
            ("unix", s.ready["sockets"]["mcp"], 0, "the agent's socket"),
            ("unix", "@ic-test-abstract", 0, "an abstract socket")):
        got = call(m, "net__direct", kind=kind, address=address, port=port)
        t.ok("error" in got, f"without the proxy: {why} cannot be reached",
             got)


def test_log(s, far):
    made = [e for e in s.events("connect") if e["serverName"] == "net"]
    ended = {e["connection"]: e for e in s.events("connectEnd")
             if e["serverName"] == "net"}
    t.equal([(e["host"], e["port"]) for e in made[:3]],
            [("127.0.0.1", far.port)] * 2 + [("localhost", far.port)],
            "each connection is in the log")
    first = ended[made[0]["connection"]]
    t.equal((first["sent"], first["received"], "error" in first),
            (5, 5, False), "with its bytes")
    t.equal(len(made), len(ended), "each has its end")
    t.ok(all(e["mono"] <= ended[e["connection"]]["mono"] for e in made),
         "after its beginning")
    denied = s.events("connectDenied")
    t.ok({"host", "method"} <= {e["code"] for e in denied} and
         any(e["target"] == f"127.0.0.2:{far.port}" for e in denied),
         "so is what was refused")
    failed = [e for e in s.events("connectEnd") if e["serverName"] == "shut"]
    t.contains(failed[0].get("error", ""), "not allowed",
               "and what could not be made, with why")


def main(work):
    far, other, plain = Far(), Far(), Far()
    secure, first = Secure(work), speaks_first()
    again, demanding = Retry(), Secure(work)
    demanding.context.minimum_version = ssl.TLSVersion.TLSv1_3
    demanding.context.set_ecdh_curve("secp384r1")
    abstract = socket.socket(socket.AF_UNIX)
    abstract.bind("\0ic-test-abstract")
    abstract.listen()
    servers = {
        "net": server({"allowPrivate": True, "allowedDomains": [
            *({"host": f"{x}:{far.port}", "opaque": True}
              for x in ("127.0.0.1", "localhost", "*.localhost")),
            *(f"{x}:{port}" for x in ("127.0.0.1", "localhost",
                                      "other.localhost")
              for port in (secure.port, plain.port, first, again.port,
                           demanding.port))],
            "deniedDomains": ["denied.localhost"]}),
        "shut": server({"allowedDomains": [f"localhost:{far.port}"]})}
    rules = [h.rule("all", "allow", server=["net", "shut"])]
    with h.Session(work, servers, rules, TOOLS) as s:
        m = s.client()
        for name, part in (("tunnels", lambda: test_tunnels(s, m, far, other)),
                           ("first bytes", lambda: test_first(
                               s, m, secure, plain, first)),
                           ("retry", lambda: test_retry(
                               s, m, again, demanding)),
                           ("raw", lambda: test_raw(m, far)),
                           ("no other way",
                            lambda: test_no_other_way(s, m, far))):
            with t.case(name):
                part()
        pids = s.workers().get("egressd", [])
        t.equal(len(pids), 2, "one egressd for each server with network")
        m.close()
        with t.case("log"):
            test_log(s, far)
        h.kill(pids[0])
        t.equal(s.wait(), 70, "its end is the session's")
    t.contains(s.process.stderr() + s.session_log(), "egressd",
               "which says who it was")


with h.workdir() as w:
    main(w)
t.done()
