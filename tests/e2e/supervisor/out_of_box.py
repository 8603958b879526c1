# SPDX-License-Identifier: ISC
"""Hundreds of attempts of an agent to reach what its session does not list: ports
of the host, its sockets, another session, and private addresses; directly and
through the proxy."""
import os
import re
import socket
import subprocess
import threading

import harness as h

# Runs in the sandbox, with own_agent.AGENT.
AGENT = r"""
import urllib.parse
def listens():
    ports = set()
    for name in ("tcp", "tcp6"):
        try:
            lines = open("/proc/net/" + name).readlines()[1:]
        except OSError:
            continue
        ports |= {int(l.split()[1].rsplit(":", 1)[1], 16) for l in lines
                  if l.split()[3] == "0A"}
    return sorted(ports)
def attempt(kind, host, port):
    if kind == "tcp":
        socket.create_connection((host, port), 0.3).close()
        return True
    if kind == "udp":
        c = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET,
                          socket.SOCK_DGRAM)
        c.settimeout(0.1)
        c.sendto(b"x", (host, port))
        return c.recv(10) != b""
    if kind == "unix":
        c = socket.socket(socket.AF_UNIX)
        c.connect(host)
        return True
    proxy = urllib.parse.urlsplit(os.environ["HTTPS_PROXY"])
    c = tcp(proxy.port, proxy.hostname)
    at = "[%s]" % host if ":" in host else host
    c.sendall(b"CONNECT %s:%d HTTP/1.1\r\nHost: x\r\n\r\n" % (at.encode(), port))
    return c.recv(99).split(b"\r\n")[0].split()[1:2] == [b"200"]
def reach(rows):
    found = []
    for row in rows:
        try:
            if attempt(*row):
                found.append(row)
        except (OSError, ValueError):
            pass
    return found
"""
PRIVATE = ("10.0.0.1", "10.0.2.2", "100.64.0.1", "127.0.0.2", "127.1.2.3",
           "169.254.169.254", "172.17.0.1", "172.18.0.1", "192.168.0.1",
           "192.168.1.1", "0.0.0.0", "::1", "::", "::ffff:127.0.0.1",
           "::ffff:10.0.0.1", "fd00::1", "fe80::1", "fd00:ec2::254",
           "host.docker.internal", "host.containers.internal", "localhost",
           "metadata.google.internal", "2130706433", "0x7f000001", "127.1")
COMMON = (22, 80, 443, 2375, 3306, 5432, 6379)


class Canaries:
    """Listens on this machine, in each way. Counts who comes."""

    def __init__(self, work):
        self.came = []
        self.ports = []
        self.sockets = []
        self.path = os.path.join(work, "canary.sock")
        for family, address in (
                (socket.AF_INET, ("127.0.0.1", 0)), (socket.AF_INET, ("", 0)),
                (socket.AF_INET6, ("::1", 0)), (socket.AF_UNIX, self.path),
                (socket.AF_UNIX, f"\0canary-{os.getpid()}")):
            s = socket.socket(family)
            s.bind(address)
            s.listen(64)
            self.add(s, self.accept)
            if family != socket.AF_UNIX:
                self.ports.append(s.getsockname()[1])
        self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.udp.bind(("127.0.0.1", 0))
        self.add(self.udp, self.answer)

    def add(self, s, serve):
        self.sockets.append(s)
        threading.Thread(target=serve, args=(s,), daemon=True).start()

    def accept(self, s):
        while True:
            try:
                s.accept()[0].close()
            except OSError:
                return
            self.came.append(s.getsockname())

    def answer(self, s):
        while True:
            try:
                _, who = s.recvfrom(10)
                s.sendto(b"here", who)
            except OSError:
                return
            self.came.append(s.getsockname())

    def rows(self):
        port = self.udp.getsockname()[1]
        return [("udp", "127.0.0.1", port), ("unix", self.path, 0),
                ("unix", f"\0canary-{os.getpid()}", 0)]

    def close(self):
        for s in self.sockets:
            s.close()


def listening():
    """Ports of this machine where something listens."""
    ports = set()
    for name in ("tcp", "tcp6"):
        with open("/proc/net/" + name, encoding="ascii") as f:
            for words in map(str.split, f.readlines()[1:]):
                if words[3] == "0A":
                    ports.add(int(words[1].rsplit(":", 1)[1], 16))
    return ports


def addresses():
    """The machine's own."""
    out = subprocess.run(["hostname", "-I"], capture_output=True, text=True,
                         check=False).stdout
    return out.split()


def sockets():
    """Unix sockets of this machine, of both kinds."""
    with open("/proc/net/unix", encoding="utf-8", errors="replace") as f:
        names = re.findall(r" ([/@][ -~]+)$", f.read(), re.M)
    return [("unix", "\0" + n[1:] if n[0] == "@" else n, 0)
            for n in sorted(set(names))[:40]]


def attempts(b, canaries, other):
    """Returns them all. `other` is the directory of another session."""
    ours = set(b.do("listens"))
    ports = sorted((listening() | set(canaries.ports) | set(COMMON)) - ours)
    near = ["127.0.0.1", "::1", *addresses()]
    rows = [("tcp", a, p) for a in near for p in ports]
    rows += [("tcp", a, p) for a in PRIVATE for p in canaries.ports + [80, 443]]
    rows += [("connect", a, p) for a in [*near, *PRIVATE]
             for p in (canaries.ports[0], 80, 443)]
    rows += [("udp", a, p) for a in near[1:] + list(PRIVATE) for p in (53, 123)]
    rows += [("unix", os.path.join(other, n), 0) for n in (
        "control.sock", "sockets/proxy.sock", "sockets/mitm-proxy.sock",
        "sockets/services.sock")]
    return rows + canaries.rows() + sockets()


def check(t, b, work, other):
    """Nothing of it is reached, and no canary has seen anybody."""
    canaries = Canaries(work)
    try:
        with socket.create_connection(("127.0.0.1", canaries.ports[0])):
            h.wait_for(lambda: canaries.came, "the canary sees nobody")
        canaries.came.clear()
        listed = ("tcp", "127.0.0.1", b.do("listens")[0])
        t.equal(b.do("reach", [listed]), [list(listed)],
                "baseline: what listens in the sandbox is reached")
        rows = attempts(b, canaries, other)
        t.ok(len(rows) >= 300, "300 attempts and more", len(rows))
        t.equal(b.do("reach", rows), [],
                "no other port, session or private address is reached")
        t.equal(canaries.came, [], "and nobody came to the host's listeners")
    finally:
        canaries.close()
