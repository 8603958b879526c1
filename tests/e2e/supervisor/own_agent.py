# SPDX-License-Identifier: ISC
"""A session whose agent does what a test of services tells it."""
import json
import os
import subprocess

import harness as h
import out_of_box

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
def fill(port):
    c, sent = tcp(port), 0
    c.settimeout(2)
    try:
        while sent < 1 << 30:
            sent += c.send(bytes(1 << 16))
    except OSError:
        pass
    c.close()
    return sent
def quiet(port):
    c = tcp(port)
    return c.recv(6).decode()
def env(name):
    return os.environ.get(name)
def exists(path):
    return os.path.exists(path)
""" + out_of_box.AGENT + r"""
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


class Box:
    """A session whose agent does what it is told."""

    def __init__(self, work, services, options=(), runtime="bwrap", **config):
        self.s = h.Session(work, runtime=runtime, options=(
            *options, "--agent", "command", "--", "/usr/bin/python3", "-c",
            AGENT), config={"services": services, **config})
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


def refused(t, work, services, *words, users=None, status=78):
    s = h.Session(work, runtime="bwrap", config={"services": services},
                  options=("--agent", "command", "--", "/bin/true"))
    if users is not None:
        s.write("services.json", users)
    r = subprocess.run(s.argv, env=s.env, capture_output=True, text=True,
                       timeout=60, check=False)
    t.equal(r.returncode, status, "refused: " + words[0])
    for w in words:
        t.contains(r.stderr, w, "and says so")
