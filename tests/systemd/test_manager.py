#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""A session under a real manager, which systemd.py starts: all that the manager
keeps and shows of it, every way to end, pings of the watchdog, a key that systemd gives, names, sockets of
other users, Ctrl-C, and Podman under no_new_privs."""
import json
import os
import shutil
import signal
import socket
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "lib"))
import harness as h  # noqa: E402

t = h.Tap()
UNIT = os.path.join(h.PREFIX, "lib", "systemd", "user",
                    "icsupervisor@.service")
# In the /run of this manager; no unit of the user's own is touched.
UNITS = os.path.join(os.environ["XDG_RUNTIME_DIR"], "systemd", "user")
# systemd.py listens there, as another user.
FOREIGN = "/run/foreign.sock"
AGENT = """#!/bin/sh
printf 'before: %s\\n' "$(cat ~/told 2>/dev/null | tr '\\n' ' ')"
cat >>~/told
"""
ADAPTER = {"name": "echo", "program": ["echoing"], "providers": ["anthropic"],
           "turn": [], "state": ["told"]}


def systemctl(*args):
    return subprocess.run(["systemctl", "--user", "--no-pager", *args],
                          stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=100 * h.PATIENCE, check=False)


class Unit:
    """A user's configuration, and the session that was started last."""

    def __init__(self, work, *lines, config=None):
        self.s = h.Session(work, config=config)
        self.s.env["XDG_RUNTIME_DIR"] = os.environ["XDG_RUNTIME_DIR"]
        self.tools = os.path.join(work, "tools")
        h.put(os.path.join(self.tools, "echoing"), AGENT, 0o755)
        self.s.env["PATH"] = self.tools + ":/usr/bin:/bin"
        self.s.write("agents/echo.json", ADAPTER)
        systemctl("set-environment", "IRONCURTAIN_HOME=" + self.s.home,
                  "HOME=" + self.s.user_home)
        self.dropin(*lines)

    def dropin(self, *lines):
        with open(UNIT, encoding="utf-8") as f:
            h.put(os.path.join(UNITS, os.path.basename(UNIT)),
                  f.read().replace("/usr/local", h.PREFIX))
        path = os.path.join(UNITS, "icsupervisor@.service.d", "test.conf")
        h.put(path, "\n".join(["[Service]", *lines, ""]))
        systemctl("daemon-reload")

    def icctl(self, *args, **kw):
        return subprocess.run([h.program("icctl"), *args], text=True,
                              stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=100 * h.PATIENCE, check=False,
                              env=self.s.env, **kw)

    def start(self, *args):
        r = self.icctl("--json", "start", "--systemd", "--workspace",
                       self.s.workspace, *(args or ("--agent", "echo")))
        self.told = json.loads(r.stdout) if r.stdout else {}
        if "session" in self.told:
            self.name = f"icsupervisor@{self.told['session']}.service"
            self.pid = self.told["pid"]
        return r

    def show(self, *names):
        r = systemctl("show", *[x for n in names for x in ("-p", n)],
                      self.name)
        found = dict(x.split("=", 1) for x in r.stdout.splitlines())
        return [found.get(n) for n in names]

    def ended(self):
        """Returns the unit's state and result, once it has ended."""
        h.wait_for(lambda: self.show("ActiveState")[0]
                   in ("inactive", "failed"), "the unit does not end", 60)
        return tuple(self.show("ActiveState", "Result"))

    def state(self):
        rows = json.loads(self.icctl("ls", "--json").stdout)
        return {r["id"]: r["state"] for r in rows}.get(self.told["session"])


