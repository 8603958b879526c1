#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Services of the session's own, as programs of this machine in sandboxes:
reached at localhost and by name, and by nothing else; they reach nothing; they
are limited, and gone when the session is, however it ends."""
import json
import os
import signal
import socket
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "lib"))
sys.path.insert(0, HERE)
import harness as h  # noqa: E402
import own_agent  # noqa: E402

t = h.Tap()
GONE = 5
PYTHON = "/usr/bin/python3"

# Answers in upper case, and says who it is.
ECHO = r"""
import os, socketserver
class Echo(socketserver.BaseRequestHandler):
    def handle(self):
        self.request.sendall(os.environ.get("NAME", "").encode())
        while (b := self.request.recv(65536)):
            self.request.sendall(b.upper())
class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True
    request_queue_size = 128
Server(("127.0.0.1", int(os.environ["SERVICE_PORT"])), Echo).serve_forever()
"""

# A service that attacks: it tells what it got to whoever connects to it.
HOSTILE = r"""
import errno, json, os, socket, sys, threading
found = {}
def tcp(host, port):
    try:
        socket.create_connection((host, port), 0.2).close()
        return True
    except OSError:
        return False
host = [int(p) for p in os.environ["PORTS"].split(",")]
found["ports"] = [p for p in host if tcp("127.0.0.1", p)]
found["addresses"] = [a for a in ("169.254.169.254", "10.0.0.1", "192.168.0.1",
    "8.8.8.8", "::ffff:127.0.0.2") if tcp(a, 80)]
found["interfaces"] = [line.split(":")[0].strip()
    for line in open("/proc/net/dev").readlines()[2:]]
found["files"] = [p for p in (os.environ["LOOK"] + ":/home/agent:/workspace:"
    "/etc/ironcurtain:/run/ironcurtain/proxy.sock:"
    "/run/ironcurtain/services.sock").split(":") if os.path.exists(p)]
found["sockets"] = sorted(os.listdir("/run/ironcurtain"))
found["root"] = []
for p in ("/x", "/usr/x", "/etc/x", "/run/x", "/opt/ironcurtain/bin/ic-bridge"):
    try:
        open(p, "ab").close()
        found["root"].append(p)
    except OSError:
        pass
try:
    os.kill(1, 9)
except OSError:
    pass
n = 0
try:
    with open("/data/full", "wb") as f:
        while n < 400:
            f.write(bytes(1 << 20))
            n += 1
except OSError as e:
    found["full"] = errno.errorcode[e.errno]
found["filled"] = n
pids = []
try:
    while len(pids) < 400:
        pid = os.fork()
        if pid == 0:
            import time
            time.sleep(600)
        pids.append(pid)
except OSError:
    pass
found["forks"] = len(pids)
for p in pids:
    os.kill(p, 9)
    os.waitpid(p, 0)
# Its own connections to dialerd, which say something too early, or nothing.
kept = []
for i in range(300):
    c = socket.socket(socket.AF_UNIX)
    c.setblocking(False)
    try:
        c.connect("/run/ironcurtain/service.sock")
        c.sendall(b"\1" * (i % 7))
    except OSError:
        pass
    if i % 3:
        c.close()
    else:
        kept.append(c)
found["kept"] = len(kept)
for c in kept:
    c.close()
s = socket.create_server(("127.0.0.1", int(os.environ["SERVICE_PORT"])))
while True:
    c, _ = s.accept()
    c.sendall(json.dumps(found).encode())
    c.close()
