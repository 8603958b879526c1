#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Services of the host in the sandbox: reached at localhost and by name, over
IPv4 and IPv6, logged and counted; and what they must not be: a way to any other
port, for bytes that nobody limits, or to a listener that runs programs."""
import json
import os
import socket
import socketserver
import struct
import subprocess
import sys
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402

t = h.Tap()
PAGE = 28096 # the session's own, as other sessions see it
# Runs in the sandbox; does what it is told in /workspace/do, once for each
# line, and answers in /workspace/done.N.
AGENT = r"""
import json, os, socket, sys, time
BIG = 3 << 20
def tcp(port, host="127.0.0.1"):
    c = socket.create_connection((host, port), 20)
    c.settimeout(20)
    return c
def rest(c):
    got = b""
    try:
        while True:
            b = c.recv(65536)
            if not b:
                return got
            got += b
    except ConnectionError:
        return got + b"!"
def ask(port, data, host="127.0.0.1"):
    try:
        c = tcp(port, host)
    except OSError as e:
        return type(e).__name__
    try:
        c.sendall(data)
        c.shutdown(socket.SHUT_WR)
    except OSError:
        pass
    return rest(c).decode()
def raw(data):
    c = socket.socket(socket.AF_UNIX)
    c.settimeout(20)
    c.connect("/run/ironcurtain/services.sock")
    try:
        c.sendall(data)
        c.shutdown(socket.SHUT_WR)
    except OSError:
        pass
    return rest(c).decode("latin1")
def big(port):
    c = tcp(port)
    pid = os.fork()
    if pid == 0:
        for i in range(BIG >> 16):
            c.sendall(b"x" * 65536)
        c.shutdown(socket.SHUT_WR)
        os._exit(0)
    return len(rest(c))
def part(port, n):
    c, got = tcp(port), 0
    while got < n:
        got += len(c.recv(n - got))
    c.close()
    return got
def crowd(port, n):
    all, good = [tcp(port) for i in range(n)], 0
    for c in all:
        try:
            c.sendall(b"a\n")
            good += c.recv(2) == b"A\n"
        except OSError:
            pass
    return good
def quiet(port):
    c = tcp(port)
    return c.recv(6).decode()
def env(name):
    return os.environ.get(name)
def exists(path):
    return os.path.exists(path)
done = 0
while True:
    try:
        lines = open("/workspace/do").read().splitlines()
    except OSError:
        lines = []
    for line in lines[done:]:
        what = json.loads(line)
        out = globals()[what[0]](*[a.encode("latin1") if isinstance(a, str)
            and what[0] in ("ask", "raw") and k == (what[0] == "ask") else a
            for k, a in enumerate(what[1:])])
        with open("/workspace/new", "w") as f:
            json.dump(out, f)
        done += 1
        os.rename("/workspace/new", "/workspace/done.%d" % done)
    time.sleep(0.02)
