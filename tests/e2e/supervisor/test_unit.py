#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""icctl start --systemd, and icsupervisor as a unit, with a stand-in for
systemctl: its command lines, how the start and its keys are handed over, what is
refused, the watchdog, and a session that is started again.  ./dev test systemd
tests the same under a real manager."""
import array
import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402

t = h.Tap()
AGENT = """#!/bin/sh
printf 'before: %s\\n' "$(cat ~/told 2>/dev/null | tr '\\n' ' ')"
cat >>~/told
"""
ADAPTER = {"name": "echo", "program": ["echoing"], "providers": ["anthropic"],
           "turn": [], "state": ["told"]}


class Units:
    """A user with a stand-in for a manager."""

    def __init__(self, work, **setting):
        self.s = h.Session(work)
        self.tools = os.path.join(work, "tools")
        os.makedirs(self.tools)
        shutil.copy(os.path.join(h.STANDINS, "systemctl.py"),
                    os.path.join(self.tools, "systemctl"))
        h.put(os.path.join(self.tools, "echoing"), AGENT, 0o755)
        self.s.write("agents/echo.json", ADAPTER)
        self.manager = {"PATH": "/usr/bin:/bin", "HOME": self.s.user_home,
                        "IRONCURTAIN_HOME": self.s.home}
        self.set(**setting)
        self.s.env["PATH"] = self.tools + ":/usr/bin:/bin"

    def set(self, **setting):
        h.put(os.path.join(self.s.user_home, "systemctl.json"), json.dumps(
            {"program": h.program("icsupervisor"), "env": self.manager,
             **setting}))

    def icctl(self, *args, **kw):
        kw.setdefault("env", self.s.env)
        return subprocess.run([h.program("icctl"), *args], text=True,
                              stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=60 * h.PATIENCE, check=False, **kw)

    def start(self, *args, **kw):
        return self.icctl("--json", "start", "--systemd", "--workspace",
                          self.s.workspace, *args, **kw)

    def read(self, name):
        path = os.path.join(self.s.user_home, name)
        with open(path, encoding="utf-8", errors="replace") as f:
            return f.read()

    def calls(self):
        return h.read_lines(os.path.join(self.s.user_home, "systemctl.jsonl"))

    def sessions(self):
        path = os.path.join(self.s.home, "sessions")
        return sorted(os.listdir(path)) if os.path.isdir(path) else []

    def stop(self, told):
        self.icctl("--session", told["session"], "stop")
        h.wait_for(lambda: not os.path.exists(f"/proc/{told['pid']}/ns"),
                   "the session does not end")


class Manager:
    """A notification socket, and icsupervisor --unit NAME beside it."""

    def __init__(self, u, name, before=(), **env):
        self.path = os.path.join(u.s.work, "manager")
        if os.path.exists(self.path):
            os.unlink(self.path)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self.path)
        self.socket.settimeout(30 * h.PATIENCE)
        self.said = []
        self.p = subprocess.Popen(
            [*before, h.program("icsupervisor"), "--unit=" + name],
            env={**u.manager, "NOTIFY_SOCKET": self.path, **env},
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.p.poll() is None:
            self.p.kill()
        self.p.wait()
        self.p.stderr.close()
        self.socket.close()

    def until(self, text):
        """Receive until a message has this line."""
        while True:
            said = self.socket.recv(8192).decode().splitlines()
            self.said += said
            if text in said:
                return self.said

    def end(self):
        """Returns the exit status, the status text and what it wrote."""
        error = self.p.stderr.read()
        status = self.p.wait(60 * h.PATIENCE)
        self.socket.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            while True:
                self.said += self.socket.recv(8192).decode().splitlines()
        texts = [x[7:] for x in self.said if x.startswith("STATUS=")]
        return status, texts[-1] if texts else "", error


def everything(top):
    """Returns all bytes of all files below a directory."""
    found = b""
    for where, _, names in os.walk(top):
        for name in names:
            path = os.path.join(where, name)
            if os.path.isfile(path) and not os.path.islink(path):
                with open(path, "rb") as f:
                    found += f.read()
    return found


def test_start(work):
    u = Units(work)
    r = u.start("--agent", "echo", "--task", "first words")
    if not t.ok(r.returncode == 0, "it starts", r.stderr + u.read("journal")):
        return
    told = json.loads(r.stdout)
    name = f"icsupervisor@{told['session']}.service"
    base = ["--user", "--no-pager"]
    t.equal([c["args"] for c in u.calls()],
            [[*base, "show-environment"],
             [*base, "show", "-p", "LoadState", "--", name],
             [*base, "start", "--", name],
             [*base, "show", "-p", "MainPID", "-p", "Result", "-p",
              "ExecMainStatus", "-p", "StatusText", "--", name]],
            "the command lines of systemctl")
    with open(f"/proc/{told['pid']}/cmdline", "rb") as f:
        t.equal(f.read().split(b"\0")[1:-1],
                [b"--unit=" + told["session"].encode()],
                "nothing of the start is an argument")
    t.ok(not any(h.ANTHROPIC_KEY in json.dumps(c) for c in u.calls()),
         "systemctl gets no key")
    t.ok(h.ANTHROPIC_KEY.encode() not in everything(u.s.home)
         and h.ANTHROPIC_KEY not in u.read("journal"),
         "nor does a file or the journal")
    r = u.icctl("--json", "--session", told["session"], "keys")
    keys = json.loads(r.stdout)["keys"]
    t.ok(keys[0]["kind"] == "environment" and keys[0]["state"] == "loaded",
         "but the session has it", r.stdout)
    row = json.loads(u.icctl("ls", "--json").stdout)[0]
    t.equal((row["id"], row["pid"], row["agent"], row["workspace"]),
            (told["session"], told["pid"], "echo", u.s.workspace),
            "ls shows it, with agent and workspace")
    r = u.icctl("send", "second")
    t.ok("before: first words" in r.stdout, "the task was the first message",
         r.stdout + r.stderr)
    t.ok(not os.path.exists(os.path.join(told["dir"], "start.sock")),
         "the socket is gone")
    u.stop(told)
    row = json.loads(u.icctl("ls", "--json").stdout)
    t.ok(not any(x.get("state") == "crashed" for x in row),
         "stop ends it in order", row)
    goes_on(u, told["session"])


def goes_on(u, name):
    """The unit is started again, without icctl."""
    u.manager["PATH"] = u.s.env["PATH"]
    with Manager(u, name) as m:
        status, why, _ = m.end()
        t.ok(status == 78 and "there is no credential for anthropic" in why,
             "a shell's key is not kept for a later start", why)
    with Manager(u, name, ANTHROPIC_API_KEY=h.ANTHROPIC_KEY) as m:
        m.until("READY=1")
        h.wait_for(lambda: json.loads(u.icctl("ls", "--json").stdout)[0][
            "state"] == "ready", "it never takes messages")
        r = u.icctl("--session", name, "send", "third")
        t.ok("second" in r.stdout, "it goes on with the session",
             r.stdout + r.stderr)
        m.p.terminate()
        status, why, _ = m.end()
        t.ok(status == 143 and "SIGTERM" in why, "and says why it ends",
             (status, why))


def test_told(work):
    u = Units(work)
    r = u.icctl("start", "--systemd", "--", "/bin/cat", cwd=u.s.workspace)
    name = u.sessions()[0]
    t.ok(r.returncode == 0 and r.stdout == name + "\n"
         and f"journalctl --user -u icsupervisor@{name}" in r.stderr
         and "icctl attach " + name in r.stderr, "a script gets the id, and a "
         "person the next commands", r.stdout + r.stderr)
    r = u.icctl("send", "said")
    t.ok("said" in r.stdout, "a command runs for each message", r.stdout)
    pid = json.loads(u.icctl("ls", "--json").stdout)[0]["pid"]
    u.stop({"session": name, "pid": pid})
    with Manager(u, name) as m:
        status, why, _ = m.end()
        t.ok(status == 78 and f"icctl resume {name} -- COMMAND" in why,
             "a command is not kept", why)
    t.equal(u.sessions(), [name], "and the session is")
    r = u.icctl("--json", "resume", "--systemd", name, "--", "/bin/cat")
    if not t.ok(r.returncode == 0 and json.loads(r.stdout)["session"] == name,
                "a person resumes it as a unit", r.stdout + r.stderr):
        return
    t.contains(u.icctl("send", "again").stdout, "again", "with its command")
    t.contains(u.calls()[-2]["args"], f"icsupervisor@{name}.service",
               "which systemctl started")
    u.stop(json.loads(r.stdout))
    away = os.path.join(work, "away")
    os.rename(os.path.join(u.s.home, "sessions", name), away)
    r = u.icctl("--json", "resume", "--systemd", away, "--", "/bin/cat")
    t.ok(r.returncode == 1 and "not in the sessions/" in r.stderr,
         "a session elsewhere has no unit", r.stderr)


def test_refused(work):
    u = Units(work)
    bad = u.start("--policy", "nonesuch", "--", "/bin/true")
    t.ok(bad.returncode == 78 and "nonesuch" in bad.stderr
         and "journalctl --user" in bad.stderr
         and "(exit-code)" not in bad.stderr
         and json.loads(bad.stdout)["code"] == "SESSION_INIT_FAILED",
         "a failed start: the unit's reason and its status",
         bad.stderr + bad.stdout)
    t.ok(u.calls()[-1]["args"][-3:-1] == ["reset-failed", "--"]
         and u.sessions() == [], "and nothing is left", u.sessions())
    rows = [
        ("no manager", {"fails": "Failed to connect to bus: \033[1mNo"},
         "enable-linger"),
        ("no unit", {"load": "not-found"}, "systemctl --user link "),
        ("another home", {"env": {"HOME": "/other"}},
         "set-environment IRONCURTAIN_HOME="),
        ("a unit of another version", {"argv": ["/bin/sleep", "1000"]},
         "another version"),
    ]
    for what, setting, part in rows:
        u.set(**setting)
        r = u.start("--", "/bin/true")
        t.ok(r.returncode == 1 and part in r.stderr and "\033" not in r.stderr
             and "Traceback" not in r.stderr, what, r.stderr)
        t.equal(u.sessions(), [], what + ": nothing is left")
    link = os.path.join(work, "link")
    os.symlink(u.s.home, link)
    u.set(env={**u.manager, "IRONCURTAIN_HOME": link})
    r = u.start("--", "/bin/cat")
    t.ok(r.returncode == 0, "the same home by another name", r.stderr)
    told = json.loads(r.stdout)
    u.stop(told)
    os.unlink(os.path.join(u.tools, "systemctl"))
    r = u.start("--", "/bin/true", env={**u.s.env, "PATH": u.tools})
    t.ok(r.returncode == 1 and "has no systemctl" in r.stderr
         and "icctl start --detach" in r.stderr, "no systemctl", r.stderr)
    r = u.icctl("resume", "--systemd", told["session"], "--", "/bin/cat",
                env={**u.s.env, "PATH": u.tools})
    t.contains(r.stderr, f"icctl resume --detach {told['session']}",
               "nor for a resume")


def test_names(work):
    u = Units(work)
    for name in ("../x", "a/b", "/tmp", "-tmp-x", ".", "..", "a\\x2db", "a b",
                 "x" * 65, "a\nREADY=1"):
        with Manager(u, name) as m:
            status, why, error = m.end()
            t.ok(status == 78 and "cannot be a session's name" in why
                 and "READY=1" not in m.said, f"the name {name[:20]!r}",
                 (status, why, error))
    t.equal(u.sessions(), [], "no directory is made")
    with Manager(u, "plain") as m:
        m.until("READY=1")
        r = u.icctl("--session", "plain", "--json", "status")
        t.equal(json.loads(r.stdout)["agent"], "none",
                "without start.json: sockets, no agent")
    r = subprocess.run([h.program("icsupervisor"), "--unit", "x", "--quiet"],
                       env=u.manager, capture_output=True, text=True,
                       check=False)
    t.ok(r.returncode == 64 and "no other option" in r.stderr,
         "--unit is alone", r.stderr)


class Offer:
    """The socket of a start, with what the test puts into the pipe."""

    def __init__(self, u, name):
        self.dir = os.path.join(u.s.home, "sessions", name)
        os.makedirs(self.dir, mode=0o700)
        os.chmod(os.path.dirname(self.dir), 0o700)
        h.put(os.path.join(self.dir, "start.json"), json.dumps(
            {"version": 1, "detach": True, "command": False, "options": []}),
            0o600)
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(os.path.join(self.dir, "start.sock"))
        self.listener.listen()

    def give(self, data, byte=b"s", fd=None):
        sock, _ = self.listener.accept()
        if data is not None or fd is not None:
            ends = os.pipe() if fd is None else (fd, -1)
            sock.sendmsg([byte], [(socket.SOL_SOCKET, socket.SCM_RIGHTS,
                                   array.array("i", [ends[0]]))])
            os.close(ends[0])
            with contextlib.suppress(BrokenPipeError):
                while data:
                    data = data[os.write(ends[1], data):]
            if ends[1] != -1:
                os.close(ends[1])
        sock.close()
        self.listener.close()


def test_offers(work):
    """An offer is whole, or nothing runs."""
    u = Units(work)
    good = b"ironcurtain-start 1\0d/\0aicsupervisor\0"
    long = good + b"eA=b\0" * 5000
    rows = [
        ("closed", None, "ended before it had handed over"),
        ("nothing", b"", "not a whole start"),
        ("version", good.replace(b"1", b"2", 1) + b".\0", "not a whole start"),
        ("cut", good, "not a whole start"),
        ("unended", good + b".", "not a whole start"),
        ("more", good + b".\0eA=b\0", "not a whole start"),
        ("kind", good + b"xy\0.\0", "not a whole start"),
        ("relative", good.replace(b"d/", b"d.") + b".\0", "not a whole start"),
        ("twice", good + b"d/\0.\0", "not a whole start"),
        ("many", long + b".\0", "not a whole start"),
        ("huge", good + b"eA=" + b"b" * (5 << 20) + b"\0.\0", "more than"),
        ("gone", good.replace(b"d/", b"d/gone") + b".\0", "/gone: No such"),
        ("option", good + b"a--nonesuch\0.\0", "--nonesuch"),
    ]
    for name, data, part in rows:
        o = Offer(u, name)
        with Manager(u, name) as m:
            o.give(data)
            status, why, error = m.end()
            t.ok(status in (64, 71, 78) and part in why
                 and "READY=1" not in m.said, "an offer: " + name,
                 (status, why, error))
        t.ok(not os.path.exists(o.dir), name + ": nothing is left")
    stale = Offer(u, "stale")
    h.put(os.path.join(stale.dir, "start.json"), json.dumps(
        {"version": 1, "detach": True, "command": False,
         "options": [["runtime", "none"]]}), 0o600)
    stale.listener.close()
    with Manager(u, "stale") as m:
        m.until("READY=1")
        t.ok(True, "a socket that nobody listens on: start.json decides")
    shared = Offer(u, "shared")
    os.chmod(shared.dir, 0o777)
    with Manager(u, "shared") as m:
        status, why, _ = m.end()
        t.ok(status == 78 and "shared" in why,
             "a directory that others may enter", why)
    shared.listener.close()
    silent = Offer(u, "silent")
    with Manager(u, "silent") as m:
        sock, _ = silent.listener.accept()
        status, why, _ = m.end()
        t.ok(status == 71 and "within 10 seconds" in why,
             "an offer that never comes", why)
        sock.close()
        silent.listener.close()


def test_watchdog(work):
    u = Units(work)
    with Manager(u, "pings", WATCHDOG_USEC="200000") as m:
        m.until("READY=1")
        for _ in range(4):
            m.until("WATCHDOG=1")
        t.ok(True, "it says that its loop turns")
        os.kill(m.p.pid, signal.SIGSTOP)
        m.socket.settimeout(1)
        left = 0
        try:
            while True:
                m.socket.recv(8192)
                left += 1
        except socket.timeout:
            t.ok(left <= 2, "and no more when it is stopped", left)
        os.kill(m.p.pid, signal.SIGCONT)
        m.socket.settimeout(30 * h.PATIENCE)
        m.until("WATCHDOG=1")
    for name, env in (
            ("unset", {}),
            ("another process", {"WATCHDOG_USEC": "20000",
                                 "WATCHDOG_PID": "1"}),
            ("no number", {"WATCHDOG_USEC": "20000x"}),
            ("too small", {"WATCHDOG_USEC": "1"})):
        with Manager(u, "silent", **env) as m:
            m.until("READY=1")
            for _ in range(3):
                u.icctl("--session", "silent", "status")
            m.p.terminate()
            m.end()
            t.ok("WATCHDOG=1" not in m.said and "STOPPING=1" in m.said,
                 "no watchdog: " + name, m.said)


def test_asker(work):
    """The unit is under no_new_privs, and the one who started it is not."""
    u = Units(work)
    alone = ["/usr/bin/setpriv", "--no-new-privs"]
    with Manager(u, "plain", alone) as m:
        m.until("READY=1")
        stop = [h.program("icctl"), "--session", "plain", "stop"]
        r = subprocess.run([*alone, *stop], env=u.s.env, capture_output=True,
                           text=True, check=False)
        t.ok(r.returncode != 0 and "no_new_privs" in r.stderr,
             "an asker under no_new_privs is refused", r.stderr)
        r = subprocess.run(stop, env=u.s.env, capture_output=True, text=True,
                           check=False)
        t.ok(r.returncode == 0, "another one is not", r.stderr)
        m.end()


def main():
    for test in (test_start, test_told, test_refused, test_names, test_offers,
                 test_watchdog, test_asker):
        with h.workdir() as work, t.case(test.__name__):
            test(work)
    t.done()


main()