"""

# Ends at once.
BRIEF = "import sys; print('cannot go on'); sys.exit(3)"


def service(port, text, **env):
    return {"port": port, "command": [PYTHON, "-c", text],
            "env": {"PYTHONUNBUFFERED": "1", **env}}


def processes(mark):
    """Returns the processes with this text in their environment or words."""
    found = []
    for pid in os.listdir("/proc"):
        if not pid.isdigit() or int(pid) == os.getpid():
            continue
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                if mark.encode() in f.read():
                    found.append(int(pid))
        except OSError:
            pass
    return found


def gone(mark, what):
    h.wait_for(lambda: not processes(mark), f"{what}: the service still runs",
               GONE)
    t.ok(True, what)


def test_reached(b):
    t.equal(b.do("ask", 7000, "hi"), "one HI", "a service at localhost")
    t.equal(b.do("ask", 7000, "hi", "::1"), "one HI", "and over IPv6")
    t.equal(b.do("ask", 7000, "hi", "first"), "one HI", "and by its name")
    t.equal(b.do("ask", 7001, "hi", "second"), "HI", "another one")
    t.equal(b.do("big", 7000), (3 << 20) + 4, "3 MiB both ways at once")
    t.equal(b.do("crowd", 7001, 40), 40, "40 connections at once")
    t.equal(b.do("ask", 7002, "").strip("!"), "", "one that has ended")
    h.wait_for(lambda: "has ended" in b.status("brief").get("lastError", ""),
               "status does not say so")
    t.ok(True, "status says so")
    with open(os.path.join(b.s.dir, "services.log"), encoding="ascii") as f:
        log = f.read()
    t.contains(log, "brief: cannot go on\nbrief: (ended)\n",
               "and services.log says what it wrote")
    t.contains(b.s.icctl("status").stdout, "first: localhost:7000 is its own "
               "sandbox", "status shows them")


def test_hostile(b, ports):
    got = json.loads(b.do("ask", 7003, ""))
    t.equal(got["ports"], [], f"{len(ports)} ports of the host are not reached")
    t.equal(got["addresses"], [], "nor is any other address")
    t.equal(got["interfaces"], ["lo"], "it has no interface")
    t.equal(got["files"], [], "it sees nothing of the user or the session")
    t.equal(got["sockets"], ["service.sock"], "and one socket")
    t.equal(got["root"], [], "it writes nowhere else")
    t.equal(got.get("full"), "ENOSPC", "its memory for files is limited")
    t.ok(got["filled"] <= 64, "to tmpMb", got["filled"])
    t.ok(got["forks"] < 200, "its processes are limited", got["forks"])
    t.equal(b.do("ask", 7000, "hi"), "one HI",
            "another service is not disturbed by what it does to dialerd")
    for index in (4, 5, 16, 128, 255):
        t.equal(b.do("raw", chr(index) + "x").strip("!"), "",
                f"index {index} reaches nothing")


def test_records(b):
    ends = b.s.events("connectEnd")
    t.ok(any(e["service"] == "first" and e["sent"] == 3 << 20 for e in ends),
         "bytes are counted", ends)
    t.equal({(e["host"], e["port"], e["service"])
             for e in b.s.events("connect")},
            {("first", 7000, "first"), ("second", 7001, "second"),
             ("brief", 7002, "brief"), ("hostile", 7003, "hostile")},
            "the records name them")


def listening():
    """Ports of this machine where something listens, and others."""
    ports = set()
    with open("/proc/net/tcp", encoding="ascii") as f:
        for line in f.readlines()[1:]:
            word = line.split()
            if word[3] == "0A":
                ports.add(int(word[1].rsplit(":", 1)[1], 16))
    for p in range(1, 2000):
        if len(ports) >= 300:
            break
        ports.add(p)
    return sorted(ports)


def services(mark, ports, look):
    return {"first": service(7000, ECHO, NAME="one ") |
            {"command": [PYTHON, "-c", ECHO, mark]},
            "second": service(7001, ECHO),
            "brief": service(7002, BRIEF),
            "hostile": service(7003, HOSTILE, LOOK=look,
                               PORTS=",".join(map(str, ports)))}


def test_session():
    mark, ports = f"own-{os.getpid()}-a", listening()
    with h.workdir() as work, t.case("session"):
        b = own_agent.Box(work, services(mark, ports, work),
                          limits={"tmpMb": 64, "processes": 150})
        b.s.start()
        try:
            t.ok(processes(mark), "baseline: the service runs")
            test_reached(b)
            test_hostile(b, ports)
            test_records(b)
        except BaseException:
            b.s.stop()
            raise
        t.equal(b.s.stop(), 143, "it ends when it is asked to")
        gone(mark, "with the session its services end")


def test_killed():
    mark = f"own-{os.getpid()}-b"
    with h.workdir() as work, t.case("killed"):
        b = own_agent.Box(work, {"first": service(7000, ECHO, NAME="one ") |
                                 {"command": [PYTHON, "-c", ECHO, mark]}})
        b.s.start()
        t.equal(b.do("ask", 7000, "hi"), "one HI", "baseline: it is reached")
        h.kill(b.s.process.p.pid, signal.SIGKILL)
        b.s.wait()
        gone(mark, "after kill -9 of icsupervisor, too")


def test_given_up():
    """The host gives connections up while a service does not listen yet. Then
    the end of the session is noticed all the same."""
    with h.workdir() as work, t.case("given up"):
        path = os.path.join(work, "service.sock")
        door = socket.socket(socket.AF_UNIX)
        door.bind(path)
        door.listen(16)
        door.settimeout(10)
        p = subprocess.Popen([h.program("ic-bridge"), "serve", "--publish",
                              "1", path, "--", "/bin/sleep", "600"],
                             stdout=subprocess.DEVNULL, start_new_session=True)
        try:
            for _ in range(200):
                c, _ = door.accept()
                c.sendall(b"\0")
                c.close()
            t.ok(True, "200 are given up, one after the other")
            door.close()
            t.ok(p.wait(GONE) != 0, "it ends when nobody takes connections")
        except (OSError, subprocess.TimeoutExpired) as e:
            t.ok(False, "it notices what is given up, and the end", repr(e))
        finally:
            door.close()
            os.killpg(p.pid, signal.SIGKILL)
            p.wait()


def test_refused():
    with h.workdir() as work, t.case("refused"):
        own_agent.refused(t, os.path.join(work, "image"),
            {"x": {"port": 5432, "image": "p@sha256:" + "a" * 64}},
            "services.x: an image needs --runtime docker or podman")


test_session()
test_killed()
test_given_up()
test_refused()
t.done()
