#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Sessions as units of a real systemd of this user, which systemd.py starts:
`icctl start --systemd`, messages, the end, a second life, a death, a key, and
the watchdog.  What can go wrong is in tests/e2e/supervisor/test_unit.py."""
import json
import os
import pwd
import re
import signal
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "lib"))
import harness as h  # noqa: E402
import traces  # noqa: E402
from lives import ADAPTER, AGENT  # noqa: E402

t = h.Tap()
UNIT = os.path.join(h.PREFIX, "lib", "systemd", "user",
                    "icsupervisor@.service")


class Place:
    """A home in which units are started."""

    def __init__(self, work, adapter=None):
        self.s = h.Session(work)
        self.work = work
        self.user = pwd.getpwuid(os.geteuid()).pw_dir
        self.link = os.path.join(self.user, ".ironcurtain")
        os.symlink(self.s.home, self.link)
        parrot = h.put(os.path.join(work, "bin", "parrot"), AGENT, 0o755)
        self.s.write("agents/parrot.json", {**ADAPTER, **(adapter or {})})
        self.s.write("config.json", {**self.s.config, "agent": {
            "parrot": {"path": parrot}}})
        self.env = {**self.s.env, "HOME": self.user,
                    "XDG_RUNTIME_DIR": os.environ["XDG_RUNTIME_DIR"]}
        self.unit()
        self.env["IRONCURTAIN_HOME"] = self.link

    def unit(self):
        """Install the unit as a user does, with a watchdog that is quick."""
        place = os.path.join(self.user, ".config", "systemd", "user")
        with open(UNIT, encoding="utf-8") as f:
            text = f.read().replace("/usr/local", h.PREFIX)
        h.put(os.path.join(place, "icsupervisor@.service"),
              re.sub(r"(?m)^WatchdogSec=.*$", "WatchdogSec=1", text))
        self.systemctl("daemon-reload")

    def systemctl(self, *args):
        return subprocess.run(["systemctl", "--user", *args], env=self.env,
                              capture_output=True, text=True, check=False,
                              timeout=60 * h.PATIENCE)

    def icctl(self, *args, **env):
        return subprocess.run(
            [h.program("icctl"), *args], env={**self.env, **env},
            stdin=subprocess.DEVNULL, capture_output=True, text=True,
            check=False, timeout=60 * h.PATIENCE)

    def start(self, *args, **env):
        r = self.icctl("start", "--systemd", "--json", "--agent", "parrot",
                       "--workspace", self.s.workspace, *args, **env)
        if r.returncode == 0:
            self.told = json.loads(r.stdout)
            self.told["unit"] = f"icsupervisor@{self.told['session']}.service"
            self.s.dir = self.told["dir"]
        return r

    def send(self, message):
        """The unit is active before the session takes messages."""
        def sent():
            r = self.icctl("send", "--session", self.told["session"], message)
            return None if "still starting" in r.stderr else \
                r.stdout + r.stderr
        return h.wait_for(sent, "the session takes no message", poll=0.2)

    def active(self):
        return self.systemctl("is-active", self.told["unit"]).stdout.strip()

    def until(self, state):
        h.wait_for(lambda: self.active() == state, f"the unit is {state}")

    def sessions(self):
        place = os.path.join(self.s.home, "sessions")
        return os.listdir(place) if os.path.isdir(place) else []

    def end(self):
        os.unlink(self.link)
        os.unlink(os.path.join(self.user, ".config", "systemd", "user",
                               "icsupervisor@.service"))


def test_life(p):
    r = p.start()
    if not t.ok(r.returncode == 0, "it starts", r.stderr):
        return
    t.equal((p.told["unit"], p.active()),
            (f"icsupervisor@{p.told['session']}.service", "active"),
            "as a unit, which is active")
    t.ok(not os.path.exists(os.path.join(p.told["dir"], "start.sock")),
         "nobody can ask for its start again")
    with open(f"/proc/{p.told['pid']}/comm", encoding="ascii") as f:
        t.equal(f.read().strip(), "icsupervisor",
                "the unit's process is icsupervisor")
    t.contains(p.send("one"), "--new", "it takes messages")
    rows = json.loads(p.icctl("ls", "--json").stdout)
    t.ok(any(x["id"] == p.told["session"] and x["state"] == "ready"
             for x in rows), "icctl ls has it", rows)
    r = subprocess.run(
        ["setpriv", "--no-new-privs", h.program("icctl"), "--session",
         p.told["session"], "stop"], env=p.env, capture_output=True,
        text=True, check=False)
    t.ok(r.returncode != 0 and "no_new_privs" in r.stderr,
         "the unit is under no_new_privs, and nobody else may be", r.stderr)
    r = p.icctl("stop", "--session", p.told["session"])
    p.until("inactive")
    t.equal(r.returncode, 0, "icctl stop: the unit has not failed")
    r = p.systemctl("start", p.told["unit"])
    t.equal((r.returncode, p.active()), (0, "active"), "started again")
    t.contains(p.send("two"), "before: one", "it goes on where it was")
    r = p.systemctl("stop", p.told["unit"])
    p.until("inactive")
    records = h.read_lines(os.path.join(p.told["dir"], "audit.jsonl"))
    t.equal([x["event"] for x in records][-1], "stop",
            "systemctl stop: an orderly end")
    r = p.icctl("audit", "verify", os.path.join(p.told["dir"], "audit.jsonl"))
    t.equal(r.returncode, 0, "one chain for both lives")


def test_death(p):
    p.start()
    p.send("one")
    pid = json.loads(p.icctl("--json", "--session", p.told["session"],
                             "status").stdout)["pid"]
    os.kill(pid, signal.SIGKILL)
    p.until("failed")
    r = p.systemctl("start", p.told["unit"])
    t.ok(r.returncode != 0, "after a death it does not go on by itself")
    p.until("failed")
    r = p.icctl("resume", "--json", p.told["session"], "--after-crash")
    t.equal(r.returncode, 0, "a person resumes it, having been told")
    p.icctl("stop", "--session", p.told["session"])


def test_key(p):
    """A key of the person's environment reaches the session, and no file."""
    key = "sk-ant-real-key-of-the-person-0123456789"
    p.s.write("config.json", {**json.load(open(
        os.path.join(p.s.home, "config.json"), encoding="utf-8")),
        "credentials": {"anthropic": {"env": "A_KEY"}}})
    r = p.start()
    t.ok(r.returncode != 0 and p.sessions() == [],
         "without its key it does not start, and nothing is left",
         (r.stdout, r.stderr, p.sessions()))
    r = p.start(A_KEY=key)
    if not t.ok(r.returncode == 0, "with the key of this shell it does",
                r.stderr):
        return
    found = [pid for pid in os.listdir("/proc") if pid.isdigit() and
             key.encode() in read(f"/proc/{pid}/cmdline") +
             read(f"/proc/{pid}/environ")]
    t.equal(found, [], "it is on no command line and in no environment")
    t.equal(traces.files_have(p.told["dir"], key.encode()), [],
            "and in no file of the session")
    p.icctl("stop", "--session", p.told["session"])
    p.until("inactive")