def test_start(work):
    u = Unit(work)
    r = u.start("--agent", "echo", "--task", "first words")
    if not t.ok(r.returncode == 0, "it starts", r.stderr):
        return
    t.equal(u.show("ActiveState", "SubState", "MainPID", "StatusText"),
            ["active", "running", str(u.pid), "session is running"],
            "the unit runs icsupervisor")
    shown = systemctl("show", u.name).stdout + systemctl(
        "show-environment").stdout + systemctl("cat", u.name).stdout
    with open(f"/proc/{u.pid}/cmdline", encoding="ascii") as f:
        shown += f.read()
    t.ok(h.ANTHROPIC_KEY not in shown and "first words" not in shown,
         "the manager shows no key and no task")
    try:
        with open(f"/proc/{u.pid}/environ", "rb") as f:
            f.read()
        t.ok(False, "nobody reads its environment")
    except PermissionError:
        t.ok(True, "nobody reads its environment")
    with open(f"/proc/{u.pid}/cgroup", encoding="ascii") as f:
        t.contains(f.read(), u.name, "it is in its own control group")
    keys = json.loads(u.icctl("--json", "keys").stdout)["keys"]
    t.equal((keys[0]["kind"], keys[0]["state"]), ("environment", "loaded"),
            "it has the shell's key")
    t.equal(u.state(), "ready", "icctl ls shows it")
    t.contains(u.icctl("send", "second").stdout, "before: first words",
               "it takes messages")
    r = subprocess.run(["setpriv", "--no-new-privs", h.program("icctl"),
                        "stop"], env=u.s.env, capture_output=True, text=True,
                       check=False)
    t.ok(r.returncode != 0 and "no_new_privs" in r.stderr,
         "an asker under no_new_privs is refused", r.stderr)
    r = u.icctl("stop")
    t.equal((r.returncode, u.ended(), u.state()),
            (0, ("inactive", "success"), "closed"), "icctl stop ends it")
    systemctl("set-environment", "PATH=" + u.s.env["PATH"])
    r = systemctl("start", u.name)
    t.ok(r.returncode != 0 and "no credential for anthropic"
         in u.show("StatusText")[0], "nothing keeps the key for a later start",
         u.show("StatusText"))
    systemctl("reset-failed", u.name)
    systemctl("unset-environment", "PATH")


def test_systemctl(work):
    keys = {"anthropic": {"systemd": "anthropic"}}
    path = h.put(os.path.join(work, "key"), h.ANTHROPIC_KEY + "\n", 0o600)
    u = Unit(work, "LoadCredential=anthropic:" + path,
             config={"credentials": keys})
    r = u.start("--agent", "echo")
    if not t.ok(r.returncode == 0, "with a key that systemd gives", r.stderr):
        return
    systemctl("set-environment", "PATH=" + u.s.env["PATH"])
    t.contains(u.icctl("send", "one").stdout, "before:", "a turn")
    systemctl("stop", u.name)
    t.equal((u.ended(), u.state()), (("inactive", "success"), "closed"),
            "systemctl stop ends it")
    r = systemctl("start", u.name)
    t.ok(r.returncode == 0, "systemctl start goes on with it", r.stderr)
    h.wait_for(lambda: u.state() == "ready", "it takes no messages")
    t.contains(u.icctl("send", "two").stdout, "before: one",
               "with its home and its workspace")
    r = systemctl("restart", u.name)
    h.wait_for(lambda: u.state() == "ready", "it takes no messages")
    t.contains(u.icctl("send", "three").stdout, "before: onetwo",
               "and so does systemctl restart")
    r = u.icctl("--json", "--session", u.told["session"], "audit", "verify")
    t.ok(r.returncode == 0, "its log is whole", r.stdout + r.stderr)
    row = u.icctl("--json", "status").stdout
    workers = [p["pid"] for p in json.loads(row)["workers"]
               if p["name"] == "policyd"]
    os.kill(workers[0], signal.SIGKILL)
    t.equal((u.ended(), u.show("ExecMainStatus")),
            (("failed", "exit-code"), ["70"]), "a worker's death fails it")
    systemctl("reset-failed", u.name)
    systemctl("unset-environment", "PATH")


def test_refused(work):
    u = Unit(work)
    r = u.start("--policy", "nonesuch", "--agent", "echo")
    listed = systemctl("list-units", "--all", "--plain", "--no-legend",
                       "icsupervisor@*").stdout
    t.ok(r.returncode == 78 and "nonesuch" in u.told["error"]
         and listed == "", "a start that fails: the reason",
         r.stderr + listed)
    for name in ("-tmp-x", "a\\x2db"):
        u.name = f"icsupervisor@{name}.service"
        r = systemctl("start", "--", u.name)
        t.ok(r.returncode != 0 and "cannot be a session's name"
             in u.show("StatusText")[0], "the name " + name,
             u.show("StatusText"))
        systemctl("reset-failed", "--", u.name)
    t.equal(os.listdir(os.path.join(u.s.home, "sessions")), [],
            "nothing is left")
    top = os.path.join(u.s.home, "sessions", "foreign")
    h.put(os.path.join(top, "start.json"), json.dumps(
        {"version": 1, "detach": True, "command": False, "options": []}), 0o600)
    os.chmod(top, 0o700)
    os.symlink(FOREIGN, os.path.join(top, "start.sock"))
    u.name = "icsupervisor@foreign.service"
    systemctl("start", u.name)
    t.contains(u.show("StatusText")[0], "user with number 0",
               "a start that another user offers")
    systemctl("reset-failed", u.name)


