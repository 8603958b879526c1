#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Tests icctl and icsupervisor with faults: a stopped session, malformed
answers, too many clients, files of other kinds."""
import itertools
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402

t = h.Tap()
COMMANDS = (["status"], ["pending"], ["watch"], ["keys"], ["budget"],
            ["metrics"], ["trust"], ["show", "aaaa"], ["stop"])


def test_stopped():
    with h.workdir() as work, t.case("stopped"), h.Session(work) as s:
        h.kill(s.pid, signal.SIGSTOP)
        try:
            running = [(c, subprocess.Popen(
                [h.program("icctl"), "--session", s.dir, *c], env=s.env,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE, text=True)) for c in COMMANDS]
            for command, p in running:
                _, said = p.communicate(timeout=40)
                t.equal(p.returncode, 3, f"a stopped session: icctl "
                        f"{command[0]} ends with 3")
                t.contains(said, "does not answer", "and says why")
        finally:
            h.kill(s.pid, signal.SIGCONT)


class Fake(threading.Thread):
    """A session that gives each client one answer and closes."""

    def __init__(self, work):
        super().__init__(daemon=True)
        self.dir = os.path.join(work, "fake")
        os.mkdir(self.dir)
        with open(os.path.join(self.dir, "session.log"), "wb"):
            pass
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.bind(os.path.join(self.dir, "control.sock"))
        self.sock.listen(16)
        self.answer = b""
        self.start()

    def run(self):
        while True:
            try:
                c, _ = self.sock.accept()
            except OSError:
                return
            with c:
                try:
                    c.recv(65536)
                    c.sendall(self.answer)
                except OSError:
                    pass  # a client that only wants to know who listens


SHAPES = [1, "x", None, [1], {"a": 1}, True, [], [[]], [{"max": []}]]
NAMES = ["holds", "hold", "servers", "workers", "alarms", "budget", "counts",
         "keys", "granted", "proxy", "credentials", "tools", "instances",
         "destinations", "quarantined"]


def test_shapes():
    with h.workdir() as work, t.case("shapes"):
        fake = Fake(work)
        env = {"HOME": work, "PATH": "/usr/bin:/bin"}
        bad = []
        answers = [b"\n", b"x\n", b"[]\n", b"1\n", b"null\n", b"{}\n", b"",
                   b'{"ok":true', b"\xff\xfe\n"]
        answers += [json.dumps({"ok": True, **dict.fromkeys(names, s)})
                    .encode() + b"\n" for names, s in
                    [(NAMES, s) for s in SHAPES] +
                    [([n, "models", "limits"], s) for n, s in
                     itertools.product(NAMES, ([1], {"a": 1}))]]
        for answer in answers:
            fake.answer = answer
            running = [(c, subprocess.Popen(
                [h.program("icctl"), "--session", fake.dir, *c], env=env,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL)) for c in COMMANDS[:7]]
            for command, p in running:
                if p.wait(30) not in (0, 1, 3):
                    bad.append((command[0], answer, p.returncode))
        t.equal(bad, [], f"{len(answers)} answers of wrong shapes: no command "
                "crashes")
        for answer, want in ((b'{"ok":true,"holds":[]}\n', 3),
                             (b"nonsense\n", 3), (b"", 3),
                             (b'{"ok":true,"holds":[]}\n'
                              b'{"event":"end","why":"x"}\n', 0)):
            fake.answer = answer
            r = subprocess.run([h.program("icctl"), "--session", fake.dir,
                                "watch"], env=env, capture_output=True,
                               text=True, timeout=30, check=False)
            t.equal(r.returncode, want, f"icctl watch, of {answer[:40]}: "
                    f"{want}")
        fake.sock.close()


def test_busy():
    with h.workdir() as work, t.case("busy"), h.Session(work) as s:
        held = []
        here = os.open(s.dir, os.O_PATH)
        for _ in range(32):
            c = socket.socket(socket.AF_UNIX)
            c.connect(f"/proc/self/fd/{here}/control.sock")
            c.sendall(b'{"op":"ping"}\n')
            c.recv(4096)
            held.append(c)
        said = [s.icctl("--json", "status") for _ in range(20)]
        t.equal([json.loads(r.stdout or "{}").get("code") for r in said],
                ["busy"] * 20, "beyond 32 clients each is told busy")
        for c in held:
            c.close()
        os.close(here)


def refused(work, name, want, part, prepare=None, limit=None):
    s = h.Session(work)
    if prepare is not None:
        prepare(s)
    r = subprocess.run(s.argv, env=s.env, capture_output=True, text=True,
                       timeout=20, check=False, preexec_fn=limit)
    t.equal(r.returncode, want, f"{name}: status {want}")
    t.contains(r.stderr, part, f"{name}: the message names it")


def fifo(name):
    def prepare(s):
        os.mkdir(s.dir, 0o700)
        os.mkfifo(os.path.join(s.dir, name), 0o600)
    return prepare


def newer(s):
    s.write("pins.json", {"servers": {}, "version": 99})


def test_files():
    for name in ("audit.jsonl", "session.log"):
        with h.workdir() as work, t.case(name):
            refused(work, f"a FIFO as {name}", 78,
                    f"{name}: not a plain file", fifo(name))
    with h.workdir() as work, t.case("pins"):
        refused(work, "pins of a newer version", 78, "newer IronCurtain",
                newer)
    with h.workdir() as work, t.case("loop"):
        s = h.Session(work)
        os.mkdir(os.path.join(s.home, "run"), 0o700)
        os.symlink("loop", os.path.join(s.home, "run", "loop"))
        s.start()
        t.equal(s.stop(), 0, "a link in run/ that leads to itself is no "
                "hindrance")
    with h.workdir() as work, t.case("no room"):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        refused(work, "a file that cannot grow", 71, "File too large",
                limit=limit)


def main():
    test_stopped()
    test_shapes()
    test_busy()
    test_files()
    t.done()


if __name__ == "__main__":
    main()