def read(path):
    try:
        with open(path, "rb") as f:
            return f.read()
    except OSError:
        return b""


def test_watchdog(p):
    p.start()
    pid = p.told["pid"]
    h.wait_for(iter([False] * 30 + [True]).__next__, "", poll=0.1)
    t.equal(p.active(), "active", "a loop that runs is left alone")
    os.kill(pid, signal.SIGSTOP)
    p.until("failed")
    t.ok(not h.alive(pid), "one that hangs is ended")
    why = p.systemctl("show", "-p", "Result", p.told["unit"]).stdout
    t.contains(why, "watchdog", "by the watchdog")


def test_arguments(p):
    r = subprocess.run(
        [h.program("icctl"), "start", "--systemd", "--agent", "parrot",
         "--workspace", os.path.basename(p.s.workspace), "a task"],
        env=p.env, cwd=os.path.dirname(p.s.workspace), capture_output=True,
        text=True, stdin=subprocess.DEVNULL, timeout=60 * h.PATIENCE,
        check=False)
    name = r.stdout.strip()
    p.told = {"session": name, "unit": f"icsupervisor@{name}.service"}
    t.ok(r.returncode == 0 and p.told["unit"] in r.stderr and
         f"icctl stop {name}" in r.stderr,
         "a person is told its id and what to do next",
         (r.stdout, r.stderr))
    h.wait_for(lambda: "before:" in p.icctl("history", "--json",
                                            name).stdout, "its first turn")
    t.ok(True, "its task is the first turn")
    with open(os.path.join(p.s.home, "sessions", name, "session.json"),
              encoding="utf-8") as f:
        t.equal(json.load(f)["workspace"], os.path.realpath(p.s.workspace),
                "names of files are relative to this directory")
    with open(os.path.join(p.s.home, "sessions", name, "start.json"),
              encoding="utf-8") as f:
        t.ok("a task" not in f.read(), "which no later start repeats")
    p.icctl("stop", "--session", name)
    p.until("inactive")


def main():
    for part in (test_life, test_death, test_key, test_watchdog,
                 test_arguments):
        adapter = {"providers": ["anthropic"]} if part == test_key else None
        with h.workdir() as work, t.case(part.__name__):
            p = Place(work, adapter)
            try:
                part(p)
            finally:
                p.end()
    t.done()


if __name__ == "__main__":
    main()
