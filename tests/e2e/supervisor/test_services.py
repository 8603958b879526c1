#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Services of the host in the sandbox: reached at localhost and by name, over
IPv4 and IPv6, logged and counted; and what they must not be: a way to any other
port, for bytes that nobody limits, or to a listener that runs programs."""
import json
import os
import select
import socket
import socketserver
import struct
import sys
import threading

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "lib"))
sys.path.insert(0, HERE)
import harness as h  # noqa: E402
import out_of_box  # noqa: E402
from own_agent import Box, refused  # noqa: E402

t = h.Tap()
PAGE = 28096 # the session's own, as other sessions see it
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


def mute(c):
    """Takes a connection and reads nothing of it, until it is gone."""
    poll = select.poll()
    poll.register(c, select.POLLHUP | select.POLLERR | select.POLLRDHUP)
    poll.poll()


def endless(c):
    while True:
        c.sendall(bytes(65536))


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
    sent = b.do("fill", 7006)
    t.ok(0 < sent < 64 << 20, "one that reads nothing takes a few MB", sent)
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


def test_others(b, work):
    """Beside another session."""
    os.mkdir(work)
    with h.Session(work, {}, []) as other:
        out_of_box.check(t, b, work, other.dir)


def test_session():
    ports = {"echo": Server(echo), "web": Server(page),
             "six": Server(echo, "::1"), "first": Server(talker),
             "resets": Server(resetter), "endless": Server(endless),
             "down": Server(echo), "mute": Server(mute)}
    with h.workdir() as work, t.case("session"), \
            socket.create_server(("127.0.0.1", 0)) as secret, \
            socket.socket() as none:
        none.bind(("127.0.0.1", 0))
        at = {"echo": 5432, "web": 8080, "six": 7000, "first": 7001,
              "resets": 7002, "endless": 7003, "down": 7004,
              "mute": 7006}
        services = {n: {"port": at[n], "to": p.to} for n, p in ports.items()}
        services["none"] = {"port": 7005,
                            "to": "127.0.0.1:%d" % none.getsockname()[1]}
        b = Box(work, services, ("--publish", f"127.0.0.1:{PAGE}:3000"),
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
        test_others(b, os.path.join(work, "more"))
        test_refused(os.path.join(work, "others"))
        t.equal(b.s.stop(), 143, "it ends when it is asked to")
    for p in ports.values():
        p.server_close()


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
            refused(t, os.path.join(work, str(n)),
                    {"x": {"port": 5432, "to": p.to}},
                    "services.x: " + p.to, words)
            p.close()
        p = Server(echo)
        refused(t, os.path.join(work, "user"),
                {"x": {"port": 5432, "to": p.to}},
                "at the first start it was user", "services.json",
                users={p.to: os.getuid() + 1})
        p.close()
        refused(t, os.path.join(work, "ours"),
                {"x": {"port": 5432, "to": f"127.0.0.1:{PAGE}"}},
                "another session of IronCurtain")


test_session()
t.done()