"""


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True
    request_queue_size = 256

    def __init__(self, serve, address="127.0.0.1"):
        class Handler(socketserver.BaseRequestHandler):
            def handle(self):
                try:
                    serve(self.request)
                except OSError:
                    pass
        self.address_family = (socket.AF_INET6 if ":" in address
                               else socket.AF_INET)
        super().__init__((address, 0), Handler)
        self.port = self.server_address[1]
        self.to = f"[{address}]:{self.port}" if ":" in address else \
            f"{address}:{self.port}"
        threading.Thread(target=self.serve_forever, args=(0.05,),
                         daemon=True).start()

    def close(self):
        self.shutdown()
        self.server_close()


def echo(c):
    while (b := c.recv(65536)):
        c.sendall(b.upper())


def page(c):
    c.recv(65536)
    c.sendall(b"HTTP/1.0 200 OK\r\n\r\nthe page")


def talker(c):
    c.sendall(b"hello\n")
    c.recv(1)


def resetter(c):
    c.recv(1)
    c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def endless(c):
    while True:
        c.sendall(bytes(65536))


class Box:
    """A session whose agent does what it is told."""

    def __init__(self, work, services, **config):
        self.s = h.Session(work, runtime="bwrap", options=(
            "--publish", f"127.0.0.1:{PAGE}:3000", "--agent", "command", "--", "/usr/bin/python3", "-c", AGENT),
            config={"services": services, **config})
        self.n = 0

    def do(self, *what):
        self.n += 1
        with open(os.path.join(self.s.workspace, "do"), "a",
                  encoding="ascii") as f:
            f.write(json.dumps(what) + "\n")
        path = os.path.join(self.s.workspace, f"done.{self.n}")
        h.wait_for(lambda: os.path.exists(path), f"{what} was not done")
        with open(path, encoding="utf-8") as f:
            return json.load(f)

    def status(self, name):
        status = json.loads(self.s.icctl("--json", "status",
                                         check=True).stdout)
        return next(p for p in status["services"] if p["name"] == name)


def test_reached(b, ports):
    t.equal(b.do("ask", 5432, "hi"), "HI", "a service at 127.0.0.1")
    t.equal(b.do("ask", 5432, "hi", "::1"), "HI", "the same at ::1")
    t.equal(b.do("ask", 5432, "hi", "echo"), "HI", "and by its name")
    t.contains(b.do("ask", 8080, "GET / HTTP/1.0\r\n\r\n"), "the page",
               "a page, whose port is another one here")
    t.equal(b.do("ask", 7000, "v6"), "V6", "a service at [::1] of the host")
    t.equal(b.do("quiet", 7001), "hello\n", "a service that talks first")
    t.equal(b.do("big", 5432), 3 << 20, "3 MiB both ways at once")
    t.equal(b.do("part", 7003, 2 << 20), 2 << 20,
            "one that never ends, left in the middle")
    t.ok(len(b.do("ask", 7002, "x")) <= 1, "one that resets")
    t.equal(b.do("env", "DATABASE_URL"), "postgres://app@echo:5432/shop",
            "a variable of config.json names it")
    ports["down"].close()
    t.equal(b.do("ask", 7004, "").strip("!"), "", "one that has ended: closed at once")
    t.equal(b.do("ask", 7005, "").strip("!"), "", "and so is one that never was there")


def test_attacks(b, secret):
    t.equal(b.do("raw", "\0early"), "EARLY",
            "baseline: index and early bytes on the socket")
    for index in (7, 16, 127, 128, 255):
        t.equal(b.do("raw", chr(index) + "x").strip("!"), "",
                f"index {index} reaches nothing")
    t.equal(b.do("raw", "").strip("!"), "", "nor does no index")
    t.equal(b.do("raw", "CONNECT 127.0.0.1:%d HTTP/1.1\r\n\r\n" % secret)
            .strip("!"), "", "nor does a CONNECT")
    t.equal(b.do("ask", secret, "x"), "ConnectionRefusedError",
            "a port of the host that is not listed")
    got = b.do("crowd", 5432, 150)
    t.ok(0 < got <= 64, "of 150 connections at most 64 are served", got)
    t.equal(b.do("ask", 5432, "again"), "AGAIN", "and then others")


def test_records(b, ports):
    s = b.s
    h.wait_for(lambda: any("refused" in e.get("error", "")
                           for e in s.events("connectEnd")),
               "the refused connection is not in the log")
    ends = s.events("connectEnd")
    t.ok(all("service" in e and "serverName" not in e for e in ends),
         "each record names the service")
    t.equal({(e["host"], e["port"]) for e in s.events("connect")},
            {(p.to.rsplit(":", 1)[0].strip("[]"), p.port)
             for p in ports.values()},
            "no other address was connected to")
    t.ok({"name": "echo", "port": 5432, "host": "127.0.0.1",
          "hostPort": ports["echo"].port} in
         s.events("start")[0]["detail"]["services"],
         "and the first record has the list")
    t.ok(any(e["sent"] == e["received"] == 3 << 20 for e in ends),
         "bytes are counted")
    denied = {(e["code"], e["target"]) for e in s.events("connectDenied")}
    t.ok({("index", "255"), ("index", "67"), ("off", "none")} <= denied,
         "refusals are recorded", denied)
    t.ok(("limit", "echo") in denied, "and those over the limit", denied)
    h.wait_for(lambda: b.status("echo")["connections"] >= 70 and
               b.status("echo")["open"] == 0, "status does not count them")
    h.wait_for(lambda: "Connection refused" in
               b.status("down").get("lastError", ""),
               "status does not say why one failed")
    shown = s.icctl("status").stdout
    t.contains(shown, "echo: localhost:5432 is " + ports["echo"].to +
               " (python3", "for people, too")
    t.contains(shown, "none: localhost:7005", "also the one that is off")


def test_session():
    ports = {"echo": Server(echo), "web": Server(page),
             "six": Server(echo, "::1"), "first": Server(talker),
             "resets": Server(resetter), "endless": Server(endless),
             "down": Server(echo)}
    with h.workdir() as work, t.case("session"), \
            socket.create_server(("127.0.0.1", 0)) as secret, \
            socket.socket() as none:
        none.bind(("127.0.0.1", 0))
        at = {"echo": 5432, "web": 8080, "six": 7000, "first": 7001,
              "resets": 7002, "endless": 7003, "down": 7004}
        services = {n: {"port": at[n], "to": p.to} for n, p in ports.items()}
        services["none"] = {"port": 7005,
                            "to": "127.0.0.1:%d" % none.getsockname()[1]}
        b = Box(work, services,
                env={"DATABASE_URL": "postgres://app@echo:5432/shop"})
        b.s.start()
        t.contains(b.s.process.stderr(), "the agent reaches " +
                   ports["echo"].to + " at localhost:5432, service echo",
                   "the first start says what the agent gets")
        t.contains(b.s.process.stderr(), "service none is off",
                   "and what it does not get")
        test_reached(b, ports)
        test_attacks(b, secret.getsockname()[1])
        test_records(b, ports)
        with open(os.path.join(b.s.home, "services.json"),
                  encoding="ascii") as f:
            t.equal(set(json.load(f).values()), {os.getuid()},
                    "the listeners' user is kept")
        test_refused(os.path.join(work, "others"))
        t.equal(b.s.stop(), 143, "it ends when it is asked to")
    for p in ports.values():
        p.server_close()


def refused(work, services, *words, users=None):
    s = h.Session(work, runtime="bwrap", config={"services": services},
                  options=("--agent", "command", "--", "/bin/true"))
    if users is not None:
        s.write("services.json", users)
    r = subprocess.run(s.argv, env=s.env, capture_output=True, text=True,
                       timeout=60, check=False)
    t.equal(r.returncode, 78, "refused: " + words[0])
    for w in words:
        t.contains(r.stderr, w, "and says so")


def docker(c):
    if b"_ping" in c.recv(4096):
        c.sendall(b"HTTP/1.1 200 OK\r\nApi-Version: 1.43\r\n\r\nOK")


def test_refused(work):
    """While a session runs, whose published port is no service either."""
    with t.case("refused"):
        for n, (serve, words) in enumerate((
                (docker, "API of Docker"),
                (lambda c: c.sendall(b"RFB 003.008\n"), "a screen (VNC)"))):
            p = Server(serve)
            refused(os.path.join(work, str(n)),
                    {"x": {"port": 5432, "to": p.to}},
                    "services.x: " + p.to, words)
            p.close()
        p = Server(echo)
        refused(os.path.join(work, "user"),
                {"x": {"port": 5432, "to": p.to}},
                "at the first start it was user", "services.json",
                users={p.to: os.getuid() + 1})
        p.close()
        refused(os.path.join(work, "ours"),
                {"x": {"port": 5432, "to": f"127.0.0.1:{PAGE}"}},
                "another session of IronCurtain")


test_session()
t.done()