def test_interrupted(work):
    """Ctrl-C while the manager starts the unit."""
    u = Unit(work, "ExecStartPre=/bin/sleep 1000")
    p = subprocess.Popen([h.program("icctl"), "start", "--systemd",
                          "--workspace", u.s.workspace, "--agent", "echo"],
                         env=u.s.env, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True)
    jobs = h.wait_for(lambda: systemctl(
        "list-units", "--plain", "--no-legend", "--state=activating",
        "icsupervisor@*").stdout, "the unit does not start")
    p.send_signal(signal.SIGINT)
    _, error = p.communicate(timeout=60 * h.PATIENCE)
    u.name = jobs.split()[0]
    t.ok(p.returncode == 1 and u.ended()[0] == "inactive",
         "Ctrl-C ends a start", error)
    t.equal(os.listdir(os.path.join(u.s.home, "sessions")), [],
            "and nothing is left")


def test_watchdog(work):
    u = Unit(work, "WatchdogSec=1", "TimeoutAbortSec=1")
    r = u.start()
    if not t.ok(r.returncode == 0, "with a watchdog", r.stderr):
        return
    first = u.show("WatchdogTimestampMonotonic")[0]
    for _ in range(3):
        first = h.wait_for(
            lambda: u.show("WatchdogTimestampMonotonic")[0] != first and
            u.show("WatchdogTimestampMonotonic")[0], "no ping")
    t.equal(u.show("ActiveState"), ["active"], "it pings, and goes on")
    with open(f"/proc/{u.pid}/cgroup", encoding="ascii") as f:
        group = [x.strip().split(":", 2) for x in f]
    os.kill(u.pid, signal.SIGSTOP)
    t.equal(u.ended(), ("failed", "watchdog"), "a loop that hangs is ended")
    left = []
    for number, names, path in group:
        where = "/sys/fs/cgroup" + ("/systemd" if "systemd" in names else
                                    "/unified" if os.path.isdir(
                                        "/sys/fs/cgroup/unified") else "")
        if u.name in path and os.path.exists(where + path + "/cgroup.procs"):
            with open(where + path + "/cgroup.procs", encoding="ascii") as f:
                left += f.read().split()
    t.equal(left, [], "and all that it had started")
    h.wait_for(lambda: u.state() == "crashed", "icctl ls does not show it")
    r = systemctl("start", u.name)
    t.ok(r.returncode != 0 and "--after-crash" in u.show("StatusText")[0],
         "it does not start again by itself", u.show("StatusText"))
    systemctl("reset-failed", u.name)


def test_podman(work):
    """Podman's client here is a stand-in; no_new_privs is real."""
    u = Unit(work)
    shutil.copy(os.path.join(h.STANDINS, "engine.py"),
                os.path.join(u.tools, "podman"))
    h.put(os.path.join(u.s.user_home, "engine.json"), json.dumps({
        "info": {"os": "linux", "version": "4.3", "cgroups": "v2",
                 "rootless": True, "remote": False,
                 "runtime": "/usr/bin/crun", "manager": "systemd"},
        "image": {"id": "sha256:" + "ab" * 32, "volumes": None}}))
    podman = ("--runtime", "podman", "--image", "some/image", "--",
              "/bin/cat")
    r = u.start(*podman)
    t.ok(r.returncode == 78 and "NoNewPrivileges=" in u.told["error"]
         and "UNIT" in u.told["error"], "Podman is refused, with the reason",
         r.stderr)
    manual = os.path.join(h.PREFIX, "share/man/man8/icsupervisor.8")
    with open(manual, encoding="utf-8") as f:
        text = f.read()
    at = text.index("[Service]\nNoNewPrivileges=no")
    u.dropin(*text[at:text.index(".Ed", at)].splitlines()[1:])
    r = u.start(*podman)
    if t.ok(r.returncode == 0, "and starts with the manual's drop-in",
            r.stderr):
        t.contains(u.icctl("send", "said").stdout, "said", "a turn in it")
        u.icctl("stop")
        t.equal(u.ended(), ("inactive", "success"), "and ends in order")


def main():
    # Units of another test that have failed are listed until then.
    systemctl("reset-failed")
    for test in (test_start, test_systemctl, test_refused, test_interrupted,
                 test_watchdog, test_podman):
        with h.workdir() as work, t.case(test.__name__):
            test(work)
    t.done()


main()
