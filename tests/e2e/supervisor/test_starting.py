#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Tests a session that is still starting: every operation of the control
socket is requested repeatedly from before the socket exists until the session
is ready, and the session starts all the same, with a log. If it is told to
stop meanwhile, it ends as it does later."""
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402

t = h.Tap()
OPS = [
    {"op": "ping"}, {"op": "status"}, {"op": "pending"},
    {"op": "show", "id": "aaaa"},
    {"op": "approve", "id": "aaaa", "digest": "0" * 64},
    {"op": "deny", "id": "aaaa", "digest": "0" * 64}, {"op": "watch"},
    {"op": "budget"},
    {"op": "budget-set", "key": "maxSteps", "value": "1000"},
    {"op": "keys"}, {"op": "keys-reload", "id": "anthropic"},
    {"op": "metrics"}, {"op": "reload"}, {"op": "tools"},
    {"op": "trust", "server": "echo", "tool": "echo"}, {"op": "unlock"},
]


def build(work, provider=None, **kw):
    log = os.path.join(work, "log-echo", "log.jsonl")
    return h.Session(work, {"echo": h.echo_server(log)},
                     [h.rule("echo", "allow", tool=["echo"])],
                     {"echo": h.ECHO_TOOLS}, provider=provider, **kw)


class Client:
    """A connection to control.sock; waits for the socket to exist."""

    def __init__(self, s, end):
        self.dir = os.open(s.dir, os.O_PATH)
        while True:
            self.sock = socket.socket(socket.AF_UNIX)
            self.sock.settimeout(30)
            try:
                self.sock.connect(f"/proc/self/fd/{self.dir}/control.sock")
                break
            except (FileNotFoundError, ConnectionRefusedError):
                self.sock.close()
                if time.monotonic() > end:
                    raise
        self.file = self.sock.makefile("rb")

    def ask(self, request):
        self.sock.sendall(json.dumps(request).encode() + b"\n")
        return json.loads(self.file.readline())

    def close(self):
        self.file.close()
        self.sock.close()
        os.close(self.dir)


def slow_start(work, provider=None):
    """Returns a session that waits for a credential command as long as
    necessary."""
    held = os.path.join(work, "held")
    os.mkfifo(held)
    return held, build(work, provider, config={
        "credentials": {"anthropic": {"command": ["/bin/cat", held]}}})


def hammer(s, request, met, last):
    """Repeats the request until the answer is that of a started session; adds
    earlier answers to `met`."""
    try:
        client = Client(s, time.monotonic() + 30)
        while True:
            reply = client.ask(request)
            met.setdefault(request["op"], reply)
            if request["op"] == "ping":
                reply = client.ask({"op": "pending"})
            if reply.get("code") != "starting":
                break
        last[request["op"]] = reply
        client.close()
    except (OSError, ValueError) as e:
        last[request["op"]] = met[request["op"]] = repr(e)


def test_hammer(provider):
    with h.workdir() as work, t.case("hammer"):
        held, s = slow_start(work, provider)
        os.mkdir(s.dir, 0o700)
        met, last = {}, {}
        threads = [threading.Thread(target=hammer, args=(s, r, met, last))
                   for r in OPS]
        for th in threads:
            th.start()

        def release():
            """Lets the session start once each operation was requested."""
            h.wait_for(lambda: len(met) == len(OPS), "not all were asked")
            with open(held, "w", encoding="ascii") as f:
                f.write(h.ANTHROPIC_KEY + "\n")
        gate = threading.Thread(target=release)
        gate.start()
        try:
            s.start()
        finally:
            for th in [*threads, gate]:
                th.join()
        t.equal({k: v for k, v in met.items() if isinstance(v, str)}, {},
                "no connection was broken off")
        t.equal({k: v.get("code") for k, v in met.items()},
                {r["op"]: None if r["op"] == "ping" else "starting"
                 for r in OPS}, "all but ping are told that it is starting")
        t.equal([k for k, v in last.items() if v.get("code") == "starting"],
                [], "each is answered once the session has started")
        t.equal(s.client().call("echo__echo", {"text": "x"})
                .get("isError"), None, "a call goes through")
        t.equal([e["event"] for e in s.audit()][0], "start",
                "the log begins with its first record")
        t.equal(s.stop(), 0, "and it ends as asked")


def test_answers():
    with h.workdir() as work, t.case("icctl meanwhile"):
        held, s = slow_start(work)
        with open(os.path.join(work, "stderr"), "wb") as err:
            p = subprocess.Popen(s.argv, env=s.env, stderr=err,
                                 stdout=subprocess.DEVNULL)
        h.wait_for(lambda: os.path.exists(f"{s.dir}/control.sock"),
                   "control.sock")
        for command in (["status"], ["keys"], ["budget", "set", "maxSteps",
                                               "7"], ["pending"], ["watch"]):
            r = s.icctl(*command)
            t.equal(r.returncode, 3, f"icctl {command[0]} ends with 3")
            t.contains(r.stderr, "still starting",
                       f"icctl {command[0]} says why")
        with open(held, "w", encoding="ascii") as f:
            f.write(h.ANTHROPIC_KEY + "\n")
        h.wait_for(lambda: s.icctl("status").returncode == 0, "the session")
        t.equal(s.icctl("stop").returncode, 0, "then it is there")
        t.equal(p.wait(10), 0, "and ends with 0")


def test_stop():
    for how in ("icctl stop", "SIGTERM", "SIGINT", "SIGHUP"):
        with h.workdir() as work, t.case(f"{how} at the start"):
            _, s = slow_start(work)
            with open(os.path.join(work, "stderr"), "wb") as err:
                p = subprocess.Popen(s.argv, env=s.env, stderr=err,
                                     stdout=subprocess.DEVNULL)
            h.wait_for(lambda s=s: os.path.exists(f"{s.dir}/control.sock"),
                       "control.sock")
            if how == "icctl stop":
                t.equal(s.icctl("stop").returncode, 0, "icctl stop is taken")
            else:
                h.kill(p.pid, getattr(signal, how))
            t.equal(p.wait(20), 0, f"{how} at the start: exit status 0")
            t.equal(os.listdir(os.path.join(s.home, "run")), [],
                    f"{how} at the start: no link is left")


def main():
    with h.workdir() as outer:
        provider = h.Provider(outer)
        test_hammer(provider)
        test_answers()
        test_stop()
        provider.end()
    t.done()


if __name__ == "__main__":
    main()
