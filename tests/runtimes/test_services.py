#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Services of the session's own in containers of one real engine, which
IC_RUNTIME names, beside one that is a program of this machine: reached from the
agent's container, without a network, limited, and gone when the session is,
after kill -9 of icsupervisor as well."""
import json
import os
import signal
import socket
import subprocess
import sys
import threading

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
sys.path.insert(0, os.path.join(HERE, "..", "e2e", "supervisor"))
import harness as h  # noqa: E402
import out_of_box  # noqa: E402
import own_agent  # noqa: E402

NAME, IMAGE = os.environ["IC_RUNTIME"], os.environ["IC_IMAGE"]
ENV = json.loads(os.environ["IC_ENGINE_ENV"])
CLIENT = "/usr/bin/" + NAME
PYTHON = "/usr/bin/python3"
GONE = 5
t = h.Tap()

# Says in which sandbox it runs, and what it can do there.
TELL = r"""
import json, os, socket
def writes(path):
    try:
        open(path, "w").close()
        return True
    except OSError:
        return False
def full(path):
    n = 0
    try:
        with open(path, "wb") as f:
            while n < 400:
                f.write(bytes(1 << 20))
                n += 1
    except OSError:
        pass
    os.unlink(path)
    return n
def capabilities():
    for line in open("/proc/self/status"):
        if line.startswith("CapBnd"):
            return int(line.split()[1], 16)
tell = {"uid": os.getuid(), "first": open("/proc/1/comm").read().strip(),
        "interfaces": [l.split(":")[0].strip() for l in
                       open("/proc/net/dev").readlines()[2:]],
        "root": [p for p in ("/x", "/usr/x", "/etc/x", "/run/x", "/home/x")
                 if writes(p)],
        "rooms": [p for p in os.environ["ROOMS"].split(":") if writes(p + "/x")],
        "full": full("/tmp/full"), "capabilities": capabilities(),
        "sockets": os.listdir("/run/ironcurtain"),
        "variables": sorted(os.environ)}
s = socket.create_server(("127.0.0.1", int(os.environ["SERVICE_PORT"])))
open("/tmp/ready", "w").close()
while True:
    c, _ = s.accept()
    c.sendall(json.dumps(tell).encode())
    c.close()
"""


def client(s, *args):
    return subprocess.run([CLIENT, *args], env={**s.env, **ENV}, cwd="/",
                          capture_output=True, text=True, check=True).stdout


def image(s):
    """Returns the engine's own name of the image, a digest."""
    found = client(s, "image", "inspect", "--format", "{{.Id}}", IMAGE).strip()
    return found if ":" in found else "sha256:" + found


def running(s):
    return client(s, "ps", "--all", "--quiet", "--filter",
                  "label=ironcurtain.session=" + os.path.basename(s.dir)
                  ).split()


def own(digest):
    rooms = {"ROOMS": "/tmp:/run/postgresql:/srv/data", "PYTHONUNBUFFERED": "1"}
    return {"boxed": {"port": 7000, "image": digest, "env": rooms,
                      "tmpfs": ["/srv/data"], "command": [PYTHON, "-c", TELL],
                      "health": ["/usr/bin/test", "-e", "/tmp/ready"]},
            "plain": {"port": 7001, "command": [PYTHON, "-c", TELL],
                      "env": {"ROOMS": "/data:/tmp"}}}


def session(work):
    b = own_agent.Box(work, {}, limits={"tmpMb": 64})
    b.s.write("config.json", {**b.s.config, "services": own(image(b.s))})
    b.s.start()
    return b


def check_container(tell):
    t.equal(tell["first"], "ic-bridge", "in its container, ic-bridge is first")
    t.equal(tell["uid"], os.getuid(), "it does not run as root")
    t.equal(tell["capabilities"], 0, "without capabilities")
    t.equal(tell["interfaces"], ["lo"], "without a network")
    t.equal(tell["root"], [], "its root is read-only")
    t.equal(tell["rooms"], ["/tmp", "/run/postgresql", "/srv/data"],
            "its rooms are not")
    t.ok(tell["full"] <= 64, "which are limited", tell["full"])
    t.equal(tell["sockets"], ["service.sock"], "it sees one socket")
    t.ok(not {"HOME_OF_USER", "DOCKER_HOST", "XDG_RUNTIME_DIR"} &
         set(tell["variables"]), "and nothing of the user's environment",
         tell["variables"])


def test_session():
    with h.workdir() as work, t.case("session"):
        b = session(work)
        check_container(json.loads(b.do("ask", 7000, "", "boxed")))
        tell = json.loads(b.do("ask", 7001, "", "plain"))
        t.equal((tell["interfaces"], tell["root"], tell["rooms"]),
                (["lo"], [], ["/data", "/tmp"]),
                "a program of this machine is beside it")
        t.equal(len(running(b.s)), 2, "the agent and its service: 2 containers")
        t.equal(b.s.stop(), 143, "it ends when it is asked to")
        h.wait_for(lambda: not running(b.s), "a container is left", GONE)
        t.ok(True, "and no container is left")


def test_others():
    """Beside another session."""
    with h.workdir() as work, t.case("others"):
        b, place = session(work), os.path.join(work, "more")
        os.mkdir(place)
        with h.Session(place, {}, []) as other:
            out_of_box.check(t, b, place, other.dir)
        b.s.stop()


def test_killed():
    with h.workdir() as work, t.case("killed"):
        b = session(work)
        t.contains(b.do("ask", 7000, "", "boxed"), "ic-bridge", "baseline")
        h.kill(b.s.process.p.pid, signal.SIGKILL)
        b.s.wait()
        h.wait_for(lambda: not running(b.s), "a container is left", GONE)
        t.ok(True, "nor is one after kill -9")


def test_tcp():
    """Over TCP, those that are no image."""
    with h.workdir() as work, t.case("tcp"), \
            socket.create_server(("127.0.0.1", 0)) as host:
        threading.Thread(target=answer, args=(host,), daemon=True).start()
        b = own_agent.Box(work, {
            "plain": own("")["plain"],
            "host": {"port": 7002,
                     "to": "127.0.0.1:%d" % host.getsockname()[1]}},
            ("--transport", "tcp"))
        b.s.start(90)
        t.contains(b.do("ask", 7001, "", "plain"), "ic-bridge",
                   "tcp: a service of the session's own")
        t.equal(b.do("ask", 7002, "hi", "host"), "HI",
                "tcp: a service of this machine")
        t.equal(b.do("crowd", 7002, 30), 30, "tcp: 30 connections at once")
        for index in (2, 128):
            t.equal(b.do("raw", chr(index) + "x").strip("!"), "",
                    f"tcp: index {index} reaches nothing")
        t.equal(b.s.stop(), 143, "tcp: it ends")


def answer(listener):
    def serve(c):
        with c:
            while (got := c.recv(65536)):
                c.sendall(got.upper())
    while True:
        try:
            c, _ = listener.accept()
        except OSError:
            return
        threading.Thread(target=serve, args=(c,), daemon=True).start()


def test_missing():
    with h.workdir() as work, t.case("missing"):
        own_agent.refused(t, work, {"x": {
            "port": 7000, "image": "nothing@sha256:" + "a" * 64}},
            f"run {NAME} pull nothing@sha256:aaa")


test_session()
test_others()
test_killed()
test_missing()
if NAME == "docker":
    test_tcp()
t.done()
